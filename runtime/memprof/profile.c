#include "profile.h"

#include <stdlib.h>

/* Profiles without a seed of their own: different in one run, the same in every run. */
static uint64_t next_seed(void)
{
    static _Atomic uint64_t made;
    return (atomic_fetch_add(&made, 1) + 1) << 32;
}

fk_mp_profile *fk_mp_profile_new(double rate, size_t depth, const fk_mp_hooks *hooks)
{
    fk_mp_profile *p = malloc(sizeof *p);
    if (!p)
        return NULL;
    atomic_init(&p->status, FK_MP_SAMPLING);
    atomic_init(&p->refs, 1);
    atomic_init(&p->domains, 0);
    p->rate = rate;
    p->depth = depth;
    p->hooks = hooks;
    p->seed = next_seed();
    atomic_init(&p->streams, 0);
    fk_mp_limit_init(&p->limit, 0);
    return p;
}

fk_mp_profile *fk_mp_profile_ref(fk_mp_profile *p)
{
    if (p)
        atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void fk_mp_profile_unref(fk_mp_profile *p)
{
    if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1)
        free(p);
}

void fk_mp_profile_enter(fk_mp_profile *p)
{
    if (!p)
        return;
    fk_mp_profile_ref(p);
    atomic_fetch_add(&p->domains, 1);
}

void fk_mp_profile_leave(fk_mp_profile *p)
{
    if (!p)
        return;
    if (atomic_fetch_sub(&p->domains, 1) == 1)
        fk_mp_profile_move(p, FK_MP_SAMPLING, FK_MP_STOPPED);
    fk_mp_profile_unref(p);
}

fk_mp_status fk_mp_profile_status(const fk_mp_profile *p)
{
    return (fk_mp_status)atomic_load_explicit(&p->status, memory_order_acquire);
}

bool fk_mp_profile_move(fk_mp_profile *p, fk_mp_status from, fk_mp_status to)
{
    int expected = from;
    return atomic_compare_exchange_strong(&p->status, &expected, to);
}
