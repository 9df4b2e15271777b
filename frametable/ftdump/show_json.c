/* show_json.c - one descriptor and its parts as JSON values. */
#include "frametable/ftdump/ftdump.h"

#include <string.h>

static void set(json_t *o, const char *key, json_t *value)
{
    json_object_set_new_nocheck(o, key, value);
}

/* A field that the generation lacks (-1) is absent. */
static void set_field(json_t *o, const char *key, int32_t value)
{
    if (value >= 0)
        set(o, key, json_integer(value));
}

json_t *ft_json_frame(const fk_frame *f)
{
    json_t *o = json_object();
    if (f->opaque) {
        json_t *raw = json_array();
        json_array_append_new(raw, ft_json_hex(f->raw[0]));
        json_array_append_new(raw, ft_json_hex(f->raw[1]));
        set(o, "raw", raw);
        return o;
    }
    set(o, "file", ft_json_text(f->file));
    set_field(o, "line", f->line);
    set_field(o, "end_line", f->end_line);
    set_field(o, "start_char", f->start_char);
    set_field(o, "end_char", f->end_char);
    set_field(o, "end_offset", f->end_offset);
    if (f->defname != NULL)
        set(o, "defname", ft_json_text(f->defname));
    set(o, "raise", json_boolean(f->raise));
    return o;
}

json_t *ft_json_chain(ft_run *run, const fk_descr *d, uint32_t slot)
{
    fk_chain c;
    fk_frame f;
    fk_error err;
    fk_result r;
    uint64_t at = fk_descr_debuginfo(d, slot);
    if (at == 0)
        return json_null();
    json_t *a = json_array();
    fk_chain_start(d->table, at, &c);
    while ((r = fk_chain_next(&c, &f, &err)) == FK_OK)
        json_array_append_new(a, ft_json_frame(&f));
    if (r != FK_ABSENT) {
        json_t *e = json_object();
        set(e, "error", ft_json_error(&err));
        json_array_append_new(a, e);
        run->broken = true;
    }
    return a;
}

static json_t *one_live(const fk_descr *d, uint32_t i)
{
    char buf[16];
    fk_live l = fk_descr_live(d, i);
    json_t *o = json_object();
    if (l.reg < 0) {
        set(o, "stack", json_integer(l.offset));
        return o;
    }
    set(o, "reg", json_integer(l.reg));
    set(o, "name", ft_json_text(ft_reg_name(d->table, l.reg, buf)));
    return o;
}

json_t *ft_json_live(const fk_descr *d)
{
    json_t *a = json_array();
    for (uint32_t i = 0; i < d->num_live; i++)
        json_array_append_new(a, one_live(d, i));
    return a;
}

static json_t *flags(const fk_descr *d)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {{FK_DESCR_DEBUG, "debug"},
                 {FK_DESCR_ALLOC, "alloc"},
                 {FK_DESCR_RETURN_TO_C, "return_to_c"},
                 {FK_DESCR_LONG, "long"},
                 {FK_DESCR_SHORT, "short"}};
    json_t *a = json_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (d->flags & names[i].bit)
            json_array_append_new(a, json_string_nocheck(names[i].name));
    return a;
}

static json_t *allocs(const fk_descr *d)
{
    if (!(d->flags & FK_DESCR_ALLOC))
        return json_null();
    json_t *a = json_array();
    for (uint32_t i = 0; i < d->num_allocs; i++)
        json_array_append_new(a, json_integer(fk_descr_wosize(d, i)));
    return a;
}

static json_t *debuginfo(ft_run *run, const fk_descr *d)
{
    if (!(d->flags & FK_DESCR_DEBUG) || (d->flags & FK_DESCR_RETURN_TO_C))
        return json_null();
    json_t *a = json_array();
    for (uint32_t i = 0; i < d->num_debug; i++)
        json_array_append_new(a, ft_json_chain(run, d, i));
    return a;
}

static void set_place(ft_run *run, json_t *o, const ft_point *p)
{
    if (run->opt->addresses) {
        set(o, "address", ft_json_hex(p->d.address));
        set(o, "retaddr", ft_json_hex(p->d.retaddr));
    }
    if (p->fn.name != NULL)
        set(o, "function", ft_json_text(p->fn.name));
    else
        set(o, "in_section", ft_json_text(p->section));
    set(o, "offset", json_integer((json_int_t)p->offset));
}

json_t *ft_json_point(ft_run *run, const ft_point *p)
{
    const fk_descr *d = &p->d;
    bool to_c = d->flags & FK_DESCR_RETURN_TO_C;
    json_t *o = json_object();
    set_place(run, o, p);
    set(o, "frame_size", to_c ? json_null() : json_integer(d->frame_size));
    set(o, "flags", flags(d));
    set(o, "live", ft_json_live(d));
    if (fk_table_generation(d->table) != FK_GEN_A)
        set(o, "allocs", allocs(d));
    set(o, "debuginfo", debuginfo(run, d));
    return o;
}
