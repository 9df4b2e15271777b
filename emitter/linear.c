/* linear.c - blocks and instructions: building, order, loops. */
#include <stdlib.h>
#include <string.h>

#include "emitter/linear.h"
#include "emitter/pages.h"

const lin_op_info lin_ops[LIN_TARGET] = {
#define LIN_X(id, name, flags) {name, flags},
    LIN_OPS(LIN_X)
#undef LIN_X
};

const char *const lin_cc_names[LIN_NUM_CC] = {
    "eq", "ne", "lt", "le", "gt", "ge", "ltu", "leu", "gtu", "geu", "nlt", "nle", "ngt", "nge",
};

lin_cc lin_negate(lin_cc cc)
{
    static const uint8_t table[] = {LIN_NE, LIN_EQ, LIN_GE, LIN_GT, LIN_LE, LIN_LT,
                                    LIN_GEU, LIN_GTU, LIN_LEU, LIN_LTU};
    return table[cc];
}

lin_cc lin_negate_float(lin_cc cc)
{
    static const uint8_t table[LIN_NUM_CC] = {
        [LIN_EQ] = LIN_NE, [LIN_NE] = LIN_EQ, [LIN_LT] = LIN_NLT, [LIN_LE] = LIN_NLE,
        [LIN_GT] = LIN_NGT, [LIN_GE] = LIN_NGE, [LIN_NLT] = LIN_LT, [LIN_NLE] = LIN_LE,
        [LIN_NGT] = LIN_GT, [LIN_NGE] = LIN_GE,
    };
    return table[cc];
}

lin_cc lin_swap(lin_cc cc)
{
    static const uint8_t table[LIN_NUM_CC] = {
        [LIN_EQ] = LIN_EQ, [LIN_NE] = LIN_NE, [LIN_LT] = LIN_GT, [LIN_LE] = LIN_GE,
        [LIN_GT] = LIN_LT, [LIN_GE] = LIN_LE, [LIN_LTU] = LIN_GTU, [LIN_LEU] = LIN_GEU,
        [LIN_GTU] = LIN_LTU, [LIN_GEU] = LIN_LEU, [LIN_NLT] = LIN_NGT, [LIN_NLE] = LIN_NGE,
        [LIN_NGT] = LIN_NLT, [LIN_NGE] = LIN_NLE,
    };
    return table[cc];
}

/* --- memory: chunks that a reset keeps ----------------------------------------
 * A chunk is zero when it comes from the system; what was used before a reset is cleared
 * again when it is handed out, just before it is written: a function of 20 MB is never
 * swept for nothing, a small one finds its memory in the cache.
 *
 *      data      clean  used before, not zero | zero
 *      |--------------------------------------|-----------|
 *            at -> next to be handed out                  end
 */
enum { FIRST_CHUNK = 1 << 18 };

typedef struct chunk {
    struct chunk *next;
    char *data, *clean, *end;
} chunk;

struct lin_arena {
    char *at, *clean, *end; /* of the current chunk */
    chunk *first, *current;
};

static chunk *new_chunk(size_t room)
{
    chunk *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->data = c->clean = pages_get(&room);
    c->end = c->data + room;
    return c;
}

static void enter_chunk(struct lin_arena *a, chunk *c)
{
    a->current = c;
    a->at = c->data;
    a->clean = c->clean;
    a->end = c->end;
}

static void leave_chunk(struct lin_arena *a)
{
    if (a->at > a->clean)
        a->current->clean = a->at;
}

struct lin_arena *lin_arena_new(void)
{
    struct lin_arena *a = malloc(sizeof *a);
    if (!a)
        abort();
    a->first = new_chunk(FIRST_CHUNK);
    enter_chunk(a, a->first);
    return a;
}

void lin_arena_free(struct lin_arena *a)
{
    for (chunk *c = a->first, *next; c; c = next) {
        next = c->next;
        pages_put(c->data, (size_t)(c->end - c->data));
        free(c);
    }
    free(a);
}

void lin_arena_reset(struct lin_arena *a)
{
    leave_chunk(a);
    enter_chunk(a, a->first);
}

static void next_chunk(struct lin_arena *a, size_t n)
{
    chunk *c = a->current->next;
    leave_chunk(a);
    if (!c || (size_t)(c->end - c->data) < n) {
        chunk *fresh = new_chunk(n > PAGES_HUGE ? n : PAGES_HUGE);
        fresh->next = c;
        a->current->next = fresh;
        c = fresh;
    }
    enter_chunk(a, c);
}

/* Not zeroed. */
static void *take(struct lin_arena *a, size_t n)
{
    n = (n + 7) & ~(size_t)7;
    if ((size_t)(a->end - a->at) < n)
        next_chunk(a, n);
    char *p = a->at;
    a->at += n;
    return p;
}

