/* layers.c - profiles with callbacks in C, any number of them in a domain,
 * beside the one of Gc.Memprof.
 *
 * Each samples by itself: its own generator, its own counter, its own place
 * for the trigger; the runtime sees the highest of the places. What it follows
 * is a table among the domain's orphans, so promotions, deaths, dying domains
 * and discarded profiles need no code of their own; the pin keeps the table
 * there while it is empty.
 *
 * Callbacks in C do not touch the heap. So an allocation is reported at once:
 * in compiled code after the current profile's callbacks, when the request has
 * its place for good, and within primitives before they go on. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool samples(const fk_mp_domain *d, const fk_mp_layer *l)
{
    return d->current && !d->current->suspended && fk_mp_profile_status(l->profile) == FK_MP_SAMPLING &&
           !l->random.never;
}

/* Nothing of what was drawn for the old rate is used any more. */
static void set_level(fk_mp_layer *l, int level)
{
    l->level = level;
    l->rate = ldexp(l->profile->rate, -level);
    fk_random_set_rate(&l->random, l->rate);
    l->gap = fk_random_gap(&l->random) - 1;
}

/* A trigger stays as long as the nursery only fills down to it, whatever other
 * profiles do: so a seed gives the same samples beside others as alone. After
 * a collection ptr is not below where it was. */
static bool is_stale(const fk_mp_layer *l, fk_mp_young young)
{
    return !l->trigger || l->trigger > young.ptr || young.start != l->drawn.start || young.ptr >= l->drawn.ptr;
}

static void draw(fk_mp_domain *d, fk_mp_layer *l, fk_mp_young young)
{
    int level = fk_mp_limit_level(&l->profile->limit);
    bool changed = level != l->level;
    if (changed)
        set_level(l, level);
    if (!changed && !is_stale(l, young))
        return;
    l->trigger = samples(d, l) ? fk_mp_place_trigger(young, fk_random_gap(&l->random)) : NULL;
    l->drawn = young;
}

uintptr_t *fk_mp_layers_draw(fk_mp_domain *d, uintptr_t *trigger)
{
    fk_mp_young young = fk_host_young(d->host);
    for (fk_mp_layer *l = d->layers; l; l = l->next) {
        draw(d, l, young);
        if (l->trigger > trigger && samples(d, l))
            trigger = l->trigger;
    }
    return trigger;
}

void fk_mp_layers_note(fk_mp_domain *d, size_t words)
{
    uintptr_t *ptr = fk_host_young(d->host).ptr;
    for (fk_mp_layer *l = d->layers; l; l = l->next) {
        if (!l->trigger || !samples(d, l))
            l->words = 0;
        else if (d->unsure != UNSURE_NONE) /* the trigger was only armed */
            l->words = (int64_t)words - fk_random_gap(&l->random) + 1;
        else
            l->words = l->trigger - ptr < (int64_t)words ? l->trigger - ptr : (int64_t)words;
        if (l->words > 0)
            l->trigger = NULL;
    }
}

/* --- reports ------------------------------------------------------------------ */

static void follow_block(fk_mp_table *t, fk_mp_value block, uint16_t state, fk_mp_value datum)
{
    if (fk_mp_table_is_void(t) || !fk_mp_table_reserve(t, 1))
        return; /* no memory: it is not followed */
    size_t i = fk_mp_table_add(t, block, state | FK_MP_BEGUN_ALLOC, NULL);
    t->datum[i] = datum;
    if (!(state & FK_MP_MAJOR) && i < t->young)
        t->young = i;
}

static void report(fk_mp_domain *d, fk_mp_layer *l, fk_mp_value block, fk_mp_allocation a, ptrdiff_t index)
{
    const fk_mp_profile *p = l->profile;
    bool major = !fk_host_is_young(block);
    fk_mp_value datum = FK_MP_UNIT;
    if (p->depth > 0)
        a.depth = fk_host_callstack(d->host, p->depth, index, &a.slots);
    a.rate = l->rate;
    d->reporting++;
    if (p->hooks->alloc(p->hooks->arg, &a, major, &datum))
        follow_block(l->table, block, major ? FK_MP_MAJOR : 0, datum);
    d->reporting--;
    if (p->limit.per_second > 0)
        fk_mp_limit_note(&l->profile->limit, 1, fk_host_now());
}

