/* riscv64/select.c - 12-bit immediates and displacements. */
#include "emitter/riscv64/riscv64.h"

static bool is_int12(int64_t n)
{
    return n >= -2048 && n < 2048;
}

/* -n fits. */
static bool is_negated12(int64_t n)
{
    return n > -2048 && n <= 2048;
}

static bool set_imm(lin_cc cc, int64_t n)
{
    switch (cc) {
    case LIN_EQ: case LIN_NE: return is_negated12(n);
    case LIN_LE: case LIN_GT: case LIN_LEU: case LIN_GTU: return n >= -2049 && n < 2047 && n != -1;
    default: return is_int12(n);
    }
}

bool riscv64_imm_ok(lin_op op, lin_cc cc, int64_t n)
{
    switch (op) {
    case LIN_ADD: case LIN_AND: case LIN_OR: case LIN_XOR: return is_int12(n);
    case LIN_SUB: return is_negated12(n);
    case LIN_SET: return set_imm(cc, n);
    case LIN_BRANCH: case LIN_CHECKBOUND: case LIN_STORE: return n == 0;
    case LIN_BRANCHT: return is_int12(n) || __builtin_popcountll((uint64_t)n) == 1;
    case LIN_SHL: case LIN_SHR: case LIN_SAR: return n >= 0 && n < 64;
    default: return false;
    }
}

bool riscv64_amode_ok(const lin_amode *m, cmm_chunk chunk, bool store)
{
    (void)chunk;
    (void)store;
    return !m->sym && m->has_base && !m->has_index && is_int12(m->disp);
}
