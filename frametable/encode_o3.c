/* encode_o3.c - the packed descriptors of 2026: decode_o3.c draws them.
 *
 * The short form is taken when it can hold the descriptor and its return address follows the one
 * before; the first descriptor of a table is always escaped. A model that came from a table keeps
 * the form that it had. */
#include "frametable/encode.h"
#include "frametable/readers.h"

#define RETURN_TO_C 0xFFFF
#define LONG_MARKER 0x7FFF

/* Bit of a register in the bitmap, -1: it has none. */
static int hot_bit(const fk_builder *b, uint32_t reg)
{
    const uint8_t *hot = fk_o3_hot_regs(b->abi);
    for (int i = 0; i < 8; i++) {
        if (hot[i] == reg)
            return i;
    }
    return -1;
}

static bool live_is_short(const fk_builder *b, const fk_bdescr *d)
{
    for (uint32_t i = 0; i < d->num_live; i++) {
        uint32_t raw = d->live[i];
        bool reg = raw & 1;
        if (reg && (!(d->flags & FK_DESCR_ALLOC) || hot_bit(b, raw >> 1) < 0))
            return false;
        if (!reg && (raw % 8 || raw >= d->frame_size))
            return false;
    }
    return true;
}

static bool is_short(const fk_builder *b, size_t i)
{
    const fk_bdescr *d = b->descr[i];
    if (d->flags & FK_DESCR_SHORT)
        return true;
    if (i == 0 || b->keep_order || d->flags & FK_DESCR_RETURN_TO_C)
        return false;
    if (d->retaddr <= b->descr[i - 1]->retaddr || d->frame_size % 16 || d->frame_size < 16 ||
        d->frame_size > 1008)
        return false;
    for (unsigned k = 0; k < d->num_allocs; k++) {
        if (d->allocs[k] > 15)
            return false;
    }
    return live_is_short(b, d);
}

static void write_short_allocs(fk_writer *w, const fk_bdescr *d)
{
    uint32_t regs = 0;
    for (uint32_t i = 0; i < d->num_live; i++) {
        if (d->live[i] & 1)
            regs |= 1u << hot_bit(w->b, d->live[i] >> 1);
    }
    fk_put8(w, regs);
    fk_put8(w, d->num_allocs);
    for (unsigned k = 0; k < d->num_allocs; k += 2)
        fk_put8(w, d->allocs[k] | (k + 1 < d->num_allocs ? (uint32_t)d->allocs[k + 1] << 4 : 0));
}

static void write_slots(fk_writer *w, const fk_bdescr *d)
{
    uint8_t map[16] = {0}; /* a short frame has at most 1008 / 8 = 126 slots */
    uint32_t bytes = (d->frame_size / 8 + 7) / 8;
    for (uint32_t i = 0; i < d->num_live; i++) {
        uint32_t slot = d->live[i] / 8;
        if (!(d->live[i] & 1))
            map[slot / 8] |= (uint8_t)(1u << slot % 8);
    }
    fk_put_bytes(w, map, bytes);
}

static void write_slots_debug(fk_writer *w, const fk_bdescr *d)
{
    for (uint32_t i = 0; i < d->num_debug; i++) {
        if (d->debug[i] == FK_NONE)
            fk_put32(w, 0);
        else
            fk_put_offset(w, d->debug[i], 0);
    }
}

static void write_short(fk_writer *w, size_t i)
{
    const fk_bdescr *d = w->b->descr[i];
    /* A damaged table may begin with a short one: its reader counts from 0. */
    fk_put_delta(w, i ? w->b->descr[i - 1]->retaddr : 0, d->retaddr, d->delta_size);
    fk_put8(w, d->frame_size / 16 << 2 | (d->flags & 3));
    if (d->flags & FK_DESCR_ALLOC)
        write_short_allocs(w, d);
    write_slots(w, d);
    write_slots_debug(w, d);
}

static void write_escaped(fk_writer *w, const fk_bdescr *d)
{
    bool special = d->flags & FK_DESCR_RETURN_TO_C, wide = fk_needs_long(d);
    uint32_t data = d->frame_size | (d->flags & 3);
    fk_put8(w, 0);
    fk_put_retaddr_rel(w, d->retaddr);
    fk_put16(w, special ? RETURN_TO_C : wide ? LONG_MARKER : data);
    fk_put16(w, special || wide ? 0 : d->num_live);
    if (special)
        return;
    if (wide) {
        fk_put32(w, data);
        fk_put32(w, d->num_live);
    }
    for (uint32_t i = 0; i < d->num_live; i++) {
        if (wide)
            fk_put32(w, d->live[i]);
        else
            fk_put16(w, d->live[i]);
    }
    fk_write_tail(w, d, 1, 1);
}

void fk_write_o3(fk_writer *w, size_t i)
{
    if (is_short(w->b, i))
        write_short(w, i);
    else
        write_escaped(w, w->b->descr[i]);
}
