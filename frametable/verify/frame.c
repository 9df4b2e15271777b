/* frame.c - frame size against the descent of the stack pointer; the return address at its place.
 *
 *            amd64                          the others                   R: return address
 *   entry    SP -> | R              |       SP -> | caller's frame |     power: at SP + 16
 *            -F+8  |                |       -F    |                |     the others: at SP - 8
 *   call     SP -> | frame          |       SP -> | frame          |      */
#include "frametable/verify/graph.h"
#include "frametable/verify/rules.h"

static void skip_size(fk_code *c, const char *reason)
{
    fk_check_pass(c->check, FK_RULE_FRAME_SIZE, reason);
}

static void skip_return(fk_code *c, const char *reason)
{
    fk_check_pass(c->check, FK_RULE_FRAME_RETADDR, reason);
}

/* The instruction that holds the byte at addr. */
static int32_t node_over(const fk_code *c, uint64_t addr)
{
    for (uint64_t at = addr; at + 16 > addr && at >= c->f.lo; at--) {
        int32_t n = fk_node_at(&c->f, at);
        if (n != FK_NO_INSN)
            return c->f.nodes[n].insn.length > addr - at ? n : FK_NO_INSN;
    }
    return FK_NO_INSN;
}

/* A call that ends at the return address contradicts nothing: it may stand in a handler that no
 * raise reaches, or two descriptors share it. */
static bool is_point(const fk_code *c, const fk_insn *i, const fk_descr *d)
{
    return fk_check_traps(c->check, d->retaddr) ||
           (fk_is_call(i) && i->addr + i->length == d->retaddr);
}

void fk_frame_unseen(fk_code *c, const fk_descr *d, const char *reason)
{
    int32_t n = c->f.problem == NULL ? node_over(c, d->retaddr - 1) : FK_NO_INSN;
    const fk_insn *i = n == FK_NO_INSN ? NULL : &c->f.nodes[n].insn;
    skip_size(c, reason);
    skip_return(c, reason);
    if (i == NULL || is_point(c, i, d))
        fk_check_pass(c->check, FK_RULE_FRAME_CALL, reason);
    else
        fk_check_say(c->check, FK_RULE_FRAME_CALL, FK_VERDICT_WRONG, d,
                     "the return address is %s the instruction at 0x%llx, which %s",
                     i->addr + i->length == d->retaddr ? "behind" : "inside",
                     (unsigned long long)i->addr,
                     fk_is_call(i) ? "calls and returns elsewhere" : "is no call");
}

/* Where the function is left for good. A return through a trap frame (a raise) goes to its
 * handler. */
static bool leaves(const fk_code *c, const fk_state *s, int32_t n)
{
    const fk_insn *i = &c->f.nodes[n].insn;
    const fk_program *p = c->f.program;
    const fk_value *slot = p->link == FK_NO_REG ? fk_slot(&c->f, s, 0) : NULL;
    if (i->op == FK_OP_RET)
        return slot == NULL || slot->kind != FK_V_CONST;
    return i->op == FK_OP_JUMP && c->f.nodes[n].to == FK_NO_INSN && !p->object &&
           !fk_in_window(&c->f, i->target);
}

void fk_frame_insn(fk_code *c, const fk_state *s, int32_t n)
{
    fk_value sp = s->place[c->f.program->sp];
    uint64_t addr = c->f.nodes[n].insn.addr;
    const fk_descr *d = sp.kind == FK_V_SP && leaves(c, s, n) ? fk_code_near(c, addr) : NULL;
    if (d == NULL || (d->flags & FK_DESCR_RETURN_TO_C))
        return;
    if (sp.k == 0)
        fk_check_ok(c->check, FK_RULE_FRAME_RETURN);
    else
        fk_check_say(
            c->check, FK_RULE_FRAME_RETURN, FK_VERDICT_WRONG, d,
            "the function is left at 0x%llx with the stack pointer %lld bytes %s where it entered",
            (unsigned long long)addr, (long long)(sp.k < 0 ? -sp.k : sp.k),
            sp.k < 0 ? "below" : "above");
}

/* Raises and bound errors, also by a trap: the walk of a backtrace alone passes here. */
static bool only_raises(const fk_node *n)
{
    return n->callee == FK_CALLEE_NORETURN || !fk_is_call(&n->insn);
}

/* The frame size is right: what does the walk find behind it? */
static void check_return(fk_code *c, const fk_state *s, const fk_node *n, const fk_descr *d)
{
    const fk_program *p = c->f.program;
    const fk_value *v = fk_slot_at(&c->f, s, fk_return_at(p));
    int64_t at = (int64_t)d->frame_size + p->abi->ra_offset;
    if (v->kind == FK_V_ANY && v->k == FK_RETURN_NUMBER)
        fk_check_ok(c->check, FK_RULE_FRAME_RETADDR);
    else if (only_raises(n) && fk_check_return_lost(c->check, d))
        skip_return(c, "only a backtrace comes here, and the row says so too (see cfi-return)");
    else
        fk_check_say(c->check, FK_RULE_FRAME_RETADDR, FK_VERDICT_WRONG, d,
                     "the collector reads the return address at [%lld], where on some path %s",
                     (long long)at, v->kind == FK_V_NONE ? "nobody has stored it"
                                                         : "something else has been stored");
}

static void check_size(fk_code *c, const fk_descr *d, int64_t descent)
{
    const fk_program *p = c->f.program;
    if (descent == d->frame_size)
        fk_check_ok(c->check, FK_RULE_FRAME_SIZE);
    else
        fk_check_say(c->check, FK_RULE_FRAME_SIZE, FK_VERDICT_WRONG, d,
                     "the frame size is %u, the code has brought the stack pointer down by %lld "
                     "bytes%s at this call",
                     d->frame_size, (long long)descent,
                     p->link == FK_NO_REG ? " with the return address" : "");
}

void fk_frame_call(fk_code *c, const fk_state *s, int32_t n, const fk_descr *d)
{
    const fk_program *p = c->f.program;
    fk_value sp = s->place[p->sp];
    int64_t descent = -sp.k + (p->link == FK_NO_REG ? p->abi->word : 0);
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return;
    fk_check_ok(c->check, FK_RULE_FRAME_CALL);
    if (sp.kind != FK_V_SP) {
        skip_size(c, "the stack pointer cannot be followed to the call");
        skip_return(c, "the stack pointer cannot be followed to the call");
        return;
    }
    check_size(c, d, descent);
    if (descent == d->frame_size)
        check_return(c, s, &c->f.nodes[n], d);
    else
        skip_return(c, "the frame size is wrong (see frame-size)");
}
