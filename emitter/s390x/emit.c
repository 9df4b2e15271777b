/* s390x/emit.c - GNU assembler text, z196.
 *
 *   r10 domain state   r11 young_ptr   r13 trap pointer   r14 link   r15 SP
 *   r0 r1 f15 scratch, never live from one instruction to the next
 *
 * A base or index of r0 means zero, so addresses are made in r1. Displacements
 * have 20 bits in the instructions used, or 12 where a shorter one exists.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/s390x/s390x.h"

static const char *slot(emit *e, lin_place p)
{
    return e_text("%ld(%%r15)", (long)e_slot(e, p));
}

static const char *mem(emit *e, lin_insn *i)
{
    const char *base = e_from(e, i, (unsigned)i->base);
    if (i->index < 0)
        return e_text("%ld(%s)", (long)i->disp, base);
    return e_text("%ld(%s,%s)", (long)i->disp, e_from(e, i, (unsigned)i->index), base);
}

/* --- moves ------------------------------------------------------------------- */
static const char *float_load(int64_t disp)
{
    return s390x_is_disp12(disp) ? "ld" : "ldy";
}

static const char *float_store(int64_t disp)
{
    return s390x_is_disp12(disp) ? "std" : "stdy";
}

void s390x_move(emit *e, lin_place to, lin_place from)
{
    if (lin_is_slot(to) && lin_is_slot(from)) {
        e_(e, "lg\t%%r1, %s", slot(e, from));
        e_(e, "stg\t%%r1, %s", slot(e, to));
    } else if (lin_is_slot(to))
        e_(e, "%s\t%s, %s", lin_is_float_reg(from) ? float_store(e_slot(e, to)) : "stg",
           e_reg(e, from), slot(e, to));
    else if (lin_is_slot(from))
        e_(e, "%s\t%s, %s", lin_is_float_reg(to) ? float_load(e_slot(e, from)) : "lg", e_reg(e, to),
           slot(e, from));
    else
        e_(e, "%s\t%s, %s", lin_is_float_reg(to) ? "ldr" : "lgr", e_reg(e, to), e_reg(e, from));
}

void s390x_swap(emit *e, lin_place a, lin_place b)
{
    bool flt = lin_is_float_reg(a);
    const char *move = flt ? "ldr" : "lgr", *t = flt ? "%f15" : "%r1";
    e_(e, "%s\t%s, %s", move, t, e_reg(e, a));
    e_(e, "%s\t%s, %s", move, e_reg(e, a), e_reg(e, b));
    e_(e, "%s\t%s, %s", move, e_reg(e, b), t);
}

static void load_const(emit *e, const char *to, int64_t n)
{
    uint64_t u = (uint64_t)n;
    if (n == (int16_t)n)
        e_(e, "lghi\t%s, %ld", to, (long)n);
    else if (n == (int32_t)n)
        e_(e, "lgfi\t%s, %ld", to, (long)n);
    else if (u >> 32 == 0)
        e_(e, "llilf\t%s, %lu", to, (unsigned long)u);
    else {
        e_(e, "llihf\t%s, %lu", to, (unsigned long)(u >> 32));
        if ((uint32_t)u)
            e_(e, "oilf\t%s, %lu", to, (unsigned long)(uint32_t)u);
    }
}

static void e_const(emit *e, lin_insn *i)
{
    load_const(e, e_to(e, i), i->imm);
}

static void e_fconst(emit *e, lin_insn *i)
{
    if (i->imm == 0) {
        e_(e, "lzdr\t%s", e_to(e, i));
        return;
    }
    e_(e, "larl\t%%r1, .L%u", e_float_label(e, (uint64_t)i->imm));
    e_(e, "ld\t%s, 0(%%r1)", e_to(e, i));
}

/* larl reaches even addresses only: string data may be anywhere, so a symbol with
 * a displacement gets it added. */
static void load_symbol(emit *e, const cmm_sym *s, const char *to)
{
    e_(e, "lgrl\t%s, %s@GOTENT", to, e_sym(e, s));
}

