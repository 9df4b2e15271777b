/* domain.c - domains, their threads, their orphan tables, the collector's hooks. */
#include "internal.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Tables of dead domains, a stack that any domain may take whole. */
static _Atomic(fk_mp_table *) global_orphans;

/* --- tables of a domain ------------------------------------------------------ */

void fk_mp_each_table(fk_mp_domain *d, void (*f)(fk_mp_table *, void *), void *arg)
{
    f(&d->table, arg);
    for (fk_mp_thread *th = d->threads; th; th = th->next)
        f(&th->table, arg);
    for (fk_mp_table *t = d->orphans; t; t = t->next)
        f(t, arg);
}

static fk_mp_table **orphans_end(fk_mp_domain *d)
{
    fk_mp_table **p = &d->orphans;
    while (*p)
        p = &(*p)->next;
    return p;
}

void fk_mp_adopt(fk_mp_domain *d)
{
    if (!atomic_load_explicit(&global_orphans, memory_order_relaxed))
        return;
    fk_mp_table **end = orphans_end(d);
    *end = atomic_exchange_explicit(&global_orphans, NULL, memory_order_acq_rel);
}

static void orphan_globally(fk_mp_table *t)
{
    fk_mp_table *head = atomic_load_explicit(&global_orphans, memory_order_relaxed);
    do
        t->next = head;
    while (!atomic_compare_exchange_weak_explicit(&global_orphans, &head, t, memory_order_release,
                                                  memory_order_relaxed));
}

fk_mp_table *fk_mp_orphan_new(fk_mp_domain *d, fk_mp_profile *p, fk_mp_value tracker)
{
    fk_mp_table *t = malloc(sizeof *t);
    if (!t)
        return NULL;
    fk_mp_table_init(t, MIN_ORPHAN, false);
    fk_mp_table_set_profile(t, p, tracker);
    t->next = d->orphans;
    d->orphans = t;
    return t;
}

static void orphan_free(fk_mp_table *t)
{
    fk_mp_table_clear(t);
    free(t);
}

void fk_mp_sweep_orphans(fk_mp_domain *d)
{
    for (fk_mp_table **p = &d->orphans, *t; (t = *p);) {
        fk_mp_table_validate(t);
        if (t->size > t->holes || t->pins) {
            p = &t->next;
            continue;
        }
        *p = t->next;
        orphan_free(t);
    }
}

static bool table_is_due(const fk_mp_table *t)
{
    return t->active < t->size;
}

void fk_mp_update_pending(fk_mp_domain *d)
{
    if (!d->current || d->current->suspended)
        return;
    d->pending = table_is_due(&d->table) || table_is_due(&d->current->table);
    for (fk_mp_table *t = d->orphans; t && !d->pending; t = t->next)
        d->pending = table_is_due(t);
    if (d->pending)
        fk_host_set_pending(d->host);
}

/* --- threads ----------------------------------------------------------------- */

fk_mp_thread *fk_mp_thread_new(fk_mp_domain *d)
{
    fk_mp_thread *th = calloc(1, sizeof *th);
    if (!th)
        return NULL;
    th->domain = d;
    fk_mp_table_init(&th->table, MIN_THREAD, true);
    fk_mp_table_set_profile(&th->table, d->table.profile, d->table.tracker);
    th->next = d->threads;
    if (d->threads)
        d->threads->prev = th;
    d->threads = th;
    return th;
}

fk_mp_thread *fk_mp_domain_main_thread(fk_mp_domain *d)
{
    return d->current;
}

void fk_mp_thread_enter(fk_mp_thread *th)
{
    fk_mp_domain *d = th->domain;
    d->current = th;
    if (d->quiet != th->suspended)
        fk_mp_set_trigger(d, false);
    fk_mp_update_pending(d);
}

static void thread_free(fk_mp_thread *th)
{
    if (th->prev)
        th->prev->next = th->next;
    else
        th->domain->threads = th->next;
    if (th->next)
        th->next->prev = th->prev;
    if (th->domain->current == th)
        th->domain->current = NULL;
    fk_mp_table_clear(&th->table);
    free(th);
}

/* After a fork a thread may be deleted in the middle of a callback, which
 * then never returns: its entry is forgotten. */
static void abandon_run(fk_mp_thread *th)
{
    fk_mp_table *t = th->run.table;
    if (!t)
        return;
    fk_mp_run_end(&th->run);
    fk_mp_table_delete(t, th->run.index);
}

void fk_mp_thread_delete(fk_mp_thread *th)
{
    fk_mp_domain *d = th->domain;
    abandon_run(th);
    fk_mp_table_forget_unreported(&th->table);
    fk_mp_table_move(&th->table, &d->table, NULL);
    thread_free(th);
}

