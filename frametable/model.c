/* model.c - a model that has what a table has: same records, same names, same order, same forms.
 *
 * Items are numbered by address, so that writing them in order puts each where it was. A string
 * keeps the bytes between its NUL and the next item (trap T1). Pads are not kept: they are zero,
 * and the round trip says so when they are not. */
#include <stdlib.h>

#include "frametable/encode.h"
#include "frametable/readers.h"
#include "frametable/search.h"

/* Addresses seen; sorted and unique before they are used. */
typedef struct {
    uint64_t *at;
    size_t count, cap;
} places;

typedef struct {
    const fk_table *t;
    fk_builder *b;
    places records, names, files;
    uint8_t *seen; /* records, a bit per 4 bytes */
    uint64_t end; /* of the table */
} reader;

static bool add_place(places *p, uint64_t at)
{
    if (!fk_grow(&p->at, &p->cap, p->count, sizeof *p->at))
        return false;
    p->at[p->count++] = at;
    return true;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_places(places *p)
{
    size_t n = 0;
    if (p->count)
        qsort(p->at, p->count, sizeof *p->at, by_value);
    for (size_t i = 0; i < p->count; i++) {
        if (n == 0 || p->at[n - 1] != p->at[i])
            p->at[n++] = p->at[i];
    }
    p->count = n;
}

static uint32_t find_place(const places *p, uint64_t at)
{
    size_t lo = fk_count_keys(p->at, sizeof *p->at, 0, p->count, at);
    return lo < p->count && p->at[lo] == at ? (uint32_t)lo : FK_NONE;
}

/* --- first pass: what there is ------------------------------------------------------------ */

/* Follows a chain until a record that was seen before. */
static fk_result follow(reader *x, uint64_t at, fk_error *err)
{
    fk_frame f;
    fk_record_parts p = {.next = at};
    while (p.next) {
        uint64_t bit = (p.next - x->t->address) / 4;
        at = p.next;
        if (fk_record_read(x->t, at, &f, &p, err))
            return FK_BROKEN;
        if (x->seen[bit / 8] >> bit % 8 & 1)
            return FK_OK;
        x->seen[bit / 8] |= (uint8_t)(1u << bit % 8);
        if (!add_place(&x->records, at))
            return fk_fail_memory(err, x->t->file);
    }
    return FK_OK;
}

/* O3: the places that slots lead to, whatever is there. */
static fk_result find_slot(reader *x, uint64_t at, fk_error *err)
{
    if (x->t->debug != FK_DEBUG_RAW)
        return follow(x, at, err);
    return add_place(&x->records, at) ? FK_OK : fk_fail_memory(err, x->t->file);
}

static fk_result find_records(reader *x, fk_error *err)
{
    fk_cursor c;
    fk_descr d;
    fk_result r;
    fk_cursor_start(x->t, &c);
    while ((r = fk_cursor_next(&c, &d, err)) == FK_OK) {
        for (uint32_t i = 0; i < d.num_debug; i++) {
            uint64_t at = fk_descr_debuginfo(&d, i);
            fk_result found = at ? find_slot(x, at, err) : FK_OK;
            if (found)
                return found;
        }
    }
    sort_places(&x->records);
    return r == FK_ABSENT ? FK_OK : r;
}

static fk_result find_names(reader *x, fk_error *err)
{
    fk_frame f;
    fk_record_parts p;
    for (size_t i = 0; i < x->records.count; i++) {
        if (fk_record_read(x->t, x->records.at[i], &f, &p, err))
            return FK_BROKEN;
        if ((p.name_info && !add_place(&x->names, p.name_info)) || !add_place(&x->files, p.file))
            return fk_fail_memory(err, x->t->file);
    }
    sort_places(&x->names);
    sort_places(&x->files);
    return FK_OK;
}

/* --- second pass: names ---------------------------------------------------------------------- */

static bool all_zero(const uint8_t *p, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (p[i])
            return false;
    }
    return true;
}

/* The string at addr, up to `limit`, without the pad before the next item. What is more than a pad,
 * or is not zero, is the rest of a name that was cut: it is kept up to the limit. */
static fk_result read_string(reader *x, uint64_t addr, uint64_t limit, unsigned align,
                             fk_bstring *out, fk_error *err)
{
    uint64_t avail;
    const uint8_t *p = fk_table_bytes(x->t, addr, &avail);
    const uint8_t *nul = p ? memchr(p, 0, avail) : NULL;
    if (!nul)
        return fk_fail_table(x->t, err, addr, FK_NO_ENTRY, "a name has no end");
    uint64_t size = (uint64_t)(nul - p) + 1;
    uint64_t padded = size + fk_pad(addr + size, align);
    if (limit - addr <= avail && limit - addr > size &&
        (addr + padded < limit || !all_zero(nul, limit - addr - size + 1)))
        size = limit - addr;
    *out = (fk_bstring){(const char *)p, (uint32_t)size};
    return FK_OK;
}