static void add_const(emit *e, const char *to, const char *from, int64_t n)
{
    if (s390x_is_disp12(n))
        e_(e, "la\t%s, %ld(%s)", to, (long)n, from);
    else if (s390x_is_disp20(n))
        e_(e, "lay\t%s, %ld(%s)", to, (long)n, from);
    else {
        if (strcmp(to, from) != 0)
            e_(e, "lgr\t%s, %s", to, from);
        e_(e, "agfi\t%s, %ld", to, (long)n);
    }
}

static void e_symbol(emit *e, lin_insn *i)
{
    load_symbol(e, i->sym, e_to(e, i));
    if (i->disp)
        add_const(e, e_to(e, i), e_to(e, i), i->disp);
}

/* --- integers ------------------------------------------------------------------- */
typedef struct {
    const char *three, *two, *memory; /* register forms, and with a word in memory */
} forms;

static const forms *int_forms(unsigned op)
{
    static const forms table[LIN_TARGET] = {
        [LIN_ADD] = {"agrk", "agr", "ag"}, [LIN_SUB] = {"sgrk", "sgr", "sg"},
        [LIN_AND] = {"ngrk", "ngr", "ng"}, [LIN_OR] = {"ogrk", "ogr", "og"},
        [LIN_XOR] = {"xgrk", "xgr", "xg"}, [LIN_MUL] = {NULL, "msgr", "msg"},
    };
    return &table[op];
}

/* d := a op b; one of them may be a slot (b only, unless op commutes). */
static void three_address(emit *e, lin_insn *i)
{
    const forms *f = int_forms(i->op);
    lin_place d = e_res(i), a = e_arg(i, 0), b = e_arg(i, 1);
    if (lin_is_slot(a)) {
        lin_place t = a;
        a = b;
        b = t;
    }
    if (lin_is_reg(b)) {
        if (a == d)
            e_(e, "%s\t%s, %s", f->two, e_reg(e, d), e_reg(e, b));
        else if (b == d && i->op != LIN_SUB)
            e_(e, "%s\t%s, %s", f->two, e_reg(e, d), e_reg(e, a));
        else
            e_(e, "%s\t%s, %s, %s", f->three, e_reg(e, d), e_reg(e, a), e_reg(e, b));
        return;
    }
    if (a != d)
        s390x_move(e, d, a);
    e_(e, "%s\t%s, %s", f->memory, e_reg(e, d), slot(e, b));
}

static void e_add(emit *e, lin_insn *i)
{
    if (!(i->flags & LIN_F_IMM)) {
        three_address(e, i);
        return;
    }
    int64_t n = i->op == LIN_SUB ? -i->imm : i->imm;
    if (e_res(i) == e_arg(i, 0) && n == (int16_t)n && !s390x_is_disp12(n))
        e_(e, "aghi\t%s, %ld", e_to(e, i), (long)n);
    else
        add_const(e, e_to(e, i), e_from(e, i, 0), n);
}

static void e_and(emit *e, lin_insn *i)
{
    unsigned first, last;
    if (!(i->flags & LIN_F_IMM))
        three_address(e, i);
    else if (s390x_is_mask(i->imm, &first, &last))
        e_(e, "risbg\t%s, %s, %u, %u, 0", e_to(e, i), e_from(e, i, 0), first, last | 128);
    else
        e_(e, "nilf\t%s, %lu", e_to(e, i), (unsigned long)(uint32_t)i->imm);
}

static void e_or(emit *e, lin_insn *i)
{
    if (!(i->flags & LIN_F_IMM))
        three_address(e, i);
    else
        e_(e, "%s\t%s, %lu", i->op == LIN_OR ? "oilf" : "xilf", e_to(e, i),
           (unsigned long)i->imm);
}

static void e_mul(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_IMM)
        e_(e, "%s\t%s, %ld", i->imm == (int16_t)i->imm ? "mghi" : "msgfi", e_to(e, i),
           (long)i->imm);
    else
        e_(e, lin_is_slot(e_arg(i, 1)) ? "msg\t%s, %s" : "msgr\t%s, %s", e_to(e, i),
           lin_is_slot(e_arg(i, 1)) ? slot(e, e_arg(i, 1)) : e_from(e, i, 1));
}

