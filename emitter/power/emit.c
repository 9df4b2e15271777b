/* power/emit.c - ppc64le, ELFv2, POWER8.
 *
 *   r30 domain state   r31 young_ptr   r29 trap pointer   r2 TOC   r1 SP
 *   r0 r11 r12 f0 scratch, never live from one instruction to the next
 *
 *   S+F+16   return address     the caller's area: its own frame holds F+32 ...
 *   S+F+8    r2
 *   S+F      ------------------
 *            slots, pushed things
 *   S+32     ------------------
 *   S        reserved for what is called from here
 *
 * A base of r0 means zero. bcl writes LR, so whatever may call the GC has a frame.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/power/power.h"

/* --- words in memory ------------------------------------------------------------ */
/* disp(base); far ones go through r11. */
static const char *address(emit *e, int64_t disp, const char *base)
{
    if (disp == (int16_t)disp)
        return e_text("%ld(%s)", (long)disp, base);
    e_(e, "addis\t%%r11, %s, %ld", base, (long)power_high(disp));
    return e_text("%ld(%%r11)", (long)power_low(disp));
}

static void word_at(emit *e, bool store, const char *reg, bool flt, int64_t disp, const char *base)
{
    static const char *const names[2][2] = {{"ld", "std"}, {"lfd", "stfd"}};
    const char *a = address(e, disp, base);
    e_(e, "%s\t%s, %s", names[flt][store], reg, a);
}

static void place_at(emit *e, bool store, lin_place p, int64_t disp, const char *base)
{
    word_at(e, store, e_reg(e, p), lin_is_float_reg(p), disp, base);
}

void power_move(emit *e, lin_place to, lin_place from)
{
    if (lin_is_slot(to) && lin_is_slot(from)) {
        word_at(e, false, "%r0", false, e_slot(e, from), "%r1");
        word_at(e, true, "%r0", false, e_slot(e, to), "%r1");
    } else if (lin_is_slot(to))
        place_at(e, true, from, e_slot(e, to), "%r1");
    else if (lin_is_slot(from))
        place_at(e, false, to, e_slot(e, from), "%r1");
    else
        e_(e, "%s\t%s, %s", lin_is_float_reg(to) ? "fmr" : "mr", e_reg(e, to), e_reg(e, from));
}

void power_swap(emit *e, lin_place a, lin_place b)
{
    bool flt = lin_is_float_reg(a);
    const char *move = flt ? "fmr" : "mr", *t = flt ? "%f0" : "%r0";
    e_(e, "%s\t%s, %s", move, t, e_reg(e, a));
    e_(e, "%s\t%s, %s", move, e_reg(e, a), e_reg(e, b));
    e_(e, "%s\t%s, %s", move, e_reg(e, b), t);
}

/* --- constants --------------------------------------------------------------------- */
static void load_int32(emit *e, const char *to, int64_t n)
{
    if (n == (int16_t)n) {
        e_(e, "li\t%s, %ld", to, (long)n);
        return;
    }
    e_(e, "lis\t%s, %ld", to, (long)(n >> 16));
    if (n & 0xffff)
        e_(e, "ori\t%s, %s, %ld", to, to, (long)(n & 0xffff));
}

static void e_const(emit *e, lin_insn *i)
{
    const char *d = e_to(e, i);
    if (i->imm == (int32_t)i->imm) {
        load_int32(e, d, i->imm);
        return;
    }
    uint32_t label = e_float_label(e, (uint64_t)i->imm);
    e_(e, "addis\t%s, %%r2, .L%u@toc@ha", d, label);
    e_(e, "ld\t%s, .L%u@toc@l(%s)", d, label, d);
}

static void e_fconst(emit *e, lin_insn *i)
{
    uint32_t label = e_float_label(e, (uint64_t)i->imm);
    e_(e, "addis\t%%r11, %%r2, .L%u@toc@ha", label);
    e_(e, "lfd\t%s, .L%u@toc@l(%%r11)", e_to(e, i), label);
}

