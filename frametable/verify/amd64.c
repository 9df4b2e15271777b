/* amd64.c - x86-64 in 64-bit mode: lengths of all general, SSE and VEX instructions, and what
 * the ones that compilers of OCaml use for control, addresses and moves do.
 *
 *   [prefixes] [REX] opcode | 0F opcode | 0F 38 opcode | 0F 3A opcode  [ModRM [SIB] [disp]] [imm]
 *
 * An opcode's entry says what follows it: M ModRM, b an 8-bit immediate, z 32 bits (16 with
 * prefix 66), v 64 bits with REX.W else z, w 16 bits, A a 64-bit address, x invalid. */
#include <string.h>

#include "frametable/verify/insn.h"

/* P: a prefix, handled before */
enum { M = 1, B = 2, Z = 4, W = 8, V = 16, A = 32, X = 64, P = 128 };
enum { RSP = 4 };

#define ALU M, M, M, M, B, Z, X, X
static const uint8_t map1[256] = {
    ALU, ALU, ALU, ALU, /* 00 */
    M, M, M, M, B, Z, P, X, M, M, M, M, B, Z, P, X, /* 20 */
    M, M, M, M, B, Z, P, X, M, M, M, M, B, Z, P, X, /* 30 */
    P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, /* 40 */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* 50 */
    X, X, X, M, P, P, P, P, Z, M | Z, B, M | B, 0, 0, 0, 0, /* 60 */
    B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, /* 70 */
    M | B, M | Z, X, M | B, M, M, M, M, M, M, M, M, M, M, M, M, /* 80 */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, X, 0, 0, 0, 0, 0, /* 90 */
    A, A, A, A, 0, 0, 0, 0, B, Z, 0, 0, 0, 0, 0, 0, /* a0 */
    B, B, B, B, B, B, B, B, V, V, V, V, V, V, V, V, /* b0 */
    M | B, M | B, W, 0, X, X, M | B, M | Z, W | B, 0, W, 0, 0, B, X, 0, /* c0 */
    M, M, M, M, X, X, X, 0, M, M, M, M, M, M, M, M, /* d0 */
    B, B, B, B, B, B, B, B, Z, Z, X, B, 0, 0, 0, 0, /* e0 */
    P, 0, P, P, 0, 0, M, M, 0, 0, 0, 0, 0, 0, M, M, /* f0 */
};

/* 0F: ModRM except where named; 80..8F have 32 bits. */
static uint8_t map2(uint8_t op)
{
    if ((op >= 0x80 && op <= 0x8f))
        return Z;
    if ((op >= 0x30 && op <= 0x37) || (op >= 0xc8 && op <= 0xcf) || op == 0x77 || op == 0x05 ||
        op == 0x06 || op == 0x08 || op == 0x09 || op == 0x0b || op == 0xa0 || op == 0xa1 ||
        op == 0xa2 || op == 0xa8 || op == 0xa9)
        return 0;
    if ((op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
        (op >= 0xc4 && op <= 0xc6))
        return M | B;
    return M;
}

typedef struct {
    const uint8_t *p, *end; /* the next byte */
    fk_insn *i;
    bool w, r, x, b, data16, rex, rep, repne;
    uint8_t map, op, mod, reg, rm;
    bool has_modrm;
} state;

static bool take(state *s, unsigned n)
{
    return (size_t)(s->end - s->p) >= n;
}

static int64_t read_signed(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned k = 0; k < n; k++)
        v |= (uint64_t)p[k] << (8 * k);
    return n == 0 ? 0 : fk_signed(v, 8 * n);
}

static bool prefixes(state *s)
{
    for (;; s->p++) {
        if (!take(s, 1))
            return false;
        uint8_t c = *s->p;
        if (c == 0x66)
            s->data16 = true;
        else if (c == 0xf2)
            s->repne = true;
        else if (c == 0xf3)
            s->rep = true;
        else if (c != 0xf0 && c != 0x2e && c != 0x36 && c != 0x3e && c != 0x26 && c != 0x64 &&
                 c != 0x65)
            break;
    }
    if ((*s->p & 0xf0) == 0x40) {
        s->rex = true;
        s->w = *s->p & 8;
        s->r = *s->p & 4;
        s->x = *s->p & 2;
        s->b = *s->p & 1;
        s->p++;
    }
    return take(s, 1);
}

