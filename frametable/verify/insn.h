/* insn.h - one instruction of any architecture, as far as it decides a verdict.
 *
 * Registers have the numbers of their encodings (fk_reg.hw): integer 0..31, float
 * registers are not told apart from each other. What an instruction does is one of a few
 * forms; everything else is FK_OP_OTHER with the set of integer registers that it changes.
 *
 *   form      means                                 for instance
 *   OTHER     changes `writes`; with FK_I_TEST it tests the lowest bit of rs
 *   IMM       rd = imm                              movabs, lis, adrp, larl, auipc
 *   ADD       rd = rs + imm (imm 0: a move)         lea, mr, la, sub rsp
 *   ADDREG    rd = rs + rt                          add x0, x1, x2
 *   SUBREG    rd = rs - rt                          subf
 *   SHIFT     rd = rs << imm                        sldi
 *   LOAD      rd (and rd2) = [mem]                  ldp, lg, ld
 *   STORE     [mem] = rs (and rd2) or imm           stg, str, movq $8, (%rax)
 *   PUSHMEM   push [mem]; POPMEM pop [mem]; ADDMEM [mem] += imm          amd64 only
 *   CMP       flags = rs ? rt, imm or [mem]         cmp, clg, cmpld
 *   BRANCH    if cond go to target; compares rs with rt itself where rs is a register
 *
 * mem is [base + index + disp] before the instruction; then base += writeback. */
#ifndef FK_VERIFY_INSN_H
#define FK_VERIFY_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"

typedef enum {
    FK_OP_OTHER,
    FK_OP_UNKNOWN,
    FK_OP_IMM,
    FK_OP_ADD,
    FK_OP_ADDREG,
    FK_OP_SUBREG,
    FK_OP_SHIFT,
    FK_OP_LOAD,
    FK_OP_STORE,
    FK_OP_PUSHMEM,
    FK_OP_POPMEM,
    FK_OP_ADDMEM,
    FK_OP_CMP,
    FK_OP_BRANCH,
    FK_OP_JUMP,
    FK_OP_JUMPREG,
    FK_OP_CALL,
    FK_OP_CALLREG,
    FK_OP_RET,
    FK_OP_TRAP,
    FK_OP_STOP, /* ud2 and the like: never goes on */
} fk_op;

/* LO HS HI LS are unsigned. LT GE GT LE after a compare with FK_I_LOGICAL are too. */
typedef enum {
    FK_COND_OTHER,
    FK_COND_EQ,
    FK_COND_NE,
    FK_COND_LT,
    FK_COND_GE,
    FK_COND_GT,
    FK_COND_LE,
    FK_COND_LO,
    FK_COND_HS,
    FK_COND_HI,
    FK_COND_LS,
} fk_cond;

enum {
    FK_I_IMM = 1 << 0,     /* STORE, CMP: the source is imm */
    FK_I_MEM = 1 << 1,     /* CMP: the second operand is mem */
    FK_I_LOGICAL = 1 << 2, /* CMP: unsigned */
    FK_I_LINKS = 1 << 3,   /* BRANCH: also leaves a return address (power bcl) */
    FK_I_ABSOLUTE = 1 << 4, /* mem is the address in `target`; IMM: an address */
    FK_I_FLOAT = 1 << 5,   /* LOAD, STORE of a float register */
    FK_I_WIDE = 1 << 6,    /* PC-relative pair: a relocation completes it in an object */
    FK_I_ZERO = 1 << 8,    /* the stored value is the constant 0 */
    FK_I_BITS = 1 << 9,    /* ADD that is an OR: means ADD for a constant only */
    FK_I_GOT = 1 << 11,      /* IMM: the address of a linkage slot that will hold imm */
    FK_I_TEST = 1 << 12,     /* OTHER: looks at bit 0 of rs, "is it an immediate?" */
    FK_I_UNSCALED = 1 << 10, /* mem: the index counts bytes */
};

enum { FK_NO_REG = 255, FK_ALL_REGS = 32 };
#define FK_REG_BIT(r) ((r) < 32 ? 1u << (r) : 0u)

typedef struct {
    uint64_t addr, target;
    int64_t imm;
    int32_t disp, writeback;
    uint32_t writes;
    uint16_t flags;
    uint8_t length, op, cond, size;
    uint8_t rd, rd2, rs, rt, base, index;
} fk_insn;

/* Decodes the instruction at `code` (avail bytes, > 0) that lies at addr. Always sets the
 * length (of unknown ones the least step); never reads outside. */
typedef void (*fk_decode_fn)(const uint8_t *code, size_t avail, uint64_t addr, fk_insn *out);
fk_decode_fn fk_decoder(const fk_abi *);

void fk_decode_amd64(const uint8_t *, size_t, uint64_t, fk_insn *);
void fk_decode_arm64(const uint8_t *, size_t, uint64_t, fk_insn *);
void fk_decode_power(const uint8_t *, size_t, uint64_t, fk_insn *);
void fk_decode_s390x(const uint8_t *, size_t, uint64_t, fk_insn *);
void fk_decode_riscv64(const uint8_t *, size_t, uint64_t, fk_insn *);

static inline void fk_insn_init(fk_insn *i, uint64_t addr, unsigned length)
{
    *i = (fk_insn){.addr = addr, .length = (uint8_t)length, .op = FK_OP_UNKNOWN,
                   .rd = FK_NO_REG, .rd2 = FK_NO_REG,
                   .rs = FK_NO_REG, .rt = FK_NO_REG, .base = FK_NO_REG, .index = FK_NO_REG};
}

/* Hostile code may add up to anything: it wraps. */
static inline int64_t fk_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t fk_difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The low `bits` bits of x as a signed number. */
static inline int64_t fk_signed(uint64_t x, unsigned bits)
{
    return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

#endif
