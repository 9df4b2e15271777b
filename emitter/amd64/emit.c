/* amd64/emit.c - AT&T text.
 *
 * Registers of the runtime: r14 domain state, r15 young_ptr. Direct calls go through
 * the PLT and addresses through the GOT under PIC; only r10 and r11 can be lost to it.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/amd64/amd64.h"

/* --- operands ------------------------------------------------------------------------ */
static const char *op(emit *e, lin_place p)
{
    if (lin_is_reg(p))
        return e_reg(e, p);
    return e_text("%ld(%%rsp)", (long)e_slot(e, p));
}

static const char *res(emit *e, lin_insn *i)
{
    return op(e, lin_res(i, 0)->place);
}

static const char *arg(emit *e, lin_insn *i, unsigned n)
{
    return op(e, lin_arg(i, n)->place);
}

static const char *const low8[] = {"%al", "%bl", "%dil", "%sil", "%dl", "%cl", "%r8b", "%r9b",
                                   "%r12b", "%r13b", "%r10b", "%r11b", "%bpl"};
static const char *const low16[] = {"%ax", "%bx", "%di", "%si", "%dx", "%cx", "%r8w", "%r9w",
                                    "%r12w", "%r13w", "%r10w", "%r11w", "%bp"};
static const char *const low32[] = {"%eax", "%ebx", "%edi", "%esi", "%edx", "%ecx", "%r8d", "%r9d",
                                    "%r12d", "%r13d", "%r10d", "%r11d", "%ebp"};

/* Second operand of an integer operation: immediate, register or slot. */
static const char *src(emit *e, lin_insn *i, unsigned n)
{
    if (!(i->flags & LIN_F_IMM))
        return arg(e, i, n);
    return e_text("$%ld", (long)i->imm);
}

static const char *mem(emit *e, lin_insn *i)
{
    if (i->sym) {
        const char *name = e_sym(e, i->sym);
        char *b = lin_alloc(e->f->arena, strlen(name) + 40);
        out_print(b, strlen(name) + 40,
                  i->disp == 0  ? "%s(%%rip)"
                  : i->disp < 0 ? "%s%ld(%%rip)"
                                : "%s+%ld(%%rip)",
                  name, (long)i->disp);
        return b;
    }
    const char *base = i->base >= 0 ? arg(e, i, (unsigned)i->base) : "";
    const char *disp = i->disp || i->base < 0 ? e_text("%ld", (long)i->disp) : "";
    if (i->index < 0)
        return e_text("%s(%s)", disp, base);
    return e_text("%s(%s,%s,%u)", disp, base, arg(e, i, (unsigned)i->index), i->scale);
}

/* --- moves ----------------------------------------------------------------------------- */
void amd64_move(emit *e, lin_place to, lin_place from)
{
    bool ft = lin_is_float_reg(to), ff = lin_is_float_reg(from);
    if (lin_is_slot(to) && lin_is_slot(from)) {
        e_(e, "movsd\t%s, %%xmm15", op(e, from));
        e_(e, "movsd\t%%xmm15, %s", op(e, to));
    } else if (ft && ff)
        e_(e, "movapd\t%s, %s", op(e, from), op(e, to));
    else if ((ft && lin_is_slot(from)) || (ff && lin_is_slot(to)))
        e_(e, "movsd\t%s, %s", op(e, from), op(e, to));
    else
        e_(e, "movq\t%s, %s", op(e, from), op(e, to));
}

void amd64_swap(emit *e, lin_place a, lin_place b)
{
    if (!lin_is_float_reg(a)) {
        e_(e, "xchgq\t%s, %s", op(e, a), op(e, b));
        return;
    }
    e_(e, "movapd\t%s, %%xmm15", op(e, a));
    e_(e, "movapd\t%s, %s", op(e, b), op(e, a));
    e_(e, "movapd\t%%xmm15, %s", op(e, b));
}

static void e_const(emit *e, lin_insn *i)
{
    lin_place p = lin_res(i, 0)->place;
    if (i->imm == 0)
        e_(e, "xorl\t%s, %s", low32[p], low32[p]);
    else if (i->imm > 0 && i->imm <= 0xffffffffll)
        e_(e, "movl\t$%ld, %s", (long)i->imm, low32[p]);
    else if (i->imm == (int32_t)i->imm)
        e_(e, "movq\t$%ld, %s", (long)i->imm, op(e, p));
    else
        e_(e, "movabsq\t$%ld, %s", (long)i->imm, op(e, p));
}

