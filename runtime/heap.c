/* heap.c - allocation and sweeping of the major heap.
 *
 * Each domain allocates from pools of its own, one current pool per size
 * class, so that the fast path is a pop from a chain. After marking, pools
 * are swept when an allocation needs them: the pause stays proportional to
 * what is live. What is still unswept when the next cycle begins is swept then. */
#include "runtime/heap.h"

#include <stdlib.h>

#include "runtime/pages.h"

header fk_live_color = COLOR_A;

static uint16_t class_words[NUM_CLASSES];           /* whsize of each class */
static uint8_t class_of[MAX_POOL_WHSIZE + 1];

/* Exact classes up to 16 words, then steps of about an eighth: at most 1/8 of
 * a slot is lost. */
static void init_classes(void)
{
    unsigned words = 2, c = 0;
    while (words < MAX_POOL_WHSIZE && c < NUM_CLASSES - 1) {
        class_words[c++] = words;
        words += words < 16 ? 1 : words / 7;
    }
    class_words[c] = MAX_POOL_WHSIZE;
    for (unsigned w = 0, k = 0; w <= MAX_POOL_WHSIZE; w++) {
        if (w > class_words[k])
            k++;
        class_of[w] = k;
    }
}

void fk_heap_init(struct heap *h)
{
    if (!class_words[0])
        init_classes();
    memset(h, 0, sizeof *h);
}

/* --- lists of spans --------------------------------------------------------- */

static void list_push(struct span **list, struct span *s)
{
    s->prev = NULL;
    s->next = *list;
    if (*list)
        (*list)->prev = s;
    *list = s;
}

static void list_remove(struct span **list, struct span *s)
{
    *(s->prev ? &s->prev->next : list) = s->next;
    if (s->next)
        s->next->prev = s->prev;
}

/* --- pools -------------------------------------------------------------------- */

static size_t pool_slots(const struct span *s)
{
    return (s->pages << PAGE_SHIFT) / (s->slot_words * sizeof(value));
}

static value pool_slot(const struct span *s, size_t i)
{
    return (value)((value *)s->start + i * s->slot_words + 1);
}

static value chain_slot(const struct span *s, value slot, value chain)
{
    HD(slot) = make_header(s->slot_words - 1, TAG_ABSTRACT, COLOR_FREE);
    FIELD(slot, 0) = chain;
    return slot;
}

static struct span *pool_new(struct heap *h, unsigned size_class)
{
    struct span *s = fk_pages_alloc(POOL_PAGES);
    if (!s)
        return NULL;
    s->kind = SPAN_POOL;
    s->size_class = size_class;
    s->slot_words = class_words[size_class];
    s->owner = h;
    s->swept = true;
    for (size_t i = pool_slots(s); i-- > 0;)
        s->free = chain_slot(s, pool_slot(s, i), s->free);
    list_push(&h->pools[size_class], s);
    return s;
}

static void finalize_custom(value v)
{
    if (tag_of(v) == TAG_CUSTOM && CUSTOM_OPS(v)->finalize)
        CUSTOM_OPS(v)->finalize(v);
}

/* Rebuilds the chain of free slots, in address order. */
static void pool_sweep(struct span *s)
{
    value chain = 0;
    s->used = 0;
    for (size_t i = pool_slots(s); i-- > 0;) {
        value v = pool_slot(s, i);
        header color = hd_color(HD(v));
        if (color == fk_live_color) {
            s->used++;
            continue;
        }
        if (color != COLOR_FREE)
            finalize_custom(v);
        chain = chain_slot(s, v, chain);
    }
    s->free = chain;
    s->swept = true;
}

/* Sweeps one unswept pool of the class; NULL: none is left. Empty pools go
 * back to the page allocator unless `keep` asks for one. */
static struct span *sweep_one(struct heap *h, unsigned c, bool keep)
{
    struct span *s = h->unswept[c];
    if (!s)
        return NULL;
    list_remove(&h->unswept[c], s);
    pool_sweep(s);
    if (s->used == 0 && !keep) {
        fk_pages_free(s);
        return h->unswept[c] ? sweep_one(h, c, keep) : NULL;
    }
    list_push(&h->pools[c], s);
    return s;
}

/* The chain that the fast path consumes belongs to `current`; give it back
 * before the pool is looked at. */
static void retire_current(struct heap *h, unsigned c)
{
    if (h->current[c])
        h->current[c]->free = h->free[c];
    h->current[c] = NULL;
    h->free[c] = 0;
}

/* A pool of class c with a free slot becomes current. */
static bool refill(struct heap *h, unsigned c)
{
    struct span *s;
    retire_current(h, c);
    while ((s = sweep_one(h, c, true)) && !s->free)
        continue;
    if (!s && !(s = pool_new(h, c)))
        return false;
    h->current[c] = s;
    h->free[c] = s->free;
    s->free = 0;
    return true;
}

/* --- allocation ------------------------------------------------------------------ */

static value alloc_large(struct heap *h, uintptr_t wosize, unsigned tag)
{
    if (wosize > MAX_WOSIZE / sizeof(value))
        return 0;
    uintptr_t bytes = (wosize + 1) * sizeof(value);
    struct span *s = fk_pages_alloc((bytes + (1 << PAGE_SHIFT) - 1) >> PAGE_SHIFT);
    if (!s)
        return 0;
    s->kind = SPAN_LARGE;
    s->owner = h;
    s->swept = true;
    list_push(&h->large, s);
    value v = (value)((value *)s->start + 1);
    HD(v) = make_header(wosize, tag, fk_live_color);
    return v;
}

