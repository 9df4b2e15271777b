/* emit.c - one function from blocks to assembly text: what all ports share. */
#include <stdlib.h>
#include <string.h>

#include "emitter/emit.h"

/* --- text ----------------------------------------------------------------------- */
void e_raw(emit *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    out_format(e->out, format, args);
    va_end(args);
}

void e_(emit *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    out_line(e->out, format, args);
    va_end(args);
}

void e_label(emit *e, uint32_t label)
{
    e_raw(e, ".L%u:\n", label);
}

uint32_t e_new_label(emit *e)
{
    return e->next_label++;
}

uint32_t e_block_label(emit *e, lin_block *b)
{
    if (!b->label)
        b->label = e_new_label(e);
    return b->label;
}

const char *e_reg(emit *e, lin_place p)
{
    return e->m->name[p];
}

const char *e_text(const char *format, ...)
{
    static char buf[8][160];
    static unsigned n;
    char *b = buf[n++ % 8];
    va_list args;
    va_start(args, format);
    out_vprint(b, sizeof buf[0], format, args);
    va_end(args);
    return b;
}

/* Letters, digits, _ and . stay; other bytes become $xx, as OCaml spells them. A name that
 * then starts with $ or a digit is quoted, or it would be a constant; `.` alone and .L names
 * belong to the assembler, so their dot is spelled too. */
static bool is_plain(const char *name, size_t k)
{
    char c = name[k];
    if (c == '.' && k == 0)
        return name[1] != 0 && name[1] != 'L';
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

const char *e_name(emit *e, const char *name)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = strlen(name), odd = 0;
    for (size_t k = 0; k < n; k++)
        odd += !is_plain(name, k);
    bool quoted = n && (!is_plain(name, 0) || (name[0] >= '0' && name[0] <= '9'));
    if (!odd && !quoted)
        return name;
    char *to = lin_alloc(e->f ? e->f->arena : e->arena, n + 2 * odd + 3), *p = to;
    if (quoted)
        *p++ = '"';
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)name[k];
        if (is_plain(name, k))
            *p++ = (char)c;
        else {
            *p++ = '$';
            *p++ = hex[c >> 4];
            *p++ = hex[c & 15];
        }
    }
    if (quoted)
        *p++ = '"';
    return to;
}

const char *e_sym(emit *e, const cmm_sym *s)
{
    return e_name(e, s->text);
}

/* --- literal pool, one for the unit --------------------------------------------------- */
uint32_t e_float_label(emit *e, uint64_t bits)
{
    struct lits *l = e->lits;
    if (2 * (l->n + 1) > l->room) {
        struct lits bigger = {.room = l->room ? 2 * l->room : 64};
        bigger.entry = calloc(bigger.room, sizeof *bigger.entry);
        if (!bigger.entry)
            abort();
        for (uint32_t k = 0; k < l->room; k++)
            if (l->entry[k].label) {
                uint32_t h =
                    (uint32_t)(l->entry[k].bits * 0x9e3779b97f4a7c15u >> 40) & (bigger.room - 1);
                while (bigger.entry[h].label)
                    h = (h + 1) & (bigger.room - 1);
                bigger.entry[h] = l->entry[k];
                bigger.n++;
            }
        free(l->entry);
        *l = bigger;
    }
    uint32_t h = (uint32_t)(bits * 0x9e3779b97f4a7c15u >> 40) & (l->room - 1);
    while (l->entry[h].label && l->entry[h].bits != bits)
        h = (h + 1) & (l->room - 1);
    if (!l->entry[h].label) {
        l->entry[h].bits = bits;
        l->entry[h].label = e_new_label(e);
        l->n++;
    }
    return l->entry[h].label;
}

void emit_literals(emit *e)
{
    if (!e->lits->n)
        return;
    e_raw(e, "\t.section\t.rodata.cst8,\"aM\",@progbits,8\n\t.balign\t8\n");
    for (uint32_t k = 0; k < e->lits->room; k++)
        if (e->lits->entry[k].label)
            e_raw(e, ".L%u:\n\t.quad\t0x%lx\n", e->lits->entry[k].label,
                  (unsigned long)e->lits->entry[k].bits);
}

/* --- frame -------------------------------------------------------------------------------
 *            amd64 arm64 s390x riscv64                power
 *   S+F      parameters on the stack        S+F+32    parameters on the stack
 *            return address                 S+F+8,+16 r2, return address (caller's frame)
 *            slots                                    slots
 *            pushed: traps, arguments                 pushed
 *   S                                       S+32; S.. reserved
 */
int64_t e_slot(emit *e, lin_place p)
{
    return e->m->abi->frame_reserved + (int64_t)e->stack_offset + 8 * (int64_t)(p - LIN_SLOT_BASE);
}

uint32_t e_frame_size(emit *e)
{
    return e->frame + e->stack_offset;
}

int64_t e_incoming(emit *e, int64_t n)
{
    return e_frame_size(e) + e->m->abi->frame_reserved + 8 * n;
}

