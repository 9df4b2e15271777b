/* flow.c - the sets of vregs that blocks need at their start.
 *
 * Sparse: for one vreg after the other, walk from its uses back to its definitions
 * and put it in the sets of the blocks on the way. The work is the size of the
 * answer, so functions with 50,000 blocks of short-lived values stay linear; a vreg
 * that no block reads before it writes it costs nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/target.h"

/* --- lists of blocks, by vreg -------------------------------------------------------- */
void lin_events_new(lin_events *l, lin_function *f)
{
    *l = (lin_events){.head = lin_scratch(f, f->nv, sizeof *l->head)};
}

void lin_events_free(lin_events *l)
{
    free(l->e);
}

void lin_add_event(lin_events *l, lin_vreg v, uint32_t block)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->e = realloc(l->e, l->room * sizeof *l->e);
        if (!l->e)
            abort();
    }
    l->e[l->n++] = (lin_event){block, l->head[v]};
    l->head[v] = l->n;
}

/* --- sets ---------------------------------------------------------------------------- */
/* Sets grow at 0, 4, 8, 16 ... members. */
static void add_to(lin_function *f, lin_vreg **set, uint32_t *n, lin_vreg v)
{
    if (*n == 0 || (*n >= 4 && (*n & (*n - 1)) == 0)) {
        uint32_t room = *n ? 2 * *n : 4;
        lin_vreg *bigger = lin_alloc(f->arena, room * sizeof *bigger);
        if (*n)
            memcpy(bigger, *set, *n * sizeof *bigger);
        *set = bigger;
    }
    (*set)[(*n)++] = v;
}

/* Blocks whose exceptions go to a handler, as lists by block id; 0: end, else id + 1. */
typedef struct {
    uint32_t *first, *next;
} raisers;

static raisers find_raisers(lin_function *f)
{
    raisers r = {NULL, NULL};
    for (uint32_t k = 0; k < f->nrpo; k++) {
        lin_block *b = f->rpo[k];
        if (!b->handler)
            continue;
        if (!r.first) {
            r.first = lin_scratch(f, f->nblocks, sizeof *r.first);
            r.next = lin_scratch(f, f->nblocks, sizeof *r.next);
        }
        r.next[b->id] = r.first[b->handler->id];
        r.first[b->handler->id] = b->id + 1;
    }
    return r;
}

/* --- two sets at once: live_in, and reg_in within it ---------------------------------- */
typedef struct {
    lin_function *f;
    raisers r;
    uint32_t *live, *reg; /* by block: the last vreg in its set */
    uint32_t *def;        /* by block: the last vreg defined in it */
    lin_block **work;
    uint32_t nwork, room;
} flow;

static void push(flow *w, lin_block *b)
{
    if (w->nwork == w->room) {
        w->room = w->room ? 2 * w->room : 256;
        w->work = realloc(w->work, w->room * sizeof(lin_block *));
        if (!w->work)
            abort();
    }
    w->work[w->nwork++] = b;
}

/* v is needed at the start of b; in a register, too. */
static void reach(flow *w, lin_block *b, lin_vreg v, bool reg)
{
    bool more = w->live[b->id] != v;
    if (more) {
        w->live[b->id] = v;
        add_to(w->f, &b->live_in, &b->nlive_in, v);
    }
    if (reg && w->reg[b->id] != v) {
        w->reg[b->id] = v;
        add_to(w->f, &b->reg_in, &b->nreg_in, v);
        more = true;
    }
    if (more)
        push(w, b);
}

/* The handler needs v: a definition may come after the first raise, so it is needed at the
 * start too; definitely assigned before the try, so this is no more than cautious. */
static void reach_raisers(flow *w, const lin_block *handler, lin_vreg v)
{
    for (uint32_t p = w->r.first ? w->r.first[handler->id] : 0; p; p = w->r.next[p - 1])
        reach(w, w->f->blocks[p - 1], v, false);
}

static void walk(flow *w, lin_vreg v)
{
    while (w->nwork) {
        lin_block *b = w->work[--w->nwork];
        bool reg = w->reg[b->id] == v;
        for (uint32_t k = 0; k < b->npred; k++) {
            lin_block *p = b->pred[k];
            if (w->def[p->id] != v)
                reach(w, p, v, reg && !p->has_kill);
        }
        if (b->is_handler)
            reach_raisers(w, b, v);
    }
}

static void mark_defs(uint32_t *mark, const lin_events *defs, lin_vreg v)
{
    for (uint32_t k = defs->head[v]; k; k = defs->e[k - 1].next)
        mark[defs->e[k - 1].block] = v;
}

void lin_flow(lin_function *f, const lin_events *defs, const lin_events *live,
              const lin_events *reg)
{
    flow w = {f, find_raisers(f), lin_scratch(f, f->nblocks, 4), lin_scratch(f, f->nblocks, 4),
              lin_scratch(f, f->nblocks, 4), NULL, 0, 0};
    for (lin_vreg v = 1; v < f->nv; v++) {
        if (!live->head[v])
            continue;
        mark_defs(w.def, defs, v);
        for (uint32_t k = reg->head[v]; k; k = reg->e[k - 1].next)
            reach(&w, f->blocks[reg->e[k - 1].block], v, true);
        for (uint32_t k = live->head[v]; k; k = live->e[k - 1].next)
            reach(&w, f->blocks[live->e[k - 1].block], v, false);
        walk(&w, v);
    }
    free(w.work);
}

/* --- slot_in --------------------------------------------------------------------------- */
static void reach_slot(flow *w, lin_block *b, lin_vreg v)
{
    if (w->live[b->id] == v)
        return;
    w->live[b->id] = v;
    add_to(w->f, &b->slot_in, &b->nslot_in, v);
    push(w, b);
}

void lin_flow_slots(lin_function *f, const lin_events *defs, const lin_events *uses)
{
    flow w = {.f = f, .live = lin_scratch(f, f->nblocks, 4), .def = lin_scratch(f, f->nblocks, 4)};
    for (lin_vreg v = 1; v < f->nv; v++) {
        if (!uses->head[v])
            continue;
        mark_defs(w.def, defs, v);
        for (uint32_t k = uses->head[v]; k; k = uses->e[k - 1].next)
            reach_slot(&w, f->blocks[uses->e[k - 1].block], v);
        while (w.nwork) {
            const lin_block *b = w.work[--w.nwork];
            for (uint32_t k = 0; k < b->npred; k++)
                if (w.def[b->pred[k]->id] != v)
                    reach_slot(&w, b->pred[k], v);
        }
    }
    free(w.work);
}
