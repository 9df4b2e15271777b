/* show.c - one descriptor, one place, one image: the same words in every mode. */
#include "frametable/ftdump/ftdump.h"

#include <stdio.h>
#include <string.h>

const char *ft_module_name(const fk_table_info *info)
{
    return info->module[0] != 0 ? info->module : "(unnamed)";
}

static bool is_raise(const fk_descr *d)
{
    fk_chain c;
    fk_frame f;
    fk_error err;
    if (d->num_debug == 0 || (d->flags & FK_DESCR_ALLOC))
        return false;
    fk_chain_start(d->table, fk_descr_debuginfo(d, 0), &c);
    return fk_chain_next(&c, &f, &err) == FK_OK && f.raise;
}

const char *ft_kind(const fk_descr *d)
{
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return "return to C";
    if (d->flags & FK_DESCR_ALLOC)
        return d->num_allocs > 0 ? "alloc" : "poll";
    return is_raise(d) ? "raise" : "call";
}

/* The register numbers of a generation, taken from its last OCaml version:
 * only riscv64 and arm64 of 4.11 and 4.12 number differently, and nothing in
 * a file tells those from 4.13. */
static fk_ocaml_version version_of(fk_generation g)
{
    switch (g) {
    case FK_GEN_A: return FK_OCAML_4_11;
    case FK_GEN_B: return FK_OCAML_4_14;
    default: return FK_OCAML_5_3;
    }
}

const char *ft_reg_name(const fk_table *t, int reg, char buf[16])
{
    const fk_abi *abi = fk_image_abi(fk_table_image(t));
    const fk_reg *r = abi != NULL ? fk_abi_reg(abi, reg, version_of(fk_table_generation(t))) : NULL;
    if (r != NULL)
        return r->name;
    snprintf(buf, 16, "reg%d", reg);
    return buf;
}

void ft_show_live(ft_out *o, const fk_descr *d)
{
    char buf[16];
    ft_color_set(o, FT_LIVE);
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        ft_putc(o, ' ');
        if (l.reg >= 0) {
            ft_puts(o, ft_reg_name(d->table, l.reg, buf));
        } else {
            ft_putc(o, '[');
            ft_puti(o, l.offset);
            ft_putc(o, ']');
        }
    }
    ft_color_set(o, FT_PLAIN);
}

/* list.ml:93:12-22       one line
 * list.ml:93:12-95:4     several: the second pair is the end
 * In A and B the end column counts from the first line. */
static void show_columns(ft_out *o, const fk_frame *f)
{
    ft_putc(o, ':');
    ft_puti(o, f->line);
    ft_putc(o, ':');
    ft_puti(o, f->start_char);
    ft_putc(o, '-');
    if (f->end_line >= 0 && f->end_line != f->line) {
        ft_puti(o, f->end_line);
        ft_putc(o, ':');
    }
    ft_puti(o, f->end_char);
}

static void show_raw(ft_out *o, const fk_frame *f)
{
    ft_puts(o, "record ");
    ft_puthex(o, f->raw[0], 8);
    ft_putc(o, ' ');
    ft_puthex(o, f->raw[1], 8);
    ft_puts(o, " (layout not established)");
}

void ft_show_place(ft_out *o, const fk_frame *f)
{
    if (f->opaque) {
        show_raw(o, f);
        return;
    }
    ft_color_set(o, FT_PLACE);
    ft_puts_name(o, f->file);
    show_columns(o, f);
    ft_color_set(o, FT_PLAIN);
    if (f->defname == NULL)
        return;
    ft_putc(o, ' ');
    ft_puts_name(o, f->defname);
}

void ft_show_chain(ft_run *run, const fk_descr *d, uint32_t slot, const char *first,
                   const char *rest)
{
    fk_chain c;
    fk_frame f;
    fk_error err;
    fk_result r;
    ft_out *o = &run->out;
    const char *lead = first;
    fk_chain_start(d->table, fk_descr_debuginfo(d, slot), &c);
    while ((r = fk_chain_next(&c, &f, &err)) == FK_OK) {
        ft_puts(o, lead);
        ft_show_place(o, &f);
        ft_putc(o, '\n');
        lead = rest;
    }
    if (r != FK_ABSENT) {
        ft_puts(o, lead);
        ft_puts_color(o, FT_WARN, err.message);
        ft_putc(o, '\n');
        run->broken = true;
    }
}

void ft_show_function(ft_run *run, const ft_point *p)
{
    ft_out *o = &run->out;
    ft_color_set(o, FT_FUNCTION);
    ft_puts_name(o, p->fn.name != NULL ? p->fn.name : p->section);
    ft_color_set(o, FT_PLAIN);
    ft_putc(o, '+');
    ft_putx(o, p->offset, 1);
}

/* block  2 fields  list.ml:93:12-22 Stdlib__List.map
 *            from  list.ml:120:4-9 Stdlib__List.f     (inlined there) */
static void show_block(ft_run *run, const fk_descr *d, uint32_t i, const char *indent)
{
    ft_out *o = &run->out;
    uint32_t wosize = fk_descr_wosize(d, i);
    char rest[64];
    ft_puts(o, indent);
    ft_puts(o, "block ");
    ft_putu_right(o, wosize, 3);
    bool placed = i < d->num_debug && fk_descr_debuginfo(d, i) != 0;
    ft_puts(o, wosize != 1 ? " fields" : placed ? " field " : " field");
    if (!placed) {
        ft_putc(o, '\n');
        return;
    }
    snprintf(rest, sizeof rest, "%s            from  ", indent);
    ft_show_chain(run, d, i, "  ", rest);
}

static void show_places(ft_run *run, const fk_descr *d, const char *indent)
{
    char first[64], rest[64];
    if (d->num_debug == 0)
        return;
    snprintf(first, sizeof first, "%sat    ", indent);
    snprintf(rest, sizeof rest, "%sfrom  ", indent);
    ft_show_chain(run, d, 0, first, rest);
}

void ft_show_details(ft_run *run, const ft_point *p, const char *indent)
{
    const fk_descr *d = &p->d;
    if (d->num_live > 0) {
        ft_puts(&run->out, indent);
        ft_puts(&run->out, "live ");
        ft_show_live(&run->out, d);
        ft_putc(&run->out, '\n');
    }
    if (d->flags & FK_DESCR_ALLOC) {
        for (uint32_t i = 0; i < d->num_allocs; i++)
            show_block(run, d, i, indent);
    } else {
        show_places(run, d, indent);
    }
}

void ft_place_text(const fk_frame *f, char *buf, size_t size)
{
    if (f->opaque)
        snprintf(buf, size, "%08x %08x", f->raw[0], f->raw[1]);
    else if (f->end_line >= 0 && f->end_line != f->line)
        snprintf(buf, size, "%s:%d:%d-%d:%d", f->file, f->line, f->start_char, f->end_line,
                 f->end_char);
    else
        snprintf(buf, size, "%s:%d:%d-%d", f->file, f->line, f->start_char, f->end_char);
}
