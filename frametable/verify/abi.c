/* abi.c - registers that have one use only. */
#include "frametable/verify/rules.h"

static bool moves_young(const fk_program *p, const fk_insn *i)
{
    if (i->op == FK_OP_LOAD)
        return i->base < 32 && (p->domains >> i->base & 1);
    return i->op == FK_OP_ADD || i->op == FK_OP_ADDREG || i->op == FK_OP_SUBREG ?
               i->rs == p->young || i->rt == p->young : false;
}

/* NULL: the instruction keeps to it. */
static const char *misuse(const fk_program *p, const fk_insn *i)
{
    if (fk_abi_role(p->abi, FK_REG_RESERVED) != NULL && (i->writes & p->reserved))
        return "a register of the platform";
    if (i->writes & p->domains & ~p->allocatable)
        return "the domain state pointer";
    if ((i->writes & FK_REG_BIT(p->young)) && !moves_young(p, i))
        return "the young pointer";
    if ((i->writes & FK_REG_BIT(p->sp)) && i->op == FK_OP_OTHER)
        return "the stack pointer";
    return NULL;
}

void fk_abi_insn(fk_code *c, const fk_state *s, int32_t n)
{
    const fk_insn *i = &c->f.nodes[n].insn;
    const fk_program *p = c->f.program;
    const char *what = i->writes != 0 ? misuse(p, i) : NULL;
    const fk_descr *d = what != NULL ? fk_code_near(c, i->addr) : NULL;
    (void)s;
    if (d == NULL || (p->descrs[c->f.first].flags & FK_DESCR_RETURN_TO_C))
        return;
    fk_check_say(c->check, FK_RULE_ABI_RESERVED, FK_VERDICT_WRONG, d,
                 "the instruction at 0x%llx changes %s", (unsigned long long)i->addr, what);
    c->misused = true;
}

void fk_abi_done(fk_code *c)
{
    bool bare = c->f.first == c->f.last; /* a function without descriptors */
    if (!bare && !c->misused && !(c->f.program->descrs[c->f.first].flags & FK_DESCR_RETURN_TO_C))
        fk_check_ok(c->check, FK_RULE_ABI_RESERVED);
    c->misused = false;
}
