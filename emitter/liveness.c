/* liveness.c - which vregs are needed where.
 *
 * Sparse: for one vreg after the other, walk from its uses back to its definitions
 * and put it in the sets of the blocks on the way. The work is the size of the
 * answer, so functions with 50,000 blocks of short-lived values stay linear.
 *
 * Three sets per block:
 *   live_in   needed at all
 *   reg_in    used before anything kills all registers (so worth a register)
 *   slot_in   its frame slot is read (spill.c)
 * An exception edge leaves from every instruction that may raise.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/target.h"

void lin_add_event(lin_event **list, uint32_t *n, uint32_t *room, lin_vreg v, uint32_t block)
{
    if (*n == *room) {
        *room = *room ? 2 * *room : 256;
        *list = realloc(*list, *room * sizeof **list);
        if (!*list)
            abort();
    }
    (*list)[(*n)++] = (lin_event){v, block};
}

/* Counting sort by vreg; start[v] .. start[v + 1]. */
static lin_event *by_vreg(const lin_event *e, uint32_t n, uint32_t nv, uint32_t *start)
{
    lin_event *out = malloc((n + 1) * sizeof *out);
    if (!out)
        abort();
    memset(start, 0, (nv + 2) * sizeof *start);
    for (uint32_t k = 0; k < n; k++)
        start[e[k].v + 2]++;
    for (uint32_t v = 0; v < nv; v++)
        start[v + 2] += start[v + 1];
    for (uint32_t k = 0; k < n; k++)
        out[start[e[k].v + 1]++] = e[k];
    return out;
}

static void add_to(lin_function *f, lin_vreg **set, uint32_t *n, uint32_t *room, lin_vreg v)
{
    if (*n == *room) {
        *room = *room ? 2 * *room : 4;
        lin_vreg *bigger = lin_alloc(f->arena, *room * sizeof *bigger);
        if (*n)
            memcpy(bigger, *set, *n * sizeof *bigger);
        *set = bigger;
    }
    (*set)[(*n)++] = v;
}

static void add_live(lin_function *f, lin_block *b, int set, lin_vreg v)
{
    if (set == LIN_SET_LIVE)
        add_to(f, &b->live_in, &b->nlive_in, &b->live_room, v);
    else if (set == LIN_SET_REG)
        add_to(f, &b->reg_in, &b->nreg_in, &b->reg_room, v);
    else
        add_to(f, &b->slot_in, &b->nslot_in, &b->slot_room, v);
}

/* Blocks whose exceptions go to a handler, as lists. */
typedef struct {
    uint32_t *first, *next; /* by block id; 0: end, else id + 1 */
} raisers;

static raisers find_raisers(const lin_function *f)
{
    raisers r = {calloc(f->nblocks, 4), calloc(f->nblocks, 4)};
    if (!r.first || !r.next)
        abort();
    for (uint32_t k = 0; k < f->nrpo; k++) {
        lin_block *b = f->rpo[k];
        if (b->handler) {
            r.next[b->id] = r.first[b->handler->id];
            r.first[b->handler->id] = b->id + 1;
        }
    }
    return r;
}

typedef struct {
    lin_function *f;
    int set;
    raisers r;
    uint32_t *mark;      /* by block: the last vreg in its set */
    uint32_t *def;       /* by block: the last vreg defined in it */
    lin_block **work;
    uint32_t nwork;
} flow;

static void reach(flow *w, lin_block *b, lin_vreg v)
{
    if (w->mark[b->id] == v)
        return;
    w->mark[b->id] = v;
    add_live(w->f, b, w->set, v);
    w->work[w->nwork++] = b;
}

/* v is needed at the end of p (or, by exception, inside it). */
static void reach_end(flow *w, lin_block *p, lin_vreg v)
{
    if (w->def[p->id] == v || (w->set == LIN_SET_REG && p->has_kill))
        return;
    reach(w, p, v);
}

static void walk(flow *w, lin_vreg v)
{
    while (w->nwork) {
        lin_block *b = w->work[--w->nwork];
        for (uint32_t k = 0; k < b->npred; k++)
            reach_end(w, b->pred[k], v);
        if (b->is_handler && w->set == LIN_SET_LIVE)
            for (uint32_t p = w->r.first[b->id]; p; p = w->r.next[p - 1])
                /* a definition may come after the first raise: needed at the start too;
                 * definitely assigned before the try, so this is no more than cautious */
                reach(w, w->f->blocks[p - 1], v);
    }
}

