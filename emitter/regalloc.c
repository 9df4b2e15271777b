/* regalloc.c - registers, block by block in reverse postorder.
 *
 * Why this and not colouring or linear scan: OCaml calls destroy every register, so
 * live ranges are short and what matters is where values are reloaded, which
 * registers they land in before a call, and what happens at loop borders. A forward
 * pass with exact next uses (Belady) decides all three with a few steps per
 * operand, in linear time.
 *
 * A vreg is in at most one register at a time. When it has none it is in its slot
 * (spill.c finds out which slots are really read and places the stores), or it is a
 * constant that is made again. At a join the entry state comes from the predecessors
 * already done; the other edges get moves (edges.c).
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/regalloc.h"

static uint64_t bit(lin_place p)
{
    return (uint64_t)1 << p;
}

bool ra_is_float(const ra *a, lin_vreg v)
{
    return a->f->v[v].component == CMM_FLOAT;
}

static uint64_t class_mask(const ra *a, lin_vreg v)
{
    return ra_is_float(a, v) ? a->m->floats : a->m->ints;
}

static void put_in(ra *a, lin_vreg v, lin_place p, uint32_t next)
{
    a->in[p] = v;
    a->used |= bit(p);
    a->reg[v] = (int8_t)p;
    a->next[v] = next;
}

static void drop(ra *a, lin_vreg v)
{
    lin_place p = a->reg[v];
    if (p < 0)
        return;
    a->in[p] = 0;
    a->used &= ~bit(p);
    a->reg[v] = LIN_NONE;
}

static void drop_all(ra *a)
{
    for (uint64_t u = a->used; u; u &= u - 1)
        drop(a, a->in[__builtin_ctzll(u)]);
}

lin_place ra_slot(ra *a, lin_vreg v)
{
    a->f->v[v].in_slot = true;
    return LIN_SLOT_BASE + (lin_place)v;
}

/* --- code ------------------------------------------------------------------------- */
static lin_insn *new_move(ra *a, lin_vreg v, lin_place to, lin_place from)
{
    lin_insn *i = lin_new_insn(a->f, LIN_MOVE, 1, 1);
    *lin_res(i, 0) = (lin_operand){.v = v, .place = to, .next = LIN_NEXT_OUT};
    *lin_arg(i, 0) = (lin_operand){.v = v, .place = from};
    return i;
}

/* v into register `to`, from memory or by making it again. */
lin_insn *ra_reload(ra *a, lin_vreg v, lin_place to)
{
    if (!(a->f->v[v].flags & LIN_V_REMAT))
        return new_move(a, v, to, ra_slot(a, v));
    lin_insn *c = a->f->v[v].remat;
    bool bits = c->op == LIN_FCONST && !lin_is_float_reg(to); /* C argument of some ports */
    lin_insn *i = lin_new_insn(a->f, bits ? LIN_CONST : (lin_op)c->op, 1, 0);
    i->imm = c->imm;
    i->disp = c->disp;
    i->sym = c->sym;
    *lin_res(i, 0) = (lin_operand){.v = v, .place = to};
    return i;
}

static void before(ra *a, lin_insn *i)
{
    i->dbg = a->at->dbg;
    lin_insert_before(a->b, a->at, i);
}

/* --- choosing ------------------------------------------------------------------------ */
static lin_vreg farthest(const ra *a, uint64_t candidates)
{
    lin_vreg best = 0;
    for (uint64_t c = candidates & a->used; c; c &= c - 1) {
        lin_vreg v = a->in[__builtin_ctzll(c)];
        if (!best || a->next[v] > a->next[best])
            best = v;
    }
    return best;
}

static lin_place first_in_order(const ra *a, uint64_t free)
{
    for (const int8_t *o = a->f->target->order; *o >= 0; o++)
        if (free & bit(*o))
            return *o;
    return __builtin_ctzll(free);
}

/* Registers that something destroys, or a call needs, before v is used next. */
static uint64_t bad_until(const ra *a, uint32_t next)
{
    uint64_t bad = 0;
    for (uint32_t k = a->next_event, n = 0; k < a->nevents && n < 12; k++, n++) {
        if (a->events[k].number > next)
            break;
        if (a->events[k].number < next || a->events[k].arguments)
            bad |= a->events[k].mask;
    }
    return bad;
}