static void load_symbol(emit *e, const char *name, const char *to)
{
    e_(e, "addis\t%s, %%r2, %s@got@ha", to, name);
    e_(e, "ld\t%s, %s@got@l(%s)", to, name, to);
}

static void add_const(emit *e, const char *to, const char *from, int64_t n)
{
    if (power_high(n)) {
        e_(e, "addis\t%s, %s, %ld", to, from, (long)power_high(n));
        from = to;
        if (!power_low(n))
            return;
    }
    e_(e, "addi\t%s, %s, %ld", to, from, (long)power_low(n));
}

static void e_symbol(emit *e, lin_insn *i)
{
    const char *d = e_to(e, i), *name = e_sym(e, i->sym);
    if (target_local_symbol(i->sym)) {
        e_(e, "addis\t%s, %%r2, %s@toc@ha", d, name);
        e_(e, "addi\t%s, %s, %s@toc@l", d, d, name);
    } else
        load_symbol(e, name, d);
    if (i->disp)
        add_const(e, d, d, i->disp);
}

/* --- integers -------------------------------------------------------------------------- */
static void e_three(emit *e, lin_insn *i)
{
    static const char *const names[LIN_TARGET] = {
        [LIN_ADD] = "add", [LIN_MUL] = "mulld", [LIN_MULH] = "mulhd", [LIN_DIV] = "divd",
        [LIN_FADD] = "fadd", [LIN_FSUB] = "fsub", [LIN_FMUL] = "fmul", [LIN_FDIV] = "fdiv",
        [LIN_AND] = "and", [LIN_OR] = "or", [LIN_XOR] = "xor",
        [LIN_SHL] = "sld", [LIN_SHR] = "srd", [LIN_SAR] = "srad",
    };
    e_(e, "%s\t%s, %s, %s", names[i->op], e_to(e, i), e_from(e, i, 0), e_from(e, i, 1));
}

static void e_fused(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s, %s, %s", i->op == LIN_FMADD ? "fmadd" : "fmsub", e_to(e, i),
       e_from(e, i, 1), e_from(e, i, 2), e_from(e, i, 0));
}

static void e_add(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_IMM)
        add_const(e, e_to(e, i), e_from(e, i, 0), i->op == LIN_SUB ? -i->imm : i->imm);
    else if (i->op == LIN_SUB)
        e_(e, "subf\t%s, %s, %s", e_to(e, i), e_from(e, i, 1), e_from(e, i, 0));
    else
        e_three(e, i);
}

static void e_mul(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_IMM)
        e_(e, "mulli\t%s, %s, %ld", e_to(e, i), e_from(e, i, 0), (long)i->imm);
    else
        e_three(e, i);
}

static void e_mod(emit *e, lin_insn *i)
{
    const char *a = e_from(e, i, 0), *b = e_from(e, i, 1);
    e_(e, "divd\t%%r0, %s, %s", a, b);
    e_(e, "mulld\t%%r0, %%r0, %s", b);
    e_(e, "subf\t%s, %%r0, %s", e_to(e, i), a);
}

static void e_and(emit *e, lin_insn *i)
{
    unsigned bits;
    if (!(i->flags & LIN_F_IMM))
        e_three(e, i);
    else if (power_is_low_mask(i->imm, &bits))
        e_(e, "rldicl\t%s, %s, 0, %u", e_to(e, i), e_from(e, i, 0), 64 - bits);
    else if (power_is_high_mask(i->imm, &bits))
        e_(e, "rldicr\t%s, %s, 0, %u", e_to(e, i), e_from(e, i, 0), bits - 1);
    else
        e_(e, "andi.\t%s, %s, %ld", e_to(e, i), e_from(e, i, 0), (long)i->imm);
}