void *lin_alloc(struct lin_arena *a, size_t n)
{
    char *p = take(a, n);
    if (p < a->clean)
        memset(p, 0, n < (size_t)(a->clean - p) ? n : (size_t)(a->clean - p));
    return p;
}

void *lin_scratch(lin_function *f, size_t count, size_t size)
{
    return lin_alloc(f->scratch, count * size);
}

/* --- building -------------------------------------------------------------------- */
lin_vreg lin_new_vreg(lin_function *f, cmm_component c)
{
    if (f->nv >= f->v_room) {
        uint32_t room = f->v_room ? 2 * f->v_room : 64;
        lin_vinfo *v = lin_alloc(f->arena, room * sizeof *v);
        if (f->v)
            memcpy(v, f->v, f->nv * sizeof *v);
        f->v = v;
        f->v_room = room;
    }
    f->v[f->nv] = (lin_vinfo){.component = c, .home = -1, .slot = LIN_NONE};
    return f->nv++;
}

lin_block *lin_new_block(lin_function *f)
{
    if (f->nblocks == f->blocks_room) {
        uint32_t room = f->blocks_room ? 2 * f->blocks_room : 16;
        lin_block **b = lin_alloc(f->arena, room * sizeof *b);
        if (f->nblocks)
            memcpy(b, f->blocks, f->nblocks * sizeof *b);
        f->blocks = b;
        f->blocks_room = room;
    }
    lin_block *b = lin_alloc(f->arena, sizeof *b);
    b->id = f->nblocks;
    return f->blocks[f->nblocks++] = b;
}

lin_insn *lin_new_insn(lin_function *f, lin_op op, unsigned nres, unsigned nargs)
{
    lin_insn *i = take(f->arena, sizeof *i + (nres + nargs) * sizeof *i->ops);
    f->ninsns++;
    f->nallocs += op == LIN_ALLOC;
    *i = (lin_insn){.op = op, .nres = nres, .nargs = nargs, .base = -1, .index = -1, .scale = 1};
    for (unsigned k = 0; k < nres + nargs; k++)
        i->ops[k] = (lin_operand){.place = LIN_NONE, .want = -1};
    return i;
}

void lin_append(lin_block *b, lin_insn *i)
{
    i->prev = b->last;
    i->next = NULL;
    if (b->last)
        b->last->next = i;
    else
        b->first = i;
    b->last = i;
}

void lin_insert_before(lin_block *b, lin_insn *at, lin_insn *i)
{
    i->next = at;
    i->prev = at->prev;
    if (at->prev)
        at->prev->next = i;
    else
        b->first = i;
    at->prev = i;
}

void lin_insert_after(lin_block *b, lin_insn *at, lin_insn *i)
{
    if (at && at->next)
        lin_insert_before(b, at->next, i);
    else if (at || !b->first)
        lin_append(b, i);
    else
        lin_insert_before(b, b->first, i);
}

void lin_remove(lin_block *b, lin_insn *i)
{
    if (i->prev)
        i->prev->next = i->next;
    else
        b->first = i->next;
    if (i->next)
        i->next->prev = i->prev;
    else
        b->last = i->prev;
}

void lin_set_succs(lin_function *f, lin_block *b, unsigned n, lin_block *const *succ)
{
    b->nsucc = n;
    b->succ = n <= 2 ? b->succ2 : lin_alloc(f->arena, n * sizeof *b->succ);
    if (n)
        memcpy(b->succ, succ, n * sizeof *b->succ);
}

/* --- order -------------------------------------------------------------------------
 * Depth first with an explicit stack: functions may have 100,000 blocks in a row. A
 * block's handler is an edge like the others, visited first so that it comes last. */
typedef struct {
    lin_block *b;
    uint32_t next;
} visit;

enum { UNSEEN = 0, OPEN = 1, CLOSED = 2 };

static uint32_t num_edges(const lin_block *b)
{
    return b->nsucc + (b->handler != NULL);
}

static lin_block *edge(const lin_block *b, uint32_t n)
{
    if (b->handler)
        return n == 0 ? b->handler : b->succ[b->nsucc - n];
    return b->succ[b->nsucc - 1 - n];
}

/* A block seen first starts with what the walk will find out about it. */
static visit open_block(lin_block *b, uint8_t *state)
{
    state[b->id] = OPEN;
    b->is_loop = false;
    b->loop_depth = 0;
    b->loop_head = NULL;
    b->npred = 0;
    return (visit){b, 0};
}

