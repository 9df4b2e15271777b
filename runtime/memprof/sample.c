/* sample.c - where samples are drawn.
 *
 * In the nursery one comparison does it all: the sample trigger stands one
 * word above the next sampled word, and compiled code enters the runtime when
 * an allocation reaches below it.
 *
 *     ptr (before)     +--------+ <- words: 1
 *                      |        |    ...
 *     trigger -------> +--------+    gap - 1
 *                      | sample |    gap           g = ptr - trigger + 1
 *                      +--------+
 *     start            +--------+
 *
 * Elsewhere (large blocks, custom memory, unmarshalling) a counter holds the
 * words until the next sample. Both draw from the same generator; gaps have
 * no memory, so drawing anew does no harm.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

bool fk_mp_samples(const fk_mp_domain *d)
{
    return d->current && !d->current->suspended && fk_mp_is_sampling(d) && !d->random.never;
}

uintptr_t *fk_mp_place_trigger(fk_mp_young young, int64_t gap)
{
    return young.ptr - young.start > gap ? young.ptr - (gap - 1) : young.start;
}

static uintptr_t *draw_trigger(fk_mp_domain *d)
{
    fk_mp_young young = fk_host_young(d->host);
    d->trigger = fk_mp_samples(d) ? fk_mp_place_trigger(young, fk_random_gap(&d->random)) : young.start;
    return d->layers ? fk_mp_layers_draw(d, d->trigger) : d->trigger;
}

void fk_mp_set_trigger(fk_mp_domain *d, bool store_only)
{
    uintptr_t *trigger;
    if (d->unsure == UNSURE_NOTED) {
        d->unsure = UNSURE_ARMED;
        trigger = fk_host_young(d->host).ptr;
    } else {
        fk_mp_decide(d);
        trigger = draw_trigger(d);
    }
    d->quiet = d->current && d->current->suspended;
    (store_only ? fk_host_store_sample_trigger : fk_host_set_sample_trigger)(d->host, trigger);
}

/* Words from ptr (already lowered by `words`) up to just above the first
 * sampled one; <= 0: none of them is sampled. */
static int64_t first_sample(fk_mp_domain *d, size_t words)
{
    if (d->unsure != UNSURE_NONE) { /* the trigger was only armed */
        fk_mp_decide(d);
        return (int64_t)words - fk_random_gap(&d->random) + 1;
    }
    int64_t t = d->trigger - fk_host_young(d->host).ptr;
    return t < (int64_t)words ? t : (int64_t)words;
}

size_t fk_mp_count_samples(fk_random *random, int64_t *gap, size_t words)
{
    if (random->scale == 0) /* rate 1 */
        return words;
    size_t n = 0;
    for (; *gap < (int64_t)words; n++)
        *gap += fk_random_gap(random);
    *gap -= (int64_t)words;
    return n;
}

/* --- entries ------------------------------------------------------------------- */

/* Without memory the callstack is empty: better than losing the sample. */
static void capture(fk_mp_domain *d, fk_mp_info *info, ptrdiff_t alloc_index)
{
    if (d->profile->depth == 0)
        return;
    const fk_mp_slot *slots;
    size_t depth = fk_host_callstack(d->host, d->profile->depth, alloc_index, &slots);
    info->slots = depth ? malloc(depth * sizeof *slots) : NULL;
    if (!info->slots)
        return;
    memcpy(info->slots, slots, depth * sizeof *slots);
    info->depth = (uint32_t)depth;
}

static void add_entry(fk_mp_domain *d, fk_mp_value block, uint16_t state, fk_mp_info info, ptrdiff_t alloc_index)
{
    fk_mp_table *t = &d->current->table;
    if (!fk_mp_table_reserve(t, 1))
        return; /* no memory: the sample is lost */
    capture(d, &info, alloc_index);
    fk_mp_table_add(t, block, state, &info);
}

