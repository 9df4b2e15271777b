/* power.c - ppc64le as compilers of OCaml use it, by primary opcode. The link register is
 * number 32 (ELF's lr has hw 8 as a special register), ctr 33: see fk_state. */
#include "frametable/verify/insn.h"

#define FIELD(w, lo, n) (((w) >> (lo)) & ((1u << (n)) - 1))
#define RT(w) ((uint8_t)FIELD(w, 21, 5))
#define RA(w) ((uint8_t)FIELD(w, 16, 5))
#define RB(w) ((uint8_t)FIELD(w, 11, 5))
#define SI(w) ((int64_t)(int16_t)((w) & 0xffff))

enum { LR = 32, CTR = 33 };

static void writes(fk_insn *i, fk_op op, uint8_t rd)
{
    i->op = (uint8_t)op;
    i->rd = rd;
    i->writes = FK_REG_BIT(rd);
}

/* Register 0 as a base is the number 0. */
static uint8_t base(uint32_t w)
{
    return RA(w) ? RA(w) : FK_NO_REG;
}

static void add_imm(uint32_t w, fk_insn *i, int64_t imm)
{
    i->imm = imm;
    i->rs = RA(w);
    writes(i, RA(w) ? FK_OP_ADD : FK_OP_IMM, RT(w));
}

static void ori(uint32_t w, fk_insn *i, int64_t imm)
{
    i->rs = RT(w);
    i->imm = imm; /* lis, ori: the low half is 0 before */
    i->flags |= FK_I_BITS;
    writes(i, FK_OP_ADD, RA(w));
    if (w == 0x60000000)
        i->op = FK_OP_OTHER, i->writes = 0;
}

static void access(uint32_t w, fk_insn *i, bool load, bool is_float, unsigned size)
{
    i->base = base(w);
    i->size = (uint8_t)size;
    i->flags |= is_float ? FK_I_FLOAT : 0;
    i->op = load ? FK_OP_LOAD : FK_OP_STORE;
    if (load) {
        i->rd = is_float ? FK_NO_REG : RT(w);
        i->writes = FK_REG_BIT(i->rd);
    } else
        i->rs = is_float ? FK_NO_REG : RT(w);
}

static void access_d(uint32_t w, fk_insn *i)
{
    static const struct {
        uint8_t size, load, is_float, update;
    } kinds[24] = {{4, 1, 0, 0}, {4, 1, 0, 1}, {1, 1, 0, 0}, {1, 1, 0, 1}, {4, 0, 0, 0},
                   {4, 0, 0, 1}, {1, 0, 0, 0}, {1, 0, 0, 1}, {2, 1, 0, 0}, {2, 1, 0, 1},
                   {2, 1, 0, 0}, {2, 1, 0, 1}, {2, 0, 0, 0}, {2, 0, 0, 1}, {0, 0, 0, 0},
                   {0, 0, 0, 0}, {4, 1, 1, 0}, {4, 1, 1, 1}, {8, 1, 1, 0}, {8, 1, 1, 1},
                   {4, 0, 1, 0}, {4, 0, 1, 1}, {8, 0, 1, 0}, {8, 0, 1, 1}};
    unsigned k = FIELD(w, 26, 6) - 32;
    if (kinds[k].size == 0)
        return;
    access(w, i, kinds[k].load, kinds[k].is_float, kinds[k].size);
    i->disp = (int32_t)SI(w);
    if (kinds[k].update) {
        i->writeback = i->disp;
        i->writes |= FK_REG_BIT(RA(w));
    }
}

/* ld ldu lwa; std stdu */
static void access_ds(uint32_t w, fk_insn *i, bool load)
{
    unsigned xo = w & 3;
    access(w, i, load, false, load && xo == 2 ? 4 : 8);
    i->disp = (int32_t)(SI(w) & ~3);
    if (xo == 1) {
        i->writeback = i->disp;
        i->writes |= FK_REG_BIT(RA(w));
    }
}

static void go(uint32_t w, fk_insn *i, fk_op op, int64_t distance)
{
    i->op = (uint8_t)op;
    i->target = (w & 2 ? 0 : i->addr) + (uint64_t)distance;
}