void fk_mp_suspend(fk_mp_domain *d, bool suspended)
{
    fk_mp_thread *th = d->current;
    if (!th || th->suspended == suspended)
        return;
    th->suspended = suspended;
    fk_mp_set_trigger(d, false);
    if (!suspended)
        fk_mp_update_pending(d);
}

/* --- domains ------------------------------------------------------------------ */

static void inherit(fk_mp_domain *d, const fk_mp_domain *parent)
{
    d->profile = parent->profile;
    fk_mp_profile_enter(d->profile);
    fk_mp_table_set_profile(&d->table, d->profile, parent->table.tracker);
    if (d->profile)
        fk_random_set_rate(&d->random, d->profile->rate);
    fk_mp_layers_inherit(d, parent);
}

fk_mp_domain *fk_mp_domain_new(fk_mp_host *host, const fk_mp_domain *parent, uint64_t seed)
{
    fk_mp_domain *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->host = host;
    fk_random_seed(&d->random, seed);
    fk_mp_table_init(&d->table, MIN_DOMAIN, false);
    if (parent)
        inherit(d, parent);
    d->gap = fk_random_gap(&d->random) - 1;
    d->current = fk_mp_thread_new(d);
    if (!d->current) {
        fk_mp_domain_delete(d);
        return NULL;
    }
    return d;
}

/* All that was reported, in one table. Without memory for it, it is lost:
 * a dying domain has nobody to tell. */
static void orphan_own(fk_mp_domain *d)
{
    fk_mp_table *t = fk_mp_orphan_new(d, d->profile, d->table.tracker);
    for (fk_mp_thread *th = d->threads; th; th = th->next) {
        abandon_run(th);
        fk_mp_table_forget_unreported(&th->table);
        if (t)
            fk_mp_table_move(&th->table, t, NULL);
    }
    if (t)
        fk_mp_table_move(&d->table, t, NULL);
}

void fk_mp_domain_delete(fk_mp_domain *d)
{
    fk_mp_decide(d);
    fk_mp_layers_drop(d);
    orphan_own(d);
    fk_mp_sweep_orphans(d);
    for (fk_mp_table *t = d->orphans, *next; t; t = next) {
        next = t->next;
        orphan_globally(t);
    }
    while (d->threads)
        thread_free(d->threads);
    fk_mp_table_clear(&d->table);
    fk_mp_profile_leave(d->profile);
    free(d);
}

bool fk_mp_is_sampling(const fk_mp_domain *d)
{
    return d->profile && fk_mp_profile_status(d->profile) == FK_MP_SAMPLING;
}

fk_mp_profile *fk_mp_current_profile(const fk_mp_domain *d)
{
    return d->profile;
}

/* --- collector ------------------------------------------------------------------ */

struct scan {
    fk_mp_root_fn f;
    void *data;
    fk_mp_roots roots;
};

static void scan_table(fk_mp_table *t, void *arg)
{
    struct scan *s = arg;
    fk_mp_table_scan(t, s->f, s->data, s->roots);
}

void fk_mp_scan_roots(fk_mp_domain *d, fk_mp_root_fn f, void *data, fk_mp_roots roots)
{
    fk_mp_decide(d);
    fk_mp_adopt(d);
    fk_mp_each_table(d, scan_table, &(struct scan){f, data, roots});
}

static void minor_table(fk_mp_table *t, void *arg)
{
    fk_mp_domain *d = arg;
    fk_mp_table_after_minor(t, d->host);
    if (t->unsure)
        d->unsure = UNSURE_NOTED;
}

void fk_mp_after_minor(fk_mp_domain *d)
{
    fk_mp_adopt(d);
    fk_mp_each_table(d, minor_table, d);
    fk_mp_layers_prune(d);
    fk_mp_sweep_orphans(d);
    fk_mp_update_pending(d);
}

static void major_table(fk_mp_table *t, void *arg)
{
    (void)arg;
    fk_mp_table_after_major(t);
}

void fk_mp_after_major(fk_mp_domain *d)
{
    fk_mp_decide(d);
    fk_mp_adopt(d);
    fk_mp_each_table(d, major_table, NULL);
    fk_mp_sweep_orphans(d);
    fk_mp_update_pending(d);
}

static void decide_table(fk_mp_table *t, void *arg)
{
    fk_mp_table_decide(t, arg);
}

void fk_mp_decide(fk_mp_domain *d)
{
    if (d->unsure == UNSURE_NONE)
        return;
    d->unsure = UNSURE_NONE;
    fk_mp_each_table(d, decide_table, d->host);
    fk_mp_update_pending(d);
}

static void check_table(fk_mp_table *t, void *arg)
{
    if (!fk_mp_table_is_valid(t))
        *(bool *)arg = false;
}

bool fk_mp_domain_is_valid(const fk_mp_domain *d)
{
    bool ok = true;
    fk_mp_each_table((fk_mp_domain *)d, check_table, &ok);
    return ok;
}
