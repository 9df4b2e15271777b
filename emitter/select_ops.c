/* select_ops.c - operators, addresses, conditions, allocation.
 *
 * Operands are evaluated right to left; deferrable ones stay expressions
 * (sel_opn.e) until the operation, where they fold into immediates and addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/select.h"

/* --- operands ------------------------------------------------------------------- */
static const cmm_expr *resolve(sel *s, const cmm_expr *e)
{
    while (e->kind == CMM_VAR && sel_binding(s, e->u.var)->alias)
        e = sel_binding(s, e->u.var)->alias;
    return e;
}

static bool defers(const cmm_expr *e, effects left)
{
    return cmm_type_count(e->type) == 1 && effects_deferrable(effects_of(e), left);
}

void sel_args(sel *s, cmm_expr *const *args, unsigned n, sel_opn *out)
{
    effects few[8], *left = n < 8 ? few : lin_alloc(s->f->arena, (n + 1) * sizeof *left);
    left[0] = (effects){EFFECT_NONE, READS_NONE, true};
    for (unsigned i = 0; i + 1 < n; i++)
        left[i + 1] = effects_join(left[i], effects_of(args[i]));
    for (unsigned i = n; i-- > 0;) {
        out[i] = (sel_opn){.e = resolve(s, args[i])};
        if (!defers(args[i], left[i]))
            out[i] = (sel_opn){.v = sel_word(s, args[i], 0)};
    }
}

sel_opn sel_child(sel *s, const cmm_expr *e)
{
    return (sel_opn){.e = resolve(s, e)};
}

bool sel_is_simple(sel *s, const cmm_expr *e)
{
    (void)s;
    return effects_of(e).simple;
}

bool sel_const(sel *s, sel_opn o, int64_t *n)
{
    (void)s;
    if (!o.e || o.e->kind != CMM_CONST_INT)
        return false;
    *n = o.e->u.i;
    return true;
}

/* Used at once: a mutable variable needs no copy. */
lin_vreg sel_operand(sel *s, sel_opn o)
{
    if (!o.e)
        return o.v;
    if (o.e->kind == CMM_VAR && sel_binding(s, o.e->u.var)->n == 1)
        return sel_binding(s, o.e->u.var)->v[0];
    return sel_word(s, o.e, 0);
}

/* --- addresses -------------------------------------------------------------------- */
static bool is_add(const cmm_expr *e)
{
    return e->kind == CMM_ADD || e->kind == CMM_ADDA || e->kind == CMM_ADDV;
}

/* Takes constant summands off. */
static const cmm_expr *strip_constants(sel *s, const cmm_expr *e, int64_t *disp)
{
    for (;;) {
        e = resolve(s, e);
        int64_t n;
        if (is_add(e) && sel_const(s, sel_child(s, e->args[1]), &n))
            *disp = (int64_t)((uint64_t)*disp + (uint64_t)n), e = e->args[0];
        else if (is_add(e) && sel_const(s, sel_child(s, e->args[0]), &n))
            *disp = (int64_t)((uint64_t)*disp + (uint64_t)n), e = e->args[1];
        else if (e->kind == CMM_SUB && sel_const(s, sel_child(s, e->args[1]), &n))
            *disp = (int64_t)((uint64_t)*disp - (uint64_t)n), e = e->args[0];
        else
            return e;
    }
}

/* x << k with a small k, as x and its factor. */
static const cmm_expr *strip_scale(sel *s, const cmm_expr *e, unsigned *scale)
{
    int64_t k;
    *scale = 1;
    const cmm_expr *r = resolve(s, e);
    if (r->kind == CMM_LSL && sel_const(s, sel_child(s, r->args[1]), &k) && k >= 0 && k <= 3) {
        *scale = 1u << k;
        return r->args[0];
    }
    return e;
}

static bool fits(sel *s, const lin_amode *m, cmm_chunk chunk, bool store)
{
    return s->t->amode_ok(m, chunk, store);
}

static bool addressable_symbol(sel *s, const cmm_expr *e, int64_t disp, cmm_chunk chunk, bool store)
{
    lin_amode m = {.sym = e->u.sym, .disp = disp};
    return e->kind == CMM_SYMBOL && fits(s, &m, chunk, store);
}

