/* test_model.h - shared by the model (test_model.c) and its heap (test_heap.c). */
#ifndef FK_MEMPROF_TEST_MODEL_H
#define FK_MEMPROF_TEST_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { DOMAINS = 6, THREADS = 4, PROFILES = 64, LIVE = 256, TAG_DATUM = 7, MAX_GROUP = 5 };

#define FAIL(...) \
    (fprintf(stderr, "FAIL seed %" PRIu64 " step %ld: ", seed, step), fprintf(stderr, __VA_ARGS__), \
     fputc('\n', stderr), exit(1))

/* A domain as the model sees it. */
typedef struct {
    fk_mp_domain *engine;
    bool alive, threads[THREADS];
    int current;
} model_host;

extern uint64_t seed, rng;
extern long step;
extern model_host hosts[DOMAINS], *self; /* self: the domain whose code runs */
/* Roots: the tracker record, and the blocks that the mutator holds. */
extern fk_mp_value trackers, live_values[LIVE];
extern int num_live;

/* --- what the heap tells the model ------------------------------------------- */

typedef struct {
    size_t samples, wosize;
    int index; /* by its callstack: which block of a combined allocation, in order; -1: none */
} model_allocation;
/* The tracker's member `code` is called. A block (Some datum, or what is raised) or UNIT (None). */
fk_mp_result model_allocated(int code, const model_allocation *);
fk_mp_result model_event(int code, fk_mp_value datum);
void model_minor(void);
void model_major(void);

/* --- the heap: test_heap.c, test_heap_framekit.c -------------------------------- */

/* Sets the heap up, with hosts[0] and the trackers, and calls run. */
void heap_main(char **argv, void (*run)(void));
/* f runs as the current thread of `self`. */
void heap_run(void (*f)(void));
/* The model hears of all collections so far. */
void heap_sync(void);
void minor_gc(void);
void major_gc(void);

/* Below: as the thread that runs. UNIT or false: a callback raised, nothing was allocated. */
size_t heap_shape(unsigned char *lens); /* a request that the heap can make */
/* The values in order of allocation. */
bool heap_compiled(size_t n, const unsigned char *lens, fk_mp_value *values);
fk_mp_value heap_c(size_t wosize);
fk_mp_value heap_major(size_t wosize);
/* One field. Only inside callbacks: not sampled. */
fk_mp_value heap_small(fk_mp_value field, uintptr_t tag);
bool heap_run_callbacks(void); /* true: one of them raised */
bool heap_pending(const model_host *);

/* A new domain, the running one's child. */
void heap_spawn(model_host *);
bool heap_may_end(const model_host *);
void heap_end(model_host *); /* outside all domains' code */
void heap_thread_new(int t);
bool heap_may_end_thread(int t);
void heap_thread_delete(int t);

static inline uint32_t random_below(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 16) % n);
}

static inline fk_mp_value immediate(intptr_t n)
{
    return (n << 1) | 1;
}

static inline uintptr_t *words_of(fk_mp_value v)
{
    return (uintptr_t *)v;
}

static inline uintptr_t *header_of(fk_mp_value v)
{
    return words_of(v) - 1;
}

#endif
