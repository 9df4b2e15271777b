/* stub.c - where the stubs lead that linkers put between a call and its callee.
 *
 *   slot form     entry of a procedure linkage table:  load the word at an address, jump there
 *   direct form   veneer for a callee out of reach:    build the address, jump there
 *
 * A form is the instruction words that must be there; `how` says which of their fields make the
 * address. Words are read in the order of instructions: little-endian where those are, else as the
 * bytes follow each other (x86, s390x). */
#include "abi/abi.h"
#include "abi/bits.h"

#define MOST_WORDS 5

/* A stub at hand: its words, and what the address may be counted from. */
typedef struct {
    uint32_t w[MOST_WORDS];
    const uint8_t *code;
    size_t avail;
    uint64_t addr, got;
    uint8_t at; /* bytes to the field */
} stub;

static bool rel32(const fk_abi *abi, const stub *s, uint64_t *out)
{
    *out = s->addr + s->at + 4 + (uint64_t)(int32_t)fk_abi_read32(abi, s->code + s->at);
    return true;
}

static bool abs32(const fk_abi *abi, const stub *s, uint64_t *out)
{
    *out = fk_abi_read32(abi, s->code + s->at);
    return true;
}

static bool got32(const fk_abi *abi, const stub *s, uint64_t *out)
{
    *out = (uint32_t)(s->got + fk_abi_read32(abi, s->code + s->at));
    return s->got != 0;
}

/* larl: halfwords, from the instruction */
static bool ri32(const fk_abi *abi, const stub *s, uint64_t *out)
{
    *out = s->addr + (uint64_t)(int64_t)(int32_t)fk_abi_read32(abi, s->code + s->at) * 2;
    return true;
}

/* adrp rd, page: immhi in 23..5, immlo in 30..29; then add #imm12, or ldr #imm12 * 8 */
static bool page(const fk_abi *abi, const stub *s, uint64_t *out)
{
    (void)abi;
    const uint32_t *w = &s->w[s->at / 4];
    int64_t pages = fk_sign_extend((w[0] >> 5 & 0x7ffff) << 2 | (w[0] >> 29 & 3), 21);
    uint64_t low = w[1] >> 10 & 0xfff;
    *out = ((s->addr + s->at) & ~(uint64_t)0xfff) + (uint64_t)(pages * 4096);
    *out += w[1] >> 30 == 3 ? low * 8 : low;
    return true;
}

/* The word behind the code is the slot. */
static bool literal(const fk_abi *abi, const stub *s, uint64_t *out)
{
    (void)abi;
    *out = s->addr + s->at;
    return true;
}

/* The word behind the code is a distance from the adr, the second instruction. */
static bool literal_pic(const fk_abi *abi, const stub *s, uint64_t *out)
{
    if (s->avail < s->at + 8u)
        return false;
    uint64_t low = fk_abi_read32(abi, s->code + s->at);
    *out = s->addr + 4 + (low | (uint64_t)fk_abi_read32(abi, s->code + s->at + 4) << 32);
    return true;
}

/* addis r12, r2, ha; ld or addi r12, lo(r12) */
static bool toc_ha(const fk_abi *abi, const stub *s, uint64_t *out)
{
    (void)abi;
    const uint32_t *w = &s->w[s->at / 4];
    uint32_t low = w[1] >> 26 == 58 ? w[1] & 0xfffc : w[1] & 0xffff;
    *out = s->got + (uint64_t)(fk_sign_extend(w[0], 16) * 65536 + fk_sign_extend(low, 16));
    return s->got != 0;
}

static bool toc_lo(const fk_abi *abi, const stub *s, uint64_t *out)
{
    (void)abi;
    *out = s->got + (uint64_t)fk_sign_extend(s->w[s->at / 4] & 0xfffc, 16);
    return s->got != 0;
}

/* A prefixed instruction: 18 bits and 16, from the prefix. */
static bool pcrel34(const fk_abi *abi, const stub *s, uint64_t *out)
{
    (void)abi;
    const uint32_t *w = &s->w[s->at / 4];
    uint64_t distance = (uint64_t)(w[0] & 0x3ffff) << 16 | (w[1] & 0xffff);
    *out = s->addr + s->at + (uint64_t)fk_sign_extend(distance, 34);
    return true;
}

/* b target */
static bool li26(const fk_abi *abi, const stub *s, uint64_t *out)
{
    (void)abi;
    *out = s->addr + s->at + (uint64_t)fk_sign_extend(s->w[s->at / 4] & 0x3fffffc, 26);
    return true;
}

static bool auipc_ld(const fk_abi *abi, const stub *s, uint64_t *out)
{
    (void)abi;
    *out =
        s->addr + (uint64_t)((int32_t)(s->w[0] & 0xfffff000u) + fk_sign_extend(s->w[1] >> 20, 12));
    return true;
}

/* 8 bits turned right by twice a 4-bit count */
static uint32_t arm_immediate(uint32_t w)
{
    uint32_t turn = (w >> 8 & 15) * 2, n = w & 0xff;
    return turn ? n >> turn | n << (32 - turn) : n;
}

/* add ip, pc, #a; add ip, ip, #b; ldr pc, [ip, #c]! */
static bool arm_sum(const fk_abi *abi, const stub *s, uint64_t *out)
{
    (void)abi;
    const uint32_t *w = &s->w[s->at / 4];
    *out = (uint32_t)(s->addr + s->at + 8 + arm_immediate(w[0]) + arm_immediate(w[1]) +
                      (w[2] & 0xfff));
    return true;
}

typedef bool (*address_fn)(const fk_abi *, const stub *, uint64_t *out);

static const address_fn addresses[] = {
    [FK_STUB_REL32] = rel32,     [FK_STUB_ABS32] = abs32,
    [FK_STUB_GOT32] = got32,     [FK_STUB_RI32] = ri32,
    [FK_STUB_PAGE] = page,       [FK_STUB_LITERAL] = literal,
    [FK_STUB_LITERAL_PIC] = literal_pic,
    [FK_STUB_TOC_HA] = toc_ha,   [FK_STUB_TOC_LO] = toc_lo,
    [FK_STUB_PCREL34] = pcrel34, [FK_STUB_LI26] = li26,
    [FK_STUB_AUIPC_LD] = auipc_ld, [FK_STUB_ARM] = arm_sum,
};

static bool matches(const fk_stub_form *f, const stub *s)
{
    if (s->avail < f->length)
        return false;
    for (size_t i = 0; i < (f->length + 3u) / 4; i++)
        if ((s->w[i] & f->mask[i]) != f->value[i])
            return false;
    return true;
}

/* The words that are there; the last may be a part, as s390x's `br` of two bytes. */
static void read_words(const fk_abi *abi, stub *s)
{
    bool in_order = abi->big_endian || abi->code_align == 1;
    for (size_t i = 0; i < 4 * MOST_WORDS && i < s->avail; i++)
        s->w[i / 4] |= (uint32_t)s->code[i] << 8 * (in_order ? 3 - i % 4 : i % 4);
}

bool fk_abi_stub(const fk_abi *abi, const uint8_t *code, size_t avail, uint64_t addr, uint64_t got,
                 uint64_t *target, bool *slot)
{
    stub s = {.code = code, .avail = avail, .addr = addr, .got = got};
    read_words(abi, &s);
    for (size_t i = 0; i < abi->num_stubs; i++) {
        const fk_stub_form *f = &abi->stubs[i];
        s.at = f->at;
        if (!matches(f, &s) || !addresses[f->how](abi, &s, target))
            continue;
        *slot = f->slot;
        return true;
    }
    return false;
}
