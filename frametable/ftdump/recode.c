/* recode.c - --recode=FORMAT: what this file would need in another format.
 *
 * Every table is decoded and handed to the encoder of FORMAT with what FORMAT
 * can say. A has no allocation sizes and gives the points of allocations no
 * place; so going to A drops both, and coming from A they cannot be made up.
 * docs/pr8805.md compares the outcome with PR #8805's own figures. */
#include "frametable/ftdump/compare.h"

#include <stdio.h>
#include <string.h>

static ft_comparison now;
static ft_heading heading;

/* The table at hand. */
typedef struct {
    ft_run *run;
    fk_generation to;
    const fk_abi *abi;
    size_t last;          /* for ft_compare_pair */
    uint64_t debug_slots; /* pointers from descriptors to records in A */
    ft_files files;
    ft_set ends; /* last records of chains, by content: A stores each once */
} coder;

/* --- the pointers of A ------------------------------------------------------------- */

/* A chain of A is a linked list; lists with the same end share it. */
static void note_end(coder *c, const fk_frame *last)
{
    const int32_t v[] = {last->line, last->start_char, last->end_char, last->end_offset,
                         last->raise};
    c->debug_slots++;
    ft_set_cell(&c->ends, ft_hash(ft_hash(0, v, sizeof v), last->file, strlen(last->file)));
}

static void note_chain(coder *c, const fk_descr *d, uint64_t at)
{
    fk_chain chain;
    fk_frame f, last = {0};
    fk_error err;
    fk_chain_start(d->table, at, &chain);
    while (fk_chain_next(&chain, &f, &err) == FK_OK) {
        ft_files_note(&c->files, f.file);
        last = f;
    }
    if (last.file != NULL && !(d->flags & FK_DESCR_ALLOC))
        note_end(c, &last);
}

static void point(void *arg, const ft_point *p)
{
    for (uint32_t i = 0; i < p->d.num_debug; i++) {
        uint64_t at = fk_descr_debuginfo(&p->d, i);
        if (at != 0)
            note_chain(arg, &p->d, at);
    }
}

/* B and C need one relocation for a return address; A also one for a pointer to
 * a record and for a link from a record to the next. O2 and O3 have distances:
 * no relocation once linked, in an object one for each (O3: for the first).
 * `sizes` gives the number of A's records, 16 bytes each. */
static uint64_t relocations(const coder *c, const fk_table *t, const fk_table_info *info,
                            const fk_built_sizes *sizes)
{
    enum { A_RECORD = 16 };
    fk_generation from = fk_table_generation(t);
    fk_kind kind = fk_image_kind(fk_table_image(t));
    bool linked = kind != FK_KIND_OBJECT && kind != FK_KIND_ARCHIVE_MEMBER;
    if (from == c->to || info->num_descr == 0)
        return info->relocation_bytes;
    if (c->to >= FK_GEN_O2 && linked)
        return 0;
    uint64_t unit = info->relocation_bytes / info->num_descr;
    uint64_t records = sizes->debuginfo_bytes / A_RECORD;
    if (c->to == FK_GEN_O3)
        return unit;
    if (c->to != FK_GEN_A)
        return unit * info->num_descr;
    return unit * (info->num_descr + c->debug_slots +
                   (records > c->ends.used ? records - c->ends.used : 0));
}

/* --- one module ------------------------------------------------------------------------ */

static void table(void *arg, const fk_table *t, const fk_table_info *info)
{
    coder *c = arg;
    (void)t, (void)info;
    c->debug_slots = 0;
    ft_files_clear(&c->files);
    ft_set_clear(&c->ends);
}

/* The encoder knows neither the file nor the module. */
static void cannot(coder *c, const fk_table *t, fk_error *err)
{
    fk_table_info info;
    char why[sizeof err->message];
    fk_table_info_get(t, &info);
    snprintf(err->file, sizeof err->file, "%s", fk_image_name(fk_table_image(t)));
    snprintf(why, sizeof why, "%s", err->message);
    snprintf(err->message, sizeof err->message, "module %.80s: %.150s", ft_module_name(&info), why);
    ft_fault(c->run, err);
}

