/* locate.c - finding the tables of an image: by the symbols of the units, by the array
 * `caml_frametable`, or by structure when there is neither (scan.c). */
#include <stdlib.h>

#include "frametable/image.h"
#include "frametable/scan.h"

/* "camlStdlib__List.frametable" -> the length of "Stdlib__List"; 0: not a table.
 *
 * The last separator counts: unit names contain `__` themselves. `caml_frametable`, the array, has
 * only one underscore there. */
static size_t module_length(const char *symbol)
{
    static const char *const suffixes[] = {"__frametable", ".frametable", "$frametable"};
    size_t n = strlen(symbol);
    if (n < 5 || strncmp(symbol, "caml", 4) != 0 || symbol[n - 1] != 'e')
        return 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t m = strlen(suffixes[i]);
        if (n > 4 + m && strcmp(symbol + n - m, suffixes[i]) == 0)
            return n - m - 4;
    }
    return 0;
}

void fk_table_init(const fk_image *im, const fk_region *g, uint64_t addr, fk_table *t)
{
    uint64_t off = addr - g->addr;
    bool inside = off < g->file_size;
    *t = (fk_table){.address = addr, .bytes = inside ? g->bytes + off : im->data,
                    .avail = inside ? g->file_size - off : 0, .word = im->word, .swap = im->swap,
                    .big_endian = im->big_endian, .abi = im->abi, .image = im, .file = im->name,
                    .section = g->name, .section_address = g->addr, .module = "", .symbol = ""};
    if (t->avail >= im->word)
        t->num_descr = fk_ldword(t->bytes, im->word, im->swap);
}

/* --- by symbols -------------------------------------------------------------------------- */

static const char *sym_name(const fk_image *im, const fk_sym *s)
{
    return im->symtabs[0].strings + s->name;
}

/* Also the bytes that the names of the modules need. */
static size_t count_symbols(const fk_image *im, size_t *bytes)
{
    size_t n = 0;
    *bytes = 0;
    for (size_t i = 0; i < im->num_syms; i++) {
        size_t length = module_length(sym_name(im, &im->syms[i]));
        n += length != 0;
        *bytes += length ? length + 1 : 0;
    }
    return n;
}

static uint64_t unit_symbol(const fk_image *im, const char *table, size_t base, const char *what)
{
    char name[512];
    fk_symbol s;
    size_t n = strlen(table) - strlen("frametable");
    if (n + strlen(what) >= sizeof name)
        return 0;
    memcpy(name, table, n);
    strcpy(name + n, what);
    if (fk_image_symbol(im, name, &s) == FK_OK)
        return s.addr;
    /* caml_system keeps `__` in every version. */
    memcpy(name, table, base);
    strcpy(name + base, "__");
    strcpy(name + base + 2, what);
    return fk_image_symbol(im, name, &s) == FK_OK ? s.addr : 0;
}

static void name_table(const fk_image *im, const fk_sym *s, char **names, fk_table *t)
{
    size_t length = module_length(sym_name(im, s));
    t->symbol = sym_name(im, s);
    t->symbol_size = s->size;
    t->module = memcpy(*names, t->symbol + 4, length);
    (*names)[length] = 0;
    *names += length + 1;
    t->code_begin = unit_symbol(im, t->symbol, 4 + length, "code_begin");
    t->code_end = unit_symbol(im, t->symbol, 4 + length, "code_end");
}

/* A symbol of the right name whose place is not data is a function of that name, not a table. */
static const fk_region *table_region(const fk_image *im, const fk_sym *s)
{
    return s->function || !module_length(sym_name(im, s)) ? NULL : fk_region_at(im, s->addr);
}

static fk_result by_symbols(fk_image *im, fk_error *err)
{
    size_t bytes, n = count_symbols(im, &bytes);
    if (n == 0)
        return FK_OK;
    im->tables = calloc(n, sizeof *im->tables);
    im->module_names = malloc(bytes);
    if (!im->tables || !im->module_names)
        return fk_fail_memory(err, im->name);
    char *names = im->module_names;
    for (size_t i = 0; i < im->num_syms; i++) {
        const fk_region *g = table_region(im, &im->syms[i]);
        if (!g)
            continue;
        /* Aliases of one table: syms are sorted. */
        if (im->num_tables && im->tables[im->num_tables - 1].address == im->syms[i].addr)
            continue;
        fk_table *t = &im->tables[im->num_tables++];
        fk_table_init(im, g, im->syms[i].addr, t);
        name_table(im, &im->syms[i], &names, t);
    }
    im->located_by = "symbols";
    return FK_OK;
}

/* --- by the array --------------------------------------------------------------------------- */

static int compare_tables(const void *a, const void *b)
{
    const fk_table *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

fk_result fk_tables_from_array(fk_image *im, uint64_t array, uint64_t count, fk_error *err)
{
    uint64_t avail;
    const uint8_t *p = fk_image_bytes(im, array, &avail);
    if (!p || count == 0 || count > avail / im->word)
        return FK_OK;
    free(im->tables); /* symbols that led nowhere */
    im->tables = calloc(count, sizeof *im->tables);
    if (!im->tables)
        return fk_fail_memory(err, im->name);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t addr = fk_ldword(p + i * im->word, im->word, im->swap);
        const fk_region *g = fk_region_at(im, addr);
        if (g)
            fk_table_init(im, g, addr, &im->tables[im->num_tables++]);
    }
    qsort(im->tables, im->num_tables, sizeof *im->tables, compare_tables);
    return FK_OK;
}

static fk_result by_array(fk_image *im, fk_error *err)
{
    fk_symbol s;
    uint64_t avail, n = 0;
    if (fk_image_symbol(im, "caml_frametable", &s))
        return FK_OK;
    const uint8_t *p = fk_image_bytes(im, s.addr, &avail);
    while (p && n < avail / im->word && fk_ldword(p + n * im->word, im->word, im->swap))
        n++;
    im->located_by = "caml_frametable";
    return fk_tables_from_array(im, s.addr, n, err);
}

/* --- all ------------------------------------------------------------------------------- */

/* Tables do not overlap: each ends where the next one begins. Without this bound a file with many
 * symbols on one table would cost their product. */
static void bound_tables(fk_image *im)
{
    size_t n = 0;
    for (size_t i = 0; i < im->num_tables; i++) {
        if (n && im->tables[n - 1].address == im->tables[i].address)
            continue;
        im->tables[n++] = im->tables[i];
    }
    im->num_tables = n;
    for (size_t i = 0; i + 1 < n; i++) {
        fk_table *t = &im->tables[i];
        uint64_t gap = im->tables[i + 1].address - t->address;
        if (gap < t->avail)
            t->avail = gap;
    }
}

fk_result fk_tables_locate(fk_image *im, bool scan, fk_error *err)
{
    fk_result r = FK_OK;
    im->located_by = "nothing";
    if (!scan)
        r = by_symbols(im, err);
    if (!r && !scan && !im->num_tables)
        r = by_array(im, err);
    if (!r && !im->num_tables && (scan || !im->relocatable))
        r = fk_tables_scan(im, err);
    bound_tables(im);
    return r;
}
