/* annotate.c - what the allocator must know of the rest of a block: for each operand the
 * next use that a register can serve and the register it should be in then; for the block,
 * what its instructions destroy. One sweep backwards over each block.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/target.h"

/* What the rest of the block does with a vreg. */
typedef struct {
    uint32_t stamp;     /* block id + 1 when the rest is valid */
    uint32_t next;      /* number of the next use; LIN_NEXT_OUT; LIN_NEXT_NONE: dead */
    uint32_t want_at;   /* number of the instruction that wants it */
    lin_vreg like;
    int8_t want;
} outlook;

typedef struct {
    lin_function *f;
    const machine *m;
    outlook *of;        /* by vreg */
    uint32_t kill;      /* number of the next instruction that kills all; NONE */
    uint32_t nevents, events_room;
} annotator;

static bool is_live(const annotator *a, const lin_block *b, lin_vreg v)
{
    return a->of[v].stamp == b->id + 1 && a->of[v].next != LIN_NEXT_NONE;
}

static void touch(annotator *a, const lin_block *b, lin_vreg v, uint32_t next)
{
    if (a->of[v].stamp != b->id + 1)
        a->of[v] = (outlook){.stamp = b->id + 1, .want = -1};
    a->of[v].next = next;
}

/* The next use that a register can serve. */
static uint32_t near_use(const annotator *a, const lin_block *b, lin_vreg v)
{
    if (!is_live(a, b, v))
        return LIN_NEXT_NONE;
    uint32_t n = a->of[v].next;
    if (a->kill != LIN_NEXT_NONE && n > a->kill) /* NEXT_OUT is larger than any number */
        return LIN_NEXT_NONE;
    return n;
}

static void read_wish(const annotator *a, const lin_block *b, lin_operand *o)
{
    const outlook *l = &a->of[o->v];
    bool valid = l->stamp == b->id + 1 && (a->kill == LIN_NEXT_NONE || l->want_at <= a->kill);
    o->want = valid ? l->want : -1;
    o->like = valid ? l->like : 0;
}

static void at_end(annotator *a, lin_block *b)
{
    a->kill = LIN_NEXT_NONE;
    for (uint32_t s = 0; s < b->nsucc; s++)
        for (uint32_t k = 0; k < b->succ[s]->nreg_in; k++)
            touch(a, b, b->succ[s]->reg_in[k], LIN_NEXT_OUT);
    for (uint32_t s = b->nsucc; s-- > 0;)
        for (uint32_t k = 0; k < b->succ[s]->nwants; k++) {
            const lin_want *w = &b->succ[s]->wants[k];
            outlook *l = &a->of[w->v];
            if (l->stamp == b->id + 1) {
                l->want = w->want;
                l->like = w->like;
                l->want_at = LIN_NEXT_OUT - 1;
            }
        }
}

/* --- wishes ------------------------------------------------------------------------------- */
static void wish(annotator *a, lin_insn *i, unsigned k, int place)
{
    outlook *l = &a->of[lin_arg(i, k)->v];
    l->want = (int8_t)place;
    l->want_at = i->number;
}

/* What the arguments should be in, given the instruction. */
static void wishes(annotator *a, lin_insn *i, const lin_constraint *c)
{
    if (lin_fixed_call(i)) {
        for (unsigned k = 0; k < i->nargs; k++)
            if (i->u.call->arg[k] >= 0)
                wish(a, i, k, i->u.call->arg[k]);
        return;
    }
    for (unsigned k = 0; k < i->nargs && k < 8; k++)
        if (c->arg[k] >= 0)
            wish(a, i, k, c->arg[k]);
    if (i->nres == 1 && i->nargs && (c->tied || i->op == LIN_MOVE)) {
        const lin_operand *r = lin_res(i, 0);
        if (r->want >= 0)
            wish(a, i, 0, r->want);
        if (i->op == LIN_MOVE || r->like) {
            outlook *l = &a->of[lin_arg(i, 0)->v];
            l->like = r->like ? r->like : r->v;
            l->want_at = i->number;
        }
    }
}

/* --- events ------------------------------------------------------------------------------- */
static uint64_t bit(lin_place p)
{
    return (uint64_t)1 << p;
}

static void note_event(annotator *a, uint32_t number, uint64_t mask, bool arguments)
{
    if (!mask)
        return;
    if (a->nevents == a->events_room) {
        a->events_room = a->events_room ? 2 * a->events_room : 64;
        a->f->events = realloc(a->f->events, a->events_room * sizeof *a->f->events);
        if (!a->f->events)
            abort();
    }
    a->f->events[a->nevents++] = (lin_reg_event){number, arguments, mask};
}

