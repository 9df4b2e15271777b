/* stats.c - counting, see stats.h. */
#include "frametable/ftdump/stats.h"

#include <stdlib.h>
#include <string.h>

const ft_stats_field ft_stats_fields[] = {
#define X(key, column) {#key, column, offsetof(ft_stats, key)},
    FT_STATS(X)
#undef X
};
const size_t ft_num_stats_fields = sizeof ft_stats_fields / sizeof *ft_stats_fields;

uint64_t ft_stats_value(const ft_stats *s, const ft_stats_field *f)
{
    uint64_t v;
    memcpy(&v, (const char *)s + f->offset, sizeof v);
    return v;
}

/* What is known of the byte of a table that starts a record. */
enum { CHAIN = 1, WIDE = 2, RECORD = 4 };

typedef struct {
    ft_run *run;
    ft_stats *s;
    uint8_t *flags; /* one for each byte of the table at hand: no hashing */
    size_t room;
    uint64_t base, size;
    ft_set outside; /* OxCaml's records lie elsewhere; count: flags */
} counter;

static void max_of(uint64_t *m, uint64_t v)
{
    if (v > *m)
        *m = v;
}

/* Marks for all bytes of a table; the size is bounded by the file. */
static void cover(counter *c, const fk_table_info *info)
{
    c->base = info->address;
    c->size = info->descr_bytes + info->debuginfo_bytes + info->name_bytes + info->extra_bytes;
    if (c->size > c->room) {
        free(c->flags);
        c->flags = malloc(c->size);
        c->room = c->flags != NULL ? c->size : 0;
    }
    if (c->flags == NULL)
        c->size = 0;
    if (c->size > 0)
        memset(c->flags, 0, c->size);
    ft_set_clear(&c->outside);
}

/* The flags of an address before `set` is added. */
static unsigned mark(counter *c, uint64_t at, unsigned set)
{
    unsigned old = 0;
    if (at - c->base < c->size) {
        old = c->flags[at - c->base];
        c->flags[at - c->base] = (uint8_t)(old | set);
        return old;
    }
    ft_cell *cell = ft_set_cell(&c->outside, at);
    if (cell != NULL) {
        old = (unsigned)cell->count;
        cell->count = old | set;
    }
    return old;
}

static void count_table(void *arg, const fk_table *t, const fk_table_info *info)
{
    counter *c = arg;
    (void)t;
    c->s->modules++;
    c->s->empty += info->num_descr == 0;
    c->s->descriptor_bytes += info->descr_bytes;
    c->s->debuginfo_bytes += info->debuginfo_bytes;
    c->s->name_bytes += info->name_bytes;
    c->s->relocation_bytes += info->relocation_bytes;
    c->s->extra_bytes += info->extra_bytes;
    cover(c, info);
}

/* Walks a chain once; true when a record of it is partially packed. */
static bool walk_chain(counter *c, const fk_table *t, uint64_t at)
{
    fk_chain chain;
    fk_frame f;
    fk_error err;
    fk_result r;
    bool wide = false;
    fk_chain_start(t, at, &chain);
    while ((r = fk_chain_next(&chain, &f, &err)) == FK_OK) {
        c->s->records += !(mark(c, f.address, RECORD) & RECORD);
        wide |= f.wide;
    }
    if (r != FK_ABSENT)
        ft_fault(c->run, &err);
    return wide;
}

static bool count_chain(counter *c, const fk_table *t, uint64_t at)
{
    if (at == 0)
        return false;
    unsigned old = mark(c, at, CHAIN);
    if (old & CHAIN)
        return old & WIDE;
    c->s->chains++;
    bool wide = walk_chain(c, t, at);
    if (wide)
        mark(c, at, WIDE);
    return wide;
}

static void count_point(void *arg, const ft_point *p)
{
    counter *c = arg;
    ft_stats *s = c->s;
    const fk_descr *d = &p->d;
    bool wide = false, special = d->flags & FK_DESCR_RETURN_TO_C;
    bool debug = !special && (d->flags & FK_DESCR_DEBUG);
    bool alloc = !special && (d->flags & FK_DESCR_ALLOC);
    s->descriptors++;
    s->return_to_c += special;
    s->debug += debug;
    s->alloc += alloc;
    s->debug_alloc += debug && alloc;
    s->polls += alloc && d->num_allocs == 0;
    s->combined += d->num_allocs > 1;
    s->live += d->num_live;
    s->long_form += (d->flags & FK_DESCR_LONG) != 0;
    max_of(&s->max_blocks, d->num_allocs);
    max_of(&s->max_live, d->num_live);
    max_of(&s->max_frame, d->frame_size);
    for (uint32_t i = 0; i < d->num_debug; i++)
        wide |= count_chain(c, d->table, fk_descr_debuginfo(d, i));
    s->wide += wide;
}

static void count_end(void *arg, const fk_table *t, const fk_error *fault)
{
    (void)t;
    ((counter *)arg)->s->broken += fault != NULL;
}

void ft_stats_add(ft_run *run, const fk_image *im, ft_stats *s)
{
    static const ft_visitor v = {count_table, count_point, count_end, true};
    counter c = {.run = run, .s = s};
    ft_walk(run, im, &v, &c);
    ft_set_free(&c.outside);
    free(c.flags);
}
