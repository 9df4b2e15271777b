/* profiler.h - where the runtime tells an allocation profiler what happens.
 *
 * runtime/memprof implements all of these. Without it profiler_none.c does,
 * with functions that do nothing. `kind`, `fn`, `ctx` as in gc.h; "running"
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

/* Running. young_ptr is already lowered by wosize + 1 words and lies below
 * st.memprof_young_trigger. from_caml: callbacks may run and raise, lens are
 * the descriptor's allocation lengths; on return young_ptr is again the base of
 * wosize + 1 free words (use fk_make_room). */
void fk_prof_sample_young(struct domain *, uintptr_t wosize, bool from_caml, int nallocs,
                          const unsigned char *lens);
/* A block of the major heap, `words` words of memory; not yet initialised. */
void fk_prof_sample_block(struct domain *, value block, uintptr_t words, int source);
/* Safepoint: VAL_UNIT or an exception result. */
value fk_prof_run_callbacks(struct domain *);

/* Running, in the parent domain resp. the dying one, its nursery empty. */
bool fk_prof_new_domain(struct domain *parent, struct domain *child);
void fk_prof_delete_domain(struct domain *);
/* Threads of a domain; t->memprof is the profiler's. */
bool fk_prof_new_thread(struct domain *, struct thread *);
void fk_prof_enter_thread(struct domain *, struct thread *);
void fk_prof_delete_thread(struct domain *, struct thread *);

#endif
