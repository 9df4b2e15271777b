/* index.c - return address -> descriptor.
 *
 *   dir[(addr - base) >> shift]        entries, by bucket, in it by key
 *   +---+---+---+---+                  +----+----+----+----+----+
 *   | 0 | 2 | 2 | 3 | ...   ------->   | e0 | e1 | e2 | e3 | .. |
 *   +---+---+---+---+                  +----+----+----+----+----+
 *
 * Return addresses are spread evenly over code, so that an equal division of it leaves one or two
 * entries to a bucket: a lookup touches one word of the directory and one entry, and neighbours in
 * code are neighbours in memory, which a hash would undo. Buckets that are crowded after all (a file
 * made to be) are searched by halving. Building is a counting sort, whose cost is the memory that it
 * writes: 36 bytes for a descriptor, 20 of which stay.
 *
 * Nothing changes after it is made: a changed index is a new one. Duplicate return addresses stay as
 * neighbours in table order; a lookup finds the first. */
#include <stdlib.h>

#include "frametable/index.h"

#define CROWDED 16
/* Addresses of one process are within 2^48; more is damage, and would make a huge directory. */
#define MOST_SPAN ((uint64_t)1 << 54)

/* --- collecting ----------------------------------------------------------------------------- */

typedef struct {
    uint64_t retaddr;
    uint32_t table, offset;
} raw_entry;

typedef struct {
    raw_entry *e;
    uint64_t n, low, high;
} heap;

static void collect(const fk_table *t, uint32_t number, heap *h)
{
    const uint8_t *p = t->bytes + t->word, *end = t->bytes + t->avail;
    fk_descr d = {.table = t, .address = t->address + t->word};
    uint64_t prev = 0;
    raw_entry *e = h->e + h->n;
    uint64_t low = h->low, high = h->high;
    for (d.index = 0; d.index < t->num_good; d.index++) {
        __builtin_prefetch((const void *)((uintptr_t)p + FK_PREFETCH));
        if (t->gen->read(t, p, end, prev, &d))
            break;
        prev = d.retaddr;
        *e++ = (raw_entry){prev, number, (uint32_t)(p - t->bytes)};
        low = prev < low ? prev : low;
        high = prev > high ? prev : high;
        p += d.size;
        d.address += d.size;
    }
    h->n += d.index;
    h->low = low;
    h->high = high;
}

static fk_result refuse(const char *why, fk_error *err)
{
    return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY, "%s", why);
}

/* Room for all descriptors of ix->tables; checks what 32 bits must hold. */
static fk_result make_heap(const fk_index *ix, heap *h, fk_error *err)
{
    uint64_t total = 0;
    *h = (heap){.low = UINT64_MAX};
    for (size_t i = 0; i < ix->num_tables; i++) {
        const fk_table *t = ix->tables[i];
        total += t->num_good;
        if (t->image && t->avail > UINT32_MAX)
            return refuse("an index holds tables of less than 4 GB", err);
    }
    if (total >= UINT32_MAX)
        return refuse("an index holds at most 4,294,967,294 descriptors", err);
    h->e = malloc((total + 1) * sizeof *h->e);
    return h->e ? FK_OK : fk_fail_memory(err, NULL);
}

/* --- sorting ------------------------------------------------------------------------------------ */

static inline uint64_t bucket_of(const fk_index *ix, uint64_t addr)
{
    return (addr - ix->base) >> ix->shift;
}

/* About as many buckets as entries. */
static fk_result make_directory(fk_index *ix, const heap *h, fk_error *err)
{
    uint64_t most = h->n < 8 ? 8 : h->n, span = h->n ? h->high - h->low : 0;
    if (span >= MOST_SPAN)
        return refuse("return addresses lie too far from each other for one process", err);
    ix->base = h->n ? h->low : 0;
    while (ix->shift < 32 && span >> ix->shift >= most)
        ix->shift++;
    ix->num_buckets = (span >> ix->shift) + 1;
    ix->dir = calloc(ix->num_buckets + 2, sizeof *ix->dir);
    ix->entries = malloc((h->n + 1) * sizeof *ix->entries);
    return ix->dir && ix->entries ? FK_OK : fk_fail_memory(err, NULL);
}

/* By key, then by place: the first of equals is the one that counts. */
static inline bool before(const fk_entry *a, const fk_entry *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    return a->table != b->table ? a->table < b->table : a->index < b->index;
}

