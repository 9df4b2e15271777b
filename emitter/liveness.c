/* liveness.c - which vregs are needed where.
 *
 * Three sets per block:
 *   live_in   needed at all
 *   reg_in    used before anything kills all registers (so worth a register)
 *   slot_in   its frame slot is read (spill.c)
 * An exception edge leaves from every instruction that may raise.
 *
 * One sweep backwards takes out what is not used and finds the uses that flow.c starts
 * from. Users come later in order, except around loops.
 */
#include "emitter/target.h"

/* What one block does to a vreg, seen from the end so far. */
typedef struct {
    uint32_t stamp;          /* block id + 1 when the rest is valid */
    uint32_t use;            /* 1 + kills seen when it was used; 0: defined before any use */
    bool defined;
} sight;

typedef struct {
    lin_function *f;
    sight *seen;             /* by vreg */
    lin_vreg *touched;       /* in this block */
    uint32_t ntouched, kills;
    lin_events defs, live, reg;
} collector;

static sight *touch(collector *c, const lin_block *b, lin_vreg v)
{
    sight *s = &c->seen[v];
    if (s->stamp != b->id + 1) {
        *s = (sight){.stamp = b->id + 1};
        c->touched[c->ntouched++] = v;
    }
    return s;
}

static bool unused(const lin_function *f, lin_insn *i)
{
    return lin_flags(i) & LIN_PURE && i->nres == 1 && !f->uses[lin_res(i, 0)->v];
}

static void drop_insn(lin_function *f, lin_block *b, lin_insn *i)
{
    for (unsigned k = 0; k < i->nargs; k++)
        f->uses[lin_arg(i, k)->v]--;
    lin_remove(b, i);
}

static void collect_insn(collector *c, const lin_block *b, lin_insn *i)
{
    for (unsigned k = 0; k < i->nres; k++) {
        sight *s = touch(c, b, lin_res(i, k)->v);
        s->use = 0;
        s->defined = true;
    }
    c->kills += (lin_flags(i) & LIN_KILLS) != 0;
    for (unsigned k = 0; k < i->nargs; k++)
        touch(c, b, lin_arg(i, k)->v)->use = 1 + c->kills;
}

/* A vreg with one definition is used after it: when nothing has asked for it yet, no
 * other block does. */
static void note_block(collector *c, const lin_block *b)
{
    for (uint32_t k = 0; k < c->ntouched; k++) {
        lin_vreg v = c->touched[k];
        const sight *s = &c->seen[v];
        if (s->defined && (c->live.head[v] || c->f->v[v].flags & LIN_V_MULTI))
            lin_add_event(&c->defs, v, b->id);
        if (s->use)
            lin_add_event(&c->live, v, b->id);
        if (s->use == 1 + c->kills)
            lin_add_event(&c->reg, v, b->id);
    }
}

static void collect_block(collector *c, lin_block *b)
{
    c->ntouched = c->kills = 0;
    b->nlive_in = b->nreg_in = 0;
    for (lin_insn *i = b->last, *prev; i; i = prev) {
        prev = i->prev;
        if (unused(c->f, i))
            drop_insn(c->f, b, i);
        else
            collect_insn(c, b, i);
    }
    note_block(c, b);
}

void lin_liveness(lin_function *f)
{
    collector c = {.f = f, .seen = lin_scratch(f, f->nv, sizeof *c.seen),
                   .touched = lin_scratch(f, f->nv, sizeof *c.touched)};
    lin_events_new(&c.defs, f);
    lin_events_new(&c.live, f);
    lin_events_new(&c.reg, f);
    for (uint32_t k = f->nrpo; k-- > 0;)
        collect_block(&c, f->rpo[k]);
    lin_flow(f, &c.defs, &c.live, &c.reg);
    lin_events_free(&c.defs);
    lin_events_free(&c.live);
    lin_events_free(&c.reg);
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
    uint32_t *live = lin_scratch(f, f->nv, sizeof *live); /* block id + 1 while live */
    lin_vreg *list = lin_scratch(f, f->nv, sizeof *list);
    bool ok = true;
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
    return ok;
}
