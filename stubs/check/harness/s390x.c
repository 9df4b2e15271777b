/* s390x.c - what the harness must know of s390x besides abi/. */
#include "harness.h"

extern const fk_abi fk_abi_s390x;

static void from_context(const ucontext_t *c, sc_state *s)
{
    for (int i = 0; i < 16; i++)
        s->r[i] = c->uc_mcontext.gregs[i];
    s->pc = c->uc_mcontext.psw.addr;
}

static void to_context(const sc_state *s, ucontext_t *c)
{
    for (int i = 0; i < 16; i++)
        c->uc_mcontext.gregs[i] = s->r[i];
    c->uc_mcontext.psw.addr = s->pc;
}

/* The 160 bytes above the stack pointer are the callee's. */
static const uint8_t c_scratch[] = {0,  8,  16, 24, 32, 40,  48,  56,  64,  72,
                                    80, 88, 96, 104, 112, 120, 128, 136, 144, 152};

const sc_port sc_this_port = {
    .abi = &fk_abi_s390x,
    .trap = {0x00, 0x01},
    .trap_length = 2,
    .trap_advance = 2,
    .c_align = 8,
    .cfa_bias = 160,
    .dead_index = -1,
    .ignore = {0, 1},
    .num_ignore = 2,
    .from_context = from_context,
    .to_context = to_context,
    .realloc_size = "r12",
    .overflow_words = 8,
    .trap4_pc = 0,
    .trap4_previous = 8,
    .trap4_size = 16,
    .c_scratch = c_scratch,
    .num_c_scratch = sizeof c_scratch,
};