/* base + index * scale (+ disp), operands evaluated in order. */
static bool match_indexed(sel *s, const cmm_expr *e, int64_t disp, cmm_chunk chunk, bool store,
                          sel_address *a)
{
    if (!is_add(e))
        return false;
    unsigned scale0, scale1, swap;
    const cmm_expr *x0 = strip_scale(s, e->args[0], &scale0);
    const cmm_expr *x1 = strip_scale(s, e->args[1], &scale1);
    int64_t inner = 0;
    swap = scale1 == 1 && scale0 > 1;
    if (!swap)
        x0 = e->args[0], scale0 = 1;
    else
        x1 = e->args[1];
    unsigned scale = swap ? scale0 : scale1;
    /* constants under the scale: (i - 1) << 2 */
    const cmm_expr **ix = swap ? &x0 : &x1, **bs = swap ? &x1 : &x0;
    int64_t in_index = 0, in_base = 0;
    const cmm_expr *ix2 = strip_constants(s, *ix, &in_index);
    const cmm_expr *bs2 = strip_constants(s, *bs, &in_base);
    inner = (int64_t)((uint64_t)in_index * scale + (uint64_t)in_base + (uint64_t)disp);
    lin_amode m = {true, true, scale, inner, NULL};
    if (fits(s, &m, chunk, store)) {
        *ix = ix2;
        *bs = bs2;
    } else {
        m.disp = disp;
        if (!fits(s, &m, chunk, store))
            return false;
    }
    cmm_expr *both[2] = {(cmm_expr *)(uintptr_t)x0, (cmm_expr *)(uintptr_t)x1};
    sel_opn o[2];
    sel_args(s, both, 2, o);
    a->base = o[swap];
    a->index = o[!swap];
    a->mode = m;
    return true;
}

static void match_based(sel *s, const cmm_expr *e, int64_t disp, sel_address *a)
{
    cmm_expr *only = (cmm_expr *)(uintptr_t)e;
    sel_args(s, &only, 1, &a->base);
    a->mode = (lin_amode){.has_base = true, .scale = 1, .disp = disp};
}

/* Can a load-address instruction hold the constants of this sum? When not, sel_match_address
 * takes the whole sum as base, and a port that adds with load-address would never end. */
bool sel_sum_fits(sel *s, const cmm_expr *e)
{
    lin_amode m = {.has_base = true, .scale = 1};
    strip_constants(s, e, &m.disp);
    return m.disp == 0 || fits(s, &m, CMM_WORD_INT, false);
}

/* Evaluates what cannot wait; what is left is in a. Always succeeds when the port
 * takes a plain base register. */
bool sel_match_address(sel *s, const cmm_expr *e, cmm_chunk chunk, bool store, sel_address *a)
{
    int64_t disp = 0;
    *a = (sel_address){.base = {0}};
    const cmm_expr *rest = strip_constants(s, e, &disp);
    if (addressable_symbol(s, rest, disp, chunk, store)) {
        a->mode = (lin_amode){.sym = rest->u.sym, .disp = disp, .scale = 1};
        return true;
    }
    if (match_indexed(s, rest, disp, chunk, store, a))
        return true;
    lin_amode m = {.has_base = true, .scale = 1, .disp = disp};
    if (fits(s, &m, chunk, store)) {
        match_based(s, rest, disp, a);
        return true;
    }
    if (disp == 0)
        return false;
    match_based(s, e, 0, a);
    return true;
}

/* An instruction with `nargs` own arguments, then the registers of the address. */
lin_insn *sel_emit_mem(sel *s, lin_op op, unsigned nres, unsigned nargs, cmm_chunk chunk,
                       const sel_address *a)
{
    lin_vreg base = a->mode.has_base ? sel_operand(s, a->base) : 0;
    lin_vreg index = a->mode.has_index ? sel_operand(s, a->index) : 0;
    lin_insn *i = sel_emit(s, op, nres, nargs + (base != 0) + (index != 0));
    if (base) {
        i->base = (int8_t)nargs;
        lin_arg(i, nargs)->v = base;
    }
    if (index) {
        i->index = (int8_t)(nargs + (base != 0));
        lin_arg(i, (unsigned)i->index)->v = index;
    }
    i->scale = (uint8_t)a->mode.scale;
    i->disp = a->mode.disp;
    i->sym = a->mode.sym;
    i->chunk = (uint8_t)chunk;
    return i;
}

