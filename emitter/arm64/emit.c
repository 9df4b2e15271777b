/* arm64/emit.c - GNU syntax.
 *
 * x28 domain state, x27 young_ptr, x26 trap pointer, x30 return address. x16 and x17
 * are lost at any branch to another section (linker veneers).
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/arm64/arm64.h"

/* w and s names have the number of the x or d name. */
static const char *number(emit *e, lin_place p)
{
    return e_reg(e, p) + 1;
}

/* --- constants ---------------------------------------------------------------------- */
static void load_const(emit *e, const char *to, int64_t value)
{
    uint64_t n = (uint64_t)value;
    if (arm64_logical_imm(n)) {
        e_(e, "mov\t%s, #%ld", to, (long)value);
        return;
    }
    unsigned zeros = 0, ones = 0;
    for (unsigned k = 0; k < 64; k += 16) {
        zeros += (n >> k & 0xffff) == 0;
        ones += (n >> k & 0xffff) == 0xffff;
    }
    bool inverted = ones > zeros, first = true;
    uint64_t skip = inverted ? 0xffff : 0;
    for (unsigned k = 0; k < 64; k += 16) {
        uint64_t part = n >> k & 0xffff;
        if (part == skip)
            continue;
        if (first)
            e_(e, "%s\t%s, #%lu, lsl #%u", inverted ? "movn" : "movz", to,
               (unsigned long)(inverted ? part ^ 0xffff : part), k);
        else
            e_(e, "movk\t%s, #%lu, lsl #%u", to, (unsigned long)part, k);
        first = false;
    }
    if (first)
        e_(e, "%s\t%s, #0", inverted ? "movn" : "movz", to);
}

static void e_const(emit *e, lin_insn *i)
{
    load_const(e, e_to(e, i), i->imm);
}

/* fmov: 4 bits of fraction, exponent -3..4 */
static bool fmov_imm(uint64_t bits)
{
    uint64_t exponent = bits >> 52 & 0x7ff;
    return (bits & 0xffffffffffffull) == 0 && exponent >= 1020 && exponent <= 1027;
}

static void load_literal(emit *e, const char *to, uint64_t bits)
{
    uint32_t label = e_float_label(e, bits);
    e_(e, "adrp\tx16, .L%u", label);
    e_(e, "ldr\t%s, [x16, #:lo12:.L%u]", to, label);
}

static void e_fconst(emit *e, lin_insn *i)
{
    uint64_t bits = (uint64_t)i->imm;
    if (bits == 0)
        e_(e, "fmov\t%s, xzr", e_to(e, i));
    else if (fmov_imm(bits)) {
        double d;
        char text[32];
        memcpy(&d, &bits, 8);
        snprintf(text, sizeof text, "%.8f", d);
        e_(e, "fmov\t%s, #%s", e_to(e, i), text);
    } else
        load_literal(e, e_to(e, i), bits);
}

static void load_symbol(emit *e, const cmm_sym *s, const char *to)
{
    const char *name = e_sym(e, s);
    if (target_local_symbol(s) || !e->options->pic) {
        e_(e, "adrp\t%s, %s", to, name);
        e_(e, "add\t%s, %s, #:lo12:%s", to, to, name);
    } else {
        e_(e, "adrp\t%s, :got:%s", to, name);
        e_(e, "ldr\t%s, [%s, #:got_lo12:%s]", to, to, name);
    }
}

static void add_const(emit *e, const char *to, const char *from, int64_t n)
{
    const char *op = n < 0 ? "sub" : "add";
    uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n;
    if (u >= 1u << 24) {
        load_const(e, "x17", n);
        e_(e, "add\t%s, %s, x17", to, from);
        return;
    }
    if (u >> 12)
        e_(e, "%s\t%s, %s, #%lu, lsl #12", op, to, from, (unsigned long)(u >> 12));
    if (u & 4095 || u == 0)
        e_(e, "%s\t%s, %s, #%lu", op, to, u >> 12 ? to : from, (unsigned long)(u & 4095));
}

static void e_symbol(emit *e, lin_insn *i)
{
    load_symbol(e, i->sym, e_to(e, i));
    if (i->disp)
        add_const(e, e_to(e, i), e_to(e, i), i->disp);
}