/* C5 RvvvvLpp, C4 RXBmmmmm WvvvvLpp */
static bool vex(state *s)
{
    unsigned n = s->op == 0xc5 ? 2 : 3;
    if (!take(s, n))
        return false;
    s->map = n == 2 ? 2 : (uint8_t)((s->p[0] & 31) + 1);
    s->op = s->p[n - 1];
    s->r = !(s->p[0] & 0x80);
    s->p += n;
    return s->map >= 2 && s->map <= 4;
}

static bool opcode(state *s)
{
    s->map = 1;
    s->op = *s->p++;
    if (s->op == 0xc4 || s->op == 0xc5)
        return vex(s);
    if (s->op != 0x0f)
        return true;
    if (!take(s, 1))
        return false;
    s->map = 2;
    s->op = *s->p++;
    if (s->op != 0x38 && s->op != 0x3a)
        return true;
    s->map = s->op == 0x38 ? 3 : 4;
    if (!take(s, 1))
        return false;
    s->op = *s->p++;
    return true;
}

/* The memory operand into base, index and disp; an RIP-relative one is resolved at the end. */
static bool modrm(state *s)
{
    if (!take(s, 1))
        return false;
    uint8_t m = *s->p++;
    s->has_modrm = true;
    s->mod = m >> 6;
    s->reg = (uint8_t)((m >> 3 & 7) | (s->r ? 8 : 0));
    s->rm = (uint8_t)((m & 7) | (s->b ? 8 : 0));
    if (s->mod == 3)
        return true;
    unsigned disp = s->mod == 1 ? 1 : s->mod == 2 ? 4 : 0;
    s->i->base = s->rm;
    if ((m & 7) == 4) {
        if (!take(s, 1))
            return false;
        uint8_t sib = *s->p++, index = (uint8_t)((sib >> 3 & 7) | (s->x ? 8 : 0));
        s->i->base = (uint8_t)((sib & 7) | (s->b ? 8 : 0));
        s->i->index = index == 4 ? FK_NO_REG : index;
        if ((sib & 7) == 5 && s->mod == 0) {
            s->i->base = FK_NO_REG;
            disp = 4;
        }
    } else if ((m & 7) == 5 && s->mod == 0) {
        s->i->base = FK_NO_REG;
        s->i->flags |= FK_I_ABSOLUTE;
        disp = 4;
    }
    if (!take(s, disp))
        return false;
    s->i->disp = (int32_t)read_signed(s->p, disp);
    s->p += disp;
    return true;
}

static unsigned immediate_size(const state *s, unsigned what)
{
    unsigned z = s->data16 ? 2 : 4, n = 0;
    n += what & B ? 1 : 0;
    n += what & Z ? z : 0;
    n += what & W ? 2 : 0;
    n += what & A ? 8 : 0;
    n += what & V ? (s->w ? 8 : z) : 0;
    /* test takes an immediate, its neighbours not */
    if (s->map == 1 && (s->op == 0xf6 || s->op == 0xf7) && (s->reg & 6) == 0)
        n += s->op == 0xf6 ? 1 : z;
    return n;
}

/* --- meaning ------------------------------------------------------------------------------- */

static void writes(fk_insn *i, fk_op op, uint8_t rd)
{
    i->op = (uint8_t)op;
    i->rd = rd;
    i->writes = FK_REG_BIT(rd);
}

static bool is_memory(const state *s)
{
    return s->has_modrm && s->mod != 3;
}

static unsigned operand_size(const state *s, bool byte)
{
    return byte ? 1 : s->w ? 8 : s->data16 ? 2 : 4;
}

