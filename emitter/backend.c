/* backend.c - a unit: functions through the passes, data, the unit's own symbols.
 *
 *   .data   X.data_begin, data phrases, 0, X.data_end, 0, X.frametable
 *   .text   X.code_begin, functions, X.code_end
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/emit.h"

/* --- data ------------------------------------------------------------------------ */
static void string_data(emit *e, const char *s, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)s[k];
        if (k % 64 == 0)
            e_raw(e, k ? "\"\n\t.ascii\t\"" : "\t.ascii\t\"");
        if (c == '"' || c == '\\')
            e_raw(e, "\\%c", c);
        else if (c >= ' ' && c < 127)
            e_raw(e, "%c", c);
        else
            e_raw(e, "\\%c%c%c", '0' + (c >> 6), '0' + (c >> 3 & 7), '0' + (c & 7));
    }
    if (n)
        e_raw(e, "\"\n");
}

static void item_data(emit *e, const cmm_item *d)
{
    static const char *const number[CMM_NUM_ITEMS] = {
        [CMM_ITEM_BYTE] = ".byte", [CMM_ITEM_HALF] = ".2byte", [CMM_ITEM_INT32] = ".4byte",
        [CMM_ITEM_INT] = ".quad", [CMM_ITEM_SINGLE] = ".4byte", [CMM_ITEM_DOUBLE] = ".quad",
        [CMM_ITEM_SKIP] = ".space", [CMM_ITEM_ALIGN] = ".balign",
    };
    static const int64_t mask[CMM_NUM_ITEMS] = {
        [CMM_ITEM_BYTE] = 0xff, [CMM_ITEM_HALF] = 0xffff, [CMM_ITEM_INT32] = 0xffffffff,
        [CMM_ITEM_SINGLE] = 0xffffffff,
    };
    int64_t n = d->u.i;
    switch (d->kind) {
    case CMM_ITEM_DEFINE:
        if (e->t->data_global && !d->u.sym->is_global)
            e_(e, ".globl\t%s", e_sym(e, d->u.sym));
        e_raw(e, "%s:\n", e_sym(e, d->u.sym));
        break;
    case CMM_ITEM_GLOBAL: e_(e, ".globl\t%s", e_sym(e, d->u.sym)); break;
    case CMM_ITEM_ADDR: e_(e, ".quad\t%s", e_sym(e, d->u.sym)); break;
    case CMM_ITEM_STRING: string_data(e, d->u.str, d->len); break;
    default:
        if (mask[d->kind])
            n &= mask[d->kind];
        if (d->kind != CMM_ITEM_SKIP || n > 0)
            e_(e, "%s\t%ld", number[d->kind], (long)n);
    }
}

static void emit_data(emit *e, const cmm_phrase *p)
{
    if (p->nitems == 0)
        return;
    e_raw(e, "\t.data\n\t.balign\t8\n");
    for (uint32_t k = 0; k < p->nitems; k++) {
        item_data(e, &p->items[k]);
        if (k % 4096 == 4095)
            lin_arena_reset(e->arena);
    }
    lin_arena_reset(e->arena);
}

/* --- functions --------------------------------------------------------------------- */
typedef struct {
    cmm_unit *unit;
    const cmmc_options *options;
    const target *t;
    struct lin_arena *arena, *scratch; /* of a function, of a pass */
    FILE *file;
    emit *e;             /* NULL: only text of the passes is wanted */
} backend;

static void show(const backend *b, const lin_function *f, const char *after)
{
    if (b->options->stage == CMMC_EMIT_LINEAR)
        lin_print(f, after, b->file);
}

static void pass(backend *b, lin_function *f, void (*run)(lin_function *))
{
    run(f);
    lin_arena_reset(b->scratch);
}

static void before_registers(backend *b, lin_function *f)
{
    show(b, f, "selection");
    if (b->options->polls)
        pass(b, f, lin_polls);
    if (b->options->comballoc)
        pass(b, f, lin_comballoc);
    show(b, f, "polls and combined allocations");
    pass(b, f, lin_cse);
    pass(b, f, lin_liveness);
}

static bool to_registers(backend *b, lin_function *f)
{
    pass(b, f, lin_annotate);
    pass(b, f, lin_regalloc);
    bool fits = lin_spill(f);
    lin_arena_reset(b->scratch);
    if (!fits)
        return false;
    pass(b, f, lin_layout);
    show(b, f, "allocation");
    return true;
}

