/* s390x/select.c - immediates and addresses. */
#include "emitter/s390x/s390x.h"

static bool is_int32(int64_t n)
{
    return n == (int32_t)n;
}

static bool is_uint32(int64_t n)
{
    return n == (int64_t)(uint32_t)n;
}

bool s390x_is_mask(int64_t n, unsigned *first, unsigned *last)
{
    uint64_t m = (uint64_t)n;
    if (m == 0 || m == UINT64_MAX)
        return false;
    *first = (unsigned)__builtin_clzll(m);
    *last = 63u - (unsigned)__builtin_ctzll(m);
    uint64_t run = (UINT64_MAX >> *first) & (UINT64_MAX << (63u - *last));
    return run == m;
}

/* nilf changes the low half only: the high half must be all ones. */
static bool and_ok(int64_t n)
{
    unsigned first, last;
    return (n < 0 && n >= -((int64_t)1 << 32)) || s390x_is_mask(n, &first, &last);
}

bool s390x_imm_ok(lin_op op, lin_cc cc, int64_t n)
{
    switch (op) {
    case LIN_ADD: case LIN_MUL: return is_int32(n);
    case LIN_SUB: return n != INT64_MIN && is_int32(-n);
    case LIN_AND: return and_ok(n);
    case LIN_OR: case LIN_XOR: return is_uint32(n);
    case LIN_BRANCH: case LIN_SET:
        return cc >= LIN_LTU && cc <= LIN_GEU ? is_uint32(n) : is_int32(n);
    case LIN_CHECKBOUND: return is_uint32(n);
    case LIN_BRANCHT: return n > 0 && n <= 0xffff;
    case LIN_STORE: return n == (int16_t)n;
    case LIN_SHL: case LIN_SHR: case LIN_SAR: return n >= 0 && n < 64;
    default: return false;
    }
}

/* base + index + disp; single precision has 12-bit displacements where it is widened. */
bool s390x_amode_ok(const lin_amode *m, cmm_chunk chunk, bool store)
{
    if (m->sym || !m->has_base || (m->has_index && m->scale != 1))
        return false;
    return chunk == CMM_SINGLE && !store ? s390x_is_disp12(m->disp) : s390x_is_disp20(m->disp);
}

static bool is_add(const cmm_expr *e)
{
    return e->kind == CMM_ADD || e->kind == CMM_ADDA || e->kind == CMM_ADDV;
}

/* x + y + constant in one load-address. */
lin_vreg s390x_select(struct sel *s, const cmm_expr *e, lin_vreg into)
{
    int64_t c;
    sel_address a;
    if (!is_add(e) || !sel_const(s, sel_child(s, e->args[1]), &c) ||
        !is_add(sel_child(s, e->args[0]).e))
        return 0;
    if (!sel_sum_fits(s, e) || !sel_match_address(s, e, CMM_WORD_INT, false, &a))
        return 0;
    lin_insn *i = sel_emit_mem(s, LIN_LEA, 1, 0, CMM_WORD_INT, &a);
    return sel_result(s, i, cmm_type_count(e->type) ? cmm_type_at(e->type, 0) : CMM_INT, into);
}