static bool wants_frame(const emit *e, const lin_insn *i)
{
    switch (i->op) {
    case LIN_ALLOC: case LIN_POLL: case LIN_CALL: case LIN_EXTCALL: case LIN_CCALL:
    case LIN_PUSHTRAP: case LIN_PUSHAREA: case LIN_CHECKBOUND:
        return true;
    case LIN_RAISE:
        return i->cc != LIN_RAISE_NOTRACE;
    default:
        (void)e;
        return false;
    }
}

/* Of `biggest` bytes with all that is ever pushed below it, alignment too: tables.c leaves out
 * what it cannot hold. */
static void check_frame(lin_function *f, uint64_t biggest)
{
    if (biggest >= LIN_FRAME_LIMIT)
        cmm_error(
            f->unit, f->source->pos,
            "the frame of function %s takes %lu bytes; frame descriptors hold less than %d",
            f->source->name->text, (unsigned long)biggest, LIN_FRAME_LIMIT);
}

static void set_frame(emit *e)
{
    lin_function *f = e->f;
    const fk_abi *abi = e->m->abi;
    bool needs = f->nslots > 0;
    for (uint32_t k = 0; k < f->nlayout && !needs; k++)
        for (lin_insn *i = f->layout[k]->first; i && !needs; i = i->next)
            needs = wants_frame(e, i);
    uint32_t ra = abi->size_includes_ra ? 8 : 0;
    bool pushed = e->m->link[0] == 0; /* the call itself pushes it */
    uint64_t size = (uint64_t)abi->frame_reserved + 8 * (uint64_t)f->nslots + ra;
    size = (size + abi->frame_align - 1u) / abi->frame_align * abi->frame_align;
    e->has_frame = needs && !(pushed && f->nslots == 0);
    e->frame = needs ? (uint32_t)size : pushed ? ra : 0;
    check_frame(f, size + 16 * (uint64_t)f->max_trap_depth + f->max_outgoing);
}

/* Bytes of stack that the entry check asks for; 0: no check. */
uint32_t e_stack_check_size(emit *e)
{
    uint32_t max = e->frame + 16 * e->f->max_trap_depth + e->f->max_outgoing;
    return e->f->calls_ocaml || max >= 256 ? max + 56 + 256 : 0;
}

uint32_t e_stack_words(emit *e)
{
    return 32 + (e_stack_check_size(e) - 56 - 256) / 8;
}

/* --- CFI: the CFA is SP + cfa. Blocks are laid out in any order, so each start says what
 * it needs when that differs from what the assembler believes. ------------------------- */
void e_cfa(emit *e, uint32_t offset)
{
    if (offset == e->cfa)
        return;
    e->cfa = offset;
    e_(e, ".cfi_def_cfa_offset %u", offset + e->t->cfa_bias);
}

void e_adjust(emit *e, int64_t n)
{
    e->stack_offset = (uint32_t)(e->stack_offset + n);
    e_cfa(e, (uint32_t)(e->cfa + n));
}

void e_end_path(emit *e)
{
    e->cfa = e->path_cfa;
    e_(e, ".cfi_restore_state");
}

void e_begin_path(emit *e)
{
    e->path_cfa = e->cfa;
    e_(e, ".cfi_remember_state");
}

