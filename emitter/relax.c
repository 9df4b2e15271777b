/* relax.c - branches that do not reach.
 *
 * With upper bounds for every instruction, lay the function out and mark branches
 * whose target is farther than their short form reaches; long forms move others out
 * of reach, so repeat until nothing changes (each round marks at least one).
 */
#include "emitter/emit.h"

static int kind_of(const lin_insn *i)
{
    switch (i->op) {
    case LIN_BRANCH: case LIN_BRANCHF: return 0;
    case LIN_BRANCHT: return 1;
    case LIN_ALLOC: case LIN_POLL: case LIN_CHECKBOUND: return 2;
    case LIN_PUSHTRAP: return 3;
    case LIN_JUMP: case LIN_SWITCH: return 4;
    default: return -1;
    }
}

static int64_t place_blocks(emit *e, uint32_t *parts)
{
    int64_t at = 64; /* prologue and stack check */
    *parts = 1;
    for (uint32_t k = 0; k < e->f->nlayout; k++) {
        lin_block *b = e->f->layout[k];
        e->block = b;
        b->offset = at;
        for (lin_insn *i = b->first; i; i = i->next) {
            at += e->t->size(e, i);
            *parts += kind_of(i) == 2;
        }
    }
    return at;
}

static bool mark_far(lin_insn *i, int64_t distance, int64_t range)
{
    if (range == 0 || i->far || distance <= range)
        return false;
    return i->far = true;
}

static int64_t distance(int64_t from, int64_t to)
{
    return from < to ? to - from : from - to;
}

static bool mark_block(emit *e, lin_block *b, int64_t end)
{
    const int64_t *range = e->t->branch_range;
    int64_t at = b->offset;
    bool changed = false;
    e->block = b;
    for (lin_insn *i = b->first; i; i = i->next) {
        int kind = kind_of(i);
        unsigned size = e->t->size(e, i);
        at += size;
        if (kind == 2)
            changed |= mark_far(i, end - at + size, range[2]);
        else if (kind == 3)
            changed |= mark_far(i, distance(at, i->u.target->offset) + size, range[3]);
        else if (kind >= 0)
            for (uint32_t s = 0; s < b->nsucc; s++)
                changed |= mark_far(i, distance(at, b->succ[s]->offset) + size, range[kind]);
    }
    return changed;
}

void emit_relax(emit *e)
{
    for (bool changed = true; changed;) {
        uint32_t parts;
        int64_t end = place_blocks(e, &parts);
        end += (int64_t)parts * e->t->ool_size;
        e->far_function = e->t->branch_range[2] && end > e->t->branch_range[2];
        changed = false;
        for (uint32_t k = 0; k < e->f->nlayout; k++)
            changed |= mark_block(e, e->f->layout[k], end);
    }
}
