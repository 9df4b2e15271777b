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

/* A read of a vreg's slot, a definition of the vreg, or a store to its slot. */
typedef struct {
    lin_vreg v;
    uint32_t block, number;
    bool again;            /* definition: its block defines the vreg again */
    uint8_t res;           /* definition: which result */
    union {
        lin_insn *insn;    /* definition, store */
        lin_operand *operand; /* read; NULL: by a handler */
    } u;
} site;

/* In order of the blocks; once sorted by vreg, then by number, those of v are
 * at[start[v]] .. */
typedef struct {
    site *at;
    uint32_t n, room;
    uint32_t *start;
} sites;

typedef struct {
    lin_function *f;
    sites reads, defs, stores;
    uint32_t *last_def;    /* by vreg: its last definition so far, index in defs + 1 */
    lin_insn **safe;       /* instructions with roots */
    uint32_t nsafe, safe_room;
} spiller;

static void *grow_list(void *list, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return list;
    *room = *room ? 2 * *room : 64;
    list = realloc(list, *room * size);
    if (!list)
        abort();
    return list;
}

static site *add_site(sites *l, lin_vreg v, const lin_block *b, uint32_t number)
{
    l->at = grow_list(l->at, l->n, &l->room, sizeof *l->at);
    l->at[l->n] = (site){.v = v, .block = b->id, .number = number};
    return &l->at[l->n++];
}

static bool reads_slot(const lin_operand *o)
{
    return lin_is_slot(o->place);
}

static bool raises_here(const lin_block *b, const lin_insn *i)
{
    return b->handler && (lin_flags(i) & LIN_RAISES);
}

/* A definition of the vreg itself: not a reload, not a move between registers that
 * the allocator made. */
static bool defines(const lin_insn *i, lin_vreg v)
{
    return !(i->op == LIN_MOVE && i->ops[1].v == v);
}

/* --- collecting ----------------------------------------------------------------------
 * Numbers grow over the whole function, with room for the stores that may come between
 * two instructions: at most one for each register. */
enum { STEP = 128 };

/* Numbers are 32 bits. A test compiles this file with a smaller limit. */
#ifndef SPILL_MAX_NUMBER
#define SPILL_MAX_NUMBER UINT32_MAX
#endif

/* ninsns counts the instructions ever made, each block takes one number more. */
static bool numbers_fit(const lin_function *f)
{
    uint64_t most = SPILL_MAX_NUMBER / STEP - 2, n = (uint64_t)f->ninsns + f->nblocks;
    if (n <= most)
        return true;
    cmm_error(f->unit, f->source->pos,
              "function %s is too long: %lu instructions and blocks; the limit is %lu",
              f->source->name->text, (unsigned long)n, (unsigned long)most);
    return false;
}

static void collect_operands(spiller *s, lin_block *b, lin_insn *i)
{
    for (unsigned k = 0; k < i->nargs; k++)
        if (reads_slot(lin_arg(i, k))) {
            add_site(&s->reads, lin_arg(i, k)->v, b, i->number)->u.operand = lin_arg(i, k);
            b->uses_slots = true;
        }
    for (unsigned k = 0; k < i->nres; k++) {
        lin_vreg v = lin_res(i, k)->v;
        if (!s->f->v[v].in_slot || !defines(i, v))
            continue;
        uint32_t last = s->last_def[v];
        if (last && s->defs.at[last - 1].block == b->id)
            s->defs.at[last - 1].again = true;
        site *d = add_site(&s->defs, v, b, i->number);
        d->u.insn = i;
        d->res = (uint8_t)k;
        s->last_def[v] = s->defs.n;
    }
}

/* What the handler needs is read where its block may raise first and last. */
static void handler_reads(spiller *s, const lin_block *b, uint32_t first, uint32_t last)
{
    for (uint32_t k = 0; k < b->handler->nlive_in; k++) {
        lin_vreg v = b->handler->live_in[k];
        if (s->f->v[v].flags & LIN_V_REMAT)
            continue;
        add_site(&s->reads, v, b, first);
        if (last != first)
            add_site(&s->reads, v, b, last);
    }
}

static void collect_block(spiller *s, lin_block *b, uint32_t *n)
{
    uint32_t first_raise = 0, last_raise = 0;
    b->number_first = *n;
    for (lin_insn *i = b->first; i; i = i->next) {
        i->number = *n += STEP;
        unsigned flags = lin_flags(i);
        if (flags & (LIN_GC | LIN_RAISES))
            b->uses_slots = true;
        if (b->handler && flags & LIN_RAISES) {
            first_raise = first_raise ? first_raise : i->number;
            last_raise = i->number;
        }
        collect_operands(s, b, i);
    }
    b->number_last = *n += STEP;
    if (first_raise)
        handler_reads(s, b, first_raise, last_raise);
}