static bool usable(lin_place p, uint64_t free)
{
    return p >= 0 && p < 64 && (free & bit(p));
}

/* A register of v's class outside `never`; evicts what is used last if none is free. */
static lin_place choose(ra *a, lin_vreg v, uint64_t never, const lin_operand *o)
{
    uint64_t mask = class_mask(a, v) & ~never, free = mask & ~a->used;
    uint32_t next = o ? o->next : LIN_NEXT_OUT;
    if (!free) {
        lin_vreg victim = farthest(a, mask);
        if (!victim)
            return LIN_NONE;
        lin_place p = a->reg[victim];
        drop(a, victim);
        return p;
    }
    if (o && usable(o->want, free))
        return o->want;
    uint64_t bad = bad_until(a, next);
    if (o && o->like && usable(a->f->v[o->like].home, free & ~bad))
        return a->f->v[o->like].home;
    if (usable(a->f->v[v].home, free & ~bad))
        return a->f->v[v].home;
    uint64_t good = free & ~bad & ~a->loop_homes;
    if (!good)
        good = free & ~bad;
    return first_in_order(a, good ? good : free);
}

/* Frees register p: its vreg moves to another one outside `never`, or to its slot. */
static void vacate(ra *a, lin_place p, uint64_t never)
{
    lin_vreg v = a->in[p];
    if (!v)
        return;
    uint64_t free = class_mask(a, v) & ~a->used & ~never & ~bit(p);
    uint32_t next = a->next[v];
    drop(a, v);
    if (!free)
        return;
    lin_operand o = {.v = v, .next = next, .want = -1};
    lin_place to = choose(a, v, never | bit(p), &o);
    before(a, new_move(a, v, to, p));
    put_in(a, v, to, next);
}

/* --- instructions whose operands all have fixed places ---------------------------------- */
/* A callee in a register: where it is, unless an argument goes there. */
static lin_place callee_place(ra *a, lin_insn *i, uint64_t args)
{
    lin_vreg v = lin_arg(i, i->nargs - 1u)->v;
    if (a->reg[v] >= 0 && !(args & bit(a->reg[v])))
        return a->reg[v];
    uint64_t free = a->m->ints & ~args;
    return first_in_order(a, free & ~a->used ? free & ~a->used : free);
}

static void move_arguments(ra *a, lin_insn *i)
{
    uint64_t args = 0;
    for (unsigned k = 0; k < i->nargs; k++)
        if (i->u.call->arg[k] >= 0)
            args |= bit(i->u.call->arg[k]);
    ra_copy *copies = lin_alloc(a->f->arena, (i->nargs + 1) * sizeof *copies);
    for (unsigned k = 0; k < i->nargs; k++) {
        lin_operand *o = lin_arg(i, k);
        o->place = i->u.call->arg[k] >= 0 ? i->u.call->arg[k] : callee_place(a, i, args);
        copies[k] = (ra_copy){o->v, o->place, a->reg[o->v]};
    }
    ra_parallel(a, copies, i->nargs, a->b, a->at);
}

static void place_results(ra *a, lin_insn *i)
{
    for (unsigned k = 0; k < i->nres; k++) {
        lin_operand *o = lin_res(i, k);
        drop(a, o->v);
        o->place = i->u.call->result[k];
        if (!o->last)
            put_in(a, o->v, o->place, o->next);
    }
}

static void c_call(ra *a, lin_insn *i)
{
    uint64_t kills = a->m->c_kills, args = 0;
    for (unsigned k = 0; k < i->nargs; k++)
        if (lin_arg(i, k)->last)
            args |= a->reg[lin_arg(i, k)->v] >= 0 ? bit(a->reg[lin_arg(i, k)->v]) : 0;
    for (uint64_t u = a->used & kills & ~args; u; u &= u - 1)
        vacate(a, __builtin_ctzll(u), kills);
    move_arguments(a, i);
    for (uint64_t u = a->used & (kills | args); u; u &= u - 1)
        drop(a, a->in[__builtin_ctzll(u)]);
    place_results(a, i);
}

static void call(ra *a, lin_insn *i)
{
    if (i->op == LIN_CCALL) {
        c_call(a, i);
        return;
    }
    move_arguments(a, i);
    drop_all(a);
    if (i->nres)
        place_results(a, i);
}

