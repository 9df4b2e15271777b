/* arm64.c - A64 as compilers of OCaml use it: mask, value and what to make of a match. */
#include "frametable/verify/insn.h"

typedef void (*form)(uint32_t w, fk_insn *i);

#define FIELD(w, lo, n) (((w) >> (lo)) & ((1u << (n)) - 1))
enum { ZR = 31, SP = 31 };

/* Register 31 reads as zero and is not written, where it is not the stack pointer. */
static uint8_t not_zr(unsigned r)
{
    return r == ZR ? FK_NO_REG : (uint8_t)r;
}

static void writes(fk_insn *i, fk_op op, uint8_t rd)
{
    i->op = (uint8_t)op;
    i->rd = rd;
    i->writes = FK_REG_BIT(rd);
}

static void add_imm(uint32_t w, fk_insn *i)
{
    int64_t imm = (int64_t)FIELD(w, 10, 12) << (FIELD(w, 22, 1) ? 12 : 0);
    i->imm = FIELD(w, 30, 1) ? -imm : imm;
    i->rs = (uint8_t)FIELD(w, 5, 5);
    if (!FIELD(w, 31, 1)) /* 32 bits */
        writes(i, FK_OP_OTHER, not_zr(FIELD(w, 0, 5)));
    else if (!FIELD(w, 29, 1))
        writes(i, FK_OP_ADD, (uint8_t)FIELD(w, 0, 5));
    else if (FIELD(w, 0, 5) != ZR) /* adds, subs */
        writes(i, FK_OP_OTHER, (uint8_t)FIELD(w, 0, 5));
    else {
        i->op = FK_OP_CMP;
        i->imm = -i->imm;
        i->flags |= FK_I_IMM;
    }
}

static void add_shifted(uint32_t w, fk_insn *i)
{
    bool plain = FIELD(w, 10, 6) == 0 && FIELD(w, 31, 1);
    i->rs = not_zr(FIELD(w, 5, 5));
    i->rt = not_zr(FIELD(w, 16, 5));
    if (FIELD(w, 29, 1) && FIELD(w, 0, 5) == ZR) {
        i->op = plain && FIELD(w, 30, 1) ? FK_OP_CMP : FK_OP_OTHER;
        return;
    }
    fk_op op = FIELD(w, 30, 1) ? FK_OP_SUBREG : FK_OP_ADDREG;
    if (FIELD(w, 29, 1) || i->rs == FK_NO_REG || i->rt == FK_NO_REG ||
        (!plain && op == FK_OP_SUBREG))
        op = FK_OP_OTHER;
    if (op == FK_OP_ADDREG && !plain)
        i->size = 1; /* rt is scaled */
    writes(i, op, not_zr(FIELD(w, 0, 5)));
}

/* cmp sp, x16 and add sp, sp, x16 are the extended form */
static void add_extended(uint32_t w, fk_insn *i)
{
    bool plain = FIELD(w, 10, 3) == 0 && FIELD(w, 13, 3) == 3;
    i->rs = (uint8_t)FIELD(w, 5, 5);
    i->rt = not_zr(FIELD(w, 16, 5));
    if (FIELD(w, 29, 1) && FIELD(w, 0, 5) == ZR)
        i->op = plain && FIELD(w, 30, 1) ? FK_OP_CMP : FK_OP_OTHER;
    else
        writes(i,
               !plain            ? FK_OP_OTHER
               : FIELD(w, 30, 1) ? FK_OP_SUBREG
                                 : FK_OP_ADDREG,
               (uint8_t)FIELD(w, 0, 5));
}

static void move(uint32_t w, fk_insn *i)
{
    unsigned rm = FIELD(w, 16, 5);
    i->rs = (uint8_t)rm;
    if (rm == ZR)
        writes(i, FK_OP_IMM, not_zr(FIELD(w, 0, 5)));
    else
        writes(i, FK_OP_ADD, not_zr(FIELD(w, 0, 5)));
}

static void move_wide(uint32_t w, fk_insn *i)
{
    uint64_t v = (uint64_t)FIELD(w, 5, 16) << (16 * FIELD(w, 21, 2));
    i->imm = (int64_t)(FIELD(w, 29, 2) == 0 ? ~v : v);
    writes(i, FIELD(w, 31, 1) && FIELD(w, 29, 2) != 3 ? FK_OP_IMM : FK_OP_OTHER,
           not_zr(FIELD(w, 0, 5)));
    if (FIELD(w, 29, 2) == 3 && FIELD(w, 31, 1)) { /* movk: the field is 0 before */
        i->op = FK_OP_ADD;
        i->imm = (int64_t)v;
        i->rs = i->rd;
        i->flags |= FK_I_BITS;
    }
}