static void e_fconst(emit *e, lin_insn *i)
{
    if (i->imm == 0)
        e_(e, "xorpd\t%s, %s", res(e, i), res(e, i));
    else
        e_(e, "movsd\t.L%u(%%rip), %s", e_float_label(e, (uint64_t)i->imm), res(e, i));
}

static void load_symbol(emit *e, const cmm_sym *s, const char *to)
{
    if (target_local_symbol(s))
        e_(e, "leaq\t%s(%%rip), %s", e_sym(e, s), to);
    else if (e->options->pic)
        e_(e, "movq\t%s@GOTPCREL(%%rip), %s", e_sym(e, s), to);
    else
        e_(e, "movq\t$%s, %s", e_sym(e, s), to);
}

static void e_symbol(emit *e, lin_insn *i)
{
    load_symbol(e, i->sym, res(e, i));
    if (i->disp)
        e_(e, "addq\t$%ld, %s", (long)i->disp, res(e, i));
}

/* --- arithmetic --------------------------------------------------------------------------- */
static void two_address(emit *e, lin_insn *i)
{
    static const char *const names[LIN_TARGET] = {
        [LIN_SUB] = "subq", [LIN_MUL] = "imulq", [LIN_OR] = "orq", [LIN_XOR] = "xorq",
        [LIN_FADD] = "addsd", [LIN_FSUB] = "subsd", [LIN_FMUL] = "mulsd", [LIN_FDIV] = "divsd",
    };
    e_(e, "%s\t%s, %s", names[i->op], src(e, i, 1), res(e, i));
}

static void e_add(emit *e, lin_insn *i)
{
    lin_place d = lin_res(i, 0)->place, a = lin_arg(i, 0)->place;
    if (i->flags & LIN_F_IMM) {
        if (a == d && i->imm == 1)
            e_(e, "incq\t%s", op(e, d));
        else if (a == d && i->imm == -1)
            e_(e, "decq\t%s", op(e, d));
        else if (a == d)
            e_(e, "addq\t$%ld, %s", (long)i->imm, op(e, d));
        else
            e_(e, "leaq\t%ld(%s), %s", (long)i->imm, op(e, a), op(e, d));
        return;
    }
    lin_place b = lin_arg(i, 1)->place;
    if (a == d)
        e_(e, "addq\t%s, %s", op(e, b), op(e, d));
    else if (b == d)
        e_(e, "addq\t%s, %s", op(e, a), op(e, d));
    else if (lin_is_reg(a) && lin_is_reg(b))
        e_(e, "leaq\t(%s,%s), %s", op(e, a), op(e, b), op(e, d));
    else {
        amd64_move(e, d, a);
        e_(e, "addq\t%s, %s", op(e, b), op(e, d));
    }
}

static void e_and(emit *e, lin_insn *i)
{
    lin_place d = lin_res(i, 0)->place;
    if (i->flags & LIN_F_IMM && i->imm == 255)
        e_(e, "movzbl\t%s, %s", low8[d], low32[d]);
    else if (i->flags & LIN_F_IMM && i->imm > 0)
        e_(e, "andl\t$%ld, %s", (long)i->imm, low32[d]);
    else
        e_(e, "andq\t%s, %s", src(e, i, 1), res(e, i));
}

static void e_mul(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_IMM)
        e_(e, "imulq\t$%ld, %s, %s", (long)i->imm, arg(e, i, 0), res(e, i));
    else
        two_address(e, i);
}

static void e_mulh(emit *e, lin_insn *i)
{
    e_(e, "imulq\t%s", arg(e, i, 1));
}

static void e_divide(emit *e, lin_insn *i)
{
    e_(e, "cqto");
    e_(e, "idivq\t%s", arg(e, i, 1));
}

