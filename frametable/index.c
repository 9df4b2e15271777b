/* index.c - return address -> descriptor: look-ups, and indexes that share parts (index.h). */
#include <stdlib.h>

#include "frametable/index.h"
#include "frametable/readers.h"
#include "frametable/search.h"

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

static inline bool is_home(const fk_home *h, uint32_t place)
{
    return place - h->start < h->length;
}

static inline bool holds(const fk_part *p, uint64_t addr)
{
    return addr - p->low <= p->span;
}

/* The first descriptor of `addr` in a table that is not dropped: its table and place. */
static __attribute__((noinline)) const fk_home *find_carefully(const fk_view *v, uint64_t addr,
                                                               uint32_t *place)
{
    const fk_part *p = v->part;
    uint32_t key = (uint32_t)(addr - p->key_base);
    const fk_entry *e = fk_part_bucket(p, addr);
    const fk_entry *end = p->entries + fk_part_bunch(p, addr)[1].first;
    e += fk_count_keys(e, sizeof *e, 0, (size_t)(end - e), (fk_entry)key << 32);
    for (; e < p->entries + p->count && *e >> 32 == key; e++) {
        uint32_t n = fk_part_table(p, *place = (uint32_t)*e);
        if (!v->dropped || !v->dropped[n])
            return &p->homes[n];
    }
    return NULL;
}

/* The same of a part with nothing dropped, without a branch that is hard to guess; NULL: one
 * look-up of hundred must be done with care. What a look-up takes is mostly waiting for memory, and
 * for how many the processor waits at once depends on how few instructions each has. Entries of
 * later buckets are larger: the group may reach into them. The table is a guess that needs no
 * search. */
static inline const fk_home *find_quickly(const fk_part *p, uint64_t addr, uint32_t *place)
{
    uint32_t key = (uint32_t)(addr - p->key_base);
    const fk_home *h = &p->homes[fk_part_bunch(p, addr)->owner];
    const fk_entry *e = fk_part_bucket(p, addr);
    e += count_below(e, (fk_entry)key << 32);
    *place = (uint32_t)*e;
    bool found = *e >> 32 == key && is_home(h, *place);
    return __builtin_expect(found, 1) ? h : NULL;
}

static inline void start_at(const fk_part *p, const fk_home *h, uint32_t place, fk_descr *out)
{
    out->table = h->table;
    out->index = FK_NO_ENTRY;
    out->address = p->place_base + place;
}

static fk_result read_at(const fk_part *p, const fk_home *h, uint32_t place, uint64_t addr,
                         fk_descr *out)
{
    start_at(p, h, place, out);
    fk_fault fault = h->table->gen->read(h->table, h->zero + place, h->end, 0, out);
    out->retaddr = addr; /* O3 writes only the difference to its neighbour */
    return fault ? FK_ABSENT : FK_OK;
}

static __attribute__((noinline)) fk_result lookup_carefully(const fk_index *ix, uint64_t addr,
                                                            fk_descr *out)
{
    for (const fk_view *v = ix->views, *end = v + ix->num_views; v < end; v++) {
        uint32_t place;
        const fk_home *h = holds(v->part, addr) ? find_carefully(v, addr, &place) : NULL;
        if (h)
            return read_at(v->part, h, place, addr, out);
    }
    return FK_ABSENT;
}

static inline bool read_quickly(const fk_part *p, const fk_home *h, uint32_t place, fk_descr *out)
{
    start_at(p, h, place, out);
    return fk_read_common(h->zero + place, h->end, out);
}

fk_result fk_index_lookup(const fk_index *ix, uint64_t addr, fk_descr *out)
{
    const fk_part *p = ix->quick;
    uint32_t place;
    const fk_home *h = p && holds(p, addr) ? find_quickly(p, addr, &place) : NULL;
    if (__builtin_expect(h && read_quickly(p, h, place, out), 1))
        return FK_OK;
    return lookup_carefully(ix, addr, out);
}

/* --- many at once ------------------------------------------------------------------------------
 * Each step of a look-up waits for memory that the step before named. Done for a batch of
 * addresses one step at a time, the waits overlap. */
#define BATCH 32

typedef struct {
    const fk_home *home; /* NULL: needs care */
    uint32_t place;
} probe;

static inline uint64_t held(const fk_part *p, uint64_t addr)
{
    return holds(p, addr) ? addr : p->low;
}

static void find_batch(const fk_part *p, const uint64_t *addr, size_t n, probe *b)
{
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(fk_part_bunch(p, held(p, addr[i])));
    for (size_t i = 0; i < n; i++) {
        const fk_entry *e = fk_part_bucket(p, held(p, addr[i]));
        __builtin_prefetch(e);
        __builtin_prefetch(e + FK_GROUP - 1);
    }
    for (size_t i = 0; i < n; i++) {
        b[i].home = holds(p, addr[i]) ? find_quickly(p, addr[i], &b[i].place) : NULL;
        if (b[i].home) {
            __builtin_prefetch(b[i].home->zero + b[i].place);
            __builtin_prefetch(b[i].home->zero + b[i].place + 32);
        }
    }
}

static size_t lookup_batch(const fk_index *ix, const uint64_t *addr, size_t n, fk_descr *out)
{
    probe b[BATCH] = {{NULL, 0}};
    size_t found = 0;
    if (ix->quick)
        find_batch(ix->quick, addr, n, b);
    for (size_t i = 0; i < n; i++) {
        bool ok = (b[i].home && read_quickly(ix->quick, b[i].home, b[i].place, &out[i])) ||
                  lookup_carefully(ix, addr[i], &out[i]) == FK_OK;
        if (!ok)
            out[i].table = NULL;
        found += ok;
    }
    return found;
}

size_t fk_index_find_many(const fk_index *ix, const uint64_t *addr, size_t n, fk_descr *out)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i += BATCH)
        found += lookup_batch(ix, addr + i, n - i < BATCH ? n - i : BATCH, out + i);
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

/* --- counting --------------------------------------------------------------------------------- */

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
        if (ix->views[i].live != p->count && fk_part_duplicates(p))
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
            n += v->live - (v->live ? fk_part_duplicates(v->part) : 0);
    }
    return n;
}

/* --- making ----------------------------------------------------------------------------------- */

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

/* --- new parts -------------------------------------------------------------------------------- */

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
    ix->quick = NULL;
    if (m->num_views && m->views[0].part->common && !m->views[0].dropped)
        ix->quick = m->views[0].part;
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
