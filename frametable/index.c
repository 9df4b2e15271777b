/* index.c - return address -> descriptor: look-ups, and indexes that share parts (index.h). */
#include <stdlib.h>

#include "frametable/index.h"
#include "frametable/readers.h"

/* --- look-up ---------------------------------------------------------------------------------- */

/* How many of the FK_GROUP entries at e are below `want`: all are compared, no branch to guess. */
static inline uint32_t count_below(const fk_entry *e, fk_entry want)
{
    uint32_t n = 0;
#pragma GCC unroll 8
    for (int i = 0; i < FK_GROUP; i++)
        n += e[i] < want;
    return n;
}

/* First entry in [lo, hi) that is not below `want`, or hi. */
static uint32_t crowded(const fk_part *p, uint32_t lo, uint32_t hi, fk_entry want)
{
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->entries[mid] < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* First entry from key on, in the bucket of `addr`. Entries of later buckets are larger: the group
 * may reach into them. */
static inline const fk_entry *find_entry(const fk_part *p, uint64_t addr, uint32_t key)
{
    const uint32_t *dir = p->dir + ((addr - p->low) >> p->shift);
    fk_entry want = (fk_entry)key << 32;
    uint32_t lo = dir[0], n = dir[1] - lo;
    if (__builtin_expect(n > FK_GROUP, 0))
        return p->entries + crowded(p, lo, dir[1], want);
    return p->entries + lo + count_below(p->entries + lo, want);
}

/* The table of the entry of `addr` at `place`: no search, mostly. */
static inline uint32_t owner_of(const fk_part *p, uint64_t addr, uint32_t place)
{
    uint32_t t = p->owners[(addr - p->low) >> p->shift >> FK_OWNER_SHIFT];
    if (__builtin_expect(place - p->homes[t].start < p->homes[t].length, 1))
        return t;
    return fk_part_table(p, place);
}

static inline bool holds(const fk_view *v, uint64_t addr)
{
    return addr - v->part->low <= v->part->span && v->part->count > 0;
}

/* The first descriptor of `addr` in a table that is not dropped: its table and place. */
static inline const fk_home *find_in(const fk_view *v, const fk_entry *e, uint64_t addr,
                                     uint32_t *place)
{
    const fk_part *p = v->part;
    uint32_t key = (uint32_t)(addr - p->key_base);
    for (; e < p->entries + p->count && *e >> 32 == key; e++) {
        uint32_t n = owner_of(p, addr, (uint32_t)*e);
        *place = (uint32_t)*e;
        if (!v->dropped || !v->dropped[n])
            return &p->homes[n];
    }
    return NULL;
}

static inline bool read_at(const fk_part *p, const fk_home *h, uint32_t place, uint64_t addr,
                           fk_descr *out)
{
    const uint8_t *at = h->zero + place;
    out->table = h->table;
    out->index = FK_NO_ENTRY;
    out->address = p->place_base + place;
    fk_fault fault = p->common ? fk_read_common(at, h->end, out)
                               : h->table->gen->read(h->table, at, h->end, 0, out);
    out->retaddr = addr; /* O3 writes only the difference to its neighbour */
    return !fault;
}

static inline bool look_in(const fk_view *v, uint64_t addr, fk_descr *out)
{
    const fk_part *p = v->part;
    uint32_t key = (uint32_t)(addr - p->key_base), place;
    const fk_home *h = find_in(v, find_entry(p, addr, key), addr, &place);
    return h && read_at(p, h, place, addr, out);
}

fk_result fk_index_lookup(const fk_index *ix, uint64_t addr, fk_descr *out)
{
    for (size_t i = 0; i < ix->num_views; i++) {
        if (holds(&ix->views[i], addr) && look_in(&ix->views[i], addr, out))
            return FK_OK;
    }
    return FK_ABSENT;
}

/* --- many at once ------------------------------------------------------------------------------
 * Each step of a look-up waits for memory that the step before named. Done for a batch of
 * addresses one step at a time, the waits overlap. */
#define BATCH 32

typedef struct {
    const fk_view *view; /* NULL: leave it to fk_index_lookup */
    const fk_entry *e;
    const fk_home *home;
    uint32_t key, place;
} probe;

static const fk_view *only_view(const fk_index *ix, uint64_t addr)
{
    const fk_view *found = NULL;
    for (size_t i = 0; i < ix->num_views; i++) {
        if (!holds(&ix->views[i], addr))
            continue;
        if (found)
            return NULL;
        found = &ix->views[i];
    }
    return found;
}

static void start_probes(const fk_index *ix, const uint64_t *addr, size_t n, probe *b)
{
    for (size_t i = 0; i < n; i++) {
        b[i] = (probe){.view = only_view(ix, addr[i])};
        if (b[i].view) {
            const fk_part *p = b[i].view->part;
            b[i].key = (uint32_t)(addr[i] - p->key_base);
            __builtin_prefetch(p->dir + ((addr[i] - p->low) >> p->shift));
        }
    }
}

static void fetch_entries(const uint64_t *addr, size_t n, const probe *b)
{
    for (size_t i = 0; i < n; i++) {
        if (!b[i].view)
            continue;
        const fk_part *p = b[i].view->part;
        const fk_entry *e = p->entries + p->dir[(addr[i] - p->low) >> p->shift];
        __builtin_prefetch(e);
        __builtin_prefetch(e + FK_GROUP - 1);
    }
}

static void find_entries(const uint64_t *addr, size_t n, probe *b)
{
    for (size_t i = 0; i < n; i++) {
        if (!b[i].view)
            continue;
        const fk_part *p = b[i].view->part;
        b[i].home = find_in(b[i].view, find_entry(p, addr[i], b[i].key), addr[i], &b[i].place);
        if (b[i].home) {
            __builtin_prefetch(b[i].home->zero + b[i].place);
            __builtin_prefetch(b[i].home->zero + b[i].place + 32);
        }
    }
}

static size_t read_probes(const fk_index *ix, const uint64_t *addr, size_t n, const probe *b,
                          fk_descr *out)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        bool ok = b[i].view ? b[i].home && read_at(b[i].view->part, b[i].home, b[i].place,
                                                   addr[i], &out[i])
                            : fk_index_lookup(ix, addr[i], &out[i]) == FK_OK;
        if (!ok)
            out[i].table = NULL;
        found += ok;
    }
    return found;
}

