/* riscv64/emit.c - GNU syntax, assembled by plain `as`.
 *
 * s11 domain state, s10 young_ptr, s1 trap pointer, ra return address. GNU as turns a
 * conditional branch that does not reach 4 KiB into its inverse over a j; what does
 * not reach 1 MiB either is ours (insn->far): jump through t1.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/riscv64/riscv64.h"

static bool is_int12(int64_t n)
{
    return n >= -2048 && n < 2048;
}

static void add_const(emit *e, const char *to, const char *from, int64_t n)
{
    if (is_int12(n)) {
        e_(e, "addi\t%s, %s, %ld", to, from, (long)n);
        return;
    }
    e_(e, "li\tt0, %ld", (long)n);
    e_(e, "add\t%s, %s, t0", to, from);
}

/* --- constants ----------------------------------------------------------------------- */
static void e_const(emit *e, lin_insn *i)
{
    e_(e, "li\t%s, %ld", e_to(e, i), (long)i->imm);
}

static void e_fconst(emit *e, lin_insn *i)
{
    if (i->imm == 0)
        e_(e, "fmv.d.x\t%s, zero", e_to(e, i));
    else
        e_(e, "fld\t%s, .L%u, t0", e_to(e, i), e_float_label(e, (uint64_t)i->imm));
}

static void load_symbol(emit *e, const cmm_sym *s, const char *to)
{
    e_(e, "%s\t%s, %s", target_local_symbol(s) ? "lla" : "la", to, e_sym(e, s));
}

static void e_symbol(emit *e, lin_insn *i)
{
    load_symbol(e, i->sym, e_to(e, i));
    if (i->disp)
        add_const(e, e_to(e, i), e_to(e, i), i->disp);
}

/* --- moves ------------------------------------------------------------------------------ */
static void stack_access(emit *e, const char *op, const char *reg, int64_t offset)
{
    if (is_int12(offset))
        e_(e, "%s\t%s, %ld(sp)", op, reg, (long)offset);
    else {
        e_(e, "li\tt1, %ld", (long)offset);
        e_(e, "add\tt1, sp, t1");
        e_(e, "%s\t%s, 0(t1)", op, reg);
    }
}

static void load_slot(emit *e, lin_place to, int64_t offset)
{
    stack_access(e, lin_is_float_reg(to) ? "fld" : "ld", e_reg(e, to), offset);
}

static void store_slot(emit *e, lin_place from, int64_t offset)
{
    stack_access(e, lin_is_float_reg(from) ? "fsd" : "sd", e_reg(e, from), offset);
}

void riscv64_move(emit *e, lin_place to, lin_place from)
{
    bool ft = lin_is_float_reg(to), ff = lin_is_float_reg(from);
    if (lin_is_slot(to) && lin_is_slot(from)) {
        stack_access(e, "ld", "t0", e_slot(e, from));
        stack_access(e, "sd", "t0", e_slot(e, to));
    } else if (lin_is_slot(from))
        load_slot(e, to, e_slot(e, from));
    else if (lin_is_slot(to))
        store_slot(e, from, e_slot(e, to));
    else
        e_(e, "%s\t%s, %s",
           ft && ff ? "fmv.d"
           : ft     ? "fmv.d.x"
           : ff     ? "fmv.x.d"
                    : "mv",
           e_reg(e, to), e_reg(e, from));
}

void riscv64_swap(emit *e, lin_place a, lin_place b)
{
    bool flt = lin_is_float_reg(a);
    const char *op = flt ? "fmv.d" : "mv", *t = flt ? "ft0" : "t0";
    e_(e, "%s\t%s, %s", op, t, e_reg(e, a));
    e_(e, "%s\t%s, %s", op, e_reg(e, a), e_reg(e, b));
    e_(e, "%s\t%s, %s", op, e_reg(e, b), t);
}

