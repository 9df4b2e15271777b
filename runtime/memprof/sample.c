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

static uintptr_t *draw_trigger(fk_mp_domain *d)
{
    fk_mp_young young = fk_host_young(d->host);
    if (!fk_mp_samples(d))
        return young.start;
    int64_t gap = fk_random_gap(&d->random);
    return young.ptr - young.start > gap ? young.ptr - (gap - 1) : young.start;
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
    int64_t t = fk_host_sample_trigger(d->host) - fk_host_young(d->host).ptr;
    return t < (int64_t)words ? t : (int64_t)words;
}

/* Sampled words among the next `words`, by the counter. */
static size_t count_samples(fk_mp_domain *d, size_t words)
{
    if (d->random.scale == 0) /* rate 1 */
        return words;
    size_t n = 0;
    for (; d->gap < (int64_t)words; n++)
        d->gap += fk_random_gap(&d->random);
    d->gap -= (int64_t)words;
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
    if (!fk_mp_samples(d))
        return;
    size_t samples = count_samples(d, words);
    if (samples == 0)
        return;
    add_entry(d, block, fk_host_is_young(block) ? 0 : FK_MP_MAJOR,
              (fk_mp_info){.samples = samples, .wosize = wosize, .source = (uint8_t)source}, -1);
    fk_mp_update_pending(d);
}

void fk_mp_sample_young_c(fk_mp_domain *d, size_t wosize)
{
    int64_t t = first_sample(d, wosize + 1);
    size_t samples = 0;
    if (fk_mp_samples(d))
        for (; t > 0; t -= fk_random_gap(&d->random))
            samples++;
    if (samples)
        add_entry(d, (fk_mp_value)(fk_host_young(d->host).ptr + 1), 0,
                  (fk_mp_info){.samples = samples, .wosize = wosize}, -1);
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

static void sample_block_at(fk_mp_domain *d, size_t offset, size_t wosize, size_t i, bool one, int64_t *t)
{
    size_t samples = 0;
    for (; (int64_t)offset < *t; *t -= fk_random_gap(&d->random))
        samples++;
    if (samples)
        add_entry(d, (fk_mp_value)offset, FK_MP_OFFSET, (fk_mp_info){.samples = samples, .wosize = wosize},
                  one ? 0 : (ptrdiff_t)i);
}

static void sample_blocks(fk_mp_domain *d, size_t words, size_t n, const unsigned char *lens, int64_t t)
{
    if (!lens) {
        sample_block_at(d, 0, words - 1, 0, true, &t);
        return;
    }
    size_t offset = words;
    for (size_t i = n; i-- > 0 && t > 0;) {
        size_t wosize = (size_t)lens[i] + 1;
        offset -= wosize + 1;
        sample_block_at(d, offset, wosize, i, false, &t);
    }
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

fk_mp_result fk_mp_sample_young(fk_mp_domain *d, size_t words, size_t n, const unsigned char *lens)
{
    fk_mp_result ok = {false, FK_MP_UNIT};
    int64_t t = first_sample(d, words);
    if (t <= 0 || !fk_mp_samples(d)) { /* a stale trigger */
        fk_mp_set_trigger(d, false);
        return ok;
    }
    fk_mp_thread *th = d->current;
    fk_host_set_young_ptr(d->host, fk_host_young(d->host).ptr + words);
    fk_mp_suspend(d, true);
    sample_blocks(d, words, n, lens, t);
    th->batch = SIZE_MAX;
    fk_mp_result res = fk_mp_run_table(d, &th->table);
    if (res.is_exception) {
        fk_mp_table_cancel_offsets(&th->table);
    } else {
        fk_host_make_room(d->host, words);
        uintptr_t *ptr = fk_host_young(d->host).ptr - words;
        fk_host_set_young_ptr(d->host, ptr);
        place(&th->table, ptr);
    }
    fk_mp_flush_thread(d);
    fk_mp_suspend(d, false);
    return res;
}
