/* cse.c - values that are there already are not computed again.
 *
 * Value numbering over extended basic blocks: a block with one predecessor goes on with
 * what that one knew. An operation is known by its operator, its constants and the values
 * of its arguments; a load also by the state of memory that it saw. What is found makes its
 * result another name of the older vreg, or a move where one of the two has several
 * definitions.
 *
 * Nothing is kept over a call: it would cost a store and a load. What memory may hold after
 * an allocation or poll is unknown too (finalisers, signals and other domains run there);
 * immutable fields stay what they are. Derived pointers must not live over either.
 *
 * States of memory and definitions of one vreg are numbers that only grow, so leaving a
 * block for its sibling is undone by putting the old numbers back and taking off the
 * entries that were put on since.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/target.h"

typedef struct {
    uint32_t next;           /* in its chain: index + 1, 0 ends */
    uint32_t hash;
    const lin_insn *insn;    /* with the arguments' values in `values` */
    lin_vreg result;
    uint32_t epoch;          /* of what it depends on */
    uint32_t values[3];
} entry;

typedef struct {
    uint32_t calls, safepoints, memory; /* epochs */
} state;

typedef struct {
    lin_vreg v;
    uint32_t old;
} undo;

typedef struct {
    lin_block *b;
    uint32_t next_succ, nentries, nundos;
    state at;                /* as it was at the end of b */
} visit;

typedef struct {
    lin_function *f;
    uint32_t *value;         /* by vreg */
    lin_vreg *name;          /* by vreg: the older one that it is; itself */
    uint32_t last;           /* number given out last: values and epochs */
    state at;
    uint32_t *chains;        /* by hash: index in entries + 1 */
    entry *entries;          /* in order */
    uint32_t mask, nentries, entries_room;
    undo *undos;
    uint32_t nundos, undos_room;
    bool late;               /* a vreg got another name after a use was seen */
} cse;

/* --- what may be shared ------------------------------------------------------------------ */
static bool is_candidate(const lin_insn *i)
{
    if (!(lin_flags(i) & LIN_PURE) || i->nres != 1 || i->nargs > 3)
        return false;
    return i->op != LIN_MOVE && i->op != LIN_YOUNG && i->op != LIN_LOADDOM && i->op != LIN_INCOMING;
}

/* Made again wherever they are needed: only their value matters. */
static bool is_constant(const lin_insn *i)
{
    return i->op == LIN_CONST || i->op == LIN_FCONST || i->op == LIN_SYMBOL;
}

/* A sum with a pointer in it is one too, even when the program calls it int. */
static bool is_derived(const cse *c, const lin_insn *i)
{
    if (c->f->v[i->ops[0].v].component == CMM_ADDR)
        return true;
    bool sum = i->op == LIN_ADD || i->op == LIN_SUB || i->op == LIN_LEA || i->op >= LIN_TARGET;
    for (unsigned k = 0; sum && k < i->nargs; k++) {
        uint8_t of = c->f->v[i->ops[1 + k].v].component;
        if (of == CMM_VAL || of == CMM_ADDR)
            return true;
    }
    return false;
}

static uint32_t epoch_of(const cse *c, const lin_insn *i)
{
    if (lin_flags(i) & LIN_READS && !(i->flags & LIN_F_IMMUTABLE))
        return c->at.memory;
    return is_derived(c, i) ? c->at.safepoints : c->at.calls;
}

static bool same_operation(const cse *c, const lin_insn *a, const lin_insn *b)
{
    return a->op == b->op && a->cc == b->cc && a->chunk == b->chunk && a->flags == b->flags &&
           a->nargs == b->nargs && a->base == b->base && a->index == b->index &&
           a->scale == b->scale && a->imm == b->imm && a->disp == b->disp && a->sym == b->sym &&
           c->f->v[a->ops[0].v].component == c->f->v[b->ops[0].v].component;
}

