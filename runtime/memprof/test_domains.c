/* test_domains.c - domains as threads that run at once, for the sanitizers too.
 *
 *   test-memprof-domains [SEED [DOMAINS]]
 *
 * Domains are born in sequence, four at a time, allocate, collect, adopt what
 * dead ones left and die with callbacks pending. Every block that was reported
 * must be reported dead exactly once in the end, wherever it ended up; then a
 * second part starts, stops and discards profiles across domains; a third one lets
 * each allocation fail in turn, a fourth one counts what a poll runs. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { NURSERY = 1024, SLOTS = 8, WORKERS = 4, BLOCKS = 1 << 20, STEPS = 400 };

struct fk_mp_host {
    fk_mp_domain *engine;
    uintptr_t *start, *ptr, *trigger;
    uint64_t rng;
};

static uintptr_t space[SLOTS][NURSERY];
static _Atomic int all_dead;
static _Atomic uint32_t next_id;
static _Atomic uint64_t next_address = (uint64_t)1 << 34; /* pages far above the program */
static _Atomic uint32_t seen[BLOCKS]; /* 1: reported, 2: dead */
static _Atomic int failures;
static _Atomic long born, deaths, moves;

/* --- memory: all of the engine's goes through here (--wrap) ---------------------------- */

static _Atomic long allocations, fail_at = -1, in_use;

static bool refuse(void)
{
    return atomic_fetch_add(&allocations, 1) == atomic_load(&fail_at);
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);

static void *counted(void *p)
{
    atomic_fetch_add(&in_use, p != NULL);
    return p;
}

