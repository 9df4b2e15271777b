/* summary.c - --summary: the totals of each file for a reader; --totals: one
 * line a file for a sweep over many. An archive counts as one file. */
#include "frametable/ftdump/stats.h"

#include <string.h>

typedef struct {
    ft_heading heading;
    ft_stats stats;
} totals;

static totals now; /* the FILE at hand */

static void image(ft_run *run, const fk_image *im)
{
    ft_heading_add(&now.heading, run->path, im);
    ft_stats_add(run, im, &now.stats);
}

/* --- summary as text --------------------------------------------------------- */

static void line(ft_out *o, const char *title, uint64_t v)
{
    ft_puts(o, "  ");
    ft_puts_left(o, title, 26);
    ft_putu_right(o, v, 12);
}

/* "  title   value   12.3 %  remark" with value / whole in percent. */
static void share(ft_out *o, const char *title, uint64_t v, uint64_t whole, const char *remark)
{
    line(o, title, v);
    if (whole > 0)
        ft_printf(o, "  %6.2f %%", 100.0 * (double)v / (double)whole);
    if (remark[0] != 0)
        ft_printf(o, "  %s", remark);
    ft_putc(o, '\n');
}

static void figure(ft_out *o, const char *title, uint64_t v, const char *remark)
{
    line(o, title, v);
    ft_printf(o, remark[0] != 0 ? "            %s\n" : "\n", remark);
}

static void show_counts(ft_out *o, const ft_stats *s)
{
    uint64_t n = s->descriptors;
    figure(o, "modules", s->modules, "");
    figure(o, "  empty", s->empty, "no return address to describe");
    share(o, "descriptors", n, n, "one for each return address");
    share(o, "  calls", n - s->alloc - s->return_to_c, n, "");
    share(o, "  allocations", s->alloc - s->polls, n, "");
    share(o, "    of several blocks", s->combined, n, "combined: one test for all of them");
    share(o, "  polls", s->polls, n, "no block: only lets the collector in");
    share(o, "  returns to C", s->return_to_c, n, "");
    share(o, "  with debuginfo", s->debug, n, "");
    if (s->long_form > 0)
        share(o, "  in long form", s->long_form, n, "");
}

static void show_extremes(ft_out *o, const ft_stats *s)
{
    line(o, "live roots", s->live);
    ft_printf(o, "            %.2f a descriptor\n",
              s->descriptors > 0 ? (double)s->live / (double)s->descriptors : 0.0);
    figure(o, "  most at one point", s->max_live, "");
    figure(o, "largest frame", s->max_frame, "bytes");
    figure(o, "most blocks combined", s->max_blocks, "");
    figure(o, "debuginfo chains", s->chains, "distinct");
    figure(o, "  records in them", s->records, "distinct; more than chains: inlined frames");
    figure(o, "  wide positions", s->wide, "descriptors whose place needs the wide form");
}

static void show_bytes(ft_out *o, const ft_stats *s, uint64_t file)
{
    uint64_t all = s->descriptor_bytes + s->debuginfo_bytes + s->name_bytes;
    share(o, "frametable bytes", all, file, "of the file");
    line(o, "  descriptors", s->descriptor_bytes);
    ft_printf(o, "  %6.2f %%  %.2f each\n",
              file > 0 ? 100.0 * (double)s->descriptor_bytes / (double)file : 0.0,
              s->descriptors > 0 ? (double)s->descriptor_bytes / (double)s->descriptors : 0.0);
    share(o, "  debuginfo records", s->debuginfo_bytes, file, "");
    share(o, "  names", s->name_bytes, file, "functions and files");
    share(o, "relocation bytes", s->relocation_bytes, file, "that the tables need on top");
    if (s->extra_bytes > 0)
        figure(o, "undecoded bytes", s->extra_bytes, "rest of names cut by the assembler");
    if (s->broken > 0)
        figure(o, "broken tables", s->broken, "counted up to their fault");
}