/* --- arithmetic --------------------------------------------------------------------------- */
static const char *const names[LIN_TARGET_END] = {
    [LIN_SUB] = "sub", [LIN_MUL] = "mul", [LIN_MULH] = "mulh", [LIN_DIV] = "div", [LIN_MOD] = "rem",
    [LIN_AND] = "and", [LIN_OR] = "or", [LIN_XOR] = "xor", [LIN_SHL] = "sll", [LIN_SHR] = "srl",
    [LIN_SAR] = "sra", [LIN_NEG] = "neg", [LIN_FNEG] = "fneg.d", [LIN_FABS] = "fabs.d",
    [LIN_FSQRT] = "fsqrt.d", [LIN_FADD] = "fadd.d", [LIN_FSUB] = "fsub.d", [LIN_FMUL] = "fmul.d",
    [LIN_FDIV] = "fdiv.d", [LIN_FMADD] = "fmadd.d", [LIN_FMSUB] = "fmsub.d",
    [LIN_FNMSUB] = "fnmsub.d", [LIN_FNMADD] = "fnmadd.d",
};

static void binary(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_IMM)
        e_(e, "%si\t%s, %s, %ld", names[i->op], e_to(e, i), e_from(e, i, 0), (long)i->imm);
    else
        e_(e, "%s\t%s, %s, %s", names[i->op], e_to(e, i), e_from(e, i, 0), e_from(e, i, 1));
}

static void e_fused(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s, %s, %s", names[i->op], e_to(e, i), e_from(e, i, 1),
       e_from(e, i, 2), e_from(e, i, 0));
}

static void unary(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s", names[i->op], e_to(e, i), e_from(e, i, 0));
}

static void e_add(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_IMM)
        add_const(e, e_to(e, i), e_from(e, i, 0), i->op == LIN_SUB ? -i->imm : i->imm);
    else
        e_(e, "%s\t%s, %s, %s", i->op == LIN_SUB ? "sub" : "add", e_to(e, i), e_from(e, i, 0),
           e_from(e, i, 1));
}

static void e_fofi(emit *e, lin_insn *i)
{
    e_(e, "fcvt.d.l\t%s, %s", e_to(e, i), e_from(e, i, 0));
}

static void e_ioff(emit *e, lin_insn *i)
{
    e_(e, "fcvt.l.d\t%s, %s, rtz", e_to(e, i), e_from(e, i, 0));
}

/* --- comparisons ------------------------------------------------------------------------------ */
static void set_imm(emit *e, const char *d, const char *a, lin_cc cc, int64_t n)
{
    bool is_unsigned = cc >= LIN_LTU;
    const char *op = is_unsigned ? "sltiu" : "slti";
    switch (cc) {
    case LIN_EQ: case LIN_NE:
        if (n)
            e_(e, "addi\t%s, %s, %ld", d, a, -(long)n);
        e_(e, "%s\t%s, %s", cc == LIN_EQ ? "seqz" : "snez", d, n ? d : a);
        return;
    case LIN_LE: case LIN_LEU: case LIN_GT: case LIN_GTU: n++; break;
    default: break;
    }
    e_(e, "%s\t%s, %s, %ld", op, d, a, (long)n);
    if (cc == LIN_GE || cc == LIN_GEU || cc == LIN_GT || cc == LIN_GTU)
        e_(e, "xori\t%s, %s, 1", d, d);
}

static void e_set(emit *e, lin_insn *i)
{
    const char *d = e_to(e, i), *a = e_from(e, i, 0);
    lin_cc cc = (lin_cc)i->cc;
    if (i->flags & LIN_F_IMM) {
        set_imm(e, d, a, cc, i->imm);
        return;
    }
    const char *b = e_from(e, i, 1);
    if (cc == LIN_EQ || cc == LIN_NE) {
        e_(e, "xor\t%s, %s, %s", d, a, b);
        e_(e, "%s\t%s, %s", cc == LIN_EQ ? "seqz" : "snez", d, d);
        return;
    }
    bool swap = cc == LIN_LE || cc == LIN_GT || cc == LIN_LEU || cc == LIN_GTU;
    bool negate = cc == LIN_LE || cc == LIN_GE || cc == LIN_LEU || cc == LIN_GEU;
    e_(e, "%s\t%s, %s, %s", cc >= LIN_LTU ? "sltu" : "slt", d, swap ? b : a, swap ? a : b);
    if (negate)
        e_(e, "xori\t%s, %s, 1", d, d);
}

