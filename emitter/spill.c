/* spill.c - frame slots: which vregs need one, where they are stored, who shares.
 *
 * After allocation a slot is read by reloads, by instructions that take memory
 * operands, by the GC, and by exception handlers (all their live vregs are in
 * slots). From these reads:
 *
 *   1. flow back from reads to definitions: where the slot is live;
 *   2. place a store after each definition with a live slot, or further down when only
 *      some of the following paths read it (a recursive function's base case stores
 *      nothing);
 *   3. flow again from reads to stores: what the GC may look at, and who can share.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/target.h"

/* One read or definition of a vreg's slot, in block order. */
typedef struct {
    lin_vreg v;
    uint32_t block, number;
} slot_read;

typedef struct {
    lin_function *f;
    slot_read *reads;
    uint32_t nreads, room;
    uint32_t *start;       /* by vreg: its reads are reads[start[v]] .. */
    uint32_t *first_raise, *last_raise; /* by block, of blocks with a handler; 0: none */
} spiller;

static bool reads_slot(const lin_operand *o)
{
    return lin_is_slot(o->place);
}

static void add_read(spiller *s, lin_vreg v, uint32_t block, uint32_t number)
{
    if (s->nreads == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        s->reads = realloc(s->reads, s->room * sizeof *s->reads);
        if (!s->reads)
            abort();
    }
    s->reads[s->nreads++] = (slot_read){v, block, number};
}

static void number_block(lin_function *f, lin_block *b, uint32_t *n)
{
    (void)f;
    b->number_first = *n;
    for (lin_insn *i = b->first; i; i = i->next)
        i->number = ++*n;
    b->number_last = ++*n;
}

static bool raises_here(const lin_block *b, const lin_insn *i)
{
    return b->handler && (lin_flags(i) & LIN_RAISES);
}

static void find_raises(spiller *s, lin_block *b)
{
    for (lin_insn *i = b->first; i; i = i->next)
        if (raises_here(b, i)) {
            if (!s->first_raise[b->id])
                s->first_raise[b->id] = i->number;
            s->last_raise[b->id] = i->number;
        }
}

static void collect_reads(spiller *s)
{
    for (uint32_t k = 0; k < s->f->nrpo; k++) {
        lin_block *b = s->f->rpo[k];
        find_raises(s, b);
        for (lin_insn *i = b->first; i; i = i->next)
            for (unsigned a = 0; a < i->nargs; a++)
                if (reads_slot(lin_arg(i, a)))
                    add_read(s, lin_arg(i, a)->v, b->id, i->number);
        if (!s->first_raise[b->id])
            continue;
        for (uint32_t h = 0; h < b->handler->nlive_in; h++) {
            lin_vreg v = b->handler->live_in[h];
            if (s->f->v[v].flags & LIN_V_REMAT)
                continue;
            add_read(s, v, b->id, s->first_raise[b->id]);
            if (s->last_raise[b->id] != s->first_raise[b->id])
                add_read(s, v, b->id, s->last_raise[b->id]);
        }
    }
}

/* One vreg's reads come block by block; only those of a block's handler are out of order. */
static void order_numbers(slot_read *r, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++) {
        slot_read x = r[k];
        uint32_t j = k;
        for (; j > 0 && r[j - 1].number > x.number; j--)
            r[j] = r[j - 1];
        r[j] = x;
    }
}

/* By vreg (counted), then by number. */
static void sort_reads(spiller *s)
{
    uint32_t nv = s->f->nv, *start = calloc(nv + 3, sizeof *start);
    slot_read *sorted = malloc((s->nreads + 1) * sizeof *sorted);
    if (!start || !sorted)
        abort();
    for (uint32_t k = 0; k < s->nreads; k++)
        start[s->reads[k].v + 2]++;
    for (lin_vreg v = 0; v <= nv; v++)
        start[v + 2] += start[v + 1];
    for (uint32_t k = 0; k < s->nreads; k++)
        sorted[start[s->reads[k].v + 1]++] = s->reads[k];
    for (lin_vreg v = 0; v < nv; v++)
        order_numbers(sorted + start[v], start[v + 1] - start[v]);
    free(s->reads);
    s->reads = sorted;
    s->room = s->nreads + 1;
    s->start = start;
}

