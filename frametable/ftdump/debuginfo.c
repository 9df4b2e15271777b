/* debuginfo.c - --debuginfo: each chain of each module and its users.
 *
 *   module Stdlib__List: 310 chains, 355 records
 *     +0x1b6c    2 uses  list.ml:93:12-22 Stdlib__List.map
 *                  from  list.ml:120:4-9 Stdlib__List.f
 */
#include "frametable/ftdump/ftdump.h"
#include "frametable/ftdump/set.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    ft_run *run;
    fk_table_info info;
    ft_set chains; /* record address -> uses */
} collector;

static int by_key(const void *a, const void *b)
{
    const ft_cell *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Packs the used cells at the front, in address order. */
static size_t sort_cells(ft_set *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->capacity; i++)
        if (s->cells[i].key != 0)
            s->cells[n++] = s->cells[i];
    if (n > 0)
        qsort(s->cells, n, sizeof *s->cells, by_key);
    return n;
}

static uint64_t count_frames(const fk_table *t, const ft_cell *cells, size_t n)
{
    uint64_t frames = 0;
    for (size_t i = 0; i < n; i++) {
        fk_chain c;
        fk_frame f;
        fk_error err;
        fk_chain_start(t, cells[i].key, &c);
        while (fk_chain_next(&c, &f, &err) == FK_OK)
            frames++;
    }
    return frames;
}

/* --- text --------------------------------------------------------------------- */

static void text_chain(collector *c, const fk_table *t, const ft_cell *cell)
{
    ft_out *o = &c->run->out;
    fk_chain chain;
    fk_frame f;
    fk_error err;
    fk_result r;
    bool first = true;
    fk_chain_start(t, cell->key, &chain);
    for (; (r = fk_chain_next(&chain, &f, &err)) == FK_OK; first = false) {
        if (first) {
            ft_puts(o, "  +");
            ft_putx(o, cell->key - c->info.address, 4);
            ft_putu_right(o, cell->count, 5);
            ft_puts(o, cell->count == 1 ? " use   " : " uses  ");
        } else {
            ft_puts(o, "               from  ");
        }
        ft_show_place(o, &f);
        ft_puts(o, f.raise ? " (raise)" : "");
        ft_puts(o, f.wide ? " (wide)\n" : "\n");
    }
    if (r != FK_ABSENT)
        ft_fault(c->run, &err);
}

static void text(collector *c, const fk_table *t, size_t n)
{
    ft_out *o = &c->run->out;
    uint64_t frames = count_frames(t, c->chains.cells, n);
    ft_puts(o, "\nmodule ");
    ft_color_set(o, FT_BOLD);
    ft_puts_name(o, ft_module_name(&c->info));
    ft_color_set(o, FT_PLAIN);
    ft_printf(o, ": %zu chain%s, %llu frame%s\n", n, n == 1 ? "" : "s", (unsigned long long)frames,
              frames == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        text_chain(c, t, &c->chains.cells[i]);
}

/* --- JSON, CSV ------------------------------------------------------------------ */

static json_t *json_frames(ft_run *run, const fk_table *t, uint64_t at)
{
    json_t *a = json_array();
    fk_chain c;
    fk_frame f;
    fk_error err;
    fk_result r;
    fk_chain_start(t, at, &c);
    while ((r = fk_chain_next(&c, &f, &err)) == FK_OK) {
        json_t *o = ft_json_frame(&f);
        json_object_set_new(o, "wide", json_boolean(f.wide));
        json_array_append_new(a, o);
    }
    if (r != FK_ABSENT)
        ft_fault(run, &err);
    return a;
}

static void json(collector *c, const fk_table *t, size_t n)
{
    ft_json *j = &c->run->json;
    ft_json_open(j, NULL, '{');
    ft_json_value(j, "name", ft_json_text(c->info.module));
    ft_json_open(j, "chains", '[');
    for (size_t i = 0; i < n; i++) {
        const ft_cell *cell = &c->chains.cells[i];
        json_t *o = json_object();
        json_object_set_new(o, "offset", json_integer((json_int_t)(cell->key - c->info.address)));
        json_object_set_new(o, "uses", json_integer((json_int_t)cell->count));
        json_object_set_new(o, "frames", json_frames(c->run, t, cell->key));
        ft_json_value(j, NULL, o);
    }
    ft_json_close(j, ']');
    ft_json_close(j, '}');
}

static void csv_frame(collector *c, const ft_cell *cell, const fk_frame *f, unsigned depth)
{
    ft_out *o = &c->run->out;
    char place[512];
    ft_csv_text(o, c->run->path);
    ft_putc(o, ',');
    ft_csv_text(o, c->info.module);
    ft_printf(o, ",%llu,%llu,%u,", (unsigned long long)(cell->key - c->info.address),
              (unsigned long long)cell->count, depth);
    ft_place_text(f, place, sizeof place);
    ft_csv_text(o, place);
    ft_putc(o, ',');
    ft_csv_text(o, f->defname != NULL ? f->defname : "");
    ft_printf(o, ",%d,%d\n", f->raise, f->wide);
}

static void csv(collector *c, const fk_table *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fk_chain chain;
        fk_frame f;
        fk_error err;
        unsigned depth = 0;
        fk_chain_start(t, c->chains.cells[i].key, &chain);
        while (fk_chain_next(&chain, &f, &err) == FK_OK)
            csv_frame(c, &c->chains.cells[i], &f, depth++);
    }
}

/* --- mode ------------------------------------------------------------------------- */

static void table(void *arg, const fk_table *t, const fk_table_info *info)
{
    collector *c = arg;
    (void)t;
    c->info = *info;
    ft_set_clear(&c->chains);
}

static void point(void *arg, const ft_point *p)
{
    collector *c = arg;
    for (uint32_t i = 0; i < p->d.num_debug; i++) {
        uint64_t at = fk_descr_debuginfo(&p->d, i);
        ft_cell *cell = at != 0 ? ft_set_cell(&c->chains, at) : NULL;
        if (cell != NULL)
            cell->count++;
    }
}

static void table_end(void *arg, const fk_table *t, const fk_error *fault)
{
    static void (*const show[])(collector *, const fk_table *,
                                size_t) = {[FT_TEXT] = text, [FT_JSON] = json, [FT_CSV] = csv};
    collector *c = arg;
    (void)fault; /* the walk has said it */
    show[c->run->opt->style](c, t, sort_cells(&c->chains));
    ft_set_free(&c->chains); /* sorted cells are no hash table any more */
}

static void begin(ft_run *run)
{
    if (run->opt->style == FT_CSV)
        ft_puts(&run->out, "file,module,offset,uses,depth,place,defname,raise,wide\n");
}

static void image(ft_run *run, const fk_image *im)
{
    static const ft_visitor v = {table, point, table_end, true};
    collector c = {.run = run};
    ft_heading h = {0};
    ft_heading_add(&h, fk_image_name(im), im);
    if (run->opt->style == FT_TEXT)
        ft_heading_show(run, &h);
    if (run->opt->style == FT_JSON) {
        ft_heading_json(run, &h);
        ft_json_open(&run->json, "modules", '[');
    }
    ft_walk(run, im, &v, &c);
    ft_set_free(&c.chains);
    if (run->opt->style == FT_JSON) {
        ft_json_close(&run->json, ']');
        ft_heading_json_end(run);
    }
}

const ft_mode ft_mode_debuginfo = {.option = "debuginfo", .begin = begin, .image = image};