/* The machine multiplies unsigned: high(a * b) - (a < 0 ? b : 0) - (b < 0 ? a : 0). */
static void e_mulh(emit *e, lin_insn *i)
{
    const char *a = e_from(e, i, 0), *b = e_from(e, i, 1);
    e_(e, "lgr\t%%r1, %s", a);
    e_(e, "mlgr\t%%r0, %s", b);
    e_(e, "srag\t%%r1, %s, 63", a);
    e_(e, "ngr\t%%r1, %s", b);
    e_(e, "sgr\t%%r0, %%r1");
    e_(e, "srag\t%%r1, %s, 63", b);
    e_(e, "ngr\t%%r1, %s", a);
    e_(e, "sgr\t%%r0, %%r1");
    e_(e, "lgr\t%s, %%r0", e_to(e, i));
}

/* r0:r1: the remainder comes in r0, the quotient in r1. */
static void e_divide(emit *e, lin_insn *i)
{
    bool in_slot = lin_is_slot(e_arg(i, 1));
    e_(e, "lgr\t%%r1, %s", e_from(e, i, 0));
    e_(e, in_slot ? "dsg\t%%r0, %s" : "dsgr\t%%r0, %s",
       in_slot ? slot(e, e_arg(i, 1)) : e_from(e, i, 1));
    e_(e, "lgr\t%s, %s", e_to(e, i), i->op == LIN_DIV ? "%r1" : "%r0");
}

static void e_shift(emit *e, lin_insn *i)
{
    static const char *const names[LIN_TARGET] = {
        [LIN_SHL] = "sllg", [LIN_SHR] = "srlg", [LIN_SAR] = "srag"};
    if (i->flags & LIN_F_IMM)
        e_(e, "%s\t%s, %s, %ld", names[i->op], e_to(e, i), e_from(e, i, 0), (long)i->imm);
    else
        e_(e, "%s\t%s, %s, 0(%s)", names[i->op], e_to(e, i), e_from(e, i, 0), e_from(e, i, 1));
}

static void e_neg(emit *e, lin_insn *i)
{
    e_(e, "lcgr\t%s, %s", e_to(e, i), e_from(e, i, 0));
}

static void e_bswap(emit *e, lin_insn *i)
{
    const char *d = e_to(e, i);
    e_(e, "%s\t%s, %s", i->imm == 64 ? "lrvgr" : "lrvr", d, e_from(e, i, 0));
    if (i->imm == 32)
        e_(e, "lgfr\t%s, %s", d, d);
    if (i->imm == 16) {
        e_(e, "srl\t%s, 16", d);
        e_(e, "llghr\t%s, %s", d, d);
    }
}

static void e_lea(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s", s390x_is_disp12(i->disp) ? "la" : "lay", e_to(e, i), mem(e, i));
}

/* --- floats ----------------------------------------------------------------------- */
static void e_float_binary(emit *e, lin_insn *i)
{
    static const char *const letter[LIN_TARGET] = {
        [LIN_FADD] = "a", [LIN_FSUB] = "s", [LIN_FMUL] = "m", [LIN_FDIV] = "d"};
    const char *b = "%f15";
    if (lin_is_reg(e_arg(i, 1)))
        b = e_from(e, i, 1);
    else if (s390x_is_disp12(e_slot(e, e_arg(i, 1)))) {
        e_(e, "%sdb\t%s, %s", letter[i->op], e_to(e, i), slot(e, e_arg(i, 1)));
        return;
    } else
        e_(e, "ldy\t%%f15, %s", slot(e, e_arg(i, 1)));
    e_(e, "%sdbr\t%s, %s", letter[i->op], e_to(e, i), b);
}

/* The sum is where the addend was. */
static void e_fused(emit *e, lin_insn *i)
{
    e_(e, "%s\t%s, %s, %s", i->op == LIN_FMADD ? "madbr" : "msdbr", e_to(e, i), e_from(e, i, 1),
       e_from(e, i, 2));
}

/* lcdfr and lpdfr change the sign bit alone, also of a NaN. */
static void e_float_unary(emit *e, lin_insn *i)
{
    static const char *const names[LIN_TARGET] = {
        [LIN_FNEG] = "lcdfr", [LIN_FABS] = "lpdfr", [LIN_FSQRT] = "sqdbr", [LIN_FOFI] = "cdgbr"};
    e_(e, "%s\t%s, %s", names[i->op], e_to(e, i), e_from(e, i, 0));
}