static void params(ra *a, lin_insn *i)
{
    for (unsigned k = 0; k < i->nres; k++) {
        lin_operand *o = lin_res(i, k);
        o->place = i->u.call->arg[k];
        if (!o->last)
            put_in(a, o->v, o->place, o->next);
    }
}

/* --- moves --------------------------------------------------------------------------------- */
static void define(ra *a, lin_operand *o, lin_place p)
{
    drop(a, o->v);
    o->place = p;
    if (!o->last)
        put_in(a, o->v, p, o->next);
}

static void move(ra *a, lin_insn *i)
{
    lin_operand *d = lin_res(i, 0), *s = lin_arg(i, 0);
    if (d->v == s->v) {
        lin_remove(a->b, i);
        return;
    }
    lin_place from = a->reg[s->v];
    if (from >= 0 && s->last) {
        drop(a, s->v);
        define(a, d, from); /* renamed: no code, but spill.c wants to see the definition */
        s->place = from;
        return;
    }
    drop(a, d->v);
    lin_place to = choose(a, d->v, from >= 0 ? bit(from) : 0, d);
    if (from < 0 && a->f->v[s->v].flags & LIN_V_REMAT) {
        lin_insn *c = ra_reload(a, s->v, to);
        lin_res(c, 0)->v = d->v;
        *lin_res(c, 0) = *d;
        before(a, c);
        lin_remove(a->b, i);
        define(a, lin_res(c, 0), to);
        return;
    }
    s->place = from >= 0 ? from : ra_slot(a, s->v);
    if (from >= 0)
        a->next[s->v] = s->next;
    define(a, d, to);
}

/* --- all other instructions ---------------------------------------------------------------- */
typedef struct {
    lin_constraint c;
    lin_insn *i;
    uint64_t pinned;      /* registers that operands are in */
} placing;

static void fixed_argument(ra *a, placing *p, unsigned k, uint64_t fixed)
{
    lin_operand *o = lin_arg(p->i, k);
    lin_place want = p->c.arg[k];
    lin_place from = a->reg[o->v];
    if (from != want) {
        vacate(a, want, fixed | p->pinned | p->c.kills);
        from = a->reg[o->v]; /* may have been the one that had to go */
        if (from >= 0)
            before(a, new_move(a, o->v, want, from));
        else
            before(a, ra_reload(a, o->v, want));
        if (from < 0 || o->last) {
            drop(a, o->v);
            put_in(a, o->v, want, o->next);
        }
    }
    o->place = want;
    p->pinned |= bit(want);
}

/* Argument in any register, or in its slot. */
static void free_argument(ra *a, placing *p, unsigned k, bool *slot_used, uint64_t fixed)
{
    lin_operand *o = lin_arg(p->i, k);
    if (a->reg[o->v] < 0) {
        bool remat = a->f->v[o->v].flags & LIN_V_REMAT;
        if (!remat && !*slot_used && (p->c.slot_ok >> k & 1) && o->last) {
            o->place = ra_slot(a, o->v);
            *slot_used = true;
            return;
        }
        lin_operand wish = *o;
        lin_place r = choose(a, o->v, p->pinned | fixed | p->c.kills, &wish);
        if (r == LIN_NONE)
            r = choose(a, o->v, p->pinned | fixed, &wish);
        before(a, ra_reload(a, o->v, r));
        put_in(a, o->v, r, o->next);
    }
    o->place = a->reg[o->v];
    p->pinned |= bit(o->place);
}

/* What lives on in a register that the instruction destroys must leave it. An argument
 * is read before that, so its copy may go anywhere. */
static void save_killed(ra *a, placing *p)
{
    uint64_t dying = 0;
    for (unsigned k = 0; k < p->i->nargs; k++) {
        lin_operand *o = lin_arg(p->i, k);
        if (o->last && a->reg[o->v] >= 0)
            dying |= bit(a->reg[o->v]);
    }
    uint64_t gone = p->c.kills;
    for (unsigned k = 0; k < p->i->nres && k < 4; k++)
        if (p->c.res[k] >= 0)
            gone |= bit(p->c.res[k]);
    for (uint64_t u = a->used & gone & ~dying; u; u &= u - 1)
        vacate(a, __builtin_ctzll(u), gone | p->pinned);
}