/* The comparison into d; true: d holds the negation. feq, flt, fle are false on NaN. */
static bool compare_float(emit *e, lin_insn *i, lin_cc cc, const char *d)
{
    static const struct { const char *op; bool swap, negate; } how[LIN_NUM_CC] = {
        [LIN_EQ] = {"feq.d", false, false}, [LIN_NE] = {"feq.d", false, true},
        [LIN_LT] = {"flt.d", false, false}, [LIN_LE] = {"fle.d", false, false},
        [LIN_GT] = {"flt.d", true, false}, [LIN_GE] = {"fle.d", true, false},
        [LIN_NLT] = {"flt.d", false, true}, [LIN_NLE] = {"fle.d", false, true},
        [LIN_NGT] = {"flt.d", true, true}, [LIN_NGE] = {"fle.d", true, true},
    };
    bool swap = how[cc].swap;
    e_(e, "%s\t%s, %s, %s", how[cc].op, d, e_from(e, i, swap), e_from(e, i, !swap));
    return how[cc].negate;
}

static void e_setf(emit *e, lin_insn *i)
{
    if (compare_float(e, i, (lin_cc)i->cc, e_to(e, i)))
        e_(e, "xori\t%s, %s, 1", e_to(e, i), e_to(e, i));
}

static const char *const branches[LIN_NUM_CC] = {
    [LIN_EQ] = "beq", [LIN_NE] = "bne", [LIN_LT] = "blt", [LIN_LE] = "ble", [LIN_GT] = "bgt",
    [LIN_GE] = "bge", [LIN_LTU] = "bltu", [LIN_LEU] = "bleu", [LIN_GTU] = "bgtu",
    [LIN_GEU] = "bgeu",
};

static void branch_if(emit *e, lin_cc cc, const char *a, const char *b, uint32_t label, bool far)
{
    if (!far) {
        e_(e, "%s\t%s, %s, .L%u", branches[cc], a, b, label);
        return;
    }
    uint32_t over = e_new_label(e);
    e_(e, "%s\t%s, %s, .L%u", branches[lin_negate(cc)], a, b, over);
    e_(e, "jump\t.L%u, t1", label);
    e_label(e, over);
}

/* One bit: moved to the sign. */
static void test_bits(emit *e, lin_insn *i, lin_cc cc, uint32_t label)
{
    int64_t m = i->imm;
    if (is_int12(m)) {
        e_(e, "andi\tt0, %s, %ld", e_from(e, i, 0), (long)m);
        branch_if(e, cc, "t0", "zero", label, i->far);
        return;
    }
    e_(e, "slli\tt0, %s, %d", e_from(e, i, 0), __builtin_clzll((uint64_t)m));
    branch_if(e, cc == LIN_NE ? LIN_LT : LIN_GE, "t0", "zero", label, i->far);
}

void riscv64_branch(emit *e, lin_insn *i, lin_cc cc, lin_block *to)
{
    uint32_t label = e_block_label(e, to);
    if (i->op == LIN_BRANCHF) {
        bool negated = compare_float(e, i, cc, "t0");
        branch_if(e, negated ? LIN_EQ : LIN_NE, "t0", "zero", label, i->far);
    } else if (i->op == LIN_BRANCHT)
        test_bits(e, i, cc, label);
    else
        branch_if(e, cc, e_from(e, i, 0), i->flags & LIN_F_IMM ? "zero" : e_from(e, i, 1), label,
                  i->far);
}

