/* test_heap.c - a fake heap for test_model.c: nurseries whose old contents are
 * trashed at every collection, a major heap that is compacted. Domains and
 * threads are records, all code runs on one stack. */
#include "test_model.h"

enum { NURSERY = 4096, HELD = 16 };

struct fk_mp_host {
    uintptr_t space[NURSERY], *ptr, *sample_trigger;
    fk_mp_thread *threads[THREADS];
    bool pending;
};

static fk_mp_host fakes[DOMAINS];
static size_t blocks_of_request; /* that is being made */
static fk_mp_value held[HELD]; /* values that code here holds */
static int num_held;

static fk_mp_host *fake_of(const model_host *h)
{
    return &fakes[h - hosts];
}

static size_t wosize_of(fk_mp_value v)
{
    return *header_of(v) >> 10;
}

/* --- blocks ------------------------------------------------------------------ */

bool fk_host_is_young(fk_mp_value v)
{
    uintptr_t *p = words_of(v);
    return p > fakes[0].space && p < fakes[DOMAINS - 1].space + NURSERY;
}

/* A major block, its header's bit 8 set: not marked. */
enum { UNMARKED = 1 << 8 };
static struct major {
    struct major *next;
    uintptr_t header;
} *majors;

static fk_mp_value major_block(size_t wosize, uintptr_t header)
{
    struct major *m = calloc(1, sizeof *m + wosize * sizeof(uintptr_t));
    m->next = majors;
    m->header = header;
    majors = m;
    return (fk_mp_value)(&m->header + 1);
}

static fk_mp_value nursery_block(size_t wosize, uintptr_t tag)
{
    fk_mp_host *h = fake_of(self);
    while (h->ptr < h->space + wosize + 1)
        minor_gc();
    h->ptr -= wosize + 1;
    h->ptr[0] = wosize << 10 | tag;
    for (size_t i = 1; i <= wosize; i++)
        h->ptr[i] = (uintptr_t)FK_MP_UNIT;
    return (fk_mp_value)(h->ptr + 1);
}

/* Unlike the mutator's blocks it is not sampled: its caller is suspended. */
fk_mp_value heap_small(fk_mp_value field, uintptr_t tag)
{
    held[num_held++] = field;
    if (random_below(16) == 0)
        minor_gc();
    fk_mp_value v = nursery_block(1, tag);
    words_of(v)[0] = (uintptr_t)held[--num_held];
    return v;
}

/* --- minor collections ---------------------------------------------------------- */

static void each_host(void (*f)(model_host *))
{
    for (int i = 0; i < DOMAINS; i++)
        if (hosts[i].engine)
            f(&hosts[i]);
}

static void promote(void *data, fk_mp_value v, volatile fk_mp_value *p)
{
    (void)data;
    if (!fk_mp_is_block(v) || !fk_host_is_young(v))
        return;
    if (*header_of(v) != 0) {
        size_t n = wosize_of(v);
        fk_mp_value copy = major_block(n, *header_of(v));
        memcpy(words_of(copy), words_of(v), n * sizeof(uintptr_t));
        *header_of(v) = 0;
        words_of(v)[0] = (uintptr_t)copy;
        for (size_t i = 0; i < n; i++)
            promote(NULL, (fk_mp_value)words_of(copy)[i], (fk_mp_value *)&words_of(copy)[i]);
    }
    *p = (fk_mp_value)words_of(v)[0];
}

/* Every root of the mutator. */
static void each_root(fk_mp_root_fn f)
{
    f(NULL, trackers, &trackers);
    for (int i = 0; i < num_held; i++)
        f(NULL, held[i], &held[i]);
    for (int i = 0; i < num_live; i++)
        f(NULL, live_values[i], &live_values[i]);
}

static void scan_young(model_host *h)
{
    fk_mp_scan_roots(h->engine, promote, NULL, FK_MP_ROOTS_YOUNG);
}

static void finish_minor(model_host *h)
{
    fk_mp_host *fake = fake_of(h);
    fk_mp_after_minor(h->engine);
    memset(fake->space, 0xDD, sizeof fake->space);
    fake->ptr = fake->space + NURSERY;
    fk_mp_set_trigger(h->engine, false);
}

void minor_gc(void)
{
    model_minor();
    each_root(promote);
    each_host(scan_young);
    each_host(finish_minor);
}

void heap_sync(void)
{
}

/* --- major collections ------------------------------------------------------------ */

static void mark(void *data, fk_mp_value v, volatile fk_mp_value *p)
{
    (void)data, (void)p;
    if (!fk_mp_is_block(v) || fk_host_is_young(v) || !(*header_of(v) & UNMARKED))
        return;
    *header_of(v) &= ~(uintptr_t)UNMARKED;
    for (size_t i = 0; i < wosize_of(v); i++)
        mark(NULL, (fk_mp_value)words_of(v)[i], NULL);
}