static void e_or(emit *e, lin_insn *i)
{
    const char *name = i->op == LIN_OR ? "or" : "xor", *d = e_to(e, i), *a = e_from(e, i, 0);
    if (!(i->flags & LIN_F_IMM)) {
        e_three(e, i);
        return;
    }
    if (i->imm >> 16) {
        e_(e, "%sis\t%s, %s, %ld", name, d, a, (long)(i->imm >> 16));
        a = d;
    }
    if (i->imm & 0xffff || i->imm == 0)
        e_(e, "%si\t%s, %s, %ld", name, d, a, (long)(i->imm & 0xffff));
}

static void e_shift(emit *e, lin_insn *i)
{
    static const char *const names[LIN_TARGET] = {
        [LIN_SHL] = "sldi", [LIN_SHR] = "srdi", [LIN_SAR] = "sradi"};
    if (i->flags & LIN_F_IMM)
        e_(e, "%s\t%s, %s, %ld", names[i->op], e_to(e, i), e_from(e, i, 0), (long)i->imm);
    else
        e_three(e, i);
}

static void e_unary(emit *e, lin_insn *i)
{
    static const char *const names[LIN_TARGET] = {
        [LIN_NEG] = "neg", [LIN_FNEG] = "fneg", [LIN_FABS] = "fabs", [LIN_FSQRT] = "fsqrt"};
    e_(e, "%s\t%s, %s", names[i->op], e_to(e, i), e_from(e, i, 0));
}

static void e_fofi(emit *e, lin_insn *i)
{
    e_(e, "mtfprd\t%s, %s", e_to(e, i), e_from(e, i, 0));
    e_(e, "fcfid\t%s, %s", e_to(e, i), e_to(e, i));
}

static void e_ioff(emit *e, lin_insn *i)
{
    e_(e, "fctidz\t%%f0, %s", e_from(e, i, 0));
    e_(e, "mffprd\t%s, %%f0", e_to(e, i));
}

/* --- comparisons: in condition register field 0, bits lt gt eq un ------------------------ */
static bool is_unsigned(lin_cc cc)
{
    return cc >= LIN_LTU && cc <= LIN_GEU;
}

/* Bit to test and whether it must be set. LE and GE of floats first or in eq. */
static const struct { uint8_t bit; bool set; } condition[LIN_NUM_CC] = {
    [LIN_EQ] = {2, true}, [LIN_NE] = {2, false}, [LIN_LT] = {0, true}, [LIN_LE] = {1, false},
    [LIN_GT] = {1, true}, [LIN_GE] = {0, false}, [LIN_LTU] = {0, true}, [LIN_LEU] = {1, false},
    [LIN_GTU] = {1, true}, [LIN_GEU] = {0, false},
    [LIN_NLT] = {0, false}, [LIN_NLE] = {2, false}, [LIN_NGT] = {1, false}, [LIN_NGE] = {2, false},
};

static void compare(emit *e, lin_insn *i, lin_cc cc)
{
    bool uns = is_unsigned(cc);
    if (i->flags & LIN_F_IMM)
        e_(e, "%s\t%s, %ld", uns ? "cmpldi" : "cmpdi", e_from(e, i, 0), (long)i->imm);
    else
        e_(e, "%s\t%s, %s", uns ? "cmpld" : "cmpd", e_from(e, i, 0), e_from(e, i, 1));
}

/* Compares floats; returns the bit to test, *set: it must be 1. */
static unsigned compare_float(emit *e, lin_insn *i, lin_cc cc, bool *set)
{
    e_(e, "fcmpu\t0, %s, %s", e_from(e, i, 0), e_from(e, i, 1));
    *set = condition[cc].set;
    switch (cc) {
    case LIN_LE: case LIN_NLE:
        e_(e, "cror\t2, 0, 2");
        *set = cc == LIN_LE;
        return 2;
    case LIN_GE: case LIN_NGE:
        e_(e, "cror\t2, 1, 2");
        *set = cc == LIN_GE;
        return 2;
    default:
        return condition[cc].bit;
    }
}