/* Handlers find all that they need in slots. */
static void mark_handlers(lin_function *f)
{
    for (uint32_t k = 0; k < f->nrpo; k++) {
        const lin_block *b = f->rpo[k];
        for (uint32_t j = 0; b->is_handler && j < b->nlive_in; j++)
            if (!(f->v[b->live_in[j]].flags & LIN_V_REMAT))
                f->v[b->live_in[j]].in_slot = true;
    }
}

static void collect(spiller *s)
{
    uint32_t n = 0;
    mark_handlers(s->f);
    s->last_def = lin_scratch(s->f, s->f->nv, sizeof *s->last_def);
    for (uint32_t k = 0; k < s->f->nrpo; k++)
        collect_block(s, s->f->rpo[k], &n);
}

/* --- sorting -------------------------------------------------------------------------
 * One vreg's sites come block by block; only the reads of a block's handler and stores that
 * sank are out of order. */
static void order_numbers(site *r, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++) {
        if (r[k - 1].number <= r[k].number)
            continue;
        site x = r[k];
        uint32_t j = k;
        for (; j > 0 && r[j - 1].number > x.number; j--)
            r[j] = r[j - 1];
        r[j] = x;
    }
}

/* By vreg (counted), then by number. */
static sites sorted(lin_function *f, const sites *l)
{
    uint32_t nv = f->nv, *start = lin_scratch(f, nv + 3, sizeof *start);
    sites to = {lin_scratch(f, l->n, sizeof *to.at), l->n, 0, start};
    for (uint32_t k = 0; k < l->n; k++)
        start[l->at[k].v + 2]++;
    for (lin_vreg v = 0; v <= nv; v++)
        start[v + 2] += start[v + 1];
    for (uint32_t k = 0; k < l->n; k++)
        to.at[start[l->at[k].v + 1]++] = l->at[k];
    for (lin_vreg v = 0; v < nv; v++)
        order_numbers(to.at + start[v], start[v + 1] - start[v]);
    return to;
}

static bool has_slot(const spiller *s, lin_vreg v)
{
    return s->reads.start[v] < s->reads.start[v + 1];
}

/* Number of the first read of v in block b after position n; 0: none. */
static uint32_t next_read(const spiller *s, lin_vreg v, const lin_block *b, uint32_t n)
{
    uint32_t lo = s->reads.start[v], hi = s->reads.start[v + 1];
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s->reads.at[mid].number <= n)
            lo = mid + 1;
        else
            hi = mid;
    }
    bool found = lo < s->reads.start[v + 1] && s->reads.at[lo].block == b->id;
    return found ? s->reads.at[lo].number : 0;
}

/* --- where slots are live ------------------------------------------------------------ */
/* Blocks where v is written (definitions or stores, in order), and those that read it
 * before: at all, or before the first write. */
static void add_events(spiller *s, const sites *writes, lin_vreg v, uint32_t *written,
                       lin_events *defs, lin_events *uses)
{
    for (uint32_t k = writes->start[v]; k < writes->start[v + 1]; k++) {
        const site *w = &writes->at[k];
        if (written[w->block] == v)
            continue;
        written[w->block] = v;
        lin_add_event(defs, v, w->block);
        const lin_block *b = s->f->blocks[w->block];
        uint32_t first = next_read(s, v, b, b->number_first);
        if (first && first <= w->number)
            lin_add_event(uses, v, w->block);
    }
    for (uint32_t k = s->reads.start[v], seen = UINT32_MAX; k < s->reads.start[v + 1]; k++) {
        uint32_t block = s->reads.at[k].block;
        if (written[block] != v && block != seen)
            lin_add_event(uses, v, block);
        seen = block;
    }
}