size_t fk_index_find_many(const fk_index *ix, const uint64_t *addr, size_t n, fk_descr *out)
{
    size_t found = 0;
    probe b[BATCH];
    for (size_t done = 0; done < n; done += BATCH) {
        size_t k = n - done < BATCH ? n - done : BATCH;
        start_probes(ix, addr + done, k, b);
        fetch_entries(addr + done, k, b);
        find_entries(addr + done, k, b);
        found += read_probes(ix, addr + done, k, b, out + done);
    }
    return found;
}

uint64_t fk_descr_index(const fk_descr *d)
{
    fk_cursor c;
    fk_descr at;
    if (d->index != FK_NO_ENTRY)
        return d->index;
    fk_cursor_start(d->table, &c);
    while (fk_cursor_next(&c, &at, NULL) == FK_OK) {
        if (at.address == d->address)
            return at.index;
    }
    return FK_NO_ENTRY;
}

/* --- counting ----------------------------------------------------------------------------------- */

uint64_t fk_index_live(const fk_index *ix)
{
    uint64_t n = 0;
    for (size_t i = 0; i < ix->num_views; i++)
        n += ix->views[i].live;
    return n;
}

/* One part and nothing dropped, or parts that share no return address. */
static bool is_simple(const fk_index *ix)
{
    for (size_t i = 0; i < ix->num_views; i++) {
        const fk_part *p = ix->views[i].part;
        if (ix->views[i].live != p->count && p->duplicates)
            return false;
        for (size_t k = 0; k < i; k++) {
            const fk_part *q = ix->views[k].part;
            if (p->count && q->count &&
                (p->low - q->low <= q->span || q->low - p->low <= p->span))
                return false;
        }
    }
    return true;
}

/* Return addresses that look-ups in ix find in this view. */
static uint64_t count_found(const fk_index *ix, const fk_view *v)
{
    const fk_part *p = v->part;
    uint64_t n = 0;
    fk_descr d;
    for (uint64_t i = 0; i < p->count; i++) {
        const fk_table *t = p->tables[fk_part_table(p, (uint32_t)p->entries[i])];
        uint64_t addr = p->key_base + (p->entries[i] >> 32);
        n += fk_index_lookup(ix, addr, &d) == FK_OK && d.table == t &&
             d.address == p->place_base + (uint32_t)p->entries[i];
    }
    return n;
}