/* The next item after `at`. */
static uint64_t next_item(const reader *x, size_t file, size_t name)
{
    uint64_t next = x->end;
    if (file < x->files.count && x->files.at[file] < next)
        next = x->files.at[file];
    if (name < x->names.count && x->names.at[name] < next)
        next = x->names.at[name];
    return next;
}

static fk_result add_file(reader *x, size_t i, uint64_t limit, bool before_name, fk_error *err)
{
    fk_bstring s;
    const fk_table *t = x->t;
    unsigned align = t->debug == FK_DEBUG_A || limit == x->end ? t->word : before_name ? 4 : 1;
    fk_result r = read_string(x, x->files.at[i], limit, align, &s, err);
    if (!r && fk_model_file(x->b, s) == FK_NONE)
        r = fk_fail_memory(err, t->file);
    return r;
}

/* Which names are name_and_loc_info follows from the records that lead there: see add_records. */
static fk_result add_name(reader *x, size_t i, bool wide, uint64_t limit, fk_error *err)
{
    const fk_table *t = x->t;
    uint64_t at = x->names.at[i], avail;
    const uint8_t *p = fk_table_bytes(t, at, &avail);
    fk_bname n = {.wide = wide};
    n.file = find_place(&x->files, at + (uint64_t)(int64_t)(int32_t)fk_ld32(p, t->swap));
    if (wide) {
        n.start_char = fk_ld16(p + 4, t->swap);
        n.end_char = fk_ld16(p + 6, t->swap);
        n.end_offset = (int32_t)fk_ld32(p + 8, t->swap);
    }
    fk_result r = read_string(x, at + (wide ? 12 : 4), limit, limit == x->end ? t->word : 4,
                              &n.defname, err);
    if (!r && fk_model_name(x->b, &n) == FK_NONE)
        r = fk_fail_memory(err, t->file);
    return r;
}

/* One bit per name: is it a name_and_loc_info? */
static fk_result find_wide(reader *x, uint8_t *wide, fk_error *err)
{
    fk_frame f;
    fk_record_parts p;
    for (size_t i = 0; i < x->records.count; i++) {
        if (fk_record_read(x->t, x->records.at[i], &f, &p, err))
            return FK_BROKEN;
        uint32_t n = p.name_info ? find_place(&x->names, p.name_info) : FK_NONE;
        if (n != FK_NONE)
            wide[n] = f.wide;
    }
    return FK_OK;
}

static fk_result add_tail(reader *x, const uint8_t *wide, fk_error *err)
{
    size_t f = 0, n = 0;
    fk_result r = FK_OK;
    while (!r && (f < x->files.count || n < x->names.count)) {
        bool is_file = f < x->files.count &&
                       (n == x->names.count || x->files.at[f] <= x->names.at[n]);
        uint64_t limit = next_item(x, f + is_file, n + !is_file);
        bool before_name = n < x->names.count && limit == x->names.at[n];
        if (is_file)
            r = add_file(x, f++, limit, before_name, err);
        else
            r = add_name(x, n, wide[n], limit, err), n++;
    }
    return r;
}

static fk_result add_names(reader *x, fk_error *err)
{
    uint8_t *wide = calloc(x->names.count + 1, 1);
    if (!wide)
        return fk_fail_memory(err, x->t->file);
    fk_result r = find_wide(x, wide, err);
    if (!r)
        r = add_tail(x, wide, err);
    free(wide);
    return r;
}

/* --- records --------------------------------------------------------------------------- */

static fk_result add_records(reader *x, fk_error *err)
{
    fk_frame f;
    fk_record_parts p;
    for (size_t i = 0; i < x->records.count; i++) {
        if (fk_record_read(x->t, x->records.at[i], &f, &p, err))
            return FK_BROKEN;
        fk_brecord *r = fk_model_record(x->b);
        if (!r)
            return fk_fail_memory(err, x->t->file);
        *r = (fk_brecord){.line = f.line, .end_line = f.end_line, .start_char = f.start_char,
                          .end_char = f.end_char, .end_offset = f.end_offset, .wide = f.wide,
                          .kind = f.raw[0] & 3};
        bool a = x->t->debug == FK_DEBUG_A;
        r->name = a ? find_place(&x->files, p.file) : find_place(&x->names, p.name_info);
        r->next = a && p.next ? find_place(&x->records, p.next) : FK_NONE;
    }
    return FK_OK;
}