static void jump_to(emit *e, uint32_t label, bool far)
{
    if (far)
        e_(e, "jump\t.L%u, t1", label);
    else
        e_(e, "j\t.L%u", label);
}

void riscv64_jump(emit *e, lin_block *to)
{
    jump_to(e, e_block_label(e, to), e->block->last->far);
}

/* Jumps of 4 bytes each whatever the assembler may compress elsewhere; addresses from
 * a data table when a jump would not reach. */
static void e_switch(emit *e, lin_insn *i)
{
    uint32_t table = e_new_label(e);
    e_(e, "lla\tt0, .L%u", table);
    e_(e, "slli\tt1, %s, %d", e_from(e, i, 0), i->far ? 3 : 2);
    e_(e, "add\tt0, t0, t1");
    if (i->far)
        e_(e, "ld\tt0, 0(t0)");
    e_(e, "jr\tt0");
    if (i->far)
        e_raw(e, "\t.data\n\t.balign\t8\n");
    else
        e_raw(e, "\t.option\tpush\n\t.option\tnorvc\n");
    e_label(e, table);
    for (int64_t k = 0; k < i->imm; k++)
        e_(e, i->far ? ".quad\t.L%u" : "j\t.L%u", e_block_label(e, e->block->succ[i->u.table[k]]));
    e_raw(e, !i->far                         ? "\t.option\tpop\n"
             : e->options->function_sections ? "\t.previous\n"
                                             : "\t.text\n");
}

/* --- memory ----------------------------------------------------------------------------------- */
static void e_load(emit *e, lin_insn *i)
{
    static const char *const ops[CMM_NUM_CHUNKS] = {
        [CMM_BYTE_U] = "lbu", [CMM_BYTE_S] = "lb", [CMM_HALF_U] = "lhu", [CMM_HALF_S] = "lh",
        [CMM_INT32_U] = "lwu", [CMM_INT32_S] = "lw", [CMM_WORD_INT] = "ld", [CMM_WORD_VAL] = "ld",
        [CMM_INT64] = "ld", [CMM_DOUBLE] = "fld", [CMM_SINGLE] = "flw",
    };
    bool atomic = i->op == LIN_LOAD_ATOMIC;
    if (atomic)
        e_(e, "fence\trw, rw");
    e_(e, "%s\t%s, %ld(%s)", ops[i->chunk], e_to(e, i), (long)i->disp,
       e_from(e, i, (unsigned)i->base));
    if (atomic)
        e_(e, "fence\tr, rw");
    if (i->chunk == CMM_SINGLE)
        e_(e, "fcvt.d.s\t%s, %s", e_to(e, i), e_to(e, i));
}

static void e_store(emit *e, lin_insn *i)
{
    static const char *const ops[] = {NULL, "sb", "sh", NULL, "sw", NULL, NULL, NULL, "sd"};
    const char *base = e_from(e, i, (unsigned)i->base);
    if (i->flags & LIN_F_BARRIER)
        e_(e, "fence\tr, w");
    if (i->chunk == CMM_SINGLE) {
        e_(e, "fcvt.s.d\tft0, %s", e_from(e, i, 0));
        e_(e, "fsw\tft0, %ld(%s)", (long)i->disp, base);
        return;
    }
    bool flt = !(i->flags & LIN_F_IMM) && lin_is_float_reg(lin_arg(i, 0)->place);
    e_(e, "%s\t%s, %ld(%s)", flt ? "fsd" : ops[cmm_chunks[i->chunk].bytes],
       i->flags & LIN_F_IMM ? "zero" : e_from(e, i, 0), (long)i->disp, base);
}

static void e_loaddom(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %ld(s11)", lin_is_float_reg(lin_res(i, 0)->place) ? "fld" : "ld", e_to(e, i),
       (long)i->imm);
}

static void e_storedom(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %ld(s11)", lin_is_float_reg(e_arg(i, 0)) ? "fsd" : "sd", e_from(e, i, 0),
       (long)i->imm);
}

