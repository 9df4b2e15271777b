/* readers.h - one descriptor reader per layout (decode.c, decode_o3.c). */
#ifndef FK_FRAMETABLE_READERS_H
#define FK_FRAMETABLE_READERS_H

#include "frametable/internal.h"

#define FK_READER(name)                                                                            \
    fk_fault name(const fk_table *t, const uint8_t *p, const uint8_t *end, uint64_t prev,          \
                  fk_descr *d)
FK_READER(fk_read_a);
FK_READER(fk_read_b);
FK_READER(fk_read_o1);
FK_READER(fk_read_o2);
FK_READER(fk_read_o3);

#define FK_RETURN_TO_C 0xFFFF
/* No tail is longer: count, 255 lengths, pad, 255 slots, pad. */
#define FK_LONGEST_TAIL (1 + 255 + 3 + 4 * 255 + 7)

static inline void fk_set_frame(fk_descr *d, uint32_t data)
{
    d->frame_size = data & ~3u;
    d->flags = data & 3; /* bit 0 is DEBUG, bit 1 is ALLOC, as in the API */
}

/* Allocation lengths, debuginfo slots and the pad, whose bytes are there. No branch: flags and
 * counts of neighbours do not predict each other, and a wrong guess costs more than all of this.
 * Without the flag, `allocs` and `debug` point to nothing used. */
static inline __attribute__((always_inline)) void
fk_tail_there(fk_descr *d, const uint8_t *p, const uint8_t *q, unsigned align_debug,
              unsigned align_end)
{
    uint32_t alloc = d->flags >> 1 & 1, debug = d->flags & 1;
    uint32_t count = *q & -alloc;
    d->num_allocs = count;
    d->allocs = q + 1;
    uint64_t at = (uint64_t)(q - p) + alloc + count, slots = (count + 1 - alloc) & -debug;
    uint64_t stop = at + 4 * slots, pad = fk_pad(d->address + at, align_debug) & -debug;
    d->num_debug = (uint32_t)slots;
    d->debug = p + at + pad;
    d->debug_address = d->address + at + pad;
    /* All wait for the size: the last pad makes up for the one between, where it is not smaller. */
    stop += align_end < align_debug ? pad : 0;
    d->size = (uint32_t)(stop + fk_pad(d->address + stop, align_end));
}

/* Reads like fk_read_b a descriptor of a 64-bit table in this machine's byte order, which has been
 * read before: its bytes are there, but for the last pad. false: needs fk_read_b. */
static inline bool fk_read_common(const uint8_t *p, const uint8_t *end, fk_descr *d)
{
    uint32_t data = fk_ld16(p + 8, false), live = fk_ld16(p + 10, false);
    const uint8_t *q = p + 12 + 2 * (size_t)live;
    if (__builtin_expect(data == FK_RETURN_TO_C || q >= end, 0))
        return false;
    d->retaddr = fk_ld64(p, false);
    fk_set_frame(d, data);
    d->num_live = live;
    d->live = p + 12;
    fk_tail_there(d, p, q, 4, 8);
    return d->size <= (uint64_t)(end - p);
}

/* Only the size of such a descriptor, where it starts at a multiple of 8: what a walk waits for.
 * The pad before debuginfo need not be known, since the one behind it makes up for it. */
#define FK_COMMON_HEAD 12 /* bytes that fk_common_start reads */
typedef struct {
    const uint8_t *q; /* behind the live entries */
    uint32_t flags;
} fk_common;

static inline fk_common fk_common_start(const uint8_t *p)
{
    uint32_t data = fk_ld16(p + 8, false), live = fk_ld16(p + 10, false);
    if (__builtin_expect(data == FK_RETURN_TO_C, 0))
        data = live = 0;
    return (fk_common){p + 12 + 2 * (size_t)live, data & 3};
}

/* The next descriptor; reads the byte at c.q, which counts allocations when there are some. */
static inline const uint8_t *fk_common_next(fk_common c)
{
    /* nothing; a slot; a count and lengths; a count, lengths and as many slots */
    static const uint8_t fixed[] = {0, 4, 1, 1}, each[] = {0, 0, 1, 5};
    uintptr_t end = (uintptr_t)c.q + fixed[c.flags] + each[c.flags] * (uint32_t)*c.q;
    return (const uint8_t *)((end + 7) & ~(uintptr_t)7);
}

/* What each layout shares after the live entries. `q` is the next unread byte; see decode.c. */
fk_fault fk_read_tail(fk_descr *d, const uint8_t *p, const uint8_t *q, const uint8_t *end,
                      unsigned align_debug, unsigned align_end);

/* The frametable numbers of the 8 bits of O3's register bitmap. */
const uint8_t *fk_o3_hot_regs(const fk_abi *);

/* fk_descr_live for the bitmaps of O3's short form. */
fk_live fk_live_bitmap(const fk_descr *d, uint32_t i);

#endif
