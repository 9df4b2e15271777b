/* api_framekit.c - framekit/memprof.h on the engine. Part of unit_framekit.c. */
#include "framekit/memprof.h"

#include "internal.h"

struct fk_memprof {
    fk_mp_profile *profile;
    fk_mp_hooks hooks;
};

static bool api_alloc(void *arg, const fk_mp_allocation *a, bool major, fk_mp_value *datum)
{
    const fk_memprof_callbacks *c = arg;
    uint64_t d = 0;
    fk_memprof_block b = {a->samples, a->wosize, a->source, major, a->depth, (const uintptr_t *)a->slots};
    bool keep = c->alloc(c->arg, &b, &d);
    *datum = (fk_mp_value)(d << 1 | 1);
    return keep;
}

static bool api_promote(void *arg, fk_mp_value *datum)
{
    const fk_memprof_callbacks *c = arg;
    uint64_t d = (uint64_t)*datum >> 1;
    bool keep = c->promote(c->arg, &d);
    *datum = (fk_mp_value)(d << 1 | 1);
    return keep;
}

static void api_dealloc(void *arg, fk_mp_value datum, bool major)
{
    const fk_memprof_callbacks *c = arg;
    c->dealloc(c->arg, (uint64_t)datum >> 1, major);
}

static fk_memprof_error api_error(fk_mp_error e)
{
    return e == FK_MP_OK               ? FK_MEMPROF_OK
           : e == FK_MP_BAD_ARGUMENT   ? FK_MEMPROF_BAD_ARGUMENT
           : e == FK_MP_ALREADY_STARTED ? FK_MEMPROF_RUNNING
           : e == FK_MP_NO_MEMORY      ? FK_MEMPROF_NO_MEMORY
                                       : FK_MEMPROF_NOT_RUNNING;
}

fk_memprof_error fk_memprof_start(double rate, size_t depth, uint64_t seed, const fk_memprof_callbacks *callbacks,
                                  fk_memprof **profile)
{
    fk_mp_domain *d = self();
    fk_memprof *p = calloc(1, sizeof *p);
    if (!p)
        return FK_MEMPROF_NO_MEMORY;
    p->hooks = (fk_mp_hooks){api_alloc, api_promote, api_dealloc, (void *)callbacks};
    if (seed && !fk_mp_is_sampling(d)) {
        fk_gc_collect(fk_self, GC_MINOR); /* samples depend on where the nursery begins */
        fk_random_seed(&d->random, seed);
    }
    int64_t limit = depth < INT64_MAX ? (int64_t)depth : INT64_MAX;
    fk_mp_error e = fk_mp_start_hooks(d, rate, limit, &p->hooks, &p->profile);
    if (e != FK_MP_OK) {
        free(p);
        return api_error(e);
    }
    fk_mp_set_trigger(d, false);
    *profile = p;
    return FK_MEMPROF_OK;
}

fk_memprof_error fk_memprof_join(fk_memprof *p)
{
    return api_error(fk_mp_join(self(), p->profile));
}

fk_memprof_error fk_memprof_stop(void)
{
    fk_mp_value none;
    return api_error(fk_mp_stop(self(), &none));
}

/* The hooks stay: a callback of another domain may be about to read them. */
void fk_memprof_discard(fk_memprof *p)
{
    fk_mp_profile_move(p->profile, FK_MP_SAMPLING, FK_MP_STOPPED);
    fk_mp_discard(p->profile);
    fk_mp_profile_unref(p->profile);
    p->profile = NULL;
}

bool fk_memprof_suspend(bool suspended)
{
    bool before = self()->current->suspended;
    fk_mp_suspend(self(), suspended);
    return before;
}

fk_memprof_state fk_memprof_query(void)
{
    fk_mp_domain *d = self();
    fk_memprof_state s = {.sampling = fk_mp_is_sampling(d), .suspended = d->current->suspended};
    if (d->profile) {
        s.rate = d->profile->rate;
        s.depth = d->profile->depth;
        s.entries = d->table.size - d->table.holes;
    }
    return s;
}