/* BO 01..1 or 00..1 with a bit of a condition field; bdnz and always are told apart. */
static uint8_t condition(uint32_t w)
{
    static const uint8_t set[4] = {FK_COND_LT, FK_COND_GT, FK_COND_EQ, FK_COND_OTHER},
                         clear[4] = {FK_COND_GE, FK_COND_LE, FK_COND_NE, FK_COND_OTHER};
    unsigned bo = FIELD(w, 21, 5), bit = FIELD(w, 16, 2);
    return (bo & 0x1c) == 0x0c ? set[bit] : (bo & 0x1c) == 0x04 ? clear[bit] : FK_COND_OTHER;
}

static bool always(uint32_t w)
{
    return (FIELD(w, 21, 5) & 0x14) == 0x14;
}

static void bc(uint32_t w, fk_insn *i)
{
    bool link = w & 1;
    go(w, i, always(w) ? link ? FK_OP_CALL : FK_OP_JUMP : FK_OP_BRANCH, fk_signed(w & 0xfffc, 16));
    i->cond = condition(w);
    i->flags |= link ? FK_I_LINKS : 0;
}

/* blr bctr and with link; conditional returns do not occur in OCaml's code */
static void op19(uint32_t w, fk_insn *i)
{
    unsigned xo = FIELD(w, 1, 10);
    i->op = FK_OP_OTHER;
    if (xo != 16 && xo != 528)
        return;
    if (!always(w))
        i->op = FK_OP_UNKNOWN;
    else if (xo == 16)
        i->op = w & 1 ? FK_OP_CALLREG : FK_OP_RET;
    else
        i->op = w & 1 ? FK_OP_CALLREG : FK_OP_JUMPREG;
    i->rs = xo == 16 ? LR : CTR;
}

static void move_special(uint32_t w, fk_insn *i, bool to)
{
    unsigned spr = FIELD(w, 16, 5) | FIELD(w, 11, 5) << 5;
    uint8_t special = spr == 8 ? LR : spr == 9 ? CTR : FK_NO_REG;
    i->op = FK_OP_OTHER;
    if (to) {
        i->rs = RT(w);
        if (special != FK_NO_REG)
            writes(i, FK_OP_ADD, special);
    } else {
        i->rs = special;
        writes(i, special != FK_NO_REG ? FK_OP_ADD : FK_OP_OTHER, RT(w));
    }
}

typedef struct {
    uint16_t xo;
    uint8_t size, load, is_float;
} indexed;
static const indexed indexed_forms[] = {
    {21, 8, 1, 0},  {23, 4, 1, 0},  {87, 1, 1, 0},  {279, 2, 1, 0}, {343, 2, 1, 0}, {341, 4, 1, 0},
    {149, 8, 0, 0}, {151, 4, 0, 0}, {215, 1, 0, 0}, {407, 2, 0, 0}, {599, 8, 1, 1}, {535, 4, 1, 1},
    {727, 8, 0, 1}, {663, 4, 0, 1}, {84, 8, 1, 0},  {20, 4, 1, 0},  {214, 8, 0, 0}, {150, 4, 0, 0},
    {532, 8, 1, 0}, {660, 8, 0, 0}, {534, 4, 1, 0}, {662, 4, 0, 0}, {790, 2, 1, 0}, {918, 2, 0, 0},
};

static bool op31_indexed(uint32_t w, fk_insn *i, unsigned xo)
{
    for (size_t k = 0; k < sizeof indexed_forms / sizeof *indexed_forms; k++)
        if (indexed_forms[k].xo == xo) {
            access(w, i, indexed_forms[k].load, indexed_forms[k].is_float, indexed_forms[k].size);
            i->index = RB(w);
            i->flags |= FK_I_UNSCALED;
            return true;
        }
    return false;
}

/* Results in RA: logical, shifts, count, extend. */
static bool to_ra(unsigned xo)
{
    static const uint16_t list[] = {28,  60,  124, 284, 316, 412, 444, 476, 24, 27,
                                    536, 539, 792, 794, 824, 826, 827, 413, 26, 58,
                                    922, 954, 986, 506, 538, 122, 570, 635};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (list[k] == xo)
            return true;
    return false;
}