static void e_ioff(emit *e, lin_insn *i)
{
    e_(e, "cgdbr\t%s, 5, %s", e_to(e, i), e_from(e, i, 0)); /* 5: towards zero */
}

/* --- comparisons: condition code 0 equal, 1 low, 2 high, 3 unordered; the mask has
 * a bit for each, 8 for 0 down to 1 for 3 ---------------------------------------------- */
static const uint8_t mask[LIN_NUM_CC] = {
    [LIN_EQ] = 8, [LIN_NE] = 7, [LIN_LT] = 4, [LIN_LE] = 12, [LIN_GT] = 2, [LIN_GE] = 10,
    [LIN_LTU] = 4, [LIN_LEU] = 12, [LIN_GTU] = 2, [LIN_GEU] = 10,
    [LIN_NLT] = 11, [LIN_NLE] = 3, [LIN_NGT] = 13, [LIN_NGE] = 5,
};

static bool is_unsigned(lin_cc cc)
{
    return cc >= LIN_LTU && cc <= LIN_GEU;
}

static void compare_imm(emit *e, bool uns, const char *a, int64_t n)
{
    if (uns)
        e_(e, "clgfi\t%s, %lu", a, (unsigned long)n);
    else
        e_(e, "%s\t%s, %ld", n == (int16_t)n ? "cghi" : "cgfi", a, (long)n);
}

/* Sets the condition code; returns the condition to test, which is the other way
 * round when only the first operand is in memory. */
static lin_cc compare(emit *e, lin_insn *i, lin_cc cc)
{
    bool uns = is_unsigned(cc);
    lin_place a = e_arg(i, 0);
    if (i->flags & LIN_F_IMM) {
        if (lin_is_slot(a))
            e_(e, "lg\t%%r1, %s", slot(e, a));
        compare_imm(e, uns, lin_is_slot(a) ? "%r1" : e_reg(e, a), i->imm);
        return cc;
    }
    lin_place b = e_arg(i, 1);
    if (lin_is_reg(a) && lin_is_reg(b))
        e_(e, "%s\t%s, %s", uns ? "clgr" : "cgr", e_reg(e, a), e_reg(e, b));
    else if (lin_is_reg(a))
        e_(e, "%s\t%s, %s", uns ? "clg" : "cg", e_reg(e, a), slot(e, b));
    else {
        e_(e, "%s\t%s, %s", uns ? "clg" : "cg", e_reg(e, b), slot(e, a));
        return lin_swap(cc);
    }
    return cc;
}

/* The result register may be an operand: it is written after the comparison. */
static void set_by_mask(emit *e, lin_insn *i, unsigned m)
{
    const char *d = e_to(e, i);
    e_(e, "lghi\t%%r1, 1");
    e_(e, "lghi\t%s, 0", d);
    e_(e, "locgr\t%s, %%r1, %u", d, m);
}

static void e_set(emit *e, lin_insn *i)
{
    lin_cc cc = compare(e, i, (lin_cc)i->cc);
    set_by_mask(e, i, mask[cc]);
}

static void e_setf(emit *e, lin_insn *i)
{
    e_(e, "cdbr\t%s, %s", e_from(e, i, 0), e_from(e, i, 1));
    set_by_mask(e, i, mask[i->cc]);
}

/* Compare and branch in one instruction, 64 KiB either way. */
static bool fused_branch(emit *e, lin_insn *i, lin_cc cc, uint32_t label)
{
    lin_place a = e_arg(i, 0);
    bool uns = is_unsigned(cc);
    unsigned m = mask[cc] & 14u;
    if (i->far || lin_is_slot(a))
        return false;
    if (!(i->flags & LIN_F_IMM)) {
        lin_place b = e_arg(i, 1);
        if (lin_is_slot(b))
            return false;
        e_(e, "%s\t%s, %s, %u, .L%u", uns ? "clgrj" : "cgrj", e_reg(e, a), e_reg(e, b), m, label);
        return true;
    }
    if (uns ? i->imm != (uint8_t)i->imm : i->imm != (int8_t)i->imm)
        return false;
    e_(e, "%s\t%s, %ld, %u, .L%u", uns ? "clgij" : "cgij", e_reg(e, a), (long)i->imm, m, label);
    return true;
}

