/* riscv64/registers.c - places: 0-7 a0-a7, 8-15 s2-s9, 16-20 t2-t6, 21 s0; 32 + n
 * float register n. t0, t1 are scratch everywhere; ft0 is ours. */
#include "emitter/riscv64/riscv64.h"

static const int8_t order[] = {
    7, 6, 5, 4, 3, 2, 1, 0, 16, 17, 18, 19, 20, 8, 9, 10, 11, 12, 13, 14, 15, 21,
    F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(28), F(29), F(30), F(31), F(17), F(16), F(15),
    F(14), F(13), F(12), F(11), F(10), F(8), F(9), F(18), F(19), F(20), F(21), F(22), F(23),
    F(24), F(25), F(26), F(27), -1,
};

static void constrain(const lin_insn *i, lin_constraint *c)
{
    if (i->op == LIN_OPAQUE)
        c->tied = true;
}

const target target_riscv64 = {
    .name = "riscv64",
    .reg_prefix = "",
    .order = order,
    .reserved = 1ull << F(0),
    .constrain = constrain,
    .c_rules = {.float_in_int = true},
    .imm_ok = riscv64_imm_ok,
    .amode_ok = riscv64_amode_ok,
    .fuses = TARGET_FUSES_SUMS | TARGET_FUSES_NEG_SUM,
    .has_sqrt = true,
    .tests_bits = true,
    .emit = riscv64_emit,
    .move = riscv64_move,
    .swap = riscv64_swap,
    .branch = riscv64_branch,
    .jump = riscv64_jump,
    .prologue = riscv64_prologue,
    .out_of_line = riscv64_out_of_line,
    .function_head = riscv64_function_head,
    .file_head = riscv64_file_head,
    .code_align = "\t.balign\t4\n",
    .text_pad = "\t.long\t0\n",
    .size = riscv64_size,
    .branch_range = {(1 << 20) - 64, (1 << 20) - 64, (1 << 20) - 64, 0, (1 << 20) - 64},
    .ool_size = 24,
};