static void free_dying(ra *a, lin_insn *i)
{
    for (unsigned k = 0; k < i->nargs; k++) {
        lin_operand *o = lin_arg(i, k);
        if (o->last)
            drop(a, o->v);
        else
            a->next[o->v] = o->next;
    }
}

static void exchange_arguments(lin_insn *i)
{
    lin_operand t = *lin_arg(i, 0);
    *lin_arg(i, 0) = *lin_arg(i, 1);
    *lin_arg(i, 1) = t;
}

/* The result goes where argument 0 is; a copy first when that one lives on. */
static lin_place tied_place(ra *a, placing *p)
{
    lin_insn *i = p->i;
    lin_operand *x = lin_arg(i, 0), *y = i->nargs > 1 ? lin_arg(i, 1) : NULL;
    if (p->c.commutes && y && !x->last && y->last && lin_is_reg(y->place))
        exchange_arguments(i);
    if (p->c.commutes && y && lin_is_reg(y->place) && lin_is_slot(x->place))
        exchange_arguments(i);
    x = lin_arg(i, 0);
    if (x->last && lin_is_reg(x->place))
        return x->place;
    uint64_t others = p->c.kills;
    for (unsigned k = 1; k < i->nargs; k++)
        if (lin_is_reg(lin_arg(i, k)->place))
            others |= bit(lin_arg(i, k)->place);
    lin_place from = x->place, r;
    uint64_t keep = lin_is_reg(from) ? bit(from) : 0;
    r = choose(a, lin_res(i, 0)->v, others | keep, lin_res(i, 0));
    before(a, new_move(a, x->v, r, from));
    x->place = r;
    return r;
}

static void place_temps(ra *a, placing *p)
{
    for (unsigned k = 0; k < p->c.temps; k++) {
        uint64_t never = p->pinned | p->c.kills;
        uint64_t free = a->m->ints & ~a->used & ~never;
        if (!free) {
            lin_vreg v = farthest(a, a->m->ints & ~never);
            free = bit(a->reg[v]);
            drop(a, v);
        }
        p->i->temps[k] = first_in_order(a, free);
        p->pinned |= bit(p->i->temps[k]);
    }
    p->i->ntemps = p->c.temps;
}

static void record_roots(ra *a, lin_insn *i)
{
    if (!(lin_flags(i) & LIN_GC))
        return;
    i->roots = lin_alloc(a->f->arena, (unsigned)__builtin_popcountll(a->used) * sizeof *i->roots);
    for (uint64_t u = a->used; u; u &= u - 1) {
        lin_vreg v = a->in[__builtin_ctzll(u)];
        if (a->f->v[v].component == CMM_VAL)
            i->roots[i->nroots++] = (lin_root){v, a->reg[v]};
    }
}

static void general_results(ra *a, placing *p)
{
    lin_insn *i = p->i;
    lin_place tied = LIN_NONE;
    uint64_t taken = p->c.kills;
    if (p->c.tied && i->nres)
        tied = tied_place(a, p);
    for (unsigned k = 0; k < i->ntemps; k++)
        taken |= bit(i->temps[k]);
    if (p->c.early)
        taken |= p->pinned;
    free_dying(a, i);
    record_roots(a, i);
    for (unsigned k = 0; k < i->nres; k++) {
        lin_operand *o = lin_res(i, k);
        lin_place r = k < 4 && p->c.res[k] >= 0 ? p->c.res[k] : LIN_NONE;
        if (k == 0 && tied >= 0)
            r = tied;
        if (r == LIN_NONE) {
            drop(a, o->v);
            r = choose(a, o->v, taken, o);
        }
        define(a, o, r);
        taken |= bit(r);
    }
}

