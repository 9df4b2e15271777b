/* arm64.c - what the harness must know of arm64 besides abi/. */
#include "harness.h"

extern const fk_abi fk_abi_arm64;

static void from_context(const ucontext_t *c, sc_state *s)
{
    for (int i = 0; i < 31; i++)
        s->r[i] = c->uc_mcontext.regs[i];
    s->r[31] = c->uc_mcontext.sp;
    s->pc = c->uc_mcontext.pc;
}

static void to_context(const sc_state *s, ucontext_t *c)
{
    for (int i = 0; i < 31; i++)
        c->uc_mcontext.regs[i] = s->r[i];
    c->uc_mcontext.sp = s->r[31];
    c->uc_mcontext.pc = s->pc;
}

static void fix_block(void) { sc_block.cc &= 0xf0000000; }

const sc_port sc_this_port = {
    .abi = &fk_abi_arm64,
    .trap = {0x00, 0x00, 0x20, 0xd4}, /* brk #0 */
    .trap_length = 4,
    .c_align = 16,
    .dead_index = 8,
    .ignore = {16, 17},
    .num_ignore = 2,
    .fix_block = fix_block,
    .from_context = from_context,
    .to_context = to_context,
    .overflow_words = 16,
    .trap4_pc = 8,
    .trap4_size = 16,
};
