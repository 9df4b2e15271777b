/* compare.c - see compare.h. */
#include "frametable/ftdump/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PR #8805 lists the modules that grew by more than this. */
#define OUTLIER 2.5

/* --- collecting ------------------------------------------------------------------- */

ft_pair *ft_compare_pair(ft_comparison *c, const char *module, size_t *last)
{
    for (size_t k = 0; k < c->num_pairs; k++) {
        size_t i = (*last + k) % c->num_pairs;
        if (strcmp(c->pairs[i].module, module) == 0) {
            *last = i + 1;
            return &c->pairs[i];
        }
    }
    if (c->num_pairs == c->room) {
        size_t room = c->room == 0 ? 256 : 2 * c->room;
        ft_pair *p = realloc(c->pairs, room * sizeof *p);
        if (p == NULL)
            return NULL;
        c->pairs = p;
        c->room = room;
    }
    ft_pair *p = &c->pairs[c->num_pairs];
    memset(p, 0, sizeof *p);
    p->module = strdup(module);
    if (p->module == NULL)
        return NULL;
    *last = ++c->num_pairs;
    return p;
}

void ft_compare_free(ft_comparison *c)
{
    for (size_t i = 0; i < c->num_pairs; i++)
        free(c->pairs[i].module);
    free(c->pairs);
    memset(c, 0, sizeof *c);
}

/* The names lie in the image: an address is a name. */
void ft_files_note(ft_files *f, const char *name)
{
    ft_cell *c = name != NULL ? ft_set_cell(&f->seen, (uint64_t)(uintptr_t)name) : NULL;
    if (c != NULL && c->count++ == 0)
        f->bytes += strlen(name) + 1;
}

void ft_files_clear(ft_files *f)
{
    ft_set_clear(&f->seen);
    f->bytes = 0;
}

/* --- numbers ------------------------------------------------------------------------ */

