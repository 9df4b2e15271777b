/* encode_debug.c - debuginfo records, names and file names: the mirror of debuginfo.c. */
#include "frametable/encode.h"

static void write_a(fk_writer *w, const fk_brecord *r)
{
    fk_put_offset26(w, fk_item_file(w->b, r->name), (uint32_t)r->end_char << 26 | r->kind);
    fk_put32(w,
             (uint32_t)r->line << 12 | (uint32_t)r->start_char << 4 | (uint32_t)r->end_char >> 6);
    fk_put_pointer(w, r->next);
}

static void write_b(fk_writer *w, const fk_brecord *r)
{
    fk_put_offset26(w, fk_item_name(w->b, r->name), (uint32_t)r->end_char << 26 | r->kind);
    fk_put32(w,
             (uint32_t)r->line << 12 | (uint32_t)r->start_char << 4 | (uint32_t)r->end_char >> 6);
}

static void write_c_packed(fk_writer *w, const fk_brecord *r)
{
    uint32_t delta = (uint32_t)(r->end_offset - r->end_char);
    uint32_t lines = (uint32_t)(r->end_line - r->line);
    fk_put_offset26(w, fk_item_name(w->b, r->name), delta << 26 | r->kind);
    fk_put32(w, (uint32_t)r->line << 19 | lines << 16 | (uint32_t)r->start_char << 10 |
                    (uint32_t)r->end_char << 3 | delta >> 6);
}

static void write_c_wide(fk_writer *w, const fk_brecord *r)
{
    uint32_t lines = (uint32_t)(r->end_line - r->line);
    fk_put_offset26(w, fk_item_name(w->b, r->name), lines << 26 | r->kind);
    fk_put32(w, 1u << 31 | (uint32_t)r->line << 12 | lines >> 6);
}

static void write_record(fk_writer *w, const fk_brecord *r)
{
    switch (w->b->debug) {
    case FK_DEBUG_A:
        write_a(w, r);
        break;
    case FK_DEBUG_B:
        write_b(w, r);
        break;
    default:
        if (r->wide)
            write_c_wide(w, r);
        else
            write_c_packed(w, r);
    }
}

/* Debuginfo whose layout is not known: its bytes, with the places that slots lead to. */
static void write_blob(fk_writer *w)
{
    fk_builder *b = w->b;
    for (size_t i = 0; w->mode == FK_SIZES && i < b->num_record; i++)
        b->item[i] = w->at + b->blob_at[i];
    fk_put_bytes(w, b->blob, b->blob_size);
}

void fk_write_debug(fk_writer *w)
{
    fk_builder *b = w->b;
    if (b->blob_at) {
        write_blob(w);
        return;
    }
    if (b->num_record)
        fk_put_align(w, 4);
    for (size_t i = 0; i < b->num_record; i++) {
        fk_put_item(w, i);
        write_record(w, &b->record[i]);
    }
}

/* --- names ---------------------------------------------------------------------------------- */

static void write_name(fk_writer *w, size_t i)
{
    const fk_bname *n = &w->b->name[i];
    fk_put_align(w, 4);
    fk_put_item(w, fk_item_name(w->b, i));
    fk_put_offset(w, fk_item_file(w->b, n->file), 0);
    if (n->wide) {
        fk_put16(w, (uint32_t)n->start_char);
        fk_put16(w, (uint32_t)n->end_char);
        fk_put32(w, (uint32_t)n->end_offset);
    }
    fk_put_bytes(w, n->defname.text, n->defname.size);
}

/* A pads each file name to a word: its records refer to them in units of 4 bytes. */
static void write_file(fk_writer *w, size_t i)
{
    const fk_bstring *f = &w->b->file[i];
    fk_put_item(w, fk_item_file(w->b, i));
    fk_put_bytes(w, f->text, f->size);
    if (w->b->debug == FK_DEBUG_A)
        fk_put_align(w, w->b->word);
}

static void write_in_order(fk_writer *w)
{
    for (size_t i = 0; i < w->b->num_tail; i++) {
        const fk_btail *t = &w->b->tail[i];
        if (t->is_file)
            write_file(w, t->number);
        else
            write_name(w, t->number);
    }
}

void fk_write_names(fk_writer *w)
{
    fk_builder *b = w->b;
    if (b->keep_order) {
        write_in_order(w);
    } else {
        for (size_t i = 0; i < b->num_file; i++)
            write_file(w, i);
        for (size_t i = 0; i < b->num_name; i++)
            write_name(w, i);
    }
    if (b->gen->aligned)
        fk_put_align(w, b->word);
}
