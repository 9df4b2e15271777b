/* machine.c - what the emitter needs of abi/, by place. */
#include <stdlib.h>
#include <string.h>

#include "emitter/target.h"

static void set_name(char *to, const target *t, const char *name)
{
    snprintf(to, 8, "%s%s", t->reg_prefix, name + t->reg_skip);
}

static void add_arg(int8_t *list, int n, int place)
{
    if (n >= 0)
        list[n] = (int8_t)place;
}

static void special_names(machine *m, const target *t, const fk_reg *r, uint32_t roles)
{
    const struct { uint32_t role; char *to; } table[] = {
        {FK_REG_DOMAIN, m->dom}, {FK_REG_YOUNG, m->young}, {FK_REG_TRAP, m->trap},
        {FK_REG_SP, m->sp}, {FK_REG_LINK, m->link}, {FK_REG_C_FUNCTION, m->c_function},
        {FK_REG_NOALLOC_SP, m->noalloc_sp}, {FK_REG_STACKARGS_BEGIN, m->stackargs_begin},
        {FK_REG_STACKARGS_END, m->stackargs_end},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (roles & table[k].role)
            set_name(table[k].to, t, r->name);
}

static void add_reg(machine *m, const target *t, const fk_reg *r)
{
    uint32_t roles = fk_abi_roles(m->abi, r, m->version);
    special_names(m, t, r, roles);
    int index = fk_abi_index(m->abi, r, m->version);
    if (index < 0 || (index >= 32 && index < 100))
        return;
    int place = index < 32 ? index : LIN_FLOAT_BASE + index - 100;
    uint64_t bit = (uint64_t)1 << place;
    set_name(m->name[place], t, r->name);
    m->dwarf[place] = r->dwarf;
    if (roles & FK_REG_ALLOCATABLE)
        m->allocatable |= bit & ~t->reserved;
    if (roles & FK_REG_ALLOC_DESTROYED)
        m->alloc_kills |= bit;
    if (roles & (FK_REG_NOALLOC_DESTROYED | FK_REG_NOALLOC_SP))
        m->c_kills |= bit;
    bool flt = place >= LIN_FLOAT_BASE;
    add_arg(flt ? m->float_args : m->int_args, r->ocaml_arg, place);
    add_arg(flt ? m->c_float_args : m->c_int_args, r->c_arg, place);
}

static void fill(machine *m, const target *t, fk_ocaml_version v)
{
    m->abi = fk_abi_by_name(t->name);
    m->version = v;
    memset(m->int_args, -1, sizeof m->int_args);
    memset(m->float_args, -1, sizeof m->float_args);
    memset(m->c_int_args, -1, sizeof m->c_int_args);
    memset(m->c_float_args, -1, sizeof m->c_float_args);
    for (size_t k = 0; k < m->abi->num_regs; k++)
        add_reg(m, t, &m->abi->regs[k]);
    m->ints = m->allocatable & 0xffffffffu;
    m->floats = m->allocatable & ~(uint64_t)0xffffffffu;
    m->off_young_limit = fk_domain_offset(v, "young_limit");
    m->off_young_ptr = fk_domain_offset(v, "young_ptr");
    m->off_current_stack = fk_domain_offset(v, "current_stack");
    m->off_exn_handler = fk_domain_offset(v, "exn_handler");
    m->off_c_stack = fk_domain_offset(v, "c_stack");
    m->off_extra_params = fk_domain_offset(v, "extra_params");
    m->off_dls_root = fk_domain_offset(v, "dls_root");
    m->off_backtrace_pos = fk_domain_offset(v, "backtrace_pos");
}

const target *target_by_abi(const fk_abi *abi)
{
    for (size_t k = 0; targets[k]; k++)
        if (strcmp(targets[k]->name, abi->name) == 0)
            return targets[k];
    return NULL;
}

/* One process compiles for one target: a single table does. */
const machine *machine_get(const target *t, fk_ocaml_version v)
{
    static machine m;
    static const target *filled;
    if (filled != t || m.version != v) {
        m = (machine){0};
        fill(&m, t, v);
        filled = t;
    }
    return &m;
}

void machine_constrain(const target *t, const machine *m, const lin_insn *i, lin_constraint *c)
{
    memset(c, 0, sizeof *c);
    memset(c->arg, -1, sizeof c->arg);
    memset(c->res, -1, sizeof c->res);
    if (i->op == LIN_HANDLER)
        c->res[0] = m->int_args[0];
    if (i->op == LIN_ALLOC || i->op == LIN_POLL)
        c->kills = m->alloc_kills;
    t->constrain(i, c);
}
