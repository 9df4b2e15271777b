/* riscv64.c - RV64GC as compilers of OCaml use it; compressed forms map onto the long ones. */
#include "frametable/verify/insn.h"

#define FIELD(w, lo, n) (((w) >> (lo)) & ((1u << (n)) - 1))
#define RD(w) ((uint8_t)FIELD(w, 7, 5))
#define RS1(w) ((uint8_t)FIELD(w, 15, 5))
#define RS2(w) ((uint8_t)FIELD(w, 20, 5))

enum { RA = 1, SP = 2, T0 = 5 };

static void writes(fk_insn *i, fk_op op, uint8_t rd)
{
    i->op = (uint8_t)op;
    i->rd = rd ? rd : FK_NO_REG;
    i->writes = FK_REG_BIT(i->rd);
}

static uint8_t nonzero(uint8_t r)
{
    return r ? r : FK_NO_REG;
}

static int64_t imm_i(uint32_t w)
{
    return fk_signed(w >> 20, 12);
}

static void add_imm(fk_insn *i, uint8_t rd, uint8_t rs, int64_t imm)
{
    i->imm = imm;
    i->rs = rs;
    writes(i, rs ? FK_OP_ADD : FK_OP_IMM, rd);
}

static void load(fk_insn *i, uint8_t rd, uint8_t base, int64_t disp, unsigned size, bool is_float)
{
    i->base = base;
    i->disp = (int32_t)disp;
    i->size = (uint8_t)size;
    i->flags |= is_float ? FK_I_FLOAT : 0;
    writes(i, FK_OP_LOAD, is_float ? 0 : rd);
}

static void store(fk_insn *i, uint8_t rs, uint8_t base, int64_t disp, unsigned size, bool is_float)
{
    i->op = FK_OP_STORE;
    i->base = base;
    i->disp = (int32_t)disp;
    i->size = (uint8_t)size;
    i->flags |= is_float ? FK_I_FLOAT : rs == 0 ? FK_I_ZERO : 0;
    i->rs = is_float ? FK_NO_REG : nonzero(rs);
}

static void jump(fk_insn *i, uint8_t rd, int64_t distance)
{
    i->target = i->addr + (uint64_t)distance;
    i->op = rd ? FK_OP_CALL : FK_OP_JUMP;
    i->writes = FK_REG_BIT(nonzero(rd));
    i->rd = nonzero(rd);
}

static void jump_reg(fk_insn *i, uint8_t rd, uint8_t rs, int64_t imm)
{
    i->rs = rs;
    i->imm = imm;
    i->op = rd ? FK_OP_CALLREG : rs == RA && imm == 0 ? FK_OP_RET : FK_OP_JUMPREG;
    i->writes = FK_REG_BIT(nonzero(rd));
    i->rd = nonzero(rd);
}

static void branch(fk_insn *i, unsigned cond, uint8_t rs, uint8_t rt, int64_t distance)
{
    static const uint8_t conds[8] = {FK_COND_EQ, FK_COND_NE, 0,          0,
                                     FK_COND_LT, FK_COND_GE, FK_COND_LO, FK_COND_HS};
    i->op = FK_OP_BRANCH;
    i->cond = conds[cond];
    i->rs = nonzero(rs);
    i->rt = nonzero(rt);
    i->target = i->addr + (uint64_t)distance;
}

static void op_imm(uint32_t w, fk_insn *i)
{
    if (FIELD(w, 12, 3) == 0)
        add_imm(i, RD(w), RS1(w), imm_i(w));
    else
        writes(i, FK_OP_OTHER, RD(w));
    if (FIELD(w, 12, 3) == 7 && imm_i(w) == 1) { /* andi rd, rs, 1 */
        i->rs = RS1(w);
        i->flags |= FK_I_TEST;
    }
}

static void op(uint32_t w, fk_insn *i)
{
    unsigned f7 = FIELD(w, 25, 7);
    bool sum = FIELD(w, 12, 3) == 0 && (f7 == 0 || f7 == 0x20) && RS1(w) && RS2(w);
    i->rs = RS1(w);
    i->rt = RS2(w);
    if (FIELD(w, 12, 3) == 0 && f7 == 0 && (!RS1(w) || !RS2(w)))
        add_imm(i, RD(w), RS1(w) ? RS1(w) : RS2(w), 0);
    else
        writes(i, !sum ? FK_OP_OTHER : f7 ? FK_OP_SUBREG : FK_OP_ADDREG, RD(w));
}

static int64_t imm_s(uint32_t w)
{
    return fk_signed(FIELD(w, 25, 7) << 5 | FIELD(w, 7, 5), 12);
}

