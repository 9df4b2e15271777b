#include "table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void fk_mp_table_init(fk_mp_table *t, size_t min_capacity, bool has_info)
{
    memset(t, 0, sizeof *t);
    t->tracker = FK_MP_UNIT;
    t->min_capacity = min_capacity;
    t->has_info = has_info;
}

static void drop_info(fk_mp_table *t, size_t i)
{
    if (!t->has_info)
        return;
    free(t->info[i].slots);
    t->info[i].slots = NULL;
}

void fk_mp_table_clear(fk_mp_table *t)
{
    for (fk_mp_run *r = t->runs; r; r = r->next)
        r->table = NULL;
    for (size_t i = 0; i < t->size; i++)
        drop_info(t, i);
    free(t->block);
    free(t->datum);
    free(t->state);
    free(t->info);
    fk_mp_profile_unref(t->profile);
    fk_mp_table *next = t->next;
    unsigned pins = t->pins;
    fk_mp_table_init(t, t->min_capacity, t->has_info);
    t->next = next;
    t->pins = pins;
}

void fk_mp_table_set_profile(fk_mp_table *t, fk_mp_profile *p, fk_mp_value tracker)
{
    fk_mp_profile *old = t->profile;
    t->profile = fk_mp_profile_ref(p);
    t->tracker = tracker;
    fk_mp_profile_unref(old);
}

bool fk_mp_table_is_void(const fk_mp_table *t)
{
    return !t->profile || fk_mp_profile_status(t->profile) == FK_MP_DISCARDED;
}

void fk_mp_table_validate(fk_mp_table *t)
{
    if (t->size == t->holes || !fk_mp_table_is_void(t))
        return;
    for (size_t i = 0; i < t->size; i++)
        if (!(t->state[i] & FK_MP_RUNNING))
            fk_mp_table_delete(t, i);
}

/* --- memory ---------------------------------------------------------------- */

/* Each column is moved on its own: after a failure the earlier ones are only
 * larger than they need be. */
static bool resize_column(void **column, size_t n, size_t width)
{
    void *p = realloc(*column, n * width);
    if (!p)
        return false;
    *column = p;
    return true;
}

