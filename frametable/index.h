/* index.h - the inside of an index (index.c, index_part.c, index_native.c, index_image.c).
 *
 *   index (one per change, small)        parts (immutable, counted, shared by indexes)
 *   +----------------------------+       +-----------------------------------------+
 *   | part 0 (largest), dropped  | ----> | tables, directory, entries              |
 *   | part 1, dropped            | -.    +-----------------------------------------+
 *   +----------------------------+  '--> | ...                                     |
 *
 * Adding tables makes a part of them alone; it takes in parts that are not at least twice as
 * large, so that there are few. Removing one marks it in the new index; a part that is mostly
 * marked is made anew. */
#ifndef FK_FRAMETABLE_INDEX_H
#define FK_FRAMETABLE_INDEX_H

#include "frametable/internal.h"

/* Key in the high half, place in the low: entries are compared as numbers. Eight to a cache line:
 * what an index costs is mostly the memory that it touches. */
typedef uint64_t fk_entry;
/* Entries that a look-up compares at once; as many lie behind the last, all ones. */
#define FK_GROUP 8

/* Eight neighbours of a part's buckets: all that a look-up reads before the entries. Neighbours are
 * mostly of one module: that it owns them is right 99 times of 100. */
#define FK_BUNCH 8
#define FK_FAR 255
typedef struct {
    uint32_t first;         /* entry of the first bucket */
    uint32_t owner;         /* table of the first entry there, or behind */
    uint8_t from[FK_BUNCH]; /* first entry of each, counted from there; FK_FAR: that, or more */
} fk_bunch;

/* What a look-up needs of a table, in half a cache line. */
typedef struct {
    const fk_table *table;
    const uint8_t *zero; /* where the part's place 0 would be, were it in this table */
    const uint8_t *end;
    uint32_t start;      /* places of the table: [start, start + length) */
    uint32_t length;
} fk_home;

typedef struct {
    uint32_t refs;      /* atomic */
    uint64_t count;
    fk_entry *entries;  /* ascending: retaddr - key_base, address - place_base */
    fk_bunch *dir;      /* one more at the end */
    uint64_t num_buckets;
    uint64_t low, span; /* return addresses are in [low, low + span] */
    uint64_t key_base, place_base;
    unsigned shift;     /* a bucket is 2^shift addresses */
    unsigned page_shift;
    uint32_t last_page; /* where the last table starts */
    uint32_t *pages;    /* the last table that starts at or before the page; one more at the end */
    fk_home *homes;     /* of the tables, by address */
    const fk_table **tables; /* by address, all of one image or all native */
    bool common;        /* fk_read_common reads most descriptors */
    uint32_t num_tables;
} fk_part;

typedef struct {
    fk_part *part;
    uint8_t *dropped; /* by table, NULL: none */
    uint64_t live;    /* descriptors of tables that are not dropped */
} fk_view;

struct fk_index {
    const fk_part *quick; /* the largest one, where look-ups need little care; may be NULL */
    size_t num_views;
    fk_view views[]; /* the largest first */
};

/* A table of this process: an allocation that every part which holds it shares. */
typedef struct {
    uint32_t refs; /* atomic */
    fk_table table;
} fk_native;

/* --- index_part.c ----------------------------------------------------------- */

/* A part over some of tables[0..n), n > 0: those of the first one's image that it can reach. The
 * others are moved to the front, and *rest says how many they are. */
fk_result fk_part_make(const fk_table **tables, size_t n, fk_part **out, size_t *rest, fk_error *);
fk_part *fk_part_hold(fk_part *);
void fk_part_release(fk_part *);
void fk_native_release(fk_native *);

static inline const fk_bunch *fk_part_bunch(const fk_part *p, uint64_t addr)
{
    return &p->dir[(addr - p->low) >> p->shift >> 3];
}

/* No entry of the address lies before this one. */
static inline const fk_entry *fk_part_bucket(const fk_part *p, uint64_t addr)
{
    const fk_bunch *b = fk_part_bunch(p, addr);
    return p->entries + b->first + b->from[(addr - p->low) >> p->shift & (FK_BUNCH - 1)];
}

/* The table that holds the place. */
static inline uint32_t fk_part_table(const fk_part *p, uint32_t place)
{
    uint32_t k = place >> p->page_shift;
    const uint32_t *page = p->pages + (k < p->last_page ? k : p->last_page);
    uint32_t lo = page[0], hi = page[1];
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo + 1) / 2;
        if (p->homes[mid].start <= place)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Entries whose return address an earlier one has. */
uint64_t fk_part_duplicates(const fk_part *);

/* --- index.c ------------------------------------------------------------------ */

/* The tables of `old` (may be NULL) without those in `drop`, with those in `add`. */
fk_result fk_index_make(const fk_index *old, const fk_table *const *add, size_t num_add,
                        const fk_table *const *drop, size_t num_drop, fk_index **out, fk_error *);
uint64_t fk_index_live(const fk_index *ix); /* descriptors, duplicates too */
/* The table of `ix` at that address; NULL: none. */
const fk_table *fk_index_table(const fk_index *ix, const fk_image *, uint64_t address);

static inline fk_native *fk_native_of(const fk_table *t)
{
    return (fk_native *)((uintptr_t)t - offsetof(fk_native, table));
}

#endif
