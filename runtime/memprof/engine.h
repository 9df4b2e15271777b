/* engine.h - a statistical memory profiler for any runtime with a nursery.
 *
 * Every allocated word (headers included) is sampled with probability `rate`.
 * A sampled block is tracked: callbacks report its allocation, its promotion
 * and its death. The semantics are those of ocaml/ocaml PR #12923, written
 * down rule by rule in docs/memprof.md; the rule numbers in the code are
 * that page's.
 *
 * Who owns what
 *
 *   profile ---- shared by domains ----> status, rate, callstack limit
 *   domain --+-- table      blocks of the current profile, alloc reported
 *            +-- orphans    tables of older profiles and of dead domains
 *            +-- threads ---- each a table of blocks not yet reported
 *            +-- layers ----- profiles with callbacks in C, each with a table
 *   engine ----- orphans of dead domains, until a domain adopts them
 *
 * The host calls these functions at the moments named; none of them raises:
 * results with is_exception are for the host to raise. "mutator" marks those
 * that may run callbacks, hence anything.
 */
#ifndef FK_MEMPROF_ENGINE_H
#define FK_MEMPROF_ENGINE_H

#include "host.h"
#include "profile.h"
#include "random.h"
#include "table.h"

typedef struct fk_mp_thread fk_mp_thread;
typedef struct fk_mp_domain fk_mp_domain;

typedef enum {
    FK_MP_OK,
    FK_MP_BAD_ARGUMENT,     /* rate outside 0..1 or NaN, negative depth */
    FK_MP_ALREADY_STARTED,
    FK_MP_NOT_RUNNING,
    FK_MP_NOT_STOPPED,
    FK_MP_ALREADY_DISCARDED,
    FK_MP_NO_MEMORY,
    FK_MP_EXCEPTION,        /* *exception is set */
} fk_mp_error;

/* What Gc.Memprof's exceptions say. */
const char *fk_mp_error_text(fk_mp_error);

/* --- domains and threads ----------------------------------------------------
 * A new domain samples for its parent's profile (NULL: none) with a generator
 * seeded by `seed`, and has one thread, which is current. NULL: no memory. */
fk_mp_domain *fk_mp_domain_new(fk_mp_host *, const fk_mp_domain *parent, uint64_t seed);
/* Its nursery is empty and its threads are gone. What it tracked becomes
 * global orphans; blocks whose allocation was not reported are forgotten. */
void fk_mp_domain_delete(fk_mp_domain *);
fk_mp_thread *fk_mp_domain_main_thread(fk_mp_domain *);
fk_mp_thread *fk_mp_thread_new(fk_mp_domain *);
void fk_mp_thread_enter(fk_mp_thread *);
void fk_mp_thread_delete(fk_mp_thread *); /* not the current one */
/* The current thread runs no callback and samples nothing while suspended. */
void fk_mp_suspend(fk_mp_domain *, bool suspended);

/* --- sampling --------------------------------------------------------------- */
/* Draws a new sample trigger; `store_only`: the caller resets the limit. */
void fk_mp_set_trigger(fk_mp_domain *, bool store_only);
/* A block of `words` sampled words was allocated outside the nursery's fast
 * path. No callback runs now. */
void fk_mp_sample_block(fk_mp_domain *, fk_mp_value block, size_t wosize, size_t words, int source);
/* C code allocated one nursery block of `wosize` at ptr, past the trigger. */
void fk_mp_sample_young_c(fk_mp_domain *, size_t wosize);
/* Compiled code asked for `words` words past the trigger, as `n` blocks with
 * wosize = lens[i] + 1, lens[0] at the lowest address (lens NULL: one block).
 * ptr is lowered already. mutator. Without an exception the space is reserved
 * on return, at ptr, and nothing moves until the caller has filled it; with
 * one, the request is undone. */
fk_mp_result fk_mp_sample_young(fk_mp_domain *, size_t words, size_t n, const unsigned char *lens);

/* --- callbacks --------------------------------------------------------------- */
/* Runs callbacks that are due: a bounded batch at a poll or allocation of
 * compiled code (the rest at the next one), else all. mutator. */
fk_mp_result fk_mp_run_callbacks(fk_mp_domain *);

/* --- collector --------------------------------------------------------------- */
void fk_mp_scan_roots(fk_mp_domain *, fk_mp_root_fn, void *data, fk_mp_roots);
void fk_mp_after_minor(fk_mp_domain *);
void fk_mp_after_major(fk_mp_domain *);

/* --- control ------------------------------------------------------------------ */
/* mutator. *profile is new, owned by the caller. */
fk_mp_error fk_mp_start(fk_mp_domain *, double rate, int64_t depth, fk_mp_value tracker, fk_mp_profile **profile);
/* mutator: reports this thread's pending allocations first. */
fk_mp_error fk_mp_stop(fk_mp_domain *, fk_mp_value *exception);
fk_mp_error fk_mp_discard(fk_mp_profile *);
bool fk_mp_is_sampling(const fk_mp_domain *);
/* The domain's current profile, borrowed; NULL: none. */
fk_mp_profile *fk_mp_current_profile(const fk_mp_domain *);

/* --- profiles with callbacks in C ------------------------------------------------
 * Any number in a domain, whatever the current profile does. The domain
 * samples for a profile (fk_mp_profile_new with hooks) from the next trigger
 * on, and so do domains that it starts later. No trigger is set here: there may
 * be no nursery yet. Ends when the profile's status is no more SAMPLING. */
fk_mp_error fk_mp_attach(fk_mp_domain *, fk_mp_profile *);
/* What the domain follows for it; NULL: it does not sample for it. */
const fk_mp_table *fk_mp_layer_table(const fk_mp_domain *, const fk_mp_profile *);

bool fk_mp_domain_is_valid(const fk_mp_domain *);

#endif
