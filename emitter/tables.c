/* tables.c - descriptors for libframetable's builder. */
#include <stdlib.h>
#include <string.h>

#include "emitter/out.h"
#include "emitter/tables.h"
#include "framekit/frametable.h"

struct tables {
    cmm_unit *unit;
    const cmmc_options *options;
    fk_generation generation;
    fk_builder *builder;
    bool failed;
};

struct tables *tables_new(cmm_unit *unit, const cmmc_options *options)
{
    struct tables *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->unit = unit;
    t->options = options;
    t->generation = options->frametable == FK_GEN_AUTO ? FK_GEN_C : options->frametable;
    fk_error err;
    if (fk_builder_new(t->generation, options->abi, &t->builder, &err) == FK_OK)
        return t;
    cmm_error(unit, 0, "frametable format %s: %s", fk_generation_name(t->generation), err.message);
    free(t);
    return NULL;
}

void tables_free(struct tables *t)
{
    fk_builder_free(t->builder);
    free(t);
}

/* --- locations ------------------------------------------------------------------- */
/* Columns of the end: OCaml counts from the start of the first line; generation C
 * wants both that (end_offset) and the column in the last line (end_char). */
static fk_loc convert(const struct tables *t, const cmm_loc *l, bool raise)
{
    fk_loc r = {.file = l->file->text, .defname = l->scope ? l->scope->text : "", .line = l->line,
                .end_line = l->end_line > 0 ? l->end_line : l->line, .start_char = l->start_char,
                .end_char = l->end_char, .end_offset = l->end_char, .raise = raise};
    bool wide =
        t->generation == FK_GEN_C || t->generation == FK_GEN_O2 || t->generation == FK_GEN_O3;
    if (wide && l->start_bol >= 0 && l->end_bol >= l->start_bol)
        r.end_char = l->end_char - (l->end_bol - l->start_bol);
    return r;
}

typedef struct {
    const fk_loc **chains;
    uint32_t *lengths;
    uint32_t n;
} chain_list;

static void add_chain(const struct tables *t, emit *e, chain_list *list, const cmm_dbg *dbg,
                      bool raise)
{
    uint32_t n = dbg ? dbg->count : 0;
    fk_loc *chain = n ? lin_alloc(e->f->arena, n * sizeof *chain) : NULL;
    for (uint32_t k = 0; k < n; k++)
        chain[k] = convert(t, &dbg->items[n - 1 - k], raise && k == 0);
    list->chains[list->n] = chain;
    list->lengths[list->n++] = n;
}

/* --- descriptors --------------------------------------------------------------------- */
/* As stored: 2 * register + 1, or the offset; the compiler sorts them by that number. */
static int32_t stored(const fk_live *l)
{
    return l->reg >= 0 ? 2 * l->reg + 1 : l->offset;
}

static int by_stored(const void *a, const void *b)
{
    int32_t x = stored(a), y = stored(b);
    return x < y ? -1 : x > y;
}

static void add_live(emit *e, fk_descr_in *d, const lin_insn *i)
{
    fk_live *live = lin_alloc(e->f->arena, (i->nroots + 1) * sizeof *live);
    for (uint32_t k = 0; k < i->nroots; k++)
        live[k] = lin_is_reg(i->roots[k].place)
                      ? (fk_live){.reg = (int16_t)i->roots[k].place}
                      : (fk_live){.reg = -1, .offset = (int32_t)e_slot(e, i->roots[k].place)};
    if (i->nroots > 1)
        qsort(live, i->nroots, sizeof *live, by_stored);
    d->live = live;
    d->num_live = i->nroots;
}

/* Sizes and locations from the last allocated block to the first. */
static void add_allocs(const struct tables *t, emit *e, fk_descr_in *d, const lin_insn *i,
                       chain_list *c)
{
    const lin_allocs *a = i->op == LIN_ALLOC ? i->u.allocs : NULL;
    uint32_t n = a ? a->count : 0;
    uint16_t *size = lin_alloc(e->f->arena, (n + 1) * sizeof *size);
    bool known = false;
    for (uint32_t k = 0; k < n; k++) {
        size[k] = a->blocks[n - 1 - k].wosize;
        known |= a->blocks[n - 1 - k].dbg != NULL;
    }
    d->flags = FK_DESCR_ALLOC;
    d->wosize = size;
    d->num_allocs = n;
    if (!known || !t->options->debug)
        return;
    d->flags |= FK_DESCR_DEBUG;
    for (uint32_t k = 0; k < n; k++)
        add_chain(t, e, c, a->blocks[n - 1 - k].dbg, false);
}

void tables_add(struct tables *t, emit *e, const lin_insn *i, uint32_t label)
{
    uint32_t room = i->op == LIN_ALLOC ? i->u.allocs->count : 1;
    chain_list c = {lin_alloc(e->f->arena, (room + 1) * sizeof *c.chains),
                    lin_alloc(e->f->arena, (room + 1) * sizeof *c.lengths), 0};
    fk_descr_in d = {.retaddr = label, .frame_size = e_frame_size(e)};
    add_live(e, &d, i);
    bool allocates = i->op == LIN_ALLOC || i->op == LIN_POLL;
    if (allocates && t->generation != FK_GEN_A)
        add_allocs(t, e, &d, i, &c);
    else if (i->dbg && i->op != LIN_POLL) { /* generation A has no lengths: one location */
        d.flags |= FK_DESCR_DEBUG;
        add_chain(t, e, &c, i->dbg, i->op == LIN_RAISE);
    }
    d.num_debug = c.n;
    d.chain = c.chains;
    d.chain_length = c.lengths;
    fk_error err;
    if (d.frame_size >= LIN_FRAME_LIMIT)
        return; /* emit.c has said so */
    if (t->failed || fk_builder_add(t->builder, &d, &err) == FK_OK)
        return;
    cmm_error(t->unit, e->f->source->pos, "function %s: %s", e->f->source->name->text, err.message);
    t->failed = true;
}

static int write_label(uint64_t label, char *buf, size_t size, void *arg)
{
    (void)arg;
    return (int)out_print(buf, size, ".L%lu", (unsigned long)label);
}

static void put(const char *text, size_t length, void *arg)
{
    out_text(arg, text, length);
}

void tables_write(struct tables *t, const char *symbol, struct out *o)
{
    fk_error err;
    if (fk_builder_assembly(t->builder, symbol, write_label, put, o, &err) != FK_OK)
        cmm_error(t->unit, 0, "frametable: %s", err.message);
}
