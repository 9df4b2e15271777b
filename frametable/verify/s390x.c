/* s390x.c - z/Architecture as compilers of OCaml use it: rows by opcode.
 *
 *   length  2 or 4 or 6 by the first two bits        opcode bits
 *   RR      op R1 R2                                  8
 *   RRE     op op -- R1R2                             16
 *   RX RS   op R1X2 B2 D2                             8
 *   RI      op R1,o I2 I2                             8 + 4
 *   RIL     op R1,o I2 I2 I2 I2                       8 + 4
 *   RXY RSY op R1X2 B2DL DL DH op                     8 + 8                     */
#include "frametable/verify/insn.h"

typedef struct {
    const uint8_t *p;
    fk_insn *i;
} place;
typedef void (*form)(place);

#define R1(l) ((uint8_t)((l).p[1] >> 4))
#define R2(l) ((uint8_t)((l).p[1] & 15))
#define RRE1(l) ((uint8_t)((l).p[3] >> 4))
#define RRE2(l) ((uint8_t)((l).p[3] & 15))

static uint8_t nonzero(unsigned r)
{
    return r ? (uint8_t)r : FK_NO_REG;
}

static void writes(fk_insn *i, fk_op op, uint8_t rd)
{
    i->op = (uint8_t)op;
    i->rd = rd;
    i->writes = FK_REG_BIT(rd);
}

static int32_t imm16(place l)
{
    return (int16_t)(l.p[2] << 8 | l.p[3]);
}

static uint32_t imm32(place l)
{
    return (uint32_t)l.p[2] << 24 | (uint32_t)l.p[3] << 16 | (uint32_t)l.p[4] << 8 | l.p[5];
}

static void memory(place l)
{
    l.i->base = nonzero(l.p[2] >> 4);
    l.i->disp = (l.p[2] & 15) << 8 | l.p[3];
    if (l.i->length == 6)
        l.i->disp |= (int32_t)(int8_t)l.p[4] * 4096;
}

static void memory_x(place l)
{
    memory(l);
    l.i->index = nonzero(R2(l));
    if (l.i->base == FK_NO_REG) { /* one register: a base */
        l.i->base = l.i->index;
        l.i->index = FK_NO_REG;
    }
}

/* --- forms ------------------------------------------------------------------------- */

static void load(place l, unsigned size)
{
    memory_x(l);
    l.i->size = (uint8_t)size;
    writes(l.i, FK_OP_LOAD, R1(l));
}

static void store(place l, unsigned size)
{
    memory_x(l);
    l.i->size = (uint8_t)size;
    l.i->op = FK_OP_STORE;
    l.i->rs = R1(l);
}

static void load8(place l) { load(l, 8); }
static void load4(place l) { load(l, 4); }
static void load2(place l) { load(l, 2); }
static void load1(place l) { load(l, 1); }
static void store8(place l) { store(l, 8); }
static void store4(place l) { store(l, 4); }
static void store2(place l) { store(l, 2); }
static void store1(place l) { store(l, 1); }

static void float_load(place l)
{
    memory_x(l);
    l.i->size = 8;
    l.i->flags |= FK_I_FLOAT;
    l.i->op = FK_OP_LOAD;
}

static void float_store(place l)
{
    float_load(l);
    l.i->op = FK_OP_STORE;
}

/* Reads memory and changes R1 in no way that is followed. */
static void load_other(place l)
{
    load(l, 8);
    l.i->op = FK_OP_OTHER;
}

static void store_other(place l)
{
    memory(l);
    l.i->size = 8;
    l.i->op = FK_OP_STORE;
}

static void store_imm(place l)
{
    store_other(l);
    l.i->imm = (int16_t)(l.p[4] << 8 | l.p[5]);
    l.i->disp = (l.p[2] & 15) << 8 | l.p[3];
    l.i->flags |= FK_I_IMM;
}

static void load_address(place l)
{
    memory_x(l);
    fk_insn *i = l.i;
    i->rs = i->base;
    i->rt = i->index;
    i->imm = i->disp;
    if (i->rs == FK_NO_REG)
        writes(i, FK_OP_IMM, R1(l));
    else if (i->rt == FK_NO_REG)
        writes(i, FK_OP_ADD, R1(l));
    else
        writes(i, i->imm ? FK_OP_OTHER : FK_OP_ADDREG, R1(l));
    i->base = i->index = FK_NO_REG;
}

static void compare_memory(place l)
{
    memory_x(l);
    l.i->rs = R1(l);
    l.i->size = 8;
    l.i->flags |= FK_I_MEM;
    l.i->op = FK_OP_CMP;
}

