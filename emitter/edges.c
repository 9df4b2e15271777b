/* edges.c - registers at block borders: entry states, and moves on edges.
 *
 * Entry of a block, from the predecessors done so far:
 *   one predecessor       what it leaves in registers
 *   a join                what all leave, in the register most of them use; what only
 *                         some leave, when the block itself uses it (a reload on the
 *                         other edges costs no more than one in the block)
 *   a loop header         what the way in leaves; and, when nothing in the loop kills
 *                         registers, what the loop uses from slots (reloaded once)
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/regalloc.h"

static uint64_t bit(lin_place p)
{
    return (uint64_t)1 << p;
}

/* --- entry states ---------------------------------------------------------------- */
typedef struct {
    lin_vreg v;
    uint32_t next;
    uint32_t in_regs;       /* predecessors that have it in a register */
    lin_place place;        /* the register of the first of them */
} candidate;

static lin_place exit_place(const lin_block *p, lin_vreg v)
{
    for (uint32_t k = 0; k < p->nexit; k++)
        if (p->exit[k].v == v)
            return p->exit[k].place;
    return LIN_NONE;
}

static uint32_t done_preds(const lin_block *b)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->npred; k++)
        n += b->pred[k]->done;
    return n;
}

/* The register that most predecessors have v in; loops decide by the way in. */
static void look_up(const lin_block *b, candidate *c)
{
    lin_place seen[4];
    uint32_t votes[4] = {0}, n = 0, best = 0;
    for (uint32_t k = 0; k < b->npred; k++) {
        lin_place p = b->pred[k]->done ? exit_place(b->pred[k], c->v) : LIN_NONE;
        if (p < 0)
            continue;
        c->in_regs++;
        uint32_t j = 0;
        while (j < n && seen[j] != p)
            j++;
        if (j == n && n < 4)
            seen[n++] = p;
        if (j < n)
            votes[j] += 1 + b->pred[k]->loop_depth;
    }
    for (uint32_t j = 1; j < n; j++)
        if (votes[j] > votes[best])
            best = j;
    c->place = n ? seen[best] : LIN_NONE;
}

static bool wanted(const ra *a, const lin_block *b, const candidate *c, uint32_t preds)
{
    if (c->in_regs == preds)
        return true;
    if (b->is_loop) {
        if (b->loop_kills)
            return c->in_regs > 0;
        return c->in_regs > 0 || a->f->v[c->v].flags == 0 || c->next < LIN_NEXT_OUT;
    }
    return c->in_regs > 0 && c->next < LIN_NEXT_OUT;
}

static int by_next(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    if (a->next != b->next)
        return a->next < b->next ? -1 : 1;
    return a->v < b->v ? -1 : 1;
}

static void take(ra *a, lin_block *b, const candidate *c, uint64_t *used)
{
    uint64_t mask = (ra_is_float(a, c->v) ? a->m->floats : a->m->ints) & ~*used;
    if (!mask)
        return;
    lin_place p = c->place;
    if (p < 0 || !(mask & bit(p)))
        p = a->f->v[c->v].home;
    if (p < 0 || !(mask & bit(p))) {
        p = LIN_NONE;
        for (const int8_t *o = a->f->target->order; *o >= 0 && p < 0; o++)
            if (mask & bit(*o))
                p = *o;
        if (p < 0)
            return;
    }
    *used |= bit(p);
    a->f->v[c->v].home = (int8_t)p;
    a->entry_next[b->nentry] = c->next;
    b->entry[b->nentry++] = (lin_root){c->v, p};
}