static uint32_t hash(const cse *c, const lin_insn *i, uint32_t epoch)
{
    uint64_t h = i->op * 0x9e3779b97f4a7c15u ^ (uint64_t)i->imm ^ (uint64_t)i->disp << 20 ^ epoch;
    for (unsigned k = 0; k < i->nargs; k++)
        h = (h ^ c->value[i->ops[1 + k].v]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)((h ^ h >> 29) * 0x9e3779b97f4a7c15u >> 32);
}

/* --- the table --------------------------------------------------------------------------- */
static const entry *find(const cse *c, const lin_insn *i, uint32_t epoch, uint32_t hash)
{
    for (uint32_t at = c->chains[hash & c->mask]; at;) {
        const entry *e = &c->entries[at - 1];
        at = e->next;
        if (e->hash != hash || e->epoch != epoch || !same_operation(c, e->insn, i))
            continue;
        bool same = true;
        for (unsigned k = 0; k < i->nargs; k++)
            same &= e->values[k] == c->value[i->ops[1 + k].v];
        if (same)
            return e;
    }
    return NULL;
}

static void *grow(void *array, uint32_t *room, size_t size)
{
    *room = *room ? 2 * *room : 64;
    array = realloc(array, *room * size);
    if (!array)
        abort();
    return array;
}

static void put(cse *c, const lin_insn *i, uint32_t epoch, uint32_t hash)
{
    if (c->nentries == c->entries_room)
        c->entries = grow(c->entries, &c->entries_room, sizeof *c->entries);
    entry *e = &c->entries[c->nentries++];
    uint32_t *chain = &c->chains[hash & c->mask];
    e->next = *chain;
    e->hash = hash;
    e->insn = i;
    e->result = i->ops[0].v;
    e->epoch = epoch;
    for (unsigned k = 0; k < i->nargs; k++)
        e->values[k] = c->value[i->ops[1 + k].v];
    *chain = c->nentries;
}

static void set_value(cse *c, lin_vreg v, uint32_t value)
{
    if (c->nundos == c->undos_room)
        c->undos = grow(c->undos, &c->undos_room, sizeof *c->undos);
    c->undos[c->nundos++] = (undo){v, c->value[v]};
    c->value[v] = value;
}

/* --- blocks ------------------------------------------------------------------------------ */
static bool has_one_definition(const cse *c, lin_vreg v)
{
    return !(c->f->v[v].flags & LIN_V_MULTI);
}

/* i computes what `older` holds. */
static void share(cse *c, lin_block *b, lin_insn *i, lin_vreg older)
{
    lin_vreg v = i->ops[0].v;
    for (unsigned k = 0; k < i->nargs; k++)
        c->f->uses[lin_arg(i, k)->v]--;
    if (has_one_definition(c, v)) {
        c->name[v] = older;
        c->late |= c->f->uses[v] > 0;
        lin_remove(b, i);
    } else {
        lin_insn *move = lin_new_insn(c->f, LIN_MOVE, 1, 1);
        move->dbg = i->dbg;
        move->number = i->number;
        c->f->uses[older]++;
        move->ops[0].v = v;
        move->ops[1].v = older;
        lin_insert_before(b, i, move);
        lin_remove(b, i);
    }
    set_value(c, v, c->value[older]);
}

static void candidate(cse *c, lin_block *b, lin_insn *i)
{
    uint32_t epoch = epoch_of(c, i), key = hash(c, i, epoch);
    const entry *e = find(c, i, epoch, key);
    if (e && is_constant(i)) {
        set_value(c, i->ops[0].v, c->value[e->result]);
        return;
    }
    if (e) {
        share(c, b, i, e->result);
        return;
    }
    if (has_one_definition(c, i->ops[0].v)) {
        put(c, i, epoch, key);
        return;
    }
    set_value(c, i->ops[0].v, ++c->last);
}