/* --- descriptors ----------------------------------------------------------------------- */

static unsigned delta_size(const fk_descr *d)
{
    const uint8_t *p = d->table->bytes + (d->address - d->table->address);
    unsigned n = 1;
    while (*p++ & 0x80)
        n++;
    return n;
}

static bool copy_descr(reader *x, const fk_descr *d, fk_bdescr *to)
{
    uint32_t *live = fk_arena(x->b, 4 * (size_t)d->num_live);
    uint32_t *debug = fk_arena(x->b, 4 * (size_t)d->num_debug);
    uint8_t *allocs = fk_arena(x->b, d->num_allocs);
    if (!live || !debug || !allocs)
        return false;
    *to = (fk_bdescr){.retaddr = d->retaddr, .frame_size = d->frame_size, .flags = d->flags,
                      .num_live = d->num_live, .num_debug = d->num_debug,
                      .num_allocs = (uint8_t)d->num_allocs, .live = live, .allocs = allocs,
                      .debug = debug};
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live v = fk_descr_live(d, i);
        live[i] = v.reg >= 0 ? 2u * (uint32_t)v.reg + 1 : (uint32_t)v.offset;
    }
    for (uint32_t i = 0; i < d->num_allocs; i++)
        allocs[i] = (uint8_t)(fk_descr_wosize(d, i) - 1);
    for (uint32_t i = 0; i < d->num_debug; i++) {
        uint64_t at = fk_descr_debuginfo(d, i);
        debug[i] = at ? find_place(&x->records, at) : FK_NONE;
    }
    if (d->flags & FK_DESCR_SHORT)
        to->delta_size = (uint8_t)delta_size(d);
    return true;
}

static fk_result add_descrs(reader *x, fk_error *err)
{
    fk_cursor c;
    fk_descr d;
    fk_result r;
    fk_cursor_start(x->t, &c);
    while ((r = fk_cursor_next(&c, &d, err)) == FK_OK) {
        fk_bdescr *to = fk_model_descr(x->b);
        if (!to || !copy_descr(x, &d, to))
            return fk_fail_memory(err, x->t->file);
    }
    return r == FK_ABSENT ? FK_OK : r;
}

/* --- O3: debuginfo of unknown layout --------------------------------------------------- */

/* Everything behind the descriptors as it is; slots lead to places in it, each an item. */
static fk_result keep_blob(reader *x, fk_error *err)
{
    const fk_table *t = x->t;
    uint64_t from = t->address + t->descr_bytes;
    uint64_t *at = fk_arena(x->b, 8 * x->records.count);
    if (!at)
        return fk_fail_memory(err, t->file);
    for (size_t i = 0; i < x->records.count; i++) {
        at[i] = x->records.at[i] - from;
        if (!fk_model_record(x->b))
            return fk_fail_memory(err, t->file);
    }
    x->b->blob = t->bytes + t->descr_bytes;
    x->b->blob_size = x->end > from ? x->end - from : 0;
    x->b->blob_at = at;
    return FK_OK;
}

static fk_result read_debug(reader *x, fk_error *err)
{
    fk_result r = find_records(x, err);
    if (!r && x->t->debug == FK_DEBUG_RAW)
        return keep_blob(x, err);
    if (!r)
        r = find_names(x, err);
    if (!r)
        r = add_records(x, err);
    if (!r)
        r = add_names(x, err);
    return r;
}

static fk_result read_table(reader *x, fk_error *err)
{
    x->seen = calloc(x->t->avail / 32 + 1, 1);
    if (!x->seen)
        return fk_fail_memory(err, x->t->file);
    fk_result r = read_debug(x, err);
    return r ? r : add_descrs(x, err);
}

fk_result fk_model_from_table(const fk_table *t, fk_builder **out, fk_error *err)
{
    reader x = {.t = t};
    fk_result r = fk_builder_new(t->gen->id, t->abi, out, err);
    if (r)
        return r;
    x.b = *out;
    x.b->debug = t->debug;
    x.b->keep_order = true;
    x.end = t->address + t->descr_bytes + t->debuginfo_bytes + t->name_bytes + t->extra_bytes;
    r = read_table(&x, err);
    free(x.seen);
    free(x.records.at);
    free(x.names.at);
    free(x.files.at);
    if (r) {
        fk_builder_free(*out);
        *out = NULL;
    }
    return r;
}