static void e_shift(emit *e, lin_insn *i)
{
    static const char *const names[LIN_TARGET] = {
        [LIN_SHL] = "salq", [LIN_SHR] = "shrq", [LIN_SAR] = "sarq"};
    if (!(i->flags & LIN_F_IMM))
        e_(e, "%s\t%%cl, %s", names[i->op], res(e, i));
    else if (i->imm == 1 && i->op == LIN_SHL)
        e_(e, "addq\t%s, %s", res(e, i), res(e, i));
    else
        e_(e, "%s\t$%ld, %s", names[i->op], (long)i->imm, res(e, i));
}

static void e_neg(emit *e, lin_insn *i)
{
    e_(e, "negq\t%s", res(e, i));
}

static void e_bswap(emit *e, lin_insn *i)
{
    lin_place d = lin_res(i, 0)->place;
    if (i->imm == 64)
        e_(e, "bswapq\t%s", op(e, d));
    else if (i->imm == 32) {
        e_(e, "bswapl\t%s", low32[d]);
        e_(e, "movslq\t%s, %s", low32[d], op(e, d));
    } else {
        e_(e, "rolw\t$8, %s", low16[d]);
        e_(e, "movzwl\t%s, %s", low16[d], low32[d]);
    }
}

static void e_lea(emit *e, lin_insn *i)
{
    e_(e, "leaq\t%s, %s", mem(e, i), res(e, i));
}

/* --- floats ----------------------------------------------------------------------------------- */
static void e_fneg(emit *e, lin_insn *i)
{
    bool neg = i->op == LIN_FNEG;
    uint64_t mask = neg ? (uint64_t)1 << 63 : ~((uint64_t)1 << 63);
    e_(e, "movsd\t.L%u(%%rip), %%xmm15", e_float_label(e, mask));
    e_(e, "%s\t%%xmm15, %s", neg ? "xorpd" : "andpd", res(e, i));
}

static void e_fsqrt(emit *e, lin_insn *i)
{
    e_(e, "sqrtsd\t%s, %s", arg(e, i, 0), res(e, i));
}

static void e_fofi(emit *e, lin_insn *i)
{
    e_(e, "xorpd\t%s, %s", res(e, i), res(e, i));
    e_(e, "cvtsi2sdq\t%s, %s", arg(e, i, 0), res(e, i));
}

static void e_ioff(emit *e, lin_insn *i)
{
    e_(e, "cvttsd2siq\t%s, %s", arg(e, i, 0), res(e, i));
}

/* cmpsd gives all ones or zeros; > and >= are < and <= the other way round. */
static void e_setf(emit *e, lin_insn *i)
{
    static const struct { uint8_t predicate; bool swap; } how[LIN_NUM_CC] = {
        [LIN_EQ] = {0, false}, [LIN_NE] = {4, false}, [LIN_LT] = {1, false}, [LIN_LE] = {2, false},
        [LIN_GT] = {1, true}, [LIN_GE] = {2, true}, [LIN_NLT] = {5, false}, [LIN_NLE] = {6, false},
        [LIN_NGT] = {5, true}, [LIN_NGE] = {6, true},
    };
    bool swap = how[i->cc].swap;
    e_(e, "movapd\t%s, %%xmm15", arg(e, i, swap));
    e_(e, "cmpsd\t$%u, %s, %%xmm15", how[i->cc].predicate, arg(e, i, !swap));
    e_(e, "movq\t%%xmm15, %s", res(e, i));
    e_(e, "negq\t%s", res(e, i));
}

/* --- comparisons ------------------------------------------------------------------------------ */
static const char *const suffix[LIN_NUM_CC] = {
    [LIN_EQ] = "e", [LIN_NE] = "ne", [LIN_LT] = "l", [LIN_LE] = "le", [LIN_GT] = "g",
    [LIN_GE] = "ge",
    [LIN_LTU] = "b", [LIN_LEU] = "be", [LIN_GTU] = "a", [LIN_GEU] = "ae",
};

static void compare(emit *e, lin_insn *i)
{
    lin_place a = lin_arg(i, 0)->place;
    bool zero = i->flags & LIN_F_IMM && i->imm == 0;
    if (zero && lin_is_reg(a) && i->cc < LIN_LTU)
        e_(e, "testq\t%s, %s", op(e, a), op(e, a));
    else
        e_(e, "cmpq\t%s, %s", src(e, i, 1), op(e, a));
}

