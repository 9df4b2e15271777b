/* test_heap.c - the fake host of test_model.c: nurseries whose old contents are
 * trashed at every collection, a major heap that is compacted. */
#include "test_model.h"

/* --- heap --------------------------------------------------------------------- */

bool fk_host_is_young(fk_mp_value v)
{
    for (int i = 0; i < DOMAINS; i++)
        if (words_of(v) > hosts[i].space && words_of(v) < hosts[i].space + NURSERY)
            return true;
    return false;
}

enum { UNMARKED = 1 }; /* header bit 8 */

fk_mp_value major_block(size_t wosize, uintptr_t header)
{
    uintptr_t *p = malloc((wosize + 1) * sizeof *p);
    p[0] = header;
    return (fk_mp_value)(p + 1);
}

static void promote_value(void *data, fk_mp_value v, volatile fk_mp_value *p)
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
        for (size_t i = 0; i < n; i++) /* trackers point to closures */
            if (fk_mp_is_block((fk_mp_value)words_of(copy)[i]))
                promote_value(NULL, (fk_mp_value)words_of(copy)[i], (fk_mp_value *)&words_of(copy)[i]);
    }
    *p = (fk_mp_value)words_of(v)[0];
}

static void each_host(void (*f)(fk_mp_host *))
{
    for (int i = 0; i < DOMAINS; i++)
        if (hosts[i].alive)
            f(&hosts[i]);
}

static void scan_young(fk_mp_host *h)
{
    fk_mp_scan_roots(h->engine, promote_value, NULL, FK_MP_ROOTS_YOUNG);
}

static void finish_minor(fk_mp_host *h)
{
    fk_mp_after_minor(h->engine);
    memset(h->space, 0xDD, sizeof h->space);
    h->ptr = h->space + NURSERY;
    fk_mp_set_trigger(h->engine, false);
}

void minor_gc(void)
{
    collections++;
    promote_value(NULL, trackers, &trackers);
    for (int i = 0; i < num_roots; i++)
        promote_value(NULL, roots[i], &roots[i]);
    for (size_t i = 0; i < num_blocks; i++) {
        block *b = &blocks[i];
        if (!b->young)
            continue;
        b->young = false;
        if (b->root) {
            promote_value(NULL, b->v, &b->v);
            b->promoted = true;
        } else {
            b->dead = true;
        }
    }
    each_host(scan_young);
    each_host(finish_minor);
}

static void mark_value(void *data, fk_mp_value v, volatile fk_mp_value *p)
{
    (void)data;
    (void)p;
    if (fk_mp_is_block(v) && !fk_host_is_young(v))
        *header_of(v) &= ~(uintptr_t)(UNMARKED << 8);
}

bool fk_host_is_unmarked(fk_mp_value v)
{
    return (*header_of(v) >> 8) & UNMARKED;
}

static void scan_all(fk_mp_host *h)
{
    fk_mp_scan_roots(h->engine, mark_value, NULL, FK_MP_ROOTS_ALL);
}

static void after_major(fk_mp_host *h)
{
    fk_mp_after_major(h->engine);
}

/* Compaction: every rooted major block moves, the engine's pointer follows
 * through the weak scan. */
static fk_mp_value *moved_from, *moved_to;
static size_t num_moved;

static void follow(void *data, fk_mp_value v, volatile fk_mp_value *p)
{
    (void)data;
    for (size_t i = 0; i < num_moved; i++)
        if (moved_from[i] == v)
            *p = moved_to[i];
}

static void scan_weak(fk_mp_host *h)
{
    fk_mp_scan_roots(h->engine, follow, NULL, FK_MP_ROOTS_WEAK);
}

static void compact(void)
{
    moved_from = malloc(num_blocks * sizeof *moved_from);
    moved_to = malloc(num_blocks * sizeof *moved_to);
    num_moved = 0;
    for (size_t i = 0; i < num_blocks; i++) {
        block *b = &blocks[i];
        if (!b->root || b->young)
            continue;
        fk_mp_value to = major_block(b->wosize, *header_of(b->v));
        memcpy(words_of(to), words_of(b->v), b->wosize * sizeof(uintptr_t));
        moved_from[num_moved] = b->v;
        moved_to[num_moved++] = to;
        b->v = to;
    }
    each_host(scan_weak);
    for (size_t i = 0; i < num_moved; i++)
        free(header_of(moved_from[i]));
    free(moved_from);
    free(moved_to);
}

void major_gc(void)
{
    minor_gc();
    for (size_t i = 0; i < num_blocks; i++)
        if (!blocks[i].dead && blocks[i].v != FK_MP_UNIT) {
            *header_of(blocks[i].v) |= UNMARKED << 8;
            if (blocks[i].root)
                *header_of(blocks[i].v) &= ~(uintptr_t)(UNMARKED << 8);
        }
    each_host(scan_all);
    each_host(after_major);
    for (size_t i = 0; i < num_blocks; i++)
        if (!blocks[i].root && !blocks[i].dead && blocks[i].v != FK_MP_UNIT) {
            blocks[i].dead = true;
            free(header_of(blocks[i].v));
            blocks[i].v = FK_MP_UNIT;
        }
    if (random_below(3) == 0)
        compact();
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

size_t fk_host_callstack(fk_mp_host *h, size_t limit, ptrdiff_t alloc_index, const fk_mp_slot **slots)
{
    static fk_mp_slot buf[3];
    (void)h;
    buf[0] = alloc_index;
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