/* --- loads and stores ------------------------------------------------------------------ */
lin_vreg sel_load(sel *s, const cmm_expr *e, lin_vreg into)
{
    sel_address a;
    cmm_chunk chunk = (cmm_chunk)e->chunk;
    lin_op op = LIN_LOAD;
    if (e->flags & CMM_ATOMIC) {
        op = LIN_LOAD_ATOMIC;
        match_based(s, e->args[0], 0, &a);
    } else if (!sel_match_address(s, e->args[0], chunk, false, &a))
        match_based(s, e->args[0], 0, &a);
    lin_insn *i = sel_emit_mem(s, op, 1, 0, chunk, &a);
    if (!(e->flags & CMM_MUTABLE))
        i->flags |= LIN_F_IMMUTABLE;
    return sel_result(s, i, cmm_chunks[chunk].value, into);
}

static bool needs_barrier(cmm_chunk chunk, unsigned flags)
{
    return (chunk == CMM_WORD_INT || chunk == CMM_WORD_VAL) &&
           !(flags & (CMM_INIT_HEAP | CMM_INIT_ROOT));
}

static void emit_store(sel *s, cmm_chunk chunk, unsigned flags, const sel_address *a, sel_opn value)
{
    int64_t n;
    bool imm = sel_const(s, value, &n) && s->t->imm_ok(LIN_STORE, LIN_EQ, n);
    lin_vreg v = imm ? 0 : sel_operand(s, value);
    lin_insn *i = sel_emit_mem(s, LIN_STORE, 0, !imm, chunk, a);
    if (imm) {
        i->flags |= LIN_F_IMM;
        i->imm = n;
    } else
        lin_arg(i, 0)->v = v;
    if (needs_barrier(chunk, flags))
        i->flags |= LIN_F_BARRIER;
}

void sel_store(sel *s, const cmm_expr *e)
{
    sel_opn value = {.e = resolve(s, e->args[1])};
    sel_address a;
    cmm_chunk chunk = (cmm_chunk)e->chunk;
    if (!defers(e->args[1], effects_of(e->args[0])))
        value = (sel_opn){.v = sel_word(s, e->args[1], 0)};
    if (!sel_match_address(s, e->args[0], chunk, true, &a))
        match_based(s, e->args[0], 0, &a);
    emit_store(s, chunk, e->flags, &a, value);
}

/* --- allocation -------------------------------------------------------------------------- */
static void init_field(sel *s, lin_vreg block, int64_t ofs, cmm_chunk chunk, sel_opn value)
{
    sel_address a = {.base = {.v = block}, .mode = {.has_base = true, .scale = 1, .disp = ofs}};
    emit_store(s, chunk, CMM_INIT_HEAP, &a, value);
}

lin_vreg sel_alloc(sel *s, const cmm_expr *e, lin_vreg into)
{
    sel_opn *o = lin_alloc(s->f->arena, e->nargs * sizeof *o);
    sel_args(s, e->args, e->nargs, o);
    uint32_t words = 0;
    for (uint32_t k = 1; k < e->nargs; k++)
        words += cmm_type_count(e->args[k]->type);
    if (words < 1 || words > 256)
        cmm_error(s->unit, e->pos, "a block of %u words: alloc takes 1 to 256", (unsigned)words);
    lin_insn *i = sel_emit(s, LIN_ALLOC, 1, 0);
    i->imm = 8 * (int64_t)(words + 1);
    i->disp = 8;
    i->u.allocs = lin_alloc(s->f->arena, sizeof *i->u.allocs);
    i->u.allocs->blocks = lin_alloc(s->f->arena, 4 * sizeof *i->u.allocs->blocks);
    i->u.allocs->room = 4;
    i->u.allocs->count = 1;
    i->u.allocs->blocks[0].wosize = (uint16_t)words;
    i->u.allocs->blocks[0].dbg = e->dbg;
    if (s->f->small)
        i->flags |= LIN_F_SMALL;
    lin_vreg block = sel_result(s, i, CMM_VAL, 0);
    for (uint32_t k = 0, ofs = 0; k < e->nargs; k++) {
        cmm_type type = e->args[k]->type;
        if (k > 0 && cmm_type_count(type) == 0)
            continue;
        bool flt = k > 0 && cmm_type_at(type, 0) == CMM_FLOAT;
        init_field(s, block, (int64_t)ofs - 8, flt ? CMM_DOUBLE : CMM_WORD_INT, o[k]);
        ofs += 8;
    }
    if (into)
        sel_move(s, into, block);
    return into ? into : block;
}