void fk_mp_layers_young(fk_mp_domain *d, size_t words, size_t n, const unsigned char *lens)
{
    uintptr_t *ptr = fk_host_young(d->host).ptr;
    for (fk_mp_layer *l = d->layers; l; l = l->next) {
        fk_mp_hit h;
        fk_mp_request r = {lens, lens ? n : 1, words, l->words};
        l->words = 0;
        while (fk_mp_next_hit(&l->random, &r, &h))
            report(d, l, (fk_mp_value)(ptr + h.offset + 1),
                   (fk_mp_allocation){.samples = h.samples, .wosize = h.wosize}, h.index);
    }
}

void fk_mp_layers_block(fk_mp_domain *d, fk_mp_value block, size_t wosize, size_t words, int source)
{
    bool changed = false;
    for (fk_mp_layer *l = d->layers; l; l = l->next) {
        size_t n = samples(d, l) ? fk_mp_count_samples(&l->random, &l->gap, words) : 0;
        if (n == 0)
            continue;
        report(d, l, block, (fk_mp_allocation){.samples = n, .wosize = wosize, .source = (uint8_t)source}, -1);
        changed |= fk_mp_limit_level(&l->profile->limit) != l->level;
    }
    if (changed)
        fk_mp_set_trigger(d, false);
}

/* --- life --------------------------------------------------------------------- */

static void drop(fk_mp_layer **p)
{
    fk_mp_layer *l = *p;
    *p = l->next;
    l->table->pins--;
    fk_mp_profile_leave(l->profile);
    free(l);
}

void fk_mp_layers_prune(fk_mp_domain *d)
{
    if (d->reporting)
        return;
    for (fk_mp_layer **p = &d->layers; *p;)
        if (fk_mp_profile_status((*p)->profile) == FK_MP_SAMPLING) {
            if ((*p)->profile->limit.per_second > 0) /* the rate may rise again */
                fk_mp_limit_note(&(*p)->profile->limit, 0, fk_host_now());
            p = &(*p)->next;
        } else {
            drop(p);
        }
}

void fk_mp_layers_drop(fk_mp_domain *d)
{
    while (d->layers)
        drop(&d->layers);
}

/* One stream for each domain of a profile; domains in the same order get the
 * same ones. The factor is no multiple of SplitMix64's step. */
static uint64_t stream_seed(fk_mp_profile *p)
{
    return p->seed + 0xD1342543DE82EF95u * atomic_fetch_add(&p->streams, 1);
}

fk_mp_error fk_mp_attach(fk_mp_domain *d, fk_mp_profile *p)
{
    for (fk_mp_layer *l = d->layers; l; l = l->next)
        if (l->profile == p && fk_mp_profile_status(p) == FK_MP_SAMPLING)
            return FK_MP_ALREADY_STARTED;
    if (fk_mp_profile_status(p) != FK_MP_SAMPLING)
        return FK_MP_NOT_RUNNING;
    fk_mp_layer *l = calloc(1, sizeof *l);
    fk_mp_table *t = l ? fk_mp_orphan_new(d, p, FK_MP_UNIT) : NULL;
    if (!t) {
        free(l);
        return FK_MP_NO_MEMORY;
    }
    t->pins++;
    fk_mp_profile_enter(p);
    *l = (fk_mp_layer){.profile = p, .table = t, .next = d->layers};
    fk_random_seed(&l->random, stream_seed(p));
    set_level(l, fk_mp_limit_level(&p->limit));
    d->layers = l;
    return FK_MP_OK;
}

void fk_mp_layers_inherit(fk_mp_domain *d, const fk_mp_domain *parent)
{
    for (const fk_mp_layer *l = parent->layers; l; l = l->next)
        fk_mp_attach(d, l->profile); /* without memory the child is not sampled for it */
}

const fk_mp_table *fk_mp_layer_table(const fk_mp_domain *d, const fk_mp_profile *p)
{
    for (const fk_mp_layer *l = d->layers; l; l = l->next)
        if (l->profile == p)
            return l->table;
    return NULL;
}
