/* roundtrip.c - a table decoded and encoded again, in its own generation or in another. */
#include <stdlib.h>

#include "frametable/encode.h"

/* --- the same bytes? -------------------------------------------------------------------------- */

static void compare(const fk_table *t, const uint8_t *made, size_t size, bool *same,
                    uint64_t *first) {
    uint64_t want = t->descr_bytes + t->debuginfo_bytes + t->name_bytes + t->extra_bytes;
    uint64_t n = (want < size ? want : size) - t->foreign_pad, i = 0;
    while (i < n && made[i] == t->bytes[i])
        i++;
    /* At the end of a section the last pad may not be there at all. */
    bool no_pad = want == t->avail && size > want && size - want < t->word;
    *same = i == n && (size == want || no_pad);
    *first = *same ? 0 : i;
}

fk_result fk_table_roundtrip(const fk_table *t, bool *same, uint64_t *first_difference,
                             fk_error *err) {
    fk_builder *b;
    uint8_t *data = NULL;
    size_t size;
    *same = false;
    *first_difference = 0;
    fk_result r = fk_fail_status(t, err);
    if (r)
        return r;
    r = fk_model_from_table(t, &b, err);
    if (r)
        return r;
    r = fk_builder_bytes(b, t->address, &data, &size, err);
    if (!r)
        compare(t, data, size, same, first_difference);
    free(data);
    fk_builder_free(b);
    return r;
}

/* --- another generation ---------------------------------------------------------------- */

typedef struct {
    fk_builder *b;
    const fk_table *t;
    fk_loc *locs; /* of one descriptor */
    size_t num_locs, cap_locs;
    fk_live *live;
    size_t cap_live;
    uint16_t wosize[256];
    uint32_t start[256], length[256];
    const fk_loc *chain[256];
} recoder;

static fk_result read_chain(recoder *x, uint64_t at, uint32_t slot, fk_error *err)
{
    fk_chain c;
    fk_frame f;
    fk_result r;
    x->start[slot] = (uint32_t)x->num_locs;
    fk_chain_start(x->t, at, &c);
    while ((r = fk_chain_next(&c, &f, err)) == FK_OK) {
        if (!fk_grow(&x->locs, &x->cap_locs, x->num_locs, sizeof *x->locs))
            return fk_fail_memory(err, x->t->file);
        if (!f.opaque)
            x->locs[x->num_locs++] =
                (fk_loc){.file = f.file, .defname = f.defname, .line = f.line,
                         .end_line = f.end_line, .start_char = f.start_char,
                         .end_char = f.end_char, .end_offset = f.end_offset, .raise = f.raise};
    }
    x->length[slot] = (uint32_t)x->num_locs - x->start[slot];
    return r == FK_ABSENT ? FK_OK : r;
}

static fk_result read_chains(recoder *x, const fk_descr *d, fk_error *err)
{
    x->num_locs = 0;
    for (uint32_t i = 0; i < d->num_debug; i++) {
        fk_result r = read_chain(x, fk_descr_debuginfo(d, i), i, err);
        if (r)
            return r;
    }
    for (uint32_t i = 0; i < d->num_debug; i++)
        x->chain[i] = x->length[i] ? x->locs + x->start[i] : NULL;
    return FK_OK;
}

static bool read_live(recoder *x, const fk_descr *d)
{
    for (uint32_t i = 0; i < d->num_live; i++) {
        if (!fk_grow(&x->live, &x->cap_live, i, sizeof *x->live))
            return false;
        x->live[i] = fk_descr_live(d, i);
    }
    return true;
}

/* What the generation does not have is left out: in A the descriptor of a GC call is bare. */
static void reduce(const recoder *x, fk_descr_in *in)
{
    if (x->b->gen->has_alloc || !(in->flags & FK_DESCR_ALLOC))
        return;
    in->flags = 0;
    in->num_allocs = in->num_debug = 0;
}

static fk_result recode(recoder *x, const fk_descr *d, fk_error *err)
{
    fk_result r = read_chains(x, d, err);
    if (r)
        return r;
    if (!read_live(x, d))
        return fk_fail_memory(err, x->t->file);
    for (uint32_t i = 0; i < d->num_allocs; i++)
        x->wosize[i] = (uint16_t)fk_descr_wosize(d, i);
    fk_descr_in in = {.retaddr = d->retaddr, .frame_size = d->frame_size,
                      .flags = d->flags & ~(uint32_t)(FK_DESCR_LONG | FK_DESCR_SHORT),
                      .num_live = d->num_live, .live = x->live, .num_allocs = d->num_allocs,
                      .wosize = x->wosize, .num_debug = d->num_debug, .chain = x->chain,
                      .chain_length = x->length};
    reduce(x, &in);
    r = fk_builder_add(x->b, &in, err);
    if (r == FK_BROKEN && err)
        err->entry = d->index;
    return r;
}

fk_result fk_builder_add_table(fk_builder *b, const fk_table *t, fk_error *err)
{
    recoder x = {.b = b, .t = t};
    fk_cursor c;
    fk_descr d;
    fk_result r, added = FK_OK;
    fk_cursor_start(t, &c);
    while (!added && (r = fk_cursor_next(&c, &d, err)) == FK_OK)
        added = recode(&x, &d, err);
    free(x.locs);
    free(x.live);
    if (added)
        return added;
    return r == FK_ABSENT ? FK_OK : r;
}