static void compare_memory_logical(place l)
{
    compare_memory(l);
    l.i->flags |= FK_I_LOGICAL;
}

static void move(place l)
{
    l.i->rs = RRE2(l);
    writes(l.i, FK_OP_ADD, RRE1(l));
}

static void add_reg(place l)
{
    l.i->rs = RRE1(l);
    l.i->rt = RRE2(l);
    writes(l.i, FK_OP_ADDREG, RRE1(l));
}

static void sub_reg(place l)
{
    add_reg(l);
    l.i->op = FK_OP_SUBREG;
}

static void compare_reg(place l)
{
    l.i->op = FK_OP_CMP;
    l.i->rs = RRE1(l);
    l.i->rt = RRE2(l);
}

static void compare_reg_logical(place l)
{
    compare_reg(l);
    l.i->flags |= FK_I_LOGICAL;
}

static void other_rre(place l) { writes(l.i, FK_OP_OTHER, RRE1(l)); }
static void other_r1(place l) { writes(l.i, FK_OP_OTHER, R1(l)); }
static void no_effect(place l) { l.i->op = FK_OP_OTHER; }

/* tmll */
static void test_bit(place l)
{
    l.i->op = FK_OP_OTHER;
    l.i->rs = R1(l);
    l.i->flags |= imm16(l) == 1 ? FK_I_TEST : 0;
}

static void pair_rre(place l)
{
    other_rre(l);
    l.i->writes |= FK_REG_BIT(RRE1(l) | 1);
}

static void imm_h(place l)
{
    l.i->imm = imm16(l);
    writes(l.i, FK_OP_IMM, R1(l));
}

static void add_h(place l)
{
    imm_h(l);
    l.i->op = FK_OP_ADD;
    l.i->rs = R1(l);
}

static void compare_h(place l)
{
    l.i->op = FK_OP_CMP;
    l.i->rs = R1(l);
    l.i->imm = imm16(l);
    l.i->flags |= FK_I_IMM;
}

static void imm_f(place l)
{
    l.i->imm = (int32_t)imm32(l);
    writes(l.i, FK_OP_IMM, R1(l));
}

static void imm_f_unsigned(place l)
{
    imm_f(l);
    l.i->imm = imm32(l);
}

static void imm_f_high(place l)
{
    imm_f(l);
    l.i->imm = (int64_t)((uint64_t)imm32(l) << 32);
}

static void add_f(place l)
{
    imm_f(l);
    l.i->op = FK_OP_ADD;
    l.i->rs = R1(l);
}

static void sub_f(place l)
{
    add_f(l);
    l.i->imm = -(int64_t)imm32(l);
}

static void or_f(place l)
{
    imm_f_unsigned(l);
    l.i->op = FK_OP_ADD;
    l.i->rs = R1(l);
    l.i->flags |= FK_I_BITS;
}

/* iihf: sets the high half only, the low one is a constant before */
static void compare_f(place l)
{
    l.i->op = FK_OP_CMP;
    l.i->rs = R1(l);
    l.i->imm = (int32_t)imm32(l);
    l.i->flags |= FK_I_IMM;
}

static void compare_f_logical(place l)
{
    compare_f(l);
    l.i->imm = imm32(l);
    l.i->flags |= FK_I_LOGICAL;
}

static uint64_t far_target(place l)
{
    return l.i->addr + (uint64_t)((int64_t)(int32_t)imm32(l) * 2);
}

static void address(place l)
{
    l.i->imm = (int64_t)far_target(l);
    l.i->flags |= FK_I_ABSOLUTE | FK_I_WIDE;
    writes(l.i, FK_OP_IMM, R1(l));
}

static void load_relative(place l)
{
    l.i->target = far_target(l);
    l.i->size = 8;
    l.i->flags |= FK_I_ABSOLUTE | FK_I_WIDE;
    writes(l.i, FK_OP_LOAD, R1(l));
}

static void branch_on(place l, uint64_t target)
{
    static const uint8_t conds[8] = {0,          FK_COND_GT, FK_COND_LT, FK_COND_NE,
                                     FK_COND_EQ, FK_COND_GE, FK_COND_LE, 0};
    unsigned mask = R1(l);
    l.i->target = target;
    l.i->op = mask == 15 ? FK_OP_JUMP : mask == 0 ? FK_OP_OTHER : FK_OP_BRANCH;
    l.i->cond = conds[mask >> 1];
}

