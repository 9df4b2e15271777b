/* recode.c - --recode=FORMAT: what this file would need in another format.
 *
 * Every table is decoded and handed to the encoder of FORMAT with what FORMAT
 * can say. A has no allocation sizes and gives the points of allocations no
 * place; so going to A drops both, and coming from A they cannot be made up.
 * docs/pr8805.md compares the outcome with PR #8805's own figures. */
#include "frametable/ftdump/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ft_comparison now;
static ft_heading heading;

/* Growing storage for one descriptor, reused for all. */
typedef struct {
    ft_run *run;
    fk_generation to;
    fk_builder *builder;
    const fk_abi *abi;
    ft_pair *pair;
    size_t last;
    uint64_t debug_slots; /* with a place */
    bool failed;
    fk_live *live;
    uint16_t *wosize;
    const fk_loc **chain;
    uint32_t *length;
    fk_loc *locs;
    size_t live_room, wosize_room, chain_room, length_room, loc_room, loc_used;
} coder;

static bool grow(void **p, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return true;
    size_t n = need < 16 ? 16 : 2 * need;
    void *q = realloc(*p, n * size);
    if (q == NULL)
        return false;
    *p = q;
    *room = n;
    return true;
}

/* --- one descriptor ------------------------------------------------------------------ */

/* Ends of positions: up to 5.1 one column counted from the start line, later
 * an end line with its own column. Coming from A or B the end line is not
 * known and taken as the first. */
static fk_loc loc_of(const fk_frame *f, fk_generation to)
{
    fk_loc l = {f->file, f->defname, f->line, f->end_line, f->start_char, f->end_char, f->end_offset, f->raise};
    if (to <= FK_GEN_B) {
        if (f->end_offset >= 0)
            l.end_char = f->end_offset;
        l.end_line = l.end_offset = -1;
    } else if (f->end_line < 0) {
        l.end_line = f->line;
        l.end_offset = f->end_char;
    }
    if (to == FK_GEN_A)
        l.defname = NULL;
    else if (l.defname == NULL)
        l.defname = "";
    return l;
}

static bool add_chain(coder *c, const fk_descr *d, uint32_t slot)
{
    fk_chain chain;
    fk_frame f;
    fk_error err;
    fk_result r;
    size_t start = c->loc_used;
    fk_chain_start(d->table, fk_descr_debuginfo(d, slot), &chain);
    while ((r = fk_chain_next(&chain, &f, &err)) == FK_OK) {
        if (!grow((void **)&c->locs, &c->loc_room, c->loc_used + 1, sizeof *c->locs))
            return false;
        c->locs[c->loc_used++] = loc_of(&f, c->to);
    }
    c->length[slot] = (uint32_t)(c->loc_used - start);
    c->debug_slots += c->length[slot] > 0;
    return r == FK_ABSENT;
}

/* The chains lie back to back in locs, which may move while they are added:
 * pointers are set at the end. */
static bool add_chains(coder *c, const fk_descr *d)
{
    c->loc_used = 0;
    if (!grow((void **)&c->chain, &c->chain_room, d->num_debug, sizeof *c->chain) ||
        !grow((void **)&c->length, &c->length_room, d->num_debug, sizeof *c->length))
        return false;
    for (uint32_t i = 0; i < d->num_debug; i++)
        if (!add_chain(c, d, i))
            return false;
    size_t at = 0;
    for (uint32_t i = 0; i < d->num_debug; i++) {
        c->chain[i] = c->length[i] > 0 ? c->locs + at : NULL;
        at += c->length[i];
    }
    return true;
}

static bool add_roots(coder *c, const fk_descr *d)
{
    if (!grow((void **)&c->live, &c->live_room, d->num_live, sizeof *c->live) ||
        !grow((void **)&c->wosize, &c->wosize_room, d->num_allocs, sizeof *c->wosize))
        return false;
    for (uint32_t i = 0; i < d->num_live; i++)
        c->live[i] = fk_descr_live(d, i);
    for (uint32_t i = 0; i < d->num_allocs; i++)
        c->wosize[i] = (uint16_t)fk_descr_wosize(d, i);
    return true;
}

static fk_descr_in describe(const coder *c, const fk_descr *d)
{
    fk_descr_in in = {.retaddr = d->retaddr,
                      .frame_size = d->frame_size,
                      .flags = d->flags & (FK_DESCR_DEBUG | FK_DESCR_ALLOC | FK_DESCR_RETURN_TO_C),
                      .num_live = d->num_live,
                      .live = c->live,
                      .num_allocs = d->num_allocs,
                      .wosize = c->wosize,
                      .num_debug = d->num_debug,
                      .chain = c->chain,
                      .chain_length = c->length};
    if (c->to == FK_GEN_A && (d->flags & FK_DESCR_ALLOC)) {
        in.flags = 0;
        in.num_allocs = in.num_debug = 0;
    }
    return in;
}

