/* decode.c - descriptors: the readers of A, B, C, O1 and O2, the cursor and the accessors.
 *
 *          A                B and C            O1 long form       O2 medium       O2 long
 *     0    return address   return address     return address     int32 relative  int32 relative
 *                                                                 4 frame_data    4 0x7FFF, pad
 *     w    frame_data       frame_data         0x7FFF, pad        6 num_live      8 frame_data
 *     w+2  num_live         num_live           w+4 frame_data                     12 num_live
 *     w+4  live_ofs[] u16   live_ofs[] u16     w+8 num_live       8 live_ofs u16  16 live_ofs u32
 *                                              w+12 live_ofs u32
 *          pad to w         ALLOC: count, wosize-1 bytes
 *          DEBUG: pointer   DEBUG: pad to 4, int32 offsets from their own address
 *                           pad to w
 *
 * All pads are of the address, not of the offset in the descriptor. frame_data 0xFFFF is the return
 * to C and has nothing behind num_live: it must be tested before the flags, whose bits it has. */
#include "frametable/readers.h"

#define LONG_MARKER 0x7FFF

static inline size_t left(const uint8_t *q, const uint8_t *end)
{
    return (size_t)(end - q);
}

static inline void no_debug(fk_descr *d)
{
    d->allocs = d->debug = NULL;
    d->num_allocs = d->num_debug = 0;
    d->debug_address = 0;
}

/* Sets d->size; the last descriptor of a section may lack its pad. */
static inline void set_size(fk_descr *d, const uint8_t *p, const uint8_t *q, const uint8_t *end,
                            unsigned align)
{
    size_t n = (size_t)(q - p);
    size_t padded = n + fk_pad(d->address + n, align);
    d->size = (uint32_t)(padded <= left(p, end) ? padded : left(p, end));
}

static inline fk_fault special(fk_descr *d, const uint8_t *p, const uint8_t *q, const uint8_t *end,
                               unsigned align)
{
    d->flags = FK_DESCR_RETURN_TO_C;
    d->frame_size = 0;
    d->num_live = 0;
    d->live = q;
    no_debug(d);
    set_size(d, p, q, end, align);
    return FK_FAULT_NONE;
}

/* ALLOC lengths, then debuginfo slots, then the pad: near the end of the table. */
static fk_fault tail_checked(fk_descr *d, const uint8_t *p, const uint8_t *q, const uint8_t *end,
                             unsigned align_debug, unsigned align_end)
{
    no_debug(d);
    if (d->flags & FK_DESCR_ALLOC) {
        if (q == end || left(q, end) < 1 + (size_t)*q)
            return FK_FAULT_ALLOCS;
        d->num_allocs = *q;
        d->allocs = q + 1;
        q += 1 + d->num_allocs;
    }
    if (d->flags & FK_DESCR_DEBUG) {
        uint32_t n = d->flags & FK_DESCR_ALLOC ? d->num_allocs : 1;
        size_t pad = fk_pad(d->address + (uint64_t)(q - p), align_debug);
        d->num_debug = n;
        if (left(q, end) < pad + 4 * (size_t)n)
            return FK_FAULT_DEBUG;
        q += pad;
        d->debug = q;
        d->debug_address = d->address + (uint64_t)(q - p);
        q += 4 * (size_t)n;
    }
    set_size(d, p, q, end, align_end);
    return FK_FAULT_NONE;
}

static inline __attribute__((always_inline)) fk_fault
tail(fk_descr *d, const uint8_t *p, const uint8_t *q, const uint8_t *end, unsigned align_debug,
     unsigned align_end)
{
    if (left(q, end) < FK_LONGEST_TAIL)
        return tail_checked(d, p, q, end, align_debug, align_end);
    fk_tail_there(d, p, q, align_debug, align_end);
    return FK_FAULT_NONE;
}

fk_fault fk_read_tail(fk_descr *d, const uint8_t *p, const uint8_t *q, const uint8_t *end,
                      unsigned align_debug, unsigned align_end)
{
    return tail(d, p, q, end, align_debug, align_end);
}

static inline fk_fault live(fk_descr *d, const uint8_t **q, const uint8_t *end, unsigned width)
{
    d->live = *q;
    if (left(*q, end) / width < d->num_live)
        return FK_FAULT_LIVE;
    *q += (size_t)width * d->num_live;
    return FK_FAULT_NONE;
}

FK_READER(fk_read_a)
{
    (void)prev;
    const unsigned w = t->word;
    const uint8_t *q = p + w + 4;
    if (left(p, end) < w + 4u)
        return FK_FAULT_HEADER;
    d->retaddr = fk_ldword(p, w, t->swap);
    uint32_t data = fk_ld16(p + w, t->swap);
    if (data == FK_RETURN_TO_C)
        return special(d, p, q, end, w);
    d->frame_size = data & ~3u;
    d->flags = data & FK_DESCR_DEBUG; /* bit 1 is never set in A */
    d->num_live = fk_ld16(p + w + 2, t->swap);
    no_debug(d);
    if (live(d, &q, end, 2))
        return FK_FAULT_LIVE;
    if (d->flags & FK_DESCR_DEBUG) {
        size_t pad = fk_pad(d->address + (uint64_t)(q - p), w);
        d->num_debug = 1;
        if (left(q, end) < pad + w)
            return FK_FAULT_DEBUG;
        d->debug = q + pad;
        d->debug_address = d->address + (uint64_t)(q + pad - p);
        q += pad + w;
    }
    set_size(d, p, q, end, w);
    return FK_FAULT_NONE;
}