static void e_set(emit *e, lin_insn *i)
{
    lin_place d = lin_res(i, 0)->place;
    compare(e, i);
    e_(e, "set%s\t%s", suffix[i->cc], low8[d]);
    e_(e, "movzbl\t%s, %s", low8[d], low32[d]);
}

static void test(emit *e, lin_insn *i)
{
    lin_place a = lin_arg(i, 0)->place;
    if (lin_is_reg(a) && i->imm >= 0 && i->imm <= 0x7f)
        e_(e, "testb\t$%ld, %s", (long)i->imm, low8[a]);
    else if (lin_is_reg(a) && i->imm >= 0)
        e_(e, "testl\t$%ld, %s", (long)i->imm, low32[a]);
    else
        e_(e, "testq\t$%ld, %s", (long)i->imm, op(e, a));
}

/* ucomisd sets ZF PF CF: > 000, < 001, = 100, unordered 111. */
static void branch_float(emit *e, lin_insn *i, lin_cc cc, lin_block *to)
{
    bool swap = cc == LIN_LT || cc == LIN_LE || cc == LIN_NLT || cc == LIN_NLE;
    uint32_t label = e_block_label(e, to);
    e_(e, "ucomisd\t%s, %s", arg(e, i, !swap), arg(e, i, swap));
    switch (cc) {
    case LIN_EQ: {
        uint32_t skip = e_new_label(e);
        e_(e, "jp\t.L%u", skip);
        e_(e, "je\t.L%u", label);
        e_label(e, skip);
        break;
    }
    case LIN_NE:
        e_(e, "jp\t.L%u", label);
        e_(e, "jne\t.L%u", label);
        break;
    case LIN_LT: case LIN_GT: e_(e, "ja\t.L%u", label); break;
    case LIN_LE: case LIN_GE: e_(e, "jae\t.L%u", label); break;
    case LIN_NLT: case LIN_NGT: e_(e, "jbe\t.L%u", label); break;
    default: e_(e, "jb\t.L%u", label); break;
    }
}

void amd64_branch(emit *e, lin_insn *i, lin_cc cc, lin_block *to)
{
    if (i->op == LIN_BRANCHF) {
        branch_float(e, i, cc, to);
        return;
    }
    if (i->op == LIN_BRANCHT)
        test(e, i);
    else
        compare(e, i);
    e_(e, "j%s\t.L%u", suffix[cc], e_block_label(e, to));
}

void amd64_jump(emit *e, lin_block *to)
{
    e_(e, "jmp\t.L%u", e_block_label(e, to));
}

static void e_switch(emit *e, lin_insn *i)
{
    uint32_t table = e_new_label(e);
    const char *t = op(e, i->temps[0]), *x = op(e, i->temps[1]);
    e_(e, "leaq\t.L%u(%%rip), %s", table, t);
    e_(e, "movslq\t(%s,%s,4), %s", t, arg(e, i, 0), x);
    e_(e, "addq\t%s, %s", x, t);
    e_(e, "jmp\t*%s", t);
    e_raw(e, "\t.section\t.rodata\n\t.balign\t4\n");
    e_label(e, table);
    for (int64_t k = 0; k < i->imm; k++)
        e_(e, ".long\t.L%u - .L%u", e_block_label(e, e->block->succ[i->u.table[k]]), table);
    e_raw(e, e->options->function_sections ? "\t.previous\n" : "\t.text\n");
}

/* --- memory ----------------------------------------------------------------------------------- */
static void e_load(emit *e, lin_insn *i)
{
    static const char *const names[CMM_NUM_CHUNKS] = {
        [CMM_BYTE_U] = "movzbq", [CMM_BYTE_S] = "movsbq", [CMM_HALF_U] = "movzwq",
        [CMM_HALF_S] = "movswq", [CMM_INT32_S] = "movslq", [CMM_WORD_INT] = "movq",
        [CMM_WORD_VAL] = "movq", [CMM_INT64] = "movq", [CMM_DOUBLE] = "movsd",
        [CMM_SINGLE] = "cvtss2sd",
    };
    if (i->chunk == CMM_INT32_U)
        e_(e, "movl\t%s, %s", mem(e, i), low32[lin_res(i, 0)->place]);
    else
        e_(e, "%s\t%s, %s", names[i->chunk], mem(e, i), res(e, i));
}

