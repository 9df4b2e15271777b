/* sched.c - deterministic scheduling from a seed (sched.h).
 *
 *        add            picked            end
 *   ---------> ready ----------> turn ----------->
 *                ^  ^------------/ | \
 *          wake  |       pass      |  \ outside: keeps the turn
 *                +--- waiting <----+
 *                          wait
 *
 * A domain that waits for the turn counts as stopped (stw.c), so a collection
 * has one worker and is repeated exactly too. A thread whose domain is kept by
 * another thread, one that was interrupted inside C, is not picked.
 *
 * The number of points between two choices is drawn below 2^k, and k anew for
 * every PHASE_POINTS: as much of a program runs in steps of a point or two as in
 * runs of hundreds, because some races need the one and some the other. */
#include "runtime/sched.h"

#include <stdio.h>
#include <time.h>

#include "runtime/check.h"
#include "runtime/memprof/splitmix.h"
#include "runtime/signals.h"

enum { RUN_BITS = 10, PHASE_POINTS = 100, OUTSIDE_MS = 2000, WATCH_MS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *first;  /* all threads, oldest first */
static struct thread *turn;   /* NULL: all that is not waiting is outside */
static uint64_t state;        /* of the generator */
static uint64_t left, phase;  /* points until the next choice, the next k */
static uint64_t run_bits;     /* k */
static uint64_t outside_count; /* blocking sections so far */
static bool watched;          /* this process has the thread that watches them */

static uint64_t draw(uint64_t below)
{
    return fk_splitmix64(&state) % below;
}

/* --- who is next ----------------------------------------------------------------------- */

static bool eligible(const struct thread *t)
{
    return t->sched.ready && (!t->domain->master_busy || t->domain->current == t);
}

static struct thread *pick(void)
{
    uint64_t n = 0;
    for (struct thread *t = first; t; t = t->sched.next)
        n += eligible(t);
    if (!n)
        return NULL;
    n = draw(n);
    for (struct thread *t = first;; t = t->sched.next)
        if (eligible(t) && n-- == 0)
            return t;
}

static bool somebody_outside(void)
{
    for (struct thread *t = first; t; t = t->sched.next)
        if (t->sched.outside)
            return true;
    return false;
}

static FK_NORETURN void deadlock(void)
{
    int n = 0;
    for (struct thread *t = first; t; t = t->sched.next)
        n++;
    struct finding f = {.rule = "deadlock"};
    fk_report(&f, "all %d threads wait for each other, with seed=%llu", n,
              (unsigned long long)fk_check.seed);
}

static void pass_locked(void)
{
    turn = pick();
    if (turn)
        pthread_cond_signal(&turn->sched.mine);
    else if (first && !somebody_outside())
        deadlock();
}

static void await_locked(struct thread *t)
{
    while (turn != t)
        pthread_cond_wait(&t->sched.mine, &lock);
}

/* --- life of a thread --------------------------------------------------------------------- */

/* A blocking section that takes long may be waiting for another thread, by a
 * pipe for instance: then the others go on. */
static void *watch(void *p)
{
    const struct timespec pause = {0, WATCH_MS * 1000000L};
    uint64_t seen = 0;
    for (int ms = 0;; ms += WATCH_MS) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
        if (seen != outside_count || !turn || !turn->sched.outside) {
            seen = outside_count;
            ms = 0;
        } else if (ms >= OUTSIDE_MS) {
            turn->sched.ready = false;
            pass_locked();
            ms = 0;
        }
        pthread_mutex_unlock(&lock);
    }
    return p;
}

static void start_watch(void)
{
    pthread_t id;
    watched = true;
    if (fk_signals_thread(&id, watch) != 0)
        fk_fatal("cannot create the thread that watches blocking calls");
    pthread_detach(id);
}

void fk_sched_add(struct thread *t)
{
    t->sched = (struct sched){.ready = true};
    pthread_cond_init(&t->sched.mine, NULL);
    pthread_mutex_lock(&lock);
    struct thread **p = &first;
    while (*p)
        p = &(*p)->sched.next;
    if (!first)
        state = fk_check.seed, turn = t;
    if (!watched)
        start_watch();
    *p = t;
    pthread_mutex_unlock(&lock);
}

static void unlink_locked(struct thread *t)
{
    struct thread **p = &first;
    while (*p != t)
        p = &(*p)->sched.next;
    *p = t->sched.next;
    pthread_cond_destroy(&t->sched.mine);
}

void fk_sched_forget(struct thread *t)
{
    pthread_mutex_lock(&lock);
    unlink_locked(t);
    pthread_mutex_unlock(&lock);
}

void fk_sched_end(struct thread *t)
{
    pthread_mutex_lock(&lock);
    unlink_locked(t);
    pass_locked();
    pthread_mutex_unlock(&lock);
}

/* The generator goes on where it was, in the child as in the parent. Another thread may have held
 * the lock, and nobody is there to give it back. */
void fk_sched_forked(struct thread *t)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&t->sched.mine, NULL);
    t->sched.next = NULL;
    first = turn = t;
    watched = false;
}

/* --- the turn ------------------------------------------------------------------------------ */

void fk_sched_acquire(struct thread *t)
{
    pthread_mutex_lock(&lock);
    if (t->sched.outside) {
        t->sched.outside = false;
        t->sched.ready = true;
        if (!turn)
            pass_locked();
    }
    await_locked(t);
    pthread_mutex_unlock(&lock);
}

void fk_sched_outside(struct thread *t)
{
    pthread_mutex_lock(&lock);
    t->sched.outside = true;
    outside_count++;
    pthread_mutex_unlock(&lock);
}

void fk_sched_pass(struct thread *t)
{
    (void)t;
    pthread_mutex_lock(&lock);
    pass_locked();
    pthread_mutex_unlock(&lock);
}

/* --- points ---------------------------------------------------------------------------------- */

/* Only the thread that has the turn gets here: no lock. */
bool fk_sched_due(void)
{
    if (phase-- == 0) {
        phase = PHASE_POINTS;
        run_bits = draw(RUN_BITS);
        left = 0;
    }
    if (left-- > 0)
        return false;
    left = draw((uint64_t)1 << run_bits);
    return true;
}

void fk_sched_point(struct domain *d)
{
    if (!fk_sched_due())
        return;
    struct thread *t = d->current;
    fk_stw_domain_stops();
    pthread_mutex_lock(&lock);
    pass_locked();
    await_locked(t);
    pthread_mutex_unlock(&lock);
    fk_stw_domain_runs();
}

/* --- waiting ------------------------------------------------------------------------------------ */

void fk_sched_wait(const void *object)
{
    struct thread *t = fk_self->current;
    t->sched.ready = false;
    t->sched.waits_for = object;
    fk_thread_leave(t);
    fk_sched_pass(t);
    fk_thread_enter(t);
}

static void make_ready(struct thread *t)
{
    t->sched.waits_for = NULL;
    t->sched.ready = true;
}

void fk_sched_wake(const void *object, bool all)
{
    uint64_t n = 0;
    pthread_mutex_lock(&lock);
    for (struct thread *t = first; t; t = t->sched.next)
        n += t->sched.waits_for == object;
    uint64_t chosen = n && !all ? draw(n) : 0;
    for (struct thread *t = first; t; t = t->sched.next)
        if (t->sched.waits_for == object && (all || chosen-- == 0))
            make_ready(t);
    pthread_mutex_unlock(&lock);
}
