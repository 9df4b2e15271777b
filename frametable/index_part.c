/* index_part.c - makes a part of an index: tables of one image, sorted by return address.
 *
 *   dir: bunches of 8 buckets,         entries
 *   (addr - low) >> shift
 *   +---------------------+            +-----------+-----------+-----------+----
 *   | 0 owner 0 3 4 4 ... |  ------>   | key place | key place | key place | ...
 *   +---------------------+            +-----------+-----------+-----------+----
 *
 * Return addresses are spread evenly enough over code that in an equal division of it into as many
 * buckets as there are entries, one bucket of three hundred has more than the FK_GROUP that a
 * look-up compares at once: it touches one line of the directory, which is small, and one or two
 * lines of entries; neighbours in code stay neighbours in memory, which a hash would undo. A key
 * is the whole address less a base, so that nothing else must be read to know that it is there.
 *
 * Without a directory an entry could stand in the line of the cache that its address says: one wait
 * less, but calls come in clusters, one entry of six would overflow into the next line, and the
 * guess that it does not costs more than the directory of a program that fits the cache.
 *
 * Where a descriptor ends is known only once it has been read, which takes the processor longer
 * than all else: two tables are read side by side (fill_lanes). Linkers put tables and code in
 * the same order, and in a table addresses fall but for stubs at the end of functions: written
 * from behind, entries are nearly sorted where they stand, and every write is to the next line of
 * memory, however large the table. When that turns out wrong, they are sorted by digits. */
#include <stdlib.h>

#include "frametable/index.h"
#include "frametable/memory.h"
#include "frametable/readers.h"
#include "frametable/search.h"

/* Keys and places count from 2 GB below the first of them. */
#define HALF ((uint64_t)1 << 31)

/* --- memory ----------------------------------------------------------------------------------- */

static void *new_array(size_t n, size_t size)
{
    return fk_populate(malloc(n * size), n * size);
}

/* --- filling ---------------------------------------------------------------------------------- */

/* One table on its way into the entries. */
typedef struct {
    const uint8_t *p, *end;
    const uint8_t *far; /* live entries that end there or behind: for the careful reader */
    uintptr_t zero;    /* p - zero is the place of p */
    fk_entry *e;       /* falling entries go below it */
    fk_entry *side;    /* others go here; the two meet */
    fk_entry last;     /* of the falling */
    fk_entry *first;   /* where its entries begin */
    const fk_table *t;
    uint64_t prev;
} lane;

typedef struct {
    const fk_part *part;
    uint32_t next;     /* table */
    fk_entry *e;       /* where its entries begin */
    uint64_t used;     /* bits of keys and places: 32 must do */
    uint64_t moves;    /* that sorting by insertion may still take */
    fk_entry *spare;   /* room for the entries of the largest table */
    bool sorted;       /* each table, so far */
    bool bad;          /* a descriptor could not be read again */
} filler;

/* Moves of 8 bytes that sorting by insertion may take, for one entry on average. */
#define MOST_MOVES 4

static bool settle(fk_entry *e, uint64_t n, uint64_t *moves)
{
    for (uint64_t i = 1; i < n; i++) {
        fk_entry x = e[i];
        uint64_t k = i;
        for (; k > 0 && x < e[k - 1]; k--)
            e[k] = e[k - 1];
        e[k] = x;
        if (i - k > *moves)
            return false;
        *moves -= i - k;
    }
    return true;
}

/* Copies the rising runs of from[0..n), the last run first. */
static void copy_runs(const fk_entry *from, uint64_t n, fk_entry *to)
{
    for (uint64_t end = n, i = n; i > 0; i--) {
        if (i > 1 && from[i - 2] <= from[i - 1])
            continue;
        memcpy(to, from + i - 1, (end - i + 1) * sizeof *to);
        to += end - i + 1;
        end = i - 1;
    }
}

/* Merges a[0..na), which is nowhere else, with what lies at to + na up to `end`. */
static void merge(const fk_entry *a, uint64_t na, fk_entry *to, const fk_entry *end)
{
    const fk_entry *b = to + na, *last = a + na;
    while (a < last && b < end) {
        bool first = *a < *b;
        *to++ = first ? *a : *b;
        a += first;
        b += !first;
    }
    memcpy(to, a, (size_t)(last - a) * sizeof *to);
}