/* Always inlined with constant word and swap, so that the common case costs no test. */
static inline __attribute__((always_inline)) fk_fault
read_b(const uint8_t *p, const uint8_t *end, fk_descr *d, const unsigned w, const bool swap)
{
    const uint8_t *q = p + w + 4;
    if (left(p, end) < w + 4u)
        return FK_FAULT_HEADER;
    d->retaddr = fk_ldword(p, w, swap);
    uint32_t data = fk_ld16(p + w, swap);
    if (data == FK_RETURN_TO_C)
        return special(d, p, q, end, w);
    fk_set_frame(d, data);
    d->num_live = fk_ld16(p + w + 2, swap);
    if (live(d, &q, end, 2))
        return FK_FAULT_LIVE;
    return tail(d, p, q, end, 4, w);
}

FK_READER(fk_read_b)
{
    (void)prev;
    if (t->word == 8)
        return t->swap ? read_b(p, end, d, 8, true) : read_b(p, end, d, 8, false);
    return read_b(p, end, d, 4, t->swap);
}

/* The long form of O1 and O2, whose marker lies at p + at. */
static fk_fault read_long(const fk_table *t, const uint8_t *p, const uint8_t *end, fk_descr *d,
                          unsigned at, unsigned align)
{
    if (left(p, end) < at + 12u)
        return FK_FAULT_HEADER;
    fk_set_frame(d, fk_ld32(p + at + 4, t->swap));
    d->flags |= FK_DESCR_LONG;
    d->num_live = fk_ld32(p + at + 8, t->swap);
    const uint8_t *q = p + at + 12;
    if (live(d, &q, end, 4))
        return FK_FAULT_LIVE;
    return tail(d, p, q, end, 4, align);
}

FK_READER(fk_read_o1)
{
    if (left(p, end) < t->word + 4u)
        return FK_FAULT_HEADER;
    if (fk_ld16(p + t->word, t->swap) != LONG_MARKER)
        return fk_read_b(t, p, end, prev, d);
    d->retaddr = fk_ldword(p, t->word, t->swap);
    return read_long(t, p, end, d, t->word, t->word);
}

FK_READER(fk_read_o2)
{
    (void)prev;
    const uint8_t *q = p + 8;
    if (left(p, end) < 8)
        return FK_FAULT_HEADER;
    d->retaddr = d->address + (uint64_t)(int64_t)(int32_t)fk_ld32(p, t->swap);
    uint32_t data = fk_ld16(p + 4, t->swap);
    if (data == FK_RETURN_TO_C)
        return special(d, p, q, end, t->word);
    if (data == LONG_MARKER)
        return read_long(t, p, end, d, 4, t->word);
    fk_set_frame(d, data);
    d->num_live = fk_ld16(p + 6, t->swap);
    if (live(d, &q, end, 2))
        return FK_FAULT_LIVE;
    return tail(d, p, q, end, 4, t->word);
}

/* --- accessors -------------------------------------------------------------- */

fk_live fk_descr_live(const fk_descr *d, uint32_t i)
{
    const fk_table *t = d->table;
    if (d->flags & FK_DESCR_SHORT)
        return fk_live_bitmap(d, i);
    int32_t raw;
    if (d->flags & FK_DESCR_LONG)
        raw = (int32_t)fk_ld32(d->live + 4 * (size_t)i, t->swap);
    else if (t->gen->has_long) /* 16 bits that are not long are signed: OxCaml on runtime 4 */
        raw = (int16_t)fk_ld16(d->live + 2 * (size_t)i, t->swap);
    else
        raw = fk_ld16(d->live + 2 * (size_t)i, t->swap);
    if (raw & 1)
        return (fk_live){.offset = 0, .reg = (int16_t)(raw >> 1)};
    return (fk_live){.offset = raw, .reg = -1};
}

uint32_t fk_descr_wosize(const fk_descr *d, uint32_t i)
{
    if (d->flags & FK_DESCR_SHORT) /* 4 bits each, low nibble first */
        return 1u + ((d->allocs[i / 2] >> (i % 2 * 4)) & 15);
    return 1u + d->allocs[i];
}

uint64_t fk_descr_debuginfo(const fk_descr *d, uint32_t i)
{
    const fk_table *t = d->table;
    if (t->gen->id == FK_GEN_A)
        return fk_ldword(d->debug, t->word, t->swap);
    uint32_t offset = fk_ld32(d->debug + 4 * (size_t)i, t->swap);
    return offset ? d->debug_address + 4 * (uint64_t)i + offset : 0;
}

/* --- cursor ------------------------------------------------------------------ */

void fk_cursor_start(const fk_table *t, fk_cursor *c)
{
    c->table = t;
    c->p = t->avail >= t->word ? t->bytes + t->word : t->bytes;
    c->end = t->bytes + t->avail;
    c->address = t->address + t->word;
    c->index = 0;
    c->prev_retaddr = 0;
}

static fk_result cursor_end(fk_cursor *c, fk_error *err)
{
    const fk_table *t = c->table;
    if (t->num_good == t->num_descr || !t->fault)
        return FK_ABSENT;
    return fk_fail_status(t, err);
}

fk_result fk_cursor_next(fk_cursor *c, fk_descr *d, fk_error *err)
{
    const fk_table *t = c->table;
    if (c->index >= t->num_good)
        return cursor_end(c, err);
    __builtin_prefetch((const void *)((uintptr_t)c->p + FK_PREFETCH));
    d->table = t;
    d->index = c->index;
    d->address = c->address;
    fk_fault fault = t->gen->read == fk_read_b && t->word == 8 && !t->swap
                         ? read_b(c->p, c->end, d, 8, false) /* here: no call */
                         : t->gen->read(t, c->p, c->end, c->prev_retaddr, d);
    if (fault)
        return fk_fail_descr(t, err, fault, d);
    c->p += d->size;
    c->address += d->size;
    c->index++;
    c->prev_retaddr = d->retaddr;
    return FK_OK;
}