/* ah ch dh bh without REX are parts of rax rcx rdx rbx. */
static uint8_t byte_reg(const state *s, uint8_t r)
{
    return !s->rex && r >= 4 && r < 8 ? (uint8_t)(r - 4) : r;
}

/* rm is the destination, an unknown value */
static void changes_rm(state *s, bool byte)
{
    s->i->size = (uint8_t)operand_size(s, byte);
    if (is_memory(s))
        s->i->op = FK_OP_STORE;
    else
        writes(s->i, FK_OP_OTHER, byte ? byte_reg(s, s->rm) : s->rm);
}

static void move(state *s, bool to_rm, bool byte)
{
    fk_insn *i = s->i;
    i->size = (uint8_t)operand_size(s, byte);
    if (is_memory(s) && to_rm) {
        i->op = FK_OP_STORE;
        i->rs = byte && !s->rex && s->reg >= 4 ? FK_NO_REG : s->reg;
    } else if (is_memory(s))
        writes(i, i->size < 4 ? FK_OP_OTHER : FK_OP_LOAD, byte ? byte_reg(s, s->reg) : s->reg);
    else if (byte)
        writes(i, FK_OP_OTHER, byte_reg(s, to_rm ? s->rm : s->reg));
    else {
        i->rs = to_rm ? s->reg : s->rm;
        writes(i, i->size == 8 ? FK_OP_ADD : FK_OP_OTHER, to_rm ? s->rm : s->reg);
    }
}

static void move_imm(state *s, bool byte)
{
    fk_insn *i = s->i;
    i->size = (uint8_t)operand_size(s, byte);
    i->flags |= FK_I_IMM;
    if (is_memory(s))
        i->op = FK_OP_STORE;
    else {
        if (!s->w)
            i->imm &= 0xffffffff;
        writes(i, i->size < 4 ? FK_OP_OTHER : FK_OP_IMM, byte ? byte_reg(s, s->rm) : s->rm);
    }
}

static void lea(state *s)
{
    fk_insn *i = s->i;
    i->rs = i->base;
    i->rt = i->index;
    i->imm = i->disp;
    if (i->flags & FK_I_ABSOLUTE) {
        writes(i, FK_OP_IMM, s->reg);
        i->imm = (int64_t)i->target;
    } else if (i->rs != FK_NO_REG && i->rt == FK_NO_REG && s->w)
        writes(i, FK_OP_ADD, s->reg);
    else
        writes(i, FK_OP_OTHER, s->reg);
    i->base = i->index = FK_NO_REG;
}

/* group of add or adc sbb and sub xor cmp: what = 0..7 */
static void arithmetic(state *s, unsigned what, bool to_rm, bool byte)
{
    fk_insn *i = s->i;
    i->size = (uint8_t)operand_size(s, byte);
    if (what == 7) {
        i->op = FK_OP_CMP;
        i->rs = to_rm && is_memory(s) ? s->reg : to_rm ? s->rm : s->reg;
        i->rt = is_memory(s) ? FK_NO_REG : to_rm ? s->reg : s->rm;
        i->flags |= is_memory(s) ? FK_I_MEM : 0;
        if (to_rm && is_memory(s))
            i->op = FK_OP_OTHER; /* cmp [mem], reg: operands the other way round */
        return;
    }
    if (to_rm && is_memory(s)) {
        i->op = FK_OP_STORE;
        return;
    }
    uint8_t rd = to_rm ? s->rm : s->reg;
    rd = byte ? byte_reg(s, rd) : rd;
    i->rs = rd;
    i->rt = to_rm ? s->reg : s->rm;
    fk_op op = is_memory(s) || i->size != 8 ? FK_OP_OTHER
               : what == 0                  ? FK_OP_ADDREG
               : what == 5                  ? FK_OP_SUBREG
                                            : FK_OP_OTHER;
    if (what == 6 && !is_memory(s) && s->reg == s->rm && i->size >= 4) {
        i->imm = 0;
        op = FK_OP_IMM; /* xor r, r */
    }
    writes(i, op, rd);
}