static void e_incoming_word(emit *e, lin_insn *i)
{
    load_slot(e, lin_res(i, 0)->place, e_incoming(e, i->imm));
}

/* --- allocation ------------------------------------------------------------------------------- */
static void check_limit(emit *e, lin_insn *i)
{
    ool *o = e_out_of_line(e, OOL_GC, i);
    e_(e, "ld\tt1, %d(s11)", e->m->off_young_limit);
    branch_if(e, LIN_LTU, "s10", "t1", o->entry, i->far);
    o->back = e_new_label(e);
    e_label(e, o->back);
}

static void e_alloc(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_SMALL) {
        if (i->imm <= 32)
            e_(e, "call\tcaml_alloc%d", (int)(i->imm / 8 - 1));
        else {
            e_(e, "li\tt2, %ld", (long)i->imm);
            e_(e, "call\tcaml_allocN");
        }
        e_describe(e, i);
    } else {
        add_const(e, "s10", "s10", -i->imm);
        check_limit(e, i);
    }
    add_const(e, e_to(e, i), "s10", i->disp);
}

static void e_young(emit *e, lin_insn *i)
{
    add_const(e, e_to(e, i), "s10", i->disp);
}

static void e_poll(emit *e, lin_insn *i)
{
    check_limit(e, i);
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
        e_(e, "call\t%s", e_sym(e, i->sym));
    else
        e_(e, "jalr\t%s", e_from(e, i, i->nargs - 1u));
    e_describe(e, i);
    drop_area(e, i);
}

static void e_extcall(emit *e, lin_insn *i)
{
    uint32_t words = i->u.call->stack_words;
    load_symbol(e, i->sym, "t2");
    if (words) {
        e_(e, "mv\ts3, sp");
        add_const(e, "s4", "sp", (8 * words + 15) & ~15u);
        e_(e, "call\tcaml_c_call_stack_args");
    } else
        e_(e, "call\tcaml_c_call");
    e_describe(e, i);
    drop_area(e, i);
}

/* noalloc: on the C stack; the OCaml SP waits in s0 (DWARF 8). */
static void e_ccall(emit *e, lin_insn *i)
{
    e_(e, "mv\ts0, sp");
    e_(e, ".cfi_remember_state");
    e_(e, ".cfi_def_cfa_register\t8");
    e_(e, "ld\tsp, %d(s11)", e->m->off_c_stack);
    e_(e, "call\t%s", e_sym(e, i->sym));
    e_(e, "mv\tsp, s0");
    e_(e, ".cfi_restore_state");
}

static void e_pusharea(emit *e, lin_insn *i)
{
    add_const(e, "sp", "sp", -i->imm);
    e_adjust(e, i->imm);
}

static void e_storearg(emit *e, lin_insn *i)
{
    store_slot(e, lin_arg(i, 0)->place, i->imm);
}

static void epilogue(emit *e)
{
    e_begin_path(e);
    if (!e->has_frame)
        return;
    stack_access(e, "ld", "ra", e_frame_size(e) - 8);
    add_const(e, "sp", "sp", e_frame_size(e));
    e_cfa(e, 0);
    e_(e, ".cfi_restore\t1");
}

static void e_tailcall(emit *e, lin_insn *i)
{
    epilogue(e);
    if (i->sym)
        e_(e, "tail\t%s", e_sym(e, i->sym));
    else
        e_(e, "jr\t%s", e_from(e, i, i->nargs - 1u));
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
    branch_if(e, LIN_LEU, e_from(e, i, 0), i->flags & LIN_F_IMM ? "zero" : e_from(e, i, 1),
              e_bound_error(e, i), i->far);
}

