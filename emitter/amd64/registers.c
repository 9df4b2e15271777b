/* amd64/registers.c - what instructions ask of registers. Numbers are places:
 * 0 rax 1 rbx 2 rdi 3 rsi 4 rdx 5 rcx 6 r8 7 r9 8 r12 9 r13 10 r10 11 r11 12 rbp,
 * 32 + n xmm n. xmm15 is ours: moves between slots, masks, single precision. */
#include "emitter/amd64/amd64.h"

static const int8_t order[] = {
    RCX, RDX, RSI, RDI, R8, R9, RBX, RAX, R12, R13, RBP, R10, R11,
    XMM(0), XMM(1), XMM(2), XMM(3), XMM(4), XMM(5), XMM(6), XMM(7), XMM(8), XMM(9), XMM(10),
    XMM(11), XMM(12), XMM(13), XMM(14), -1,
};

static void divide(const lin_insn *i, lin_constraint *c)
{
    c->arg[0] = RAX;
    c->early = true;
    c->kills = 1u << RAX | 1u << RDX;
    c->res[0] = i->op == LIN_DIV ? RAX : RDX;
    c->kills &= ~(1ull << c->res[0]);
    c->kills |= i->op == LIN_DIV ? 1u << RDX : 1u << RAX;
    c->kills |= 1u << RDX;
    c->slot_ok = 2;
}

static void shift(const lin_insn *i, lin_constraint *c)
{
    c->tied = true;
    if (!(i->flags & LIN_F_IMM))
        c->arg[1] = RCX;
}

static void constrain(const lin_insn *i, lin_constraint *c)
{
    bool imm = i->flags & LIN_F_IMM;
    switch (i->op) {
    case LIN_ADD: c->slot_ok = imm ? 0 : 3; break;
    case LIN_AND: case LIN_OR: case LIN_XOR:
        c->tied = true;
        c->commutes = !imm;
        c->slot_ok = 2;
        break;
    case LIN_MUL:
        c->tied = c->commutes = !imm;
        c->slot_ok = imm ? 1 : 2;
        break;
    case LIN_FADD: case LIN_FMUL:
        c->tied = c->commutes = true;
        c->slot_ok = 2;
        break;
    case LIN_SUB: case LIN_FSUB: case LIN_FDIV:
        c->tied = true;
        c->slot_ok = 2;
        break;
    case LIN_NEG: case LIN_FNEG: case LIN_FABS: case LIN_BSWAP: case LIN_OPAQUE:
        c->tied = true;
        break;
    case LIN_SHL: case LIN_SHR: case LIN_SAR: shift(i, c); break;
    case LIN_DIV: case LIN_MOD: divide(i, c); break;
    case LIN_MULH:
        c->arg[0] = RAX;
        c->res[0] = RDX;
        c->kills = 1u << RAX;
        c->slot_ok = 2;
        break;
    case LIN_SET: case LIN_BRANCH: case LIN_CHECKBOUND: c->slot_ok = 3; break;
    case LIN_BRANCHT: case LIN_FOFI: case LIN_IOFF: case LIN_FSQRT: c->slot_ok = 1; break;
    case LIN_PUSHTRAP: c->temps = 1; break;
    case LIN_SWITCH: c->temps = 2; break;
    default: break;
    }
}

const target target_amd64 = {
    .name = "amd64",
    .reg_prefix = "%",
    .order = order,
    .reserved = 1ull << XMM(15),
    .constrain = constrain,
    .imm_ok = amd64_imm_ok,
    .amode_ok = amd64_amode_ok,
    .select = amd64_select,
    .has_sqrt = true,
    .has_bswap = true,
    .tests_bits = true,
    .emit = amd64_emit,
    .move = amd64_move,
    .swap = amd64_swap,
    .branch = amd64_branch,
    .jump = amd64_jump,
    .prologue = amd64_prologue,
    .out_of_line = amd64_out_of_line,
    .function_head = amd64_function_head,
    .code_align = "\t.balign\t16\n",
    .data_aligned = true,
};
