/* extensions_stubs.c - framekit/memprof.h: several profiles at once, seeds, a limit,
 * joining, suspension, queries. */
#define CAML_NAME_SPACE
#include <caml/callback.h>
#include <caml/mlvalues.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "framekit/memprof.h"
#include "framekit/runtime.h"

/* What one profile saw of pairs in the nursery. */
typedef struct {
    _Atomic long blocks, samples, dead;
    _Atomic uint64_t hash;
    fk_memprof *profile;
} view;

static bool on_alloc(void *arg, const fk_memprof_block *b, uint64_t *datum)
{
    view *v = arg;
    if (b->words != 2 || b->major)
        return false;
    *datum = (uint64_t)atomic_fetch_add(&v->blocks, 1);
    atomic_fetch_add(&v->samples, (long)b->samples);
    atomic_store(&v->hash, atomic_load(&v->hash) * 31 + b->samples + b->depth);
    return true;
}

static bool on_promote(void *arg, uint64_t *datum) { return arg && datum; }

static void on_dealloc(void *arg, uint64_t datum, bool major)
{
    (void)datum, (void)major;
    atomic_fetch_add(&((view *)arg)->dead, 1);
}

enum { VIEWS = 4 };
static view views[VIEWS];
static const fk_memprof_callbacks callbacks[VIEWS] = {
    {on_alloc, on_promote, on_dealloc, &views[0]},
    {on_alloc, on_promote, on_dealloc, &views[1]},
    {on_alloc, on_promote, on_dealloc, &views[2]},
    {on_alloc, on_promote, on_dealloc, &views[3]}};
static value work, gc_memprof;

static void call(long n) { caml_callback(work, Val_long(n)); }

static fk_memprof_error start(int i, double rate, uint64_t seed, double limit)
{
    views[i] = (view){.profile = views[i].profile};
    fk_memprof_options o = {rate, 10, seed, limit};
    return fk_memprof_start(&o, &callbacks[i], &views[i].profile);
}

static void end(int i)
{
    fk_memprof_stop(views[i].profile);
    fk_rt_collect(FK_RT_MINOR);
    call(1);
    fk_memprof_discard(views[i].profile);
}

/* The samples of 20,000 pairs, in order. */
static uint64_t alone(double rate, uint64_t seed)
{
    start(0, rate, seed, 0);
    call(20000);
    end(0);
    return views[0].hash;
}

static void seeds(void)
{
    uint64_t a = alone(0.01, 42), b = alone(0.01, 42), c = alone(0.01, 43);
    printf("samples: %016llx of %ld, again the same: %d, another seed: %d\n", (unsigned long long)a,
           (long)views[0].samples, a == b, a == c);
}

/* Beside two others a profile sees what it sees alone, and so do they. */
static void several(void)
{
    uint64_t without = alone(0.01, 42);
    start(1, 1, 0, 0);
    start(2, 0.5, 0, 0);
    start(0, 0.01, 42, 0);
    long before = views[1].blocks, half = views[2].blocks;
    call(20000);
    end(0);
    long all = views[1].blocks - before - 1; /* `end` makes a pair */
    half = views[2].blocks - half;
    /* A pair is three words: 7 of 8 are hit; 323 is 6.9 standard deviations. */
    printf("three at once: as alone %d, rate 1: %ld, rate 0.5: about 17500 %d\n",
           views[0].hash == without, all, labs(half - 17500) <= 323);
    fk_memprof_stop(views[1].profile);
    call(1000);
    long still = views[2].blocks - half;
    printf("one stopped: %ld more, the other %s\n", (long)views[1].blocks - before - 1 - all,
           still > 500 ? "goes on" : "too");
    end(1);
    end(2);
    printf("deaths: %d %d %d\n", views[0].dead == views[0].blocks, views[1].dead == views[1].blocks,
           views[2].dead == views[2].blocks);
}

static void with_gc_memprof(void)
{
    caml_callback(gc_memprof, Val_true);
    printf("Gc.Memprof: sampling %d, rate %g; ", fk_memprof_query(NULL).sampling,
           fk_memprof_query(NULL).rate);
    start(0, 1, 0, 0);
    call(5000);
    long there = Long_val(caml_callback(gc_memprof, Val_false)), here = views[0].blocks;
    call(100);
    printf("%ld pairs there, %ld here, %ld after its stop\n", there, here,
           (long)views[0].blocks - here);
    end(0);
}

static _Atomic int ready;

static void elsewhere(void *arg)
{
    (void)arg;
    while (!ready)
        call(1);
    printf("before joining: %d\n", fk_memprof_query(views[0].profile).sampling);
    fk_memprof_error first = fk_memprof_join(views[0].profile),
                     second = fk_memprof_join(views[0].profile);
    long before = views[0].blocks;
    call(1000);
    fk_memprof_state s = fk_memprof_query(views[0].profile);
    printf("join: %d, again: %d; rate %g, sampling %d, blocks %ld\n", first, second, s.rate,
           s.sampling, (long)views[0].blocks - before);
}

static void later(void *arg)
{
    long before = views[0].blocks;
    (void)arg;
    call(1000);
    printf("a later domain: blocks %ld\n", (long)views[0].blocks - before);
}

static void domains(void)
{
    fk_rt_domain *d = fk_rt_spawn(elsewhere, NULL);
    start(0, 1, 0, 0);
    ready = 1;
    fk_rt_join(d);
    fk_rt_join(fk_rt_spawn(later, NULL));
    end(0);
    printf(
        "joining what has been stopped: %d\n",
        (start(0, 1, 0, 0), fk_memprof_stop(views[0].profile), fk_memprof_join(views[0].profile)));
    end(0);
}

static void suspended(void)
{
    start(0, 1, 0, 0);
    bool before = fk_memprof_suspend(true);
    call(1000);
    printf("suspended: %d, blocks %ld\n", fk_memprof_query(views[0].profile).suspended,
           (long)views[0].blocks);
    fk_memprof_suspend(before);
    call(1000);
    printf("resumed: blocks %ld, followed %zu\n", (long)views[0].blocks,
           fk_memprof_query(views[0].profile).entries);
    fk_memprof_stop(views[0].profile);
    fk_memprof_error again = fk_memprof_stop(views[0].profile);
    fk_memprof_discard(views[0].profile);
    fk_rt_collect(FK_RT_MAJOR);
    call(100);
    printf("after discard: %ld deaths, stop again: %d\n", (long)views[0].dead, again);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 200 samples a second of a program that would have thousands. */
static void limited(void)
{
    double from = seconds();
    start(0, 0.5, 0, 200);
    while (seconds() - from < 0.5)
        call(1000);
    fk_memprof_stop(views[0].profile);
    double most = 200 * (seconds() - from + 0.1) + 70,
           rate = fk_memprof_query(views[0].profile).rate;
    printf("limit: kept %d, used %d, rate lowered %d\n", views[0].blocks <= most,
           views[0].blocks >= 20, rate < 0.5);
    end(0);
}

static void bad(void)
{
    printf("bad rates and limits: %d %d %d %d\n", start(0, 2, 0, 0), start(0, -1, 0, 0),
           start(0, 0.0 / 0.0, 0, 0), start(0, 1, 0, -1));
}

value extensions_test(value allocate, value profile)
{
    work = allocate;
    gc_memprof = profile;
    caml_register_generational_global_root(&work);
    caml_register_generational_global_root(&gc_memprof);
    seeds();
    several();
    with_gc_memprof();
    domains();
    suspended();
    limited();
    bad();
    fflush(stdout);
    return Val_unit;
}