static bool has_slot(const spiller *s, lin_vreg v)
{
    return s->start[v] < s->start[v + 1];
}

/* Number of the first read of v in block b after position n; 0: none. */
static uint32_t next_read(const spiller *s, lin_vreg v, const lin_block *b, uint32_t n)
{
    uint32_t lo = s->start[v], hi = s->start[v + 1];
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s->reads[mid].number <= n)
            lo = mid + 1;
        else
            hi = mid;
    }
    bool found = lo < s->start[v + 1] && s->reads[lo].block == b->id;
    return found ? s->reads[lo].number : 0;
}

/* A definition of the vreg itself: not a reload, not a move between registers that
 * the allocator made. */
static bool defines(const lin_insn *i, lin_vreg v)
{
    if (i->op == LIN_MOVE && lin_arg((lin_insn *)(uintptr_t)i, 0)->v == v)
        return false;
    return true;
}

static bool stores(const lin_insn *i)
{
    return i->op == LIN_MOVE && i->nres == 1 && lin_is_slot(i->ops[0].place);
}

/* Events for lin_flow: reads before any definition; definitions or stores. */
static void flow(spiller *s, bool by_store)
{
    lin_events e = {0};
    uint32_t *defined = calloc(s->f->nv, sizeof *defined);
    if (!defined)
        abort();
    for (uint32_t k = 0; k < s->f->nrpo; k++) {
        lin_block *b = s->f->rpo[k];
        b->nslot_in = 0;
        for (lin_insn *i = b->first; i; i = i->next)
            for (unsigned r = 0; r < i->nres; r++) {
                lin_vreg v = lin_res(i, r)->v;
                if (!has_slot(s, v) || (by_store ? !stores(i) : !defines(i, v)) ||
                    defined[v] == b->id + 1)
                    continue;
                defined[v] = b->id + 1;
                lin_add_event(&e.defs, &e.ndefs, &e.defs_room, v, b->id);
                /* reads before this definition, in this block */
                uint32_t first = next_read(s, v, b, b->number_first);
                if (first && first <= i->number)
                    lin_add_event(&e.uses, &e.nuses, &e.uses_room, v, b->id);
            }
    }
    /* reads in blocks without a definition */
    lin_event *defs = e.defs;
    uint32_t ndefs = e.ndefs;
    uint32_t *block_of = calloc(s->f->nblocks, sizeof *block_of); /* last v defined there */
    uint32_t *head = calloc(s->f->nv + 1, sizeof *head), *next = malloc((ndefs + 1) * sizeof *next);
    if (!block_of || !head || !next)
        abort();
    for (uint32_t k = 0; k < ndefs; k++) {
        next[k] = head[defs[k].v];
        head[defs[k].v] = k + 1;
    }
    for (lin_vreg v = 1; v < s->f->nv; v++) {
        for (uint32_t k = head[v]; k; k = next[k - 1])
            block_of[defs[k - 1].block] = v;
        for (uint32_t r = s->start[v]; r < s->start[v + 1]; r++)
            if (block_of[s->reads[r].block] != v)
                lin_add_event(&e.uses, &e.nuses, &e.uses_room, v, s->reads[r].block);
    }
    free(block_of);
    free(head);
    free(next);
    free(defined);
    lin_flow(s->f, &e, LIN_SET_SLOT);
}