double ft_quantile(const double *sorted, size_t n, double fraction)
{
    if (n == 0)
        return 0;
    double at = fraction * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double ft_percent_change(uint64_t old, uint64_t now)
{
    return old == 0 ? 0 : 100.0 * ((double)now - (double)old) / (double)old;
}

static uint64_t quantity(const ft_side *s, ft_quantity q)
{
    const uint64_t v[FT_QUANTITIES] = {[FT_FRAMETABLE] = s->descr,
                                       [FT_DEBUGINFO] = s->records + s->names,
                                       [FT_PLACES] = s->records + s->files};
    return v[q];
}

const char *ft_quantity_name(ft_quantity q)
{
    static const char *const names[FT_QUANTITIES] = {[FT_FRAMETABLE] = "frametable",
                                                     [FT_DEBUGINFO] = "debuginfo",
                                                     [FT_PLACES] = "without functions"};
    return names[q];
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double ratio_of(const ft_pair *p, ft_quantity q)
{
    uint64_t old = quantity(&p->side[0], q), now = quantity(&p->side[1], q);
    return old > 0 && now > 0 ? (double)now / (double)old : 0;
}

double *ft_compare_ratios(const ft_comparison *c, ft_quantity q, size_t *n)
{
    double *v = malloc((c->num_pairs + 1) * sizeof *v);
    *n = 0;
    for (size_t i = 0; v != NULL && i < c->num_pairs; i++) {
        double r = ratio_of(&c->pairs[i], q);
        if (r > 0)
            v[(*n)++] = r;
    }
    if (v != NULL)
        qsort(v, *n, sizeof *v, by_value);
    return v;
}

static ft_side sum(const ft_comparison *c, int side)
{
    ft_side s = {0};
    for (size_t i = 0; i < c->num_pairs; i++) {
        const ft_side *p = &c->pairs[i].side[side];
        s.descr += p->descr;
        s.records += p->records;
        s.names += p->names;
        s.files += p->files;
        s.relocs += p->relocs;
        s.descriptors += p->descriptors;
    }
    return s;
}

/* --- text: the table ------------------------------------------------------------------- */

static void row(ft_run *run, const ft_comparison *c, const char *title, uint64_t old, uint64_t now)
{
    ft_printf(&run->out, "  %-20s %12llu %12llu  %+9.2f %%", title, (unsigned long long)old,
              (unsigned long long)now, ft_percent_change(old, now));
    if (c->reverse)
        ft_printf(&run->out, "  %+9.2f %%", ft_percent_change(now, old));
    ft_putc(&run->out, '\n');
}

static void show_table(ft_run *run, const ft_comparison *c)
{
    ft_side a = sum(c, 0), b = sum(c, 1);
    ft_printf(&run->out, "  %-20s %12s %12s  %11s", "bytes", c->title[0], c->title[1], "change");
    ft_puts(&run->out, c->reverse ? "      reverse\n" : "\n");
    row(run, c, "binary", c->file[0], c->file[1]);
    row(run, c, "frametable", a.descr, b.descr);
    row(run, c, "debuginfo", a.records + a.names, b.records + b.names);
    row(run, c, "  records", a.records, b.records);
    row(run, c, "  file names", a.files, b.files);
    row(run, c, "  function names", a.names - a.files, b.names - b.files);
    row(run, c, "  without functions", a.records + a.files, b.records + b.files);
    row(run, c, "relocations", a.relocs, b.relocs);
    row(run, c, "descriptors, number", a.descriptors, b.descriptors);
}

/* --- text: quartiles and outliers --------------------------------------------------------- */

static void show_quartiles(ft_run *run, const ft_comparison *c)
{
    ft_puts(&run->out, "\n  change by module      modules      least  1st quart.     median  3rd "
                       "quart.       most\n");
    for (int q = 0; q < FT_QUANTITIES; q++) {
        size_t n;
        double *v = ft_compare_ratios(c, (ft_quantity)q, &n);
        ft_printf(&run->out, "  %-20s %8zu", ft_quantity_name((ft_quantity)q), n);
        for (int k = 0; k <= 4; k++)
            ft_printf(&run->out, "  %+8.2f %%",
                      n == 0 ? 0.0 : 100.0 * (ft_quantile(v, n, k / 4.0) - 1));
        ft_putc(&run->out, '\n');
        free(v);
    }
}

static bool is_outlier(double r)
{
    return r > OUTLIER || (r > 0 && r < 1 / OUTLIER);
}

typedef struct {
    const ft_pair *pair;
    ft_quantity q;
    double factor; /* >= 1, either way */
} outlier;

static int farthest_first(const void *a, const void *b)
{
    const outlier *x = a, *y = b;
    if (x->factor != y->factor)
        return x->factor > y->factor ? -1 : 1;
    return strcmp(x->pair->module, y->pair->module);
}

static void show_outlier(ft_run *run, const outlier *o)
{
    ft_printf(&run->out, "    %-18s %8llu -> %-8llu x %-6.2f ", ft_quantity_name(o->q),
              (unsigned long long)quantity(&o->pair->side[0], o->q),
              (unsigned long long)quantity(&o->pair->side[1], o->q), ratio_of(o->pair, o->q));
    ft_puts_name(&run->out, o->pair->module);
    ft_putc(&run->out, '\n');
}

static void show_outliers(ft_run *run, const ft_comparison *c)
{
    size_t n = 0, count[FT_QUANTITIES] = {0};
    outlier *list = malloc((FT_QUANTITIES * c->num_pairs + 1) * sizeof *list);
    for (size_t i = 0; list != NULL && i < c->num_pairs; i++)
        for (int q = 0; q < FT_QUANTITIES; q++) {
            double r = ratio_of(&c->pairs[i], (ft_quantity)q);
            if (!is_outlier(r))
                continue;
            count[q]++;
            list[n++] = (outlier){&c->pairs[i], (ft_quantity)q, r > 1 ? r : 1 / r};
        }
    ft_printf(&run->out,
              "\n  modules that changed by more than %.1f times: %zu frametables, %zu debuginfo, "
              "%zu without functions\n",
              OUTLIER, count[FT_FRAMETABLE], count[FT_DEBUGINFO], count[FT_PLACES]);
    if (n > 0)
        qsort(list, n, sizeof *list, farthest_first);
    for (size_t i = 0; i < n && (run->opt->top == 0 || i < run->opt->top); i++)
        show_outlier(run, &list[i]);
    free(list);
}

/* Modules by the size of their change, --top of them. */
static int by_change(const void *a, const void *b)
{
    uint64_t change[2];
    const ft_pair *p[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        const ft_side *o = &p[i]->side[0], *n = &p[i]->side[1];
        int64_t d = (int64_t)(n->descr + n->records + n->names) -
                    (int64_t)(o->descr + o->records + o->names);
        change[i] = (uint64_t)(d < 0 ? -d : d);
    }
    if (change[0] != change[1])
        return change[0] > change[1] ? -1 : 1;
    return strcmp(p[0]->module, p[1]->module);
}

static void show_module(ft_run *run, const ft_pair *p)
{
    ft_out *o = &run->out;
    ft_putc(o, ' ');
    for (int q = 0; q <= FT_DEBUGINFO; q++) {
        uint64_t old = quantity(&p->side[0], (ft_quantity)q),
                 now = quantity(&p->side[1], (ft_quantity)q);
        ft_printf(o, " %9llu %9llu %+9.2f %%", (unsigned long long)old, (unsigned long long)now,
                  ft_percent_change(old, now));
    }
    ft_puts(o, "  ");
    ft_puts_name(o, p->module);
    ft_puts(o, !p->side[0].present ? "  (new)\n" : !p->side[1].present ? "  (gone)\n" : "\n");
}

static void show_modules(ft_run *run, const ft_comparison *c)
{
    size_t n = run->opt->top != 0 && run->opt->top < c->num_pairs ? run->opt->top : c->num_pairs;
    if (c->num_pairs == 0)
        return;
    qsort(c->pairs, c->num_pairs, sizeof *c->pairs, by_change);
    ft_printf(&run->out, "\n  %zu of %zu modules, largest change first\n", n, c->num_pairs);
    ft_printf(&run->out, "  %31s %31s  module\n", "frametable", "debuginfo");
    for (size_t i = 0; i < n; i++)
        show_module(run, &c->pairs[i]);
}

/* --- JSON, CSV ------------------------------------------------------------------------------ */

static json_t *json_side(const ft_side *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "frametable", json_integer((json_int_t)s->descr));
    json_object_set_new(o, "debuginfo", json_integer((json_int_t)(s->records + s->names)));
    json_object_set_new(o, "records", json_integer((json_int_t)s->records));
    json_object_set_new(o, "names", json_integer((json_int_t)s->names));
    json_object_set_new(o, "file_names", json_integer((json_int_t)s->files));
    json_object_set_new(o, "relocations", json_integer((json_int_t)s->relocs));
    json_object_set_new(o, "descriptors", json_integer((json_int_t)s->descriptors));
    return o;
}

static json_t *json_total(const ft_comparison *c, int i)
{
    ft_side s = sum(c, i);
    json_t *o = json_side(&s);
    json_object_set_new(o, "format", ft_json_text(c->title[i]));
    json_object_set_new(o, "binary", json_integer((json_int_t)c->file[i]));
    return o;
}

static void json_quartiles(ft_run *run, const ft_comparison *c)
{
    ft_json_open(&run->json, "ratio_quartiles", '{');
    for (int q = 0; q < FT_QUANTITIES; q++) {
        size_t n;
        double *v = ft_compare_ratios(c, (ft_quantity)q, &n);
        json_t *a = json_array();
        for (int k = 0; k <= 4 && n > 0; k++)
            json_array_append_new(a, json_real(ft_quantile(v, n, k / 4.0)));
        ft_json_value(&run->json, ft_quantity_name((ft_quantity)q), a);
        free(v);
    }
    ft_json_close(&run->json, '}');
}

static void show_json(ft_run *run, const ft_comparison *c)
{
    ft_json *j = &run->json;
    ft_json_value(j, "old", json_total(c, 0));
    ft_json_value(j, "new", json_total(c, 1));
    json_quartiles(run, c);
    ft_json_open(j, "modules", '[');
    for (size_t i = 0; i < c->num_pairs; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "name", ft_json_text(c->pairs[i].module));
        for (int s = 0; s < 2; s++)
            json_object_set_new(o, s == 0 ? "old" : "new",
                                c->pairs[i].side[s].present ? json_side(&c->pairs[i].side[s])
                                                            : json_null());
        ft_json_value(j, NULL, o);
    }
    ft_json_close(j, ']');
}