/* --- locations ------------------------------------------------------------------------------ */
static uint32_t file_number(emit *e, const cmm_sym *file)
{
    if (!e->files[file->number]) {
        e->files[file->number] = ++e->file_number;
        e_raw(e, "\t.file\t%u \"", e->file_number);
        for (const char *p = file->text; *p; p++)
            e_raw(e, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
        e_raw(e, "\"\n");
    }
    return e->files[file->number];
}

void e_loc(emit *e, const cmm_dbg *dbg)
{
    if (!e->options->debug || !dbg || dbg == e->last_dbg || !dbg->count)
        return;
    e->last_dbg = dbg;
    const cmm_loc *l = &dbg->items[dbg->count - 1];
    if (l->line > 0)
        e_(e, ".loc\t%u\t%d\t%d", file_number(e, l->file), (int)l->line,
           (int)(l->start_char > 0 ? l->start_char : 0));
}

/* --- descriptors and out-of-line code ------------------------------------------------------- */
void e_descriptor(emit *e, lin_insn *i, uint32_t label)
{
    tables_add(e->tables, e, i, label);
}

void e_describe(emit *e, lin_insn *i)
{
    uint32_t label = e_new_label(e);
    e_label(e, label);
    e_descriptor(e, i, label);
}

uint32_t e_area(const lin_insn *i)
{
    return (8 * i->u.call->stack_words + 15) & ~15u;
}

ool *e_out_of_line(emit *e, ool_kind kind, lin_insn *i)
{
    ool *o = lin_alloc(e->f->arena, sizeof *o);
    o->kind = kind;
    o->insn = i;
    o->entry = e_new_label(e);
    o->stack_offset = e->stack_offset;
    *e->ool_tail = o;
    e->ool_tail = &o->next;
    return o;
}

/* Label of the code that a failed bound check goes to: one per site under -g (its own
 * location) and inside a try, one per function otherwise. */
uint32_t e_bound_error(emit *e, lin_insn *i)
{
    bool own = e->options->debug || e->block->handler;
    if (!own && e->bound && e->bound->stack_offset == e->stack_offset)
        return e->bound->entry;
    ool *o = e_out_of_line(e, OOL_BOUND, i);
    if (!own)
        e->bound = o;
    return o->entry;
}

static void emit_ools(emit *e)
{
    for (ool *o = e->ools; o; o = o->next) {
        e->stack_offset = o->stack_offset;
        e_cfa(e, e_frame_size(e));
        if (o->insn)
            e_loc(e, o->insn->dbg);
        e_label(e, o->entry);
        e->t->out_of_line(e, o);
    }
}

/* --- control ---------------------------------------------------------------------------------- */
void e_conditional(emit *e, lin_insn *i)
{
    lin_block *yes = e->block->succ[0], *no = e->block->succ[1];
    lin_cc cc = (lin_cc)i->cc;
    if (yes == no) {
        e_jump(e, yes);
        return;
    }
    if (yes == e->next_block) {
        e->t->branch(e, i, i->op == LIN_BRANCHF ? lin_negate_float(cc) : lin_negate(cc), no);
        return;
    }
    e->t->branch(e, i, cc, yes);
    e_jump(e, no);
}

void e_jump(emit *e, lin_block *to)
{
    if (to != e->next_block)
        e->t->jump(e, to);
}

void e_move(emit *e, lin_insn *i)
{
    if (lin_res(i, 0)->place != lin_arg(i, 0)->place)
        e->t->move(e, lin_res(i, 0)->place, lin_arg(i, 0)->place);
}

void e_swap(emit *e, lin_insn *i)
{
    e->t->swap(e, i->ops[0].place, i->ops[1].place);
}

void e_nothing(emit *e, lin_insn *i)
{
    (void)e;
    (void)i;
}

void e_jump_insn(emit *e, lin_insn *i)
{
    (void)i;
    e_jump(e, e->block->succ[0]);
}

/* --- functions -------------------------------------------------------------------------------- */
static void emit_block(emit *e, lin_block *b)
{
    e->block = b;
    e->stack_offset = 16 * b->trap_depth;
    if (b->npred > 0 || b->is_handler)
        e_cfa(e, e_frame_size(e));
    if (b->is_handler || b->npred > 1 || (b->npred == 1 && !e->falls_through))
        e_label(e, e_block_label(e, b));
    for (lin_insn *i = b->first; i; i = i->next) {
        e_loc(e, i->dbg);
        void (*emitter)(struct emit *, lin_insn *) = e->t->emit[i->op];
        if (!emitter) {
            cmm_error(e->unit, e->f->source->pos, "%s cannot emit operation %s", e->t->name,
                      i->op < LIN_TARGET ? lin_ops[i->op].name : "of its own");
            return;
        }
        emitter(e, i);
    }
}

static bool falls_into(const lin_block *b, const lin_block *next)
{
    return next->npred == 1 && next->pred[0] == b &&
           (b->last->op == LIN_JUMP || ((b->last->op == LIN_BRANCH || b->last->op == LIN_BRANCHT ||
                                         b->last->op == LIN_BRANCHF) &&
                                        b->succ[0] != b->succ[1]));
}

static void section(emit *e, const char *name)
{
    if (!e->options->function_sections) {
        e_raw(e, "\t.text\n");
        return;
    }
    size_t size = strlen(name) + 6;
    char *of = lin_alloc(e->f->arena, size); /* never starts with what asks for quotes */
    out_print(of, size, "caml.%s", name);
    e_raw(e, "\t.section\t.text.%s,\"ax\",@progbits\n", e_name(e, of));
}

void emit_function(emit *e, lin_function *f)
{
    e->f = f;
    e->ools = NULL;
    e->ool_tail = &e->ools;
    e->bound = NULL;
    e->gc_label = 0;
    e->last_dbg = NULL;
    e->stack_offset = 0;
    set_frame(e);
    if (e->t->size)
        emit_relax(e);
    const char *name = e_sym(e, f->source->name);
    section(e, f->source->name->text);
    e_raw(e, "%s", e->t->code_align);
    e->block = f->blocks[0];
    e->t->function_head(e, name);
    e->cfa = e->m->link[0] ? 0 : 8;
    e_loc(e, f->source->dbg);
    e->t->prologue(e);
    e->falls_through = true;
    for (uint32_t k = 0; k < f->nlayout; k++) {
        e->next_block = k + 1 < f->nlayout ? f->layout[k + 1] : NULL;
        emit_block(e, f->layout[k]);
        e->falls_through = e->next_block && falls_into(f->layout[k], e->next_block);
    }
    e->next_block = NULL;
    emit_ools(e);
    e->stack_offset = 0;
    e_(e, ".cfi_endproc");
    e_(e, ".size\t%s, .-%s", name, name);
    if (e->t->after)
        e->t->after(e);
    e->f = NULL;
}