/* Those that keep their register come first, so that nobody takes it from them. */
static void take_all(ra *a, lin_block *b, candidate *c, uint32_t n)
{
    uint64_t used = 0;
    uint32_t limit[2] = {(uint32_t)__builtin_popcountll(a->m->ints),
                         (uint32_t)__builtin_popcountll(a->m->floats)};
    uint32_t count[2] = {0, 0};
    bool *in = lin_alloc(a->f->arena, n + 1);
    for (uint32_t k = 0; k < n; k++)
        in[k] = count[ra_is_float(a, c[k].v)]++ < limit[ra_is_float(a, c[k].v)];
    for (uint32_t k = 0; k < n; k++)
        if (in[k] && c[k].place >= 0 && !(used & bit(c[k].place))) {
            take(a, b, &c[k], &used);
            in[k] = false;
        }
    for (uint32_t k = 0; k < n; k++)
        if (in[k])
            take(a, b, &c[k], &used);
}

static void single_entry(ra *a, lin_block *b)
{
    const lin_block *p = b->pred[0];
    b->entry = lin_alloc(a->f->arena, (p->nexit + 1) * sizeof *b->entry);
    for (uint32_t k = 0; k < p->nexit; k++)
        a->count[p->exit[k].v] = k + 1;
    for (uint32_t k = 0; k < b->nreg_in; k++) {
        uint32_t at = a->count[b->reg_in[k]];
        if (!at)
            continue;
        a->entry_next[b->nentry] = b->reg_next[k];
        b->entry[b->nentry++] = p->exit[at - 1];
    }
    for (uint32_t k = 0; k < p->nexit; k++)
        a->count[p->exit[k].v] = 0;
}

void ra_entry(ra *a, lin_block *b)
{
    b->nentry = 0;
    uint32_t preds = done_preds(b);
    if (preds == 0 || b->is_handler)
        return;
    if (b->npred == 1) {
        single_entry(a, b);
        return;
    }
    /* only vregs that some predecessor has in a register, except for loops */
    candidate *c = malloc((b->nreg_in + 1) * sizeof *c);
    if (!c)
        abort();
    uint32_t n = 0;
    for (uint32_t p = 0; p < b->npred; p++)
        for (uint32_t k = 0; b->pred[p]->done && k < b->pred[p]->nexit; k++)
            a->count[b->pred[p]->exit[k].v] = 1;
    for (uint32_t k = 0; k < b->nreg_in; k++) {
        lin_vreg v = b->reg_in[k];
        if (!a->count[v] && !(b->is_loop && !b->loop_kills))
            continue;
        candidate x = {v, b->reg_next[k], 0, LIN_NONE};
        look_up(b, &x);
        if (wanted(a, b, &x, preds))
            c[n++] = x;
    }
    for (uint32_t p = 0; p < b->npred; p++)
        for (uint32_t k = 0; b->pred[p]->done && k < b->pred[p]->nexit; k++)
            a->count[b->pred[p]->exit[k].v] = 0;
    qsort(c, n, sizeof *c, by_next);
    lin_root entry[64];
    b->entry = entry;
    take_all(a, b, c, n);
    b->entry = lin_alloc(a->f->arena, (b->nentry + 1) * sizeof *b->entry);
    memcpy(b->entry, entry, b->nentry * sizeof *b->entry);
    free(c);
}

/* --- parallel copies ------------------------------------------------------------------ */
static void emit_at(lin_block *b, lin_insn *at, lin_insn *i)
{
    if (at) {
        i->dbg = at->dbg;
        lin_insert_before(b, at, i);
    } else
        lin_append(b, i);
}

static lin_insn *reg_move(ra *a, lin_op op, lin_vreg v, lin_place to, lin_place from)
{
    lin_insn *i = lin_new_insn(a->f, op, op == LIN_SWAP ? 0 : 1, op == LIN_SWAP ? 2 : 1);
    i->ops[0] = (lin_operand){.v = v, .place = to, .next = LIN_NEXT_OUT};
    i->ops[1] = (lin_operand){.v = v, .place = from};
    return i;
}

/* Register moves whose target nobody reads any more go first; what is left are
 * cycles, broken by exchanging; loads from memory come last. */