void lin_flow(lin_function *f, lin_events *e, int set)
{
    uint32_t *ustart = malloc((f->nv + 3) * sizeof *ustart),
             *dstart = malloc((f->nv + 3) * sizeof *dstart);
    flow w = {f, set, find_raisers(f), calloc(f->nblocks, 4), calloc(f->nblocks, 4),
              malloc((f->nblocks + 1) * sizeof *w.work), 0};
    if (!ustart || !dstart || !w.mark || !w.def || !w.work)
        abort();
    lin_event *uses = by_vreg(e->uses, e->nuses, f->nv, ustart);
    lin_event *defs = by_vreg(e->defs, e->ndefs, f->nv, dstart);
    for (lin_vreg v = 1; v < f->nv; v++) {
        for (uint32_t k = dstart[v]; k < dstart[v + 1]; k++)
            w.def[defs[k].block] = v;
        for (uint32_t k = ustart[v]; k < ustart[v + 1]; k++)
            reach(&w, f->blocks[uses[k].block], v);
        walk(&w, v);
    }
    free(uses);
    free(defs);
    free(ustart);
    free(dstart);
    free(w.r.first);
    free(w.r.next);
    free(w.mark);
    free(w.def);
    free(w.work);
    free(e->uses);
    free(e->defs);
    *e = (lin_events){0};
}

/* --- the first two sets -------------------------------------------------------------- */
typedef struct {
    uint32_t *def, *use; /* by vreg: id + 1 of the last block that defined, used it */
    lin_events live, reg;
} collector;

static void collect_use(collector *c, const lin_block *b, lin_vreg v, bool killed)
{
    if (c->def[v] == b->id + 1 || c->use[v] == b->id + 1)
        return;
    c->use[v] = b->id + 1;
    lin_add_event(&c->live.uses, &c->live.nuses, &c->live.uses_room, v, b->id);
    if (!killed)
        lin_add_event(&c->reg.uses, &c->reg.nuses, &c->reg.uses_room, v, b->id);
}

static void collect_def(collector *c, const lin_block *b, lin_vreg v)
{
    if (c->def[v] == b->id + 1)
        return;
    c->def[v] = b->id + 1;
    lin_add_event(&c->live.defs, &c->live.ndefs, &c->live.defs_room, v, b->id);
    lin_add_event(&c->reg.defs, &c->reg.ndefs, &c->reg.defs_room, v, b->id);
}

static void collect_block(collector *c, const lin_block *b)
{
    bool killed = false;
    for (lin_insn *i = b->first; i; i = i->next) {
        for (unsigned k = 0; k < i->nargs; k++)
            collect_use(c, b, lin_arg(i, k)->v, killed);
        killed |= (lin_flags(i) & LIN_KILLS) != 0;
        for (unsigned k = 0; k < i->nres; k++)
            collect_def(c, b, lin_res(i, k)->v);
    }
}

void lin_liveness(lin_function *f)
{
    collector c = {calloc(f->nv, 4), calloc(f->nv, 4), {0}, {0}};
    if (!c.def || !c.use)
        abort();
    for (uint32_t k = 0; k < f->nrpo; k++) {
        lin_block *b = f->rpo[k];
        b->nlive_in = b->nreg_in = 0;
        collect_block(&c, b);
    }
    free(c.def);
    free(c.use);
    lin_flow(f, &c.live, LIN_SET_LIVE);
    lin_flow(f, &c.reg, LIN_SET_REG);
}

/* --- dead code -------------------------------------------------------------------------- */
void lin_dead_code(lin_function *f)
{
    uint32_t *uses = calloc(f->nv, sizeof *uses);
    if (!uses)
        abort();
    for (uint32_t k = 0; k < f->nrpo; k++)
        for (lin_insn *i = f->rpo[k]->first; i; i = i->next)
            for (unsigned a = 0; a < i->nargs; a++)
                uses[lin_arg(i, a)->v]++;
    /* users come later in order, except around loops: one backward sweep does it */
    for (uint32_t k = f->nrpo; k-- > 0;) {
        lin_block *b = f->rpo[k];
        for (lin_insn *i = b->last, *prev; i; i = prev) {
            prev = i->prev;
            if (!(lin_flags(i) & LIN_PURE) || i->nres != 1 || uses[lin_res(i, 0)->v])
                continue;
            for (unsigned a = 0; a < i->nargs; a++)
                uses[lin_arg(i, a)->v]--;
            lin_remove(b, i);
        }
    }
    free(uses);
}