static void point(void *arg, const ft_point *p)
{
    coder *c = arg;
    fk_error err;
    bool drop = c->to == FK_GEN_A && (p->d.flags & FK_DESCR_ALLOC);
    if (c->builder == NULL || c->failed)
        return;
    if (!add_roots(c, &p->d) || (!drop && !add_chains(c, &p->d))) {
        c->failed = true;
        return;
    }
    fk_descr_in in = describe(c, &p->d);
    if (fk_builder_add(c->builder, &in, &err) != FK_OK) {
        ft_fault(c->run, &err);
        c->failed = true;
    }
}

/* --- one module ------------------------------------------------------------------------ */

static void table(void *arg, const fk_table *t, const fk_table_info *info)
{
    coder *c = arg;
    fk_error err;
    (void)t;
    c->failed = false;
    c->debug_slots = 0;
    c->pair = ft_compare_pair(&now, ft_module_name(info), &c->last);
    if (fk_builder_new(c->to, c->abi, &c->builder, &err) != FK_OK) {
        ft_fault(c->run, &err);
        c->builder = NULL;
    }
}

/* B to C need one relocation for a return address; A one more for a pointer
 * to debuginfo; O2 and O3 none, theirs are distances. */
static uint64_t relocations(const coder *c, const fk_table_info *info, fk_generation from)
{
    if (c->to >= FK_GEN_O2 || info->num_descr == 0)
        return 0;
    if (from == c->to || from >= FK_GEN_O2)
        return info->relocation_bytes;
    uint64_t unit = info->relocation_bytes / info->num_descr;
    return unit * (info->num_descr + (c->to == FK_GEN_A ? c->debug_slots : 0));
}

static void table_end(void *arg, const fk_table *t, const fk_error *fault)
{
    coder *c = arg;
    fk_table_info info;
    fk_built_sizes sizes;
    fk_table_info_get(t, &info);
    if (c->builder != NULL && !c->failed && fault == NULL && c->pair != NULL) {
        ft_side *o = &c->pair->side[0], *n = &c->pair->side[1];
        fk_builder_sizes(c->builder, &sizes);
        o->present = n->present = true;
        o->descr += info.descr_bytes;
        o->records += info.debuginfo_bytes;
        o->names += info.name_bytes;
        o->relocs += info.relocation_bytes;
        n->descr += sizes.descr_bytes;
        n->records += sizes.debuginfo_bytes;
        n->names += sizes.name_bytes;
        n->relocs += relocations(c, &info, fk_table_generation(t));
        o->descriptors += info.num_descr;
        n->descriptors += info.num_descr;
    }
    fk_builder_free(c->builder);
    c->builder = NULL;
}

static void image(ft_run *run, const fk_image *im)
{
    static const ft_visitor v = {table, point, table_end, true};
    coder c = {.run = run, .to = run->opt->recode, .abi = fk_image_abi(im)};
    ft_heading_add(&heading, run->path, im);
    ft_walk(run, im, &v, &c);
    free(c.live);
    free(c.wosize);
    free(c.chain);
    free(c.length);
    free(c.locs);
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

static void file_end(ft_run *run, const char *path)
{
    char titles[2][24];
    (void)path;
    snprintf(titles[0], sizeof titles[0], "%s (now)", heading.format);
    snprintf(titles[1], sizeof titles[1], "as %s", fk_generation_name(run->opt->recode));
    now.title[0] = titles[0];
    now.title[1] = titles[1];
    now.file[0] = heading.size;
    now.file[1] = heading.size + (uint64_t)growth();
    now.reverse = true;
    if (run->opt->style == FT_TEXT)
        ft_heading_show(run, &heading);
    if (run->opt->style == FT_JSON)
        ft_heading_json(run, &heading);
    ft_compare_show(run, &now);
    ft_compare_plot(run, &now);
    if (run->opt->style == FT_JSON)
        ft_heading_json_end(run);
    ft_compare_free(&now);
    memset(&heading, 0, sizeof heading);
}

const ft_mode ft_mode_recode = {.option = "recode",
                                .begin = begin,
                                .image = image,
                                .file_end = file_end,
                                .can_plot = true};