static void compile_function(backend *b, const cmm_function *source)
{
    uint32_t errors = b->unit->ndiags;
    lin_function *f = lin_select(b->unit, source, b->options, b->t, b->arena, b->scratch);
    lin_arena_reset(b->scratch);
    before_registers(b, f);
    if (lin_check_derived(f) && b->unit->ndiags == errors && to_registers(b, f) && b->e)
        emit_function(b->e, f);
    lin_arena_reset(b->scratch);
    lin_arena_reset(b->arena);
}

/* --- the unit's symbols --------------------------------------------------------------- */
static const char *unit_name(emit *e, const char *before, const char *what)
{
    const char *unit = e->unit->unit_symbol->text;
    size_t size = strlen(before) + strlen(unit) + strlen(what) + 2;
    char *name = lin_alloc(e->arena, size);
    out_print(name, size, "%s%s.%s", before, unit, what);
    return e_name(e, name);
}

/* The source may not define them itself; false: it does, error added. */
static bool unit_names_free(cmm_unit *u)
{
    static const char *const what[] = {"data_begin", "data_end", "code_begin", "code_end",
                                       "frametable"};
    uint32_t errors = u->ndiags;
    for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
        char *name;
        int n = asprintf(&name, "%s.%s", u->unit_symbol->text, what[k]);
        if (n < 0)
            abort();
        const cmm_sym *s = cmm_intern(u, name, (size_t)n);
        if (s->def_pos != UINT32_MAX)
            cmm_error(u, s->def_pos, "symbol '%s' is one that cmmc defines for the unit", name);
        free(name);
    }
    return u->ndiags == errors;
}

static void unit_label(emit *e, const char *what)
{
    const char *name = unit_name(e, "", what);
    e_raw(e, "\t.globl\t%s\n%s:\n", name, name);
}

static void code_label(emit *e, const char *what)
{
    if (e->options->function_sections)
        e_raw(e, "\t.section\t.text.%s,\"ax\",@progbits\n", unit_name(e, "caml.", what));
    else
        e_raw(e, "\t.text\n");
    unit_label(e, what);
}

static void unit_head(emit *e)
{
    if (e->t->file_head)
        e->t->file_head(e);
    e_raw(e, "\t.data\n\t.balign\t8\n");
    unit_label(e, "data_begin");
    code_label(e, "code_begin");
}

static void unit_tail(emit *e)
{
    code_label(e, "code_end");
    if (e->t->text_pad)
        e_raw(e, "%s", e->t->text_pad);
    emit_literals(e);
    if (e->t->file_tail)
        e->t->file_tail(e);
    e_raw(e, "\t.data\n\t.balign\t8\n\t.quad\t0\n");
    unit_label(e, "data_end");
    e_raw(e, "\t.quad\t0\n");
    tables_write(e->tables, unit_name(e, "", "frametable"), e->out);
    e_raw(e, "\t.section\t.note.GNU-stack,\"\",@progbits\n");
}

static void compile_phrases(backend *b)
{
    for (uint32_t k = 0; k < b->unit->nphrases; k++) {
        const cmm_phrase *p = &b->unit->phrases[k];
        if (p->function)
            compile_function(b, p->function);
        else if (b->e)
            emit_data(b->e, p);
    }
}

static bool to_assembly(backend *b)
{
    emit e = {.unit = b->unit, .options = b->options, .t = b->t,
              .m = machine_get(b->t, b->options->version), .next_label = 1};
    struct lits lits = {0};
    e.lits = &lits;
    e.tables = unit_names_free(b->unit) ? tables_new(b->unit, b->options) : NULL;
    if (!e.tables)
        return false;
    e.out = malloc(sizeof *e.out);
    e.files = calloc(b->unit->nsyms + 1, sizeof *e.files);
    e.arena = lin_arena_new();
    if (!e.out || !e.files)
        abort();
    e.out->file = b->file;
    e.out->used = 0;
    b->e = &e;
    unit_head(&e);
    compile_phrases(b);
    unit_tail(&e);
    out_flush(e.out);
    free(e.out);
    free(e.files);
    free(lits.entry);
    tables_free(e.tables);
    lin_arena_free(e.arena);
    return b->unit->ndiags == 0;
}

bool cmmc_compile(cmm_unit *unit, const cmmc_options *options, FILE *out)
{
    backend b = {.unit = unit, .options = options, .t = target_by_abi(options->abi), .file = out};
    if (!b.t) {
        cmm_error(unit, 0, "there is no code generator for %s", options->abi->name);
        return false;
    }
    b.arena = lin_arena_new();
    b.scratch = lin_arena_new();
    bool ok;
    if (options->stage == CMMC_EMIT_LINEAR) {
        compile_phrases(&b);
        ok = unit->ndiags == 0;
    } else
        ok = to_assembly(&b);
    lin_arena_free(b.arena);
    lin_arena_free(b.scratch);
    return ok;
}
