/* regs.c - registers by role, and the parts that C and OCaml code play. */
#include <stdio.h>
#include <string.h>

#include "harness.h"

sc_roles R;

uint64_t *sc_reg(const fk_reg *r)
{
    uint64_t *s = sc_this_port.special ? sc_this_port.special(r) : NULL;
    if (s)
        return s;
    return r->is_float ? &sc_block.f[r->hw] : &sc_block.r[r->hw];
}

uint64_t sc_value(const sc_state *state, const fk_reg *r)
{
    ptrdiff_t offset = (char *)sc_reg(r) - (char *)&sc_block;
    uint64_t v;
    memcpy(&v, (const char *)state + offset, sizeof v);
    return v;
}

uint32_t sc_role_bits(const fk_reg *r)
{
    return fk_abi_roles(sc_abi, r, sc_version);
}

bool sc_is_lost(const fk_reg *r)
{
    for (int i = 0; i < sc_this_port.num_ignore; i++)
        if (!r->is_float && sc_this_port.ignore[i] == r->hw && sc_reg(r) == &sc_block.r[r->hw])
            return true;
    return false;
}

static uint64_t *by_role(uint32_t role)
{
    for (size_t i = 0; i < sc_abi->num_regs; i++)
        if ((sc_role_bits(&sc_abi->regs[i]) & role) == role)
            return sc_reg(&sc_abi->regs[i]);
    return NULL;
}

static uint64_t *argument(int n, bool is_float, bool c)
{
    for (size_t i = 0; i < sc_abi->num_regs; i++) {
        const fk_reg *r = &sc_abi->regs[i];
        if (r->is_float == is_float && (c ? r->c_arg : r->ocaml_arg) == n)
            return sc_reg(r);
    }
    return NULL;
}

uint64_t *sc_ocaml_arg(int n) { return argument(n, false, false); }
uint64_t *sc_c_arg(int n) { return argument(n, false, true); }

void sc_find_roles(void)
{
    R.sp = by_role(FK_REG_SP);
    R.dom = by_role(FK_REG_DOMAIN);
    R.young = by_role(FK_REG_YOUNG);
    R.trap = by_role(FK_REG_TRAP);
    R.link = by_role(FK_REG_LINK);
    R.limit = by_role(FK_REG_LIMIT);
    R.toc = by_role(FK_REG_TOC);
    R.c_function = by_role(FK_REG_C_FUNCTION);
    R.args_begin = by_role(FK_REG_STACKARGS_BEGIN);
    R.args_end = by_role(FK_REG_STACKARGS_END);
    R.result = argument(0, false, false);
    R.fresult = argument(0, true, false);
}

void sc_randomize(void)
{
    uint64_t *words = (uint64_t *)&sc_block;
    for (size_t i = 0; i < offsetof(sc_state, host_sp) / 8; i++)
        words[i] = sc_random() % 16 ? sc_random() : 0; /* 0 too: a wrong test for it shows */
    if (sc_this_port.fix_block)
        sc_this_port.fix_block();
}

static void randomize_without(uint32_t roles)
{
    sc_state before = sc_block;
    sc_randomize();
    for (size_t i = 0; i < sc_abi->num_regs; i++) {
        const fk_reg *r = &sc_abi->regs[i];
        if (sc_role_bits(r) & roles)
            *sc_reg(r) = sc_value(&before, r);
    }
}

static uint64_t c_return;

void sc_c_body(bool indirect)
{
    c_return = sc_return_address();
    sc_zone *z = sc_zone_of(*R.sp);
    if (z)
        sc_scribble(z->low > *R.sp - 1024 && z->low <= *R.sp ? z->low : *R.sp - 1024, *R.sp);
    for (int i = 0; i < sc_this_port.num_c_scratch; i++)
        sc_scribble(*R.sp + sc_this_port.c_scratch[i], *R.sp + sc_this_port.c_scratch[i] + 8);
    uint64_t cc = sc_block.cc;
    randomize_without(FK_REG_C_CALLEE_SAVED | FK_REG_SP | FK_REG_RESERVED |
                      (indirect ? 0 : FK_REG_TOC));
    sc_block.cc = (sc_block.cc & ~sc_this_port.cc_kept) | (cc & sc_this_port.cc_kept);
}

void sc_ocaml_body(void)
{
    uint64_t cc = sc_block.cc;
    randomize_without(FK_REG_DOMAIN | FK_REG_YOUNG | FK_REG_TRAP | FK_REG_SP | FK_REG_RESERVED |
                      FK_REG_LIMIT);
    sc_block.cc = (sc_block.cc & ~sc_this_port.cc_kept) | (cc & sc_this_port.cc_kept);
}

uint64_t sc_return_address(void)
{
    return sc_this_port.pushes_return ? rd(*R.sp) : *R.link;
}

void sc_c_leave(uint64_t result)
{
    sc_block.pc = c_return;
    *R.result = result;
    *R.sp += sc_this_port.pushes_return;
}

sc_state sc_at_call;

void sc_call(char *stub, const char *ra)
{
    W.ra = (uint64_t)(uintptr_t)ra;
    sc_block.pc = (uint64_t)(uintptr_t)stub;
    if (sc_this_port.pushes_return) {
        *R.sp -= 8;
        wr(*R.sp, W.ra);
    } else {
        *R.link = W.ra;
    }
    if (R.toc)
        sc_block.r[12] = sc_block.pc; /* ELFv2: the global entry finds its TOC by r12 */
    sc_at_call = sc_block;
}

void sc_check_kept(const sc_state *before, uint32_t role, uint32_t without, const char *rule)
{
    for (size_t i = 0; i < sc_abi->num_regs; i++) {
        const fk_reg *r = &sc_abi->regs[i];
        uint32_t bits = sc_role_bits(r);
        if ((bits & role) != role || (bits & without) || sc_is_lost(r))
            continue;
        uint64_t was = sc_value(before, r), is = *sc_reg(r);
        sc_check(was == is, rule, r->name, "`%s` does not preserve %s: 0x%llx before, 0x%llx after",
                 sc_stubs[sc_current].name, r->name, (unsigned long long)was,
                 (unsigned long long)is);
    }
}
