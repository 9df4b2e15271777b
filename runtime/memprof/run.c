/* run.c - callbacks: which, in which order, and what their results do.
 *
 *             alloc            promoted          died
 *   new ----------> reported ----------> ... ----------> dealloc, deleted
 *                      | None: deleted      (each callback that returns None
 *                      | Some v: datum v     or raises deletes the entry)
 */
#include "internal.h"

#include <stdlib.h>

static const fk_mp_result ok = {false, FK_MP_UNIT};

/* Fields of the tracker record. */
enum { ALLOC_MINOR, ALLOC_MAJOR, PROMOTE, DEALLOC_MINOR, DEALLOC_MAJOR };

static int tracker_field(uint16_t state, fk_mp_callback cb)
{
    if (cb == FK_MP_CB_PROMOTE)
        return PROMOTE;
    if (cb == FK_MP_CB_DEALLOC)
        return state & FK_MP_MAJOR ? DEALLOC_MAJOR : DEALLOC_MINOR;
    /* It may have been promoted before its allocation was reported. */
    return (state & FK_MP_MAJOR) && !(state & FK_MP_PROMOTED) ? ALLOC_MAJOR : ALLOC_MINOR;
}

static bool may_call(const fk_mp_table *t, fk_mp_callback cb)
{
    fk_mp_status status = fk_mp_profile_status(t->profile);
    return cb == FK_MP_CB_ALLOC ? status == FK_MP_SAMPLING : status != FK_MP_DISCARDED;
}

static fk_mp_answer from_option(fk_mp_result res)
{
    fk_mp_answer a = {res, false, FK_MP_UNIT};
    a.keep = !res.is_exception && fk_host_option(res.value, &a.datum);
    return a;
}

static fk_mp_answer call_closure(const fk_mp_table *t, uint16_t state, fk_mp_callback cb, const fk_mp_allocation *a,
                                 fk_mp_value datum)
{
    fk_mp_value closure = fk_host_tracker(t->tracker, tracker_field(state, cb));
    if (cb == FK_MP_CB_ALLOC)
        return from_option(fk_host_call_alloc(closure, a));
    fk_mp_result res = fk_host_call(closure, datum);
    return cb == FK_MP_CB_PROMOTE ? from_option(res) : (fk_mp_answer){res, false, FK_MP_UNIT};
}

/* Allocations are reported to callbacks in C at once: layers.c. */
static fk_mp_answer call_hook(const fk_mp_hooks *h, uint16_t state, fk_mp_callback cb, fk_mp_value datum)
{
    fk_mp_answer out = {ok, false, datum};
    if (cb == FK_MP_CB_PROMOTE)
        out.keep = h->promote(h->arg, &out.datum);
    else
        h->dealloc(h->arg, datum, tracker_field(state, cb) == DEALLOC_MAJOR);
    return out;
}

fk_mp_answer fk_mp_report_alloc(const fk_mp_table *t, uint16_t state, const fk_mp_allocation *a)
{
    return call_closure(t, state, FK_MP_CB_ALLOC, a, FK_MP_UNIT);
}

bool fk_mp_settle(fk_mp_thread *th, const fk_mp_answer *said)
{
    fk_mp_table *t = th->run.table; /* the entry may have moved */
    size_t i = th->run.index;
    fk_mp_run_end(&th->run);
    if (!t)
        return false;
    if (said->keep && !fk_mp_table_is_void(t)) {
        fk_mp_table_set_datum(t, i, said->datum);
        return true;
    }
    fk_mp_table_delete(t, i);
    return false;
}