/* --- arithmetic ------------------------------------------------------------------------------- */
static bool commutes(lin_op op)
{
    return op == LIN_ADD || op == LIN_MUL || op == LIN_MULH || op == LIN_AND || op == LIN_OR ||
           op == LIN_XOR || op == LIN_FADD || op == LIN_FMUL;
}

lin_vreg sel_binary(sel *s, lin_op op, sel_opn a, sel_opn b, cmm_component c, lin_vreg into)
{
    int64_t n;
    if (commutes(op) && sel_const(s, a, &n)) {
        sel_opn t = a;
        a = b;
        b = t;
    }
    bool imm = sel_const(s, b, &n);
    if (imm && op == LIN_SUB && n != INT64_MIN && s->t->imm_ok(LIN_ADD, LIN_EQ, -n))
        op = LIN_ADD, n = -n;
    else
        imm = imm && s->t->imm_ok(op, LIN_EQ, n);
    lin_vreg x = sel_operand(s, a), y = imm ? 0 : sel_operand(s, b);
    lin_insn *i = sel_emit(s, op, 1, imm ? 1 : 2);
    lin_arg(i, 0)->v = x;
    if (imm)
        i->flags |= LIN_F_IMM, i->imm = n;
    else
        lin_arg(i, 1)->v = y;
    return sel_result(s, i, c, into);
}

static sel_opn vreg_opn(lin_vreg v)
{
    return (sel_opn){.v = v};
}

static sel_opn constant(sel *s, int64_t n)
{
    cmm_expr *k = lin_alloc(s->f->arena, sizeof *k);
    k->kind = CMM_CONST_INT;
    k->u.i = n;
    k->type = CMM_TYPE1(CMM_INT);
    return (sel_opn){.e = k};
}

/* op with a constant second operand */
static lin_vreg binary_const(sel *s, lin_op op, lin_vreg a, int64_t n, lin_vreg into)
{
    return sel_binary(s, op, vreg_opn(a), constant(s, n), CMM_INT, into);
}

static bool fold(lin_op op, int64_t a, int64_t b, int64_t *r)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case LIN_ADD: *r = (int64_t)(x + y); return true;
    case LIN_SUB: *r = (int64_t)(x - y); return true;
    case LIN_MUL: *r = (int64_t)(x * y); return true;
    case LIN_AND: *r = a & b; return true;
    case LIN_OR: *r = a | b; return true;
    case LIN_XOR: *r = a ^ b; return true;
    case LIN_SHL: *r = (int64_t)(x << (y & 63)); return y < 64;
    case LIN_SHR: *r = (int64_t)(x >> (y & 63)); return y < 64;
    case LIN_SAR: *r = a >> (y & 63); return y < 64;
    default: return false;
    }
}

/* Identities with a constant right operand: x + 0, x * 1, x << 0. */
static bool is_identity(lin_op op, int64_t n)
{
    switch (op) {
    case LIN_ADD: case LIN_SUB: case LIN_OR: case LIN_XOR:
    case LIN_SHL: case LIN_SHR: case LIN_SAR: return n == 0;
    case LIN_MUL: return n == 1;
    case LIN_AND: return n == -1;
    default: return false;
    }
}

/* Unsigned high word of the product of two 64-bit numbers. */
typedef unsigned __int128 u128;

/* Signed division by d: q = mulh(a, m) (+ a) >> shift, plus one when negative.
 * m = ceil(2^(62 + shift + 1) / |d|), the smallest shift that is exact
 * (Granlund and Montgomery 1994, figure 5.2). */
static void magic(uint64_t d, uint64_t *m, unsigned *shift)
{
    unsigned l = 64 - (unsigned)__builtin_clzll(d - 1);
    if (l < 1)
        l = 1;
    u128 one = 1;
    *m = (uint64_t)((one << (63 + l)) / d + 1);
    *shift = l - 1;
}