static bool encode(coder *c, const fk_table *t, fk_built_sizes *sizes)
{
    fk_builder *b;
    fk_error err;
    if (fk_builder_new(c->to, c->abi, &b, &err) != FK_OK) {
        ft_fault(c->run, &err);
        return false;
    }
    bool ok = fk_builder_add_table(b, t, &err) == FK_OK;
    if (ok)
        fk_builder_sizes(b, sizes);
    else
        cannot(c, t, &err);
    fk_builder_free(b);
    return ok;
}

static void table_end(void *arg, const fk_table *t, const fk_error *fault)
{
    coder *c = arg;
    fk_table_info info;
    fk_built_sizes sizes;
    fk_table_info_get(t, &info);
    if (fault != NULL || !encode(c, t, &sizes))
        return;
    ft_pair *pair = ft_compare_pair(&now, ft_module_name(&info), &c->last);
    if (pair == NULL)
        return;
    ft_side *o = &pair->side[0], *n = &pair->side[1];
    o->present = n->present = true;
    o->descr += info.descr_bytes;
    o->records += info.debuginfo_bytes;
    o->names += info.name_bytes;
    o->relocs += info.relocation_bytes;
    n->descr += sizes.descr_bytes;
    n->records += sizes.debuginfo_bytes;
    n->names += sizes.name_bytes;
    o->files += fk_table_generation(t) == FK_GEN_A ? info.name_bytes : c->files.bytes;
    n->files += c->to == FK_GEN_A ? sizes.name_bytes : c->files.bytes;
    n->relocs += relocations(c, t, &info, &sizes);
    o->descriptors += info.num_descr;
    n->descriptors += info.num_descr;
}

static void image(ft_run *run, const fk_image *im)
{
    static const ft_visitor v = {table, point, table_end, true};
    coder c = {.run = run, .to = run->opt->recode, .abi = fk_image_abi(im)};
    ft_heading_add(&heading, run->path, im);
    ft_walk(run, im, &v, &c);
    ft_set_free(&c.ends);
    ft_set_free(&c.files.seen);
}

/* --- mode -------------------------------------------------------------------------------- */

static void begin(ft_run *run)
{
    if (run->opt->style == FT_CSV)
        ft_compare_csv_header(run);
}

static int64_t growth(void)
{
    int64_t d = 0;
    for (size_t i = 0; i < now.num_pairs; i++) {
        const ft_side *o = &now.pairs[i].side[0], *n = &now.pairs[i].side[1];
        d += (int64_t)(n->descr + n->records + n->names + n->relocs);
        d -= (int64_t)(o->descr + o->records + o->names + o->relocs);
    }
    return d;
}

/* O3's debuginfo is not known (docs/frametable-format.md): its encoder writes C's. */
static void show_caveat(ft_run *run)
{
    static const char text[] = "O3's own debuginfo is not established: counted as C writes it";
    if (run->opt->recode != FK_GEN_O3)
        return;
    if (run->opt->style == FT_TEXT)
        ft_printf(&run->out, "  estimate: %s\n", text);
    if (run->opt->style == FT_JSON)
        ft_json_value(&run->json, "estimate", ft_json_text(text));
}

static void file_end(ft_run *run, const char *path)
{
    char titles[2][24], plot[64];
    (void)path;
    snprintf(titles[0], sizeof titles[0], "%s (now)", heading.format);
    snprintf(titles[1], sizeof titles[1], "as %s", fk_generation_name(run->opt->recode));
    now.title[0] = titles[0];
    now.title[1] = titles[1];
    snprintf(plot, sizeof plot, "%s to %s: change by module", heading.format,
             fk_generation_name(run->opt->recode));
    now.plot_title = plot;
    now.file[0] = heading.size;
    now.file[1] = heading.size + (uint64_t)growth();
    now.reverse = true;
    if (run->opt->style == FT_TEXT)
        ft_heading_show(run, &heading);
    if (run->opt->style == FT_JSON)
        ft_heading_json(run, &heading);
    show_caveat(run);
    ft_compare_show(run, &now);
    ft_compare_plot(run, &now);
    if (run->opt->style == FT_JSON)
        ft_heading_json_end(run);
    ft_compare_free(&now);
    memset(&heading, 0, sizeof heading);
}

const ft_mode ft_mode_recode = {
    .option = "recode", .begin = begin, .image = image, .file_end = file_end, .can_plot = true};
