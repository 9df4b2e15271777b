/* test_model.h - shared by the model (test_model.c) and its heap (test_heap.c). */
#ifndef FK_MEMPROF_TEST_MODEL_H
#define FK_MEMPROF_TEST_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { NURSERY = 4096, DOMAINS = 6, THREADS = 4, PROFILES = 64, LIVE = 256, ROOTS = 64, TAG_DATUM = 7 };

#define FAIL(...) (fprintf(stderr, "FAIL seed %" PRIu64 " step %ld: ", seed, step), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

struct fk_mp_host {
    uintptr_t space[NURSERY], *ptr, *gc_trigger, *sample_trigger;
    fk_mp_domain *engine;
    fk_mp_thread *threads[THREADS];
    int current;
    bool alive, pending;
};

/* The model's view of a block. */
typedef struct {
    fk_mp_value v;
    int host, thread, profile;
    size_t wosize;
    bool tracked, root, young, pending, reported, promoted, dead;
    bool promote_seen, dealloc_seen, ended; /* ended: None, raised: no more events */
    int next_live;
} block;

extern uint64_t seed, rng;
extern long step, collections;
extern fk_mp_host hosts[DOMAINS];
extern block *blocks;
extern size_t num_blocks;
extern fk_mp_value trackers;     /* the tracker record: a root of the mutator */
extern fk_mp_value roots[ROOTS]; /* values that test code holds */
extern int num_roots;

static inline uint32_t random_below(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 16) % n);
}

static inline uintptr_t *words_of(fk_mp_value v)
{
    return (uintptr_t *)v;
}

static inline uintptr_t *header_of(fk_mp_value v)
{
    return words_of(v) - 1;
}

static inline size_t wosize_of(fk_mp_value v)
{
    return *header_of(v) >> 10;
}

fk_mp_value major_block(size_t wosize, uintptr_t header);
void minor_gc(void);
void major_gc(void);

#endif