static void show(ft_run *run)
{
    ft_heading_show(run, &now.heading);
    ft_putc(&run->out, '\n');
    show_counts(&run->out, &now.stats);
    show_extremes(&run->out, &now.stats);
    show_bytes(&run->out, &now.stats, now.heading.size);
}

/* --- the list forms ----------------------------------------------------------- */

static void json(ft_run *run)
{
    ft_heading_json(run, &now.heading);
    ft_json_value(&run->json, "file_size", json_integer((json_int_t)now.heading.size));
    ft_json_open(&run->json, "summary", '{');
    for (size_t i = 0; i < ft_num_stats_fields; i++) {
        const ft_stats_field *f = &ft_stats_fields[i];
        ft_json_value(&run->json, f->key, json_integer((json_int_t)ft_stats_value(&now.stats, f)));
    }
    ft_json_close(&run->json, '}');
    ft_heading_json_end(run);
}

static void csv_begin(ft_run *run)
{
    ft_puts(&run->out, "file,arch,format");
    for (size_t i = 0; i < ft_num_stats_fields; i++) {
        ft_putc(&run->out, ',');
        ft_puts(&run->out, ft_stats_fields[i].key);
    }
    ft_putc(&run->out, '\n');
}

static void csv(ft_run *run)
{
    ft_out *o = &run->out;
    ft_csv_text(o, now.heading.path);
    ft_printf(o, ",%s,%s", now.heading.arch, now.heading.format);
    for (size_t i = 0; i < ft_num_stats_fields; i++) {
        ft_putc(o, ',');
        ft_putu(o, ft_stats_value(&now.stats, &ft_stats_fields[i]));
    }
    ft_putc(o, '\n');
}

/* Columns wide enough for the largest binaries known; a wider figure only
 * shifts the rest of its line. */
static unsigned width(const ft_stats_field *f)
{
    size_t n = strlen(f->column);
    return n < 7 ? 7 : (unsigned)n;
}

static void totals_begin(ft_run *run)
{
    if (run->opt->style == FT_CSV)
        csv_begin(run);
    if (run->opt->style != FT_TEXT)
        return;
    ft_puts(&run->out, "arch    format");
    for (size_t i = 0; i < ft_num_stats_fields; i++)
        ft_printf(&run->out, " %*s", (int)width(&ft_stats_fields[i]), ft_stats_fields[i].column);
    ft_puts(&run->out, "  file\n");
}

static void totals_row(ft_run *run)
{
    ft_out *o = &run->out;
    ft_puts_left(o, now.heading.arch, 8);
    ft_puts_left(o, now.heading.format[0] != 0 ? now.heading.format : "-", 6);
    for (size_t i = 0; i < ft_num_stats_fields; i++) {
        ft_putc(o, ' ');
        ft_putu_right(o, ft_stats_value(&now.stats, &ft_stats_fields[i]),
                      width(&ft_stats_fields[i]));
    }
    ft_puts(o, "  ");
    ft_puts_name(o, now.heading.path);
    ft_putc(o, '\n');
}

/* --- modes -------------------------------------------------------------------- */

static void finish(ft_run *run, void (*text)(ft_run *))
{
    if (run->opt->style == FT_CSV)
        csv(run);
    else if (run->opt->style == FT_JSON)
        json(run);
    else
        text(run);
    memset(&now, 0, sizeof now);
}

static void summary_begin(ft_run *run)
{
    if (run->opt->style == FT_CSV)
        csv_begin(run);
}

static void summary_end(ft_run *run, const char *path)
{
    (void)path;
    finish(run, show);
}

static void totals_end(ft_run *run, const char *path)
{
    (void)path;
    finish(run, totals_row);
}

const ft_mode ft_mode_summary = {
    .option = "summary", .begin = summary_begin, .image = image, .file_end = summary_end};
const ft_mode ft_mode_totals = {.option = "totals",
                                .begin = totals_begin,
                                .image = image,
                                .file_end = totals_end,
                                .takes_empty = true};