/* --- exceptions ------------------------------------------------------------------------------- */
static void e_pushtrap(emit *e, lin_insn *i)
{
    e_(e, "lla\tt1, .L%u", e_block_label(e, i->u.target));
    e_(e, "addi\tsp, sp, -16");
    e_adjust(e, 16);
    e_(e, "sd\ts1, 0(sp)");
    e_(e, "sd\tt1, 8(sp)");
    e_(e, "mv\ts1, sp");
}

static void e_poptrap(emit *e, lin_insn *i)
{
    (void)i;
    e_(e, "ld\ts1, 0(sp)");
    e_(e, "addi\tsp, sp, 16");
    e_adjust(e, -16);
}

static void e_raise(emit *e, lin_insn *i)
{
    if (i->cc == LIN_RAISE_NOTRACE) {
        e_(e, "mv\tsp, s1");
        e_(e, "ld\tt0, 8(sp)");
        e_(e, "ld\ts1, 0(sp)");
        e_(e, "addi\tsp, sp, 16");
        e_(e, "jr\tt0");
        return;
    }
    e_(e, "call\t%s", i->cc == LIN_RAISE_REGULAR ? "caml_raise_exn" : "caml_reraise_exn");
    e_describe(e, i);
}

/* --- functions -------------------------------------------------------------------------------- */
void riscv64_file_head(emit *e)
{
    e_(e, ".option\t%s", e->options->pic ? "pic" : "nopic");
}

void riscv64_function_head(emit *e, const char *name)
{
    e_(e, ".globl\t%s", name);
    e_(e, ".type\t%s, @function", name);
    e_raw(e, "%s:\n", name);
    e_(e, ".cfi_startproc");
}

void riscv64_prologue(emit *e)
{
    uint32_t size = e_stack_check_size(e);
    if (size) {
        ool *o = e_out_of_line(e, OOL_STACK, NULL);
        o->stack_offset = 0;
        e_(e, "ld\tt1, %d(s11)", e->m->off_current_stack);
        add_const(e, "t1", "t1", size);
        branch_if(e, LIN_LTU, "sp", "t1", o->entry, e->far_function);
        o->back = e_new_label(e);
        e_label(e, o->back);
    }
    if (!e->has_frame)
        return;
    add_const(e, "sp", "sp", -(int64_t)e->frame);
    e_cfa(e, e->frame);
    stack_access(e, "sd", "ra", e->frame - 8);
    e_(e, ".cfi_offset\t1, -8");
}

static void out_of_line_stack(emit *e, ool *o)
{
    e_begin_path(e);
    e_cfa(e, 0);
    e_(e, ".cfi_restore\t1");
    e_(e, "li\tt1, %u", e_stack_words(e));
    e_(e, "addi\tsp, sp, -16");
    e_cfa(e, 16);
    e_(e, "sd\tt1, 0(sp)");
    e_(e, "sd\tra, 8(sp)");
    e_(e, ".cfi_offset\t1, -8");
    e_(e, "call\tcaml_call_realloc_stack");
    e_(e, "ld\tra, 8(sp)");
    e_(e, "addi\tsp, sp, 16");
    e_cfa(e, 0);
    e_(e, ".cfi_restore\t1");
    jump_to(e, o->back, e->far_function);
    e_end_path(e);
}

void riscv64_out_of_line(emit *e, ool *o)
{
    if (o->kind == OOL_STACK) {
        out_of_line_stack(e, o);
        return;
    }
    e_(e, "call\t%s", o->kind == OOL_GC ? "caml_call_gc" : "caml_ml_array_bound_error");
    e_describe(e, o->insn);
    if (o->back)
        jump_to(e, o->back, o->insn->far);
}

