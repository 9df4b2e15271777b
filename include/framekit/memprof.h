/* framekit/memprof.h - the profiler of framekit's runtime from C: callbacks
 * without closures, and what Gc.Memprof does not offer.
 *
 * Any number of profiles at once in a domain, beside the one of Gc.Memprof:
 * each samples by itself. All functions are called by a thread that runs OCaml
 * code, and speak of its domain. docs/memprof.md has the rules.
 *
 * Callbacks must not raise, use the OCaml heap or let another thread of the
 * domain run, and may call nothing of this header but stop, suspend and query.
 * Allocations are reported at once, also inside primitives; promotions and
 * deaths where those of Gc.Memprof would be. A thread inside a callback of
 * Gc.Memprof is not sampled.
 */
#ifndef FRAMEKIT_MEMPROF_H
#define FRAMEKIT_MEMPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fk_memprof fk_memprof; /* a profile */

typedef struct {
    size_t samples, words;   /* sampled words; words of the block without header */
    int source;              /* 0 normal, 1 unmarshalled, 2 custom memory, 3 mapped file */
    bool major;              /* not in the nursery */
    double rate;             /* at which it was sampled: a sample stands for 1 / rate words */
    size_t depth;            /* frames, innermost first */
    const uintptr_t *frames; /* valid during the call */
} fk_memprof_block;

typedef struct {
    /* false: the block is not followed (any further). *datum: 63 bits */
    bool (*alloc)(void *arg, const fk_memprof_block *, uint64_t *datum);
    bool (*promote)(void *arg, uint64_t *datum);
    void (*dealloc)(void *arg, uint64_t datum, bool major);
    void *arg;
} fk_memprof_callbacks;

typedef enum {
    FK_MEMPROF_OK,
    FK_MEMPROF_BAD_ARGUMENT, /* rate outside 0..1, limit below 0 */
    FK_MEMPROF_RUNNING,      /* this domain samples for it already */
    FK_MEMPROF_NOT_RUNNING,  /* the profile has ended */
    FK_MEMPROF_NO_MEMORY,
} fk_memprof_error;

typedef struct {
    double rate;       /* each word is sampled with this probability, 0..1 */
    size_t depth;      /* callstacks of at most so many frames */
    uint64_t seed;     /* 0: any. Else two runs of a program that do the same are sampled the
                          same, on every architecture (the nursery is emptied first) */
    double per_second; /* 0: no limit. Else about so many blocks a second at most, over all
                          domains: the rate is halved and doubled as needed */
} fk_memprof_options;

/* This domain, and those that it starts from now on, sample for a new profile.
 * *profile is the caller's; `callbacks` must live as long as a block may be
 * followed. */
fk_memprof_error fk_memprof_start(const fk_memprof_options *, const fk_memprof_callbacks *callbacks,
                                  fk_memprof **profile);
/* This domain samples for a profile that another one started. */
fk_memprof_error fk_memprof_join(fk_memprof *);
/* Ends sampling in all its domains. Promotions and deaths are still reported. */
fk_memprof_error fk_memprof_stop(fk_memprof *);
/* Stops it if need be; no callback begins after this. The handle is of no more
 * use (its few words stay: other domains may be looking at them). */
void fk_memprof_discard(fk_memprof *);

/* The thread samples nothing and runs no callback while suspended. Returns
 * what it was before. */
bool fk_memprof_suspend(bool suspended);

typedef struct {
    bool sampling;   /* this domain samples for it */
    bool suspended;  /* this thread */
    double rate;     /* now; a limit may have lowered it */
    size_t depth;
    size_t entries;  /* blocks that this domain follows for it */
} fk_memprof_state;
/* NULL: the profile of Gc.Memprof in this domain, or the last one. */
fk_memprof_state fk_memprof_query(const fk_memprof *);

#ifdef __cplusplus
}
#endif
#endif