/* The immediate of and, orr, eor: a run of ones, rotated, repeated. */
static uint64_t bitmask(uint32_t w)
{
    unsigned n = FIELD(w, 22, 1), r = FIELD(w, 16, 6), s = FIELD(w, 10, 6);
    unsigned len = n ? 6 : (unsigned)(31 - __builtin_clz((~s & 63) | 1)), size = 1u << len;
    s &= size - 1;
    r &= size - 1;
    uint64_t ones = s == 63 ? ~0ull : (1ull << (s + 1)) - 1,
             mask = size == 64 ? ~0ull : (1ull << size) - 1;
    uint64_t e = r ? ((ones >> r) | (ones << (size - r))) & mask : ones;
    for (; size < 64; size *= 2)
        e |= e << size;
    return e;
}

static void orr_imm(uint32_t w, fk_insn *i)
{
    bool constant = FIELD(w, 5, 5) == ZR && FIELD(w, 29, 2) == 1 && FIELD(w, 31, 1);
    i->imm = (int64_t)bitmask(w);
    if (FIELD(w, 29, 2) == 3)
        writes(i, FK_OP_OTHER, not_zr(FIELD(w, 0, 5)));
    else
        writes(i, constant ? FK_OP_IMM : FK_OP_OTHER, (uint8_t)FIELD(w, 0, 5));
}

static void other(uint32_t w, fk_insn *i)
{
    writes(i, FK_OP_OTHER, not_zr(FIELD(w, 0, 5)));
}

/* fcvtzs, fmov to an integer register; scvtf, ucvtf, fmov to a float one */
static void float_integer(uint32_t w, fk_insn *i)
{
    unsigned what = FIELD(w, 16, 3);
    bool to_float = what == 2 || what == 3 || what == 7;
    writes(i, FK_OP_OTHER, to_float ? FK_NO_REG : not_zr(FIELD(w, 0, 5)));
}

static void no_effect(uint32_t w, fk_insn *i)
{
    (void)w;
    i->op = FK_OP_OTHER;
}

static void address(uint32_t w, fk_insn *i)
{
    int64_t d = fk_signed((uint64_t)FIELD(w, 5, 19) << 2 | FIELD(w, 29, 2), 21);
    bool page = FIELD(w, 31, 1);
    i->imm = page ? (int64_t)(i->addr & ~0xfffull) + d * 4096 : (int64_t)i->addr + d;
    i->flags |= page ? FK_I_WIDE : FK_I_ABSOLUTE;
    writes(i, FK_OP_IMM, not_zr(FIELD(w, 0, 5)));
}

/* Bits of size and opc say which way the data go. */
static void access(uint32_t w, fk_insn *i, unsigned size_log)
{
    bool is_float = FIELD(w, 26, 1),
         load = FIELD(w, 22, 2) != 0 && !(is_float && FIELD(w, 22, 2) == 2);
    if (is_float && FIELD(w, 23, 1))
        size_log = 4;
    i->base = (uint8_t)FIELD(w, 5, 5);
    i->size = (uint8_t)(1u << size_log);
    i->flags |= is_float ? FK_I_FLOAT : 0;
    if (load)
        writes(i, FK_OP_LOAD, is_float ? FK_NO_REG : not_zr(FIELD(w, 0, 5)));
    else {
        i->op = FK_OP_STORE;
        i->rs = is_float ? FK_NO_REG : not_zr(FIELD(w, 0, 5));
        i->flags |= !is_float && i->rs == FK_NO_REG ? FK_I_ZERO : 0;
    }
    if (i->writeback != 0)
        i->writes |= FK_REG_BIT(i->base);
}

static void mem_unsigned(uint32_t w, fk_insn *i)
{
    unsigned log = FIELD(w, 30, 2);
    if (FIELD(w, 26, 1) && FIELD(w, 23, 1))
        log = 4;
    i->disp = (int32_t)(FIELD(w, 10, 12) << log);
    access(w, i, FIELD(w, 30, 2));
}