void s390x_branch(emit *e, lin_insn *i, lin_cc cc, lin_block *to)
{
    uint32_t label = e_block_label(e, to);
    unsigned m;
    if (i->op == LIN_BRANCHF) {
        e_(e, "cdbr\t%s, %s", e_from(e, i, 0), e_from(e, i, 1));
        m = mask[cc];
    } else if (i->op == LIN_BRANCHT) {
        e_(e, "tmll\t%s, %ld", e_from(e, i, 0), (long)i->imm);
        m = mask[cc]; /* 0: all bits of the mask are zero */
    } else if (fused_branch(e, i, cc, label))
        return;
    else
        m = mask[compare(e, i, cc)];
    e_(e, "brcl\t%u, .L%u", m, label);
}

void s390x_jump(emit *e, lin_block *to)
{
    e_(e, "jg\t.L%u", e_block_label(e, to));
}

/* A table of distances from itself. */
static void e_switch(emit *e, lin_insn *i)
{
    uint32_t table = e_new_label(e);
    const char *t = e_reg(e, i->temps[0]);
    e_(e, "larl\t%%r1, .L%u", table);
    e_(e, "sllg\t%s, %s, 2", t, e_from(e, i, 0));
    e_(e, "lgf\t%s, 0(%s,%%r1)", t, t);
    e_(e, "agr\t%%r1, %s", t);
    e_(e, "br\t%%r1");
    e_raw(e, "\t.section\t.rodata\n\t.balign\t4\n");
    e_label(e, table);
    for (int64_t k = 0; k < i->imm; k++)
        e_(e, ".long\t.L%u - .L%u", e_block_label(e, e->block->succ[i->u.table[k]]), table);
    e_raw(e, e->options->function_sections ? "\t.previous\n" : "\t.text\n");
}

/* --- memory ---------------------------------------------------------------------------- */
static void e_load(emit *e, lin_insn *i)
{
    static const char *const names[CMM_NUM_CHUNKS] = {
        [CMM_BYTE_U] = "llgc", [CMM_BYTE_S] = "lgb", [CMM_HALF_U] = "llgh", [CMM_HALF_S] = "lgh",
        [CMM_INT32_U] = "llgf", [CMM_INT32_S] = "lgf", [CMM_WORD_INT] = "lg", [CMM_WORD_VAL] = "lg",
        [CMM_INT64] = "lg", [CMM_SINGLE] = "ldeb",
    };
    const char *name = i->chunk == CMM_DOUBLE ? float_load(i->disp) : names[i->chunk];
    e_(e, "%s\t%s, %s", name, e_to(e, i), mem(e, i));
}

static const char *store_name(cmm_chunk chunk, int64_t disp)
{
    static const char *const names[CMM_NUM_CHUNKS][2] = {
        [CMM_BYTE_U] = {"stcy", "stc"}, [CMM_BYTE_S] = {"stcy", "stc"},
        [CMM_HALF_U] = {"sthy", "sth"}, [CMM_HALF_S] = {"sthy", "sth"},
        [CMM_INT32_U] = {"sty", "st"}, [CMM_INT32_S] = {"sty", "st"},
        [CMM_WORD_INT] = {"stg", "stg"}, [CMM_WORD_VAL] = {"stg", "stg"},
        [CMM_INT64] = {"stg", "stg"}, [CMM_DOUBLE] = {"stdy", "std"},
        [CMM_SINGLE] = {"stey", "ste"},
    };
    return names[chunk][s390x_is_disp12(disp)];
}

static void e_store(emit *e, lin_insn *i)
{
    const char *name = store_name((cmm_chunk)i->chunk, i->disp), *v;
    bool word = cmm_chunks[i->chunk].bytes == 8;
    if (i->flags & LIN_F_IMM) {
        if (word && i->index < 0 && s390x_is_disp12(i->disp)) {
            e_(e, "mvghi\t%s, %ld", mem(e, i), (long)i->imm);
            return;
        }
        load_const(e, "%r0", i->imm);
        v = "%r0";
    } else if (i->chunk == CMM_SINGLE) {
        e_(e, "ledbr\t%%f15, %s", e_from(e, i, 0));
        v = "%f15";
    } else
        v = e_from(e, i, 0);
    e_(e, "%s\t%s, %s", name, v, mem(e, i));
}