/* isel reads register field 0 of its second operand as the number 0. */
static void set_by_bit(emit *e, const char *d, unsigned bit, bool set)
{
    e_(e, "li\t%%r11, 1");
    if (set) {
        e_(e, "li\t%%r12, 0");
        e_(e, "isel\t%s, %%r11, %%r12, %u", d, bit);
    } else
        e_(e, "isel\t%s, 0, %%r11, %u", d, bit);
}

static void e_set(emit *e, lin_insn *i)
{
    lin_cc cc = (lin_cc)i->cc;
    if (cc == LIN_LT && i->flags & LIN_F_IMM && i->imm == 0) {
        e_(e, "srdi\t%s, %s, 63", e_to(e, i), e_from(e, i, 0));
        return;
    }
    compare(e, i, cc);
    set_by_bit(e, e_to(e, i), condition[cc].bit, condition[cc].set);
}

static void e_setf(emit *e, lin_insn *i)
{
    bool set;
    unsigned bit = compare_float(e, i, (lin_cc)i->cc, &set);
    set_by_bit(e, e_to(e, i), bit, set);
}

/* Branches when `bit` of field 0 is (not) set; far: 26 bits over an inverted skip. */
static void branch_on(emit *e, bool far, unsigned bit, bool set, uint32_t label)
{
    if (!far) {
        e_(e, "bc\t%u, %u, .L%u", set ? 12u : 4u, bit, label);
        return;
    }
    uint32_t skip = e_new_label(e);
    e_(e, "bc\t%u, %u, .L%u", set ? 4u : 12u, bit, skip);
    e_(e, "b\t.L%u", label);
    e_label(e, skip);
}

void power_branch(emit *e, lin_insn *i, lin_cc cc, lin_block *to)
{
    unsigned bit = condition[cc].bit;
    bool set = condition[cc].set;
    if (i->op == LIN_BRANCHF)
        bit = compare_float(e, i, cc, &set);
    else if (i->op == LIN_BRANCHT)
        e_(e, "andi.\t%%r0, %s, %ld", e_from(e, i, 0), (long)i->imm);
    else
        compare(e, i, cc);
    branch_on(e, i->far, bit, set, e_block_label(e, to));
}

void power_jump(emit *e, lin_block *to)
{
    e_(e, "b\t.L%u", e_block_label(e, to));
}

static void e_switch(emit *e, lin_insn *i)
{
    uint32_t table = e_new_label(e);
    e_(e, "addis\t%%r11, %%r2, .L%u@toc@ha", table);
    e_(e, "addi\t%%r11, %%r11, .L%u@toc@l", table);
    e_(e, "sldi\t%%r0, %s, 2", e_from(e, i, 0));
    e_(e, "lwax\t%%r0, %%r11, %%r0");
    e_(e, "add\t%%r0, %%r11, %%r0");
    e_(e, "mtctr\t%%r0");
    e_(e, "bctr");
    e_raw(e, "\t.section\t.rodata\n\t.balign\t4\n");
    e_label(e, table);
    for (int64_t k = 0; k < i->imm; k++)
        e_(e, ".long\t.L%u - .L%u", e_block_label(e, e->block->succ[i->u.table[k]]), table);
    e_raw(e, e->options->function_sections ? "\t.previous\n" : "\t.text\n");
}

/* --- memory ------------------------------------------------------------------------------- */
static void access(emit *e, lin_insn *i, const char *name, const char *reg)
{
    const char *base = e_from(e, i, (unsigned)i->base);
    if (i->index >= 0)
        e_(e, "%sx\t%s, %s, %s", name, reg, base, e_from(e, i, (unsigned)i->index));
    else
        e_(e, "%s\t%s, %ld(%s)", name, reg, (long)i->disp, base);
}