void fk_mp_sample_block(fk_mp_domain *d, fk_mp_value block, size_t wosize, size_t words, int source)
{
    fk_mp_decide(d);
    if (d->layers)
        fk_mp_layers_block(d, block, wosize, words, source);
    size_t samples = fk_mp_samples(d) ? fk_mp_count_samples(&d->random, &d->gap, words) : 0;
    if (samples == 0)
        return;
    add_entry(d, block, fk_host_is_young(block) ? 0 : FK_MP_MAJOR,
              (fk_mp_info){.samples = samples, .wosize = wosize, .source = (uint8_t)source}, -1);
    fk_mp_update_pending(d);
}

void fk_mp_sample_young_c(fk_mp_domain *d, size_t wosize)
{
    fk_mp_layers_note(d, wosize + 1);
    int64_t t = first_sample(d, wosize + 1);
    size_t samples = 0;
    if (fk_mp_samples(d))
        for (; t > 0; t -= fk_random_gap(&d->random))
            samples++;
    if (samples)
        add_entry(d, (fk_mp_value)(fk_host_young(d->host).ptr + 1), 0,
                  (fk_mp_info){.samples = samples, .wosize = wosize}, -1);
    fk_mp_layers_young(d, wosize + 1, 1, NULL);
    fk_mp_set_trigger(d, false);
    fk_mp_update_pending(d);
}

/* --- combined allocations --------------------------------------------------------
 *
 *     ptr + words  +-----------+
 *                  | block n-1 |   allocated first, reported first
 *                  +-----------+
 *                  |    ...    |
 *                  +-----------+
 *                  |  block 0  |
 *     ptr          +-----------+   offset 0
 */

bool fk_mp_next_hit(fk_random *random, fk_mp_request *r, fk_mp_hit *h)
{
    while (r->blocks > 0 && r->t > 0) {
        size_t i = --r->blocks, wosize = r->lens ? (size_t)r->lens[i] + 1 : r->offset - 1;
        r->offset -= wosize + 1;
        if ((int64_t)r->offset >= r->t)
            continue;
        *h = (fk_mp_hit){r->offset, wosize, 0, (ptrdiff_t)i};
        for (; (int64_t)r->offset < r->t; r->t -= fk_random_gap(random))
            h->samples++;
        return true;
    }
    return false;
}

static void add_hit(fk_mp_domain *d, const fk_mp_hit *h)
{
    add_entry(d, (fk_mp_value)h->offset, FK_MP_OFFSET, (fk_mp_info){.samples = h->samples, .wosize = h->wosize},
              h->index);
}

/* The request is placed: offsets become addresses. */
static void place(fk_mp_table *t, uintptr_t *ptr)
{
    for (size_t i = 0; i < t->size; i++)
        if (t->state[i] & FK_MP_OFFSET) {
            t->block[i] = (fk_mp_value)(ptr + t->block[i] + 1);
            t->state[i] &= (uint16_t)~FK_MP_OFFSET;
            if (i < t->young)
                t->young = i;
        }
}

/* Lowers ptr by the request again; it may be elsewhere now. */
static void reserve(fk_mp_domain *d, size_t words)
{
    fk_host_make_room(d->host, words);
    fk_host_set_young_ptr(d->host, fk_host_young(d->host).ptr - words);
}

/* After the callbacks: entries of the request get their addresses, or the
 * request is undone. */
static void conclude(fk_mp_domain *d, size_t words, bool undone)
{
    fk_mp_table *t = &d->current->table;
    if (undone) {
        fk_mp_table_cancel_offsets(t);
    } else {
        reserve(d, words);
        place(t, fk_host_young(d->host).ptr);
    }
    fk_mp_flush_thread(d);
}

/* Reports what the thread's table holds, blocks of this request last. */
static fk_mp_result report_table(fk_mp_domain *d, size_t words)
{
    d->current->batch = SIZE_MAX;
    fk_mp_result res = fk_mp_run_table(d, &d->current->table);
    conclude(d, words, res.is_exception);
    return res;
}

/* --- one block with a sample, nothing else to report ------------------------------
 *
 * The usual case by far. The block has no entry while its callback runs: if it
 * is not followed it never gets one, else it gets it where it belongs. Only a
 * callback that starts another profile needs to see it: then it lands in the
 * thread's table as if it had always been there. */