uint64_t fk_index_count(const fk_index *ix)
{
    uint64_t n = 0;
    bool simple = is_simple(ix);
    for (size_t i = 0; i < ix->num_views; i++) {
        const fk_view *v = &ix->views[i];
        if (!simple)
            n += count_found(ix, v);
        else
            n += v->live - (v->live ? v->part->duplicates : 0);
    }
    return n;
}

/* --- making ------------------------------------------------------------------------------------- */

/* An index in the making. */
typedef struct {
    fk_view *views;
    size_t num_views, room;
    fk_view *retired; /* their tables are wanted until the new parts hold them */
    size_t num_retired;
    const fk_table **tables; /* that new parts are to be made of */
    size_t num_tables;
    uint64_t num_descr; /* in them */
} maker;

static void free_views(fk_view *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fk_part_release(v[i].part);
        free(v[i].dropped);
    }
}

/* Number of the table in the part; -1: not there. */
static int64_t number_of(const fk_view *v, const fk_image *im, uint64_t address)
{
    const fk_part *p = v->part;
    uint64_t place = address - p->place_base;
    if (p->tables[0]->image != im || place > UINT32_MAX ||
        place > p->homes[p->num_tables - 1].start)
        return -1;
    uint32_t n = fk_part_table(p, (uint32_t)place);
    return p->homes[n].start == place && !(v->dropped && v->dropped[n]) ? (int64_t)n : -1;
}

const fk_table *fk_index_table(const fk_index *ix, const fk_image *im, uint64_t address)
{
    for (size_t i = 0; i < ix->num_views; i++) {
        int64_t n = number_of(&ix->views[i], im, address);
        if (n >= 0)
            return ix->views[i].part->tables[n];
    }
    return NULL;
}

static bool copy_view(const fk_view *from, fk_view *to)
{
    size_t n = from->part->num_tables;
    *to = (fk_view){.live = from->live};
    if (from->dropped) {
        to->dropped = malloc(n);
        if (!to->dropped)
            return false;
        memcpy(to->dropped, from->dropped, n);
    }
    to->part = fk_part_hold(from->part);
    return true;
}

static bool copy_views(maker *m, const fk_index *old)
{
    for (size_t i = 0; old && i < old->num_views; i++) {
        if (!copy_view(&old->views[i], &m->views[m->num_views]))
            return false;
        m->num_views++;
    }
    return true;
}

static bool drop_from(fk_view *v, const fk_table *t)
{
    int64_t n = number_of(v, t->image, t->address);
    if (n < 0)
        return true;
    if (!v->dropped)
        v->dropped = calloc(v->part->num_tables, 1);
    if (!v->dropped)
        return false;
    v->dropped[n] = 1;
    v->live -= v->part->tables[n]->num_good;
    return true;
}

static bool drop_tables(maker *m, const fk_table *const *drop, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < m->num_views; k++) {
            if (!drop_from(&m->views[k], drop[i]))
                return false;
        }
    }
    return true;
}

static size_t live_tables(const fk_view *v, const fk_table **to)
{
    size_t n = 0;
    for (uint32_t i = 0; i < v->part->num_tables; i++) {
        if (v->dropped && v->dropped[i])
            continue;
        if (to)
            to[n] = v->part->tables[i];
        n++;
    }
    return n;
}

/* --- which parts are made anew ---------------------------------------------------------------- */

/* Its live tables go into new parts instead. */
static bool retire(maker *m, size_t k)
{
    fk_view v = m->views[k];
    const fk_table **t = realloc(m->tables, (m->num_tables + v.part->num_tables + 1) * sizeof *t);
    if (!t)
        return false;
    m->tables = t;
    m->num_tables += live_tables(&v, t + m->num_tables);
    m->num_descr += v.live;
    memmove(m->views + k, m->views + k + 1, (--m->num_views - k) * sizeof v);
    m->retired[m->num_retired++] = v;
    return true;
}

/* Mostly marked; or not twice what is to be made: doubling sizes keep parts few, and every
 * descriptor is moved no more often than the logarithm of their number. */
