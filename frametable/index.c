/* index.c - return address -> descriptor.
 *
 *   dir[(addr - base) >> shift]        entries, by bucket, in it by key
 *   +---+---+---+---+                  +----+----+----+----+----+
 *   | 0 | 2 | 2 | 3 | ...   ------->   | e0 | e1 | e2 | e3 | .. |
 *   +---+---+---+---+                  +----+----+----+----+----+
 *
 * Return addresses are spread evenly over code, so that an equal division of it leaves one or two
 * entries to a bucket: a lookup touches one word of the directory and one entry, and neighbours in
 * code are neighbours in memory, which a hash would undo. Buckets that are crowded after all (a
 * file made to be) are searched by halving.
 *
 * Building costs what it writes to memory. Linkers put tables and code in the same order, and in a
 * table addresses fall but for stubs at the end of functions: written from behind, entries are
 * nearly sorted where they stand (quick_fill). When that turns out wrong, a counting sort takes
 * over, with as much memory again.
 *
 * Nothing changes after it is made: a changed index is a new one. Duplicate return addresses stay
 * as neighbours in table order; a lookup finds the first. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frametable/index.h"

#define CROWDED 16
/* Addresses of one process are within 2^48; more is damage, and would make a huge directory. */
#define MOST_SPAN ((uint64_t)1 << 54)

/* Half of the time of a build would go to page faults, one for 4 KB: let the kernel map the pages
 * of a new array at once. Older kernels refuse; then they come one by one. */
static void *populate(void *p, size_t n)
{
#ifdef MADV_POPULATE_WRITE
    const int how = MADV_POPULATE_WRITE;
#else
    const int how = 23;
#endif
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1), to = ((uintptr_t)p + n) & ~(page - 1);
    if (p && n > 16 * page)
        (void)madvise((void *)from, to - from, how);
    return p;
}

static void *new_array(size_t n, size_t size)
{
    return populate(malloc(n * size), n * size);
}

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

/* How many descriptors there are; checks what 32 bits must hold. */
static fk_result count_all(const fk_index *ix, uint64_t *total, fk_error *err)
{
    *total = 0;
    for (size_t i = 0; i < ix->num_tables; i++) {
        const fk_table *t = ix->tables[i];
        *total += t->num_good;
        if (t->image && t->avail > UINT32_MAX)
            return refuse("an index holds tables of less than 4 GB", err);
    }
    if (*total >= UINT32_MAX)
        return refuse("an index holds at most 4,294,967,294 descriptors", err);
    return FK_OK;
}

/* --- sorting --------------------------------------------------------------------------- */

static inline uint64_t bucket_of(const fk_index *ix, uint64_t addr)
{
    return (addr - ix->base) >> ix->shift;
}