static void e_load(emit *e, lin_insn *i)
{
    static const char *const names[CMM_NUM_CHUNKS] = {
        [CMM_BYTE_U] = "lbz", [CMM_BYTE_S] = "lbz", [CMM_HALF_U] = "lhz", [CMM_HALF_S] = "lha",
        [CMM_INT32_U] = "lwz", [CMM_INT32_S] = "lwa", [CMM_WORD_INT] = "ld", [CMM_WORD_VAL] = "ld",
        [CMM_INT64] = "ld", [CMM_DOUBLE] = "lfd", [CMM_SINGLE] = "lfs",
    };
    access(e, i, names[i->chunk], e_to(e, i));
    if (i->chunk == CMM_BYTE_S)
        e_(e, "extsb\t%s, %s", e_to(e, i), e_to(e, i));
}

/* Nothing before the load is seen after it, nothing after it is seen before. */
static void e_load_atomic(emit *e, lin_insn *i)
{
    e_(e, "sync");
    e_load(e, i);
    e_(e, "cmpw\t%s, %s", e_to(e, i), e_to(e, i));
    e_(e, "bne-\t$+4");
    e_(e, "isync");
}

static void e_store(emit *e, lin_insn *i)
{
    static const char *const names[CMM_NUM_CHUNKS] = {
        [CMM_BYTE_U] = "stb", [CMM_BYTE_S] = "stb", [CMM_HALF_U] = "sth", [CMM_HALF_S] = "sth",
        [CMM_INT32_U] = "stw", [CMM_INT32_S] = "stw", [CMM_WORD_INT] = "std",
        [CMM_WORD_VAL] = "std",
        [CMM_INT64] = "std", [CMM_DOUBLE] = "stfd", [CMM_SINGLE] = "stfs",
    };
    const char *v = "%r0";
    if (i->flags & LIN_F_BARRIER)
        e_(e, "lwsync");
    if (i->flags & LIN_F_IMM)
        load_int32(e, v, i->imm);
    else if (i->chunk == CMM_SINGLE) {
        v = "%f0";
        e_(e, "frsp\t%%f0, %s", e_from(e, i, 0));
    } else
        v = e_from(e, i, 0);
    access(e, i, names[i->chunk], v);
}

static void e_lea(emit *e, lin_insn *i)
{
    if (i->index >= 0)
        e_(e, "add\t%s, %s, %s", e_to(e, i), e_from(e, i, (unsigned)i->base),
           e_from(e, i, (unsigned)i->index));
    else
        add_const(e, e_to(e, i), e_from(e, i, (unsigned)i->base), i->disp);
}

static void e_loaddom(emit *e, lin_insn *i)
{
    place_at(e, false, e_res(i), i->imm, "%r30");
}

static void e_storedom(emit *e, lin_insn *i)
{
    place_at(e, true, e_arg(i, 0), i->imm, "%r30");
}

static void e_incoming_word(emit *e, lin_insn *i)
{
    place_at(e, false, e_res(i), e_incoming(e, i->imm), "%r1");
}

/* --- allocation: caml_call_gc returns right after the bcl that left for it ------------------ */
/* The function's way to the GC, one for each depth of pushed things. */
static uint32_t glue(emit *e)
{
    for (ool *o = e->ools; o; o = o->next)
        if (o->kind == OOL_PORT && o->stack_offset == e->stack_offset)
            return o->entry;
    return e_out_of_line(e, OOL_PORT, NULL)->entry;
}

static void limit_check(emit *e, lin_insn *i, bool allocates)
{
    uint32_t gc = glue(e);
    e_(e, "ld\t%%r0, %d(%%r30)", e->m->off_young_limit);
    if (allocates)
        e_(e, "addi\t%%r31, %%r31, %ld", (long)-i->imm);
    e_(e, "cmpld\t%%r31, %%r0");
    if (!i->far) {
        e_(e, "bltl-\t.L%u", gc);
        e_describe(e, i);
        return;
    }
    uint32_t back = e_new_label(e);
    e_(e, "bge+\t.L%u", back);
    e_(e, "bl\t.L%u", gc);
    e_label(e, back);
    e_descriptor(e, i, back);
}

