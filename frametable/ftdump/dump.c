/* dump.c - --descriptors: every descriptor of every module.
 *
 *   module Stdlib__List: 412 descriptors at 0x8d2f10 in .data
 *     0x47fa5c  alloc   frame 24    camlStdlib__List.map_517+0x8c
 *         live   rax [8]
 *         block   2 fields  list.ml:93:12-22 Stdlib__List.map
 */
#include "frametable/ftdump/ftdump.h"

#include <string.h>

/* --- text ------------------------------------------------------------------- */

static void text_table(void *arg, const fk_table *t, const fk_table_info *info)
{
    ft_run *run = arg;
    ft_out *o = &run->out;
    (void)t;
    ft_puts(o, "\nmodule ");
    ft_color_set(o, FT_BOLD);
    ft_puts_name(o, ft_module_name(info));
    ft_color_set(o, FT_PLAIN);
    ft_printf(o, ": %llu descriptor%s", (unsigned long long)info->num_descr,
              info->num_descr == 1 ? "" : "s");
    if (run->opt->addresses)
        ft_printf(o, " at 0x%llx", (unsigned long long)info->address);
    ft_printf(o, " in %s\n", info->section);
}

static void text_point(void *arg, const ft_point *p)
{
    ft_run *run = arg;
    ft_out *o = &run->out;
    ft_puts(o, "  ");
    if (run->opt->addresses) {
        ft_color_set(o, FT_DIM);
        ft_putx(o, p->d.retaddr, 6);
        ft_color_set(o, FT_PLAIN);
        ft_puts(o, "  ");
    }
    ft_color_set(o, FT_KIND);
    ft_puts_left(o, ft_kind(&p->d), 5);
    ft_color_set(o, FT_PLAIN);
    if (p->d.flags & FK_DESCR_RETURN_TO_C) {
        ft_puts(o, "   ");
    } else {
        ft_puts(o, "  frame ");
        ft_putu_left(o, p->d.frame_size, 5);
    }
    ft_putc(o, ' ');
    ft_show_function(run, p);
    if (p->d.flags & FK_DESCR_LONG)
        ft_puts(o, "  (long form)");
    ft_putc(o, '\n');
    ft_show_details(run, p, "      ");
}

static void text_table_end(void *arg, const fk_table *t, const fk_error *fault)
{
    ft_run *run = arg;
    (void)t;
    if (fault == NULL)
        return;
    ft_puts(&run->out, "  ");
    ft_color_set(&run->out, FT_WARN);
    ft_printf(&run->out, "broken after this: %s\n", fault->message);
    ft_color_set(&run->out, FT_PLAIN);
}

/* --- JSON ------------------------------------------------------------------- */

static void json_table(void *arg, const fk_table *t, const fk_table_info *info)
{
    ft_run *run = arg;
    ft_json *j = &run->json;
    (void)t;
    ft_json_open(j, NULL, '{');
    ft_json_value(j, "name", ft_json_text(info->module));
    ft_json_value(j, "symbol", ft_json_text(info->symbol));
    if (run->opt->addresses)
        ft_json_value(j, "address", ft_json_hex(info->address));
    ft_json_value(j, "num_descriptors", json_integer((json_int_t)info->num_descr));
    ft_json_value(j, "descriptor_bytes", json_integer((json_int_t)info->descr_bytes));
    ft_json_value(j, "debuginfo_bytes", json_integer((json_int_t)info->debuginfo_bytes));
    ft_json_value(j, "name_bytes", json_integer((json_int_t)info->name_bytes));
    ft_json_value(j, "relocation_bytes", json_integer((json_int_t)info->relocation_bytes));
    ft_json_open(j, "descriptors", '[');
}

static void json_point(void *arg, const ft_point *p)
{
    ft_run *run = arg;
    ft_json_value(&run->json, NULL, ft_json_point(run, p));
}

static void json_table_end(void *arg, const fk_table *t, const fk_error *fault)
{
    ft_run *run = arg;
    (void)t;
    ft_json_close(&run->json, ']');
    if (fault != NULL)
        ft_json_value(&run->json, "error", ft_json_error(fault));
    ft_json_close(&run->json, '}');
}

