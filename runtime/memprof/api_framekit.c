/* api_framekit.c - framekit/memprof.h on the engine. Part of unit_framekit.c. */
#include "framekit/memprof.h"

#include <math.h>

#include "internal.h"

struct fk_memprof {
    fk_mp_profile *profile;
    fk_mp_hooks hooks;
};

static bool api_alloc(void *arg, const fk_mp_allocation *a, bool major, fk_mp_value *datum)
{
    const fk_memprof_callbacks *c = arg;
    uint64_t d = 0;
    fk_memprof_block b = {a->samples, a->wosize, a->source, major, a->rate, a->depth,
                          (const uintptr_t *)a->slots};
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
    return e == FK_MP_OK                ? FK_MEMPROF_OK
           : e == FK_MP_ALREADY_STARTED ? FK_MEMPROF_RUNNING
           : e == FK_MP_NO_MEMORY       ? FK_MEMPROF_NO_MEMORY
                                        : FK_MEMPROF_NOT_RUNNING;
}

/* This domain samples for it from now on. */
static fk_mp_error attach_now(fk_mp_domain *d, fk_mp_profile *p)
{
    fk_mp_error e = fk_mp_attach(d, p);
    if (e == FK_MP_OK)
        fk_mp_set_trigger(d, false);
    return e;
}

static fk_memprof *profile_new(const fk_memprof_options *o, const fk_memprof_callbacks *callbacks)
{
    fk_memprof *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->hooks = (fk_mp_hooks){api_alloc, api_promote, api_dealloc, (void *)callbacks};
    p->profile = fk_mp_profile_new(o->rate, o->depth, &p->hooks);
    if (!p->profile) {
        free(p);
        return NULL;
    }
    if (o->seed)
        p->profile->seed = o->seed;
    fk_mp_limit_init(&p->profile->limit, o->per_second);
    return p;
}

fk_memprof_error fk_memprof_start(const fk_memprof_options *o, const fk_memprof_callbacks *callbacks,
                                  fk_memprof **profile)
{
    fk_mp_domain *d = self();
    if (!(o->rate >= 0 && o->rate <= 1) || !(o->per_second >= 0))
        return FK_MEMPROF_BAD_ARGUMENT;
    fk_memprof *p = profile_new(o, callbacks);
    if (!p)
        return FK_MEMPROF_NO_MEMORY;
    if (o->seed)
        fk_gc_collect(fk_self, GC_MINOR); /* samples depend on where the nursery begins */
    fk_mp_error e = attach_now(d, p->profile);
    if (e == FK_MP_OK) {
        *profile = p;
    } else {
        fk_mp_profile_unref(p->profile);
        free(p);
    }
    return api_error(e);
}

fk_memprof_error fk_memprof_join(fk_memprof *p)
{
    return api_error(attach_now(self(), p->profile));
}

fk_memprof_error fk_memprof_stop(fk_memprof *p)
{
    return fk_mp_profile_move(p->profile, FK_MP_SAMPLING, FK_MP_STOPPED) ? FK_MEMPROF_OK : FK_MEMPROF_NOT_RUNNING;
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

/* `here`: this domain samples for it, or has. */
static fk_memprof_state state_of(fk_mp_domain *d, const fk_mp_profile *p, const fk_mp_table *here)
{
    fk_memprof_state s = {.suspended = d->current->suspended};
    if (!p)
        return s;
    s.sampling = here && fk_mp_profile_status(p) == FK_MP_SAMPLING;
    s.rate = ldexp(p->rate, -fk_mp_limit_level(&p->limit));
    s.depth = p->depth;
    s.entries = here ? here->size - here->holes : 0;
    return s;
}

fk_memprof_state fk_memprof_query(const fk_memprof *p)
{
    fk_mp_domain *d = self();
    return p ? state_of(d, p->profile, fk_mp_layer_table(d, p->profile)) : state_of(d, d->profile, &d->table);
}