bool fk_host_is_unmarked(fk_mp_value v)
{
    return *header_of(v) & UNMARKED;
}

static void scan_all(model_host *h)
{
    fk_mp_scan_roots(h->engine, mark, NULL, FK_MP_ROOTS_ALL);
}

static void after_major(model_host *h)
{
    fk_mp_after_major(h->engine);
}

static void sweep(void)
{
    for (struct major **p = &majors, *m; (m = *p);) {
        if (!(m->header & UNMARKED)) {
            p = &m->next;
            continue;
        }
        *p = m->next;
        free(m);
    }
}

/* Every block moves; field 0 of the old one is the new address. */
static void follow(void *data, fk_mp_value v, volatile fk_mp_value *p)
{
    (void)data;
    if (fk_mp_is_block(v) && !fk_host_is_young(v) && (*header_of(v) & UNMARKED))
        *p = (fk_mp_value)words_of(v)[0];
}

static void scan_weak(model_host *h)
{
    fk_mp_scan_roots(h->engine, follow, NULL, FK_MP_ROOTS_WEAK);
}

static void compact(void)
{
    struct major *old = majors;
    majors = NULL;
    for (struct major *m = old; m; m = m->next) {
        fk_mp_value to = major_block(m->header >> 10, m->header);
        memcpy(words_of(to), &m->header + 1, wosize_of(to) * sizeof(uintptr_t));
        (&m->header)[1] = (uintptr_t)to;
        m->header |= UNMARKED;
    }
    for (struct major *m = majors; m; m = m->next)
        for (size_t i = 0; i < m->header >> 10; i++) {
            fk_mp_value *field = (fk_mp_value *)&m->header + 1 + i;
            follow(NULL, *field, field);
        }
    each_root(follow);
    each_host(scan_weak);
    while (old) {
        struct major *m = old;
        old = m->next;
        free(m);
    }
}

void major_gc(void)
{
    minor_gc();
    for (struct major *m = majors; m; m = m->next)
        m->header |= UNMARKED;
    each_root(mark);
    each_host(scan_all);
    each_host(after_major);
    model_major();
    sweep();
    if (random_below(3) == 0)
        compact();
}

/* --- allocation --------------------------------------------------------------------- */

size_t heap_shape(unsigned char *lens)
{
    size_t n = 1 + random_below(MAX_GROUP);
    for (size_t i = 0; i < n; i++)
        lens[i] = (unsigned char)random_below(12);
    return n;
}

bool heap_compiled(size_t n, const unsigned char *lens, fk_mp_value *values)
{
    fk_mp_host *h = fake_of(self);
    size_t words = 0;
    for (size_t i = 0; i < n; i++)
        words += (size_t)lens[i] + 2;
    while (h->ptr < h->space + words)
        minor_gc();
    h->ptr -= words;
    blocks_of_request = n;
    if (h->ptr < h->sample_trigger && fk_mp_sample_young(self->engine, words, n, lens).is_exception)
        return false;
    uintptr_t *p = h->ptr + words;
    for (size_t i = 0; i < n; i++) {
        size_t wosize = (size_t)lens[n - 1 - i] + 1;
        p -= wosize + 1;
        p[0] = wosize << 10;
        memset(p + 1, 1, wosize * sizeof *p);
        values[i] = (fk_mp_value)(p + 1);
    }
    return true;
}

fk_mp_value heap_c(size_t wosize)
{
    fk_mp_value v = nursery_block(wosize, 0);
    if (fake_of(self)->ptr < fake_of(self)->sample_trigger)
        fk_mp_sample_young_c(self->engine, wosize);
    return v;
}

fk_mp_value heap_major(size_t wosize)
{
    fk_mp_value v = major_block(wosize, wosize << 10);
    memset(words_of(v), 1, wosize * sizeof(uintptr_t));
    fk_mp_sample_block(self->engine, v, wosize, wosize + 1, 0);
    return v;
}

/* --- domains and threads -------------------------------------------------------------- */

/* The current thread may be another one than last time. */
void heap_run(void (*f)(void))
{
    fk_mp_thread_enter(fake_of(self)->threads[self->current]);
    f();
}

bool heap_run_callbacks(void)
{
    fake_of(self)->pending = false;
    bool raised = fk_mp_run_callbacks(self->engine).is_exception;
    fake_of(self)->pending |= raised;
    return raised;
}

bool heap_pending(const model_host *h)
{
    return fake_of(h)->pending;
}