static lin_vreg divide_power(sel *s, bool mod, lin_vreg a, unsigned k, bool neg, lin_vreg into)
{
    lin_vreg bias =
        k == 1 ? binary_const(s, LIN_SHR, a, 63, 0)
               : binary_const(s, LIN_SHR, binary_const(s, LIN_SAR, a, 63, 0), 64 - (int)k, 0);
    lin_vreg t = sel_binary(s, LIN_ADD, vreg_opn(a), vreg_opn(bias), CMM_INT, 0);
    if (mod) {
        lin_vreg low = binary_const(s, LIN_AND, t, -((int64_t)1 << k), 0);
        return sel_binary(s, LIN_SUB, vreg_opn(a), vreg_opn(low), CMM_INT, into);
    }
    lin_vreg q = binary_const(s, LIN_SAR, t, k, neg ? 0 : into);
    return neg ? sel_binary(s, LIN_SUB, vreg_opn(sel_int(s, 0, 0)), vreg_opn(q), CMM_INT, into) : q;
}

static lin_vreg divide_magic(sel *s, lin_vreg a, int64_t d, lin_vreg into)
{
    uint64_t m;
    unsigned shift;
    magic(d < 0 ? -(uint64_t)d : (uint64_t)d, &m, &shift);
    lin_vreg h =
        sel_binary(s, LIN_MULH, vreg_opn(a), vreg_opn(sel_int(s, (int64_t)m, 0)), CMM_INT, 0);
    h = sel_binary(s, LIN_ADD, vreg_opn(h), vreg_opn(a), CMM_INT, 0); /* m >= 2^63 always */
    if (shift)
        h = binary_const(s, LIN_SAR, h, shift, 0);
    lin_vreg sign = binary_const(s, LIN_SHR, a, 63, 0);
    lin_vreg q = sel_binary(s, LIN_ADD, vreg_opn(h), vreg_opn(sign), CMM_INT, d < 0 ? 0 : into);
    return d < 0 ? sel_binary(s, LIN_SUB, vreg_opn(sel_int(s, 0, 0)), vreg_opn(q), CMM_INT, into)
                 : q;
}

/* Division by a constant other than 0; 0 when there is no cheap way. */
lin_vreg sel_divide(sel *s, bool mod, sel_opn o, int64_t d, lin_vreg into)
{
    if (d == 0 || d == INT64_MIN || s->t->slow_mulh)
        return 0;
    lin_vreg a = sel_operand(s, o);
    uint64_t u = d < 0 ? -(uint64_t)d : (uint64_t)d;
    if (u == 1) {
        if (mod)
            return sel_int(s, 0, into);
        return d == 1
                   ? binary_const(s, LIN_ADD, a, 0, into)
                   : sel_binary(s, LIN_SUB, vreg_opn(sel_int(s, 0, 0)), vreg_opn(a), CMM_INT, into);
    }
    if ((u & (u - 1)) == 0)
        return divide_power(s, mod, a, (unsigned)__builtin_ctzll(u), d < 0, into);
    if (!mod)
        return divide_magic(s, a, d, into);
    lin_vreg q = divide_magic(s, a, d, 0);
    lin_vreg p = binary_const(s, LIN_MUL, q, d, 0);
    return sel_binary(s, LIN_SUB, vreg_opn(a), vreg_opn(p), CMM_INT, into);
}

static lin_vreg multiply_const(sel *s, sel_opn a, int64_t n, lin_vreg into)
{
    if (n > 1 && (n & (n - 1)) == 0)
        return binary_const(s, LIN_SHL, sel_operand(s, a), __builtin_ctzll((uint64_t)n), into);
    return 0;
}

/* Constant operands: folding, identities, cheap forms. 0: nothing special. */
static lin_vreg with_constants(sel *s, lin_op op, sel_opn *o, cmm_component c, lin_vreg into)
{
    int64_t a, b, r;
    bool ca = sel_const(s, o[0], &a), cb = sel_const(s, o[1], &b);
    if (ca && cb && fold(op, a, b, &r))
        return sel_int(s, r, into);
    if (ca && !cb &&
        (op == LIN_ADD || op == LIN_MUL || op == LIN_AND || op == LIN_OR || op == LIN_XOR)) {
        sel_opn t = o[0];
        o[0] = o[1];
        o[1] = t;
        b = a;
        cb = true;
    }
    if (!cb)
        return 0;
    if (is_identity(op, b)) {
        lin_vreg v = sel_operand(s, o[0]);
        lin_vreg to = into ? into : lin_new_vreg(s->f, c);
        sel_move(s, to, v);
        return to;
    }
    if (op == LIN_MUL)
        return multiply_const(s, o[0], b, into);
    if (op == LIN_DIV || op == LIN_MOD)
        return sel_divide(s, op == LIN_MOD, o[0], b, into);
    return 0;
}