/* --- next uses and wishes, per block, backwards -------------------------------------------- */
typedef struct {
    lin_function *f;
    const machine *m;
    uint32_t *stamp;    /* by vreg: block id + 1 when the rest is valid */
    uint32_t *next;     /* number of the next use; LIN_NEXT_OUT; LIN_NEXT_NONE: dead */
    lin_vreg *like;
    int8_t *want;
    uint32_t *want_at;  /* number of the instruction that wants it */
    uint32_t kill;      /* number of the next instruction that kills all; NONE */
} annotator;

static bool is_live(const annotator *a, const lin_block *b, lin_vreg v)
{
    return a->stamp[v] == b->id + 1 && a->next[v] != LIN_NEXT_NONE;
}

static void touch(annotator *a, const lin_block *b, lin_vreg v, uint32_t next)
{
    if (a->stamp[v] != b->id + 1) {
        a->stamp[v] = b->id + 1;
        a->want[v] = -1;
        a->like[v] = 0;
        a->want_at[v] = 0;
    }
    a->next[v] = next;
}

/* The next use that a register can serve. */
static uint32_t near_use(const annotator *a, const lin_block *b, lin_vreg v)
{
    if (!is_live(a, b, v))
        return LIN_NEXT_NONE;
    uint32_t n = a->next[v];
    if (a->kill != LIN_NEXT_NONE && n > a->kill) /* NEXT_OUT is larger than any number */
        return LIN_NEXT_NONE;
    return n;
}

static void read_wish(const annotator *a, const lin_block *b, lin_operand *o)
{
    bool valid =
        a->stamp[o->v] == b->id + 1 && (a->kill == LIN_NEXT_NONE || a->want_at[o->v] <= a->kill);
    o->want = valid ? a->want[o->v] : -1;
    o->like = valid ? a->like[o->v] : 0;
}

static void at_end(annotator *a, lin_block *b)
{
    a->kill = LIN_NEXT_NONE;
    for (uint32_t s = 0; s < b->nsucc; s++)
        for (uint32_t k = 0; k < b->succ[s]->nreg_in; k++)
            touch(a, b, b->succ[s]->reg_in[k], LIN_NEXT_OUT);
    for (uint32_t s = b->nsucc; s-- > 0;)
        for (uint32_t k = 0; k < b->succ[s]->nwants; k++) {
            struct lin_want *w = &b->succ[s]->wants[k];
            if (a->stamp[w->v] == b->id + 1) {
                a->want[w->v] = w->want;
                a->like[w->v] = w->like;
                a->want_at[w->v] = LIN_NEXT_OUT - 1;
            }
        }
}

static void wish(annotator *a, lin_insn *i, unsigned k, int place)
{
    lin_vreg v = lin_arg(i, k)->v;
    a->want[v] = (int8_t)place;
    a->want_at[v] = i->number;
}

/* What the arguments should be in, given the instruction. */
static void wishes(annotator *a, lin_insn *i, const lin_constraint *c)
{
    if (i->u.call && (i->op == LIN_CALL || i->op == LIN_EXTCALL || i->op == LIN_CCALL ||
                      i->op == LIN_TAILCALL || i->op == LIN_RETURN || i->op == LIN_RAISE)) {
        for (unsigned k = 0; k < i->nargs; k++)
            if (i->u.call->arg[k] >= 0)
                wish(a, i, k, i->u.call->arg[k]);
        return;
    }
    for (unsigned k = 0; k < i->nargs && k < 8; k++)
        if (c->arg[k] >= 0)
            wish(a, i, k, c->arg[k]);
    if (i->nres == 1 && i->nargs && (c->tied || i->op == LIN_MOVE)) {
        lin_operand *r = lin_res(i, 0);
        lin_vreg v = lin_arg(i, 0)->v;
        if (r->want >= 0)
            wish(a, i, 0, r->want);
        if (i->op == LIN_MOVE || r->like) {
            a->like[v] = r->like ? r->like : r->v;
            a->want_at[v] = i->number;
        }
    }
}

static void annotate_insn(annotator *a, lin_block *b, lin_insn *i)
{
    lin_constraint c;
    machine_constrain(a->f->target, a->m, i, &c);
    for (unsigned k = 0; k < i->nres; k++) {
        lin_operand *o = lin_res(i, k);
        o->next = near_use(a, b, o->v);
        o->last = o->next == LIN_NEXT_NONE;
        read_wish(a, b, o);
        touch(a, b, o->v, LIN_NEXT_NONE);
        a->want[o->v] = -1;
        a->like[o->v] = 0;
    }
    if (lin_flags(i) & LIN_KILLS)
        a->kill = i->number;
    for (unsigned k = 0; k < i->nargs; k++) {
        lin_operand *o = lin_arg(i, k);
        o->next = near_use(a, b, o->v);
        if (o->next == i->number && (lin_flags(i) & LIN_KILLS))
            o->next = LIN_NEXT_NONE;
        o->last = o->next == LIN_NEXT_NONE;
        if (a->stamp[o->v] != b->id + 1)
            touch(a, b, o->v, LIN_NEXT_NONE);
    }
    for (unsigned k = 0; k < i->nargs; k++)
        touch(a, b, lin_arg(i, k)->v, i->number);
    wishes(a, i, &c);
}