static void arithmetic_imm(state *s, unsigned what, bool byte)
{
    fk_insn *i = s->i;
    i->size = (uint8_t)operand_size(s, byte);
    i->flags |= FK_I_IMM;
    if (what == 7) {
        i->op = is_memory(s) ? FK_OP_OTHER : FK_OP_CMP;
        i->rs = s->rm;
        return;
    }
    if (is_memory(s)) {
        i->op = i->size == 8 && (what == 0 || what == 5) ? FK_OP_ADDMEM : FK_OP_STORE;
        i->imm = what == 5 ? -i->imm : i->imm;
        i->flags &= (uint16_t)~FK_I_IMM;
        return;
    }
    i->rs = byte ? byte_reg(s, s->rm) : s->rm;
    if (what == 5)
        i->imm = -i->imm;
    if (what == 1)
        i->flags |= FK_I_BITS;
    writes(i, i->size == 8 && (what == 0 || what == 5 || what == 1) ? FK_OP_ADD : FK_OP_OTHER,
           i->rs);
}

static void push(state *s, uint8_t reg)
{
    fk_insn *i = s->i;
    i->op = FK_OP_STORE;
    i->rs = reg;
    i->base = RSP;
    i->disp = i->writeback = -8;
    i->size = 8;
    i->writes = FK_REG_BIT(RSP);
}

static void pop(state *s, uint8_t reg)
{
    fk_insn *i = s->i;
    writes(i, FK_OP_LOAD, reg);
    i->base = RSP;
    i->writeback = 8;
    i->size = 8;
    i->writes |= FK_REG_BIT(RSP);
}

static void group5(state *s)
{
    fk_insn *i = s->i;
    unsigned what = s->reg & 7;
    i->rs = is_memory(s) ? FK_NO_REG : s->rm;
    if (what < 2 && !is_memory(s) && s->w) { /* inc, dec */
        i->imm = what == 0 ? 1 : -1;
        writes(i, FK_OP_ADD, s->rm);
    } else if (what < 2)
        changes_rm(s, false);
    else if (what == 2)
        i->op = FK_OP_CALLREG;
    else if (what == 4)
        i->op = FK_OP_JUMPREG;
    else if (what == 6 && is_memory(s)) {
        i->op = FK_OP_PUSHMEM;
        i->size = 8;
        i->writes = FK_REG_BIT(RSP);
    } else if (what == 6)
        push(s, s->rm);
}

static void jump(state *s, fk_op op)
{
    s->i->op = (uint8_t)op;
    s->i->target = s->i->addr + s->i->length + (uint64_t)s->i->imm;
}

static void branch(state *s)
{
    static const uint8_t conds[16] = {
        0, 0, FK_COND_LO, FK_COND_HS, FK_COND_EQ, FK_COND_NE, FK_COND_LS, FK_COND_HI,
        0, 0, 0,          0,          FK_COND_LT, FK_COND_GE, FK_COND_LE, FK_COND_GT};
    jump(s, FK_OP_BRANCH);
    s->i->cond = conds[s->op & 15];
}

static void exchange(state *s)
{
    changes_rm(s, s->op == 0x86);
    s->i->writes |= FK_REG_BIT(s->op == 0x86 ? byte_reg(s, s->reg) : s->reg);
}

/* test r, 1 */
static void test_bit(state *s, uint8_t r)
{
    s->i->op = FK_OP_OTHER;
    s->i->rs = is_memory(s) ? FK_NO_REG : s->op == 0xf6 ? byte_reg(s, r) : r;
    s->i->flags |= s->i->imm == 1 ? FK_I_TEST : 0;
}

static void mul_div(state *s)
{
    unsigned what = s->reg & 7;
    if (what >= 4) {
        s->i->op = FK_OP_OTHER;
        s->i->writes = FK_REG_BIT(0) | FK_REG_BIT(2);
    } else if (what >= 2)
        changes_rm(s, s->op == 0xf6);
    else
        test_bit(s, s->rm);
}

