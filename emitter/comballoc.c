/* comballoc.c - one bump of young_ptr for several blocks (PR #8805).
 *
 *   young_ptr -> | last block | ... | second | first |     total <= 257 words
 *                lowest address, listed first in the descriptor
 *
 * A pending allocation survives everything but calls (C calls of either kind), polls
 * and the end of its block; it goes on into the body of a try. Bound checks do not
 * stop it: a block that is never initialised because one fails is garbage that
 * nobody can reach.
 */
#include <string.h>

#include "emitter/target.h"

enum { MAX_BYTES = 257 * 8 };

static void add_block(lin_function *f, lin_allocs *to, const lin_allocs *from)
{
    if (to->count == to->room) {
        to->room *= 2;
        void *b = lin_alloc(f->arena, to->room * sizeof *to->blocks);
        memcpy(b, to->blocks, to->count * sizeof *to->blocks);
        to->blocks = b;
    }
    to->blocks[to->count++] = from->blocks[0];
}

/* Results are young_ptr + disp; every block before the new one moves up. */
static void merge(lin_function *f, lin_insn *first, lin_insn **later, uint32_t *nlater, lin_insn *i)
{
    first->imm += i->imm;
    first->disp += i->imm;
    for (uint32_t k = 0; k < *nlater; k++)
        later[k]->disp += i->imm;
    add_block(f, first->u.allocs, i->u.allocs);
    i->op = LIN_YOUNG;
    i->disp = 8;
    i->imm = 0;
    i->u.allocs = NULL;
    i->flags = 0;
    later[(*nlater)++] = i;
}

static bool stops(const lin_insn *i)
{
    return i->op == LIN_POLL || i->op == LIN_CALL || i->op == LIN_EXTCALL || i->op == LIN_CCALL;
}

/* The block whose start the end of `b` runs into with its allocation pending. */
static lin_block *continuation(const lin_block *b)
{
    return b->last && b->last->op == LIN_JUMP && b->succ[0]->alloc_continues ? b->succ[0] : NULL;
}

void lin_comballoc(lin_function *f)
{
    lin_insn *first, *later[MAX_BYTES / 16 + 1];
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->nblocks && f->nallocs > 1; k++) {
        if (f->blocks[k]->alloc_continues)
            continue;
        first = NULL;
        for (lin_block *b = f->blocks[k]; b; b = continuation(b))
            for (lin_insn *i = b->first; i; i = i->next) {
                if (stops(i))
                    first = NULL;
                if (i->op != LIN_ALLOC)
                    continue;
                if (first && first->imm + i->imm <= MAX_BYTES)
                    merge(f, first, later, &n, i);
                else
                    first = i, n = 0;
            }
    }
}
