/* framekit/memprof.h - the profiler of framekit's runtime from C: callbacks
 * without closures, and what Gc.Memprof does not offer.
 *
 * All functions are called by a thread that runs OCaml code, and speak of its
 * domain. Callbacks run where those of Gc.Memprof would; they must not raise
 * and must not use the OCaml heap. docs/memprof.md has the rules.
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
    size_t depth;            /* frames, innermost first */
    const uintptr_t *frames; /* valid during the call */
} fk_memprof_block;

typedef struct {
    bool (*alloc)(void *arg, const fk_memprof_block *, uint64_t *datum); /* false: not followed; datum: 63 bits */
    bool (*promote)(void *arg, uint64_t *datum);
    void (*dealloc)(void *arg, uint64_t datum, bool major);
    void *arg;
} fk_memprof_callbacks;

typedef enum {
    FK_MEMPROF_OK,
    FK_MEMPROF_BAD_ARGUMENT, /* rate outside 0..1 */
    FK_MEMPROF_RUNNING,      /* this domain samples already */
    FK_MEMPROF_NOT_RUNNING,  /* it does not; or the profile to join has ended */
    FK_MEMPROF_NO_MEMORY,
} fk_memprof_error;

/* Samples each word with probability `rate`; callstacks of at most `depth`
 * frames. With a seed other than 0 two runs of a program that do the same are
 * sampled the same, on every architecture (the nursery is emptied first). *profile is the caller's; `callbacks` must live
 * as long as a block may be followed. */
fk_memprof_error fk_memprof_start(double rate, size_t depth, uint64_t seed, const fk_memprof_callbacks *callbacks,
                                  fk_memprof **profile);
/* This domain samples for a profile that another one started. */
fk_memprof_error fk_memprof_join(fk_memprof *);
/* Ends sampling for the current profile, in all its domains. */
fk_memprof_error fk_memprof_stop(void);
/* Stops it if need be; no callback begins after this. The handle is of no more
 * use (its few words stay: other domains may be looking at them). */
void fk_memprof_discard(fk_memprof *);

/* The thread samples nothing and runs no callback while suspended. Returns
 * what it was before. */
bool fk_memprof_suspend(bool suspended);

typedef struct {
    bool sampling;   /* the current profile samples; else the rest is that of the last one */
    bool suspended;  /* this thread */
    double rate;
    size_t depth;
    size_t entries;  /* blocks that this domain follows for it */
} fk_memprof_state;
fk_memprof_state fk_memprof_query(void);

#ifdef __cplusplus
}
#endif
#endif