static void visit_all(lin_function *f, uint8_t *state)
{
    visit *stack = lin_scratch(f, f->nblocks + 1, sizeof *stack);
    uint32_t n = f->nblocks, top = 0;
    stack[top++] = open_block(f->blocks[0], state);
    while (top) {
        visit *v = &stack[top - 1];
        if (v->next == num_edges(v->b)) {
            state[v->b->id] = CLOSED;
            f->rpo[--n] = v->b;
            top--;
            continue;
        }
        bool to_handler = v->b->handler && v->next == 0;
        lin_block *s = edge(v->b, v->next++);
        if (state[s->id] == OPEN)
            s->is_loop = f->has_loops = true;
        else if (state[s->id] == UNSEEN)
            stack[top++] = open_block(s, state);
        s->npred += !to_handler;
    }
    f->nrpo = f->nblocks - n;
    memmove(f->rpo, f->rpo + n, f->nrpo * sizeof *f->rpo);
}

static void add_preds(lin_function *f)
{
    for (uint32_t i = 0; i < f->nrpo; i++) {
        lin_block *b = f->rpo[i];
        b->order = i;
        b->pred = b->npred <= 2 ? b->pred2 : lin_alloc(f->arena, b->npred * sizeof *b->pred);
        b->npred = 0;
    }
    for (uint32_t i = 0; i < f->nrpo; i++)
        for (uint32_t k = 0; k < f->rpo[i]->nsucc; k++) {
            lin_block *s = f->rpo[i]->succ[k];
            s->pred[s->npred++] = f->rpo[i];
        }
}

/* --- loops ------------------------------------------------------------------------------
 * The members of a loop: walk back from its back edges to the header. Inner loops come first
 * and then count as one block, their header, so that deep nests stay linear. That is right when
 * the header is the only way in; a loop that can be entered elsewhere (by an exception, or an
 * irreducible one) keeps its blocks apart. */
typedef struct {
    uint32_t *mark;        /* by block: order + 1 of the header that saw it last */
    lin_block **whole;     /* by block: header of the loop that took it in, or nearer the root */
    lin_block **parent;    /* by block: header of the innermost loop that took it in */
    lin_block **work;      /* members found */
} loops;

/* What stands for b: the header of the outermost loop around it so far. */
static lin_block *stands_for(loops *l, lin_block *b)
{
    while (l->whole[b->id]) {
        lin_block *up = l->whole[b->id];
        if (l->whole[up->id])
            l->whole[b->id] = l->whole[up->id];
        b = up;
    }
    return b;
}

/* Adds p, from where the loop is reached backwards; false: p is before the header. */
static bool add_member(loops *l, const lin_block *head, lin_block *p, uint32_t *n)
{
    if (p == head)
        return true;
    if (p->order < head->order)
        return false;
    lin_block *b = stands_for(l, p);
    if (l->mark[b->id] != head->order + 1) {
        l->mark[b->id] = head->order + 1;
        l->work[(*n)++] = b;
    }
    return true;
}

/* Finds the members; true: the header is the only way in. */
static bool find_members(loops *l, lin_block *head, uint32_t *n)
{
    bool closed = true;
    l->mark[head->id] = head->order + 1;
    *n = 0;
    for (uint32_t p = 0; p < head->npred; p++)
        add_member(l, head, head->pred[p], n);
    for (uint32_t k = 0; k < *n; k++) {
        lin_block *b = l->work[k];
        closed &= b->npred > 0 && !b->is_handler;
        for (uint32_t p = 0; p < b->npred; p++)
            closed &= add_member(l, head, b->pred[p], n);
    }
    return closed;
}

static void mark_loop(loops *l, lin_block *head)
{
    uint32_t n;
    bool closed = find_members(l, head, &n);
    head->loop_depth++;
    head->loop_head = head;
    head->loop_kills = head->has_kill;
    for (uint32_t k = 0; k < n; k++) {
        lin_block *b = l->work[k];
        head->loop_kills |= b->has_kill || (b->is_loop && b->loop_kills);
        if (!b->loop_head)
            b->loop_head = head;
        if (closed)
            l->whole[b->id] = l->parent[b->id] = head;
        else
            b->loop_depth++;
    }
}

static void find_loops(lin_function *f)
{
    loops l = {lin_scratch(f, f->nblocks, sizeof *l.mark),
               lin_scratch(f, f->nblocks, sizeof *l.whole),
               lin_scratch(f, f->nblocks, sizeof *l.parent),
               lin_scratch(f, f->nblocks + 1, sizeof *l.work)};
    for (uint32_t i = f->nrpo; i-- > 0;)
        if (f->rpo[i]->is_loop)
            mark_loop(&l, f->rpo[i]);
    for (uint32_t i = 0; i < f->nrpo; i++)
        if (l.parent[f->rpo[i]->id])
            f->rpo[i]->loop_depth += l.parent[f->rpo[i]->id]->loop_depth;
}

void lin_order(lin_function *f)
{
    uint8_t *state = lin_scratch(f, f->nblocks, 1);
    f->rpo = lin_alloc(f->arena, f->nblocks * sizeof *f->rpo);
    f->has_loops = false;
    visit_all(f, state);
    add_preds(f);
    f->nordered = f->nblocks;
    if (f->has_loops)
        find_loops(f);
}