static void e_young(emit *e, lin_insn *i)
{
    e_(e, "addi\t%s, %%r31, %ld", e_to(e, i), (long)i->disp);
}

static void e_alloc(emit *e, lin_insn *i)
{
    limit_check(e, i, true);
    e_young(e, i);
}

static void e_poll(emit *e, lin_insn *i)
{
    limit_check(e, i, false);
}

/* --- calls ------------------------------------------------------------------------------------ */
static void move_sp(emit *e, int64_t n)
{
    add_const(e, "%r1", "%r1", n);
}

static void drop_area(emit *e, lin_insn *i)
{
    uint32_t bytes = e_area(i);
    if (!bytes)
        return;
    move_sp(e, bytes);
    e_adjust(e, -(int64_t)bytes);
}

/* The callee may have tail-called into a unit with another TOC. */
static void reload_toc(emit *e)
{
    word_at(e, false, "%r2", false, e_frame_size(e) + 8, "%r1");
}

static void branch_and_link(emit *e, lin_insn *i, const char *name)
{
    e_(e, "bl\t%s", name);
    e_describe(e, i);
    e_(e, "nop");
}

static void e_call(emit *e, lin_insn *i)
{
    if (i->sym)
        branch_and_link(e, i, e_sym(e, i->sym));
    else {
        const char *f = e_from(e, i, i->nargs - 1u);
        e_(e, "mtctr\t%s", f);
        e_(e, "mr\t%%r12, %s", f);
        e_(e, "bctrl");
        e_describe(e, i);
    }
    reload_toc(e);
    drop_area(e, i);
}

static void e_extcall(emit *e, lin_insn *i)
{
    uint32_t words = i->u.call->stack_words;
    load_symbol(e, e_sym(e, i->sym), "%r25");
    if (words)
        load_int32(e, "%r24", 8 * (int64_t)words);
    branch_and_link(e, i, words ? "caml_c_call_stack_args" : "caml_c_call");
    drop_area(e, i);
}

/* noalloc: on the C stack, OCaml's SP waits in r28. */
static void e_ccall(emit *e, lin_insn *i)
{
    e_(e, "mr\t%%r28, %%r1");
    e_(e, ".cfi_remember_state");
    e_(e, ".cfi_def_cfa_register\t28");
    e_(e, "ld\t%%r1, %d(%%r30)", e->m->off_c_stack);
    e_(e, "bl\t%s", e_sym(e, i->sym));
    e_(e, "nop");
    e_(e, "mr\t%%r1, %%r28");
    e_(e, ".cfi_restore_state");
}

static void e_pusharea(emit *e, lin_insn *i)
{
    move_sp(e, -i->imm);
    e_adjust(e, i->imm);
}

static void e_storearg(emit *e, lin_insn *i)
{
    place_at(e, true, e_arg(i, 0), e->m->abi->frame_reserved + i->imm, "%r1");
}

static void epilogue(emit *e)
{
    uint32_t bytes = e_frame_size(e);
    e_begin_path(e);
    if (!e->has_frame)
        return;
    word_at(e, false, "%r0", false, bytes + 16, "%r1");
    move_sp(e, bytes);
    e_cfa(e, 0);
    e_(e, "mtlr\t%%r0");
    e_(e, ".cfi_restore\tlr");
}

static void e_tailcall(emit *e, lin_insn *i)
{
    if (i->sym)
        load_symbol(e, e_sym(e, i->sym), "%r12");
    else
        e_(e, "mr\t%%r12, %s", e_from(e, i, i->nargs - 1u));
    e_(e, "mtctr\t%%r12");
    epilogue(e);
    e_(e, "bctr");
    e_end_path(e);
}

static void e_return(emit *e, lin_insn *i)
{
    (void)i;
    epilogue(e);
    e_(e, "blr");
    e_end_path(e);
}

