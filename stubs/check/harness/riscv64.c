/* riscv64.c - what the harness must know of riscv64 besides abi/. */
#include "harness.h"

extern const fk_abi fk_abi_riscv64;

static void fix_block(void)
{
    __asm__("mv %0, gp" : "=r"(sc_block.r[3]));
    __asm__("mv %0, tp" : "=r"(sc_block.r[4]));
    sc_block.r[0] = 0;
}

static void from_context(const ucontext_t *c, sc_state *s)
{
    for (int i = 1; i < 32; i++)
        s->r[i] = c->uc_mcontext.__gregs[i];
    s->pc = c->uc_mcontext.__gregs[0];
}

static void to_context(const sc_state *s, ucontext_t *c)
{
    for (int i = 1; i < 32; i++)
        c->uc_mcontext.__gregs[i] = s->r[i];
    c->uc_mcontext.__gregs[0] = s->pc;
}

const sc_port sc_this_port = {
    .abi = &fk_abi_riscv64,
    .trap = {0x02, 0x90}, /* c.ebreak */
    .trap_length = 2,
    .c_align = 16,
    .dead_index = 16,
    .ignore = {5, 6},
    .num_ignore = 2,
    .fix_block = fix_block,
    .from_context = from_context,
    .to_context = to_context,
    .overflow_words = 16,
    .trap4_pc = 8,
    .trap4_size = 16,
};