bool fk_mp_land(fk_mp_thread *th)
{
    fk_mp_table *t = &th->table;
    if (!th->in_flight)
        return true;
    if (!fk_mp_table_reserve(t, 1))
        return false;
    th->in_flight = false;
    fk_mp_run_begin(&th->run, t, fk_mp_table_add(t, (fk_mp_value)th->offset, FK_MP_OFFSET | FK_MP_BEGUN_ALLOC,
                                                 &(fk_mp_info){0}));
    return true;
}

/* The datum is a root while room is made, the block is none. */
static void follow(fk_mp_domain *d, size_t words, const fk_mp_hit *h, fk_mp_value datum)
{
    fk_mp_table *t = &d->table;
    if (!fk_mp_table_reserve(t, 1)) {
        reserve(d, words); /* no memory: the sample is lost */
        return;
    }
    size_t i = fk_mp_table_add(t, (fk_mp_value)h->offset, FK_MP_OFFSET | FK_MP_BEGUN_ALLOC, NULL);
    fk_mp_table_set_datum(t, i, datum);
    reserve(d, words);
    t->block[i] = (fk_mp_value)(fk_host_young(d->host).ptr + h->offset + 1);
    t->state[i] &= (uint16_t)~FK_MP_OFFSET;
    if (i < t->young)
        t->young = i;
}

static fk_mp_result report_one(fk_mp_domain *d, size_t words, const fk_mp_hit *h)
{
    fk_mp_thread *th = d->current;
    fk_mp_allocation a = {.samples = h->samples, .wosize = h->wosize};
    if (d->profile->depth > 0)
        a.depth = fk_host_callstack(d->host, d->profile->depth, h->index, &a.slots);
    th->in_flight = true;
    th->offset = h->offset;
    fk_mp_answer said = fk_mp_report_alloc(&th->table, 0, &a);
    if (!th->in_flight) {
        fk_mp_settle(th, &said);
        conclude(d, words, said.res.is_exception);
        return said.res;
    }
    th->in_flight = false;
    if (said.keep && !fk_mp_table_is_void(&th->table))
        follow(d, words, h, said.datum);
    else if (!said.res.is_exception)
        reserve(d, words);
    return said.res;
}

/* The thread's callbacks run now: it samples nothing. */
static void quiet(fk_mp_domain *d)
{
    d->current->suspended = d->quiet = true;
    fk_host_set_sample_trigger(d->host, fk_host_young(d->host).start);
}

static fk_mp_result sample_young(fk_mp_domain *d, size_t words, size_t n, const unsigned char *lens)
{
    fk_mp_result res = {false, FK_MP_UNIT};
    fk_mp_hit first, second;
    fk_mp_request r = {lens, lens ? n : 1, words, first_sample(d, words)};
    if (!fk_mp_samples(d) || !fk_mp_next_hit(&d->random, &r, &first)) { /* a stale trigger */
        fk_mp_set_trigger(d, false);
        return res;
    }
    fk_host_set_young_ptr(d->host, fk_host_young(d->host).ptr + words);
    quiet(d);
    bool more = fk_mp_next_hit(&d->random, &r, &second);
    if (!more && d->current->table.size == 0) {
        res = report_one(d, words, &first);
    } else {
        add_hit(d, &first);
        for (; more; more = fk_mp_next_hit(&d->random, &r, &second))
            add_hit(d, &second);
        res = report_table(d, words);
    }
    fk_mp_suspend(d, false);
    return res;
}

fk_mp_result fk_mp_sample_young(fk_mp_domain *d, size_t words, size_t n, const unsigned char *lens)
{
    if (!d->layers)
        return sample_young(d, words, n, lens);
    fk_mp_layers_note(d, words);
    fk_mp_result res = sample_young(d, words, n, lens);
    if (!res.is_exception)
        fk_mp_layers_young(d, words, n, lens);
    return res;
}