/* Fails unless index <u size: branches when size <=u index. */
static void e_checkbound(emit *e, lin_insn *i)
{
    uint32_t error = e_bound_error(e, i);
    compare(e, i, LIN_LEU);
    branch_on(e, i->far, condition[LIN_LEU].bit, condition[LIN_LEU].set, error);
}

/* --- exceptions ------------------------------------------------------------------------------- */
static void e_pushtrap(emit *e, lin_insn *i)
{
    uint32_t handler = e_block_label(e, i->u.target);
    move_sp(e, -16);
    e_adjust(e, 16);
    e_(e, "addis\t%%r11, %%r2, .L%u@toc@ha", handler);
    e_(e, "addi\t%%r11, %%r11, .L%u@toc@l", handler);
    e_(e, "std\t%%r29, 32(%%r1)");
    e_(e, "std\t%%r11, 40(%%r1)");
    e_(e, "addi\t%%r29, %%r1, 32");
}

static void e_poptrap(emit *e, lin_insn *i)
{
    (void)i;
    e_(e, "ld\t%%r29, 32(%%r1)");
    move_sp(e, 16);
    e_adjust(e, -16);
}

static void e_handler(emit *e, lin_insn *i)
{
    (void)i;
    reload_toc(e);
}

/* The trap frame is 16 bytes at r29; S of the handler lies 32 below its end. */
static void e_raise(emit *e, lin_insn *i)
{
    if (i->cc == LIN_RAISE_NOTRACE) {
        e_(e, "ld\t%%r0, 8(%%r29)");
        e_(e, "addi\t%%r1, %%r29, -16");
        e_(e, "ld\t%%r29, 0(%%r29)");
        e_(e, "mtctr\t%%r0");
        e_(e, "bctr");
        return;
    }
    branch_and_link(e, i, i->cc == LIN_RAISE_REGULAR ? "caml_raise_exn" : "caml_reraise_exn");
}

/* --- functions -------------------------------------------------------------------------------- */
void power_file_head(emit *e)
{
    e_(e, ".abiversion\t2");
}

/* The global entry computes r2 from r12, the local one has it. */
void power_function_head(emit *e, const char *name)
{
    e_(e, ".globl\t%s", name);
    e_(e, ".type\t%s, @function", name);
    e_raw(e, "%s:\n", name);
    e_(e, ".cfi_startproc");
    e_raw(e, "0:\n");
    e_(e, "addis\t%%r2, %%r12, (.TOC. - 0b)@ha");
    e_(e, "addi\t%%r2, %%r2, (.TOC. - 0b)@l");
    e_(e, ".localentry\t%s, . - %s", name, name);
}

/* The stack grows in line: the branch over it costs nothing more than one to it. */
static void stack_check(emit *e)
{
    uint32_t size = e_stack_check_size(e), enough = e_new_label(e);
    if (!size)
        return;
    e_(e, "ld\t%%r11, %d(%%r30)", e->m->off_current_stack);
    add_const(e, "%r11", "%r11", size);
    e_(e, "cmpld\t%%r1, %%r11");
    e_(e, "bgt+\t.L%u", enough);
    e_(e, "mflr\t%%r28");
    e_(e, ".cfi_register\tlr, 28");
    load_int32(e, "%r27", e_stack_words(e));
    e_(e, "bl\tcaml_call_realloc_stack");
    e_(e, "nop");
    e_(e, "mtlr\t%%r28");
    e_(e, ".cfi_restore\tlr");
    e_label(e, enough);
}

void power_prologue(emit *e)
{
    stack_check(e);
    if (!e->has_frame)
        return;
    move_sp(e, -(int64_t)e->frame);
    e_cfa(e, e->frame);
    e_(e, "mflr\t%%r0");
    word_at(e, true, "%r0", false, e->frame + 16, "%r1");
    e_(e, ".cfi_offset\tlr, 16");
    word_at(e, true, "%r2", false, e->frame + 8, "%r1");
}