/* --- CSV -------------------------------------------------------------------- */

typedef struct {
    ft_run *run;
    fk_table_info info;
} csv_state;

static void csv_table(void *arg, const fk_table *t, const fk_table_info *info)
{
    (void)t;
    ((csv_state *)arg)->info = *info;
}

static void csv_addresses(ft_run *run, const ft_point *p)
{
    if (!run->opt->addresses)
        return;
    ft_putx(&run->out, p->d.address, 1);
    ft_putc(&run->out, ',');
    ft_putx(&run->out, p->d.retaddr, 1);
    ft_putc(&run->out, ',');
}

static void csv_allocs(ft_out *o, const fk_descr *d)
{
    for (uint32_t i = 0; i < d->num_allocs; i++) {
        if (i > 0)
            ft_putc(o, ' ');
        ft_putu(o, fk_descr_wosize(d, i));
    }
}

static void csv_live(ft_out *o, const fk_descr *d)
{
    char buf[16];
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        if (i > 0)
            ft_putc(o, ' ');
        if (l.reg >= 0)
            ft_puts(o, ft_reg_name(d->table, l.reg, buf));
        else
            ft_puti(o, l.offset);
    }
}

/* The innermost place of the first slot that has one. */
static void csv_place(ft_out *o, const fk_descr *d)
{
    fk_chain c;
    fk_frame f;
    fk_error err;
    char text[512];
    for (uint32_t i = 0; i < d->num_debug; i++) {
        fk_chain_start(d->table, fk_descr_debuginfo(d, i), &c);
        if (fk_chain_next(&c, &f, &err) != FK_OK)
            continue;
        ft_place_text(&f, text, sizeof text);
        ft_csv_text(o, text);
        return;
    }
}

static void csv_point(void *arg, const ft_point *p)
{
    csv_state *s = arg;
    ft_out *o = &s->run->out;
    ft_csv_text(o, fk_image_name(fk_table_image(p->d.table)));
    ft_putc(o, ',');
    ft_csv_text(o, s->info.module);
    ft_putc(o, ',');
    csv_addresses(s->run, p);
    ft_csv_text(o, p->fn.name != NULL ? p->fn.name : p->section);
    ft_putc(o, ',');
    ft_putu(o, p->offset);
    ft_putc(o, ',');
    ft_puts(o, ft_kind(&p->d));
    ft_putc(o, ',');
    if (!(p->d.flags & FK_DESCR_RETURN_TO_C))
        ft_putu(o, p->d.frame_size);
    ft_putc(o, ',');
    csv_live(o, &p->d);
    ft_putc(o, ',');
    csv_allocs(o, &p->d);
    ft_putc(o, ',');
    csv_place(o, &p->d);
    ft_putc(o, '\n');
}

/* --- mode ------------------------------------------------------------------- */

static void begin(ft_run *run)
{
    if (run->opt->style != FT_CSV)
        return;
    ft_puts(&run->out, "file,module,");
    if (run->opt->addresses)
        ft_puts(&run->out, "address,retaddr,");
    ft_puts(&run->out, "function,offset,kind,frame_size,live,allocs,place\n");
}

static void image(ft_run *run, const fk_image *im)
{
    static const ft_visitor text = {text_table, text_point, text_table_end, false};
    static const ft_visitor json = {json_table, json_point, json_table_end, false};
    static const ft_visitor csv = {csv_table, csv_point, NULL, false};
    csv_state s = {.run = run};
    ft_heading h = {0};
    ft_heading_add(&h, fk_image_name(im), im);
    switch (run->opt->style) {
    case FT_TEXT:
        ft_heading_show(run, &h);
        ft_walk(run, im, &text, run);
        break;
    case FT_CSV: ft_walk(run, im, &csv, &s); break;
    case FT_JSON:
        ft_heading_json(run, &h);
        ft_json_open(&run->json, "modules", '[');
        ft_walk(run, im, &json, run);
        ft_json_close(&run->json, ']');
        ft_heading_json_end(run);
        break;
    }
}

const ft_mode ft_mode_descriptors = {.option = "descriptors", .begin = begin, .image = image};
