/* power/registers.c - what instructions ask of registers: almost nothing. f0 stays
 * the emitter's, for float cycles and single precision. */
#include "emitter/power/power.h"

static const int8_t order[] = {
    R3,      R4,      R5,      R6,      R7,      R8,      R9,      R10,     R14,     R15,
    R16,     R17,     R18,     R19,     R20,     R21,     R22,     R23,     R24,     R25,
    R26,     R27,     R28,     FLT(1),  FLT(2),  FLT(3),  FLT(4),  FLT(5),  FLT(6),  FLT(7),
    FLT(8),  FLT(9),  FLT(10), FLT(11), FLT(12), FLT(13), FLT(14), FLT(15), FLT(16), FLT(17),
    FLT(18), FLT(19), FLT(20), FLT(21), FLT(22), FLT(23), FLT(24), FLT(25), FLT(26), FLT(27),
    FLT(28), FLT(29), FLT(30), FLT(31), -1,
};

static void constrain(const lin_insn *i, lin_constraint *c)
{
    c->tied = i->op == LIN_OPAQUE;
}

const target target_power = {
    .name = "power",
    .reg_prefix = "%",
    .order = order,
    .reserved = (uint64_t)1 << FLT(0),
    .constrain = constrain,
    .c_rules = {.float_takes_int = true, .home_words = 8},
    .imm_ok = power_imm_ok,
    .amode_ok = power_amode_ok,
    .fuses = TARGET_FUSES_SUMS,
    .has_sqrt = true,
    .tests_bits = true,
    .emit = power_emit,
    .move = power_move,
    .swap = power_swap,
    .branch = power_branch,
    .jump = power_jump,
    .prologue = power_prologue,
    .out_of_line = power_out_of_line,
    .function_head = power_function_head,
    .file_head = power_file_head,
    .code_align = "\t.balign\t4\n",
    .text_pad = "\t.long\t0\n",
    .data_aligned = true,
    .size = power_size,
    .branch_range = {32760, 32760, 32760, 0, 0},
    .ool_size = 32,
};