static void e_store(emit *e, lin_insn *i)
{
    static const char letter[] = {0, 'b', 'w', 0, 'l', 0, 0, 0, 'q'};
    static const char *const *const low[] = {NULL, low8, low16, NULL, low32};
    unsigned bytes = cmm_chunks[i->chunk].bytes;
    if (i->flags & LIN_F_IMM) {
        int64_t n = bytes == 8 ? i->imm : i->imm & (((int64_t)1 << 8 * bytes) - 1);
        e_(e, "mov%c\t$%ld, %s", letter[bytes], (long)n, mem(e, i));
        return;
    }
    lin_place v = lin_arg(i, 0)->place;
    if (i->chunk == CMM_SINGLE) {
        e_(e, "cvtsd2ss\t%s, %%xmm15", op(e, v));
        e_(e, "movss\t%%xmm15, %s", mem(e, i));
    } else if (lin_is_float_reg(v))
        e_(e, "movsd\t%s, %s", op(e, v), mem(e, i));
    else
        e_(e, "mov%c\t%s, %s", letter[bytes], bytes == 8 ? op(e, v) : low[bytes][v], mem(e, i));
}

static void e_loaddom(emit *e, lin_insn *i)
{
    lin_place d = lin_res(i, 0)->place;
    e_(e, "%s\t%ld(%%r14), %s", lin_is_float_reg(d) ? "movsd" : "movq", (long)i->imm, op(e, d));
}

static void e_storedom(emit *e, lin_insn *i)
{
    lin_place v = lin_arg(i, 0)->place;
    e_(e, "%s\t%s, %ld(%%r14)", lin_is_float_reg(v) ? "movsd" : "movq", op(e, v), (long)i->imm);
}

static void e_incoming_word(emit *e, lin_insn *i)
{
    lin_place d = lin_res(i, 0)->place;
    e_(e, "%s\t%ld(%%rsp), %s", lin_is_float_reg(d) ? "movsd" : "movq", (long)e_incoming(e, i->imm),
       op(e, d));
}

/* --- allocation ------------------------------------------------------------------------------- */
static void call(emit *e, const char *name)
{
    e_(e, "call\t%s%s", name, e->options->pic ? "@PLT" : "");
}

static void small_alloc(emit *e, lin_insn *i)
{
    static const char *const names[] = {"caml_alloc1", "caml_alloc2", "caml_alloc3"};
    if (i->imm <= 32)
        call(e, names[i->imm / 8 - 2]);
    else {
        e_(e, "subq\t$%ld, %%r15", (long)i->imm);
        call(e, "caml_allocN");
    }
    e_describe(e, i);
}

static void e_alloc(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_SMALL)
        small_alloc(e, i);
    else {
        ool *o = e_out_of_line(e, OOL_GC, i);
        e_(e, "subq\t$%ld, %%r15", (long)i->imm);
        e_(e, "cmpq\t%d(%%r14), %%r15", e->m->off_young_limit);
        e_(e, "jb\t.L%u", o->entry);
        o->back = e_new_label(e);
        e_label(e, o->back);
    }
    e_(e, "leaq\t%ld(%%r15), %s", (long)i->disp, res(e, i));
}

static void e_young(emit *e, lin_insn *i)
{
    e_(e, "leaq\t%ld(%%r15), %s", (long)i->disp, res(e, i));
}

static void e_poll(emit *e, lin_insn *i)
{
    ool *o = e_out_of_line(e, OOL_GC, i);
    e_(e, "cmpq\t%d(%%r14), %%r15", e->m->off_young_limit);
    e_(e, "jbe\t.L%u", o->entry);
    o->back = e_new_label(e);
    e_label(e, o->back);
}

/* --- calls ------------------------------------------------------------------------------------ */
static void drop_area(emit *e, lin_insn *i)
{
    uint32_t bytes = e_area(i);
    if (!bytes)
        return;
    e_(e, "addq\t$%u, %%rsp", bytes);
    e_adjust(e, -(int64_t)bytes);
}

static void e_call(emit *e, lin_insn *i)
{
    if (i->sym)
        call(e, e_sym(e, i->sym));
    else
        e_(e, "call\t*%s", arg(e, i, i->nargs - 1u));
    e_describe(e, i);
    drop_area(e, i);
}