/* In order of the sweep: what comes last is noted first. */
static void call_events(annotator *a, const lin_insn *i)
{
    uint64_t mask = 0;
    for (unsigned k = 0; k < i->nargs; k++)
        if (i->u.call->arg[k] >= 0)
            mask |= bit(i->u.call->arg[k]);
    if (i->op == LIN_CCALL)
        note_event(a, i->number, a->m->c_kills, false);
    note_event(a, i->number, mask, true);
}

static void events(annotator *a, const lin_insn *i, const lin_constraint *c)
{
    uint64_t results = 0, arguments = 0;
    for (unsigned k = 0; k < 4 && k < i->nres && i->op != LIN_HANDLER; k++)
        results |= c->res[k] >= 0 ? bit(c->res[k]) : 0;
    for (unsigned k = 0; k < 8 && k < i->nargs; k++)
        arguments |= c->arg[k] >= 0 ? bit(c->arg[k]) : 0;
    note_event(a, i->number, arguments, true);
    note_event(a, i->number, c->kills | results, false);
}

static void order_events(annotator *a, lin_block *b)
{
    b->event_last = a->nevents;
    lin_reg_event *e = a->f->events;
    for (uint32_t x = b->event_first, y = b->event_last; y > x + 1; x++, y--) {
        lin_reg_event t = e[x];
        e[x] = e[y - 1];
        e[y - 1] = t;
    }
}

/* --- sweep -------------------------------------------------------------------------------- */
static void annotate_result(annotator *a, const lin_block *b, lin_operand *o)
{
    o->next = near_use(a, b, o->v);
    o->last = o->next == LIN_NEXT_NONE;
    read_wish(a, b, o);
    touch(a, b, o->v, LIN_NEXT_NONE);
    a->of[o->v].want = -1;
    a->of[o->v].like = 0;
}

static void annotate_insn(annotator *a, lin_block *b, lin_insn *i)
{
    lin_constraint c;
    bool kills = (lin_flags(i) & LIN_KILLS) != 0;
    machine_constrain(a->f->target, a->m, i, &c);
    for (unsigned k = 0; k < i->nres; k++)
        annotate_result(a, b, lin_res(i, k));
    if (kills)
        a->kill = i->number;
    for (unsigned k = 0; k < i->nargs; k++) {
        lin_operand *o = lin_arg(i, k);
        o->next = near_use(a, b, o->v);
        if (o->next == i->number && kills)
            o->next = LIN_NEXT_NONE;
        o->last = o->next == LIN_NEXT_NONE;
        if (a->of[o->v].stamp != b->id + 1)
            touch(a, b, o->v, LIN_NEXT_NONE);
    }
    for (unsigned k = 0; k < i->nargs; k++)
        touch(a, b, lin_arg(i, k)->v, i->number);
    wishes(a, i, &c);
    if (lin_fixed_call(i))
        call_events(a, i);
    else
        events(a, i, &c);
}

/* What the blocks before should do: few wishes are worth it. */
static void at_start(annotator *a, lin_block *b)
{
    lin_want wants[6];
    uint8_t n = 0;
    b->reg_next = lin_alloc(a->f->arena, (b->nreg_in + 1) * sizeof *b->reg_next);
    for (uint32_t k = 0; k < b->nreg_in; k++) {
        lin_vreg v = b->reg_in[k];
        b->reg_next[k] = near_use(a, b, v);
        lin_operand o = {.v = v};
        read_wish(a, b, &o);
        if ((o.want >= 0 || o.like) && n < sizeof wants / sizeof *wants)
            wants[n++] = (lin_want){v, o.like, o.want};
    }
    b->nwants = n;
    if (n)
        b->wants = memcpy(lin_alloc(a->f->arena, n * sizeof *wants), wants, n * sizeof *wants);
}

void lin_annotate(lin_function *f)
{
    annotator a = {.f = f, .m = machine_get(f->target, f->options->version),
                   .of = lin_scratch(f, f->nv, sizeof *a.of)};
    for (uint32_t k = f->nrpo; k-- > 0;) {
        lin_block *b = f->rpo[k];
        b->event_first = a.nevents;
        at_end(&a, b);
        for (lin_insn *i = b->last; i; i = i->prev)
            annotate_insn(&a, b, i);
        order_events(&a, b);
        at_start(&a, b);
    }
}