/* Sorts the entries of a table. Each function's addresses fall but for its stubs, which rise, and
 * lie behind it:
 *
 *    table       90 95 80 96 70 | 50 58 40 59      functions fall
 *    falling     40 50 70 80 90                    in order already
 *    aside       95 96 58 59                       rising runs: the last one first
 */
static bool sort_table(filler *f, lane *l)
{
    uint64_t aside = (uint64_t)(l->side - l->first);
    if (aside == 0)
        return true;
    copy_runs(l->first, aside, f->spare);
    if (!settle(f->spare, aside, &f->moves))
        return false;
    merge(f->spare, aside, l->first, l->first + l->t->num_good);
    return true;
}

/* An image's descriptors were measured when it was opened: only the byte behind the last need not
 * be there. Of other tables, the rest of a descriptor and the head of the next one must be. */
static const uint8_t *far_of(const fk_table *t)
{
    uint64_t margin = t->image ? 0 : FK_LONGEST_TAIL + FK_COMMON_HEAD;
    return t->avail > margin ? t->bytes + t->avail - margin : t->bytes;
}

static bool start_lane(filler *f, lane *l)
{
    while (f->next < f->part->num_tables) {
        const fk_table *t = f->part->tables[f->next++];
        if (t->num_good == 0)
            continue;
        *l = (lane){.t = t, .p = t->bytes + t->word, .end = t->bytes + t->avail, .far = far_of(t),
                    .first = f->e, .side = f->e, .e = f->e + t->num_good, .last = UINT64_MAX,
                    .zero = (uintptr_t)t->bytes - (t->address - f->part->place_base)};
        f->e = l->e;
        return true;
    }
    return false;
}

static inline void put(filler *f, lane *l, uint64_t retaddr)
{
    uint64_t key = retaddr - f->part->key_base;
    f->used |= key;
    fk_entry x = key << 32 | (uint32_t)((uintptr_t)l->p - l->zero);
    intptr_t falls = -(intptr_t)(x < l->last); /* -1 or 0, as good as random: no branch */
    l->e[-1] = *l->side = x;
    l->e += falls;
    l->side += 1 + falls;
    l->last = falls ? x : l->last;
}

/* What is left of a table of any generation. */
static void fill_slowly(filler *f, lane *l)
{
    fk_descr d = {.table = l->t};
    while (l->e > l->side) {
        __builtin_prefetch((const void *)((uintptr_t)l->p + FK_PREFETCH));
        d.address = f->part->place_base + ((uintptr_t)l->p - l->zero);
        if (l->p > l->end || l->t->gen->read(l->t, l->p, l->end, l->prev, &d)) {
            f->bad = true;
            return;
        }
        l->prev = d.retaddr;
        put(f, l, d.retaddr);
        l->p += d.size;
    }
}

/* B and C of a 64-bit machine, in memory as the readers want it. */
static bool is_common(const fk_table *t)
{
    return t->gen->read == fk_read_b && t->word == 8 && !t->swap &&
           ((t->address ^ (uint64_t)(uintptr_t)t->bytes) & 7) == 0;
}

/* Some of it can be read by step. */
static bool is_quick(const lane *l)
{
    return is_common(l->t) && l->p < l->far;
}

/* One descriptor of such a table; false: left to the careful reader. */
static inline __attribute__((always_inline)) bool step(filler *f, lane *l)
{
    fk_common s = fk_common_start(l->p);
    if (__builtin_expect(s.q >= l->far, 0))
        return false;
    put(f, l, fk_ld64(l->p, false));
    l->p = fk_common_next(s);
    return true;
}

#define LANES 2

static uint64_t left_of(const lane *l)
{
    return (uint64_t)(l->e - l->side);
}

static uint64_t least_left(const lane *l)
{
    uint64_t n = UINT64_MAX;
    for (int k = 0; k < LANES; k++)
        n = left_of(&l[k]) < n ? left_of(&l[k]) : n;
    return n;
}

