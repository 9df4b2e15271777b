/* domain.c - domains, the threads inside them, and interrupts.
 *
 *   thread --- master lock ---> domain --- running count ---> STW (stw.c)
 *
 * A thread that wants to run takes its domain's master lock, then makes the
 * domain count as running. Whoever wants a domain's attention sets a bit in
 * `interrupts` and raises young_limit, so that the next allocation or poll
 * leaves compiled code. Only the running thread lowers the limit again. */
#include "runtime/domain.h"

#include <sched.h>
#include <stdlib.h>

#include "runtime/check.h"
#include "runtime/fail.h"
#include "runtime/fiber.h"
#include "runtime/gc.h"
#include "runtime/profiler.h"
#include "runtime/sched.h"

_Static_assert(sizeof(struct dom_state) == (FK_ABI >= 504 ? 0x400 : 0x3e0), "domain state size");
_Static_assert(offsetof(struct dom_state, dls_root) == (FK_ABI >= 504 ? 336 : 304), "dls_root");
_Static_assert(offsetof(struct dom_state, local_roots) == (FK_ABI >= 504 ? 192 : 160),
               "local_roots");
_Static_assert(offsetof(struct dom_state, extra_params) == (FK_ABI >= 504 ? 512 : 480),
               "extra_params");

_Thread_local struct domain *fk_self;
extern _Thread_local struct domain *caml_state; /* the same for C stubs */
struct domain fk_domains[MAX_DOMAINS];
_Atomic int fk_num_domains, fk_slots;

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_unique;

void fk_words_grow(struct words *w)
{
    size_t n = w->capacity ? 2 * w->capacity : 256;
    uintptr_t *p = realloc(w->data, n * sizeof *p);
    if (!p)
        fk_fatal("out of memory: a collector list of %zu words", n);
    w->data = p;
    w->capacity = n;
}

void fk_words_free(struct words *w)
{
    free(w->data);
    *w = (struct words){0};
}

/* --- life ------------------------------------------------------------------------ */

static struct domain *take_slot(void)
{
    struct domain *d = NULL;
    pthread_mutex_lock(&slots_lock);
    for (int i = 0; i < MAX_DOMAINS && !d; i++)
        if (!atomic_load(&fk_domains[i].started))
            d = &fk_domains[i];
    if (d) {
        d->slot = (int)(d - fk_domains);
        if (d->slot >= fk_slots_used())
            atomic_store(&fk_slots, d->slot + 1);
        atomic_store(&d->started, true);
        d->st.unique_id = next_unique++;
    }
    pthread_mutex_unlock(&slots_lock);
    return d;
}

static void init_state(struct domain *d)
{
    d->st.id = d->slot;
    d->st.action_pending = 0;
    d->st.minor_heap_wsz = fk_nursery_words;
    d->st.dls_root = VAL_UNIT;
    d->st.backtrace_last_exn = VAL_UNIT;
    d->st.local_roots = NULL;
    d->st.c_stack = d->st.exn_handler = NULL;
    d->st.gc_regs = NULL;
    d->cut_parents = NULL;
    d->master_busy = d->loaded = false;
    atomic_store(&d->interrupts, 0);
}

struct domain *fk_domain_new(void)
{
    struct domain *d = take_slot();
    if (!d)
        return NULL;
    init_state(d);
    pthread_mutex_init(&d->master, NULL);
    pthread_cond_init(&d->master_free, NULL);
    pthread_mutex_init(&d->dirty_lock, NULL);
    fk_heap_init(&d->heap);
    fk_nursery_open(d);
    fk_bucket_reserve(d);
    d->st.current_stack = fk_fiber_new(d, fk_main_fiber_words, VAL_UNIT, VAL_UNIT, VAL_UNIT);
    d->main_thread = (struct thread){.domain = d, .descr = VAL_UNIT, .terminated = VAL_UNIT};
    d->threads = d->current = &d->main_thread;
    atomic_store(&d->num_threads, 1);
    fk_thread_save(&d->main_thread);
    atomic_store(&d->in_use, true);
    atomic_fetch_add(&fk_num_domains, 1);
    fk_reset_limit(d);
    return d;
}

/* Runs inside STW: nobody may be looking at the domain's lists. */
static void delete_job(struct domain *worker, void *arg)
{
    struct domain *d = arg;
    (void)worker;
    if (!fk_stw_is_leader())
        return;
    struct domain *heir = &fk_domains[0];
    fk_heap_adopt(&heir->heap, &d->heap);
    for (size_t i = 0; i < d->ephes.size; i++)
        words_push(&heir->ephes, d->ephes.data[i]);
    fk_finals_adopt(heir, d);
    fk_fiber_free_all(d);
    fk_nursery_close(d);
    atomic_store(&d->in_use, false);
    atomic_fetch_sub(&fk_num_domains, 1);
}

