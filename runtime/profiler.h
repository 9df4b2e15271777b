/* profiler.h - where the runtime tells an allocation profiler what happens.
 *
 * runtime/memprof implements all of these. A runtime built with
 * RUNTIME_PROFILER=none has profiler_none.c, whose functions do nothing. `kind`, `fn`, `ctx` as in gc.h; "running"
 * means: called by the thread that owns the domain. */
#ifndef FK_RT_PROFILER_H
#define FK_RT_PROFILER_H

#include "runtime/gc.h"

/* Inside a collection, world stopped; any worker may serve any domain.
 * SCAN_YOUNG: strong roots that may be young. SCAN_ALL: all strong roots. */
void fk_prof_scan_roots(struct domain *, enum scan_kind kind, root_fn fn, void *ctx);
/* After compaction: every tracked address, weak ones too. */
void fk_prof_scan_weak(struct domain *, root_fn fn, void *ctx);
/* All domains have promoted; fk_minor_forward tells dead from moved. */
void fk_prof_after_minor(struct domain *);
/* Marking is complete, colours still tell: fk_is_marked. */
void fk_prof_after_major(struct domain *);
/* The nursery is empty or was replaced: set st.memprof_young_trigger in
 * [young_start, young_ptr]; the caller then derives young_limit. */
void fk_prof_set_trigger(struct domain *);

/* Running. C code allocated a block: young_ptr is already lowered by wosize + 1
 * words and lies below st.memprof_young_trigger. */
void fk_prof_sample_young_c(struct domain *, uintptr_t wosize);
/* The same for `words` words of compiled code, as n blocks of lens[i] + 1
 * fields, lens[0] at the lowest address. Callbacks run: an exception result
 * means that the request is undone. On VAL_UNIT young_ptr is again the base of
 * `words` free words. */
value fk_prof_sample_young(struct domain *, uintptr_t words, unsigned n, const unsigned char *lens);
/* A block that did not go through the nursery's fast path, not yet initialised:
 * `words` words of memory with its header, or without one for the others. */
enum { FK_PROF_NORMAL, FK_PROF_MARSHAL, FK_PROF_CUSTOM, FK_PROF_MAP_FILE };
void fk_prof_sample_block(struct domain *, value block, uintptr_t words, int source);
/* Safepoint: VAL_UNIT or an exception result. */
value fk_prof_run_callbacks(struct domain *);

/* The program ends by an exception: no callback runs any more. */
void fk_prof_suspend(struct domain *);

/* Running, in the parent domain (NULL: the first one is made) resp. the dying
 * one, its nursery empty. false: no memory. */
bool fk_prof_new_domain(struct domain *parent, struct domain *child);
void fk_prof_delete_domain(struct domain *);
/* Threads of a domain; t->memprof is the profiler's. */
bool fk_prof_new_thread(struct domain *, struct thread *);
void fk_prof_enter_thread(struct domain *, struct thread *);
void fk_prof_delete_thread(struct domain *, struct thread *);

#endif