/* --- slots: ldr and str reach 32760 bytes -------------------------------------------------- */
static void stack_access(emit *e, const char *op, const char *reg, int64_t offset)
{
    if (offset <= 32760)
        e_(e, "%s\t%s, [sp, #%ld]", op, reg, (long)offset);
    else {
        load_const(e, "x17", offset);
        e_(e, "%s\t%s, [sp, x17]", op, reg);
    }
}

void arm64_move(emit *e, lin_place to, lin_place from)
{
    if (lin_is_slot(to) && lin_is_slot(from)) {
        stack_access(e, "ldr", "x16", e_slot(e, from));
        stack_access(e, "str", "x16", e_slot(e, to));
    } else if (lin_is_slot(from))
        stack_access(e, "ldr", e_reg(e, to), e_slot(e, from));
    else if (lin_is_slot(to))
        stack_access(e, "str", e_reg(e, from), e_slot(e, to));
    else
        e_(e, "%s\t%s, %s", lin_is_float_reg(to) || lin_is_float_reg(from) ? "fmov" : "mov",
           e_reg(e, to), e_reg(e, from));
}

void arm64_swap(emit *e, lin_place a, lin_place b)
{
    bool flt = lin_is_float_reg(a);
    const char *op = flt ? "fmov" : "mov", *t = flt ? "d31" : "x16";
    e_(e, "%s\t%s, %s", op, t, e_reg(e, a));
    e_(e, "%s\t%s, %s", op, e_reg(e, a), e_reg(e, b));
    e_(e, "%s\t%s, %s", op, e_reg(e, b), t);
}

/* --- arithmetic ------------------------------------------------------------------------------- */
static const char *const names[LIN_TARGET_END] = {
    [LIN_SUB] = "sub", [LIN_MUL] = "mul", [LIN_MULH] = "smulh", [LIN_DIV] = "sdiv",
    [LIN_AND] = "and", [LIN_OR] = "orr", [LIN_XOR] = "eor", [LIN_SHL] = "lsl", [LIN_SHR] = "lsr",
    [LIN_SAR] = "asr", [LIN_NEG] = "neg", [LIN_FNEG] = "fneg", [LIN_FABS] = "fabs",
    [LIN_FSQRT] = "fsqrt", [LIN_FADD] = "fadd", [LIN_FSUB] = "fsub", [LIN_FMUL] = "fmul",
    [LIN_FDIV] = "fdiv", [LIN_FOFI] = "scvtf", [LIN_IOFF] = "fcvtzs", [ARM_MADD] = "madd",
    [ARM_MSUB] = "msub", [LIN_FMADD] = "fmadd", [LIN_FMSUB] = "fnmsub", [LIN_FNMSUB] = "fmsub",
    [LIN_FNMUL] = "fnmul",
};

static void binary(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_IMM)
        e_(e, "%s\t%s, %s, #%ld", names[i->op], e_to(e, i), e_from(e, i, 0), (long)i->imm);
    else
        e_(e, "%s\t%s, %s, %s", names[i->op], e_to(e, i), e_from(e, i, 0), e_from(e, i, 1));
}

static void unary(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s", names[i->op], e_to(e, i), e_from(e, i, 0));
}

static void ternary(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s, %s, %s", names[i->op], e_to(e, i), e_from(e, i, 0),
       e_from(e, i, 1), e_from(e, i, 2));
}

static void e_fused(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s, %s, %s", names[i->op], e_to(e, i), e_from(e, i, 1),
       e_from(e, i, 2), e_from(e, i, 0));
}

static void e_add(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_IMM)
        add_const(e, e_to(e, i), e_from(e, i, 0), i->op == LIN_SUB ? -i->imm : i->imm);
    else
        e_(e, "%s\t%s, %s, %s", i->op == LIN_SUB ? "sub" : "add", e_to(e, i), e_from(e, i, 0),
           e_from(e, i, 1));
}

static void e_addshift(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s, %s, lsl #%ld", i->op == ARM_SUBSHIFT ? "sub" : "add", e_to(e, i),
       e_from(e, i, 0), e_from(e, i, 1), (long)i->imm);
}

static void e_mod(emit *e, lin_insn *i)
{
    e_(e, "sdiv\tx16, %s, %s", e_from(e, i, 0), e_from(e, i, 1));
    e_(e, "msub\t%s, x16, %s, %s", e_to(e, i), e_from(e, i, 1), e_from(e, i, 0));
}