static fk_mp_answer call(fk_mp_thread *th, fk_mp_table *t, size_t i, fk_mp_callback cb)
{
    static const uint16_t begun[] = {0, FK_MP_BEGUN_ALLOC, FK_MP_BEGUN_PROMOTE, FK_MP_BEGUN_DEALLOC};
    fk_mp_allocation a = {0};
    fk_mp_slot *slots = NULL;
    fk_mp_value datum = t->datum[i];
    uint16_t state = t->state[i];
    if (cb == FK_MP_CB_ALLOC) {
        fk_mp_info *info = &t->info[i];
        slots = info->slots;
        info->slots = NULL; /* ours now, whatever the callback does to the table */
        a = (fk_mp_allocation){info->samples, info->wosize, info->source, info->depth, slots, 0};
    }
    t->datum[i] = FK_MP_UNIT;
    t->state[i] |= begun[cb];
    fk_mp_run_begin(&th->run, t, i);
    th->batch--;
    const fk_mp_hooks *hooks = t->profile->hooks;
    fk_mp_answer out = hooks ? call_hook(hooks, state, cb, datum) : call_closure(t, state, cb, &a, datum);
    free(slots);
    return out;
}

/* A primitive that asked for what is pending (Gc.full_major) gets all of it. */
static bool batch_is_over(fk_mp_thread *th)
{
    if (th->batch == 0 && !fk_host_in_compiled_code(th->domain->host))
        th->batch = BATCH;
    return th->batch == 0;
}

static fk_mp_result run_entry(fk_mp_thread *th, fk_mp_table *t, size_t i)
{
    fk_mp_callback cb;
    while ((cb = fk_mp_table_due(t, i)) != FK_MP_CB_NONE) {
        if (!may_call(t, cb)) {
            fk_mp_table_delete(t, i);
            break;
        }
        if (batch_is_over(th)) {
            fk_mp_table_activate(t, i);
            break;
        }
        fk_mp_answer said = call(th, t, i, cb);
        fk_mp_run was = th->run;
        if (!fk_mp_settle(th, &said))
            return said.res.is_exception ? said.res : ok;
        t = was.table;
        i = was.index;
    }
    return ok;
}

fk_mp_result fk_mp_run_table(fk_mp_domain *d, fk_mp_table *t)
{
    fk_mp_thread *th = d->current;
    fk_mp_result res = ok;
    fk_mp_table_validate(t);
    t->pins++;
    while (!res.is_exception && t->active < t->size && !batch_is_over(th)) {
        size_t i = t->active;
        if (fk_mp_table_due(t, i) == FK_MP_CB_NONE)
            t->active++;
        else
            res = run_entry(th, t, i);
    }
    t->pins--;
    if (4 * t->holes >= t->size)
        fk_mp_table_pack(t);
    return res;
}

static bool stays(const fk_mp_table *t, size_t i)
{
    return !(t->state[i] & FK_MP_BEGUN_ALLOC) || (t->state[i] & FK_MP_OFFSET);
}

void fk_mp_flush_thread(fk_mp_domain *d)
{
    fk_mp_table *t = &d->current->table;
    if (t->size > 0)
        fk_mp_table_move(t, &d->table, stays);
}

static fk_mp_result run_orphans(fk_mp_domain *d)
{
    fk_mp_result res = ok;
    for (fk_mp_table *t = d->orphans, *next; t && !res.is_exception; t = next) {
        t->pins++; /* `next` is read after the callbacks: they may change the list */
        res = fk_mp_run_table(d, t);
        next = t->next;
        t->pins--;
    }
    fk_mp_sweep_orphans(d);
    return res;
}

fk_mp_result fk_mp_run_callbacks(fk_mp_domain *d)
{
    fk_mp_decide(d);
    fk_mp_thread *th = d->current;
    if (!th || th->suspended || !d->pending)
        return ok;
    fk_mp_suspend(d, true);
    fk_mp_adopt(d);
    th->batch = BATCH;
    fk_mp_result res = fk_mp_run_table(d, &d->table);
    if (!res.is_exception)
        res = fk_mp_run_table(d, &th->table);
    fk_mp_flush_thread(d); /* also after an exception: any thread may report the rest */
    if (!res.is_exception)
        res = run_orphans(d);
    fk_mp_suspend(d, false);
    return res;
}
