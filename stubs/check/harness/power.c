/* power.c - what the harness must know of ppc64le besides abi/. */
#include <string.h>

#include "harness.h"

extern const fk_abi fk_abi_power;

enum { DWARF_LR = 65, DWARF_CTR = 66 };
enum { PT_NIP = 32, PT_CTR = 35, PT_LNK = 36 };

static uint64_t *special(const fk_reg *r)
{
    return r->dwarf == DWARF_LR ? &sc_block.lr : r->dwarf == DWARF_CTR ? &sc_block.ctr : NULL;
}

static void fix_block(void)
{
    register uint64_t thread __asm__("r13");
    sc_block.r[13] = thread;
    sc_block.cc &= 0xffffffff;
}

static void from_context(const ucontext_t *c, sc_state *s)
{
    for (int i = 0; i < 32; i++)
        s->r[i] = c->uc_mcontext.gp_regs[i];
    s->pc = c->uc_mcontext.gp_regs[PT_NIP];
    s->lr = c->uc_mcontext.gp_regs[PT_LNK];
    s->ctr = c->uc_mcontext.gp_regs[PT_CTR];
}

static void to_context(const sc_state *s, ucontext_t *c)
{
    for (int i = 0; i < 32; i++)
        c->uc_mcontext.gp_regs[i] = s->r[i];
    c->uc_mcontext.gp_regs[PT_NIP] = s->pc;
    c->uc_mcontext.gp_regs[PT_LNK] = s->lr;
    c->uc_mcontext.gp_regs[PT_CTR] = s->ctr;
}

/* A C callee may save CR and LR in its caller's frame. */
static const uint8_t c_scratch[] = {8, 16};

const sc_port sc_this_port = {
    .abi = &fk_abi_power,
    .trap = {0x08, 0x00, 0xe0, 0x7f}, /* trap */
    .trap_length = 4,
    .c_align = 16,
    .red_zone = 288,
    .dead_index = -1,
    .cc_kept = 0x00fff000, /* cr2, cr3, cr4 */
    .ignore = {11},
    .num_ignore = 1,
    .special = special,
    .fix_block = fix_block,
    .from_context = from_context,
    .to_context = to_context,
    .realloc_size = "r27",
    .overflow_link = "r28",
    .trap4_pc = 40,
    .trap4_previous = 48,
    .trap4_size = 32,
    .c_scratch = c_scratch,
    .num_c_scratch = sizeof c_scratch,
};