static void e_bswap(emit *e, lin_insn *i)
{
    const char *d = number(e, lin_res(i, 0)->place), *a = number(e, lin_arg(i, 0)->place);
    if (i->imm == 64)
        e_(e, "rev\t%s, %s", e_to(e, i), e_from(e, i, 0));
    else if (i->imm == 32) {
        e_(e, "rev\tw%s, w%s", d, a);
        e_(e, "sxtw\t%s, w%s", e_to(e, i), d);
    } else {
        e_(e, "rev16\tw%s, w%s", d, a);
        e_(e, "ubfx\tw%s, w%s, #0, #16", d, d);
    }
}

/* --- comparisons ------------------------------------------------------------------------------ */
static const char *const conditions[LIN_NUM_CC] = {
    [LIN_EQ] = "eq", [LIN_NE] = "ne", [LIN_LT] = "lt", [LIN_LE] = "le", [LIN_GT] = "gt",
    [LIN_GE] = "ge",
    [LIN_LTU] = "lo", [LIN_LEU] = "ls", [LIN_GTU] = "hi", [LIN_GEU] = "hs",
};
/* fcmp sets NZCV 0011 when unordered. */
static const char *const float_conditions[LIN_NUM_CC] = {
    [LIN_EQ] = "eq", [LIN_NE] = "ne", [LIN_LT] = "mi", [LIN_LE] = "ls", [LIN_GT] = "gt",
    [LIN_GE] = "ge",
    [LIN_NLT] = "pl", [LIN_NLE] = "hi", [LIN_NGT] = "le", [LIN_NGE] = "lt",
};

static void compare(emit *e, lin_insn *i)
{
    if (!(i->flags & LIN_F_IMM))
        e_(e, "cmp\t%s, %s", e_from(e, i, 0), e_from(e, i, 1));
    else if (i->imm < 0)
        e_(e, "cmn\t%s, #%ld", e_from(e, i, 0), -(long)i->imm);
    else
        e_(e, "cmp\t%s, #%ld", e_from(e, i, 0), (long)i->imm);
}

static void e_set(emit *e, lin_insn *i)
{
    compare(e, i);
    e_(e, "cset\t%s, %s", e_to(e, i), conditions[i->cc]);
}

static void e_setf(emit *e, lin_insn *i)
{
    e_(e, "fcmp\t%s, %s", e_from(e, i, 0), e_from(e, i, 1));
    e_(e, "cset\t%s, %s", e_to(e, i), float_conditions[i->cc]);
}