/* unscaled, post-index, pre-index by bits 10 and 11 */
static void mem_signed(uint32_t w, fk_insn *i)
{
    int32_t d = (int32_t)fk_signed(FIELD(w, 12, 9), 9);
    i->disp = FIELD(w, 10, 2) == 1 ? 0 : d;
    i->writeback = FIELD(w, 10, 2) == 0 ? 0 : d;
    access(w, i, FIELD(w, 30, 2));
}

static void mem_indexed(uint32_t w, fk_insn *i)
{
    i->index = not_zr(FIELD(w, 16, 5));
    access(w, i, FIELD(w, 30, 2));
}

static void mem_literal(uint32_t w, fk_insn *i)
{
    i->target = i->addr + (uint64_t)(fk_signed(FIELD(w, 5, 19), 19) * 4);
    i->flags |= FK_I_ABSOLUTE | (FIELD(w, 26, 1) ? FK_I_FLOAT : 0);
    i->size = 8;
    writes(i, FK_OP_LOAD, FIELD(w, 26, 1) ? FK_NO_REG : not_zr(FIELD(w, 0, 5)));
}

/* ldar, stlr */
static void mem_ordered(uint32_t w, fk_insn *i)
{
    i->base = (uint8_t)FIELD(w, 5, 5);
    i->size = (uint8_t)(1u << FIELD(w, 30, 2));
    if (FIELD(w, 22, 1)) {
        writes(i, FK_OP_LOAD, not_zr(FIELD(w, 0, 5)));
        return;
    }
    i->op = FK_OP_STORE;
    i->rs = not_zr(FIELD(w, 0, 5));
}

/* The exclusive forms also write a status register. */
static void mem_exclusive(uint32_t w, fk_insn *i)
{
    mem_ordered(w, i);
    i->writes |= FK_REG_BIT(not_zr(FIELD(w, 16, 5))) | FK_REG_BIT(not_zr(FIELD(w, 0, 5)));
    i->op = FIELD(w, 22, 1) ? i->op : FK_OP_STORE;
}

static void mem_pair(uint32_t w, fk_insn *i)
{
    bool is_float = FIELD(w, 26, 1);
    unsigned log = is_float               ? 2 + FIELD(w, 30, 2)
                   : FIELD(w, 30, 2) == 2 ? 3
                                          : 2,
             mode = FIELD(w, 23, 2);
    int32_t d = (int32_t)(fk_signed(FIELD(w, 15, 7), 7) * (1 << log));
    uint8_t a = not_zr(FIELD(w, 0, 5)), b = not_zr(FIELD(w, 10, 5));
    i->disp = mode == 1 ? 0 : d;
    i->writeback = mode == 1 || mode == 3 ? d : 0;
    i->base = (uint8_t)FIELD(w, 5, 5);
    i->size = (uint8_t)(1u << log);
    i->flags |= is_float ? FK_I_FLOAT : 0;
    i->op = FIELD(w, 22, 1) ? FK_OP_LOAD : FK_OP_STORE;
    i->rd2 = is_float ? 64 : b; /* 64: a second word that is no integer register's */
    if (i->op == FK_OP_LOAD) {
        i->rd = is_float ? FK_NO_REG : a;
        i->writes = FK_REG_BIT(i->rd) | FK_REG_BIT(i->rd2);
    } else
        i->rs = is_float ? FK_NO_REG : a;
    if (i->op == FK_OP_STORE && i->rd2 == FK_NO_REG)
        i->rd2 = 64;
    if (i->writeback)
        i->writes |= FK_REG_BIT(i->base);
}

static void go(fk_insn *i, fk_op op, uint64_t field, unsigned bits)
{
    i->op = (uint8_t)op;
    i->target = i->addr + (uint64_t)(fk_signed(field, bits) * 4);
}

static void jump(uint32_t w, fk_insn *i)
{
    go(i, FIELD(w, 31, 1) ? FK_OP_CALL : FK_OP_JUMP, FIELD(w, 0, 26), 26);
    i->writes = FIELD(w, 31, 1) ? FK_REG_BIT(30) : 0;
}

