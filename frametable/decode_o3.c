/* decode_o3.c - OxCaml's packed descriptors (2026): nothing is aligned, addresses increase.
 *
 *   short   | ULEB128 delta >= 1 | size/16 << 2 | ALLOC << 1 | DEBUG |
 *           | ALLOC: register bitmap, count, count nibbles (wosize-1, low first) |
 *           | live slots: one bit per 8 bytes of frame, low bit first | DEBUG: u32 offsets |
 *   escaped | 00 | int32 return address, relative to itself | then as O2's medium or long form |
 *   C       | 00 | int32 return address | FFFF | num_live 0 |
 *
 * The first byte alone tells the form: a delta may be padded to a longer ULEB128 that ends in 00.
 * Bit i of the register bitmap is the i-th "hot" register; see hot_regs. */
#include "frametable/readers.h"

#define RETURN_TO_C 0xFFFF
#define LONG_MARKER 0x7FFF

/* amd64 leaves 7 (r9) out and takes 8 (r12); the others (only arm64 is known) take 0..7. */
static const uint8_t hot_regs[][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 8}};

const uint8_t *fk_o3_hot_regs(const fk_abi *abi)
{
    return hot_regs[abi && strcmp(abi->name, "amd64") == 0];
}

/* The size of the slot bitmap of a frame. */
static size_t slot_bytes(uint32_t frame_size)
{
    return (frame_size / 8 + 7) / 8;
}

static uint32_t popcount(const uint8_t *p, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint32_t)__builtin_popcount(p[i]);
    return sum;
}

static fk_fault read_delta(const uint8_t **q, const uint8_t *end, uint64_t *delta)
{
    uint64_t v = 0;
    for (unsigned shift = 0; *q < end; shift += 7) {
        uint8_t b = *(*q)++;
        if (shift >= 63 && (b & 0x7F) > 1)
            return FK_FAULT_DELTA;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7F) << shift;
        if (!(b & 0x80)) {
            *delta = v;
            return v ? FK_FAULT_NONE : FK_FAULT_DELTA;
        }
        if (shift > 126)
            return FK_FAULT_DELTA;
    }
    return FK_FAULT_HEADER;
}

static fk_fault read_allocs(const uint8_t **q, const uint8_t *end, fk_descr *d)
{
    if (end - *q < 2)
        return FK_FAULT_ALLOCS;
    uint32_t n = (*q)[1];
    if ((size_t)(end - *q) < 2 + (size_t)(n + 1) / 2)
        return FK_FAULT_ALLOCS;
    d->num_live = popcount(*q, 1);
    d->num_allocs = n;
    d->allocs = *q + 2;
    *q += 2 + (n + 1) / 2;
    return FK_FAULT_NONE;
}

static fk_fault read_slots(const uint8_t **q, const uint8_t *end, fk_descr *d)
{
    size_t n = slot_bytes(d->frame_size);
    d->live = *q;
    if ((size_t)(end - *q) < n)
        return FK_FAULT_LIVE;
    d->num_live += popcount(*q, n);
    *q += n;
    return FK_FAULT_NONE;
}

static fk_fault read_debug(const uint8_t **q, const uint8_t *p, const uint8_t *end, fk_descr *d)
{
    d->num_debug = d->flags & FK_DESCR_ALLOC ? d->num_allocs : 1;
    if ((size_t)(end - *q) / 4 < d->num_debug)
        return FK_FAULT_DEBUG;
    d->debug = *q;
    d->debug_address = d->address + (uint64_t)(*q - p);
    *q += 4 * (size_t)d->num_debug;
    return FK_FAULT_NONE;
}

static fk_fault read_short(const uint8_t *p, const uint8_t *end, uint64_t prev, fk_descr *d)
{
    const uint8_t *q = p;
    uint64_t delta;
    d->num_live = d->num_allocs = d->num_debug = 0;
    d->allocs = d->debug = NULL;
    d->debug_address = 0;
    fk_fault f = read_delta(&q, end, &delta);
    if (!f && q == end)
        f = FK_FAULT_HEADER;
    if (f)
        return f;
    d->retaddr = prev + delta;
    d->frame_size = (uint32_t)(*q >> 2) * 16;
    d->flags = (*q++ & 3u) | FK_DESCR_SHORT;
    if (d->frame_size == 0)
        return FK_FAULT_SIZE;
    if (d->flags & FK_DESCR_ALLOC)
        f = read_allocs(&q, end, d);
    if (!f)
        f = read_slots(&q, end, d);
    if (!f && d->flags & FK_DESCR_DEBUG)
        f = read_debug(&q, p, end, d);
    d->size = (uint32_t)(q - p);
    return f;
}

static fk_fault read_escaped(const fk_table *t, const uint8_t *p, const uint8_t *end, fk_descr *d)
{
    if (end - p < 9)
        return FK_FAULT_HEADER;
    d->retaddr = d->address + 1 + (uint64_t)(int64_t)(int32_t)fk_ld32(p + 1, t->swap);
    uint32_t data = fk_ld16(p + 5, t->swap);
    bool wide = data == LONG_MARKER;
    const uint8_t *q = p + (wide ? 17 : 9);
    if (wide && end - p < 17)
        return FK_FAULT_HEADER;
    d->num_live = wide ? fk_ld32(p + 13, t->swap) : fk_ld16(p + 7, t->swap);
    d->live = q;
    if (data == RETURN_TO_C) {
        d->flags = d->num_live = 0;
        fk_fault f = fk_read_tail(d, p, q, end, 1, 1);
        d->flags = FK_DESCR_RETURN_TO_C;
        d->frame_size = 0;
        return f;
    }
    if (wide)
        data = fk_ld32(p + 9, t->swap);
    d->frame_size = data & ~3u;
    d->flags = (data & 3) | (wide ? FK_DESCR_LONG : 0);
    if ((size_t)(end - q) / (wide ? 4 : 2) < d->num_live)
        return FK_FAULT_LIVE;
    q += (size_t)d->num_live * (wide ? 4 : 2);
    return fk_read_tail(d, p, q, end, 1, 1);
}

FK_READER(fk_read_o3)
{
    if (p == end)
        return FK_FAULT_HEADER;
    return *p ? read_short(p, end, prev, d) : read_escaped(t, p, end, d);
}

/* The position of the i-th set bit of a bitmap that has one. */
static uint32_t nth_bit(const uint8_t *map, uint32_t i)
{
    for (uint32_t bit = 0;; bit++) {
        if ((map[bit / 8] >> bit % 8 & 1) && i-- == 0)
            return bit;
    }
}

/* Registers come first: the order of the bytes. */
fk_live fk_live_bitmap(const fk_descr *d, uint32_t i)
{
    uint32_t regs = 0;
    const uint8_t *map = NULL;
    if (d->flags & FK_DESCR_ALLOC) {
        map = d->allocs - 2;
        regs = popcount(map, 1);
    }
    if (i < regs)
        return (fk_live){.reg = fk_o3_hot_regs(d->table->abi)[nth_bit(map, i)]};
    return (fk_live){.offset = (int32_t)nth_bit(d->live, i - regs) * 8, .reg = -1};
}