static int compare(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

static void sort_bucket(fk_entry *e, size_t n)
{
    if (n > CROWDED) {
        qsort(e, n, sizeof *e, compare);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        fk_entry x = e[i];
        size_t j = i;
        for (; j > 0 && before(&x, &e[j - 1]); j--)
            e[j] = e[j - 1];
        e[j] = x;
    }
}

/* dir[k + 1] counts bucket k, then becomes where its next entry goes, then where it ends. */
static void distribute(fk_index *ix, const heap *h)
{
    uint32_t *next = ix->dir + 1, sum = 0, index = 0, last = UINT32_MAX;
    ix->count = h->n;
    for (uint64_t i = 0; i < h->n; i++)
        next[bucket_of(ix, h->e[i].retaddr)]++;
    for (uint64_t k = 0; k < ix->num_buckets; k++) {
        uint32_t n = next[k];
        next[k] = sum;
        sum += n;
    }
    for (uint64_t i = 0; i < h->n; i++) {
        const raw_entry *r = &h->e[i];
        index = r->table == last ? index + 1 : 0;
        last = r->table;
        ix->entries[next[bucket_of(ix, r->retaddr)]++] =
            (fk_entry){(uint32_t)(r->retaddr - ix->base), r->table, index, r->offset};
    }
}

static void sort_buckets(fk_index *ix)
{
    for (uint64_t k = 0; k < ix->num_buckets; k++) {
        fk_entry *e = ix->entries + ix->dir[k];
        size_t n = ix->dir[k + 1] - ix->dir[k];
        if (n < 2)
            continue;
        sort_bucket(e, n);
        for (size_t i = 1; i < n; i++)
            ix->duplicates += e[i].key == e[i - 1].key;
    }
}

static fk_result fill(fk_index *ix, fk_error *err)
{
    heap h;
    fk_result r = make_heap(ix, &h, err);
    if (r)
        return r;
    for (size_t i = 0; i < ix->num_tables; i++)
        collect(ix->tables[i], (uint32_t)i, &h);
    r = make_directory(ix, &h, err);
    if (!r) {
        distribute(ix, &h);
        sort_buckets(ix);
    }
    free(h.e);
    return r;
}

/* --- making --------------------------------------------------------------------------------------- */

static bool is_among(const fk_table *t, const fk_table *const *set, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (set[i] == t)
            return true;
    }
    return false;
}

/* The tables that stay, then the new ones. */
static fk_result make_tables(fk_index *ix, const fk_index *old, const fk_table *const *add,
                             size_t num_add, const fk_table *const *drop, size_t num_drop)
{
    size_t n = (old ? old->num_tables : 0) + num_add;
    ix->tables = malloc((n + 1) * sizeof *ix->tables);
    if (!ix->tables)
        return FK_SYSTEM;
    for (size_t i = 0; old && i < old->num_tables; i++) {
        if (!is_among(old->tables[i], drop, num_drop))
            ix->tables[ix->num_tables++] = old->tables[i];
    }
    for (size_t i = 0; i < num_add; i++)
        ix->tables[ix->num_tables++] = add[i];
    return FK_OK;
}

/* --- native owners --------------------------------------------------------------------------------- */

static fk_result share_natives(fk_index *ix, const fk_index *old, fk_natives *more)
{
    size_t n = old ? old->num_natives : 0;
    ix->natives = malloc((n + 1) * sizeof *ix->natives);
    if (!ix->natives)
        return FK_SYSTEM;
    for (size_t i = 0; i < n; i++) {
        __atomic_add_fetch(&old->natives[i]->refs, 1, __ATOMIC_RELAXED);
        ix->natives[ix->num_natives++] = old->natives[i];
    }
    if (more)
        ix->natives[ix->num_natives++] = more;
    return FK_OK;
}

static void release(fk_natives *g)
{
    if (__atomic_sub_fetch(&g->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(g);
}

void fk_index_free(fk_index *ix)
{
    if (!ix)
        return;
    for (size_t i = 0; i < ix->num_natives; i++)
        release(ix->natives[i]);
    free(ix->natives);
    free(ix->tables);
    free(ix->entries);
    free(ix->dir);
    free(ix);
}

fk_result fk_index_make(const fk_index *old, const fk_table *const *add, size_t num_add,
                        const fk_table *const *drop, size_t num_drop, fk_natives *natives,
                        fk_index **out, fk_error *err)
{
    fk_index *ix = calloc(1, sizeof *ix);
    fk_result r = FK_SYSTEM;
    *out = NULL;
    if (!ix || make_tables(ix, old, add, num_add, drop, num_drop))
        fk_fail_memory(err, NULL);
    else
        r = fill(ix, err);
    if (!r && share_natives(ix, old, natives))
        r = fk_fail_memory(err, NULL);
    if (r) {
        fk_index_free(ix);
        return r;
    }
    *out = ix;
    return FK_OK;
}

fk_result fk_index_add(const fk_index *old, const fk_table *t, fk_index **out, fk_error *err)
{
    return fk_index_make(old, &t, 1, NULL, 0, NULL, out, err);
}

fk_result fk_index_remove(const fk_index *old, const fk_table *t, fk_index **out, fk_error *err)
{
    *out = NULL;
    if (!is_among(t, old->tables, old->num_tables))
        return FK_ABSENT;
    return fk_index_make(old, NULL, 0, &t, 1, NULL, out, err);
}

/* --- lookup --------------------------------------------------------------------------------------------- */

uint64_t fk_index_count(const fk_index *ix)
{
    return ix->count - ix->duplicates;
}

/* The first entry in [lo, hi) whose key is not below `key`. */
static inline uint32_t lower_bound(const fk_index *ix, uint32_t lo, uint32_t hi, uint32_t key)
{
    while (hi - lo > CROWDED) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (ix->entries[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo < hi && ix->entries[lo].key < key)
        lo++;
    return lo;
}

fk_result fk_index_lookup(const fk_index *ix, uint64_t addr, fk_descr *out)
{
    uint64_t k = bucket_of(ix, addr);
    if (addr < ix->base || k >= ix->num_buckets)
        return FK_ABSENT;
    uint32_t key = (uint32_t)(addr - ix->base), end = ix->dir[k + 1];
    uint32_t i = lower_bound(ix, ix->dir[k], end, key);
    if (i == end || ix->entries[i].key != key)
        return FK_ABSENT;
    const fk_entry *e = &ix->entries[i];
    const fk_table *t = ix->tables[e->table];
    if (fk_descr_read(t, t->bytes + e->offset, e->index, 0, out))
        return FK_ABSENT;
    out->retaddr = addr; /* O3 writes only the difference to its neighbour */
    return FK_OK;
}