/* A word at disp(base), of the class of the register. */
static void word_at(emit *e, bool store, lin_place p, int64_t disp, const char *base)
{
    const char *name = lin_is_float_reg(p) ? (store ? float_store(disp) : float_load(disp))
                       : store             ? "stg"
                                           : "lg";
    e_(e, "%s\t%s, %ld(%s)", name, e_reg(e, p), (long)disp, base);
}

static void e_loaddom(emit *e, lin_insn *i)
{
    word_at(e, false, e_res(i), i->imm, "%r10");
}

static void e_storedom(emit *e, lin_insn *i)
{
    word_at(e, true, e_arg(i, 0), i->imm, "%r10");
}

static void e_incoming_word(emit *e, lin_insn *i)
{
    word_at(e, false, e_res(i), e_incoming(e, i->imm), "%r15");
}

/* --- allocation -------------------------------------------------------------------------- */
static void call(emit *e, const char *name)
{
    e_(e, "brasl\t%%r14, %s@PLT", name);
}

static void e_young(emit *e, lin_insn *i)
{
    add_const(e, e_to(e, i), "%r11", i->disp);
}

static void small_alloc(emit *e, lin_insn *i)
{
    static const char *const names[] = {"caml_alloc1", "caml_alloc2", "caml_alloc3"};
    if (i->imm > 32)
        e_(e, "lay\t%%r11, %ld(%%r11)", (long)-i->imm);
    call(e, i->imm > 32 ? "caml_allocN" : names[i->imm / 8 - 2]);
    e_describe(e, i);
}

/* Goes to the GC when young_ptr is below the limit. */
static void limit_check(emit *e, lin_insn *i)
{
    ool *o = e_out_of_line(e, OOL_GC, i);
    e_(e, "clg\t%%r11, %d(%%r10)", e->m->off_young_limit);
    e_(e, "brcl\t4, .L%u", o->entry);
    o->back = e_new_label(e);
    e_label(e, o->back);
}

static void e_alloc(emit *e, lin_insn *i)
{
    if (i->flags & LIN_F_SMALL)
        small_alloc(e, i);
    else {
        e_(e, "lay\t%%r11, %ld(%%r11)", (long)-i->imm);
        limit_check(e, i);
    }
    e_young(e, i);
}

/* --- calls --------------------------------------------------------------------------------- */
static void move_sp(emit *e, int64_t n)
{
    e_(e, "%s\t%%r15, %ld(%%r15)", s390x_is_disp12(n) ? "la" : "lay", (long)n);
}

static void drop_area(emit *e, lin_insn *i)
{
    uint32_t bytes = e_area(i);
    if (!bytes)
        return;
    move_sp(e, bytes);
    e_adjust(e, -(int64_t)bytes);
}

static void e_call(emit *e, lin_insn *i)
{
    if (i->sym)
        call(e, e_sym(e, i->sym));
    else
        e_(e, "basr\t%%r14, %s", e_from(e, i, i->nargs - 1u));
    e_describe(e, i);
    drop_area(e, i);
}

static void e_extcall(emit *e, lin_insn *i)
{
    uint32_t words = i->u.call->stack_words;
    load_symbol(e, i->sym, "%r7");
    if (words) {
        e_(e, "lgr\t%%r9, %%r15");
        add_const(e, "%r8", "%r15", 8 * (int64_t)words);
    }
    call(e, words ? "caml_c_call_stack_args" : "caml_c_call");
    e_describe(e, i);
    drop_area(e, i);
}

/* noalloc: on the C stack, which leaves C its 160 bytes; OCaml's SP waits in r12. */
static void e_ccall(emit *e, lin_insn *i)
{
    e_(e, "lgr\t%%r12, %%r15");
    e_(e, ".cfi_remember_state");
    e_(e, ".cfi_def_cfa_register\t%%r12");
    e_(e, "lg\t%%r15, %d(%%r10)", e->m->off_c_stack);
    call(e, e_sym(e, i->sym));
    e_(e, "lgr\t%%r15, %%r12");
    e_(e, ".cfi_restore_state");
}

static void e_pusharea(emit *e, lin_insn *i)
{
    move_sp(e, -i->imm);
    e_adjust(e, i->imm);
}

static void e_storearg(emit *e, lin_insn *i)
{
    word_at(e, true, e_arg(i, 0), i->imm, "%r15");
}

