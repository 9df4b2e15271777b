/* control.c - start, stop, discard. */
#include "internal.h"

const char *fk_mp_error_text(fk_mp_error e)
{
    static const char *const texts[] = {
        [FK_MP_OK] = "no error",
        [FK_MP_BAD_ARGUMENT] = "Gc.Memprof.start",
        [FK_MP_ALREADY_STARTED] = "Gc.Memprof.start: already started.",
        [FK_MP_NOT_RUNNING] = "Gc.Memprof.stop: no profile running.",
        [FK_MP_NOT_STOPPED] = "Gc.Memprof.discard: profile not stopped.",
        [FK_MP_ALREADY_DISCARDED] = "Gc.Memprof.discard: profile already discarded.",
        [FK_MP_NO_MEMORY] = "out of memory",
        [FK_MP_EXCEPTION] = "a callback raised an exception",
    };
    return texts[e];
}

static bool has_entries(const fk_mp_table *t)
{
    return t->size > t->holes;
}

/* An entry of a combined allocation that is not placed yet: whatever becomes
 * of the request, it is not followed any further. If its callback has begun
 * it counts as dead. */
static void cancel_offset(fk_mp_table *t, size_t i)
{
    if (!(t->state[i] & FK_MP_BEGUN_ALLOC)) {
        fk_mp_table_delete(t, i);
        return;
    }
    t->block[i] = FK_MP_UNIT;
    t->state[i] = (uint16_t)((t->state[i] & ~FK_MP_OFFSET) | FK_MP_DEAD);
    fk_mp_table_activate(t, i);
}

void fk_mp_table_cancel_offsets(fk_mp_table *t)
{
    for (size_t i = 0; i < t->size; i++)
        if (t->state[i] & FK_MP_OFFSET)
            cancel_offset(t, i);
}

/* What of a thread's table goes on under the old profile. */
static void settle_thread(fk_mp_table *t)
{
    fk_mp_table_cancel_offsets(t);
    fk_mp_table_forget_unreported(t);
}

/* Moves all that the current profile tracks into one new orphan table. */
static bool orphan_all(fk_mp_domain *d)
{
    fk_mp_table_validate(&d->table);
    bool any = has_entries(&d->table);
    for (fk_mp_thread *th = d->threads; th; th = th->next) {
        if (!fk_mp_land(th))
            return false;
        fk_mp_table_validate(&th->table);
        settle_thread(&th->table);
        any |= has_entries(&th->table);
    }
    if (!any)
        return true;
    fk_mp_table *t = fk_mp_orphan_new(d, d->profile, d->table.tracker);
    if (!t || !fk_mp_table_move(&d->table, t, NULL))
        return false;
    for (fk_mp_thread *th = d->threads; th; th = th->next)
        if (!fk_mp_table_move(&th->table, t, NULL))
            return false;
    return true;
}

static void switch_profile(fk_mp_domain *d, fk_mp_profile *p, fk_mp_value tracker)
{
    fk_mp_profile_enter(p);
    fk_mp_profile_leave(d->profile);
    d->profile = p;
    fk_mp_table_pack(&d->table);
    fk_mp_table_set_profile(&d->table, p, tracker);
    for (fk_mp_thread *th = d->threads; th; th = th->next) {
        fk_mp_table_pack(&th->table);
        fk_mp_table_set_profile(&th->table, p, tracker);
    }
    fk_random_set_rate(&d->random, p->rate);
    d->gap = fk_random_gap(&d->random) - 1;
}

fk_mp_error fk_mp_start(fk_mp_domain *d, double rate, int64_t depth, fk_mp_value tracker, fk_mp_profile **profile)
{
    if (!(rate >= 0 && rate <= 1) || depth < 0)
        return FK_MP_BAD_ARGUMENT;
    if (fk_mp_is_sampling(d))
        return FK_MP_ALREADY_STARTED;
    fk_mp_decide(d);
    fk_mp_profile *p = fk_mp_profile_new(rate, (size_t)depth, NULL);
    if (!p || !orphan_all(d)) {
        fk_mp_profile_unref(p);
        return FK_MP_NO_MEMORY;
    }
    switch_profile(d, p, tracker);
    fk_mp_sweep_orphans(d);
    fk_mp_set_trigger(d, false);
    *profile = p;
    return FK_MP_OK;
}

/* Reports this thread's allocations while the profile still samples. */
static fk_mp_result report_own(fk_mp_domain *d)
{
    fk_mp_suspend(d, true);
    d->current->batch = SIZE_MAX;
    fk_mp_result res = fk_mp_run_table(d, &d->current->table);
    fk_mp_flush_thread(d);
    fk_mp_suspend(d, false);
    return res;
}

fk_mp_error fk_mp_stop(fk_mp_domain *d, fk_mp_value *exception)
{
    if (!fk_mp_is_sampling(d))
        return FK_MP_NOT_RUNNING;
    if (d->current && !d->current->suspended) {
        fk_mp_result res = report_own(d);
        if (res.is_exception) {
            *exception = res.value;
            return FK_MP_EXCEPTION;
        }
    }
    /* A callback may have stopped it already. */
    if (!fk_mp_profile_move(d->profile, FK_MP_SAMPLING, FK_MP_STOPPED))
        return FK_MP_NOT_RUNNING;
    fk_mp_set_trigger(d, false);
    return FK_MP_OK;
}

fk_mp_error fk_mp_discard(fk_mp_profile *p)
{
    if (fk_mp_profile_move(p, FK_MP_STOPPED, FK_MP_DISCARDED))
        return FK_MP_OK;
    return fk_mp_profile_status(p) == FK_MP_SAMPLING ? FK_MP_NOT_STOPPED : FK_MP_ALREADY_DISCARDED;
}