static bool is_due(const maker *m, const fk_view *v)
{
    return 2 * v->live < v->part->count || (m->num_tables && v->live <= 2 * m->num_descr) ||
           live_tables(v, NULL) == 0;
}

static bool retire_due(maker *m)
{
    for (size_t k = m->num_views; k > 0; k--) {
        if (!is_due(m, &m->views[k - 1]))
            continue;
        if (!retire(m, k - 1))
            return false;
        k = m->num_views + 1; /* more is to be made now */
    }
    return true;
}

/* --- new parts --------------------------------------------------------------------------------- */

static bool is_known(const maker *m, const fk_table *t)
{
    for (size_t i = 0; i < m->num_views; i++) {
        if (number_of(&m->views[i], t->image, t->address) >= 0)
            return true;
    }
    return false;
}

static bool add_tables(maker *m, const fk_table *const *add, size_t n)
{
    m->tables = malloc((n + 1) * sizeof *m->tables);
    for (size_t i = 0; m->tables && i < n; i++) {
        if (is_known(m, add[i]))
            continue;
        m->tables[m->num_tables++] = add[i];
        m->num_descr += add[i]->num_good;
    }
    return m->tables != NULL;
}

/* Keeps the largest first; of equals the older. */
static bool add_view(maker *m, fk_part *p)
{
    if (m->num_views == m->room) {
        size_t room = 2 * m->room + 4;
        fk_view *v = realloc(m->views, room * sizeof *v);
        if (!v)
            return false;
        m->views = v;
        m->room = room;
    }
    size_t k = m->num_views++;
    for (; k > 0 && m->views[k - 1].live < p->count; k--)
        m->views[k] = m->views[k - 1];
    m->views[k] = (fk_view){.part = p, .live = p->count};
    return true;
}

static fk_result make_parts(maker *m, fk_error *err)
{
    while (m->num_tables) {
        fk_part *p;
        fk_result r = fk_part_make(m->tables, m->num_tables, &p, &m->num_tables, err);
        if (r)
            return r;
        if (!add_view(m, p)) {
            fk_part_release(p);
            return fk_fail_memory(err, NULL);
        }
    }
    return FK_OK;
}

static fk_result finish(maker *m, fk_index **out, fk_error *err)
{
    fk_index *ix = malloc(sizeof *ix + m->num_views * sizeof ix->views[0]);
    if (!ix)
        return fk_fail_memory(err, NULL);
    ix->num_views = m->num_views;
    memcpy(ix->views, m->views, m->num_views * sizeof ix->views[0]);
    m->num_views = 0;
    *out = ix;
    return FK_OK;
}

static bool prepare(maker *m, const fk_index *old, const fk_table *const *add, size_t num_add,
                    const fk_table *const *drop, size_t num_drop)
{
    m->room = old ? old->num_views + 1 : 1;
    m->views = malloc(m->room * sizeof *m->views);
    m->retired = malloc(m->room * sizeof *m->retired);
    return m->views && m->retired && copy_views(m, old) && drop_tables(m, drop, num_drop) &&
           add_tables(m, add, num_add) && retire_due(m);
}

fk_result fk_index_make(const fk_index *old, const fk_table *const *add, size_t num_add,
                        const fk_table *const *drop, size_t num_drop, fk_index **out,
                        fk_error *err)
{
    maker m = {0};
    fk_result r = FK_OK;
    *out = NULL;
    if (!prepare(&m, old, add, num_add, drop, num_drop))
        r = fk_fail_memory(err, NULL);
    if (!r)
        r = make_parts(&m, err);
    if (!r)
        r = finish(&m, out, err);
    free_views(m.views, m.num_views);
    free_views(m.retired, m.num_retired);
    free(m.views);
    free(m.retired);
    free(m.tables);
    return r;
}

void fk_index_free(fk_index *ix)
{
    if (!ix)
        return;
    free_views(ix->views, ix->num_views);
    free(ix);
}

fk_result fk_index_add(const fk_index *old, const fk_table *t, fk_index **out, fk_error *err)
{
    return fk_index_make(old, &t, 1, NULL, 0, out, err);
}

fk_result fk_index_remove(const fk_index *old, const fk_table *t, fk_index **out, fk_error *err)
{
    *out = NULL;
    if (!fk_index_table(old, t->image, t->address))
        return FK_ABSENT;
    return fk_index_make(old, NULL, 0, &t, 1, out, err);
}
