/* record.c - the recorder's table of sites. See record.h. */
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A datum says what a dead block takes away: an immediate, 62 bits.
 *
 *     61 .......... 40   39 ........ 20   19 ............... 0
 *     site               samples          words of the block
 *
 * Larger counts saturate: beyond a million samples or words the weight of a
 * block is 1 and its share of the total is what was counted at most. */
enum { FIELD = 20, FIELD_MAX = (1 << FIELD) - 1, MAX_SITES = 1 << 22, OTHERS = FK_MP_MAX_LEVEL + 1 };

static fk_mp_value pack(size_t site, size_t samples, size_t words)
{
    uint64_t s = samples < FIELD_MAX ? samples : FIELD_MAX, w = words < FIELD_MAX ? words : FIELD_MAX;
    return (fk_mp_value)(((uint64_t)site << (2 * FIELD) | s << FIELD | w) << 1 | 1);
}

static double bytes_of(const fk_mp_site *s, double samples)
{
    return samples * sizeof(fk_mp_value) / s->rate;
}

static double blocks_of(const fk_mp_site *s, double words)
{
    return -1 / expm1(words * log1p(-s->rate)); /* rate 1: -1 / expm1(-inf) = 1 */
}

/* FNV-1a over whole slots. */
static uint32_t hash_slots(const fk_mp_slot *slots, size_t depth)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < depth; i++)
        h = (h ^ (uint64_t)slots[i]) * 0x100000001b3u;
    return (uint32_t)(h ^ h >> 32);
}

static bool same_site(const fk_mp_site *s, uint32_t hash, const fk_mp_allocation *a)
{
    return s->hash == hash && s->depth == a->depth && s->rate == a->rate &&
           memcmp(s->slots, a->slots, a->depth * sizeof *a->slots) == 0;
}

/* "(other)" of a rate: rates are the first one, halved some times. */
static size_t other(const fk_mp_recorder *r, double rate)
{
    return (size_t)(ilogb(r->rate) - ilogb(rate)) % OTHERS;
}

static size_t add_site(fk_mp_recorder *r, uint32_t hash, const fk_mp_allocation *a)
{
    if (r->num_sites == r->max_sites || r->num_slots + a->depth > r->max_slots)
        return other(r, a->rate);
    fk_mp_slot *copy = malloc((a->depth ? a->depth : 1) * sizeof *copy);
    if (!copy)
        return other(r, a->rate);
    if (a->depth)
        memcpy(copy, a->slots, a->depth * sizeof *copy);
    r->num_slots += a->depth;
    r->sites[r->num_sites] = (fk_mp_site){.slots = copy, .depth = (uint32_t)a->depth, .hash = hash, .rate = a->rate};
    return r->num_sites++;
}

static size_t find_site(fk_mp_recorder *r, const fk_mp_allocation *a)
{
    uint32_t hash = hash_slots(a->slots, a->depth) ^ (uint32_t)ilogb(a->rate);
    size_t i = hash & r->mask;
    for (; r->index[i]; i = (i + 1) & r->mask)
        if (same_site(&r->sites[r->index[i] - 1], hash, a))
            return r->index[i] - 1;
    size_t site = add_site(r, hash, a);
    if (site >= OTHERS)
        r->index[i] = (uint32_t)site + 1;
    return site;
}

static bool on_alloc(void *arg, const fk_mp_allocation *a, bool major, fk_mp_value *datum)
{
    fk_mp_recorder *r = arg;
    (void)major;
    /* Memory outside the heap (a custom block's) has no header. */
    size_t words = a->wosize + (a->source <= 1);
    pthread_mutex_lock(&r->lock);
    size_t n = find_site(r, a);
    *datum = pack(n, a->samples, words);
    fk_mp_site *s = &r->sites[n];
    double bytes = bytes_of(s, (double)a->samples), blocks = blocks_of(s, (double)words);
    s->samples += a->samples;
    s->alloc_bytes += bytes;
    s->live_bytes += bytes;
    s->alloc_blocks += blocks;
    s->live_blocks += blocks;
    pthread_mutex_unlock(&r->lock);
    return true;
}

static bool on_promote(void *arg, fk_mp_value *datum)
{
    (void)arg;
    (void)datum;
    return true;
}

static void on_dealloc(void *arg, fk_mp_value datum, bool major)
{
    fk_mp_recorder *r = arg;
    uint64_t d = (uint64_t)datum >> 1;
    (void)major;
    pthread_mutex_lock(&r->lock);
    fk_mp_site *s = &r->sites[d >> (2 * FIELD)];
    s->live_bytes -= bytes_of(s, (double)(d >> FIELD & FIELD_MAX));
    s->live_blocks -= blocks_of(s, (double)(d & FIELD_MAX));
    pthread_mutex_unlock(&r->lock);
}

fk_mp_recorder *fk_mp_recorder_new(double rate, size_t max_sites, size_t max_slots)
{
    fk_mp_recorder *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    size_t buckets = 16;
    r->max_sites = max_sites < MAX_SITES - OTHERS ? max_sites + OTHERS : MAX_SITES;
    while (buckets < 2 * r->max_sites)
        buckets *= 2;
    r->rate = rate;
    r->max_slots = max_slots;
    r->mask = buckets - 1;
    r->num_sites = OTHERS;
    /* calloc of what may never be touched costs address space only */
    r->sites = calloc(r->max_sites, sizeof *r->sites);
    r->index = calloc(buckets, sizeof *r->index);
    r->hooks = (fk_mp_hooks){on_alloc, on_promote, on_dealloc, r};
    pthread_mutex_init(&r->lock, NULL);
    if (!r->sites || !r->index) {
        fk_mp_recorder_free(r);
        return NULL;
    }
    for (int i = 0; i < OTHERS; i++)
        r->sites[i].rate = ldexp(rate, -i);
    return r;
}

void fk_mp_recorder_free(fk_mp_recorder *r)
{
    for (size_t i = 0; r->sites && i < r->num_sites; i++)
        free((void *)r->sites[i].slots);
    free(r->sites);
    free(r->index);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