static int64_t imm_b(uint32_t w)
{
    return fk_signed(FIELD(w, 31, 1) << 12 | FIELD(w, 7, 1) << 11 | FIELD(w, 25, 6) << 5 |
                         FIELD(w, 8, 4) << 1,
                     13);
}

static int64_t imm_j(uint32_t w)
{
    return fk_signed(FIELD(w, 31, 1) << 20 | FIELD(w, 12, 8) << 12 | FIELD(w, 20, 1) << 11 |
                         FIELD(w, 21, 10) << 1,
                     21);
}

/* Comparisons, conversions and moves to integer registers. */
static void op_fp(uint32_t w, fk_insn *i)
{
    unsigned f5 = FIELD(w, 27, 5);
    bool to_int = f5 == 0x14 || f5 == 0x18 || f5 == 0x1c;
    writes(i, FK_OP_OTHER, to_int ? RD(w) : 0);
}

static void decode32(uint32_t w, fk_insn *i)
{
    int64_t upper = (int64_t)(int32_t)(w & 0xfffff000);
    switch (FIELD(w, 2, 5)) {
    case 0: load(i, RD(w), RS1(w), imm_i(w), 1u << FIELD(w, 12, 2), false); break;
    case 1: load(i, RD(w), RS1(w), imm_i(w), 1u << FIELD(w, 12, 2), true); break;
    case 3: i->op = FK_OP_OTHER; break; /* fence */
    case 4: op_imm(w, i); break;
    case 5:
        add_imm(i, RD(w), 0, (int64_t)i->addr + upper);
        i->flags |= FK_I_ABSOLUTE | FK_I_WIDE;
        break;
    case 6: /* addiw: sums of lui; for a constant below 2^31 the same as addi */
        add_imm(i, RD(w), RS1(w), imm_i(w));
        if (FIELD(w, 12, 3) != 0)
            i->op = FK_OP_OTHER;
        else if (RS1(w))
            i->flags |= FK_I_BITS;
        break;
    case 8: store(i, RS2(w), RS1(w), imm_s(w), 1u << FIELD(w, 12, 2), false); break;
    case 9: store(i, RS2(w), RS1(w), imm_s(w), 1u << FIELD(w, 12, 2), true); break;
    case 11: writes(i, FK_OP_OTHER, RD(w)); break; /* atomics */
    case 12: op(w, i); break;
    case 13: add_imm(i, RD(w), 0, upper); break;
    case 14: writes(i, FK_OP_OTHER, RD(w)); break;
    case 16: case 17: case 18: case 19: i->op = FK_OP_OTHER; break;
    case 20: op_fp(w, i); break;
    case 24: branch(i, FIELD(w, 12, 3), RS1(w), RS2(w), imm_b(w)); break;
    case 25: jump_reg(i, RD(w), RS1(w), imm_i(w)); break;
    case 27: jump(i, RD(w), imm_j(w)); break;
    case 28: writes(i, w == 0x00100073 ? FK_OP_STOP : FK_OP_OTHER, RD(w)); break;
    default: break;
    }
}

/* --- compressed -------------------------------------------------------------------------- */

#define C3(w, lo) ((uint8_t)(8 + FIELD(w, lo, 3)))

static int64_t c_imm6(uint32_t w)
{
    return fk_signed(FIELD(w, 12, 1) << 5 | FIELD(w, 2, 5), 6);
}

static int64_t c_disp8(uint32_t w)
{
    return FIELD(w, 10, 3) << 3 | FIELD(w, 5, 2) << 6;
}

static int64_t c_disp4(uint32_t w)
{
    return FIELD(w, 10, 3) << 3 | FIELD(w, 6, 1) << 2 | FIELD(w, 5, 1) << 6;
}

static void quadrant0(uint32_t w, fk_insn *i)
{
    switch (FIELD(w, 13, 3)) {
    case 0:
        if (w != 0)
            add_imm(i, C3(w, 2), SP,
                    FIELD(w, 11, 2) << 4 | FIELD(w, 7, 4) << 6 | FIELD(w, 6, 1) << 2 |
                        FIELD(w, 5, 1) << 3);
        break;
    case 1: load(i, 0, C3(w, 7), c_disp8(w), 8, true); break;
    case 2: load(i, C3(w, 2), C3(w, 7), c_disp4(w), 4, false); break;
    case 3: load(i, C3(w, 2), C3(w, 7), c_disp8(w), 8, false); break;
    case 5: store(i, 0, C3(w, 7), c_disp8(w), 8, true); break;
    case 6: store(i, C3(w, 2), C3(w, 7), c_disp4(w), 4, false); break;
    case 7: store(i, C3(w, 2), C3(w, 7), c_disp8(w), 8, false); break;
    default: break;
    }
}