void ft_compare_csv_header(ft_run *run)
{
    ft_puts(&run->out, "file,module,old_frametable,new_frametable,old_records,new_records,"
                       "old_names,new_names,old_relocations,new_relocations\n");
}

static void show_csv(ft_run *run, const ft_comparison *c)
{
    for (size_t i = 0; i < c->num_pairs; i++) {
        const ft_side *a = &c->pairs[i].side[0], *b = &c->pairs[i].side[1];
        ft_csv_text(&run->out, run->path);
        ft_putc(&run->out, ',');
        ft_csv_text(&run->out, c->pairs[i].module);
        const uint64_t v[] = {a->descr, b->descr, a->records, b->records,
                              a->names, b->names, a->relocs,  b->relocs};
        for (size_t k = 0; k < sizeof v / sizeof *v; k++) {
            ft_putc(&run->out, ',');
            ft_putu(&run->out, v[k]);
        }
        ft_putc(&run->out, '\n');
    }
}

void ft_compare_show(ft_run *run, const ft_comparison *c)
{
    if (run->opt->style == FT_JSON) {
        show_json(run, c);
    } else if (run->opt->style == FT_CSV) {
        show_csv(run, c);
    } else {
        ft_putc(&run->out, '\n');
        show_table(run, c);
        show_quartiles(run, c);
        show_outliers(run, c);
        show_modules(run, c);
    }
}

void ft_compare_plot(ft_run *run, const ft_comparison *c)
{
    ft_series s[FT_QUANTITIES];
    double *v[FT_QUANTITIES];
    if (run->opt->plot == NULL)
        return;
    for (int q = 0; q < FT_QUANTITIES; q++) {
        v[q] = ft_compare_ratios(c, (ft_quantity)q, &s[q].n);
        s[q].name = ft_quantity_name((ft_quantity)q);
        s[q].values = v[q];
    }
    ft_plot(run, c->plot_title, "change of size", true, s, FT_QUANTITIES);
    for (int q = 0; q < FT_QUANTITIES; q++)
        free(v[q]);
}