void *__wrap_malloc(size_t n) { return refuse() ? NULL : counted(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return refuse() ? NULL : counted(__real_calloc(n, size)); }

void *__wrap_realloc(void *p, size_t n)
{
    if (refuse())
        return NULL;
    return p ? __real_realloc(p, n) : counted(__real_realloc(p, n));
}

void __wrap_free(void *p)
{
    atomic_fetch_sub(&in_use, p != NULL);
    __real_free(p);
}

static void fail(const char *what)
{
    if (atomic_fetch_add(&failures, 1) < 10)
        printf("FAIL %s\n", what);
}

static uint32_t below(fk_mp_host *h, uint32_t n)
{
    h->rng ^= h->rng << 13;
    h->rng ^= h->rng >> 7;
    h->rng ^= h->rng << 17;
    return (uint32_t)(h->rng >> 20) % n;
}

/* --- the host: blocks of the major heap are numbers --------------------------------- */

bool fk_host_is_young(fk_mp_value v) { return (uintptr_t *)v > space[0] && (uintptr_t *)v < space[SLOTS - 1] + NURSERY; }
bool fk_host_is_unmarked(fk_mp_value v) { return atomic_load(&all_dead) || (((uint64_t)v * 0x9E3779B97F4A7C15u) >> 61) == 0; }

fk_mp_fate fk_host_minor_fate(fk_mp_host *h, fk_mp_value v, bool final, fk_mp_value *moved)
{
    (void)v, (void)final;
    if (below(h, 2))
        return FK_MP_DIED;
    *moved = (fk_mp_value)(atomic_fetch_add(&next_address, 1) << 12);
    return FK_MP_MOVED;
}

fk_mp_young fk_host_young(fk_mp_host *h) { return (fk_mp_young){h->start, h->ptr}; }
void fk_host_set_young_ptr(fk_mp_host *h, uintptr_t *ptr) { h->ptr = ptr; }
uintptr_t *fk_host_sample_trigger(fk_mp_host *h) { return h->trigger; }
void fk_host_set_sample_trigger(fk_mp_host *h, uintptr_t *t) { h->trigger = t; }
void fk_host_store_sample_trigger(fk_mp_host *h, uintptr_t *t) { h->trigger = t; }
bool fk_host_in_compiled_code(fk_mp_host *h) { return h != NULL; }
void fk_host_set_pending(fk_mp_host *h) { (void)h; }
fk_mp_value fk_host_tracker(fk_mp_value tracker, int n) { return tracker + n; }
bool fk_host_option(fk_mp_value option, fk_mp_value *some) { return *some = option, option != FK_MP_UNIT; }
uint64_t fk_host_now(void) { return atomic_fetch_add(&next_address, 1); }
bool fk_host_frame(fk_mp_slot s, void **cursor, fk_mp_frame *out) { return s && cursor && out && false; }

size_t fk_host_callstack(fk_mp_host *h, size_t limit, ptrdiff_t alloc_index, const fk_mp_slot **slots)
{
    static const fk_mp_slot stack[4] = {1, 2, 3, 4};
    (void)h, (void)alloc_index;
    *slots = stack;
    return limit < 4 ? limit : 4;
}

static void collect(fk_mp_host *h)
{
    fk_mp_after_minor(h->engine);
    h->ptr = h->start + NURSERY;
    fk_mp_set_trigger(h->engine, false);
}

void fk_host_make_room(fk_mp_host *h, size_t words)
{
    if (h->ptr < h->start + words)
        collect(h);
}

/* --- callbacks --------------------------------------------------------------------------- */

static bool on_alloc(void *arg, const fk_mp_allocation *a, bool major, fk_mp_value *datum)
{
    uint32_t id = atomic_fetch_add(&next_id, 1);
    (void)arg, (void)a, (void)major;
    if (id >= BLOCKS)
        return false;
    if (atomic_exchange(&seen[id], 1) != 0)
        fail("an id was given twice");
    atomic_fetch_add(&born, 1);
    *datum = (fk_mp_value)((uint64_t)(id + 1) << 1 | 1); /* not UNIT */
    return true;
}

static bool on_promote(void *arg, fk_mp_value *datum)
{
    (void)arg, (void)datum;
    atomic_fetch_add(&moves, 1);
    return true;
}

static void on_dealloc(void *arg, fk_mp_value datum, bool major)
{
    (void)arg, (void)major;
    if (atomic_exchange(&seen[((uint64_t)datum >> 1) - 1], 2) != 1)
        fail("a death was reported twice, or of no block");
    atomic_fetch_add(&deaths, 1);
}

static const fk_mp_hooks hooks = {on_alloc, on_promote, on_dealloc, NULL};

/* Gc.Memprof's callbacks do the same; the tracker is a number. */
enum { TRACKER = 100 };

fk_mp_result fk_host_call_alloc(fk_mp_value f, const fk_mp_allocation *a)
{
    fk_mp_value datum;
    return (fk_mp_result){false, on_alloc(NULL, a, f == TRACKER + 1, &datum) ? datum : FK_MP_UNIT};
}

fk_mp_result fk_host_call(fk_mp_value f, fk_mp_value v)
{
    if (f == TRACKER + 2)
        on_promote(NULL, &v);
    else
        on_dealloc(NULL, v, f == TRACKER + 4);
    return (fk_mp_result){false, v};
}

/* Another profile at the same time. */
static fk_mp_profile *attach(fk_mp_host *h, double rate, double limit)
{
    fk_mp_profile *p = fk_mp_profile_new(rate, 4, &hooks);
    if (!p)
        exit(2);
    fk_mp_limit_init(&p->limit, limit);
    if (fk_mp_attach(h->engine, p) != FK_MP_OK)
        exit(2);
    fk_mp_set_trigger(h->engine, false);
    return p;
}

/* --- mutators --------------------------------------------------------------------------- */

static void allocate(fk_mp_host *h)
{
    unsigned char lens[3] = {(unsigned char)below(h, 5), (unsigned char)below(h, 9), 0};
    size_t words = (size_t)lens[0] + lens[1] + lens[2] + 6;
    if (h->ptr < h->start + words)
        collect(h);
    h->ptr -= words;
    if (h->ptr < h->trigger)
        fk_mp_sample_young(h->engine, words, 3, lens);
}

static void visit(void *data, fk_mp_value v, volatile fk_mp_value *p) { (void)data, (void)v, (void)p; }

static void step(fk_mp_host *h)
{
    switch (below(h, 12)) {
    case 0: collect(h); break;
    case 1: fk_mp_after_major(h->engine); break;
    case 2: fk_mp_run_callbacks(h->engine); break;
    case 3: fk_mp_scan_roots(h->engine, visit, NULL, FK_MP_ROOTS_ALL); break;
    case 4: fk_mp_sample_block(h->engine, (fk_mp_value)(atomic_fetch_add(&next_address, 1) << 12), 300, 301, 0); break;
    default: allocate(h);
    }
}

static bool open_host(fk_mp_host *h, int slot, const fk_mp_domain *parent, uint64_t seed)
{
    *h = (fk_mp_host){.start = space[slot], .rng = seed * 0x9E3779B97F4A7C15u + 1};
    h->ptr = h->start + NURSERY;
    h->trigger = h->start;
    h->engine = fk_mp_domain_new(h, parent, seed);
    if (h->engine)
        fk_mp_set_trigger(h->engine, false);
    return h->engine != NULL;
}

/* Ends with callbacks pending: a collection, but no poll. */
static void close_host(fk_mp_host *h)
{
    collect(h);
    fk_mp_domain_delete(h->engine);
}

typedef struct {
    fk_mp_host host;
    int slot;
    bool control; /* part two */
} worker;

static _Atomic(fk_mp_profile *) shared; /* somebody's profile that others may discard */

static void control(fk_mp_host *h)
{
    fk_mp_profile *p = NULL, *old;
    fk_mp_value exn;
    switch (below(h, 40)) {
    case 3: case 4:
        old = atomic_exchange(&shared, attach(h, 0.05, below(h, 2) * 1e7));
        fk_mp_profile_unref(old);
        return;
    case 0:
        if (fk_mp_start(h->engine, 0.1, 4, TRACKER, &p) != FK_MP_OK)
            return;
        old = atomic_exchange(&shared, p);
        fk_mp_profile_unref(old);
        return;
    case 1: fk_mp_stop(h->engine, &exn); return;
    case 2:
        old = atomic_exchange(&shared, NULL);
        if (old) {
            fk_mp_profile_move(old, FK_MP_SAMPLING, FK_MP_STOPPED);
            fk_mp_discard(old);
        }
        fk_mp_profile_unref(old);
    }
}

static void *run(void *arg)
{
    worker *w = arg;
    for (int i = 0; i < STEPS; i++) {
        step(&w->host);
        if (w->control)
            control(&w->host);
    }
    close_host(&w->host);
    return NULL;
}

static void generations(fk_mp_host *parent, int domains, uint64_t seed, bool with_control)
{
    static worker w[WORKERS];
    pthread_t thread[WORKERS];
    for (int i = 0; i < domains; i += WORKERS) {
        for (int k = 0; k < WORKERS; k++) {
            w[k].slot = 1 + k;
            w[k].control = with_control;
            if (!open_host(&w[k].host, 1 + k, parent->engine, seed + (uint64_t)(i + k) + 1) ||
                pthread_create(&thread[k], NULL, run, &w[k]) != 0)
                exit(2);
            step(parent);
        }
        for (int k = 0; k < 50; k++)
            step(parent);
        for (int k = 0; k < WORKERS; k++)
            pthread_join(thread[k], NULL);
    }
}

static void bury(fk_mp_host *h)
{
    atomic_store(&all_dead, 1);
    for (int i = 0; i < 3; i++) {
        collect(h);
        fk_mp_after_major(h->engine);
        for (int k = 0; k < 100; k++) /* bounded batches */
            fk_mp_run_callbacks(h->engine);
    }
    atomic_store(&all_dead, 0);
}

/* --- part three: memory runs out ---------------------------------------------------------- */

/* A domain with two profiles and two threads, then another that takes over. */
static void short_life(uint64_t seed)
{
    fk_mp_host h;
    fk_mp_profile *p = NULL, *second;
    fk_mp_value exn;
    if (!open_host(&h, 0, NULL, seed))
        return;
    fk_mp_start(h.engine, 0.3, 4, TRACKER, &p);
    second = fk_mp_profile_new(0.3, 4, &hooks);
    if (second)
        fk_mp_attach(h.engine, second);
    fk_mp_set_trigger(h.engine, false);
    for (int i = 0; i < 40; i++)
        step(&h);
    fk_mp_thread *main_thread = fk_mp_domain_main_thread(h.engine), *other = fk_mp_thread_new(h.engine);
    if (other) {
        fk_mp_thread_enter(other);
        for (int i = 0; i < 40; i++)
            step(&h);
        fk_mp_thread_enter(main_thread);
        fk_mp_thread_delete(other);
    }
    if (!fk_mp_domain_is_valid(h.engine))
        fail("invariant of a table, without memory");
    fk_mp_stop(h.engine, &exn);
    fk_mp_profile_unref(p);
    if (fk_mp_start(h.engine, 0.5, 4, TRACKER, &p) == FK_MP_OK)
        fk_mp_profile_unref(p);
    for (int i = 0; i < 20; i++)
        step(&h);
    close_host(&h);
    fk_mp_profile_unref(second);
}

/* Each allocation of a short life fails in turn: samples are lost, nothing else. */
static long scarce(uint64_t seed)
{
    long turn = 0, reports = born, before = in_use;
    for (;; turn++) {
        fk_mp_host heir;
        atomic_store(&allocations, 0);
        atomic_store(&fail_at, turn);
        short_life(seed);
        bool done = atomic_load(&allocations) <= turn;
        atomic_store(&fail_at, -1);
        if (!open_host(&heir, 0, NULL, seed))
            exit(2);
        bury(&heir);
        if (heir.engine->orphans)
            fail("orphans are left over, without memory");
        fk_mp_domain_delete(heir.engine);
        if (in_use != before)
            fail("memory is not given back, without memory");
        if (done)
            break;
    }
    if (born - reports < turn)
        fail("hardly anything is reported, without memory");
    return turn;
}

/* --- part four: a poll stays short -------------------------------------------------------- */

/* Many deaths at once: a poll of compiled code reports BATCH of them, the next ones the rest. */
static void batches(uint64_t seed)
{
    fk_mp_host h;
    fk_mp_profile *p = NULL;
    if (!open_host(&h, 0, NULL, seed) || fk_mp_start(h.engine, 1, 0, TRACKER, &p) != FK_MP_OK)
        exit(2);
    long before = born - deaths, polls = 0;
    while (born - deaths - before < 3 * BATCH)
        allocate(&h);
    collect(&h);
    atomic_store(&all_dead, 1);
    fk_mp_after_major(h.engine);
    atomic_store(&all_dead, 0);
    for (; h.engine->pending; polls++) {
        long calls = deaths + moves;
        fk_mp_run_callbacks(h.engine);
        calls = deaths + moves - calls;
        if (calls > BATCH || (h.engine->pending && calls < BATCH))
            fail("a poll runs another number of callbacks than a batch");
    }
    if (polls < 3 || born - deaths != before)
        fail("what a poll left was not reported");
    fk_mp_profile_unref(p);
    fk_mp_domain_delete(h.engine);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int domains = argc > 2 ? atoi(argv[2]) : 100;
    fk_mp_profile *p, *second;
    fk_mp_value exn;
    fk_mp_host host;
    if (!open_host(&host, 0, NULL, seed) || fk_mp_start(host.engine, 0.15, 4, TRACKER, &p) != FK_MP_OK)
        return 2;
    second = attach(&host, 0.1, 0);
    generations(&host, domains, seed, false);
    bury(&host);
    if (born != deaths)
        fail("blocks were lost");
    fk_mp_profile_move(second, FK_MP_SAMPLING, FK_MP_STOPPED);
    collect(&host);
    if (host.engine->orphans || host.engine->layers)
        fail("a table is left over");
    fk_mp_stop(host.engine, &exn);
    fk_mp_discard(p);
    fk_mp_discard(second);
    fk_mp_profile_unref(p);
    fk_mp_profile_unref(second);
    printf("seed %" PRIu64 ": %d domains, every reported block died once: %s, %s of them moved\n", seed, domains,
           born == deaths && born > 10000 ? "yes" : "no", moves > 1000 ? "many" : "few");
    generations(&host, domains, seed, true);
    fk_mp_profile_unref(atomic_exchange(&shared, NULL));
    bury(&host);
    fk_mp_domain_delete(host.engine);
    if (open_host(&host, 0, NULL, seed)) { /* takes over what the last one left */
        bury(&host);
        if (host.engine->orphans)
            fail("orphans are left over");
        fk_mp_domain_delete(host.engine);
    }
    printf("start, stop and discard across domains: %d failures\n", failures);
    batches(seed);
    long turns = scarce(seed);
    printf("%s allocations failed in turn: %d failures\n", turns >= 50 ? "many" : "few", failures);
    return failures != 0;
}
