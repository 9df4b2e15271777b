/* extensions_stubs.c - framekit/memprof.h: seeds, joining, suspension, queries. */
#define CAML_NAME_SPACE
#include <caml/callback.h>
#include <caml/mlvalues.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "framekit/memprof.h"
#include "framekit/runtime.h"

static _Atomic long blocks, samples, hash, dead;

static bool on_alloc(void *arg, const fk_memprof_block *b, uint64_t *datum)
{
    (void)arg;
    atomic_fetch_add(&samples, (long)b->samples);
    long n = atomic_fetch_add(&blocks, 1);
    atomic_store(&hash, atomic_load(&hash) * 31 + (long)b->samples);
    *datum = (uint64_t)n;
    return b->words == 2 && !b->major;
}
static bool on_promote(void *arg, uint64_t *datum) { (void)arg, (void)datum; return true; }
static void on_dealloc(void *arg, uint64_t datum, bool major) { (void)arg, (void)datum, (void)major; atomic_fetch_add(&dead, 1); }
static const fk_memprof_callbacks callbacks = {on_alloc, on_promote, on_dealloc, NULL};

static value work;
static fk_memprof *profile;

static void call(long n) { caml_callback(work, Val_long(n)); }
static void reset(void) { blocks = samples = hash = dead = 0; }

static long run(double rate, uint64_t seed)
{
    reset();
    fk_memprof_start(rate, 10, seed, &callbacks, &profile);
    call(20000);
    fk_memprof_stop();
    fk_rt_collect(FK_RT_MINOR);
    fk_memprof_discard(profile);
    return hash * 1000003 + samples;
}

static _Atomic int ready;

static void elsewhere(void *arg)
{
    (void)arg;
    printf("before joining: %d\n", fk_memprof_query().sampling);
    while (!ready)
        call(1);
    fk_memprof_error first = fk_memprof_join(profile), second = fk_memprof_join(profile);
    printf("join: %d, again: %d\n", first, second);
    reset();
    call(1000);
    printf("there: rate %g, sampling %d, at least 1000 blocks: %d\n", fk_memprof_query().rate,
           fk_memprof_query().sampling, blocks >= 1000);
}

static void joined(void)
{
    fk_rt_domain *d = fk_rt_spawn(elsewhere, NULL);
    fk_memprof_start(1, 10, 0, &callbacks, &profile);
    ready = 1;
    fk_rt_join(d);
    printf("start while running: %d\n", fk_memprof_start(1, 10, 0, &callbacks, &profile));
}

static void suspended(void)
{
    bool before = fk_memprof_suspend(true);
    reset();
    call(1000);
    printf("suspended: %d, blocks %ld\n", fk_memprof_query().suspended, (long)blocks);
    fk_memprof_suspend(before);
    call(1000);
    printf("resumed: at least 1000 blocks: %d\n", blocks >= 1000);
}

value extensions_test(value f)
{
    work = f;
    caml_register_generational_global_root(&work);
    long seeded = run(0.01, getenv("SEED") ? atol(getenv("SEED")) : 42);
    printf("samples: %lx\n", (unsigned long)seeded);
    joined();
    suspended();
    printf("rate 2: %d\n", (fk_memprof_stop(), fk_memprof_start(2, 10, 0, &callbacks, &profile)));
    fk_rt_collect(FK_RT_MINOR);
    fk_memprof_discard(profile);
    long before = dead;
    fk_rt_collect(FK_RT_MAJOR);
    call(100);
    printf("after discard: %ld deaths, stop: %d\n", (long)dead - before, fk_memprof_stop());
    fflush(stdout);
    return Val_unit;
}
