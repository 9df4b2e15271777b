/* reader.h - a bounded reader of DWARF's numbers: past the end it sets `bad` and gives 0. */
#ifndef FK_VERIFY_READER_H
#define FK_VERIFY_READER_H

#include "frametable/bytes.h"

typedef struct {
    const uint8_t *p, *end;
    bool swap, bad;
} fk_reader;

static inline const uint8_t *fk_read_bytes(fk_reader *r, size_t n)
{
    const uint8_t *p = r->p;
    if ((size_t)(r->end - p) < n) {
        r->bad = true;
        r->p = r->end;
        return NULL;
    }
    r->p += n;
    return p;
}

static inline uint8_t fk_read_u8(fk_reader *r)
{
    const uint8_t *p = fk_read_bytes(r, 1);
    return p ? *p : 0;
}

static inline uint16_t fk_read_u16(fk_reader *r)
{
    const uint8_t *p = fk_read_bytes(r, 2);
    return p ? fk_ld16(p, r->swap) : 0;
}

static inline uint32_t fk_read_u32(fk_reader *r)
{
    const uint8_t *p = fk_read_bytes(r, 4);
    return p ? fk_ld32(p, r->swap) : 0;
}

static inline uint64_t fk_read_u64(fk_reader *r)
{
    const uint8_t *p = fk_read_bytes(r, 8);
    return p ? fk_ld64(p, r->swap) : 0;
}

/* Bits above the 64th are dropped. */
static inline uint64_t fk_read_leb(fk_reader *r, bool is_signed)
{
    uint64_t v = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        byte = fk_read_u8(r);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80 && !r->bad);
    if (is_signed && shift < 64 && byte & 0x40)
        v |= ~(uint64_t)0 << shift;
    return v;
}

static inline uint64_t fk_read_uleb(fk_reader *r)
{
    return fk_read_leb(r, false);
}

static inline int64_t fk_read_sleb(fk_reader *r)
{
    return (int64_t)fk_read_leb(r, true);
}

/* Up to and with its NUL; NULL: not terminated. */
static inline const char *fk_read_string(fk_reader *r)
{
    const uint8_t *p = r->p,
                  *nul = (size_t)(r->end - p) ? memchr(p, 0, (size_t)(r->end - p)) : NULL;
    if (nul == NULL) {
        r->bad = true;
        r->p = r->end;
        return NULL;
    }
    r->p = nul + 1;
    return (const char *)p;
}

#endif
