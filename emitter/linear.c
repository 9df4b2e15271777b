/* linear.c - blocks and instructions: building, order, loops. */
#include <stdlib.h>
#include <string.h>

#include "emitter/linear.h"

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

/* --- memory: chunks that a reset keeps ---------------------------------------- */
enum { CHUNK = 1 << 18 };

typedef struct chunk {
    struct chunk *next;
    size_t room, used;    /* used: once it is no longer the current one */
    char data[];
} chunk;

struct lin_arena {
    chunk *first, *current;
    size_t used;
};

static chunk *new_chunk(size_t room)
{
    chunk *c = calloc(1, sizeof *c + room);
    if (!c)
        abort();
    c->room = room;
    return c;
}

struct lin_arena *lin_arena_new(void)
{
    struct lin_arena *a = malloc(sizeof *a);
    if (!a)
        abort();
    a->first = a->current = new_chunk(CHUNK);
    a->used = 0;
    return a;
}

void lin_arena_free(struct lin_arena *a)
{
    for (chunk *c = a->first, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

/* Memory is handed out zeroed: what was used is cleared here at once. */
void lin_arena_reset(struct lin_arena *a)
{
    for (chunk *c = a->first; c; c = c->next) {
        memset(c->data, 0, c == a->current ? a->used : c->used);
        if (c == a->current)
            break;
    }
    a->current = a->first;
    a->used = 0;
}

static void next_chunk(struct lin_arena *a, size_t n)
{
    chunk *c = a->current->next;
    a->current->used = a->used;
    if (!c || c->room < n) {
        chunk *fresh = new_chunk(n > CHUNK ? n : CHUNK);
        fresh->next = c;
        a->current->next = fresh;
        c = fresh;
    }
    a->current = c;
    a->used = 0;
}

void *lin_alloc(struct lin_arena *a, size_t n)
{
    n = (n + 7) & ~(size_t)7;
    if (a->current->room - a->used < n)
        next_chunk(a, n);
    void *p = a->current->data + a->used;
    a->used += n;
    return p;
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
    lin_insn *i = lin_alloc(f->arena, sizeof *i + (nres + nargs) * sizeof *i->ops);
    i->op = op;
    i->nres = nres;
    i->nargs = nargs;
    i->base = i->index = -1;
    i->scale = 1;
    i->ops = (lin_operand *)(i + 1);
    for (unsigned k = 0; k < nres + nargs; k++) {
        i->ops[k].place = LIN_NONE;
        i->ops[k].want = -1;
    }
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
    b->succ = lin_alloc(f->arena, n * sizeof *b->succ);
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

static void visit_all(lin_function *f, uint8_t *state)
{
    visit *stack = malloc((f->nblocks + 1) * sizeof *stack);
    if (!stack)
        abort();
    uint32_t n = f->nblocks, top = 0;
    stack[top++] = (visit){f->blocks[0], 0};
    state[0] = OPEN;
    while (top) {
        visit *v = &stack[top - 1];
        if (v->next == num_edges(v->b)) {
            state[v->b->id] = CLOSED;
            f->rpo[--n] = v->b;
            top--;
            continue;
        }
        lin_block *s = edge(v->b, v->next++);
        if (state[s->id] == OPEN)
            s->is_loop = true;
        else if (state[s->id] == UNSEEN) {
            state[s->id] = OPEN;
            stack[top++] = (visit){s, 0};
        }
    }
    free(stack);
    f->nrpo = f->nblocks - n;
    memmove(f->rpo, f->rpo + n, f->nrpo * sizeof *f->rpo);
}

static void add_preds(lin_function *f)
{
    for (uint32_t i = 0; i < f->nrpo; i++)
        f->rpo[i]->npred = 0;
    for (uint32_t i = 0; i < f->nrpo; i++)
        for (uint32_t k = 0; k < f->rpo[i]->nsucc; k++)
            f->rpo[i]->succ[k]->npred++;
    for (uint32_t i = 0; i < f->nrpo; i++) {
        lin_block *b = f->rpo[i];
        b->pred = lin_alloc(f->arena, b->npred * sizeof *b->pred);
        b->npred = 0;
    }
    for (uint32_t i = 0; i < f->nrpo; i++)
        for (uint32_t k = 0; k < f->rpo[i]->nsucc; k++) {
            lin_block *s = f->rpo[i]->succ[k];
            s->pred[s->npred++] = f->rpo[i];
        }
}

static bool block_kills(const lin_block *b)
{
    for (const lin_insn *i = b->first; i; i = i->next)
        if (lin_flags(i) & LIN_KILLS)
            return true;
    return false;
}

/* Members of a natural loop: walk back from its back edges to the header. `mark`
 * holds the number of the header that last saw a block, so nothing is cleared. */
static void mark_loop(lin_block *head, uint32_t *mark, lin_block **work)
{
    uint32_t n = 0, stamp = head->order + 1;
    mark[head->id] = stamp;
    head->loop_depth++;
    head->loop_head = head;
    head->loop_kills = head->has_kill;
    for (uint32_t p = 0; p < head->npred; p++)
        if (head->pred[p]->order >= head->order && mark[head->pred[p]->id] != stamp) {
            mark[head->pred[p]->id] = stamp;
            work[n++] = head->pred[p];
        }
    while (n) {
        lin_block *b = work[--n];
        b->loop_depth++;
        b->loop_head = head;
        head->loop_kills |= b->has_kill;
        for (uint32_t p = 0; p < b->npred; p++) {
            lin_block *q = b->pred[p];
            if (q->order > head->order && mark[q->id] != stamp) {
                mark[q->id] = stamp;
                work[n++] = q;
            }
        }
    }
}

static void find_loops(lin_function *f)
{
    uint32_t *mark = calloc(f->nblocks, sizeof *mark);
    lin_block **work = malloc((f->nblocks + 1) * sizeof *work);
    if (!mark || !work)
        abort();
    for (uint32_t i = 0; i < f->nrpo; i++)
        if (f->rpo[i]->is_loop)
            mark_loop(f->rpo[i], mark, work);
    free(mark);
    free(work);
}

void lin_order(lin_function *f)
{
    uint8_t *state = calloc(f->nblocks, 1);
    if (!state)
        abort();
    for (uint32_t i = 0; i < f->nblocks; i++) {
        f->blocks[i]->is_loop = false;
        f->blocks[i]->loop_depth = 0;
        f->blocks[i]->loop_head = NULL;
    }
    f->rpo = lin_alloc(f->arena, f->nblocks * sizeof *f->rpo);
    visit_all(f, state);
    free(state);
    for (uint32_t i = 0; i < f->nrpo; i++) {
        f->rpo[i]->order = i;
        f->rpo[i]->has_kill = block_kills(f->rpo[i]);
    }
    add_preds(f);
    find_loops(f);
}
