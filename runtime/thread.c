/* thread.c - Thread: several threads inside one domain, one runs at a time.
 *
 * A thread is a struct thread (its saved state, domain.h), a fiber of its own
 * and a record Thread.t {identifier; closure; termination}. The termination is
 * a custom block around a reference-counted event, which join waits for.
 *
 * A ticker interrupts domains that have more than one thread, so that a thread
 * that computes gives way at its next safepoint. */
#include "runtime/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/backtrace.h"
#include "runtime/callback.h"
#include "runtime/check.h"
#include "runtime/fail.h"
#include "runtime/fiber.h"
#include "runtime/profiler.h"
#include "runtime/sched.h"
#include "runtime/signals.h"

enum { TICK_MS = 50, TRIPLE = 3 };

struct event {
    pthread_mutex_t m;
    pthread_cond_t c;
    bool set;
    _Atomic int refs;
};
#define EVENT(v) (*(struct event **)CUSTOM_DATA(v))
/* Fields of Thread.t. */
enum { IDENT, CLOSURE, TERMINATION };

static _Atomic intptr_t next_id;

/* --- termination --------------------------------------------------------------------- */

static void event_release(struct event *e)
{
    if (atomic_fetch_sub(&e->refs, 1) > 1)
        return;
    pthread_mutex_destroy(&e->m);
    pthread_cond_destroy(&e->c);
    free(e);
}
static void event_finalize(value v) { event_release(EVENT(v)); }
static const struct custom_operations event_ops = {.identifier = "_threadstatus",
                                                   .finalize = event_finalize};

static value event_new(void)
{
    struct event *e = calloc(1, sizeof *e);
    if (!e)
        fk_raise_out_of_memory();
    pthread_mutex_init(&e->m, NULL);
    pthread_cond_init(&e->c, NULL);
    atomic_store(&e->refs, 1);
    value v = fk_alloc_custom(&event_ops, sizeof e);
    EVENT(v) = e;
    return v;
}

static void event_set(struct event *e)
{
    pthread_mutex_lock(&e->m);
    e->set = true;
    pthread_cond_broadcast(&e->c);
    pthread_mutex_unlock(&e->m);
    if (fk_check.scheduled)
        fk_sched_wake(e, true);
}

/* The domain is released while this waits. */
static void event_wait(struct event *e)
{
    atomic_fetch_add(&e->refs, 1);
    while (fk_check.scheduled && !e->set)
        fk_sched_wait(e);
    fk_blocking_enter();
    pthread_mutex_lock(&e->m);
    while (!e->set)
        pthread_cond_wait(&e->c, &e->m);
    pthread_mutex_unlock(&e->m);
    fk_blocking_leave();
    event_release(e);
}

/* --- descriptors ------------------------------------------------------------------------- */

static value descriptor(value closure)
{
    value end = VAL_UNIT;
    ROOTS(2, &closure, &end);
    end = event_new();
    value d = fk_alloc_small(TRIPLE, 0);
    FIELD(d, IDENT) = VAL_INT(atomic_fetch_add(&next_id, 1));
    FIELD(d, CLOSURE) = closure;
    FIELD(d, TERMINATION) = end;
    return UNROOT(d);
}

/* Programs without Thread never call this: descriptors appear on demand. */
static value self_descriptor(struct thread *t)
{
    if (!is_block(t->descr))
        t->descr = descriptor(VAL_UNIT);
    return t->descr;
}

/* Thread.self does not allocate (compiled code keeps young_ptr in a register
 * across it), so once the library is there every domain starts with a descriptor. */
static _Atomic bool initialized;

void fk_thread_domain_starts(struct domain *d)
{
    if (atomic_load(&initialized))
        self_descriptor(d->current);
}