static void one_byte_high(state *s)
{
    fk_insn *i = s->i;
    uint8_t op = s->op, low = (uint8_t)((op & 7) | (s->b ? 8 : 0));
    i->op = FK_OP_OTHER;
    switch (op) {
    case 0x80: case 0x81: case 0x83: arithmetic_imm(s, s->reg & 7, op == 0x80); break;
    case 0x84: case 0x85: break;
    case 0xa8: case 0xa9: test_bit(s, 0); break;
    case 0x86: case 0x87: exchange(s); break;
    case 0x88: case 0x89: move(s, true, op == 0x88); break;
    case 0x8a: case 0x8b: move(s, false, op == 0x8a); break;
    case 0x8d: lea(s); break;
    case 0x8f:
        i->op = is_memory(s) ? FK_OP_POPMEM : FK_OP_UNKNOWN;
        i->writes = FK_REG_BIT(RSP);
        i->size = 8;
        break;
    case 0x90: break;
    case 0x98: i->writes = FK_REG_BIT(0); break;
    case 0x99: i->writes = FK_REG_BIT(2); break;
    case 0xc0: case 0xc1: case 0xd0: case 0xd1: case 0xd2:
    case 0xd3: changes_rm(s, !(op & 1)); break;
    case 0xc2: case 0xc3: i->op = FK_OP_RET; break;
    case 0xc6: case 0xc7: move_imm(s, op == 0xc6); break;
    case 0xc9: i->op = FK_OP_UNKNOWN; break; /* leave */
    case 0xcc: case 0xf4: i->op = FK_OP_STOP; break;
    case 0xe8: jump(s, FK_OP_CALL); break;
    case 0xe9: case 0xeb: jump(s, FK_OP_JUMP); break;
    case 0xf6: case 0xf7: mul_div(s); break;
    case 0xfe: changes_rm(s, true); break;
    case 0xff: group5(s); break;
    default:
        if (op >= 0xb8 && op <= 0xbf) {
            if (!s->w)
                i->imm &= 0xffffffff;
            writes(i, FK_OP_IMM, low);
        } else if (op >= 0xb0 && op <= 0xb7)
            writes(i, FK_OP_OTHER, byte_reg(s, low));
        else if (op >= 0x91 && op <= 0x97)
            i->writes = FK_REG_BIT(0) | FK_REG_BIT(low);
        else if (op >= 0xe0 && op <= 0xe3)
            branch(s);
        else if ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf))
            i->writes = FK_REG_BIT(0) | FK_REG_BIT(1) | FK_REG_BIT(6) | FK_REG_BIT(7);
    }
}

static void one_byte(state *s)
{
    uint8_t op = s->op, low = (uint8_t)((op & 7) | (s->b ? 8 : 0));
    if (op < 0x40) {
        if ((op & 7) < 4)
            arithmetic(s, op >> 3, !(op & 2), !(op & 1));
        else {
            s->has_modrm = true;
            s->mod = 3;
            s->rm = 0; /* al, eax, rax */
            arithmetic_imm(s, op >> 3, !(op & 1));
        }
    } else if (op >= 0x50 && op < 0x58)
        push(s, low);
    else if (op >= 0x58 && op < 0x60)
        pop(s, low);
    else if (op == 0x68 || op == 0x6a) {
        push(s, FK_NO_REG);
        s->i->flags |= FK_I_IMM;
    } else if (op == 0x63 || op == 0x69 || op == 0x6b) {
        writes(s->i, op == 0x63 && is_memory(s) ? FK_OP_LOAD : FK_OP_OTHER, s->reg);
        s->i->size = 4;
    } else if (op >= 0x70 && op < 0x80)
        branch(s);
    else
        one_byte_high(s);
}