static int64_t c_jump(uint32_t w)
{
    return fk_signed(FIELD(w, 12, 1) << 11 | FIELD(w, 11, 1) << 4 | FIELD(w, 9, 2) << 8 |
                         FIELD(w, 8, 1) << 10 | FIELD(w, 7, 1) << 6 | FIELD(w, 6, 1) << 7 |
                         FIELD(w, 3, 3) << 1 | FIELD(w, 2, 1) << 5,
                     12);
}

static int64_t c_branch(uint32_t w)
{
    return fk_signed(FIELD(w, 12, 1) << 8 | FIELD(w, 10, 2) << 3 | FIELD(w, 5, 2) << 6 |
                         FIELD(w, 3, 2) << 1 | FIELD(w, 2, 1) << 5,
                     9);
}

static int64_t c_addi16sp(uint32_t w)
{
    return fk_signed(FIELD(w, 12, 1) << 9 | FIELD(w, 6, 1) << 4 | FIELD(w, 5, 1) << 6 |
                         FIELD(w, 3, 2) << 7 | FIELD(w, 2, 1) << 5,
                     10);
}

static void quadrant1(uint32_t w, fk_insn *i)
{
    uint8_t rd = RD(w);
    switch (FIELD(w, 13, 3)) {
    case 0: add_imm(i, rd, rd, c_imm6(w)); break;
    case 1: writes(i, FK_OP_OTHER, rd); break; /* c.addiw */
    case 2: add_imm(i, rd, 0, c_imm6(w)); break;
    case 3:
        if (rd == SP)
            add_imm(i, SP, SP, c_addi16sp(w));
        else
            add_imm(i, rd, 0, c_imm6(w) * 4096);
        break;
    case 4: writes(i, FK_OP_OTHER, C3(w, 7)); break;
    case 5: jump(i, 0, c_jump(w)); break;
    default: branch(i, FIELD(w, 13, 1), C3(w, 7), 0, c_branch(w)); break;
    }
}

static void c_move_or_jump(uint32_t w, fk_insn *i)
{
    uint8_t rd = RD(w), rs = (uint8_t)FIELD(w, 2, 5);
    bool add = FIELD(w, 12, 1);
    if (rs == 0 && rd == 0)
        i->op = FK_OP_STOP;
    else if (rs == 0)
        jump_reg(i, add ? RA : 0, rd, 0);
    else if (!add)
        add_imm(i, rd, rs, 0);
    else {
        i->rs = rd;
        i->rt = rs;
        writes(i, FK_OP_ADDREG, rd);
    }
}

static void quadrant2(uint32_t w, fk_insn *i)
{
    uint8_t rd = RD(w), rs2 = (uint8_t)FIELD(w, 2, 5);
    int64_t ld = FIELD(w, 12, 1) << 5 | FIELD(w, 5, 2) << 3 | FIELD(w, 2, 3) << 6;
    int64_t sd = FIELD(w, 10, 3) << 3 | FIELD(w, 7, 3) << 6;
    switch (FIELD(w, 13, 3)) {
    case 0: writes(i, FK_OP_OTHER, rd); break; /* c.slli */
    case 1: load(i, 0, SP, ld, 8, true); break;
    case 2:
        load(i, rd, SP, FIELD(w, 12, 1) << 5 | FIELD(w, 4, 3) << 2 | FIELD(w, 2, 2) << 6, 4, false);
        break;
    case 3: load(i, rd, SP, ld, 8, false); break;
    case 4: c_move_or_jump(w, i); break;
    case 5: store(i, 0, SP, sd, 8, true); break;
    case 6: store(i, rs2, SP, FIELD(w, 9, 4) << 2 | FIELD(w, 7, 2) << 6, 4, false); break;
    case 7: store(i, rs2, SP, sd, 8, false); break;
    }
}

void fk_decode_riscv64(const uint8_t *code, size_t avail, uint64_t addr, fk_insn *i)
{
    fk_insn_init(i, addr, 2);
    if (avail < 2)
        return;
    uint32_t w = (uint32_t)code[0] | (uint32_t)code[1] << 8;
    if ((w & 3) == 3) {
        if (avail < 4)
            return;
        i->length = 4;
        decode32(w | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24, i);
    } else if ((w & 3) == 0)
        quadrant0(w, i);
    else if ((w & 3) == 1)
        quadrant1(w, i);
    else
        quadrant2(w, i);
}