static void e_extcall(emit *e, lin_insn *i)
{
    uint32_t words = i->u.call->stack_words;
    load_symbol(e, i->sym, "%rax");
    if (words) {
        e_(e, "movq\t%%rsp, %%r13");
        e_(e, "leaq\t%u(%%rsp), %%r12", 8 * words);
        call(e, "caml_c_call_stack_args");
    } else
        call(e, "caml_c_call");
    e_describe(e, i);
    drop_area(e, i);
}

/* noalloc: on the C stack, the OCaml SP waits in rbx (DWARF 3). */
static void e_ccall(emit *e, lin_insn *i)
{
    e_(e, "movq\t%%rsp, %%rbx");
    e_(e, ".cfi_remember_state");
    e_(e, ".cfi_def_cfa_register\t3");
    e_(e, "movq\t%d(%%r14), %%rsp", e->m->off_c_stack);
    call(e, e_sym(e, i->sym));
    e_(e, "movq\t%%rbx, %%rsp");
    e_(e, ".cfi_restore_state");
}

static void e_pusharea(emit *e, lin_insn *i)
{
    e_(e, "subq\t$%ld, %%rsp", (long)i->imm);
    e_adjust(e, i->imm);
}

static void e_storearg(emit *e, lin_insn *i)
{
    lin_place v = lin_arg(i, 0)->place;
    e_(e, "%s\t%s, %ld(%%rsp)", lin_is_float_reg(v) ? "movsd" : "movq", op(e, v), (long)i->imm);
}

static void epilogue(emit *e)
{
    uint32_t bytes = e_frame_size(e) - 8;
    e_begin_path(e);
    if (bytes) {
        e_(e, "addq\t$%u, %%rsp", bytes);
        e_cfa(e, 8);
    }
}

static void e_tailcall(emit *e, lin_insn *i)
{
    epilogue(e);
    if (i->sym)
        e_(e, "jmp\t%s%s", e_sym(e, i->sym), e->options->pic ? "@PLT" : "");
    else
        e_(e, "jmp\t*%s", arg(e, i, i->nargs - 1u));
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
    e_(e, "cmpq\t%s, %s", src(e, i, 1), arg(e, i, 0));
    e_(e, "jbe\t.L%u", e_bound_error(e, i));
}

/* --- exceptions ------------------------------------------------------------------------------- */
static void e_pushtrap(emit *e, lin_insn *i)
{
    int exn = e->m->off_exn_handler;
    const char *t = op(e, i->temps[0]);
    e_(e, "leaq\t.L%u(%%rip), %s", e_block_label(e, i->u.target), t);
    e_(e, "pushq\t%s", t);
    e_adjust(e, 8);
    e_(e, "pushq\t%d(%%r14)", exn);
    e_adjust(e, 8);
    e_(e, "movq\t%%rsp, %d(%%r14)", exn);
}

static void e_poptrap(emit *e, lin_insn *i)
{
    (void)i;
    e_(e, "popq\t%d(%%r14)", e->m->off_exn_handler);
    e_adjust(e, -8);
    e_(e, "addq\t$8, %%rsp");
    e_adjust(e, -8);
}

static void e_raise(emit *e, lin_insn *i)
{
    int exn = e->m->off_exn_handler;
    if (i->cc == LIN_RAISE_NOTRACE) {
        e_(e, "movq\t%d(%%r14), %%rsp", exn);
        e_(e, "popq\t%d(%%r14)", exn);
        e_(e, "popq\t%%r11");
        e_(e, "jmp\t*%%r11");
        return;
    }
    call(e, i->cc == LIN_RAISE_REGULAR ? "caml_raise_exn" : "caml_reraise_exn");
    e_describe(e, i);
}

/* --- functions -------------------------------------------------------------------------------- */
void amd64_function_head(emit *e, const char *name)
{
    e_(e, ".globl\t%s", name);
    e_(e, ".type\t%s, @function", name);
    e_raw(e, "%s:\n", name);
    e_(e, ".cfi_startproc");
}

