/* amd64/select.c - immediates, addresses, lea. */
#include "emitter/amd64/amd64.h"

static bool is_int32(int64_t n)
{
    return n == (int32_t)n;
}

bool amd64_imm_ok(lin_op op, lin_cc cc, int64_t n)
{
    (void)cc;
    switch (op) {
    case LIN_ADD: case LIN_SUB: case LIN_MUL: case LIN_AND: case LIN_OR: case LIN_XOR:
    case LIN_BRANCH: case LIN_SET: case LIN_CHECKBOUND: case LIN_STORE:
        return is_int32(n);
    case LIN_BRANCHT: return is_int32(n);
    case LIN_SHL: case LIN_SHR: case LIN_SAR: return n >= 0 && n < 64;
    default: return false;
    }
}

bool amd64_amode_ok(const lin_amode *m, cmm_chunk chunk, bool store)
{
    (void)chunk;
    (void)store;
    if (m->sym)
        return !m->has_base && !m->has_index && is_int32(m->disp) && target_local_symbol(m->sym);
    return m->has_base && is_int32(m->disp);
}

static bool is_add(const cmm_expr *e)
{
    return e->kind == CMM_ADD || e->kind == CMM_ADDA || e->kind == CMM_ADDV;
}

static bool is_scaled(struct sel *s, const cmm_expr *e)
{
    int64_t k;
    return e->kind == CMM_LSL && sel_const(s, sel_child(s, e->args[1]), &k) && k >= 1 && k <= 3;
}

static lin_vreg emit_lea(struct sel *s, const cmm_expr *e, const sel_address *a, lin_vreg into)
{
    lin_insn *i = sel_emit_mem(s, LIN_LEA, 1, 0, CMM_WORD_INT, a);
    return sel_result(s, i, cmm_type_count(e->type) ? cmm_type_at(e->type, 0) : CMM_INT, into);
}

/* (x << k) + c without a base: lea c(,x,k); x << 1 + c has a short form x + x + c. */
static lin_vreg scaled_plus(struct sel *s, const cmm_expr *e, lin_vreg into)
{
    int64_t c, k;
    const cmm_expr *x = sel_child(s, e->args[0]).e;
    if (!is_scaled(s, x) || !sel_const(s, sel_child(s, e->args[1]), &c) || !is_int32(c))
        return 0;
    sel_const(s, sel_child(s, x->args[1]), &k);
    sel_opn o;
    sel_args(s, x->args, 1, &o);
    sel_address a = {.base = {.v = sel_operand(s, o)}, .mode = {.disp = c, .scale = 1}};
    a.index = a.base;
    a.mode.has_index = true;
    a.mode.has_base = k == 1;
    a.mode.scale = k == 1 ? 1u : 1u << k;
    return emit_lea(s, e, &a, into);
}

lin_vreg amd64_select(struct sel *s, const cmm_expr *e, lin_vreg into)
{
    if (!is_add(e))
        return 0;
    const cmm_expr *x = sel_child(s, e->args[0]).e, *y = sel_child(s, e->args[1]).e;
    int64_t c;
    bool constant = sel_const(s, sel_child(s, e->args[1]), &c);
    if (constant && is_scaled(s, x))
        return scaled_plus(s, e, into);
    bool three = (constant && is_int32(c) && is_add(x)) ||
                 (!constant && (is_scaled(s, x) || is_scaled(s, y)));
    sel_address a;
    if (!three)
        return 0;
    if (!sel_sum_fits(s, e) || !sel_match_address(s, e, CMM_WORD_INT, false, &a))
        return 0;
    return emit_lea(s, e, &a, into);
}