value fk_heap_alloc(struct heap *h, uintptr_t wosize, unsigned tag)
{
    heap_count(h, wosize + 1);
    if (wosize >= MAX_POOL_WHSIZE)
        return alloc_large(h, wosize, tag);
    unsigned c = class_of[wosize + 1];
    value v = h->free[c];
    if (!v) {
        if (!refill(h, c))
            return 0;
        v = h->free[c];
    }
    h->free[c] = FIELD(v, 0);
    HD(v) = make_header(wosize, tag, fk_live_color);
    return v;
}

/* --- sweeping ---------------------------------------------------------------------- */

void fk_heap_finish_sweep(struct heap *h)
{
    for (unsigned c = 0; c < NUM_CLASSES; c++)
        while (sweep_one(h, c, false))
            continue;
}

static void sweep_large(struct heap *h)
{
    for (struct span *s = h->large, *next; s; s = next) {
        next = s->next;
        value v = (value)((value *)s->start + 1);
        if (hd_color(HD(v)) == fk_live_color)
            continue;
        finalize_custom(v);
        list_remove(&h->large, s);
        fk_pages_free(s);
    }
}

void fk_heap_begin_sweep(struct heap *h)
{
    for (unsigned c = 0; c < NUM_CLASSES; c++) {
        retire_current(h, c);
        h->unswept[c] = h->pools[c];
        h->pools[c] = NULL;
        for (struct span *s = h->unswept[c]; s; s = s->next)
            s->swept = false;
    }
    sweep_large(h);
    atomic_store(&h->allocated_words, 0);
}

static void adopt_list(struct span **to, struct span **from, struct heap *owner)
{
    while (*from) {
        struct span *s = *from;
        list_remove(from, s);
        s->owner = owner;
        list_push(to, s);
    }
}

void fk_heap_adopt(struct heap *to, struct heap *from)
{
    for (unsigned c = 0; c < NUM_CLASSES; c++) {
        retire_current(from, c);
        /* Adopted pools with free slots are found again through `unswept`. */
        adopt_list(&to->unswept[c], &from->unswept[c], to);
        adopt_list(&to->pools[c], &from->pools[c], to);
    }
    adopt_list(&to->large, &from->large, to);
    heap_count(to, heap_counted(from));
    atomic_store(&from->allocated_words, 0);
}

/* --- compaction's view ----------------------------------------------------------------- */

size_t fk_pool_slots(const struct span *s) { return pool_slots(s); }
value fk_pool_slot(const struct span *s, size_t i) { return pool_slot(s, i); }

static int by_use(const void *a, const void *b)
{
    uint32_t x = (*(struct span *const *)a)->used, y = (*(struct span *const *)b)->used;
    return (x < y) - (x > y);
}

/* The pools of a list as an array, fullest first; NULL: none, or no memory. */
static struct span **sorted_pools(struct span *list, size_t *n, size_t *live)
{
    *n = *live = 0;
    for (struct span *s = list; s; s = s->next, ++*n)
        *live += s->used;
    struct span **a = *n ? malloc(*n * sizeof *a) : NULL;
    size_t i = 0;
    for (struct span *s = list; a && s; s = s->next)
        a[i++] = s;
    if (a)
        qsort(a, *n, sizeof *a, by_use);
    return a;
}

struct span *fk_heap_take_sparse(struct heap *h, unsigned c, bool all)
{
    size_t n, live, room = 0;
    retire_current(h, c);
    struct span **pools = sorted_pools(h->pools[c], &n, &live), *taken = NULL;
    for (size_t i = 0; pools && i < n; i++) {
        if (!all && room < live) {
            room += pool_slots(pools[i]);
            continue;
        }
        list_remove(&h->pools[c], pools[i]);
        list_push(&taken, pools[i]);
    }
    free(pools);
    /* What stays goes back to `unswept`: the allocator finds its free slots. */
    while (h->pools[c]) {
        struct span *s = h->pools[c];
        list_remove(&h->pools[c], s);
        list_push(&h->unswept[c], s);
    }
    return taken;
}

/* --- walking ------------------------------------------------------------------------- */

bool fk_heap_is_block(value v)
{
    if (v & (sizeof(value) - 1))
        return false;
    struct span *s = fk_span_of((void *)v);
    if (!s || s->kind == SPAN_FREE)
        return false;
    uintptr_t off = (uintptr_t)v - (uintptr_t)s->start;
    if (s->kind == SPAN_LARGE)
        return off == sizeof(value);
    if (off % (s->slot_words * sizeof(value)) != sizeof(value))
        return false;
    header hd = HD(v);
    return hd_color(hd) != COLOR_FREE && (s->swept || hd_color(hd) == fk_live_color);
}

static void each_in_pools(struct span *s, void (*each)(value, void *), void *arg)
{
    for (; s; s = s->next)
        for (size_t i = 0, n = pool_slots(s); i < n; i++)
            if (hd_color(HD(pool_slot(s, i))) == fk_live_color)
                each(pool_slot(s, i), arg);
}

void fk_heap_each(struct heap *h, void (*each)(value, void *), void *arg)
{
    for (unsigned c = 0; c < NUM_CLASSES; c++) {
        each_in_pools(h->pools[c], each, arg);
        each_in_pools(h->unswept[c], each, arg);
    }
    for (struct span *s = h->large; s; s = s->next)
        each((value)((value *)s->start + 1), arg);
}
