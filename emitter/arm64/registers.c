/* arm64/registers.c - places: 0-15 x0-x15, 16-22 x19-x25, 32 + n d n. x16, x17 are
 * scratch everywhere; d31 is ours for slot moves, cycles and single precision. */
#include "emitter/arm64/arm64.h"

static const int8_t order[] = {
    9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 4, 3, 2, 1, 0, 16, 17, 18, 19, 20, 21, 22, 8,
    D(16), D(17), D(18), D(19), D(20), D(21), D(22), D(23), D(24), D(25), D(26), D(27), D(28),
    D(29), D(30), D(7), D(6), D(5), D(4), D(3), D(2), D(1), D(0), D(8), D(9), D(10), D(11),
    D(12), D(13), D(14), D(15), -1,
};

static void constrain(const lin_insn *i, lin_constraint *c)
{
    if (i->op == LIN_OPAQUE)
        c->tied = true;
}

static const char *const op_names[] = {"addshift", "subshift", "madd", "msub"};

const target target_arm64 = {
    .name = "arm64",
    .reg_prefix = "",
    .order = order,
    .reserved = 1ull << D(31),
    .constrain = constrain,
    .imm_ok = arm64_imm_ok,
    .amode_ok = arm64_amode_ok,
    .select = arm64_select,
    .op_names = op_names,
    .fuses = TARGET_FUSES_SUMS | TARGET_FUSES_REVERSE | TARGET_FUSES_NEG_PRODUCT,
    .has_sqrt = true,
    .has_bswap = true,
    .tests_bits = true,
    .emit = arm64_emit,
    .move = arm64_move,
    .swap = arm64_swap,
    .branch = arm64_branch,
    .jump = arm64_jump,
    .prologue = arm64_prologue,
    .out_of_line = arm64_out_of_line,
    .function_head = arm64_function_head,
    .code_align = "\t.balign\t8\n",
    .data_aligned = true,
    .size = arm64_size,
    .branch_range = {(1 << 20) - 64, (1 << 15) - 64, (1 << 20) - 64, (1 << 20) - 64, 0},
    .ool_size = 32,
};