/* Until one of them ends, or needs the careful reader: that one is finished. */
static void run_lanes(filler *f, lane *shared)
{
    lane l[LANES]; /* a copy that the compiler may keep in registers */
    filler g = *f;
    int stop = -1;
    memcpy(l, shared, sizeof l);
    for (uint64_t n = least_left(l); n > 0 && stop < 0; n--) {
#pragma GCC unroll 2
        for (int k = 0; k < LANES; k++) {
            if (__builtin_expect(!step(&g, &l[k]), 0))
                stop = k;
        }
    }
    memcpy(shared, l, sizeof l);
    f->used |= g.used;
    if (stop >= 0)
        fill_slowly(f, &shared[stop]);
}

static void finish_lane(filler *f, lane *l)
{
    if (is_quick(l)) {
        for (uint64_t n = left_of(l); n > 0 && step(f, l); n--)
            continue;
    }
    fill_slowly(f, l);
    f->used |= (uintptr_t)l->p - l->zero - 1;
    f->sorted = f->sorted && !f->bad && sort_table(f, l);
}

/* The next table that can run side by side; others are filled at once. */
static bool next_lane(filler *f, lane *l)
{
    while (start_lane(f, l)) {
        if (is_quick(l))
            return true;
        finish_lane(f, l);
    }
    return false;
}

static void fill_lanes(filler *f)
{
    lane l[LANES];
    int n = 0;
    while (n < LANES && next_lane(f, &l[n]))
        n++;
    while (n == LANES) {
        run_lanes(f, l);
        for (int k = 0; k < n; k++) {
            if (left_of(&l[k]) && !f->bad)
                continue;
            finish_lane(f, &l[k]);
            if (!next_lane(f, &l[k]))
                l[k--] = l[--n];
        }
    }
    for (int k = 0; k < n; k++)
        finish_lane(f, &l[k]);
}

