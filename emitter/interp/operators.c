/* operators.c - what each operator computes. */
#include <math.h>
#include <string.h>

#include "emitter/interp/interp.h"

static const machine machines[] = {
    /* name     big    x / 0          min/-1  shift saturates NaN                  fuses */
    {"amd64",   false, DIV_TRAPS,     true,   64,  false, 0x8000000000000000u, 0},
    {"arm64",   false, DIV_ZERO,      false,  64,  true,  0,                   FUSE_SUMS | FUSE_REVERSE},
    /* a division by zero gives something undefined: refused */
    {"power",   false, DIV_TRAPS,     true,   128, true,  0x8000000000000000u, FUSE_SUMS},
    {"s390x",   true,  DIV_TRAPS,     true,   64,  true,  0x8000000000000000u, FUSE_SUMS},
    {"riscv64", false, DIV_MINUS_ONE, false,  64,  true,  0x7fffffffffffffffu, FUSE_SUMS | FUSE_NEGATED},
};

const machine *machine_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (strcmp(machines[i].name, name) == 0) {
            return &machines[i];
        }
    }
    return NULL;
}

static bool divide(const machine *m, bool rem, int64_t a, int64_t b, uint64_t *r)
{
    if (b == 0) {
        *r = rem ? (uint64_t)a : m->by_zero == DIV_ZERO ? 0 : UINT64_MAX;
        return m->by_zero != DIV_TRAPS;
    }
    if (a == INT64_MIN && b == -1) {
        *r = rem ? 0 : (uint64_t)a;
        return !m->overflow_traps;
    }
    *r = (uint64_t)(rem ? a % b : a / b);
    return true;
}

static uint64_t shift(const machine *m, cmm_op op, uint64_t a, uint64_t count)
{
    count &= m->shift_modulus - 1;
    if (op == CMM_LSL) {
        return count > 63 ? 0 : a << count;
    }
    if (op == CMM_LSR) {
        return count > 63 ? 0 : a >> count;
    }
    return (uint64_t)((int64_t)a >> (count > 63 ? 63 : count));
}

static bool compare(cmm_cond c, int order) /* order: -1 0 1, 2 unordered */
{
    switch (c) {
    case CMM_COND_EQ: return order == 0;
    case CMM_COND_NE: return order != 0;
    case CMM_COND_LT: return order == -1;
    case CMM_COND_LE: return order == -1 || order == 0;
    case CMM_COND_GT: return order == 1;
    case CMM_COND_GE: return order == 1 || order == 0;
    case CMM_COND_NLT: return order != -1;
    case CMM_COND_NLE: return order == 1 || order == 2;
    case CMM_COND_NGT: return order != 1;
    default: return order == -1 || order == 2;
    }
}

static int order_signed(int64_t a, int64_t b) { return (a > b) - (a < b); }
static int order_unsigned(uint64_t a, uint64_t b) { return (a > b) - (a < b); }
static int order_float(double a, double b)
{
    return isnan(a) || isnan(b) ? 2 : (a > b) - (a < b);
}

static uint64_t int_of_float(const machine *m, double d)
{
    if (isnan(d)) {
        return m->nan_to_int;
    }
    if (d >= -0x1p63 && d < 0x1p63) {
        return (uint64_t)(int64_t)d;
    }
    return m->saturates && d > 0 ? INT64_MAX : (uint64_t)INT64_MIN;
}

static uint64_t float_operator(cmm_op op, double a, double b)
{
    switch (op) {
    case CMM_ADDF: return bits_of(a + b);
    case CMM_SUBF: return bits_of(a - b);
    case CMM_MULF: return bits_of(a * b);
    default: return bits_of(a / b);
    }
}

bool apply_operator(const machine *m, cmm_op op, uint64_t a, uint64_t b, uint64_t *r)
{
    const cmm_op_info *info = &cmm_ops[op];
    switch (info->cls) {
    case CMM_CLASS_COMPARE:
        *r = compare(info->cond, order_signed((int64_t)a, (int64_t)b));
        return true;
    case CMM_CLASS_COMPARE_U: *r = compare(info->cond, order_unsigned(a, b)); return true;
    case CMM_CLASS_COMPARE_F:
        *r = compare(info->cond, order_float(double_of(a), double_of(b)));
        return true;
    default: break;
    }
    switch (op) {
    case CMM_ADD: case CMM_ADDA: case CMM_ADDV: *r = a + b; return true;
    case CMM_SUB: *r = a - b; return true;
    case CMM_MUL: *r = a * b; return true;
    case CMM_MULH: *r = (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64); return true;
    case CMM_DIV: return divide(m, false, (int64_t)a, (int64_t)b, r);
    case CMM_MOD: return divide(m, true, (int64_t)a, (int64_t)b, r);
    case CMM_AND: *r = a & b; return true;
    case CMM_OR: *r = a | b; return true;
    case CMM_XOR: *r = a ^ b; return true;
    case CMM_LSL: case CMM_LSR: case CMM_ASR: *r = shift(m, op, a, b); return true;
    case CMM_NEGF: *r = a ^ (uint64_t)1 << 63; return true;
    case CMM_ABSF: *r = a & ~((uint64_t)1 << 63); return true;
    case CMM_FLOATOFINT: *r = bits_of((double)(int64_t)a); return true;
    case CMM_INTOFFLOAT: *r = int_of_float(m, double_of(a)); return true;
    default: *r = float_operator(op, double_of(a), double_of(b)); return true;
    }
}