void ra_parallel(ra *a, ra_copy *c, unsigned n, lin_block *b, lin_insn *at)
{
    uint8_t readers[64] = {0};
    unsigned left = 0;
    for (unsigned k = 0; k < n; k++)
        if (c[k].from >= 0 && c[k].from != c[k].to)
            readers[c[k].from]++, left++;
    while (left) {
        bool progress = false;
        for (unsigned k = 0; k < n; k++) {
            if (c[k].from < 0 || c[k].from == c[k].to || readers[c[k].to])
                continue;
            emit_at(b, at, reg_move(a, LIN_MOVE, c[k].v, c[k].to, c[k].from));
            readers[c[k].from]--;
            c[k].from = c[k].to;
            left--;
            progress = true;
        }
        if (progress)
            continue;
        for (unsigned k = 0; k < n; k++) {
            if (c[k].from < 0 || c[k].from == c[k].to)
                continue;
            lin_place x = c[k].from, y = c[k].to;
            emit_at(b, at, reg_move(a, LIN_SWAP, c[k].v, y, x));
            readers[x] = readers[y] = 0;
            left = 0;
            for (unsigned j = 0; j < n; j++) {
                if (c[j].from == x)
                    c[j].from = y;
                else if (c[j].from == y)
                    c[j].from = x;
                if (c[j].from >= 0 && c[j].from != c[j].to)
                    left++;
            }
            memset(readers, 0, sizeof readers);
            for (unsigned j = 0; j < n; j++)
                if (c[j].from >= 0 && c[j].from != c[j].to)
                    readers[c[j].from]++;
            break;
        }
    }
    for (unsigned k = 0; k < n; k++)
        if (c[k].from < 0)
            emit_at(b, at, ra_reload(a, c[k].v, c[k].to));
}

/* --- edges ------------------------------------------------------------------------------ */
static unsigned edge_copies(ra *a, const lin_block *p, const lin_block *s, ra_copy *c)
{
    unsigned differ = 0;
    for (uint32_t k = 0; k < p->nexit; k++)
        a->count[p->exit[k].v] = k + 1;
    for (uint32_t k = 0; k < s->nentry; k++) {
        lin_vreg v = s->entry[k].v;
        uint32_t at = a->count[v];
        c[k] = (ra_copy){v, s->entry[k].place, at ? p->exit[at - 1].place : LIN_NONE};
        differ += c[k].from != c[k].to;
    }
    for (uint32_t k = 0; k < p->nexit; k++)
        a->count[p->exit[k].v] = 0;
    return differ ? s->nentry : 0;
}

/* A block on the edge, for code that neither end can hold. */
static lin_block *split_edge(lin_function *f, lin_block *p, uint32_t succ)
{
    lin_block *s = p->succ[succ], *mid = lin_new_block(f);
    mid->handler = NULL;
    mid->trap_depth = s->trap_depth;
    mid->loop_depth = p->loop_depth < s->loop_depth ? p->loop_depth : s->loop_depth;
    mid->is_cold = s->is_cold;
    mid->done = true;
    lin_set_succs(f, mid, 1, &s);
    p->succ[succ] = mid;
    return mid;
}

static void fix_edge(ra *a, lin_block *p, uint32_t succ)
{
    ra_copy c[64];
    lin_block *s = p->succ[succ];
    unsigned n = edge_copies(a, p, s, c);
    if (!n)
        return;
    if (p->nsucc == 1) {
        ra_parallel(a, c, n, p, p->last);
        return;
    }
    lin_block *mid = split_edge(a->f, p, succ);
    lin_append(mid, lin_new_insn(a->f, LIN_JUMP, 0, 0));
    ra_parallel(a, c, n, mid, mid->last);
}

/* A block with one predecessor starts with what that one leaves (single_entry). */
void ra_edges(ra *a)
{
    for (uint32_t k = 0; k < a->f->nrpo; k++)
        for (uint32_t s = 0; s < a->f->rpo[k]->nsucc; s++)
            if (a->f->rpo[k]->succ[s]->nentry && a->f->rpo[k]->succ[s]->npred > 1)
                fix_edge(a, a->f->rpo[k], s);
}