/* --- placing stores ------------------------------------------------------------------ */
static bool slot_live_in(const lin_block *b, lin_vreg v)
{
    uint32_t lo = 0, hi = b->nslot_in; /* sorted: filled in vreg order */
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (b->slot_in[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < b->nslot_in && b->slot_in[lo] == v;
}

static lin_place entry_place(const lin_block *b, lin_vreg v)
{
    for (uint32_t k = 0; k < b->nentry; k++)
        if (b->entry[k].v == v)
            return b->entry[k].place;
    return LIN_NONE;
}

static void insert_store(spiller *s, lin_block *b, lin_insn *after, lin_vreg v, lin_place from)
{
    lin_insn *i = lin_new_insn(s->f, LIN_MOVE, 1, 1);
    *lin_res(i, 0) = (lin_operand){.v = v, .place = LIN_SLOT_BASE + (lin_place)v};
    *lin_arg(i, 0) = (lin_operand){.v = v, .place = from};
    i->dbg = after ? after->dbg : NULL;
    i->number = after ? after->number : b->number_first;
    lin_insert_after(b, after, i);
}

static bool can_sink(const lin_block *b, const lin_block *to, lin_vreg v)
{
    return to->npred == 1 && to->loop_depth <= b->loop_depth && !to->is_handler &&
           to->handler == b->handler && entry_place(to, v) >= 0;
}

static bool redefined_after(const lin_insn *i, lin_vreg v)
{
    for (i = i->next; i; i = i->next)
        for (unsigned r = 0; r < i->nres; r++)
            if (i->ops[r].v == v && defines(i, v) && !stores(i))
                return true;
    return false;
}

/* The value is in `from` after instruction `at` (NULL: at the start) of b. */
static void place_store(spiller *s, lin_block *b, lin_insn *at, lin_vreg v, lin_place from)
{
    for (;;) {
        if (next_read(s, v, b, at ? at->number : b->number_first))
            break;
        uint32_t live = 0;
        bool sinks = true;
        for (uint32_t k = 0; k < b->nsucc; k++)
            if (slot_live_in(b->succ[k], v)) {
                live++;
                sinks &= can_sink(b, b->succ[k], v);
            }
        if (!live)
            return;
        if (!sinks || (live == b->nsucc && b->nsucc > 1))
            break;
        if (b->nsucc > 1) {
            for (uint32_t k = 0; k < b->nsucc; k++)
                if (slot_live_in(b->succ[k], v))
                    place_store(s, b->succ[k], NULL, v, entry_place(b->succ[k], v));
            return;
        }
        b = b->succ[0];
        at = NULL;
        from = entry_place(b, v);
    }
    insert_store(s, b, at, v, from);
}

static void place_stores(spiller *s)
{
    for (uint32_t k = 0; k < s->f->nrpo; k++) {
        lin_block *b = s->f->rpo[k];
        for (lin_insn *i = b->first, *next; i; i = next) {
            next = i->next;
            if (stores(i))
                continue;
            for (unsigned r = 0; r < i->nres; r++) {
                lin_operand *o = lin_res(i, r);
                if (!has_slot(s, o->v) || !defines(i, o->v) || s->f->v[o->v].flags & LIN_V_REMAT)
                    continue;
                bool dies_here = (s->f->v[o->v].flags & LIN_V_MULTI) && redefined_after(i, o->v);
                if (!dies_here)
                    place_store(s, b, i, o->v, o->place);
                else if (next_read(s, o->v, b, i->number))
                    insert_store(s, b, i, o->v, o->place);
            }
        }
    }
}

/* --- roots and sharing -------------------------------------------------------------------- */
typedef struct {
    lin_vreg *list;
    uint32_t n;
    uint32_t *at;       /* by vreg: position in the list + 1, valid when list[at - 1] == v */
} vset;

static bool in_set(const vset *s, lin_vreg v)
{
    return s->at[v] && s->at[v] <= s->n && s->list[s->at[v] - 1] == v;
}

static void set_add(vset *s, lin_vreg v)
{
    if (in_set(s, v))
        return;
    s->list[s->n++] = v;
    s->at[v] = s->n;
}

static void set_remove(vset *s, lin_vreg v)
{
    if (!in_set(s, v))
        return;
    lin_vreg last = s->list[--s->n];
    s->list[s->at[v] - 1] = last;
    s->at[last] = s->at[v];
    s->at[v] = 0;
}

typedef struct {
    lin_vreg v;
    uint32_t from, to;
} interval;

static void grow(interval *iv, lin_vreg v, uint32_t n)
{
    if (!iv[v].to)
        iv[v] = (interval){v, n, n};
    if (n < iv[v].from)
        iv[v].from = n;
    if (n > iv[v].to)
        iv[v].to = n;
}

static void add_roots(lin_function *f, lin_insn *i, const vset *live, const lin_block *handler)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < live->n; k++)
        n += f->v[live->list[k]].component == CMM_VAL;
    uint32_t extra = handler ? handler->nlive_in : 0;
    lin_root *roots = lin_alloc(f->arena, (i->nroots + n + extra + 1) * sizeof *roots);
    if (i->nroots)
        memcpy(roots, i->roots, i->nroots * sizeof *roots);
    i->roots = roots;
    for (uint32_t k = 0; k < live->n; k++) {
        lin_vreg v = live->list[k];
        if (f->v[v].component == CMM_VAL)
            i->roots[i->nroots++] = (lin_root){v, LIN_SLOT_BASE + (lin_place)v};
    }
    for (uint32_t k = 0; k < extra; k++) {
        lin_vreg v = handler->live_in[k];
        if (f->v[v].component == CMM_VAL && !in_set(live, v) && !(f->v[v].flags & LIN_V_REMAT))
            i->roots[i->nroots++] = (lin_root){v, LIN_SLOT_BASE + (lin_place)v};
    }
}