static void other(cse *c, lin_insn *i)
{
    unsigned flags = lin_flags(i);
    if (flags & LIN_KILLS || i->op == LIN_CCALL)
        c->at.calls = c->at.safepoints = c->at.memory = ++c->last;
    else if (flags & LIN_GC)
        c->at.safepoints = c->at.memory = ++c->last;
    else if (flags & LIN_WRITES)
        c->at.memory = ++c->last;
    if (i->op == LIN_MOVE) {
        set_value(c, i->ops[0].v, c->value[i->ops[1].v]);
        return;
    }
    for (unsigned k = 0; k < i->nres; k++)
        if (!has_one_definition(c, i->ops[k].v))
            set_value(c, i->ops[k].v, ++c->last);
}

static void use_names(cse *c, lin_insn *i)
{
    for (unsigned k = 0; k < i->nargs; k++) {
        lin_vreg v = c->name[lin_arg(i, k)->v];
        lin_arg(i, k)->v = v;
        c->f->uses[v]++;
    }
}

static void block(cse *c, lin_block *b)
{
    uint32_t n = 0;
    for (lin_insn *i = b->first, *next; i; i = next) {
        next = i->next;
        i->number = ++n;
        use_names(c, i);
        if (is_candidate(i))
            candidate(c, b, i);
        else
            other(c, i);
    }
}

/* --- extended blocks, depth first --------------------------------------------------------- */
static bool goes_on(const lin_block *b)
{
    return b->npred == 1 && !b->is_handler && b->order > 0;
}

static visit enter(cse *c, lin_block *b)
{
    block(c, b);
    return (visit){b, 0, c->nentries, c->nundos, c->at};
}

/* Back to the end of v->b. */
static void restore(cse *c, const visit *v)
{
    while (c->nentries > v->nentries) {
        const entry *e = &c->entries[--c->nentries];
        c->chains[e->hash & c->mask] = e->next;
    }
    while (c->nundos > v->nundos) {
        undo *u = &c->undos[--c->nundos];
        c->value[u->v] = u->old;
    }
    c->at = v->at;
}

static void extended_block(cse *c, lin_block *root, visit *stack)
{
    const visit outside = {.b = NULL};
    uint32_t top = 0;
    c->at.calls = c->at.safepoints = c->at.memory = ++c->last;
    stack[top++] = enter(c, root);
    while (top) {
        visit *v = &stack[top - 1];
        if (v->next_succ == v->b->nsucc) {
            top--;
            continue;
        }
        restore(c, v);
        lin_block *s = v->b->succ[v->next_succ++];
        if (goes_on(s))
            stack[top++] = enter(c, s);
    }
    restore(c, &outside);
}

/* Blocks that come before the definition of a name they use. Definitions dominate uses, so
 * there are none; but that is the checker's promise, not this pass's. */
static void rename_rest(cse *c)
{
    memset(c->f->uses, 0, c->f->nv * sizeof *c->f->uses);
    for (uint32_t k = 0; k < c->f->nrpo; k++)
        for (lin_insn *i = c->f->rpo[k]->first; i; i = i->next)
            use_names(c, i);
}

void lin_cse(lin_function *f)
{
    cse c = {.f = f, .last = f->nv, .mask = 15};
    while (c.mask < f->ninsns / 2)
        c.mask = 2 * c.mask + 1;
    f->uses = lin_alloc(f->arena, f->nv * sizeof *f->uses);
    c.value = lin_scratch(f, f->nv, sizeof *c.value);
    c.name = lin_scratch(f, f->nv, sizeof *c.name);
    c.chains = lin_scratch(f, c.mask + 1, sizeof *c.chains);
    visit *stack = lin_scratch(f, f->nrpo, sizeof *stack);
    for (lin_vreg v = 0; v < f->nv; v++)
        c.value[v] = c.name[v] = v;
    for (uint32_t k = 0; k < f->nrpo; k++)
        if (!goes_on(f->rpo[k]))
            extended_block(&c, f->rpo[k], stack);
    if (c.late)
        rename_rest(&c);
    free(c.entries);
    free(c.undos);
}
