/* consume.c - see consume.h. */
#include <string.h>

#include "frametable/tests/consume.h"

/* What one chain may cost: damaged chains of a whole table would else multiply. */
#define CHAIN_LIMIT 64

static uint64_t chain(const fk_table *t, uint64_t at)
{
    fk_chain c;
    fk_frame f;
    fk_error err;
    uint64_t sum = 0;
    fk_chain_start(t, at, &c);
    for (int n = 0; n < CHAIN_LIMIT && fk_chain_next(&c, &f, &err) == FK_OK; n++) {
        sum += (uint64_t)f.line + (f.file ? strlen(f.file) : 0);
        sum += f.defname ? strlen(f.defname) : 0;
    }
    return sum;
}

static uint64_t descr(const fk_descr *d)
{
    uint64_t sum = d->retaddr + d->frame_size;
    for (uint32_t i = 0; i < d->num_live; i++)
        sum += (uint64_t)fk_descr_live(d, i).offset;
    for (uint32_t i = 0; i < d->num_allocs; i++)
        sum += fk_descr_wosize(d, i);
    for (uint32_t i = 0; i < d->num_debug; i++)
        sum += chain(d->table, fk_descr_debuginfo(d, i));
    return sum;
}

static uint64_t table(const fk_table *t)
{
    fk_table_info x;
    fk_cursor c;
    fk_descr d;
    fk_error err;
    bool same;
    uint64_t sum = 0, first;
    char text[700];
    fk_table_info_get(t, &x);
    if (fk_table_status(t, &err))
        sum += (uint64_t)fk_error_format(&err, text, sizeof text);
    fk_cursor_start(t, &c);
    while (fk_cursor_next(&c, &d, &err) == FK_OK)
        sum += descr(&d);
    fk_table_roundtrip(t, &same, &first, &err);
    return sum + x.descr_bytes + same;
}

uint64_t consume_image(const fk_image *im)
{
    const fk_table *t;
    fk_symbol s;
    fk_section g;
    uint64_t sum = 0;
    for (size_t i = 0; (t = fk_image_table(im, i)); i++)
        sum += table(t);
    for (size_t i = 0; i < 100 && fk_image_symbol_nth(im, i, &s) == FK_OK; i++) {
        sum += strlen(s.name) + (fk_image_symbol(im, s.name, &s) == FK_OK);
        sum += fk_image_symbol_at(im, s.addr, &s) == FK_OK;
        sum += fk_image_target(im, s.addr, &s) == FK_OK;
    }
    for (size_t i = 0; fk_image_section(im, i, &g) == FK_OK; i++)
        sum += strlen(g.name) + (fk_image_section_at(im, g.addr + g.size, &g) == FK_OK);
    return sum;
}

uint64_t consume_index(const fk_image *im)
{
    fk_index *ix, *less;
    fk_error err;
    uint64_t sum = 0;
    const fk_table *t;
    if (fk_index_build(im, &ix, NULL, &err))
        return 0;
    for (size_t i = 0; (t = fk_image_table(im, i)); i++) {
        fk_cursor c;
        fk_descr d;
        fk_cursor_start(t, &c);
        while (fk_cursor_next(&c, &d, &err) == FK_OK) {
            sum += fk_index_lookup(ix, d.retaddr, &d) == FK_OK;
            sum += fk_index_lookup(ix, d.retaddr - 1, &d) == FK_OK;
        }
    }
    if ((t = fk_image_table(im, 0)) && fk_index_remove(ix, t, &less, &err) == FK_OK) {
        sum += fk_index_count(less);
        fk_index_free(less);
    }
    fk_index_free(ix);
    return sum;
}