/* Stores of float registers; movq and cvt to integer registers. */
static void two_byte(state *s)
{
    fk_insn *i = s->i;
    uint8_t op = s->op;
    i->op = FK_OP_OTHER;
    if (op >= 0x80 && op < 0x90)
        branch(s);
    else if (op >= 0x90 && op < 0xa0)
        changes_rm(s, true);
    else if (op >= 0x40 && op < 0x50)
        i->writes = FK_REG_BIT(s->reg);
    else if (op == 0x0b || op == 0xb9 || op == 0xff)
        i->op = FK_OP_STOP;
    else if (op == 0x11 || op == 0x13 || op == 0x17 || op == 0x29 || op == 0x2b || op == 0x7f ||
             op == 0xd6 || op == 0xe7) {
        i->op = is_memory(s) ? FK_OP_STORE : FK_OP_OTHER;
        i->size = (s->repne || op == 0xd6 || op == 0x13 || op == 0x17) ? 8
                  : s->rep && op == 0x11                               ? 4
                                                                       : 16;
        i->flags |= FK_I_FLOAT;
    } else if (op == 0x10 || op == 0x12 || op == 0x28 || op == 0x6f) {
        i->op = is_memory(s) ? FK_OP_LOAD : FK_OP_OTHER;
        i->flags |= FK_I_FLOAT;
        i->size = 8;
    } else if (op == 0x7e && !s->rep) { /* movd, movq to rm */
        changes_rm(s, false);
        i->flags |= FK_I_FLOAT;
        i->size = s->w ? 8 : 4;
    } else if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7 || op == 0xc5 || op == 0xaf ||
               op == 0xbc || op == 0xbd || op == 0xb8)
        i->writes = FK_REG_BIT(s->reg);
    else if (op == 0xb6 || op == 0xb7 || op == 0xbe || op == 0xbf) {
        writes(i, is_memory(s) ? FK_OP_LOAD : FK_OP_OTHER, s->reg);
        i->size = (op & 1) ? 2 : 1;
    } else if (op >= 0xc8 && op <= 0xcf)
        i->writes = FK_REG_BIT((op & 7) | (s->b ? 8 : 0));
    else if (op == 0xb0 || op == 0xb1 || op == 0xc0 || op == 0xc1) {
        changes_rm(s, !(op & 1));
        i->writes |= FK_REG_BIT(s->reg) | FK_REG_BIT(0);
    } else if (op == 0xa4 || op == 0xa5 || op == 0xac || op == 0xad || op == 0xab || op == 0xb3 ||
               op == 0xbb || (op == 0xba && (s->reg & 7) >= 5))
        changes_rm(s, false);
    else if (op == 0xa2 || op == 0x31)
        i->writes = FK_REG_BIT(0) | FK_REG_BIT(1) | FK_REG_BIT(2) | FK_REG_BIT(3);
}

static void meaning(state *s)
{
    if (s->map == 1)
        one_byte(s);
    else if (s->map == 2)
        two_byte(s);
    else { /* results in float or integer registers named by reg, or in memory */
        s->i->op = FK_OP_OTHER;
        s->i->writes = FK_REG_BIT(s->reg) | (is_memory(s) ? 0 : FK_REG_BIT(s->rm));
    }
}

void fk_decode_amd64(const uint8_t *code, size_t avail, uint64_t addr, fk_insn *i)
{
    fk_insn_init(i, addr, 1);
    state s = {.p = code, .end = code + (avail < 15 ? avail : 15), .i = i};
    if (!prefixes(&s) || !opcode(&s))
        return;
    unsigned what = s.map == 1 ? map1[s.op] : s.map == 2 ? map2(s.op) : s.map == 3 ? M : M | B;
    if (what & (X | P) || ((what & M) && !modrm(&s)))
        return;
    unsigned n = immediate_size(&s, what);
    if (!take(&s, n))
        return;
    i->imm = what & (W | A) ? 0 : read_signed(s.p, n);
    i->length = (uint8_t)(s.p + n - code);
    if (i->flags & FK_I_ABSOLUTE)
        i->target = addr + i->length + (uint64_t)(int64_t)i->disp;
    if (i->flags & FK_I_ABSOLUTE)
        i->flags |= FK_I_WIDE;
    meaning(&s);
}