/* About as many buckets as entries. */
static fk_result make_directory(fk_index *ix, uint64_t low, uint64_t high, uint64_t n,
                                fk_error *err) {
    uint64_t most = n < 8 ? 8 : n, span = n ? high - low : 0;
    if (span >= MOST_SPAN)
        return refuse("return addresses lie too far from each other for one process", err);
    ix->base = n ? low : 0;
    ix->count = n;
    while (ix->shift < 32 && span >> ix->shift >= most)
        ix->shift++;
    ix->num_buckets = (span >> ix->shift) + 1;
    ix->dir = calloc(ix->num_buckets + 2, sizeof *ix->dir);
    return ix->dir ? FK_OK : fk_fail_memory(err, NULL);
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

/* dir[k] counts bucket k, then becomes where it ends, then, as entries go in from behind, where it
 * starts. Compilers leave falling addresses: filled like this, nearly every bucket is in order. */
static void distribute(fk_index *ix, const heap *h)
{
    uint32_t *next = ix->dir, sum = 0, index = 0, last = UINT32_MAX;
    ix->key_base = ix->base;
    for (uint64_t i = 0; i < h->n; i++)
        next[bucket_of(ix, h->e[i].retaddr)]++;
    for (uint64_t k = 0; k <= ix->num_buckets; k++)
        next[k] = sum += next[k];
    for (uint64_t i = 0; i < h->n; i++) {
        const raw_entry *r = &h->e[i];
        index = r->table == last ? index + 1 : 0;
        last = r->table;
        ix->entries[--next[bucket_of(ix, r->retaddr)]] =
            (fk_entry){(uint32_t)(r->retaddr - ix->key_base), r->table, index, r->offset};
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

/* Any order, by counting. */
static fk_result slow_fill(fk_index *ix, uint64_t total, fk_error *err)
{
    heap h = {.low = UINT64_MAX, .e = new_array(total + 1, sizeof *h.e)};
    if (!h.e)
        return fk_fail_memory(err, NULL);
    for (size_t i = 0; i < ix->num_tables; i++)
        collect(ix->tables[i], (uint32_t)i, &h);
    fk_result r = make_directory(ix, h.low, h.high, h.n, err);
    if (!r) {
        distribute(ix, &h);
        sort_buckets(ix);
    }
    free(h.e);
    return r;
}

/* --- the order that linkers leave ------------------------------------------------------ */

/* Moves of 16 bytes that sorting in place may take, for one entry on average. */
#define MOST_MOVES 8

/* Some writers (and O3 always) list rising addresses: those now fall. */
static void turn(fk_entry *e, uint64_t n)
{
    if (n < 2 || before(&e[0], &e[n - 1]))
        return;
    for (uint64_t i = 0; i < n / 2; i++) {
        fk_entry x = e[i];
        e[i] = e[n - 1 - i];
        e[n - 1 - i] = x;
    }
}

/* Sorts e[0..n), nearly sorted; false: it was not. */
static bool settle(fk_entry *e, uint64_t n, uint64_t *moves)
{
    turn(e, n);
    for (uint64_t i = 1; i < n; i++) {
        fk_entry x = e[i];
        uint64_t k = i;
        for (; k > 0 && before(&x, &e[k - 1]); k--)
            e[k] = e[k - 1];
        if (i - k > *moves)
            return false;
        *moves -= i - k;
        e[k] = x;
    }
    return true;
}

/* The entries of t, last descriptor first; false: an address is not in the 4 GB from key_base. */
static bool fill_table(const fk_table *t, uint32_t number, uint64_t key_base, fk_entry *e)
{
    const uint8_t *p = t->bytes + t->word, *end = t->bytes + t->avail;
    fk_descr d = {.table = t, .address = t->address + t->word};
    uint64_t prev = 0, n = t->num_good;
    for (d.index = 0; d.index < n; d.index++) {
        __builtin_prefetch((const void *)((uintptr_t)p + FK_PREFETCH));
        if (t->gen->read(t, p, end, prev, &d) || (d.retaddr - key_base) >> 32)
            return false;
        prev = d.retaddr;
        e[n - 1 - d.index] = (fk_entry){(uint32_t)(prev - key_base), number, (uint32_t)d.index,
                                        (uint32_t)(p - t->bytes)};
        p += d.size;
        d.address += d.size;
    }
    return true;
}

/* The 4 GB that the first return address lies in. */
static uint64_t first_window(const fk_index *ix)
{
    fk_descr d;
    for (size_t i = 0; i < ix->num_tables; i++) {
        const fk_table *t = ix->tables[i];
        if (t->num_good && !fk_descr_read(t, t->bytes + t->word, 0, 0, &d))
            return d.retaddr & ~(uint64_t)UINT32_MAX;
    }
    return 0;
}

/* All entries in order, or false. */
static bool fill_in_order(fk_index *ix, uint64_t total)
{
    fk_entry *e = ix->entries;
    uint64_t n = 0, moves = MOST_MOVES * total;
    ix->key_base = first_window(ix);
    for (size_t i = 0; i < ix->num_tables; i++) {
        uint64_t more = ix->tables[i]->num_good;
        if (!fill_table(ix->tables[i], (uint32_t)i, ix->key_base, e + n) ||
            !settle(e + n, more, &moves))
            return false;
        if (n && more && before(&e[n], &e[n - 1]))
            return false;
        n += more;
    }
    return true;
}

/* dir[k]: the first entry at or behind the start of bucket k. */
static void index_in_order(fk_index *ix)
{
    const fk_entry *e = ix->entries;
    uint64_t k = 0;
    for (uint64_t i = 0; i < ix->count; i++) {
        uint64_t b = bucket_of(ix, ix->key_base + e[i].key);
        while (k <= b)
            ix->dir[k++] = (uint32_t)i;
        ix->duplicates += i && e[i].key == e[i - 1].key;
    }
    while (k <= ix->num_buckets)
        ix->dir[k++] = (uint32_t)ix->count;
}

/* FK_ABSENT: the entries are not in that order. */
static fk_result quick_fill(fk_index *ix, uint64_t total, fk_error *err)
{
    if (total == 0 || !fill_in_order(ix, total))
        return FK_ABSENT;
    fk_result r = make_directory(ix, ix->key_base + ix->entries[0].key,
                                 ix->key_base + ix->entries[total - 1].key, total, err);
    if (!r)
        index_in_order(ix);
    return r;
}

static fk_result fill(fk_index *ix, fk_error *err)
{
    uint64_t total;
    fk_result r = count_all(ix, &total, err);
    if (r)
        return r;
    ix->entries = new_array(total + 1, sizeof *ix->entries);
    if (!ix->entries)
        return fk_fail_memory(err, NULL);
    r = quick_fill(ix, total, err);
    return r == FK_ABSENT ? slow_fill(ix, total, err) : r;
}

/* --- making ---------------------------------------------------------------------------- */

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

/* --- native owners --------------------------------------------------------------------- */

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

/* --- lookup ---------------------------------------------------------------------------- */

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
    uint32_t key = (uint32_t)(addr - ix->key_base), end = ix->dir[k + 1];
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