static void branch_far(place l) { branch_on(l, far_target(l)); }
static void branch_near(place l) { branch_on(l, l.i->addr + (uint64_t)((int64_t)imm16(l) * 2)); }

static void call_to(place l, uint64_t target)
{
    l.i->target = target;
    l.i->op = FK_OP_CALL;
    l.i->writes = FK_REG_BIT(R1(l));
}

static void call_far(place l) { call_to(l, far_target(l)); }
static void call_near(place l) { call_to(l, l.i->addr + (uint64_t)((int64_t)imm16(l) * 2)); }

static void branch_reg(place l)
{
    unsigned mask = R1(l);
    l.i->rs = R2(l);
    l.i->op = mask == 0 || R2(l) == 0 ? FK_OP_OTHER
              : mask != 15            ? FK_OP_UNKNOWN
              : R2(l) == 14           ? FK_OP_RET
                                      : FK_OP_JUMPREG;
}

static void call_reg(place l)
{
    l.i->rs = R2(l);
    l.i->op = R2(l) ? FK_OP_CALLREG : FK_OP_OTHER;
    l.i->writes = FK_REG_BIT(R1(l));
}

/* Compare and branch: EC R1R2 I4 I4 M3 -- op */
static void compare_branch(place l)
{
    l.i->target = l.i->addr + (uint64_t)((int64_t)(int16_t)(l.p[2] << 8 | l.p[3]) * 2);
    l.i->op = FK_OP_BRANCH;
}

enum { LAST = 1, NIBBLE = 2, SECOND = 3, NONE = 4 };
typedef struct {
    uint8_t op, sub;
    uint8_t where; /* of sub: the last byte, the second one or its low nibble, or nowhere */
    form make;
} row;

static const row rows[] = {
    {0xe3, 0x04, LAST, load8},
    {0xe3, 0x24, LAST, store8},
    {0x41, 0, NONE, load_address},
    {0xe3, 0x71, LAST, load_address},
    {0xb9, 0x04, SECOND, move},
    {0xc0, 5, NIBBLE, call_far},
    {0xa7, 9, NIBBLE, imm_h},
    {0xc0, 4, NIBBLE, branch_far},
    {0xc0, 0, NIBBLE, address},
    {0xe3, 0x21, LAST, compare_memory_logical},
    {0xe3, 0x20, LAST, compare_memory},
    {0xc4, 8, NIBBLE, load_relative},
    {0x07, 0, NONE, branch_reg},
    {0xc2, 0xc, NIBBLE, compare_f},
    {0xc0, 1, NIBBLE, imm_f},
    {0xa7, 1, NIBBLE, test_bit},
    {0xe3, 0x90, LAST, load1},
    {0xeb, 0x0d, LAST, other_r1},
    {0xb9, 0x20, SECOND, compare_reg},
    {0x0d, 0, NONE, call_reg},
    {0xb9, 0x08, SECOND, add_reg},
    {0xa7, 4, NIBBLE, branch_near},
    {0xeb, 0x0c, LAST, other_r1},
    {0xb9, 0x09, SECOND, sub_reg},
    {0xeb, 0x0a, LAST, other_r1},
    {0xe3, 0x14, LAST, load4},
    {0xb9, 0x21, SECOND, compare_reg_logical},
    {0xc0, 0xd, NIBBLE, or_f},
    {0xc2, 0xe, NIBBLE, compare_f_logical},
    {0xed, 0x65, LAST, float_load},
    {0xed, 0x67, LAST, float_store},
    {0x68, 0, NONE, float_load},
    {0x60, 0, NONE, float_store},
    {0x78, 0, NONE, float_load},
    {0x70, 0, NONE, float_store},
    {0xed, 0x64, LAST, float_load},
    {0xed, 0x66, LAST, float_store},
    {0xe3, 0x72, LAST, store1},
    {0x42, 0, NONE, store1},
    {0xe3, 0x70, LAST, store2},
    {0x40, 0, NONE, store2},
    {0xe3, 0x50, LAST, store4},
    {0x50, 0, NONE, store4},
    {0xe3, 0x2f, LAST, store8},
    {0xe3, 0x3e, LAST, store4},
    {0xe3, 0x3f, LAST, store2},
    {0xe3, 0x16, LAST, load4},
    {0xe3, 0x91, LAST, load2},
    {0xe3, 0x15, LAST, load2},
    {0xe3, 0x77, LAST, load1},
    {0x58, 0, NONE, load_other},
    {0xe3, 0x58, LAST, load_other},
    {0x43, 0, NONE, load_other},
    {0x48, 0, NONE, load_other},
    {0xa7, 0xb, NIBBLE, add_h},
    {0xa7, 0xf, NIBBLE, compare_h},
    {0xa7, 5, NIBBLE, call_near},
    {0xa7, 8, NIBBLE, other_r1},
    {0xa7, 0xa, NIBBLE, other_r1},
    {0xa7, 0xd, NIBBLE, other_r1},
    {0xa7, 0xc, NIBBLE, other_r1},
    {0xa7, 0, NIBBLE, no_effect},
    {0xa7, 0xe, NIBBLE, no_effect},
    {0xa7, 2, NIBBLE, no_effect},
    {0xa7, 3, NIBBLE, no_effect},
    {0xc2, 8, NIBBLE, add_f},
    {0xc2, 4, NIBBLE, sub_f},
    {0xc2, 0xd, NIBBLE, no_effect},
    {0xc2, 0xf, NIBBLE, no_effect},
    {0xc2, 0, NIBBLE, other_r1},
    {0xc0, 0xe, NIBBLE, imm_f_high},
    {0xc0, 0xf, NIBBLE, imm_f_unsigned},
    {0xc4, 0xb, NIBBLE, no_effect},
    {0xe5, 0x48, SECOND, store_imm},
    {0xeb, 0x7a, LAST, store_other},
    {0x92, 0, NONE, no_effect},
    {0x95, 0, NONE, no_effect},
    {0x91, 0, NONE, no_effect},
    {0xeb, 0x51, LAST, no_effect},
    {0xeb, 0x55, LAST, no_effect},
    {0xb3, 0xcd, SECOND, other_rre},
    {0xb9, 0x86, SECOND, pair_rre},
    {0xb9, 0x0d, SECOND, pair_rre},
    {0xb9, 0x1d, SECOND, pair_rre},
    {0xb9, 0x87, SECOND, pair_rre},
    {0xb9, 0x30, SECOND, no_effect},
    {0xb9, 0x31, SECOND, no_effect},
    {0xb3, 0xc1, SECOND, no_effect},
    {0xb3, 0xa9, SECOND, other_rre},
    {0xb3, 0xaa, SECOND, other_rre},
};