/* Backwards over one block, with the stores in place. */
static void scan_block(spiller *s, lin_block *b, vset *live, interval *iv)
{
    live->n = 0;
    for (uint32_t k = 0; k < b->nsucc; k++)
        for (uint32_t j = 0; j < b->succ[k]->nslot_in; j++) {
            set_add(live, b->succ[k]->slot_in[j]);
            grow(iv, b->succ[k]->slot_in[j], b->number_last);
        }
    for (lin_insn *i = b->last; i; i = i->prev) {
        bool raises = raises_here(b, i);
        if (lin_flags(i) & (LIN_GC | LIN_RAISES))
            add_roots(s->f, i, live, raises ? b->handler : NULL);
        if (stores(i)) {
            grow(iv, lin_res(i, 0)->v, i->number);
            set_remove(live, lin_res(i, 0)->v);
        }
        for (unsigned a = 0; a < i->nargs; a++)
            if (reads_slot(lin_arg(i, a))) {
                set_add(live, lin_arg(i, a)->v);
                grow(iv, lin_arg(i, a)->v, i->number);
            }
        for (uint32_t h = 0; raises && h < b->handler->nlive_in; h++) {
            lin_vreg v = b->handler->live_in[h];
            if (!has_slot(s, v))
                continue;
            set_add(live, v);
            grow(iv, v, i->number);
        }
    }
    for (uint32_t j = 0; j < b->nslot_in; j++)
        grow(iv, b->slot_in[j], b->number_first);
}

static int by_start(const void *x, const void *y)
{
    const interval *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->v < b->v ? -1 : 1;
}

/* Lowest slot that is free at the start of each interval: two heaps, of slots in use by
 * their end and of free slots by number. */
typedef struct {
    uint64_t *key;
    uint32_t n;
} heap;

static void heap_push(heap *h, uint64_t key)
{
    uint32_t k = h->n++;
    while (k && h->key[(k - 1) / 2] > key) {
        h->key[k] = h->key[(k - 1) / 2];
        k = (k - 1) / 2;
    }
    h->key[k] = key;
}