static void at_start(annotator *a, lin_block *b)
{
    b->nwants = 0;
    b->reg_next = lin_alloc(a->f->arena, (b->nreg_in + 1) * sizeof *b->reg_next);
    for (uint32_t k = 0; k < b->nreg_in; k++) {
        lin_vreg v = b->reg_in[k];
        b->reg_next[k] = near_use(a, b, v);
        lin_operand o = {.v = v};
        read_wish(a, b, &o);
        if ((o.want >= 0 || o.like) && b->nwants < 6)
            b->wants[b->nwants++] = (struct lin_want){v, o.like, o.want};
    }
}

void lin_annotate(lin_function *f)
{
    annotator a = {f,
                   machine_get(f->target, f->options->version),
                   calloc(f->nv, 4),
                   calloc(f->nv, 4),
                   calloc(f->nv, 4),
                   calloc(f->nv, 1),
                   calloc(f->nv, 4),
                   0};
    if (!a.stamp || !a.next || !a.like || !a.want || !a.want_at)
        abort();
    for (uint32_t k = f->nrpo; k-- > 0;) {
        lin_block *b = f->rpo[k];
        uint32_t n = 0;
        for (lin_insn *i = b->first; i; i = i->next)
            i->number = ++n;
        at_end(&a, b);
        for (lin_insn *i = b->last; i; i = i->prev)
            annotate_insn(&a, b, i);
        at_start(&a, b);
    }
    free(a.stamp);
    free(a.next);
    free(a.like);
    free(a.want);
    free(a.want_at);
}

/* --- derived pointers ------------------------------------------------------------------------- */
static bool has_derived(const lin_function *f)
{
    for (lin_vreg v = 1; v < f->nv; v++)
        if (f->v[v].component == CMM_ADDR)
            return true;
    return false;
}

static void report_derived(lin_function *f, const lin_insn *i, lin_vreg v)
{
    static const char *const what[] = {[LIN_ALLOC] = "an allocation", [LIN_POLL] = "a poll"};
    uint32_t pos = f->v[v].pos ? f->v[v].pos : f->source->pos;
    cmm_error(
        f->unit, pos,
        "a derived pointer (addr) of function %s is live over %s: the GC could move its block",
        f->source->name->text, i->op == LIN_ALLOC || i->op == LIN_POLL ? what[i->op] : "a call");
}

bool lin_check_derived(lin_function *f)
{
    if (!has_derived(f))
        return true;
    uint32_t *live = calloc(f->nv, sizeof *live), ok = true; /* block id + 1 while live */
    lin_vreg *list = malloc(f->nv * sizeof *list);
    if (!live || !list)
        abort();
    for (uint32_t k = 0; k < f->nrpo && ok; k++) {
        lin_block *b = f->rpo[k];
        uint32_t n = 0;
        for (uint32_t s = 0; s < b->nsucc; s++)
            for (uint32_t j = 0; j < b->succ[s]->nlive_in; j++) {
                lin_vreg v = b->succ[s]->live_in[j];
                if (f->v[v].component == CMM_ADDR && live[v] != b->id + 1)
                    live[v] = b->id + 1, list[n++] = v;
            }
        for (uint32_t j = 0; b->handler && j < b->handler->nlive_in; j++) {
            lin_vreg v = b->handler->live_in[j];
            if (f->v[v].component == CMM_ADDR && live[v] != b->id + 1)
                live[v] = b->id + 1, list[n++] = v;
        }
        for (lin_insn *i = b->last; i && ok; i = i->prev) {
            for (unsigned r = 0; r < i->nres; r++)
                live[lin_res(i, r)->v] = 0;
            if (lin_flags(i) & LIN_GC)
                for (uint32_t j = 0; j < n && ok; j++)
                    if (live[list[j]] == b->id + 1) {
                        report_derived(f, i, list[j]);
                        ok = false;
                    }
            for (unsigned a = 0; a < i->nargs; a++) {
                lin_vreg v = lin_arg(i, a)->v;
                if (f->v[v].component == CMM_ADDR && live[v] != b->id + 1)
                    live[v] = b->id + 1, list[n++] = v;
            }
        }
    }
    free(live);
    free(list);
    return ok;
}