/* Groups of which every other instruction changes R1 (or only float registers). */
static const row groups[] = {
    {0xb9, 0, NONE, other_rre},      {0xb3, 0, NONE, no_effect}, {0xed, 0, NONE, no_effect},
    {0xc0, 0, NONE, other_r1},       {0xa5, 0, NONE, other_r1},  {0xe3, 0, NONE, load_other},
    {0xec, 0, NONE, compare_branch}, {0x28, 0, NONE, no_effect}, {0x38, 0, NONE, no_effect},
    {0x18, 0, NONE, other_r1},       {0x1a, 0, NONE, other_r1},  {0x1b, 0, NONE, other_r1},
    {0x14, 0, NONE, other_r1},       {0x16, 0, NONE, other_r1},  {0x17, 0, NONE, other_r1},
    {0x12, 0, NONE, other_r1},       {0x19, 0, NONE, no_effect}, {0x15, 0, NONE, no_effect},
    {0xb2, 0, NONE, no_effect},      {0xd2, 0, NONE, no_effect}, {0xd7, 0, NONE, no_effect},
    {0x59, 0, NONE, no_effect},      {0x55, 0, NONE, no_effect}, {0xc6, 0, NONE, no_effect},
};

static bool matches(const row *r, const uint8_t *p, unsigned length)
{
    switch (r->where) {
    case LAST: return p[length - 1] == r->sub;
    case NIBBLE: return (p[1] & 15) == r->sub;
    case SECOND: return p[1] == r->sub;
    default: return true;
    }
}

static bool make(const row *table, size_t n, place l)
{
    for (size_t k = 0; k < n; k++)
        if (table[k].op == l.p[0] && matches(&table[k], l.p, l.i->length)) {
            table[k].make(l);
            return true;
        }
    return false;
}

void fk_decode_s390x(const uint8_t *code, size_t avail, uint64_t addr, fk_insn *i)
{
    static const uint8_t lengths[4] = {2, 4, 4, 6};
    unsigned length = lengths[code[0] >> 6];
    fk_insn_init(i, addr, length > avail ? 2 : length);
    if (length > avail || (code[0] == 0 && code[1] == 0))
        return;
    place l = {code, i};
    if (!make(rows, sizeof rows / sizeof *rows, l))
        make(groups, sizeof groups / sizeof *groups, l);
}