static uint64_t heap_pop(heap *h)
{
    uint64_t top = h->key[0], last = h->key[--h->n];
    uint32_t k = 0;
    for (;;) {
        uint32_t c = 2 * k + 1;
        if (c >= h->n)
            break;
        if (c + 1 < h->n && h->key[c + 1] < h->key[c])
            c++;
        if (h->key[c] >= last)
            break;
        h->key[k] = h->key[c];
        k = c;
    }
    h->key[k] = last;
    return top;
}

static void share_slots(lin_function *f, interval *iv, uint32_t n)
{
    heap busy = {malloc((n + 1) * sizeof(uint64_t)), 0},
         spare = {malloc((n + 1) * sizeof(uint64_t)), 0};
    if (!busy.key || !spare.key)
        abort();
    qsort(iv, n, sizeof *iv, by_start);
    for (uint32_t k = 0; k < n; k++) {
        while (busy.n && busy.key[0] >> 32 < iv[k].from)
            heap_push(&spare, heap_pop(&busy) & 0xffffffffu);
        uint32_t slot = spare.n ? (uint32_t)heap_pop(&spare) : f->nslots++;
        f->v[iv[k].v].slot = (lin_place)slot;
        heap_push(&busy, (uint64_t)iv[k].to << 32 | slot);
    }
    free(busy.key);
    free(spare.key);
}

static void rewrite(lin_function *f, lin_place *p)
{
    if (lin_is_slot(*p))
        *p = LIN_SLOT_BASE + f->v[*p - LIN_SLOT_BASE].slot;
}

static int by_place(const void *x, const void *y)
{
    const lin_root *a = x, *b = y;
    return a->place < b->place ? -1 : a->place > b->place;
}

static void rewrite_all(lin_function *f)
{
    for (uint32_t k = 0; k < f->nrpo; k++)
        for (lin_insn *i = f->rpo[k]->first; i; i = i->next) {
            for (unsigned o = 0; o < (unsigned)i->nres + i->nargs; o++)
                rewrite(f, &i->ops[o].place);
            for (uint32_t r = 0; r < i->nroots; r++)
                rewrite(f, &i->roots[r].place);
            if (i->nroots > 1)
                qsort(i->roots, i->nroots, sizeof *i->roots, by_place);
        }
}

static void slots_and_roots(spiller *s)
{
    lin_function *f = s->f;
    interval *iv = calloc(f->nv, sizeof *iv);
    vset live = {malloc(f->nv * sizeof(lin_vreg)), 0, calloc(f->nv, sizeof(uint32_t))};
    if (!iv || !live.list || !live.at)
        abort();
    for (uint32_t k = 0; k < f->nrpo; k++)
        scan_block(s, f->rpo[k], &live, iv);
    uint32_t n = 0;
    for (lin_vreg v = 1; v < f->nv; v++)
        if (iv[v].to)
            iv[n++] = iv[v];
    share_slots(f, iv, n);
    rewrite_all(f);
    free(iv);
    free(live.list);
    free(live.at);
}

void lin_spill(lin_function *f)
{
    lin_order(f); /* with the blocks on split edges */
    spiller s = {.f = f};
    s.first_raise = calloc(f->nblocks, sizeof *s.first_raise);
    s.last_raise = calloc(f->nblocks, sizeof *s.last_raise);
    if (!s.first_raise || !s.last_raise)
        abort();
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->nrpo; k++)
        number_block(f, f->rpo[k], &n);
    collect_reads(&s);
    sort_reads(&s);
    flow(&s, false);
    place_stores(&s);
    n = 0;
    for (uint32_t k = 0; k < f->nrpo; k++) /* reads keep their order: numbers only grow */
        number_block(f, f->rpo[k], &n);
    free(s.reads);
    free(s.start);
    memset(s.first_raise, 0, f->nblocks * sizeof *s.first_raise);
    s.reads = NULL;
    s.nreads = s.room = 0;
    collect_reads(&s);
    sort_reads(&s);
    flow(&s, true);
    slots_and_roots(&s);
    free(s.reads);
    free(s.start);
    free(s.first_raise);
    free(s.last_raise);
}