static void new_engine(model_host *h, const fk_mp_domain *parent)
{
    fk_mp_host *fake = fake_of(h);
    memset(fake, 0, sizeof *fake);
    fake->ptr = fake->space + NURSERY;
    fake->sample_trigger = fake->space;
    h->engine = fk_mp_domain_new(fake, parent, (uint64_t)(h - hosts));
    fake->threads[0] = fk_mp_domain_main_thread(h->engine);
    fk_mp_set_trigger(h->engine, false);
}

void heap_spawn(model_host *h)
{
    new_engine(h, self->engine);
}

bool heap_may_end(const model_host *h)
{
    (void)h;
    return true;
}

void heap_end(model_host *h)
{
    fk_mp_domain_delete(h->engine);
    h->engine = NULL;
}

void heap_thread_new(int t)
{
    fake_of(self)->threads[t] = fk_mp_thread_new(self->engine);
}

bool heap_may_end_thread(int t)
{
    (void)t;
    return true;
}

void heap_thread_delete(int t)
{
    fk_mp_thread_delete(fake_of(self)->threads[t]);
}

/* The closures are blocks {code}: what the record points to must follow too. */
static void make_trackers(void)
{
    for (int i = 0; i < 5; i++)
        held[num_held++] = heap_small(immediate(i), 0);
    trackers = nursery_block(5, 0);
    while (num_held > 0) {
        num_held--;
        words_of(trackers)[num_held] = (uintptr_t)held[num_held];
    }
}

void heap_main(char **argv, void (*run)(void))
{
    (void)argv;
    new_engine(&hosts[0], NULL);
    make_trackers();
    run();
}

/* --- the host interface ----------------------------------------------------------- */

fk_mp_young fk_host_young(fk_mp_host *h)
{
    return (fk_mp_young){h->space, h->ptr};
}

void fk_host_set_young_ptr(fk_mp_host *h, uintptr_t *ptr)
{
    h->ptr = ptr;
}

uintptr_t *fk_host_sample_trigger(fk_mp_host *h)
{
    return h->sample_trigger;
}

void fk_host_store_sample_trigger(fk_mp_host *h, uintptr_t *trigger)
{
    if (trigger < h->space || trigger > h->space + NURSERY)
        FAIL("trigger outside the nursery");
    h->sample_trigger = trigger;
}

void fk_host_set_sample_trigger(fk_mp_host *h, uintptr_t *trigger)
{
    fk_host_store_sample_trigger(h, trigger);
}

void fk_host_make_room(fk_mp_host *h, size_t words)
{
    while (h->ptr < h->space + words || random_below(8) == 0)
        minor_gc();
}

fk_mp_fate fk_host_minor_fate(fk_mp_host *h, fk_mp_value v, bool final, fk_mp_value *moved)
{
    (void)h;
    (void)final;
    if (*header_of(v) != 0)
        return FK_MP_DIED;
    *moved = (fk_mp_value)words_of(v)[0];
    return FK_MP_MOVED;
}

uint64_t fk_host_now(void)
{
    return 1;
}

void fk_host_set_pending(fk_mp_host *h)
{
    h->pending = true;
}

bool fk_host_in_compiled_code(fk_mp_host *h)
{
    return h->pending;
}

fk_mp_value fk_host_tracker(fk_mp_value tracker, int n)
{
    if (wosize_of(tracker) != 5)
        FAIL("tracker was not kept as a root");
    return (fk_mp_value)words_of(tracker)[n];
}

static int code_of(fk_mp_value closure)
{
    if (wosize_of(closure) != 1)
        FAIL("closure was not kept as a root");
    return (int)((intptr_t)words_of(closure)[0] >> 1);
}

fk_mp_result fk_host_call_alloc(fk_mp_value closure, const fk_mp_allocation *a)
{
    if (a->depth != 3)
        FAIL("callstack of depth %zu", a->depth);
    model_allocation told = {a->samples, a->wosize, (int)a->slots[0]};
    return model_allocated(code_of(closure), &told);
}

fk_mp_result fk_host_call(fk_mp_value closure, fk_mp_value argument)
{
    return model_event(code_of(closure), argument);
}

size_t fk_host_callstack(fk_mp_host *h, size_t limit, ptrdiff_t alloc_index, const fk_mp_slot **slots)
{
    static fk_mp_slot buf[3];
    (void)h;
    /* the lowest block is the last one that is allocated */
    buf[0] = alloc_index < 0 ? -1 : (fk_mp_slot)blocks_of_request - 1 - alloc_index;
    buf[1] = buf[2] = 42;
    *slots = buf;
    return limit < 3 ? limit : 3;
}

bool fk_host_option(fk_mp_value option, fk_mp_value *some)
{
    if (!fk_mp_is_block(option))
        return false;
    *some = (fk_mp_value)words_of(option)[0];
    return true;
}

bool fk_host_frame(fk_mp_slot slot, void **cursor, fk_mp_frame *out)
{
    (void)slot;
    (void)cursor;
    (void)out;
    return false;
}
