/* encode.c - descriptor writers of A, B, C, O1 and O2: the mirror of decode.c, where the layouts
 * are drawn. */
#include "frametable/encode.h"

#define RETURN_TO_C 0xFFFF
#define LONG_MARKER 0x7FFF

static void write_live(fk_writer *w, const fk_bdescr *d, bool wide)
{
    for (uint32_t i = 0; i < d->num_live; i++) {
        if (wide)
            fk_put32(w, d->live[i]);
        else
            fk_put16(w, d->live[i]);
    }
}

void fk_write_tail(fk_writer *w, const fk_bdescr *d, unsigned align_debug, unsigned align_end)
{
    if (d->flags & FK_DESCR_ALLOC) {
        fk_put8(w, d->num_allocs);
        for (unsigned i = 0; i < d->num_allocs; i++)
            fk_put8(w, d->allocs[i]);
    }
    if (d->flags & FK_DESCR_DEBUG)
        fk_put_align(w, align_debug);
    for (uint32_t i = 0; i < d->num_debug; i++) {
        if (d->debug[i] == FK_NONE)
            fk_put32(w, 0);
        else
            fk_put_offset(w, d->debug[i], 0);
    }
    fk_put_align(w, align_end);
}

static uint32_t frame_data(const fk_bdescr *d)
{
    return d->frame_size | (d->flags & (FK_DESCR_DEBUG | FK_DESCR_ALLOC));
}

/* frame_data and num_live, 16 bits each; true: that was all. */
static bool write_header(fk_writer *w, const fk_bdescr *d)
{
    bool special = d->flags & FK_DESCR_RETURN_TO_C;
    fk_put16(w, special ? RETURN_TO_C : frame_data(d));
    fk_put16(w, special ? 0 : d->num_live);
    return special;
}

void fk_write_a(fk_writer *w, size_t i)
{
    const fk_bdescr *d = w->b->descr[i];
    fk_put_retaddr(w, d->retaddr);
    if (!write_header(w, d)) {
        write_live(w, d, false);
        if (d->flags & FK_DESCR_DEBUG) {
            fk_put_align(w, w->b->word);
            fk_put_pointer(w, d->debug[0]);
        }
    }
    fk_put_align(w, w->b->word);
}

void fk_write_b(fk_writer *w, size_t i)
{
    const fk_bdescr *d = w->b->descr[i];
    fk_put_retaddr(w, d->retaddr);
    if (write_header(w, d)) {
        fk_put_align(w, w->b->word);
        return;
    }
    write_live(w, d, false);
    fk_write_tail(w, d, 4, w->b->word);
}

/* A negative offset (OxCaml on runtime 4) is 16 bits wide in the medium form. */
static bool wide_offset(uint32_t raw)
{
    return raw >= LONG_MARKER && (int32_t)raw >= 0;
}

bool fk_needs_long(const fk_bdescr *d)
{
    if (d->flags & (FK_DESCR_LONG | FK_DESCR_RETURN_TO_C))
        return d->flags & FK_DESCR_LONG;
    if (frame_data(d) >= LONG_MARKER || d->num_live >= LONG_MARKER)
        return true;
    for (uint32_t i = 0; i < d->num_live; i++) {
        if (wide_offset(d->live[i]))
            return true;
    }
    return false;
}

static void write_long(fk_writer *w, const fk_bdescr *d)
{
    fk_put16(w, LONG_MARKER);
    fk_put16(w, 0);
    fk_put32(w, frame_data(d));
    fk_put32(w, d->num_live);
    write_live(w, d, true);
    fk_write_tail(w, d, 4, w->b->word);
}

void fk_write_o1(fk_writer *w, size_t i)
{
    const fk_bdescr *d = w->b->descr[i];
    if (!fk_needs_long(d)) {
        fk_write_b(w, i);
        return;
    }
    fk_put_retaddr(w, d->retaddr);
    write_long(w, d);
}

void fk_write_o2(fk_writer *w, size_t i)
{
    const fk_bdescr *d = w->b->descr[i];
    fk_put_retaddr_rel(w, d->retaddr);
    if (fk_needs_long(d)) {
        write_long(w, d);
        return;
    }
    if (write_header(w, d)) {
        fk_put_align(w, w->b->word);
        return;
    }
    write_live(w, d, false);
    fk_write_tail(w, d, 4, w->b->word);
}