value caml_thread_initialize(value unit)
{
    atomic_store(&initialized, true);
    self_descriptor(fk_self->current);
    return unit;
}
value caml_thread_cleanup(value unit) { return unit; }
value caml_thread_self(value unit)
{
    (void)unit;
    return fk_self->current->descr;
}
value caml_thread_id(value t) { return FIELD(t, IDENT); }
value caml_thread_join(value t)
{
    event_wait(EVENT(FIELD(t, TERMINATION)));
    return VAL_UNIT;
}

/* --- the ticker ------------------------------------------------------------------------------ */

static void *tick(void *p)
{
    const struct timespec pause = {0, TICK_MS * 1000000L};
    for (;;) {
        nanosleep(&pause, NULL);
        for (int i = 0; i < fk_slots_used(); i++)
            if (atomic_load(&fk_domains[i].in_use) && atomic_load(&fk_domains[i].num_threads) > 1)
                fk_interrupt(&fk_domains[i], INT_YIELD);
    }
    return p;
}

static pthread_mutex_t ticker_lock = PTHREAD_MUTEX_INITIALIZER;
static bool ticking;

static void start_ticker(void)
{
    if (fk_check.scheduled) /* not by the clock */
        return;
    pthread_t t;
    pthread_mutex_lock(&ticker_lock);
    if (!ticking && fk_signals_thread(&t, tick) == 0) {
        pthread_detach(t);
        ticking = true;
    }
    pthread_mutex_unlock(&ticker_lock);
}

/* --- life ---------------------------------------------------------------------------------------- */

static void link_thread(struct domain *d, struct thread *t)
{
    t->next = d->threads->next;
    t->prev = d->threads;
    if (t->next)
        t->next->prev = t;
    d->threads->next = t;
    atomic_fetch_add(&d->num_threads, 1);
}

/* The first thread of a domain, its main thread, is never unlinked. */
static void unlink_thread(struct domain *d, struct thread *t)
{
    t->prev->next = t->next;
    if (t->next)
        t->next->prev = t->prev;
    atomic_fetch_sub(&d->num_threads, 1);
}

static struct thread *thread_new(struct domain *d)
{
    struct thread *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->domain = d;
    t->descr = t->terminated = t->saved.backtrace_last_exn = VAL_UNIT;
    t->saved.current_stack = fk_fiber_new(d, fk_main_fiber_words, VAL_UNIT, VAL_UNIT, VAL_UNIT);
    if (!t->saved.current_stack || !fk_prof_new_thread(d, t)) {
        if (t->saved.current_stack)
            fk_fiber_free(d, t->saved.current_stack);
        free(t);
        return NULL;
    }
    return t;
}

/* Ends with the domain released and nothing of the thread left. */
static void thread_end(struct domain *d, struct thread *t)
{
    struct fiber *f = d->st.current_stack;
    unlink_thread(d, t);
    free(d->st.backtrace_buffer);
    fk_thread_switch_away(d->threads);
    fk_prof_delete_thread(d, t);
    fk_fiber_free(d, f);
    fk_domain_release(d);
    if (fk_check.scheduled)
        fk_sched_end(t);
    free(t);
}

static void *thread_main(void *p)
{
    struct thread *t = p;
    struct domain *d = t->domain;
    fk_signals_stack();
    fk_thread_enter(t);
    value clos = FIELD(t->descr, CLOSURE);
    caml_modify(&FIELD(t->descr, CLOSURE), VAL_UNIT);
    fk_callback_exn(clos, VAL_UNIT); /* Thread's closure handles exceptions */
    event_set(EVENT(FIELD(t->descr, TERMINATION)));
    thread_end(d, t);
    fk_signals_stack_free();
    return NULL;
}

value caml_thread_new(value closure)
{
    struct domain *d = fk_self;
    pthread_t id;
    struct thread *t = thread_new(d);
    if (!t)
        fk_raise_out_of_memory();
    ROOTS(1, &closure);
    self_descriptor(d->current);
    UNROOT_VOID();
    link_thread(d, t);
    t->descr = descriptor(closure);
    value descr = t->descr;
    if (fk_check.scheduled)
        fk_sched_add(t);
    int e = pthread_create(&id, NULL, thread_main, t);
    if (e) {
        if (fk_check.scheduled)
            fk_sched_forget(t);
        unlink_thread(d, t);
        fk_prof_delete_thread(d, t);
        errno = e;
        fk_raise_sys_error("Thread.create");
    }
    pthread_detach(id);
    start_ticker();
    return descr;
}

