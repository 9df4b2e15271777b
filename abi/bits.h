/* bits.h - fields of instructions, shared by the files of this folder. */
#ifndef FK_ABI_BITS_H
#define FK_ABI_BITS_H

#include "abi/abi.h"

static inline uint32_t fk_abi_read32(const fk_abi *abi, const uint8_t *p)
{
    if (abi->big_endian)
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* The low `bits` bits of n, signed. */
static inline int64_t fk_sign_extend(uint64_t n, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);
    return (int64_t)((n & (2 * sign - 1)) ^ sign) - (int64_t)sign;
}

#endif