static void epilogue(emit *e)
{
    uint32_t bytes = e_frame_size(e);
    e_begin_path(e);
    if (e->has_frame) {
        e_(e, "lg\t%%r14, %u(%%r15)", bytes - 8);
        e_(e, ".cfi_restore\t%%r14");
    }
    if (bytes) {
        move_sp(e, bytes);
        e_cfa(e, 0);
    }
}

static void e_tailcall(emit *e, lin_insn *i)
{
    epilogue(e);
    if (i->sym)
        e_(e, "brcl\t15, %s@PLT", e_sym(e, i->sym));
    else
        e_(e, "br\t%s", e_from(e, i, i->nargs - 1u));
    e_end_path(e);
}

static void e_return(emit *e, lin_insn *i)
{
    (void)i;
    epilogue(e);
    e_(e, "br\t%%r14");
    e_end_path(e);
}

/* Fails unless index <u size: branches when size <=u index. */
static void e_checkbound(emit *e, lin_insn *i)
{
    lin_cc cc = compare(e, i, LIN_LEU);
    e_(e, "brcl\t%u, .L%u", mask[cc], e_bound_error(e, i));
}

/* --- exceptions ------------------------------------------------------------------------------ */
static void e_pushtrap(emit *e, lin_insn *i)
{
    move_sp(e, -16);
    e_adjust(e, 16);
    e_(e, "larl\t%%r1, .L%u", e_block_label(e, i->u.target));
    e_(e, "stg\t%%r1, 8(%%r15)");
    e_(e, "stg\t%%r13, 0(%%r15)");
    e_(e, "lgr\t%%r13, %%r15");
}

static void e_poptrap(emit *e, lin_insn *i)
{
    (void)i;
    e_(e, "lg\t%%r13, 0(%%r15)");
    move_sp(e, 16);
    e_adjust(e, -16);
}

static void e_raise(emit *e, lin_insn *i)
{
    if (i->cc == LIN_RAISE_NOTRACE) {
        e_(e, "lg\t%%r1, 8(%%r13)");
        e_(e, "lgr\t%%r15, %%r13");
        e_(e, "lg\t%%r13, 0(%%r15)");
        move_sp(e, 16);
        e_(e, "br\t%%r1");
        return;
    }
    call(e, i->cc == LIN_RAISE_REGULAR ? "caml_raise_exn" : "caml_reraise_exn");
    e_describe(e, i);
}

/* --- functions -------------------------------------------------------------------------------- */
void s390x_function_head(emit *e, const char *name)
{
    e_(e, ".globl\t%s", name);
    e_(e, ".type\t%s, @function", name);
    e_raw(e, "%s:\n", name);
    e_(e, ".cfi_startproc");
    e_(e, ".cfi_val_offset\t%%r15, -160"); /* the psABI's CFA is the caller's SP + 160 */
}

static void stack_check(emit *e)
{
    uint32_t size = e_stack_check_size(e);
    if (!size)
        return;
    ool *o = e_out_of_line(e, OOL_STACK, NULL);
    o->stack_offset = 0;
    e_(e, "lay\t%%r1, -%u(%%r15)", size);
    e_(e, "clg\t%%r1, %d(%%r10)", e->m->off_current_stack);
    e_(e, "brcl\t4, .L%u", o->entry);
    o->back = e_new_label(e);
    e_label(e, o->back);
}

void s390x_prologue(emit *e)
{
    stack_check(e);
    if (!e->has_frame)
        return;
    move_sp(e, -(int64_t)e->frame);
    e_cfa(e, e->frame);
    e_(e, "stg\t%%r14, %u(%%r15)", e->frame - 8);
    e_(e, ".cfi_offset\t%%r14, -168");
}

static void out_of_line_stack(emit *e, ool *o)
{
    e_(e, ".cfi_remember_state");
    e_(e, ".cfi_restore\t%%r14");
    e_(e, ".cfi_def_cfa_offset\t160");
    move_sp(e, -8);
    e_(e, ".cfi_def_cfa_offset\t168");
    e_(e, "stg\t%%r14, 0(%%r15)");
    e_(e, ".cfi_offset\t%%r14, -168");
    load_const(e, "%r12", e_stack_words(e));
    call(e, "caml_call_realloc_stack");
    e_(e, "lg\t%%r14, 0(%%r15)");
    e_(e, ".cfi_restore\t%%r14");
    move_sp(e, 8);
    e_(e, ".cfi_def_cfa_offset\t160");
    e_(e, "jg\t.L%u", o->back);
    e_(e, ".cfi_restore_state");
}