/* The others' fibers are found unreachable by the next major cycle, and what the profiler has of
 * them goes now: its data change under the master lock only, which this thread holds, and free is
 * usable in the child. Locks that they held or waited for are new. The domain's first thread stays,
 * as a state that nobody runs. */
void fk_thread_forked(void)
{
    struct domain *d = fk_self;
    struct thread *self = d->current;
    for (struct thread *t = d->threads->next, *next; t; t = next) {
        next = t->next;
        if (t == self)
            continue;
        unlink_thread(d, t);
        fk_prof_delete_thread(d, t);
    }
    pthread_mutex_init(&d->master, NULL);
    pthread_cond_init(&d->master_free, NULL);
    d->master_waiters = 0;
    pthread_mutex_init(&ticker_lock, NULL);
    ticking = false;
    if (fk_check.scheduled)
        fk_sched_forked(self);
}

/* 5.4. The system keeps 15 bytes. */
value caml_set_current_thread_name(value name)
{
    char text[16] = "";
    strncpy(text, (char *)name, sizeof text - 1);
    pthread_setname_np(pthread_self(), text);
    return VAL_UNIT;
}

value caml_thread_yield(value unit)
{
    fk_thread_yield();
    value r = fk_pending_actions(fk_self);
    if (is_exn_result(r))
        fk_raise(exn_of_result(r));
    return unit;
}

/* A domain ends after its threads. */
void fk_threads_join_all(struct domain *d)
{
    while (d->threads->next) {
        value t = d->threads->next->descr;
        event_wait(EVENT(FIELD(t, TERMINATION)));
        fk_thread_yield(); /* event set, but not unlinked yet */
    }
}

value caml_thread_uncaught_exception(value exn)
{
    char *msg = fk_format_exception(exn);
    fflush(stdout);
    fprintf(stderr, "Thread %d killed on uncaught exception %s\n",
            (int)INT_VAL(FIELD(self_descriptor(fk_self->current), IDENT)), msg ? msg : "?");
    free(msg);
    if (fk_self->st.backtrace_active)
        fk_print_backtrace(fk_self);
    return VAL_UNIT;
}

/* --- signals -------------------------------------------------------------------------------------- */

static void read_set(value list, sigset_t *set)
{
    sigemptyset(set);
    for (; is_block(list); list = FIELD(list, 1))
        sigaddset(set, caml_convert_signal_number((int)INT_VAL(FIELD(list, 0))));
}

value caml_thread_sigmask(value how, value signals)
{
    static const int hows[] = {SIG_SETMASK, SIG_BLOCK, SIG_UNBLOCK};
    sigset_t set, old;
    value list = VAL_EMPTYLIST;
    read_set(signals, &set);
    int e = pthread_sigmask(hows[INT_VAL(how)], &set, &old);
    if (e) {
        errno = e;
        fk_raise_sys_error("Thread.sigmask");
    }
    ROOTS(1, &list);
    for (int n = 1; n < NSIG; n++)
        if (sigismember(&old, n) > 0) {
            value cell = fk_alloc_small(2, 0);
            FIELD(cell, 0) = VAL_INT(caml_rev_convert_signal_number(n));
            FIELD(cell, 1) = list;
            list = cell;
        }
    return UNROOT(list);
}

value caml_wait_signal(value signals)
{
    sigset_t set;
    int n = 0;
    read_set(signals, &set);
    fk_blocking_enter();
    int e = sigwait(&set, &n);
    fk_blocking_leave();
    if (e) {
        errno = e;
        fk_raise_sys_error("Thread.wait_signal");
    }
    return VAL_INT(caml_rev_convert_signal_number(n));
}