/* --- comparisons ------------------------------------------------------------------------------ */
static lin_cc condition_of(cmm_op op)
{
    static const uint8_t plain[] = {
        [CMM_COND_EQ] = LIN_EQ, [CMM_COND_NE] = LIN_NE, [CMM_COND_LT] = LIN_LT,
        [CMM_COND_LE] = LIN_LE, [CMM_COND_GT] = LIN_GT, [CMM_COND_GE] = LIN_GE,
        [CMM_COND_NLT] = LIN_NLT, [CMM_COND_NLE] = LIN_NLE, [CMM_COND_NGT] = LIN_NGT,
        [CMM_COND_NGE] = LIN_NGE,
    };
    lin_cc cc = plain[cmm_ops[op].cond];
    if (cmm_ops[op].cls == CMM_CLASS_COMPARE_U && cc >= LIN_LT && cc <= LIN_GE)
        cc += LIN_LTU - LIN_LT;
    return cc;
}

static bool is_compare(const cmm_expr *e)
{
    cmm_class c = cmm_ops[e->kind].cls;
    return c == CMM_CLASS_COMPARE || c == CMM_CLASS_COMPARE_U;
}

/* SET or BRANCH over two integers; constants go right. */
static lin_insn *compare(sel *s, lin_op op, unsigned nres, lin_cc cc, sel_opn a, sel_opn b)
{
    int64_t n;
    if (sel_const(s, a, &n) && !sel_const(s, b, &n)) {
        sel_opn t = a;
        a = b;
        b = t;
        cc = lin_swap(cc);
    }
    bool imm = sel_const(s, b, &n) && s->t->imm_ok(op, cc, n);
    lin_vreg x = sel_operand(s, a), y = imm ? 0 : sel_operand(s, b);
    lin_insn *i = sel_emit(s, op, nres, imm ? 1 : 2);
    i->cc = cc;
    lin_arg(i, 0)->v = x;
    if (imm)
        i->flags |= LIN_F_IMM, i->imm = n;
    else
        lin_arg(i, 1)->v = y;
    return i;
}

static lin_insn *compare_float(sel *s, lin_op op, unsigned nres, const cmm_expr *e)
{
    sel_opn o[2];
    sel_args(s, e->args, 2, o);
    lin_vreg x = sel_operand(s, o[0]), y = sel_operand(s, o[1]);
    lin_insn *i = sel_emit(s, op, nres, 2);
    i->cc = condition_of((cmm_op)e->kind);
    lin_arg(i, 0)->v = x;
    lin_arg(i, 1)->v = y;
    return i;
}

/* --- operators -------------------------------------------------------------------------------- */
static const uint8_t plain_op[CMM_NUM_OPS] = {
    [CMM_ADD] = LIN_ADD, [CMM_SUB] = LIN_SUB, [CMM_MUL] = LIN_MUL, [CMM_MULH] = LIN_MULH,
    [CMM_DIV] = LIN_DIV, [CMM_MOD] = LIN_MOD, [CMM_AND] = LIN_AND, [CMM_OR] = LIN_OR,
    [CMM_XOR] = LIN_XOR, [CMM_LSL] = LIN_SHL, [CMM_LSR] = LIN_SHR, [CMM_ASR] = LIN_SAR,
    [CMM_ADDA] = LIN_ADD, [CMM_ADDV] = LIN_ADD, [CMM_NEGF] = LIN_FNEG, [CMM_ABSF] = LIN_FABS,
    [CMM_ADDF] = LIN_FADD, [CMM_SUBF] = LIN_FSUB, [CMM_MULF] = LIN_FMUL, [CMM_DIVF] = LIN_FDIV,
    [CMM_FLOATOFINT] = LIN_FOFI, [CMM_INTOFFLOAT] = LIN_IOFF,
};

static cmm_component component_of(const cmm_expr *e)
{
    return cmm_type_count(e->type) ? cmm_type_at(e->type, 0) : CMM_INT;
}

static lin_vreg unary(sel *s, const cmm_expr *e, sel_opn o, lin_vreg into)
{
    lin_vreg x = sel_operand(s, o);
    lin_insn *i = sel_emit(s, plain_op[e->kind], 1, 1);
    lin_arg(i, 0)->v = x;
    return sel_result(s, i, component_of(e), into);
}