/* --- sorting -------------------------------------------------------------------------------- */

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static void digit_pass(const fk_entry *from, fk_entry *to, uint64_t n, unsigned shift)
{
    uint64_t start[DIGITS] = {0}, sum = 0;
    for (uint64_t i = 0; i < n; i++)
        start[from[i] >> shift & (DIGITS - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        uint64_t count = start[d];
        start[d] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        to[start[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Any order; digits that are equal everywhere cost nothing. */
static bool sort_entries(fk_part *p)
{
    fk_entry *other = new_array(p->count + FK_GROUP, sizeof *other);
    uint64_t differ = 0;
    if (!other)
        return false;
    for (uint64_t i = 1; i < p->count; i++)
        differ |= p->entries[i] ^ p->entries[0];
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (!(differ >> shift & (DIGITS - 1)))
            continue;
        digit_pass(p->entries, other, p->count, shift);
        fk_entry *x = p->entries;
        p->entries = other;
        other = x;
    }
    free(other);
    return true;
}

/* --- directory -------------------------------------------------------------------------------- */

static inline uint32_t key_of(fk_entry e)
{
    return (uint32_t)(e >> 32);
}

static uint64_t num_bunches(const fk_part *p)
{
    return (p->num_buckets - 1) / FK_BUNCH + 1;
}

/* One or two buckets to an entry. */
static bool make_directory(fk_part *p)
{
    const fk_entry *e = p->entries;
    uint64_t most = p->count + 1, low = p->count ? key_of(e[0]) : 0;
    p->low = p->key_base + low;
    p->span = p->count ? key_of(e[p->count - 1]) - low : 0;
    for (p->shift = 0; p->span >> p->shift >= 2 * most; p->shift++)
        continue;
    p->num_buckets = (p->span >> p->shift) + 1;
    size_t size = (num_bunches(p) + 1) * sizeof *p->dir;
    p->dir = fk_populate(calloc(1, size), size);
    return p->dir != NULL;
}

/* Entries of each bucket; FK_FAR: that many, or more. */
static void count_buckets(fk_part *p)
{
    const fk_entry *e = p->entries, *end = e + p->count;
    uint32_t low = (uint32_t)(p->low - p->key_base);
    for (; e < end; e++) {
        uint32_t k = (key_of(*e) - low) >> p->shift;
        uint8_t *n = &p->dir[k / FK_BUNCH].from[k % FK_BUNCH];
        if (__builtin_expect(++*n == 0, 0))
            *n = FK_FAR;
    }
}

/* The first entry behind bucket k; none of `from` and later is before it. */
static uint64_t end_of(const fk_part *p, uint64_t k, uint64_t from)
{
    fk_entry end = (p->low - p->key_base + ((k + 1) << p->shift)) << 32;
    if (k + 1 >= p->num_buckets)
        return p->count;
    return from + fk_count_keys(p->entries + from, sizeof end, 0, p->count - from, end);
}

/* From counts to places; returns the first entry behind the bunch. */
static uint64_t place_carefully(const fk_part *p, uint64_t bunch, uint64_t first)
{
    uint8_t *from = p->dir[bunch].from;
    uint64_t at = first;
    for (unsigned i = 0; i < FK_BUNCH; i++) {
        uint8_t n = from[i];
        from[i] = (uint8_t)(at - first < FK_FAR ? at - first : FK_FAR);
        at = n < FK_FAR ? at + n : end_of(p, bunch * FK_BUNCH + i, at);
    }
    return at;
}

/* The same: in a product with ones, each byte is the sum of those up to it. */
static inline uint64_t place_bunch(const fk_part *p, uint64_t bunch, uint64_t first)
{
    const bool swap = fk_host_big_endian();
    uint8_t *from = p->dir[bunch].from;
    uint64_t counts = fk_ld64(from, swap), sums = counts * 0x0101010101010101;
    if (__builtin_expect(counts & 0xE0E0E0E0E0E0E0E0, 0)) /* 32 or more: sums may need 9 bits */
        return place_carefully(p, bunch, first);
    fk_st64(from, sums << 8, swap);
    return first + (sums >> 56);
}

static void fill_directory(fk_part *p)
{
    uint64_t at = 0, n = num_bunches(p);
    count_buckets(p);
    for (uint64_t i = 0; i < n; i++) {
        p->dir[i].first = (uint32_t)at;
        at = place_bunch(p, i, at);
    }
    p->dir[n].first = (uint32_t)at;
}

uint64_t fk_part_duplicates(const fk_part *p)
{
    uint64_t n = 0;
    for (uint64_t i = 1; i < p->count; i++)
        n += key_of(p->entries[i]) == key_of(p->entries[i - 1]);
    return n;
}

/* Each table is sorted: is all of it? */
static bool tables_follow(const fk_part *p)
{
    uint64_t i = 0;
    for (uint32_t k = 0; k < p->num_tables; k++) {
        if (i > 0 && p->tables[k]->num_good && p->entries[i] < p->entries[i - 1])
            return false;
        i += p->tables[k]->num_good;
    }
    return true;
}

static bool put_in_order(fk_part *p, bool sorted)
{
    if (!(sorted && tables_follow(p)) && !sort_entries(p))
        return false;
    if (!make_directory(p))
        return false;
    fill_directory(p);
    return true;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* About four pages to a table. */
static bool make_pages(fk_part *p)
{
    uint64_t last = p->homes[p->num_tables - 1].start, n;
    uint32_t t = 0;
    while (last >> p->page_shift >= 4 * (uint64_t)p->num_tables)
        p->page_shift++;
    p->last_page = (uint32_t)(last >> p->page_shift);
    n = (uint64_t)p->last_page + 1;
    p->pages = malloc((n + 1) * sizeof *p->pages);
    if (!p->pages)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        while (t + 1 < p->num_tables && p->homes[t + 1].start <= i << p->page_shift)
            t++;
        p->pages[i] = t;
    }
    p->pages[n] = p->num_tables - 1;
    return true;
}

static void make_owners(fk_part *p)
{
    uint32_t owner = 0;
    for (uint64_t i = 0; i < num_bunches(p) && p->dir[i].first < p->count; i++) {
        uint32_t place = (uint32_t)p->entries[p->dir[i].first];
        if (place - p->homes[owner].start >= p->homes[owner].length)
            owner = fk_part_table(p, place);
        p->dir[i].owner = owner;
    }
}

static uint32_t place_of(const fk_part *p, uint32_t n)
{
    return n < p->num_tables ? (uint32_t)(p->tables[n]->address - p->place_base) : UINT32_MAX;
}

/* Places count from the first table. */
static bool make_homes(fk_part *p)
{
    p->homes = malloc(p->num_tables * sizeof *p->homes);
    if (!p->homes)
        return false;
    p->common = true;
    for (uint32_t i = 0; i < p->num_tables; i++) {
        const fk_table *t = p->tables[i];
        uint32_t start = place_of(p, i);
        p->homes[i] = (fk_home){.table = t, .start = start, .length = place_of(p, i + 1) - start,
                                .zero = (const uint8_t *)((uintptr_t)t->bytes - start),
                                .end = t->bytes + t->avail};
        p->common = p->common && is_common(t);
    }
    if (!make_pages(p))
        return false;
    make_owners(p);
    return true;
}

static int by_address(const void *a, const void *b)
{
    const fk_table *x = *(const fk_table *const *)a, *y = *(const fk_table *const *)b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static bool is_sorted(const fk_table *const *t, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (t[i]->address < t[i - 1]->address)
            return false;
    }
    return true;
}

/* --- reach ------------------------------------------------------------------------------------ */

typedef struct {
    uint64_t low, high;
} range;

static range range_of(const fk_table *t)
{
    range r = {UINT64_MAX, 0};
    fk_descr d;
    fk_cursor c;
    fk_cursor_start(t, &c);
    while (fk_cursor_next(&c, &d, NULL) == FK_OK) {
        r.low = d.retaddr < r.low ? d.retaddr : r.low;
        r.high = d.retaddr > r.high ? d.retaddr : r.high;
    }
    return r;
}

/* Where keys count from: 2 GB below the first return address, or just the first table's lowest. */
static uint64_t key_base(const fk_table *const *tables, size_t n, bool exact)
{
    fk_descr d;
    size_t i = 0;
    while (i + 1 < n && tables[i]->num_good == 0)
        i++;
    const fk_table *t = tables[i];
    if (t->num_good == 0 || fk_descr_read(t, t->bytes + t->word, 0, 0, &d))
        return 0;
    return exact ? range_of(t).low : d.retaddr - HALF;
}

/* All places of t have 32 bits. How long a native table is, is not known: it is not 2 GB. */
static bool is_near(const fk_table *first, const fk_table *t)
{
    uint64_t end = t->address - first->address + (t->image ? t->avail : HALF);
    return t->image == first->image && end <= UINT32_MAX;
}

static bool has_keys(const fk_part *p, const fk_table *t)
{
    range r = range_of(t);
    return t->num_good == 0 ||
           ((r.low - p->key_base) >> 32 == 0 && (r.high - p->key_base) >> 32 == 0);
}

/* Takes the tables that are near the first one (their keys are looked at only when `exact`), and
 * moves the others to the front of `tables`; both stay in order. */
static void take_near(fk_part *p, const fk_table **tables, size_t n, bool exact, size_t *rest)
{
    const fk_table *first = tables[0];
    const fk_table *last = NULL;
    *rest = 0;
    for (size_t i = 0; i < n; i++) {
        const fk_table *t = tables[i];
        if (last && t->address == last->address && t->image == last->image)
            continue; /* given twice */
        last = t;
        if (is_near(first, t) && (!exact || has_keys(p, t)))
            p->tables[p->num_tables++] = t;
        else
            tables[(*rest)++] = t;
    }
}

static fk_result refuse(const char *why, fk_error *err)
{
    return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY, "%s", why);
}

/* --- making ----------------------------------------------------------------------------------- */

static fk_result count_all(fk_part *p, fk_error *err)
{
    for (uint32_t i = 0; i < p->num_tables; i++)
        p->count += p->tables[i]->num_good;
    if (p->count >= UINT32_MAX - FK_GROUP)
        return refuse("an index holds at most 4,294,967,286 descriptors", err);
    return FK_OK;
}

static uint64_t most_descr(const fk_part *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->num_tables; i++)
        n = p->tables[i]->num_good > n ? p->tables[i]->num_good : n;
    return n;
}

/* FK_ABSENT: some return address is too far. */
static fk_result fill(fk_part *p, fk_error *err)
{
    filler f = {.part = p, .moves = MOST_MOVES * p->count, .sorted = true};
    p->entries = new_array(p->count + FK_GROUP, sizeof *p->entries);
    if (!p->entries)
        return fk_fail_memory(err, NULL);
    f.e = p->entries;
    f.spare = malloc((most_descr(p) + 1) * sizeof *f.spare);
    if (!f.spare)
        return fk_fail_memory(err, NULL);
    fill_lanes(&f);
    free(f.spare);
    if (f.bad)
        return refuse("a table changed while its index was made", err);
    if (f.used >> 32)
        return FK_ABSENT;
    if (!put_in_order(p, f.sorted) || !make_homes(p))
        return fk_fail_memory(err, NULL);
    memset(p->entries + p->count, 0xFF, FK_GROUP * sizeof *p->entries);
    return FK_OK;
}

static fk_result try_part(fk_part *p, const fk_table **tables, size_t n, bool exact, size_t *rest,
                          fk_error *err)
{
    p->refs = 1;
    p->tables = malloc(n * sizeof *p->tables);
    if (!p->tables)
        return fk_fail_memory(err, NULL);
    p->key_base = key_base(tables, n, exact);
    take_near(p, tables, n, exact, rest);
    if (p->num_tables == 0)
        return refuse("a table, or the return addresses of one, span 4 GB or more", err);
    p->place_base = p->tables[0]->address;
    fk_result r = count_all(p, err);
    return r ? r : fill(p, err);
}

/* Natives live as long as a part that holds them. */
static void hold_natives(fk_part *p)
{
    for (uint32_t i = 0; i < p->num_tables; i++) {
        if (!p->tables[i]->image)
            __atomic_add_fetch(&fk_native_of(p->tables[i])->refs, 1, __ATOMIC_RELAXED);
    }
}

static void free_part(fk_part *p)
{
    free(p->entries);
    free(p->dir);
    free(p->pages);
    free(p->homes);
    free(p->tables);
    free(p);
}

/* One attempt; FK_ABSENT: not all keys have 32 bits, and all of `tables` is there again. */
static fk_result attempt(const fk_table **tables, size_t n, bool exact, fk_part **out, size_t *rest,
                         fk_error *err)
{
    fk_part *p = calloc(1, sizeof *p);
    if (!p)
        return fk_fail_memory(err, NULL);
    fk_result r = try_part(p, tables, n, exact, rest, err);
    if (r == FK_OK) {
        hold_natives(p);
        *out = p;
        return FK_OK;
    }
    if (r == FK_ABSENT)
        memcpy(tables + *rest, p->tables, p->num_tables * sizeof *tables);
    free_part(p);
    return r;
}

fk_result fk_part_make(const fk_table **tables, size_t n, fk_part **out, size_t *rest,
                       fk_error *err)
{
    if (!is_sorted(tables, n))
        qsort(tables, n, sizeof *tables, by_address);
    fk_result r = attempt(tables, n, false, out, rest, err);
    if (r != FK_ABSENT)
        return r;
    qsort(tables, n, sizeof *tables, by_address);
    r = attempt(tables, n, true, out, rest, err);
    return r == FK_ABSENT ? refuse("a table is longer than 2 GB", err) : r;
}

fk_part *fk_part_hold(fk_part *p)
{
    __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
    return p;
}

void fk_native_release(fk_native *n)
{
    if (__atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(n);
}

void fk_part_release(fk_part *p)
{
    if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    for (uint32_t i = 0; i < p->num_tables; i++) {
        if (!p->tables[i]->image)
            fk_native_release(fk_native_of(p->tables[i]));
    }
    free_part(p);
}