static void op31(uint32_t w, fk_insn *i)
{
    unsigned xo = FIELD(w, 1, 10);
    i->op = FK_OP_OTHER;
    if (op31_indexed(w, i, xo))
        return;
    if (xo == 0 || xo == 32) { /* cmp, cmpl */
        i->op = FIELD(w, 21, 1) ? FK_OP_CMP : FK_OP_OTHER;
        i->flags |= xo == 32 ? FK_I_LOGICAL : 0;
        i->rs = RA(w);
        i->rt = RB(w);
    } else if (xo == 444 && RT(w) == RB(w)) { /* mr */
        i->rs = RT(w);
        writes(i, FK_OP_ADD, RA(w));
    } else if (xo == 266 || xo == 40 || xo == 8) { /* add; subf, subfc: RB - RA */
        i->rs = xo == 266 ? RA(w) : RB(w);
        i->rt = xo == 266 ? RB(w) : RA(w);
        writes(i, xo == 266 ? FK_OP_ADDREG : FK_OP_SUBREG, RT(w));
    } else if (xo == 467 || xo == 339)
        move_special(w, i, xo == 467);
    else if (xo == 4 || xo == 68) /* tw, td */
        i->op = FIELD(w, 21, 5) == 31 ? FK_OP_STOP : FK_OP_TRAP;
    else if (to_ra(xo))
        i->writes = FK_REG_BIT(RA(w));
    else if (xo == 51 || xo == 115) /* mfvsrd, mfvsrwz */
        i->writes = FK_REG_BIT(RA(w));
    else if (xo != 179 && xo != 211 && xo != 243 && xo != 983 && xo != 855 && xo != 887 &&
             xo != 598 && xo != 144 && xo != 982 && xo != 86 && xo != 246 &&
             xo != 278) /* float; sync, mtcrf, caches */
        i->writes = FK_REG_BIT(RT(w)) | FK_REG_BIT(RA(w));
}

static void compare_imm(uint32_t w, fk_insn *i, bool logical)
{
    i->op = FIELD(w, 21, 1) ? FK_OP_CMP : FK_OP_OTHER;
    i->rs = RA(w);
    i->imm = logical ? (int64_t)(w & 0xffff) : SI(w);
    i->flags |= FK_I_IMM | (logical ? FK_I_LOGICAL : 0);
}

static void other(fk_insn *i, uint8_t rd)
{
    writes(i, FK_OP_OTHER, rd);
}

static void and_imm(uint32_t w, fk_insn *i)
{
    i->rs = RT(w);
    i->flags |= (w & 0xffff) == 1 ? FK_I_TEST : 0;
    other(i, RA(w));
}

/* rotate and mask; sldi is rldicr with a mask that ends where the zeros begin */
static void rotate(uint32_t w, fk_insn *i)
{
    unsigned shift = FIELD(w, 11, 5) | FIELD(w, 1, 1) << 5;
    unsigned end = FIELD(w, 6, 5) | FIELD(w, 5, 1) << 5;
    i->rs = RT(w);
    i->imm = shift;
    writes(i, FIELD(w, 2, 3) == 1 && end == 63 - shift ? FK_OP_SHIFT : FK_OP_OTHER, RA(w));
}

void fk_decode_power(const uint8_t *code, size_t avail, uint64_t addr, fk_insn *i)
{
    fk_insn_init(i, addr, 4);
    if (avail < 4)
        return;
    uint32_t w = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
                 (uint32_t)code[3] << 24;
    unsigned op = w >> 26;
    switch (op) {
    case 2: case 3: i->op = FK_OP_TRAP; break;
    case 7: case 8: case 12: case 13: other(i, RT(w)); break;
    case 10: compare_imm(w, i, true); break;
    case 11: compare_imm(w, i, false); break;
    case 14: add_imm(w, i, SI(w)); break;
    case 15: add_imm(w, i, SI(w) * 65536); break;
    case 16: bc(w, i); break;
    case 18: go(w, i, w & 1 ? FK_OP_CALL : FK_OP_JUMP, fk_signed(w & 0x3fffffc, 26)); break;
    case 19: op19(w, i); break;
    case 20: case 21: case 23: case 26: case 27: case 29: other(i, RA(w)); break;
    case 28: and_imm(w, i); break;
    case 24: ori(w, i, w & 0xffff); break;
    case 25: ori(w, i, (int64_t)(w & 0xffff) << 16); break;
    case 30: rotate(w, i); break;
    case 31: op31(w, i); break;
    case 58: access_ds(w, i, true); break;
    case 62: access_ds(w, i, false); break;
    case 4: case 59: case 60: case 63: i->op = FK_OP_OTHER; break;
    default:
        if (op >= 32 && op < 56)
            access_d(w, i);
    }
}
