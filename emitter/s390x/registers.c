/* s390x/registers.c - what instructions ask of registers.
 *
 * Most operations have three-operand forms (z196), so little is tied. r0 and r1
 * are the emitter's: r1 for addresses, the pair r0:r1 for division. f15 moves
 * float slots. */
#include "emitter/s390x/s390x.h"

static const int8_t order[] = {
    R2,     R3,      R4,      R5,      R6,      R7,      R8,     R9,     R12,
    FLT(0), FLT(1),  FLT(2),  FLT(3),  FLT(4),  FLT(5),  FLT(6), FLT(7), FLT(8),
    FLT(9), FLT(10), FLT(11), FLT(12), FLT(13), FLT(14), -1,
};

static bool tied_immediate(const lin_insn *i)
{
    unsigned first, last;
    return i->flags & LIN_F_IMM && !(i->op == LIN_AND && s390x_is_mask(i->imm, &first, &last));
}

static void constrain(const lin_insn *i, lin_constraint *c)
{
    bool imm = i->flags & LIN_F_IMM;
    switch (i->op) {
    case LIN_ADD: c->slot_ok = imm ? 0 : 3; break;
    case LIN_SUB: c->slot_ok = imm ? 0 : 2; break;
    case LIN_AND: case LIN_OR: case LIN_XOR:
        c->tied = tied_immediate(i);
        c->slot_ok = imm ? 0 : 3;
        break;
    case LIN_MUL: case LIN_FADD: case LIN_FMUL:
        c->tied = true;
        c->commutes = !imm;
        c->slot_ok = imm ? 0 : 2;
        break;
    case LIN_FSUB: case LIN_FDIV:
        c->tied = true;
        c->slot_ok = 2;
        break;
    case LIN_FMADD: case LIN_FMSUB: case LIN_OPAQUE: c->tied = true; break;
    case LIN_DIV: case LIN_MOD: c->slot_ok = 2; break;
    case LIN_SET: case LIN_BRANCH: case LIN_CHECKBOUND: c->slot_ok = 3; break;
    case LIN_SWITCH: c->temps = 1; break;
    default: break;
    }
}

const target target_s390x = {
    .name = "s390x",
    .reg_prefix = "%",
    .order = order,
    .reserved = (uint64_t)1 << FLT(15),
    .constrain = constrain,
    .imm_ok = s390x_imm_ok,
    .amode_ok = s390x_amode_ok,
    .select = s390x_select,
    .fuses = TARGET_FUSES_SUMS,
    .has_sqrt = true,
    .has_bswap = true,
    .tests_bits = true,
    .slow_mulh = true,
    .emit = s390x_emit,
    .move = s390x_move,
    .swap = s390x_swap,
    .branch = s390x_branch,
    .jump = s390x_jump,
    .prologue = s390x_prologue,
    .out_of_line = s390x_out_of_line,
    .function_head = s390x_function_head,
    .code_align = "\t.balign\t8\n",
    .text_pad = "\t.long\t0\n",
    .data_aligned = true,
    .cfa_bias = 160,
    .size = s390x_size,
    .branch_range = {65534, 0, 0, 0, 0},
    .ool_size = 24,
};