static void flow(spiller *s, const sites *writes)
{
    lin_function *f = s->f;
    lin_events defs, uses;
    uint32_t *written = lin_scratch(f, f->nblocks, sizeof *written); /* last v written there */
    lin_events_new(&defs, f);
    lin_events_new(&uses, f);
    for (uint32_t k = 0; k < f->nrpo; k++)
        f->rpo[k]->nslot_in = 0;
    for (lin_vreg v = 1; v < f->nv; v++)
        if (has_slot(s, v))
            add_events(s, writes, v, written, &defs, &uses);
    lin_flow_slots(f, &defs, &uses);
    lin_events_free(&defs);
    lin_events_free(&uses);
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

static bool stores(const lin_insn *i)
{
    return i->op == LIN_MOVE && lin_is_slot(i->ops[0].place);
}

/* Stores after the same instruction: the last one comes first. */
static void insert_store(spiller *s, lin_block *b, lin_insn *after, lin_vreg v, lin_place from)
{
    lin_insn *i = lin_new_insn(s->f, LIN_MOVE, 1, 1), *next = after ? after->next : b->first;
    *lin_res(i, 0) = (lin_operand){.v = v, .place = LIN_SLOT_BASE + (lin_place)v};
    *lin_arg(i, 0) = (lin_operand){.v = v, .place = from};
    i->dbg = after ? after->dbg : NULL;
    i->number = next && stores(next) ? next->number - 1
                                     : (after ? after->number : b->number_first) + STEP - 1;
    lin_insert_after(b, after, i);
    add_site(&s->stores, v, b, i->number)->u.insn = i;
    b->uses_slots = true;
}

static bool can_sink(const lin_block *b, const lin_block *to, lin_vreg v)
{
    return to->npred == 1 && to->loop_depth <= b->loop_depth && !to->is_handler &&
           to->handler == b->handler && entry_place(to, v) >= 0;
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
    for (uint32_t k = 0; k < s->defs.n; k++) {
        const site d = s->defs.at[k];
        lin_block *b = s->f->blocks[d.block];
        if (!has_slot(s, d.v))
            continue;
        if (!d.again)
            place_store(s, b, d.u.insn, d.v, lin_res(d.u.insn, d.res)->place);
        else if (next_read(s, d.v, b, d.number))
            insert_store(s, b, d.u.insn, d.v, lin_res(d.u.insn, d.res)->place);
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

static void note_safepoint(spiller *s, lin_insn *i)
{
    if (!i->nroots)
        return;
    s->safe = grow_list(s->safe, s->nsafe, &s->safe_room, sizeof(lin_insn *));
    s->safe[s->nsafe++] = i;
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
    for (lin_insn *i = b->uses_slots ? b->last : NULL; i; i = i->prev) {
        bool raises = raises_here(b, i);
        if (lin_flags(i) & (LIN_GC | LIN_RAISES)) {
            add_roots(s->f, i, live, raises ? b->handler : NULL);
            note_safepoint(s, i);
        }
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
    heap busy = {lin_scratch(f, n + 1, sizeof(uint64_t)), 0};
    heap spare = {lin_scratch(f, n + 1, sizeof(uint64_t)), 0};
    qsort(iv, n, sizeof *iv, by_start);
    for (uint32_t k = 0; k < n; k++) {
        while (busy.n && busy.key[0] >> 32 < iv[k].from)
            heap_push(&spare, heap_pop(&busy) & 0xffffffffu);
        uint32_t slot = spare.n ? (uint32_t)heap_pop(&spare) : f->nslots++;
        f->v[iv[k].v].slot = (lin_place)slot;
        heap_push(&busy, (uint64_t)iv[k].to << 32 | slot);
    }
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

static void rewrite_all(spiller *s)
{
    lin_function *f = s->f;
    for (uint32_t k = 0; k < s->reads.n; k++)
        if (s->reads.at[k].u.operand)
            rewrite(f, &s->reads.at[k].u.operand->place);
    for (uint32_t k = 0; k < s->stores.n; k++)
        rewrite(f, &lin_res(s->stores.at[k].u.insn, 0)->place);
    for (uint32_t k = 0; k < s->nsafe; k++) {
        lin_insn *i = s->safe[k];
        for (uint32_t r = 0; r < i->nroots; r++)
            rewrite(f, &i->roots[r].place);
        if (i->nroots > 1)
            qsort(i->roots, i->nroots, sizeof *i->roots, by_place);
    }
}

static void slots_and_roots(spiller *s)
{
    lin_function *f = s->f;
    interval *iv = lin_scratch(f, f->nv, sizeof *iv);
    vset live = {lin_scratch(f, f->nv, sizeof(lin_vreg)), 0,
                 lin_scratch(f, f->nv, sizeof(uint32_t))};
    for (uint32_t k = 0; k < f->nrpo; k++)
        scan_block(s, f->rpo[k], &live, iv);
    uint32_t n = 0;
    for (lin_vreg v = 1; v < f->nv; v++)
        if (iv[v].to)
            iv[n++] = iv[v];
    share_slots(f, iv, n);
    rewrite_all(s);
}

static void sort_sites(lin_function *f, sites *l)
{
    sites by_vreg = sorted(f, l);
    free(l->at);
    *l = by_vreg;
}

bool lin_spill(lin_function *f)
{
    if (!numbers_fit(f))
        return false;
    if (f->nblocks != f->nordered)
        lin_order(f); /* with the blocks on split edges */
    spiller s = {.f = f};
    collect(&s);
    if (s.reads.n) { /* or roots are in registers, if there are any, and in order */
        sites defs = sorted(f, &s.defs);
        sort_sites(f, &s.reads);
        flow(&s, &defs);
        place_stores(&s);
        sort_sites(f, &s.stores);
        flow(&s, &s.stores);
        slots_and_roots(&s);
    }
    free(s.defs.at);
    free(s.safe);
    return true;
}
