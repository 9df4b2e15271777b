/* place.c - runs the functions that place.py made. Each returns its last block;
 * field 0 leads to the one allocated before it. After every call the profiler's
 * table must name those addresses and no others, in order of allocation. */
#include <stdio.h>
#include <stdlib.h>

#include "framekit/runtime.h"
#include "runtime/callback.h"
#include "runtime/memprof/internal.h"

struct fk_mp_host {
    struct domain *dom;
    fk_mp_domain *engine;
};

extern const value place_closures[];
extern const intptr_t place_sizes[];
extern const value place_tracker[];
value place_allocated(value info);

static bool move;     /* collect inside the callback: the request is placed elsewhere */
static size_t told;   /* callbacks */
static bool in_range = true; /* samples of the blocks told */
static long placed, moved, partly;

static void fail(long shape, const char *what)
{
    printf("shape %ld: %s\n", shape, what);
    exit(1);
}

/* The tracker's callbacks are compiled code, which may collect: it calls these. */
value place_allocated(value info)
{
    told++;
    in_range &=
        INT_VAL(FIELD(info, 0)) >= 1 && INT_VAL(FIELD(info, 0)) <= INT_VAL(FIELD(info, 1)) + 1;
    if (move && told == 1)
        fk_gc_collect(fk_self, GC_MINOR);
    return VAL_UNIT;
}

/* The blocks of a result, in order of allocation. */
static void read_blocks(long shape, value last, const intptr_t *sizes, intptr_t n, value *blocks)
{
    for (intptr_t i = n; i-- > 0; last = FIELD(last, 0)) {
        if (HD(last) != make_header(sizes[i], 0, 0))
            fail(shape, "the code wrote another header");
        blocks[i] = last;
        if (i + 1 < n && blocks[i] != blocks[i + 1] + (sizes[i + 1] + 1) * (value)sizeof(value))
            fail(shape, "the blocks are not one combined allocation");
    }
}

static void compare(long shape, const fk_mp_table *t, const value *blocks, intptr_t n, bool all)
{
    intptr_t at = 0;
    for (size_t i = 0; i < t->size; i++) {
        if (t->state[i] & FK_MP_OFFSET)
            fail(shape, "an entry is not placed");
        while (at < n && blocks[at] != t->block[i])
            at++;
        if (at++ == n)
            fail(shape, "an entry's address is not that of a block, or out of order");
    }
    if (t->size != told || !in_range || (all && (intptr_t)t->size != n))
        fail(shape, "entries are missing");
    partly += t->size > 0 && (intptr_t)t->size < n;
    placed += (long)t->size;
}

static void run(long shape, const intptr_t *sizes, intptr_t n, double rate)
{
    fk_mp_domain *d = ((struct fk_mp_host *)fk_self->st.memprof)->engine;
    fk_mp_profile *p;
    fk_mp_value exn;
    value blocks[256];
    told = 0;
    uint64_t minors = fk_minor_count;
    if (fk_mp_start(d, rate, 0, (fk_mp_value)place_tracker, &p) != FK_MP_OK)
        fail(shape, "start");
    fk_mp_set_trigger(d, false);
    value last = fk_callback_exn(place_closures[shape], VAL_UNIT);
    moved += fk_minor_count > minors;
    read_blocks(shape, last, sizes, n, blocks);
    compare(shape, &d->table, blocks, n, rate == 1);
    if (fk_mp_stop(d, &exn) != FK_MP_OK || fk_mp_discard(p) != FK_MP_OK)
        fail(shape, "stop");
    fk_mp_profile_unref(p);
}

int main(int argc, char **argv)
{
    long shape = 0;
    (void)argc;
    if (fk_rt_start(argv) != 0)
        return 1;
    for (const intptr_t *s = place_sizes; place_closures[shape]; s += 1 + s[0], shape++) {
        for (int k = 0; k < 2; k++, move = !move)
            run(shape, s + 1, s[0], 1);
        for (int k = 0; k < 6; k++, move = !move)
            run(shape, s + 1, s[0], k < 3 ? 0.5 : 0.1);
    }
    printf("%ld shapes: %ld blocks placed, %ld calls collected, %ld were sampled in part\n", shape,
           placed, moved, partly);
    return 0;
}