static void stack_check(emit *e)
{
    uint32_t size = e_stack_check_size(e);
    if (!size)
        return;
    ool *o = e_out_of_line(e, OOL_STACK, NULL);
    o->stack_offset = 0;
    e_(e, "leaq\t-%u(%%rsp), %%r10", size);
    e_(e, "cmpq\t%d(%%r14), %%r10", e->m->off_current_stack);
    e_(e, "jb\t.L%u", o->entry);
    o->back = e_new_label(e);
    e_label(e, o->back);
}

void amd64_prologue(emit *e)
{
    stack_check(e);
    uint32_t bytes = e->frame - 8;
    if (!bytes)
        return;
    e_(e, "subq\t$%u, %%rsp", bytes);
    e_cfa(e, e->frame);
}

static void out_of_line_stack(emit *e, ool *o)
{
    e_cfa(e, 8);
    e_(e, "pushq\t$%u", e_stack_words(e));
    e_cfa(e, 16);
    call(e, "caml_call_realloc_stack");
    e_(e, "popq\t%%r10");
    e_cfa(e, 8);
    e_(e, "jmp\t.L%u", o->back);
}

void amd64_out_of_line(emit *e, ool *o)
{
    if (o->kind == OOL_STACK) {
        out_of_line_stack(e, o);
        return;
    }
    call(e, o->kind == OOL_GC ? "caml_call_gc" : "caml_ml_array_bound_error");
    if (o->kind == OOL_GC || e->options->debug || e->bound != o)
        e_describe(e, o->insn);
    if (o->back)
        e_(e, "jmp\t.L%u", o->back);
}

/* --- the table -------------------------------------------------------------------------------- */
void (*const amd64_emit[LIN_TARGET_END])(emit *, lin_insn *) = {
    [LIN_NOP] = e_nothing, [LIN_PARAMS] = e_nothing, [LIN_INCOMING] = e_incoming_word,
    [LIN_MOVE] = e_move, [LIN_OPAQUE] = e_nothing, [LIN_SWAP] = e_swap,
    [LIN_PUSHAREA] = e_pusharea, [LIN_STOREARG] = e_storearg,
    [LIN_CONST] = e_const, [LIN_FCONST] = e_fconst, [LIN_SYMBOL] = e_symbol,
    [LIN_ADD] = e_add, [LIN_SUB] = two_address, [LIN_MUL] = e_mul, [LIN_MULH] = e_mulh,
    [LIN_DIV] = e_divide, [LIN_MOD] = e_divide, [LIN_AND] = e_and, [LIN_OR] = two_address,
    [LIN_XOR] = two_address, [LIN_SHL] = e_shift, [LIN_SHR] = e_shift, [LIN_SAR] = e_shift,
    [LIN_NEG] = e_neg, [LIN_SET] = e_set, [LIN_SETF] = e_setf, [LIN_LEA] = e_lea,
    [LIN_FNEG] = e_fneg, [LIN_FABS] = e_fneg, [LIN_FSQRT] = e_fsqrt, [LIN_FADD] = two_address,
    [LIN_FSUB] = two_address, [LIN_FMUL] = two_address, [LIN_FDIV] = two_address,
    [LIN_FOFI] = e_fofi, [LIN_IOFF] = e_ioff, [LIN_BSWAP] = e_bswap,
    [LIN_LOAD] = e_load, [LIN_LOAD_ATOMIC] = e_load, [LIN_STORE] = e_store,
    [LIN_LOADDOM] = e_loaddom, [LIN_STOREDOM] = e_storedom, [LIN_ALLOC] = e_alloc,
    [LIN_YOUNG] = e_young, [LIN_POLL] = e_poll, [LIN_CALL] = e_call, [LIN_EXTCALL] = e_extcall,
    [LIN_CCALL] = e_ccall, [LIN_CHECKBOUND] = e_checkbound, [LIN_PUSHTRAP] = e_pushtrap,
    [LIN_POPTRAP] = e_poptrap, [LIN_HANDLER] = e_nothing, [LIN_RAISE] = e_raise,
    [LIN_TAILCALL] = e_tailcall, [LIN_RETURN] = e_return, [LIN_JUMP] = e_jump_insn,
    [LIN_BRANCH] = e_conditional, [LIN_BRANCHT] = e_conditional, [LIN_BRANCHF] = e_conditional,
    [LIN_SWITCH] = e_switch,
};