static void general(ra *a, lin_insn *i)
{
    placing p = {.i = i};
    machine_constrain(a->f->target, a->m, i, &p.c);
    uint64_t fixed = 0;
    bool slot_used = false;
    for (unsigned k = 0; k < i->nargs && k < 8; k++)
        if (p.c.arg[k] >= 0)
            fixed |= bit(p.c.arg[k]);
    for (unsigned k = 0; k < i->nargs; k++) /* arguments that are in place are pinned first */
        if (a->reg[lin_arg(i, k)->v] >= 0 && (k >= 8 || p.c.arg[k] < 0))
            p.pinned |= bit(a->reg[lin_arg(i, k)->v]);
    for (unsigned k = 0; k < i->nargs; k++)
        if (k < 8 && p.c.arg[k] >= 0)
            fixed_argument(a, &p, k, fixed);
    for (unsigned k = 0; p.c.early && k < i->nargs; k++) {
        lin_place at = a->reg[lin_arg(i, k)->v];
        if (at >= 0 && (k >= 8 || p.c.arg[k] < 0) && (p.c.kills & bit(at)))
            vacate(a, at, p.c.kills | p.pinned | fixed);
    }
    bool tied_slot = p.c.tied && i->nargs && a->reg[lin_arg(i, 0)->v] < 0 && lin_arg(i, 0)->last &&
                     p.c.arg[0] < 0 && !(a->f->v[lin_arg(i, 0)->v].flags & LIN_V_REMAT) &&
                     !(i->nargs > 1 && lin_arg(i, 1)->v == lin_arg(i, 0)->v);
    for (unsigned k = tied_slot ? 1 : 0; k < i->nargs; k++)
        if (k >= 8 || p.c.arg[k] < 0)
            free_argument(a, &p, k, &slot_used, fixed);
    if (tied_slot)
        lin_arg(i, 0)->place = ra_slot(a, lin_arg(i, 0)->v);
    save_killed(a, &p);
    place_temps(a, &p);
    general_results(a, &p);
}

/* --- blocks ---------------------------------------------------------------------------------- */
static void one_insn(ra *a, lin_insn *i)
{
    a->at = i;
    while (a->next_event < a->nevents && a->events[a->next_event].number < i->number)
        a->next_event++;
    if (lin_fixed_call(i))
        call(a, i);
    else if (i->op == LIN_PARAMS)
        params(a, i);
    else if (i->op == LIN_MOVE)
        move(a, i);
    else if ((i->op == LIN_CONST || i->op == LIN_FCONST || i->op == LIN_SYMBOL) &&
             a->f->v[lin_res(i, 0)->v].flags & LIN_V_REMAT)
        lin_remove(a->b, i); /* made where it is used */
    else
        general(a, i);
}

static void record_exit(ra *a, lin_block *b)
{
    b->exit =
        lin_alloc(a->f->arena, ((unsigned)__builtin_popcountll(a->used) + 1) * sizeof *b->exit);
    b->nexit = 0;
    for (uint64_t u = a->used; u; u &= u - 1) {
        lin_vreg v = a->in[__builtin_ctzll(u)];
        if (a->next[v] != LIN_NEXT_OUT)
            continue;
        b->exit[b->nexit++] = (lin_root){v, a->reg[v]};
        a->f->v[v].home = a->reg[v];
    }
}

static void one_block(ra *a, lin_block *b)
{
    a->b = b;
    drop_all(a);
    a->events = a->f->events + b->event_first;
    a->nevents = b->event_last - b->event_first;
    a->next_event = 0;
    ra_entry(a, b);
    a->loop_homes = 0;
    for (uint32_t k = 0; b->loop_head && k < b->loop_head->nentry; k++)
        a->loop_homes |= bit(b->loop_head->entry[k].place);
    for (uint32_t k = 0; k < b->nentry; k++)
        put_in(a, b->entry[k].v, b->entry[k].place, a->entry_next[k]);
    for (lin_insn *i = b->first, *next; i; i = next) {
        next = i->next;
        one_insn(a, i);
    }
    record_exit(a, b);
    b->done = true;
}

void lin_regalloc(lin_function *f)
{
    ra a = {.f = f, .m = machine_get(f->target, f->options->version)};
    a.reg = lin_scratch(f, f->nv, 1);
    a.next = lin_scratch(f, f->nv, sizeof *a.next);
    a.count = lin_scratch(f, f->nv, sizeof *a.count);
    memset(a.reg, LIN_NONE, f->nv);
    for (uint32_t k = 0; k < f->nrpo; k++)
        one_block(&a, f->rpo[k]);
    ra_edges(&a);
    free(f->events);
    f->events = NULL;
}