static void branch(uint32_t w, fk_insn *i)
{
    static const uint8_t conds[16] = {
        FK_COND_EQ, FK_COND_NE, FK_COND_HS, FK_COND_LO, 0,          0,          0, 0,
        FK_COND_HI, FK_COND_LS, FK_COND_GE, FK_COND_LT, FK_COND_GT, FK_COND_LE, 0, 0};
    go(i, FIELD(w, 0, 4) >= 14 ? FK_OP_JUMP : FK_OP_BRANCH, FIELD(w, 5, 19), 19);
    i->cond = conds[FIELD(w, 0, 4)];
}

static void compare_zero(uint32_t w, fk_insn *i)
{
    go(i, FK_OP_BRANCH, FIELD(w, 5, 19), 19);
}

static void test_bit(uint32_t w, fk_insn *i)
{
    go(i, FK_OP_BRANCH, FIELD(w, 5, 14), 14);
    if (FIELD(w, 19, 5) == 0 && !FIELD(w, 31, 1)) {
        i->flags |= FK_I_TEST;
        i->rt = not_zr(FIELD(w, 0, 5));
    }
}

static void jump_reg(uint32_t w, fk_insn *i)
{
    static const uint8_t ops[4] = {FK_OP_JUMPREG, FK_OP_CALLREG, FK_OP_RET, FK_OP_UNKNOWN};
    i->op = ops[FIELD(w, 21, 2)];
    i->rs = (uint8_t)FIELD(w, 5, 5);
    i->writes = i->op == FK_OP_CALLREG ? FK_REG_BIT(30) : 0;
}

static void stop(uint32_t w, fk_insn *i)
{
    (void)w;
    i->op = FK_OP_STOP;
}

static const struct {
    uint32_t mask, value;
    form make;
} rows[] = {
    {0x3b000000, 0x39000000, mem_unsigned},  {0x3b200c00, 0x38000000, mem_signed},
    {0x3b200400, 0x38000400, mem_signed},    {0x3b200c00, 0x38200800, mem_indexed},
    {0x7fe0ffe0, 0x2a0003e0, move},          {0x1f000000, 0x11000000, add_imm},
    {0x1f200000, 0x0b000000, add_shifted},   {0x1f200000, 0x0b200000, add_extended},
    {0x7c000000, 0x14000000, jump},          {0xff000010, 0x54000000, branch},
    {0x1f000000, 0x10000000, address},       {0x1f800000, 0x12800000, move_wide},
    {0x1f800000, 0x12000000, orr_imm},       {0xff9ffc1f, 0xd61f0000, jump_reg},
    {0x7e000000, 0x34000000, compare_zero},  {0x7e000000, 0x36000000, test_bit},
    {0x3a000000, 0x28000000, mem_pair},      {0xbb000000, 0x18000000, mem_literal},
    {0x3fa08000, 0x08808000, mem_ordered},   {0x3fa00000, 0x08000000, mem_exclusive},
    {0x1f000000, 0x0a000000, other},         /* and, orr, eor, ands with registers */
    {0x1f800000, 0x13000000, other},         /* bitfield */
    {0x1f800000, 0x13800000, other},         /* extr */
    {0x1fe00000, 0x1ac00000, other},         /* two sources, one source */
    {0x1fe00000, 0x1a800000, other},         /* csel, cset */
    {0x1fe00800, 0x1a400000, no_effect},     /* ccmp */
    {0x1fe00800, 0x1a400800, no_effect},
    {0x1f000000, 0x1b000000, other},         /* madd, smulh */
    {0xfffff01f, 0xd503201f, no_effect},     /* nop and hints */
    {0xfffff01f, 0xd503301f, no_effect},     /* barriers */
    {0xffe0001f, 0xd4200000, stop},          /* brk */
    {0x7f20fc00, 0x1e200000, float_integer},
    {0x5f000000, 0x1e000000, no_effect},     /* float arithmetic */
    {0x5f000000, 0x1f000000, no_effect},     {0x9f000000, 0x0e000000, no_effect}, /* vectors */
    {0xff000000, 0x5e000000, no_effect},     {0xff000000, 0x7e000000, no_effect},
    {0x9f000000, 0x0f000000, no_effect},
};

void fk_decode_arm64(const uint8_t *code, size_t avail, uint64_t addr, fk_insn *i)
{
    fk_insn_init(i, addr, 4);
    if (avail < 4)
        return;
    uint32_t w = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
                 (uint32_t)code[3] << 24;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if ((w & rows[k].mask) == rows[k].value) {
            rows[k].make(w, i);
            return;
        }
}