void s390x_out_of_line(emit *e, ool *o)
{
    if (o->kind == OOL_STACK) {
        out_of_line_stack(e, o);
        return;
    }
    call(e, o->kind == OOL_GC ? "caml_call_gc" : "caml_ml_array_bound_error");
    if (o->kind == OOL_GC || e->options->debug || e->bound != o)
        e_describe(e, o->insn);
    if (o->back)
        e_(e, "jg\t.L%u", o->back);
}

/* Upper bounds, bytes: an instruction has at most 6. */
unsigned s390x_size(emit *e, lin_insn *i)
{
    (void)e;
    switch (i->op) {
    case LIN_MULH: return 50;
    case LIN_SWITCH: case LIN_PUSHTRAP: case LIN_RAISE: return 32;
    case LIN_CALL: case LIN_EXTCALL: case LIN_CCALL: case LIN_ALLOC: case LIN_RETURN:
    case LIN_TAILCALL:
        return 36;
    default: return 24;
    }
}

/* --- the table -------------------------------------------------------------------------------- */
void (*const s390x_emit[LIN_TARGET_END])(emit *, lin_insn *) = {
    [LIN_NOP] = e_nothing, [LIN_PARAMS] = e_nothing, [LIN_INCOMING] = e_incoming_word,
    [LIN_MOVE] = e_move, [LIN_OPAQUE] = e_nothing, [LIN_SWAP] = e_swap,
    [LIN_PUSHAREA] = e_pusharea, [LIN_STOREARG] = e_storearg,
    [LIN_CONST] = e_const, [LIN_FCONST] = e_fconst, [LIN_SYMBOL] = e_symbol,
    [LIN_ADD] = e_add, [LIN_SUB] = e_add, [LIN_MUL] = e_mul, [LIN_MULH] = e_mulh,
    [LIN_DIV] = e_divide, [LIN_MOD] = e_divide, [LIN_AND] = e_and, [LIN_OR] = e_or,
    [LIN_XOR] = e_or,
    [LIN_SHL] = e_shift, [LIN_SHR] = e_shift, [LIN_SAR] = e_shift, [LIN_NEG] = e_neg,
    [LIN_SET] = e_set, [LIN_SETF] = e_setf, [LIN_LEA] = e_lea,
    [LIN_FNEG] = e_float_unary, [LIN_FABS] = e_float_unary, [LIN_FSQRT] = e_float_unary,
    [LIN_FADD] = e_float_binary, [LIN_FSUB] = e_float_binary, [LIN_FMUL] = e_float_binary,
    [LIN_FDIV] = e_float_binary, [LIN_FMADD] = e_fused, [LIN_FMSUB] = e_fused,
    [LIN_FOFI] = e_float_unary, [LIN_IOFF] = e_ioff, [LIN_BSWAP] = e_bswap,
    [LIN_LOAD] = e_load, [LIN_LOAD_ATOMIC] = e_load, [LIN_STORE] = e_store,
    [LIN_LOADDOM] = e_loaddom, [LIN_STOREDOM] = e_storedom, [LIN_ALLOC] = e_alloc,
    [LIN_YOUNG] = e_young, [LIN_POLL] = limit_check, [LIN_CALL] = e_call, [LIN_EXTCALL] = e_extcall,
    [LIN_CCALL] = e_ccall, [LIN_CHECKBOUND] = e_checkbound, [LIN_PUSHTRAP] = e_pushtrap,
    [LIN_POPTRAP] = e_poptrap, [LIN_HANDLER] = e_nothing, [LIN_RAISE] = e_raise,
    [LIN_TAILCALL] = e_tailcall, [LIN_RETURN] = e_return, [LIN_JUMP] = e_jump_insn,
    [LIN_BRANCH] = e_conditional, [LIN_BRANCHT] = e_conditional, [LIN_BRANCHF] = e_conditional,
    [LIN_SWITCH] = e_switch,
};
