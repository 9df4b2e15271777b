/* power/select.c - immediates and addresses. */
#include "emitter/power/power.h"

static bool is_int16(int64_t n)
{
    return n == (int16_t)n;
}

static bool is_uint16(int64_t n)
{
    return n == (int64_t)(uint16_t)n;
}

/* addis and addi together; the high part must fit after the low one is taken off. */
static bool is_added(int64_t n)
{
    return n == (int32_t)n && is_int16(power_high(n));
}

bool power_is_low_mask(int64_t n, unsigned *bits)
{
    uint64_t m = (uint64_t)n;
    *bits = (unsigned)__builtin_popcountll(m);
    return m != 0 && m != UINT64_MAX && (m & (m + 1)) == 0;
}

bool power_is_high_mask(int64_t n, unsigned *bits)
{
    uint64_t m = ~(uint64_t)n;
    *bits = 64u - (unsigned)__builtin_popcountll(m);
    return m != 0 && m != UINT64_MAX && (m & (m + 1)) == 0;
}

bool power_imm_ok(lin_op op, lin_cc cc, int64_t n)
{
    unsigned bits;
    switch (op) {
    case LIN_ADD: return is_added(n);
    case LIN_SUB: return n != INT64_MIN && is_added(-n);
    case LIN_MUL: case LIN_STORE: return is_int16(n);
    case LIN_AND:
        return is_uint16(n) || power_is_low_mask(n, &bits) || power_is_high_mask(n, &bits);
    case LIN_OR: case LIN_XOR: return n == (int64_t)(uint32_t)n;
    case LIN_BRANCH: case LIN_SET:
        return cc >= LIN_LTU && cc <= LIN_GEU ? is_uint16(n) : is_int16(n);
    case LIN_CHECKBOUND: return is_uint16(n);
    case LIN_BRANCHT: return n > 0 && is_uint16(n);
    case LIN_SHL: case LIN_SHR: case LIN_SAR: return n >= 0 && n < 64;
    default: return false;
    }
}

/* disp(base), or base + index without displacement. Words and sign-extended 32-bit
 * loads need a displacement that is a multiple of 4. */
bool power_amode_ok(const lin_amode *m, cmm_chunk chunk, bool store)
{
    bool by_four =
        (cmm_chunks[chunk].bytes == 8 && chunk != CMM_DOUBLE) || (chunk == CMM_INT32_S && !store);
    if (m->sym || !m->has_base)
        return false;
    if (m->has_index)
        return m->scale == 1 && m->disp == 0;
    return is_int16(m->disp) && !(by_four && m->disp % 4 != 0);
}