void fk_domain_delete(struct domain *d)
{
    while (!fk_stw(d, delete_job, d))
        continue;
    struct words *lists[] = {&d->remembered, &d->customs, &d->ephes, &d->work,
                             &d->dirty_fibers, &d->finals_todo, &d->taken};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        fk_words_free(lists[i]);
    fk_stw_domain_stops();
    pthread_mutex_lock(&slots_lock);
    atomic_store(&d->started, false);
    pthread_mutex_unlock(&slots_lock);
}

/* --- threads ------------------------------------------------------------------------ */

#define EACH_SAVED(X) \
    X(current_stack) X(exn_handler) X(c_stack) X(gc_regs) X(local_roots) X(backtrace_pos) \
    X(backtrace_buffer) X(backtrace_last_exn)

void fk_thread_save(struct thread *t)
{
    struct domain *d = t->domain;
#define X(f) t->saved.f = d->st.f;
    EACH_SAVED(X)
#undef X
    t->saved.cut_parents = d->cut_parents;
}

static void thread_load(struct thread *t)
{
    struct domain *d = t->domain;
#define X(f) d->st.f = t->saved.f;
    EACH_SAVED(X)
#undef X
    d->cut_parents = t->saved.cut_parents;
    d->current = t;
}

void fk_thread_enter(struct thread *t)
{
    struct domain *d = t->domain;
    if (fk_check.scheduled)
        fk_sched_acquire(t);
    pthread_mutex_lock(&d->master);
    d->master_waiters++;
    while (d->master_busy)
        pthread_cond_wait(&d->master_free, &d->master);
    d->master_waiters--;
    d->master_busy = true;
    d->master_turn++;
    pthread_mutex_unlock(&d->master);
    fk_stw_domain_runs();
    bool other = d->current != t;
    thread_load(t);
    d->loaded = true;
    fk_bucket_reserve(d); /* another thread may have gone to sleep with the last one */
    fk_self = caml_state = d;
    if (other)
        fk_prof_enter_thread(d, t);
}

void fk_thread_switch_away(struct thread *heir) { thread_load(heir); }

void fk_thread_leave(struct thread *t)
{
    fk_thread_save(t);
    fk_domain_release(t->domain);
}

void fk_domain_release(struct domain *d)
{
    fk_self = caml_state = NULL;
    d->loaded = false;
    fk_stw_domain_stops();
    pthread_mutex_lock(&d->master);
    d->master_busy = false;
    pthread_cond_signal(&d->master_free);
    pthread_mutex_unlock(&d->master);
}

static _Thread_local struct thread *blocked;

void fk_blocking_enter(void)
{
    blocked = fk_self->current;
    fk_thread_leave(blocked);
    if (fk_check.scheduled)
        fk_sched_outside(blocked);
}

void fk_blocking_leave(void)
{
    fk_thread_enter(blocked);
}

static void await_other(struct domain *d, uint64_t turn)
{
    pthread_mutex_lock(&d->master);
    while (d->master_turn == turn && d->master_waiters > 0) {
        pthread_mutex_unlock(&d->master);
        sched_yield();
        pthread_mutex_lock(&d->master);
    }
    pthread_mutex_unlock(&d->master);
}

/* Hands the domain to a waiting thread; a plain unlock and lock would mostly
 * win the lock back. */
void fk_thread_yield(void)
{
    struct thread *t = fk_self->current;
    struct domain *d = t->domain;
    if (!fk_check.scheduled && d->master_waiters == 0)
        return;
    uint64_t turn = d->master_turn;
    fk_thread_leave(t);
    if (fk_check.scheduled)
        fk_sched_pass(t);
    else
        await_other(d, turn);
    fk_thread_enter(t);
}

/* --- interrupts ----------------------------------------------------------------------- */

void fk_interrupt(struct domain *d, uintptr_t what)
{
    atomic_fetch_or(&d->interrupts, what);
    atomic_store(&d->st.young_limit, UINTPTR_MAX);
}

void fk_set_action_pending(struct domain *d)
{
    d->st.action_pending = 1;
    atomic_store(&d->st.young_limit, UINTPTR_MAX);
}

void fk_reset_limit(struct domain *d)
{
    value *limit = d->st.young_trigger;
    if (d->st.memprof_young_trigger > limit)
        limit = d->st.memprof_young_trigger;
    atomic_store(&d->st.young_limit, (uintptr_t)limit);
    if (atomic_load(&d->interrupts) || d->st.action_pending || fk_check.every_alloc)
        atomic_store(&d->st.young_limit, UINTPTR_MAX);
}

void fk_poll_gc(struct domain *d)
{
    uintptr_t what = atomic_fetch_and(&d->interrupts,
                                      ~(uintptr_t)(INT_STW | INT_MINOR | INT_MAJOR));
    if (what & INT_STW)
        fk_stw_park(d);
    if (what & INT_MAJOR)
        fk_gc_collect(d, GC_MAJOR);
    else if (what & INT_MINOR)
        fk_gc_collect(d, GC_MINOR);
    fk_reset_limit(d);
}
