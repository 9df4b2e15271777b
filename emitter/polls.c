/* polls.c - where a loop or a recursion must look for interrupts.
 *
 * safe(b): every path from the start of b meets an allocation, a poll, a return or
 * a tail call before it comes back here. Least fixed point: all blocks start
 * unsafe, so an endless loop stays unsafe. A raising instruction (a call, a bound
 * check) meets the handler; without a handler it leaves the function, which is
 * safe. (OCaml 5.3 calls every path through a switch unsafe; that only costs polls.)
 *
 * A jump back to an unsafe handler of a recursive catch gets a poll before it. The
 * function gets one at its start when a tail call that may recurse can be reached
 * without meeting an allocation or a poll.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/target.h"

static bool never_polls(const lin_function *f)
{
    const char *name = f->source->name->text;
    return strncmp(name, "caml_apply", 10) == 0 || strncmp(name, "caml_send", 9) == 0;
}

static bool is_poll_point(const lin_insn *i)
{
    return i->op == LIN_ALLOC || i->op == LIN_POLL;
}

static bool safe_block(const lin_block *b, const bool *safe)
{
    bool result = b->nsucc > 0;
    for (uint32_t k = 0; k < b->nsucc; k++)
        result = result && safe[b->succ[k]->id];
    bool raised = !b->handler || safe[b->handler->id];
    for (const lin_insn *i = b->last; i; i = i->prev) {
        if (i->op == LIN_TAILCALL || i->op == LIN_RETURN || is_poll_point(i))
            result = true;
        else if (i->op == LIN_RAISE)
            result = raised;
        else if (lin_flags(i) & LIN_RAISES)
            result = result && raised;
    }
    return result;
}

/* Backwards until nothing changes; loops need few rounds. */
static void solve(const lin_function *f, bool *safe)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = f->nrpo; k-- > 0;) {
            lin_block *b = f->rpo[k];
            if (!safe[b->id] && safe_block(b, safe))
                safe[b->id] = changed = true;
        }
    }
}

static lin_insn *new_poll(lin_function *f)
{
    lin_insn *p = lin_new_insn(f, LIN_POLL, 0, 0);
    if (f->small)
        p->flags |= LIN_F_SMALL;
    return p;
}

static bool has_back_jump(const lin_function *f)
{
    for (uint32_t k = 0; k < f->nrpo; k++)
        if (f->rpo[k]->back_to)
            return true;
    return false;
}

static void loop_polls(lin_function *f)
{
    if (!has_back_jump(f))
        return;
    bool *safe = lin_scratch(f, f->nblocks, sizeof *safe);
    solve(f, safe);
    for (uint32_t k = 0; k < f->nrpo; k++) {
        lin_block *b = f->rpo[k];
        if (b->back_to && !safe[b->back_to->id])
            lin_insert_before(b, b->last, new_poll(f));
    }
}

/* --- the function's own poll ------------------------------------------------------ */
static bool may_recurse(const lin_function *f, const lin_insn *i)
{
    if (!i->sym)
        return true;
    if (strncmp(i->sym->text, "caml_apply", 10) == 0 || strncmp(i->sym->text, "caml_send", 9) == 0)
        return true;
    return i->sym->function && i->sym->function->order >= f->source->order;
}

/* Blocks reached from `from` without a poll point: does one of them recurse? A jump
 * to `from` itself stands for a self tail call. */
static bool recurses_unpolled(lin_function *f, lin_block *from)
{
    bool *seen = lin_scratch(f, f->nblocks, sizeof *seen), found = false;
    lin_block **work = lin_scratch(f, f->nblocks + 1, sizeof *work);
    uint32_t n = 0;
    work[n++] = from;
    seen[from->id] = true;
    while (n && !found) {
        lin_block *b = work[--n];
        bool stopped = false;
        for (lin_insn *i = b->first; i && !stopped; i = i->next) {
            if (lin_flags(i) & LIN_RAISES && b->handler && !seen[b->handler->id])
                seen[b->handler->id] = true, work[n++] = b->handler;
            stopped = is_poll_point(i);
            found |= i->op == LIN_TAILCALL && may_recurse(f, i);
        }
        for (uint32_t k = 0; k < b->nsucc && !stopped; k++) {
            found |= b->succ[k] == from;
            if (!seen[b->succ[k]->id])
                seen[b->succ[k]->id] = true, work[n++] = b->succ[k];
        }
    }
    return found;
}

static bool has_candidate(const lin_function *f, const lin_block *self)
{
    if (self->is_loop)
        return true;
    for (uint32_t k = 0; k < f->nrpo; k++)
        if (f->rpo[k]->last->op == LIN_TAILCALL && may_recurse(f, f->rpo[k]->last))
            return true;
    return false;
}

static bool needs_entry_poll(lin_function *f)
{
    lin_block *self = f->blocks[0]->succ[0];
    return has_candidate(f, self) && recurses_unpolled(f, self);
}

static void check_poll_error(lin_function *f)
{
    if (!(f->source->flags & CMM_POLL_ERROR))
        return;
    for (uint32_t k = 0; k < f->nrpo; k++)
        for (lin_insn *i = f->rpo[k]->first; i; i = i->next)
            if (lin_flags(i) & LIN_GC) {
                cmm_error(f->unit, f->source->pos,
                          "%s must not poll, but something in it calls, allocates or loops",
                          f->source->name->text);
                return;
            }
}

void lin_polls(lin_function *f)
{
    if (!never_polls(f)) {
        bool entry = needs_entry_poll(f);
        if (entry) {
            lin_block *self = f->blocks[0]->succ[0];
            lin_insert_before(self, self->first, new_poll(f));
        }
        loop_polls(f);
    }
    check_poll_error(f);
}