static const char *inverse(const char *cond)
{
    static const char *const pairs[][2] = {{"eq", "ne"}, {"lt", "ge"}, {"gt", "le"}, {"lo", "hs"},
                                           {"hi", "ls"}, {"mi", "pl"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (unsigned s = 0; s < 2; s++)
            if (strcmp(cond, pairs[k][s]) == 0)
                return pairs[k][!s];
    return cond;
}

/* b.cond reaches 1 MiB; farther, it jumps over a b. */
static void branch_if(emit *e, const char *cond, uint32_t label, bool far)
{
    if (!far) {
        e_(e, "b.%s\t.L%u", cond, label);
        return;
    }
    uint32_t over = e_new_label(e);
    e_(e, "b.%s\t.L%u", inverse(cond), over);
    e_(e, "b\t.L%u", label);
    e_label(e, over);
}

static void branch_zero(emit *e, lin_insn *i, bool zero, uint32_t label)
{
    e_(e, "%s\t%s, .L%u", zero ? "cbz" : "cbnz", e_from(e, i, 0), label);
}

void arm64_branch(emit *e, lin_insn *i, lin_cc cc, lin_block *to)
{
    uint32_t label = e_block_label(e, to);
    bool equality = cc == LIN_EQ || cc == LIN_NE;
    if (i->op == LIN_BRANCHF) {
        e_(e, "fcmp\t%s, %s", e_from(e, i, 0), e_from(e, i, 1));
        branch_if(e, float_conditions[cc], label, i->far);
    } else if (i->op == LIN_BRANCHT) {
        if (__builtin_popcountll((uint64_t)i->imm) == 1 && !i->far)
            e_(e, "%s\t%s, #%d, .L%u", cc == LIN_EQ ? "tbz" : "tbnz", e_from(e, i, 0),
               __builtin_ctzll((uint64_t)i->imm), label);
        else {
            e_(e, "tst\t%s, #%ld", e_from(e, i, 0), (long)i->imm);
            branch_if(e, conditions[cc], label, i->far);
        }
    } else if (equality && i->flags & LIN_F_IMM && i->imm == 0 && !i->far)
        branch_zero(e, i, cc == LIN_EQ, label);
    else {
        compare(e, i);
        branch_if(e, conditions[cc], label, i->far);
    }
}

void arm64_jump(emit *e, lin_block *to)
{
    e_(e, "b\t.L%u", e_block_label(e, to));
}

static void e_switch(emit *e, lin_insn *i)
{
    uint32_t table = e_new_label(e);
    e_(e, "adr\tx16, .L%u", table);
    e_(e, "add\tx16, x16, %s, lsl #2", e_from(e, i, 0));
    e_(e, "br\tx16");
    e_label(e, table);
    for (int64_t k = 0; k < i->imm; k++)
        e_(e, "b\t.L%u", e_block_label(e, e->block->succ[i->u.table[k]]));
}

/* --- memory ----------------------------------------------------------------------------------- */
static const char *mem(emit *e, lin_insn *i)
{
    static char buf[80];
    const char *base = e_from(e, i, (unsigned)i->base);
    if (i->index >= 0 && i->scale > 1)
        out_print(buf, sizeof buf, "[%s, %s, lsl #%d]", base, e_from(e, i, (unsigned)i->index),
                 __builtin_ctz(i->scale));
    else if (i->index >= 0)
        out_print(buf, sizeof buf, "[%s, %s]", base, e_from(e, i, (unsigned)i->index));
    else if (i->disp)
        out_print(buf, sizeof buf, "[%s, #%ld]", base, (long)i->disp);
    else
        out_print(buf, sizeof buf, "[%s]", base);
    return buf;
}

static void e_load(emit *e, lin_insn *i)
{
    static const struct { const char *op, *prefix; } how[CMM_NUM_CHUNKS] = {
        [CMM_BYTE_U] = {"ldrb", "w"}, [CMM_BYTE_S] = {"ldrsb", "x"}, [CMM_HALF_U] = {"ldrh", "w"},
        [CMM_HALF_S] = {"ldrsh", "x"}, [CMM_INT32_U] = {"ldr", "w"}, [CMM_INT32_S] = {"ldrsw", "x"},
        [CMM_WORD_INT] = {"ldr", "x"}, [CMM_WORD_VAL] = {"ldr", "x"}, [CMM_INT64] = {"ldr", "x"},
        [CMM_DOUBLE] = {"ldr", "d"}, [CMM_SINGLE] = {"ldr", "s"},
    };
    lin_place d = lin_res(i, 0)->place;
    if (i->op == LIN_LOAD_ATOMIC) {
        e_(e, "dmb\tishld");
        e_(e, "ldar\t%s, %s", e_reg(e, d), mem(e, i));
        return;
    }
    e_(e, "%s\t%s%s, %s", how[i->chunk].op, how[i->chunk].prefix, number(e, d), mem(e, i));
    if (i->chunk == CMM_SINGLE)
        e_(e, "fcvt\t%s, s%s", e_reg(e, d), number(e, d));
}

static void e_store(emit *e, lin_insn *i)
{
    static const char *const ops[] = {NULL, "strb", "strh", NULL, "str", NULL, NULL, NULL, "str"};
    unsigned bytes = cmm_chunks[i->chunk].bytes;
    if (i->flags & LIN_F_BARRIER)
        e_(e, "dmb\tishld");
    if (i->flags & LIN_F_IMM)
        e_(e, "%s\t%s, %s", ops[bytes], bytes == 8 ? "xzr" : "wzr", mem(e, i));
    else if (i->chunk == CMM_SINGLE) {
        e_(e, "fcvt\ts31, %s", e_from(e, i, 0));
        e_(e, "str\ts31, %s", mem(e, i));
    } else if (bytes == 8)
        e_(e, "str\t%s, %s", e_from(e, i, 0), mem(e, i));
    else
        e_(e, "%s\tw%s, %s", ops[bytes], number(e, lin_arg(i, 0)->place), mem(e, i));
}

static void e_loaddom(emit *e, lin_insn *i)
{
    e_(e, "ldr\t%s, [x28, #%ld]", e_to(e, i), (long)i->imm);
}

static void e_storedom(emit *e, lin_insn *i)
{
    e_(e, "str\t%s, [x28, #%ld]", e_from(e, i, 0), (long)i->imm);
}

static void e_incoming_word(emit *e, lin_insn *i)
{
    stack_access(e, "ldr", e_to(e, i), e_incoming(e, i->imm));
}

/* --- allocation ------------------------------------------------------------------------------- */
static void to_ool(emit *e, lin_insn *i, const char *cond)
{
    ool *o = e_out_of_line(e, OOL_GC, i);
    branch_if(e, cond, o->entry, i->far);
    o->back = e_new_label(e);
    e_label(e, o->back);
}

static void e_alloc(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_SMALL) {
        if (i->imm <= 32)
            e_(e, "bl\tcaml_alloc%d", (int)(i->imm / 8 - 1));
        else {
            e_(e, "mov\tx8, #%ld", (long)i->imm);
            e_(e, "bl\tcaml_allocN");
        }
        e_describe(e, i);
    } else {
        e_(e, "ldr\tx16, [x28, #%d]", e->m->off_young_limit);
        e_(e, "sub\tx27, x27, #%ld", (long)i->imm);
        e_(e, "cmp\tx27, x16");
        to_ool(e, i, "lo");
    }
    e_(e, "add\t%s, x27, #%ld", e_to(e, i), (long)i->disp);
}

static void e_young(emit *e, lin_insn *i)
{
    e_(e, "add\t%s, x27, #%ld", e_to(e, i), (long)i->disp);
}

static void e_poll(emit *e, lin_insn *i)
{
    e_(e, "ldr\tx16, [x28, #%d]", e->m->off_young_limit);
    e_(e, "cmp\tx27, x16");
    to_ool(e, i, "ls");
}

/* --- calls ------------------------------------------------------------------------------------ */
static void drop_area(emit *e, lin_insn *i)
{
    uint32_t bytes = e_area(i);
    if (!bytes)
        return;
    add_const(e, "sp", "sp", bytes);
    e_adjust(e, -(int64_t)bytes);
}

static void e_call(emit *e, lin_insn *i)
{
    if (i->sym)
        e_(e, "bl\t%s", e_sym(e, i->sym));
    else
        e_(e, "blr\t%s", e_from(e, i, i->nargs - 1u));
    e_describe(e, i);
    drop_area(e, i);
}

static void e_extcall(emit *e, lin_insn *i)
{
    uint32_t words = i->u.call->stack_words;
    load_symbol(e, i->sym, e->m->c_function);
    if (words) {
        e_(e, "mov\tx20, sp");
        add_const(e, "x21", "sp", (8 * words + 15) & ~15u);
        e_(e, "bl\tcaml_c_call_stack_args");
    } else
        e_(e, "bl\tcaml_c_call");
    e_describe(e, i);
    drop_area(e, i);
}

/* noalloc: on the C stack; the OCaml SP waits in x29 (5.3) or x19 (5.4). */
static void e_ccall(emit *e, lin_insn *i)
{
    const char *save = e->m->noalloc_sp;
    e_(e, "mov\t%s, sp", save);
    e_(e, ".cfi_remember_state");
    e_(e, ".cfi_def_cfa_register\t%s", save);
    e_(e, "ldr\tx16, [x28, #%d]", e->m->off_c_stack);
    e_(e, "mov\tsp, x16");
    e_(e, "bl\t%s", e_sym(e, i->sym));
    e_(e, "mov\tsp, %s", save);
    e_(e, ".cfi_restore_state");
}

static void e_pusharea(emit *e, lin_insn *i)
{
    add_const(e, "sp", "sp", -i->imm);
    e_adjust(e, i->imm);
}

static void e_storearg(emit *e, lin_insn *i)
{
    stack_access(e, "str", e_from(e, i, 0), i->imm);
}

static void epilogue(emit *e)
{
    e_begin_path(e);
    if (!e->has_frame)
        return;
    stack_access(e, "ldr", "x30", e_frame_size(e) - 8);
    add_const(e, "sp", "sp", e_frame_size(e));
    e_cfa(e, 0);
    e_(e, ".cfi_restore\tx30");
}

static void e_tailcall(emit *e, lin_insn *i)
{
    epilogue(e);
    if (i->sym)
        e_(e, "b\t%s", e_sym(e, i->sym));
    else
        e_(e, "br\t%s", e_from(e, i, i->nargs - 1u));
    e_end_path(e);
}

static void e_return(emit *e, lin_insn *i)
{
    (void)i;
    epilogue(e);
    e_(e, "ret");
    e_end_path(e);
}

static void e_checkbound(emit *e, lin_insn *i)
{
    compare(e, i);
    branch_if(e, "ls", e_bound_error(e, i), i->far);
}

/* --- exceptions ------------------------------------------------------------------------------- */
static void e_pushtrap(emit *e, lin_insn *i)
{
    uint32_t label = e_block_label(e, i->u.target);
    if (i->far) {
        e_(e, "adrp\tx16, .L%u", label);
        e_(e, "add\tx16, x16, #:lo12:.L%u", label);
    } else
        e_(e, "adr\tx16, .L%u", label);
    e_(e, "stp\tx26, x16, [sp, #-16]!");
    e_adjust(e, 16);
    e_(e, "mov\tx26, sp");
}

static void e_poptrap(emit *e, lin_insn *i)
{
    (void)i;
    e_(e, "ldr\tx26, [sp], #16");
    e_adjust(e, -16);
}

static void e_raise(emit *e, lin_insn *i)
{
    if (i->cc == LIN_RAISE_NOTRACE) {
        e_(e, "mov\tsp, x26");
        e_(e, "ldp\tx26, x16, [sp], #16");
        e_(e, "br\tx16");
        return;
    }
    e_(e, "bl\t%s", i->cc == LIN_RAISE_REGULAR ? "caml_raise_exn" : "caml_reraise_exn");
    e_describe(e, i);
}

/* --- functions -------------------------------------------------------------------------------- */
/* The overflow code stands before the entry, so that its distance never matters. */
void arm64_function_head(emit *e, const char *name)
{
    uint32_t size = e_stack_check_size(e), grow = 0;
    e_(e, ".globl\t%s", name);
    e_(e, ".type\t%s, %%function", name);
    e_(e, ".cfi_startproc");
    if (size) {
        grow = e_new_label(e);
        e_label(e, grow);
        e_(e, "mov\tx16, #%u", e_stack_words(e));
        e_(e, "stp\tx16, x30, [sp, #-16]!");
        e_(e, ".cfi_def_cfa_offset 16");
        e_(e, ".cfi_offset\tx30, -8");
        e_(e, "bl\tcaml_call_realloc_stack");
        e_(e, "ldp\tx16, x30, [sp], #16");
        e_(e, ".cfi_def_cfa_offset 0");
        e_(e, ".cfi_restore\tx30");
    }
    e_raw(e, "%s:\n", name);
    if (size) {
        e_(e, "ldr\tx16, [x28, #%d]", e->m->off_current_stack);
        add_const(e, "x16", "x16", size);
        e_(e, "cmp\tsp, x16");
        e_(e, "b.lo\t.L%u", grow);
    }
}

void arm64_prologue(emit *e)
{
    if (!e->has_frame)
        return;
    add_const(e, "sp", "sp", -(int64_t)e->frame);
    e_cfa(e, e->frame);
    stack_access(e, "str", "x30", e->frame - 8);
    e_(e, ".cfi_offset\tx30, -8");
}

void arm64_out_of_line(emit *e, ool *o)
{
    e_(e, "bl\t%s", o->kind == OOL_GC ? "caml_call_gc" : "caml_ml_array_bound_error");
    e_describe(e, o->insn);
    if (o->back)
        e_(e, "b\t.L%u", o->back);
}

unsigned arm64_size(emit *e, lin_insn *i)
{
    (void)e;
    static const uint8_t words[LIN_TARGET_END] = {
        [LIN_PARAMS] = 0, [LIN_HANDLER] = 0, [LIN_CONST] = 4, [LIN_FCONST] = 2, [LIN_SYMBOL] = 6,
        [LIN_MOVE] = 4, [LIN_SWAP] = 3, [LIN_INCOMING] = 3, [LIN_PUSHAREA] = 3, [LIN_STOREARG] = 3,
        [LIN_MOD] = 2, [LIN_ADD] = 2, [LIN_SUB] = 2, [LIN_SET] = 2, [LIN_SETF] = 2, [LIN_BSWAP] = 2,
        [LIN_LOAD] = 2, [LIN_LOAD_ATOMIC] = 2, [LIN_STORE] = 3, [LIN_ALLOC] = 6, [LIN_POLL] = 4,
        [LIN_CALL] = 4, [LIN_EXTCALL] = 8, [LIN_CCALL] = 5, [LIN_CHECKBOUND] = 3,
        [LIN_PUSHTRAP] = 4,
        [LIN_RAISE] = 3, [LIN_TAILCALL] = 6, [LIN_RETURN] = 6, [LIN_BRANCH] = 4, [LIN_BRANCHT] = 4,
        [LIN_BRANCHF] = 4, [LIN_SWITCH] = 3,
    };
    unsigned n = words[i->op] ? words[i->op] : 1;
    return 4 * (n + (i->op == LIN_SWITCH ? (unsigned)i->imm : 0));
}

/* --- the table -------------------------------------------------------------------------------- */
void (*const arm64_emit[LIN_TARGET_END])(emit *, lin_insn *) = {
    [LIN_NOP] = e_nothing, [LIN_PARAMS] = e_nothing, [LIN_INCOMING] = e_incoming_word,
    [LIN_MOVE] = e_move, [LIN_OPAQUE] = e_nothing, [LIN_SWAP] = e_swap,
    [LIN_PUSHAREA] = e_pusharea, [LIN_STOREARG] = e_storearg,
    [LIN_CONST] = e_const, [LIN_FCONST] = e_fconst, [LIN_SYMBOL] = e_symbol,
    [LIN_ADD] = e_add, [LIN_SUB] = e_add, [LIN_MUL] = binary, [LIN_MULH] = binary,
    [LIN_DIV] = binary, [LIN_MOD] = e_mod, [LIN_AND] = binary, [LIN_OR] = binary,
    [LIN_XOR] = binary, [LIN_SHL] = binary, [LIN_SHR] = binary, [LIN_SAR] = binary,
    [LIN_NEG] = unary, [LIN_SET] = e_set, [LIN_SETF] = e_setf,
    [LIN_FNEG] = unary, [LIN_FABS] = unary, [LIN_FSQRT] = unary, [LIN_FADD] = binary,
    [LIN_FSUB] = binary, [LIN_FMUL] = binary, [LIN_FDIV] = binary,
    [LIN_FMADD] = e_fused, [LIN_FMSUB] = e_fused, [LIN_FNMSUB] = e_fused, [LIN_FNMUL] = binary,
    [LIN_FOFI] = unary, [LIN_IOFF] = unary, [LIN_BSWAP] = e_bswap,
    [LIN_LOAD] = e_load, [LIN_LOAD_ATOMIC] = e_load, [LIN_STORE] = e_store,
    [LIN_LOADDOM] = e_loaddom, [LIN_STOREDOM] = e_storedom, [LIN_ALLOC] = e_alloc,
    [LIN_YOUNG] = e_young, [LIN_POLL] = e_poll, [LIN_CALL] = e_call, [LIN_EXTCALL] = e_extcall,
    [LIN_CCALL] = e_ccall, [LIN_CHECKBOUND] = e_checkbound, [LIN_PUSHTRAP] = e_pushtrap,
    [LIN_POPTRAP] = e_poptrap, [LIN_HANDLER] = e_nothing, [LIN_RAISE] = e_raise,
    [LIN_TAILCALL] = e_tailcall, [LIN_RETURN] = e_return, [LIN_JUMP] = e_jump_insn,
    [LIN_BRANCH] = e_conditional, [LIN_BRANCHT] = e_conditional, [LIN_BRANCHF] = e_conditional,
    [LIN_SWITCH] = e_switch,
    [ARM_ADDSHIFT] = e_addshift, [ARM_SUBSHIFT] = e_addshift, [ARM_MADD] = ternary,
    [ARM_MSUB] = ternary,
};
