/* layout.c - the order in which blocks are emitted.
 *
 * Reverse postorder keeps the order of the source; blocks that end in a raise go to
 * the end, blocks that only jump disappear.
 */
#include <stdlib.h>

#include "emitter/linear.h"

static bool only_jumps(const lin_block *b)
{
    if (b->is_handler || b->last->op != LIN_JUMP || b->succ[0] == b)
        return false;
    for (const lin_insn *i = b->first; i != b->last; i = i->next)
        if (i->op != LIN_MOVE || i->ops[0].place != i->ops[1].place)
            return false;
    return true;
}

/* Where a chain of empty blocks ends; loops of empty blocks stay. */
static lin_block *through(lin_block *b)
{
    for (unsigned n = 0; n < 64 && only_jumps(b) && b->succ[0]->trap_depth == b->trap_depth; n++)
        b = b->succ[0];
    return b;
}

static bool thread_jumps(lin_function *f)
{
    bool changed = false;
    for (uint32_t k = 0; k < f->nrpo; k++)
        for (uint32_t s = 0; s < f->rpo[k]->nsucc; s++) {
            lin_block *to = through(f->rpo[k]->succ[s]);
            changed |= to != f->rpo[k]->succ[s];
            f->rpo[k]->succ[s] = to;
        }
    return changed;
}

static bool is_cold(const lin_block *b)
{
    return b->is_cold;
}

void lin_layout(lin_function *f)
{
    if (thread_jumps(f))
        lin_order(f);
    f->layout = lin_alloc(f->arena, (f->nrpo + 1) * sizeof *f->layout);
    f->nlayout = 0;
    for (uint32_t k = 0; k < f->nrpo; k++)
        if (k == 0 || !is_cold(f->rpo[k]))
            f->layout[f->nlayout++] = f->rpo[k];
    for (uint32_t k = 1; k < f->nrpo; k++)
        if (is_cold(f->rpo[k]))
            f->layout[f->nlayout++] = f->rpo[k];
}
