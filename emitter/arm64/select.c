/* arm64/select.c - immediates, addresses, shifted operands, multiply-add. */
#include "emitter/arm64/arm64.h"

/* A run of ones, rotated, repeated in elements of 2 to 64 bits. */
bool arm64_logical_imm(uint64_t n)
{
    if (n == 0 || n == UINT64_MAX)
        return false;
    unsigned size = 64;
    while (size > 2) {
        unsigned half = size / 2;
        uint64_t mask = ((uint64_t)1 << half) - 1;
        if ((n & mask) != (n >> half & mask))
            break;
        size = half;
    }
    uint64_t mask = size == 64 ? UINT64_MAX : ((uint64_t)1 << size) - 1;
    uint64_t e = n & mask;
    uint64_t rot = (e >> 1 | e << (size - 1)) & mask;
    return __builtin_popcountll(e ^ rot) == 2; /* two borders: one run */
}

static bool add_imm(int64_t n)
{
    uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n;
    return u < 4096 || (u < (1u << 24) && (u & 4095) == 0);
}

bool arm64_imm_ok(lin_op op, lin_cc cc, int64_t n)
{
    (void)cc;
    switch (op) {
    case LIN_ADD: case LIN_SUB: case LIN_BRANCH: case LIN_SET: case LIN_CHECKBOUND:
        return add_imm(n);
    case LIN_AND: case LIN_OR: case LIN_XOR: return arm64_logical_imm((uint64_t)n);
    case LIN_BRANCHT: return arm64_logical_imm((uint64_t)n);
    case LIN_SHL: case LIN_SHR: case LIN_SAR: return n >= 0 && n < 64;
    case LIN_STORE: return n == 0;
    default: return false;
    }
}

bool arm64_amode_ok(const lin_amode *m, cmm_chunk chunk, bool store)
{
    (void)store;
    int64_t size = cmm_chunks[chunk].bytes;
    if (m->sym || !m->has_base)
        return false;
    if (m->has_index)
        return m->disp == 0 && (m->scale == 1 || m->scale == size);
    return (m->disp >= -256 && m->disp < 256) ||
           (m->disp >= 0 && m->disp % size == 0 && m->disp / size < 4096);
}

static cmm_component component(const cmm_expr *e)
{
    return cmm_type_count(e->type) ? cmm_type_at(e->type, 0) : CMM_INT;
}

static bool is_shift(struct sel *s, const cmm_expr *e, int64_t *k)
{
    return e->kind == CMM_LSL && sel_const(s, sel_child(s, e->args[1]), k) && *k > 0 && *k < 64;
}

/* op with arguments a, b (, c), evaluated right to left */
static lin_vreg fused(struct sel *s, const cmm_expr *e, lin_op op, unsigned n,
                      cmm_expr *const *args, int64_t imm, lin_vreg into)
{
    sel_opn o[3];
    lin_vreg v[3];
    sel_args(s, args, n, o);
    for (unsigned k = 0; k < n; k++)
        v[k] = sel_operand(s, o[k]);
    lin_insn *i = sel_emit(s, op, 1, n);
    i->imm = imm;
    for (unsigned k = 0; k < n; k++)
        lin_arg(i, k)->v = v[k];
    return sel_result(s, i, component(e), into);
}

static lin_vreg shifted(struct sel *s, const cmm_expr *e, lin_vreg into)
{
    cmm_expr *x = (cmm_expr *)(uintptr_t)sel_child(s, e->args[0]).e;
    cmm_expr *y = (cmm_expr *)(uintptr_t)sel_child(s, e->args[1]).e;
    int64_t k, n;
    if (is_shift(s, y, &k) && !sel_const(s, sel_child(s, x), &n))
        return fused(s, e, (lin_op)(e->kind == CMM_SUB ? ARM_SUBSHIFT : ARM_ADDSHIFT), 2,
                     (cmm_expr *[]){x, y->args[0]}, k, into);
    return 0;
}

static lin_vreg multiply_add(struct sel *s, const cmm_expr *e, lin_vreg into)
{
    cmm_expr *x = (cmm_expr *)(uintptr_t)sel_child(s, e->args[0]).e;
    cmm_expr *y = (cmm_expr *)(uintptr_t)sel_child(s, e->args[1]).e;
    int64_t n;
    if (y->kind == CMM_MUL && !sel_const(s, sel_child(s, y->args[1]), &n) &&
        !sel_const(s, sel_child(s, x), &n)) {
        sel_opn o[3];
        cmm_expr *args[] = {x, y->args[0], y->args[1]};
        sel_args(s, args, 3, o);
        lin_vreg a = sel_operand(s, o[1]), b = sel_operand(s, o[2]), c = sel_operand(s, o[0]);
        lin_insn *i = sel_emit(s, (lin_op)(e->kind == CMM_SUB ? ARM_MSUB : ARM_MADD), 1, 3);
        lin_arg(i, 0)->v = a;
        lin_arg(i, 1)->v = b;
        lin_arg(i, 2)->v = c;
        return sel_result(s, i, component(e), into);
    }
    return 0;
}

lin_vreg arm64_select(struct sel *s, const cmm_expr *e, lin_vreg into)
{
    switch (e->kind) {
    case CMM_ADD: case CMM_ADDA: case CMM_ADDV: case CMM_SUB: {
        lin_vreg r = shifted(s, e, into);
        return r ? r : multiply_add(s, e, into);
    }
    default: return 0;
    }
}