/* --- products and the sums around them ------------------------------------------------ */
/* Which operand of a sum is the product to fuse; -1: none. */
static int product_of(const cmm_expr *sum, unsigned fuses)
{
    bool first = sum->args[0]->kind == CMM_MULF, second = sum->args[1]->kind == CMM_MULF;
    if (second && fuses & TARGET_FUSES_REVERSE)
        return 1;
    return first ? 0 : second && sum->kind == CMM_ADDF ? 1 : -1;
}

/* Operands are evaluated from the last written to the first; `at` says which argument of
 * the instruction each is. */
static lin_vreg fused(sel *s, lin_op op, unsigned n, cmm_expr *const *args, const uint8_t *at,
                      lin_vreg into)
{
    sel_opn o[3];
    lin_vreg v[3];
    sel_args(s, args, n, o);
    if (!s->b)
        return into ? into : lin_new_vreg(s->f, CMM_FLOAT);
    for (unsigned k = 0; k < n; k++)
        v[k] = sel_operand(s, o[k]);
    lin_insn *i = sel_emit(s, op, 1, n);
    for (unsigned k = 0; k < n; k++)
        lin_arg(i, at[k])->v = v[k];
    return sel_result(s, i, CMM_FLOAT, into);
}

static lin_vreg fused_sum(sel *s, const cmm_expr *sum, bool negated, lin_vreg into)
{
    int k = product_of(sum, s->t->fuses);
    if (k < 0 || (negated && k != 0))
        return 0;
    cmm_expr *const *ab = sum->args[k]->args, *c = sum->args[!k];
    lin_op op = sum->kind == CMM_ADDF ? negated ? LIN_FNMADD : LIN_FMADD
                : k == 1 || negated ? LIN_FNMSUB
                                      : LIN_FMSUB;
    if (k == 0)
        return fused(s, op, 3, (cmm_expr *[]){ab[0], ab[1], c}, (const uint8_t[]){1, 2, 0}, into);
    return fused(s, op, 3, (cmm_expr *[]){c, ab[0], ab[1]}, (const uint8_t[]){0, 1, 2}, into);
}

static bool is_float_sum(const cmm_expr *e)
{
    return e->kind == CMM_ADDF || e->kind == CMM_SUBF;
}

/* 0: nothing to fuse, and nothing was evaluated. */
static lin_vreg fused_float(sel *s, const cmm_expr *e, lin_vreg into)
{
    if (is_float_sum(e) && s->t->fuses & TARGET_FUSES_SUMS)
        return fused_sum(s, e, false, into);
    if (e->kind != CMM_NEGF)
        return 0;
    const cmm_expr *of = e->args[0];
    if (of->kind == CMM_MULF && s->t->fuses & TARGET_FUSES_NEG_PRODUCT)
        return fused(s, LIN_FNMUL, 2, of->args, (const uint8_t[]){0, 1}, into);
    return is_float_sum(of) && s->t->fuses & TARGET_FUSES_NEG_SUM ? fused_sum(s, of, true, into)
                                                                  : 0;
}

lin_vreg sel_operator(sel *s, const cmm_expr *e, lin_vreg into)
{
    cmm_class cls = cmm_ops[e->kind].cls;
    if (cls == CMM_CLASS_COMPARE_F)
        return sel_result(s, compare_float(s, LIN_SETF, 1, e), CMM_INT, into);
    lin_vreg r = fused_float(s, e, into);
    if (!r && s->t->select)
        r = s->t->select(s, e, into);
    if (r)
        return r;
    sel_opn o[2] = {{0}, {0}};
    sel_args(s, e->args, e->nargs, o);
    if (!s->b)
        return sel_target(s, e, into);
    if (cls == CMM_CLASS_COMPARE || cls == CMM_CLASS_COMPARE_U)
        return sel_result(s, compare(s, LIN_SET, 1, condition_of((cmm_op)e->kind), o[0], o[1]),
                          CMM_INT, into);
    if (e->nargs == 1)
        return unary(s, e, o[0], into);
    lin_op op = plain_op[e->kind];
    r = with_constants(s, op, o, component_of(e), into);
    return r ? r : sel_binary(s, op, o[0], o[1], component_of(e), into);
}

