/* stats.c - counting, see stats.h. */
#include "frametable/ftdump/stats.h"

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

typedef struct {
    ft_run *run;
    ft_stats *s;
} counter;

static void max_of(uint64_t *m, uint64_t v)
{
    if (v > *m)
        *m = v;
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
    c->s->chains += info->num_chains;
    c->s->records += info->num_records;
    c->s->wide += info->num_wide;
}

static void count_point(void *arg, const ft_point *p)
{
    counter *c = arg;
    ft_stats *s = c->s;
    const fk_descr *d = &p->d;
    bool special = d->flags & FK_DESCR_RETURN_TO_C;
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
}
