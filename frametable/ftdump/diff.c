/* diff.c - --diff OLD NEW: two builds compared.
 *
 * Sizes by module, and whether the collector sees the same: a fingerprint of
 * frame sizes, roots, blocks and places in table order. Addresses are left
 * out, they change with every link. */
#include "frametable/ftdump/compare.h"

#include <string.h>

static ft_comparison now;
static ft_heading headings[2];
static char paths[2][160];
static int side = -1; /* which file is at hand */
static const char *side_path;

typedef struct {
    ft_pair *pair;
    size_t last;
    ft_files files;
} reader;

static void table(void *arg, const fk_table *t, const fk_table_info *info)
{
    reader *r = arg;
    (void)t;
    ft_files_clear(&r->files);
    r->pair = ft_compare_pair(&now, ft_module_name(info), &r->last);
    if (r->pair == NULL)
        return;
    ft_side *s = &r->pair->side[side];
    s->present = true;
    s->descr += info->descr_bytes;
    s->records += info->debuginfo_bytes;
    s->names += info->name_bytes;
    s->relocs += info->relocation_bytes;
    s->descriptors += info->num_descr;
    s->content = ft_hash(s->content, "module", 6);
}

static uint64_t hash_frame(uint64_t h, const fk_frame *f)
{
    const int32_t v[] = {f->line, f->start_char, f->end_char, f->raise};
    h = ft_hash(h, v, sizeof v);
    if (f->file != NULL)
        h = ft_hash(h, f->file, strlen(f->file));
    if (f->defname != NULL)
        h = ft_hash(h, f->defname, strlen(f->defname));
    return h;
}

static uint64_t hash_chain(reader *r, uint64_t h, const fk_descr *d, uint32_t slot)
{
    fk_chain c;
    fk_frame f;
    fk_error err;
    fk_chain_start(d->table, fk_descr_debuginfo(d, slot), &c);
    while (fk_chain_next(&c, &f, &err) == FK_OK) {
        ft_files_note(&r->files, f.file);
        h = hash_frame(h, &f);
    }
    return ft_hash(h, "|", 1);
}

static void point(void *arg, const ft_point *p)
{
    reader *r = arg;
    const fk_descr *d = &p->d;
    const uint32_t head[] = {d->frame_size, d->flags, d->num_live, d->num_allocs, d->num_debug};
    if (r->pair == NULL)
        return;
    uint64_t h = ft_hash(r->pair->side[side].content, head, sizeof head);
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        const int32_t v[] = {l.reg, l.reg < 0 ? l.offset : 0};
        h = ft_hash(h, v, sizeof v);
    }
    for (uint32_t i = 0; i < d->num_allocs; i++) {
        uint32_t v = fk_descr_wosize(d, i);
        h = ft_hash(h, &v, sizeof v);
    }
    for (uint32_t i = 0; i < d->num_debug; i++)
        h = hash_chain(r, h, d, i);
    r->pair->side[side].content = h;
}

static void table_end(void *arg, const fk_table *t, const fk_error *fault)
{
    reader *r = arg;
    fk_table_info info;
    (void)fault; /* the walk has said it */
    fk_table_info_get(t, &info);
    if (r->pair != NULL)
        r->pair->side[side].files +=
            fk_table_generation(t) == FK_GEN_A ? info.name_bytes : r->files.bytes;
}

static void image(ft_run *run, const fk_image *im)
{
    static const ft_visitor v = {table, point, table_end, true};
    reader r = {0};
    if (run->path != side_path) /* argv pointers: equal only for one argument */
        side++;
    side_path = run->path;
    ft_heading_add(&headings[side], run->path, im);
    ft_walk(run, im, &v, &r);
    ft_set_free(&r.files.seen);
}

/* --- what differs ------------------------------------------------------------------- */

typedef struct {
    size_t same, content, added, removed;
} verdict;

static verdict judge(void)
{
    verdict v = {0};
    for (size_t i = 0; i < now.num_pairs; i++) {
        const ft_side *a = &now.pairs[i].side[0], *b = &now.pairs[i].side[1];
        if (!a->present)
            v.added++;
        else if (!b->present)
            v.removed++;
        else if (a->content != b->content || a->descr != b->descr)
            v.content++;
        else
            v.same++;
    }
    return v;
}

static void show_text(ft_run *run, const verdict *v)
{
    for (int i = 0; i < 2; i++)
        ft_heading_show(run, &headings[i]);
    ft_printf(&run->out,
              "\n  modules: %zu the same for the collector, %zu differ, %zu new, %zu gone\n",
              v->same, v->content, v->added, v->removed);
}

static void show_json(ft_run *run, const verdict *v)
{
    ft_json *j = &run->json;
    ft_json_value(j, "old_file", ft_json_text(headings[0].path));
    ft_json_value(j, "new_file", ft_json_text(headings[1].path));
    ft_json_value(j, "modules_same", json_integer((json_int_t)v->same));
    ft_json_value(j, "modules_differ", json_integer((json_int_t)v->content));
    ft_json_value(j, "modules_new", json_integer((json_int_t)v->added));
    ft_json_value(j, "modules_gone", json_integer((json_int_t)v->removed));
}

static void begin(ft_run *run)
{
    if (run->opt->style == FT_CSV)
        ft_compare_csv_header(run);
}

static void end(ft_run *run)
{
    if (side != 1) { /* one of them could not be read: said already */
        run->images = 0;
        return;
    }
    for (int i = 0; i < 2; i++) {
        bool same = strcmp(headings[0].format, headings[1].format) == 0;
        snprintf(paths[i], sizeof paths[i], "%s%s%s%s", i == 0 ? "old" : "new", same ? "" : " (",
                 same ? "" : headings[i].format, same ? "" : ")");
        now.title[i] = paths[i];
        now.file[i] = headings[i].size;
    }
    now.plot_title = "old to new: change by module";
    verdict v = judge();
    if (run->opt->style == FT_TEXT)
        show_text(run, &v);
    if (run->opt->style == FT_JSON)
        show_json(run, &v);
    ft_compare_show(run, &now);
    ft_compare_plot(run, &now);
    run->findings |= v.content + v.added + v.removed > 0;
    ft_compare_free(&now);
}

const ft_mode ft_mode_diff = {.option = "diff",
                              .begin = begin,
                              .image = image,
                              .end = end,
                              .takes_pair = true,
                              .can_plot = true};