/* --- conditions ------------------------------------------------------------------------------- */
static void branch(sel *s, lin_insn *i, lin_block *yes, lin_block *no)
{
    sel_finish(s, i, 2, (lin_block *[]){yes, no});
}

/* Bits of x under a constant mask; true when the port tests them. */
static bool test_bits(sel *s, const cmm_expr *e, lin_cc cc, lin_block *yes, lin_block *no)
{
    int64_t mask;
    if (e->kind != CMM_AND || !s->t->tests_bits || !sel_const(s, sel_child(s, e->args[1]), &mask) ||
        !s->t->imm_ok(LIN_BRANCHT, cc, mask))
        return false;
    sel_opn o;
    sel_args(s, e->args, 1, &o);
    lin_vreg x = sel_operand(s, o);
    lin_insn *i = sel_emit(s, LIN_BRANCHT, 0, 1);
    i->cc = cc;
    i->imm = mask;
    i->flags |= LIN_F_IMM;
    lin_arg(i, 0)->v = x;
    branch(s, i, yes, no);
    return true;
}

static void condition_compare(sel *s, const cmm_expr *e, lin_block *yes, lin_block *no)
{
    int64_t n;
    lin_cc cc = condition_of((cmm_op)e->kind);
    if ((cc == LIN_EQ || cc == LIN_NE) && sel_const(s, sel_child(s, e->args[1]), &n) && n == 0 &&
        test_bits(s, resolve(s, e->args[0]), cc, yes, no))
        return;
    sel_opn o[2];
    sel_args(s, e->args, 2, o);
    if (s->b)
        branch(s, compare(s, LIN_BRANCH, 0, cc, o[0], o[1]), yes, no);
}

static void condition_if(sel *s, const cmm_expr *e, lin_block *yes, lin_block *no)
{
    lin_block *a = sel_block(s), *b = sel_block(s);
    sel_condition(s, e->args[0], a, b);
    sel_at(s, a);
    sel_condition(s, e->args[1], yes, no);
    sel_at(s, b);
    sel_condition(s, e->args[2], yes, no);
}

void sel_branch_const(sel *s, lin_vreg v, lin_cc cc, int64_t n, lin_block *yes, lin_block *no)
{
    branch(s, compare(s, LIN_BRANCH, 0, cc, vreg_opn(v), constant(s, n)), yes, no);
}

static void condition_value(sel *s, const cmm_expr *e, lin_block *yes, lin_block *no)
{
    lin_vreg v = sel_word(s, e, 0);
    if (s->b)
        sel_branch_const(s, v, LIN_NE, 0, yes, no);
}

void sel_condition(sel *s, const cmm_expr *e, lin_block *yes, lin_block *no)
{
    if (!s->b)
        return;
    e = resolve(s, e);
    const cmm_dbg *outer = s->dbg;
    if (e->dbg)
        s->dbg = e->dbg;
    if (e->kind == CMM_CONST_INT)
        sel_jump(s, e->u.i ? yes : no);
    else if (is_compare(e))
        condition_compare(s, e, yes, no);
    else if (cmm_ops[e->kind].cls == CMM_CLASS_COMPARE_F) {
        lin_insn *i = compare_float(s, LIN_BRANCHF, 0, e);
        if (s->b)
            branch(s, i, yes, no);
    } else if (e->kind == CMM_IF && e->type != CMM_NEVER)
        condition_if(s, e, yes, no);
    else if (!test_bits(s, e, LIN_NE, yes, no))
        condition_value(s, e, yes, no);
    s->dbg = outer;
}

/* --- bounds ----------------------------------------------------------------------------------- */
void sel_checkbound(sel *s, const cmm_expr *e)
{
    sel_opn o[2];
    int64_t n;
    sel_args(s, e->args, 2, o);
    if (!s->b)
        return;
    bool imm = sel_const(s, o[1], &n) && s->t->imm_ok(LIN_CHECKBOUND, LIN_EQ, n);
    lin_vreg size = sel_operand(s, o[0]), index = imm ? 0 : sel_operand(s, o[1]);
    lin_insn *i = sel_emit(s, LIN_CHECKBOUND, 0, imm ? 1 : 2);
    i->dbg = e->dbg;
    lin_arg(i, 0)->v = size;
    if (imm)
        i->flags |= LIN_F_IMM, i->imm = n;
    else
        lin_arg(i, 1)->v = index;
}