static bool resize(fk_mp_table *t, size_t n)
{
    if (!resize_column((void **)&t->block, n, sizeof *t->block) ||
        !resize_column((void **)&t->datum, n, sizeof *t->datum) ||
        !resize_column((void **)&t->state, n, sizeof *t->state) ||
        (t->has_info && !resize_column((void **)&t->info, n, sizeof *t->info)))
        return false;
    t->capacity = n;
    return true;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

bool fk_mp_table_reserve(fk_mp_table *t, size_t n)
{
    size_t need = t->size + n;
    if (need <= t->capacity)
        return true;
    return resize(t, larger(2 * need, t->min_capacity));
}

/* What young blocks needed before the last collection they will need again: to
 * give it back and fetch it, page by page, costs more than the samples do. */
static void shrink(fk_mp_table *t)
{
    size_t n = larger(larger(2 * t->size, t->keep), t->min_capacity);
    if (4 * t->size < t->capacity && n < t->capacity)
        resize(t, n);
}

/* --- entries --------------------------------------------------------------- */

size_t fk_mp_table_add(fk_mp_table *t, fk_mp_value block, uint16_t state, const fk_mp_info *info)
{
    size_t i = t->size++;
    assert(i < t->capacity && t->has_info == (info != NULL));
    t->block[i] = block;
    t->datum[i] = FK_MP_UNIT;
    t->state[i] = state;
    if (info)
        t->info[i] = *info;
    if (state & FK_MP_UNSURE)
        t->unsure++;
    if (fk_mp_table_due(t, i) != FK_MP_CB_NONE)
        fk_mp_table_activate(t, i);
    else if (t->active == i)
        t->active = i + 1;
    return i;
}

void fk_mp_table_delete(fk_mp_table *t, size_t i)
{
    if (t->state[i] & FK_MP_DELETED)
        return;
    assert(!(t->state[i] & FK_MP_RUNNING));
    if (t->state[i] & FK_MP_UNSURE)
        t->unsure--;
    drop_info(t, i);
    t->block[i] = t->datum[i] = FK_MP_UNIT;
    t->state[i] = FK_MP_DELETED;
    t->holes++;
}

void fk_mp_table_forget_unreported(fk_mp_table *t)
{
    for (size_t i = 0; i < t->size; i++)
        if (!(t->state[i] & FK_MP_BEGUN_ALLOC))
            fk_mp_table_delete(t, i);
}

void fk_mp_table_set_datum(fk_mp_table *t, size_t i, fk_mp_value v)
{
    t->datum[i] = v;
    if (!fk_mp_is_block(v))
        return;
    t->boxed = true;
    if (i < t->young && fk_host_is_young(v))
        t->young = i;
}

static fk_mp_run *find_run(fk_mp_table *t, size_t index)
{
    fk_mp_run *r = t->runs;
    while (r && r->index != index)
        r = r->next;
    return r;
}

void fk_mp_run_begin(fk_mp_run *r, fk_mp_table *t, size_t index)
{
    r->table = t;
    r->index = index;
    r->next = t->runs;
    t->runs = r;
    t->state[index] |= FK_MP_RUNNING;
}

void fk_mp_run_end(fk_mp_run *r)
{
    fk_mp_table *t = r->table;
    if (!t)
        return;
    fk_mp_run **p = &t->runs;
    while (*p != r)
        p = &(*p)->next;
    *p = r->next;
    t->state[r->index] &= (uint16_t)~FK_MP_RUNNING;
    r->table = NULL;
}

static void copy_entry(fk_mp_table *t, size_t to, size_t from)
{
    t->block[to] = t->block[from];
    t->datum[to] = t->datum[from];
    t->state[to] = t->state[from];
    if (t->has_info)
        t->info[to] = t->info[from];
    if (t->state[to] & FK_MP_RUNNING)
        find_run(t, from)->index = to;
}

void fk_mp_table_pack(fk_mp_table *t)
{
    if (t->holes) {
        size_t n = 0, active = 0, young = 0;
        for (size_t i = 0; i < t->size; i++) {
            if (t->state[i] & FK_MP_DELETED)
                continue;
            active += i < t->active;
            young += i < t->young;
            if (n != i)
                copy_entry(t, n, i);
            n++;
        }
        t->size = n;
        t->active = active;
        t->young = young;
        t->holes = 0;
    }
    shrink(t);
}

static void move_entry(fk_mp_table *from, size_t i, fk_mp_table *to)
{
    uint16_t state = from->state[i];
    fk_mp_run *run = state & FK_MP_RUNNING ? find_run(from, i) : NULL;
    size_t j = fk_mp_table_add(to, from->block[i], state & (uint16_t)~FK_MP_RUNNING, NULL);
    fk_mp_table_set_datum(to, j, from->datum[i]);
    if (run) {
        fk_mp_run_end(run);
        fk_mp_run_begin(run, to, j);
    }
    fk_mp_table_delete(from, i);
}

bool fk_mp_table_move(fk_mp_table *from, fk_mp_table *to, fk_mp_keep_fn keep)
{
    if (!fk_mp_table_reserve(to, from->size - from->holes))
        return false;
    for (size_t i = 0; i < from->size; i++)
        if (!(from->state[i] & FK_MP_DELETED) && !(keep && keep(from, i)))
            move_entry(from, i, to);
    fk_mp_table_pack(from);
    return true;
}

fk_mp_callback fk_mp_table_due(const fk_mp_table *t, size_t i)
{
    uint16_t s = t->state[i];
    if (s & (FK_MP_DELETED | FK_MP_RUNNING))
        return FK_MP_CB_NONE;
    if (!(s & FK_MP_BEGUN_ALLOC))
        return t->has_info ? FK_MP_CB_ALLOC : FK_MP_CB_NONE;
    if ((s & FK_MP_PROMOTED) && !(s & FK_MP_BEGUN_PROMOTE))
        return FK_MP_CB_PROMOTE;
    if ((s & FK_MP_DEAD) && !(s & FK_MP_BEGUN_DEALLOC))
        return FK_MP_CB_DEALLOC;
    return FK_MP_CB_NONE;
}

/* --- collector ------------------------------------------------------------- */

static void scan_datums(fk_mp_table *t, size_t from, fk_mp_root_fn f, void *data)
{
    bool boxed = false;
    for (size_t i = from; i < t->size; i++)
        if (fk_mp_is_block(t->datum[i])) {
            boxed = true;
            f(data, t->datum[i], &t->datum[i]);
        }
    if (from == 0)
        t->boxed = boxed;
}

void fk_mp_table_scan(fk_mp_table *t, fk_mp_root_fn f, void *data, fk_mp_roots roots)
{
    fk_mp_table_validate(t);
    if (fk_mp_table_is_void(t) && !t->runs)
        return;
    if (fk_mp_is_block(t->tracker))
        f(data, t->tracker, &t->tracker);
    if (t->boxed)
        scan_datums(t, roots == FK_MP_ROOTS_YOUNG ? t->young : 0, f, data);
    if (roots != FK_MP_ROOTS_WEAK)
        return;
    for (size_t i = 0; i < t->size; i++)
        if (fk_mp_is_block(t->block[i]) && !(t->state[i] & FK_MP_OFFSET))
            f(data, t->block[i], &t->block[i]);
}

static void decide(fk_mp_table *t, size_t i, fk_mp_host *host, bool final)
{
    fk_mp_value moved = FK_MP_UNIT;
    switch (fk_host_minor_fate(host, t->block[i], final, &moved)) {
    case FK_MP_UNDECIDED:
        t->state[i] |= FK_MP_UNSURE;
        t->unsure++;
        return;
    case FK_MP_MOVED:
        t->block[i] = moved;
        t->state[i] |= FK_MP_PROMOTED | FK_MP_MAJOR;
        break;
    case FK_MP_DIED:
        t->block[i] = FK_MP_UNIT;
        t->state[i] |= FK_MP_DEAD;
        break;
    case FK_MP_LOST:
        t->block[i] = FK_MP_UNIT;
        return;
    }
    fk_mp_table_activate(t, i);
}

static bool holds_young(const fk_mp_table *t, size_t i)
{
    return !(t->state[i] & (FK_MP_OFFSET | FK_MP_UNSURE)) && fk_mp_is_block(t->block[i]) &&
           fk_host_is_young(t->block[i]);
}

/* The header of each block is a cache miss of its own: ask for it early. */
enum { PREFETCH_AHEAD = 8 };

static inline void prefetch_header(const fk_mp_table *t, size_t i)
{
    if (i < t->size)
        __builtin_prefetch((const void *)(t->block[i] - (fk_mp_value)sizeof(fk_mp_value)));
}

void fk_mp_table_after_minor(fk_mp_table *t, fk_mp_host *host)
{
    fk_mp_table_validate(t);
    for (size_t i = t->young; i < t->size; i++) {
        if (holds_young(t, i))
            decide(t, i, host, false);
    }
    t->young = t->size;
    t->keep = 4 * t->size >= t->capacity ? t->capacity : t->keep / 2;
}

void fk_mp_table_decide(fk_mp_table *t, fk_mp_host *host)
{
    for (size_t i = 0; t->unsure && i < t->size; i++)
        if (t->state[i] & FK_MP_UNSURE) {
            t->state[i] &= (uint16_t)~FK_MP_UNSURE;
            t->unsure--;
            decide(t, i, host, true);
        }
}

void fk_mp_table_after_major(fk_mp_table *t)
{
    fk_mp_table_validate(t);
    for (size_t i = 0; i < t->size; i++) {
        prefetch_header(t, i + PREFETCH_AHEAD);
        if (!fk_mp_is_block(t->block[i]) || (t->state[i] & FK_MP_OFFSET) || fk_host_is_young(t->block[i]) ||
            !fk_host_is_unmarked(t->block[i]))
            continue;
        t->block[i] = FK_MP_UNIT;
        t->state[i] |= FK_MP_DEAD;
        fk_mp_table_activate(t, i);
    }
}

bool fk_mp_table_is_valid(const fk_mp_table *t)
{
    size_t holes = 0, unsure = 0, running = 0, runs = 0;
    for (size_t i = 0; i < t->size; i++) {
        uint16_t s = t->state[i];
        holes += (s & FK_MP_DELETED) != 0;
        unsure += (s & FK_MP_UNSURE) != 0;
        running += (s & FK_MP_RUNNING) != 0;
        if (i < t->active && fk_mp_table_due(t, i) != FK_MP_CB_NONE)
            return false;
        if (i < t->young && (holds_young(t, i) || (fk_mp_is_block(t->datum[i]) && fk_host_is_young(t->datum[i]))))
            return false;
        if (fk_mp_is_block(t->datum[i]) && !t->boxed)
            return false;
    }
    for (const fk_mp_run *r = t->runs; r; r = r->next, runs++)
        if (r->table != t || r->index >= t->size || !(t->state[r->index] & FK_MP_RUNNING))
            return false;
    return holes == t->holes && unsure == t->unsure && running == runs && t->size <= t->capacity &&
           t->active <= t->size && t->young <= t->size;
}