void power_out_of_line(emit *e, ool *o)
{
    if (o->kind == OOL_PORT) {
        e_(e, "std\t%%r2, 24(%%r1)");
        load_symbol(e, "caml_call_gc", "%r12");
        e_(e, "mtctr\t%%r12");
        e_(e, "bctr");
        return;
    }
    e_(e, "bl\tcaml_ml_array_bound_error");
    if (e->options->debug || e->bound != o)
        e_describe(e, o->insn);
    e_(e, "nop");
}

/* Upper bounds, bytes: four for each instruction. */
unsigned power_size(emit *e, lin_insn *i)
{
    (void)e;
    switch (i->op) {
    case LIN_NOP: case LIN_PARAMS: return 0;
    case LIN_ADD: case LIN_SUB: case LIN_MUL: case LIN_AND: case LIN_OR: case LIN_XOR: case LIN_SHL:
    case LIN_SHR: case LIN_SAR: case LIN_NEG: case LIN_CONST: case LIN_YOUNG: case LIN_JUMP:
        return 8;
    case LIN_CALL: case LIN_TAILCALL: return 40;
    case LIN_EXTCALL: case LIN_PUSHTRAP: case LIN_SWITCH: return 36;
    default: return 28;
    }
}

/* --- the table -------------------------------------------------------------------------------- */
void (*const power_emit[LIN_TARGET_END])(emit *, lin_insn *) = {
    [LIN_NOP] = e_nothing, [LIN_PARAMS] = e_nothing, [LIN_INCOMING] = e_incoming_word,
    [LIN_MOVE] = e_move, [LIN_OPAQUE] = e_nothing, [LIN_SWAP] = e_swap,
    [LIN_PUSHAREA] = e_pusharea, [LIN_STOREARG] = e_storearg,
    [LIN_CONST] = e_const, [LIN_FCONST] = e_fconst, [LIN_SYMBOL] = e_symbol,
    [LIN_ADD] = e_add, [LIN_SUB] = e_add, [LIN_MUL] = e_mul, [LIN_MULH] = e_three,
    [LIN_DIV] = e_three, [LIN_MOD] = e_mod, [LIN_AND] = e_and, [LIN_OR] = e_or, [LIN_XOR] = e_or,
    [LIN_SHL] = e_shift, [LIN_SHR] = e_shift, [LIN_SAR] = e_shift, [LIN_NEG] = e_unary,
    [LIN_SET] = e_set, [LIN_SETF] = e_setf, [LIN_LEA] = e_lea,
    [LIN_FNEG] = e_unary, [LIN_FABS] = e_unary, [LIN_FSQRT] = e_unary, [LIN_FADD] = e_three,
    [LIN_FSUB] = e_three, [LIN_FMUL] = e_three, [LIN_FDIV] = e_three,
    [LIN_FMADD] = e_fused, [LIN_FMSUB] = e_fused,
    [LIN_FOFI] = e_fofi, [LIN_IOFF] = e_ioff,
    [LIN_LOAD] = e_load, [LIN_LOAD_ATOMIC] = e_load_atomic, [LIN_STORE] = e_store,
    [LIN_LOADDOM] = e_loaddom, [LIN_STOREDOM] = e_storedom, [LIN_ALLOC] = e_alloc,
    [LIN_YOUNG] = e_young, [LIN_POLL] = e_poll, [LIN_CALL] = e_call, [LIN_EXTCALL] = e_extcall,
    [LIN_CCALL] = e_ccall, [LIN_CHECKBOUND] = e_checkbound, [LIN_PUSHTRAP] = e_pushtrap,
    [LIN_POPTRAP] = e_poptrap, [LIN_HANDLER] = e_handler, [LIN_RAISE] = e_raise,
    [LIN_TAILCALL] = e_tailcall, [LIN_RETURN] = e_return, [LIN_JUMP] = e_jump_insn,
    [LIN_BRANCH] = e_conditional, [LIN_BRANCHT] = e_conditional, [LIN_BRANCHF] = e_conditional,
    [LIN_SWITCH] = e_switch,
};