unsigned riscv64_size(emit *e, lin_insn *i)
{
    (void)e;
    static const uint8_t words[LIN_TARGET_END] = {
        [LIN_CONST] = 8, [LIN_FCONST] = 2, [LIN_SYMBOL] = 6, [LIN_MOVE] = 8, [LIN_SWAP] = 3,
        [LIN_INCOMING] = 4, [LIN_PUSHAREA] = 4, [LIN_STOREARG] = 4, [LIN_ADD] = 4, [LIN_SUB] = 4,
        [LIN_SET] = 2, [LIN_SETF] = 2, [LIN_LOAD] = 2, [LIN_LOAD_ATOMIC] = 3, [LIN_STORE] = 2,
        [LIN_ALLOC] = 10, [LIN_YOUNG] = 3, [LIN_POLL] = 4, [LIN_CALL] = 6, [LIN_EXTCALL] = 10,
        [LIN_CCALL] = 5, [LIN_CHECKBOUND] = 3, [LIN_PUSHTRAP] = 6, [LIN_POPTRAP] = 2,
        [LIN_RAISE] = 5,
        [LIN_TAILCALL] = 9, [LIN_RETURN] = 8, [LIN_JUMP] = 2, [LIN_BRANCH] = 5, [LIN_BRANCHT] = 5,
        [LIN_BRANCHF] = 6, [LIN_SWITCH] = 6,
    };
    unsigned n = words[i->op] ? words[i->op] : 1;
    return 4 * (n + (i->op == LIN_SWITCH ? (unsigned)i->imm : 0));
}

/* --- the table -------------------------------------------------------------------------------- */
void (*const riscv64_emit[LIN_TARGET_END])(emit *, lin_insn *) = {
    [LIN_NOP] = e_nothing, [LIN_PARAMS] = e_nothing, [LIN_INCOMING] = e_incoming_word,
    [LIN_MOVE] = e_move, [LIN_OPAQUE] = e_nothing, [LIN_SWAP] = e_swap,
    [LIN_PUSHAREA] = e_pusharea, [LIN_STOREARG] = e_storearg,
    [LIN_CONST] = e_const, [LIN_FCONST] = e_fconst, [LIN_SYMBOL] = e_symbol,
    [LIN_ADD] = e_add, [LIN_SUB] = e_add, [LIN_MUL] = binary, [LIN_MULH] = binary,
    [LIN_DIV] = binary, [LIN_MOD] = binary, [LIN_AND] = binary, [LIN_OR] = binary,
    [LIN_XOR] = binary, [LIN_SHL] = binary, [LIN_SHR] = binary, [LIN_SAR] = binary,
    [LIN_NEG] = unary, [LIN_SET] = e_set, [LIN_SETF] = e_setf,
    [LIN_FNEG] = unary, [LIN_FABS] = unary, [LIN_FSQRT] = unary, [LIN_FADD] = binary,
    [LIN_FSUB] = binary, [LIN_FMUL] = binary, [LIN_FDIV] = binary,
    [LIN_FMADD] = e_fused, [LIN_FMSUB] = e_fused, [LIN_FNMSUB] = e_fused, [LIN_FNMADD] = e_fused,
    [LIN_FOFI] = e_fofi, [LIN_IOFF] = e_ioff,
    [LIN_LOAD] = e_load, [LIN_LOAD_ATOMIC] = e_load, [LIN_STORE] = e_store,
    [LIN_LOADDOM] = e_loaddom, [LIN_STOREDOM] = e_storedom, [LIN_ALLOC] = e_alloc,
    [LIN_YOUNG] = e_young, [LIN_POLL] = e_poll, [LIN_CALL] = e_call, [LIN_EXTCALL] = e_extcall,
    [LIN_CCALL] = e_ccall, [LIN_CHECKBOUND] = e_checkbound, [LIN_PUSHTRAP] = e_pushtrap,
    [LIN_POPTRAP] = e_poptrap, [LIN_HANDLER] = e_nothing, [LIN_RAISE] = e_raise,
    [LIN_TAILCALL] = e_tailcall, [LIN_RETURN] = e_return, [LIN_JUMP] = e_jump_insn,
    [LIN_BRANCH] = e_conditional, [LIN_BRANCHT] = e_conditional, [LIN_BRANCHF] = e_conditional,
    [LIN_SWITCH] = e_switch,
};
