/* amd64.c - what the harness must know of amd64 besides abi/. */
#include "harness.h"

extern const fk_abi fk_abi_amd64;

static const uint8_t numbers[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static void from_context(const ucontext_t *c, sc_state *s)
{
    for (int i = 0; i < 16; i++)
        s->r[i] = (uint64_t)c->uc_mcontext.gregs[numbers[i]];
    s->pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
}

static void to_context(const sc_state *s, ucontext_t *c)
{
    for (int i = 0; i < 16; i++)
        c->uc_mcontext.gregs[numbers[i]] = (greg_t)s->r[i];
    c->uc_mcontext.gregs[REG_RIP] = (greg_t)s->pc;
}

static void fix_block(void)
{
    sc_block.cc &= 0xc5; /* carry, parity, zero, sign */
}

const sc_port sc_this_port = {
    .abi = &fk_abi_amd64,
    .trap = {0xcc},
    .trap_length = 1,
    .trap_advance = 1,
    .pushes_return = 8,
    .c_align = 16,
    .red_zone = 128,
    .dead_index = 11,
    .fix_block = fix_block,
    .from_context = from_context,
    .to_context = to_context,
    .overflow_words = 16,
    .trap4_pc = 8,
    .trap4_size = 16,
};
