/* bytes.h - loads of either byte order from unaligned memory, and bounded views.
 *
 * `swap` is true when the file's byte order is not this machine's. Everything that reads a file
 * goes through these, so a big-endian table is read by the same code as a little-endian one. */
#ifndef FK_FRAMETABLE_BYTES_H
#define FK_FRAMETABLE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t fk_ld16(const uint8_t *p, bool swap)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t fk_ld32(const uint8_t *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t fk_ld64(const uint8_t *p, bool swap)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap64(v) : v;
}

static inline uint64_t fk_ldword(const uint8_t *p, unsigned word, bool swap)
{
    return word == 8 ? fk_ld64(p, swap) : fk_ld32(p, swap);
}

static inline void fk_st16(uint8_t *p, uint16_t v, bool swap)
{
    v = swap ? __builtin_bswap16(v) : v;
    memcpy(p, &v, sizeof v);
}

static inline void fk_st32(uint8_t *p, uint32_t v, bool swap)
{
    v = swap ? __builtin_bswap32(v) : v;
    memcpy(p, &v, sizeof v);
}

static inline void fk_st64(uint8_t *p, uint64_t v, bool swap)
{
    v = swap ? __builtin_bswap64(v) : v;
    memcpy(p, &v, sizeof v);
}

static inline void fk_stword(uint8_t *p, uint64_t v, unsigned word, bool swap)
{
    if (word == 8)
        fk_st64(p, v, swap);
    else
        fk_st32(p, (uint32_t)v, swap);
}

static inline bool fk_host_big_endian(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 0;
}

/* Bytes from `address` up to the next multiple of `align` (a power of two). */
static inline unsigned fk_pad(uint64_t address, unsigned align)
{
    return (unsigned)(-address & (align - 1));
}

#endif
