/* sizes.c - --sizes: bytes of each module's frametable, largest first. */
#include "frametable/ftdump/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *module;
    uint64_t descriptors, descr, records, names, relocs;
} row;

static struct {
    ft_heading heading;
    row *rows;
    size_t n, room;
} now; /* the FILE at hand */

static uint64_t total(const row *r)
{
    return r->descr + r->records + r->names + r->relocs;
}

static bool reserve(void)
{
    if (now.n < now.room)
        return true;
    size_t room = now.room == 0 ? 512 : 2 * now.room;
    row *rows = realloc(now.rows, room * sizeof *rows);
    if (rows == NULL)
        return false;
    now.rows = rows;
    now.room = room;
    return true;
}

static void image(ft_run *run, const fk_image *im)
{
    const fk_table *t;
    fk_error err;
    ft_heading_add(&now.heading, run->path, im);
    for (size_t i = 0; (t = fk_image_table(im, i)) != NULL; i++) {
        fk_table_info info;
        fk_table_info_get(t, &info);
        if (!ft_module_matches(run, &info) || !reserve())
            continue;
        run->matched++;
        now.rows[now.n++] =
            (row){strdup(ft_module_name(&info)), info.num_descr,  info.descr_bytes,
                  info.debuginfo_bytes,          info.name_bytes, info.relocation_bytes};
        if (fk_table_status(t, &err) != FK_OK)
            ft_fault(run, &err);
    }
}

static int largest_first(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (total(x) != total(y))
        return total(x) > total(y) ? -1 : 1;
    return strcmp(x->module != NULL ? x->module : "", y->module != NULL ? y->module : "");
}

static row sum(void)
{
    row s = {0};
    for (size_t i = 0; i < now.n; i++) {
        s.descriptors += now.rows[i].descriptors;
        s.descr += now.rows[i].descr;
        s.records += now.rows[i].records;
        s.names += now.rows[i].names;
        s.relocs += now.rows[i].relocs;
    }
    return s;
}

static size_t limit(ft_run *run)
{
    return run->opt->top != 0 && run->opt->top < now.n ? run->opt->top : now.n;
}

/* --- styles ------------------------------------------------------------------------- */

static void text_row(ft_run *run, const row *r, const char *name)
{
    ft_out *o = &run->out;
    const uint64_t v[] = {r->descriptors, r->descr, r->records, r->names, r->relocs, total(r)};
    ft_putc(o, ' ');
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        ft_putu_right(o, v[i], 12);
    ft_printf(o, "  %6.2f %%  ",
              now.heading.size > 0 ? 100.0 * (double)total(r) / (double)now.heading.size : 0.0);
    ft_puts_name(o, name);
    ft_putc(o, '\n');
}

static void text(ft_run *run)
{
    char name[64];
    row all = sum();
    ft_heading_show(run, &now.heading);
    ft_puts(&run->out,
            "\n   descriptors       bytes   debuginfo       names relocations       total"
            "  of file  module\n");
    for (size_t i = 0; i < limit(run); i++)
        text_row(run, &now.rows[i], now.rows[i].module != NULL ? now.rows[i].module : "");
    snprintf(name, sizeof name, "(all %zu modules)", now.n);
    text_row(run, &all, name);
}

static json_t *json_row(const row *r)
{
    json_t *o = json_object();
    if (r->module != NULL)
        json_object_set_new(o, "name", ft_json_text(r->module));
    json_object_set_new(o, "num_descriptors", json_integer((json_int_t)r->descriptors));
    json_object_set_new(o, "descriptor_bytes", json_integer((json_int_t)r->descr));
    json_object_set_new(o, "debuginfo_bytes", json_integer((json_int_t)r->records));
    json_object_set_new(o, "name_bytes", json_integer((json_int_t)r->names));
    json_object_set_new(o, "relocation_bytes", json_integer((json_int_t)r->relocs));
    json_object_set_new(o, "total_bytes", json_integer((json_int_t)total(r)));
    return o;
}

static void json(ft_run *run)
{
    row all = sum();
    ft_heading_json(run, &now.heading);
    ft_json_value(&run->json, "file_size", json_integer((json_int_t)now.heading.size));
    ft_json_value(&run->json, "total", json_row(&all));
    ft_json_open(&run->json, "modules", '[');
    for (size_t i = 0; i < limit(run); i++)
        ft_json_value(&run->json, NULL, json_row(&now.rows[i]));
    ft_json_close(&run->json, ']');
    ft_heading_json_end(run);
}

static void csv(ft_run *run)
{
    for (size_t i = 0; i < limit(run); i++) {
        const row *r = &now.rows[i];
        const uint64_t v[] = {r->descriptors, r->descr, r->records, r->names, r->relocs, total(r)};
        ft_csv_text(&run->out, now.heading.path);
        ft_putc(&run->out, ',');
        ft_csv_text(&run->out, r->module != NULL ? r->module : "");
        for (size_t k = 0; k < sizeof v / sizeof *v; k++) {
            ft_putc(&run->out, ',');
            ft_putu(&run->out, v[k]);
        }
        ft_putc(&run->out, '\n');
    }
}

/* --- plot ------------------------------------------------------------------------------ */

enum { SERIES = 4 };

static uint64_t series_value(const row *r, int s)
{
    const uint64_t v[SERIES] = {r->descr, r->records, r->names, r->relocs};
    return v[s];
}

static void plot(ft_run *run)
{
    static const char *const names[SERIES] = {"descriptors", "debuginfo", "names", "relocations"};
    ft_series s[SERIES];
    size_t used = 0;
    double *v = malloc(SERIES * (now.n + 1) * sizeof *v);
    if (run->opt->plot == NULL || v == NULL) {
        free(v);
        return;
    }
    for (int k = 0; k < SERIES; k++) {
        double *values = v + (size_t)k * now.n;
        size_t n = 0;
        for (size_t i = 0; i < now.n; i++)
            if (series_value(&now.rows[i], k) > 0)
                values[n++] = (double)series_value(&now.rows[i], k);
        if (n > 0)
            s[used++] = (ft_series){names[k], values, n};
    }
    const char *base = strrchr(now.heading.path, '/');
    ft_plot(run, base != NULL ? base + 1 : now.heading.path, "bytes of one module", false, s, used);
    free(v);
}

/* --- mode -------------------------------------------------------------------------------- */

static void begin(ft_run *run)
{
    if (run->opt->style == FT_CSV)
        ft_puts(&run->out,
                "file,module,num_descriptors,descriptor_bytes,debuginfo_bytes,name_bytes,"
                "relocation_bytes,total_bytes\n");
}

static void file_end(ft_run *run, const char *path)
{
    static void (*const show[])(ft_run *) = {[FT_TEXT] = text, [FT_JSON] = json, [FT_CSV] = csv};
    (void)path;
    if (now.n > 0)
        qsort(now.rows, now.n, sizeof *now.rows, largest_first);
    show[run->opt->style](run);
    plot(run);
    for (size_t i = 0; i < now.n; i++)
        free(now.rows[i].module);
    free(now.rows);
    memset(&now, 0, sizeof now);
}

const ft_mode ft_mode_sizes = {
    .option = "sizes", .begin = begin, .image = image, .file_end = file_end, .can_plot = true};
