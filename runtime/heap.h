/* heap.h - the major heap: pools of equal slots, and large blocks.
 *
 *   chunk  4 MiB, aligned: found from any address in two table steps
 *   page   4 KiB of a chunk
 *   span   a run of pages: a pool of one size class, or one large block
 *
 *   chunk:  | page 0..k: descriptor | span | span | free run | span ... |
 *   pool:   | slot | slot | slot ... |   slot = header + wosize words
 *
 * Free slots have colour FREE and are chained through field 0. */
#ifndef FK_RT_HEAP_H
#define FK_RT_HEAP_H

#include "runtime/value.h"

#define PAGE_SHIFT 12
#define CHUNK_SHIFT 22
#define CHUNK_SIZE ((size_t)1 << CHUNK_SHIFT)
#define CHUNK_PAGES (CHUNK_SIZE >> PAGE_SHIFT)
#define POOL_PAGES 8
#define NUM_CLASSES 40
#define MAX_POOL_WHSIZE 513 /* words with header: larger blocks get a span of their own */

enum span_kind { SPAN_NONE, SPAN_FREE, SPAN_POOL, SPAN_LARGE };

struct span {
    struct span *next, *prev;  /* in the list of its owner */
    char *start;
    size_t pages;
    uint8_t kind, size_class;
    bool swept;
    uint32_t slot_words;       /* whsize of a pool's slots */
    uint32_t used;             /* live slots after the last sweep */
    value free;                /* chain of free slots */
    struct heap *owner;
};

struct heap {
    value free[NUM_CLASSES];           /* free slots of the current pool */
    struct span *current[NUM_CLASSES];
    struct span *pools[NUM_CLASSES];   /* swept pools, the current one included */
    struct span *unswept[NUM_CLASSES];
    struct span *large;
    _Atomic uintptr_t allocated_words; /* since the cycle began; others may read it at any time */
};

extern header fk_live_color; /* colour of live blocks; the other one is garbage */

/* By the heap's owner alone: no locked instruction. */
static inline void heap_count(struct heap *h, uintptr_t words)
{
    uintptr_t n = atomic_load_explicit(&h->allocated_words, memory_order_relaxed);
    atomic_store_explicit(&h->allocated_words, n + words, memory_order_relaxed);
}
static inline uintptr_t heap_counted(struct heap *h)
{
    return atomic_load_explicit(&h->allocated_words, memory_order_relaxed);
}

/* Address of a new block's field 0, header written; fields are not. NULL: no memory. */
value fk_heap_alloc(struct heap *, uintptr_t wosize, unsigned tag);
void fk_heap_adopt(struct heap *to, struct heap *from);
void fk_heap_init(struct heap *);

/* Span that covers an address; NULL: not in the major heap. */
struct span *fk_span_of(const void *);
/* Is `v` the address of field 0 of an allocated block of the major heap? */
bool fk_heap_is_block(value v);

/* Inside STW, in this order: */
void fk_heap_finish_sweep(struct heap *);
void fk_heap_begin_sweep(struct heap *); /* after marking: everything is unswept */

/* Calls each(v, arg) for every allocated block of a swept heap. */
void fk_heap_each(struct heap *, void (*each)(value, void *), void *arg);

uintptr_t fk_heap_words(void); /* memory taken from the system */

/* For compact.c; inside STW, everything swept. */
size_t fk_pool_slots(const struct span *);
value fk_pool_slot(const struct span *, size_t i);
/* Detaches the pools of class c that are to be emptied: the sparsest ones, so
 * that the others just hold what is live; with `all`, every pool. */
struct span *fk_heap_take_sparse(struct heap *, unsigned c, bool all);

#endif
