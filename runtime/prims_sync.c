/* prims_sync.c - Mutex and Condition. Waiting releases the domain. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/callback.h"
#include "runtime/check.h"
#include "runtime/fail.h"
#include "runtime/sched.h"
#include "runtime/sync.h"

static void free_mutex(value v)
{
    pthread_mutex_destroy(SYNC_MUTEX(v));
    free(SYNC_MUTEX(v));
}
static void free_condition(value v)
{
    pthread_cond_destroy(SYNC_CONDITION(v));
    free(SYNC_CONDITION(v));
}
static int compare(value a, value b)
{
    return (SYNC_MUTEX(a) > SYNC_MUTEX(b)) - (SYNC_MUTEX(a) < SYNC_MUTEX(b));
}
static intptr_t hash(value v) { return (intptr_t)SYNC_MUTEX(v); }

static const struct custom_operations mutex_ops = {
    .identifier = "_mutex", .finalize = free_mutex, .compare = compare, .hash = hash};
static const struct custom_operations condition_ops = {
    .identifier = "_condition", .finalize = free_condition, .compare = compare, .hash = hash};

static FK_NORETURN void fail(int e, const char *what)
{
    errno = e;
    fk_raise_sys_error(what);
}

value caml_ml_mutex_new(value unit)
{
    pthread_mutexattr_t a;
    (void)unit;
    pthread_mutex_t *m = malloc(sizeof *m);
    if (!m)
        fk_raise_out_of_memory();
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(m, &a);
    pthread_mutexattr_destroy(&a);
    value v = fk_alloc_custom(&mutex_ops, sizeof m);
    SYNC_MUTEX(v) = m;
    return v;
}

/* --- waiting -------------------------------------------------------------------------- */

/* With the turn to oneself a lock that is taken is not free before others ran. */
static int lock_scheduled(pthread_mutex_t *m)
{
    const struct timespec past = {0, 0};
    int e;
    fk_sched_point(fk_self);
    while ((e = pthread_mutex_timedlock(m, &past)) == ETIMEDOUT)
        fk_sched_wait(m);
    return e;
}

int fk_sync_lock(pthread_mutex_t *m)
{
    if (fk_check.scheduled)
        return lock_scheduled(m);
    if (pthread_mutex_trylock(m) == 0)
        return 0;
    fk_blocking_enter();
    int e = pthread_mutex_lock(m);
    fk_blocking_leave();
    return e;
}

int fk_sync_unlock(pthread_mutex_t *m)
{
    int e = pthread_mutex_unlock(m);
    if (fk_check.scheduled && !e)
        fk_sched_wake(m, true);
    return e;
}

static int wait_scheduled(pthread_cond_t *c, pthread_mutex_t *m)
{
    int e = pthread_mutex_unlock(m);
    if (e)
        return e;
    fk_sched_wake(m, true);
    fk_sched_wait(c);
    return lock_scheduled(m);
}

static int wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    if (fk_check.scheduled)
        return wait_scheduled(c, m);
    fk_blocking_enter();
    int e = pthread_cond_wait(c, m);
    fk_blocking_leave();
    return e;
}

/* --- Mutex ------------------------------------------------------------------------------ */

value caml_ml_mutex_lock(value v)
{
    ROOTS(1, &v); /* keeps the mutex alive while this thread waits */
    int e = fk_sync_lock(SYNC_MUTEX(v));
    UNROOT_VOID();
    if (e)
        fail(e, "Mutex.lock");
    return VAL_UNIT;
}
value caml_ml_mutex_unlock(value v)
{
    int e = fk_sync_unlock(SYNC_MUTEX(v));
    if (e)
        fail(e, "Mutex.unlock");
    if (fk_check.scheduled)
        fk_sched_point(fk_self);
    return VAL_UNIT;
}
value caml_ml_mutex_try_lock(value v)
{
    int e = pthread_mutex_trylock(SYNC_MUTEX(v));
    if (e && e != EBUSY && e != EDEADLK)
        fail(e, "Mutex.try_lock");
    return VAL_BOOL(e == 0);
}

/* --- Condition -------------------------------------------------------------------------- */

value caml_ml_condition_new(value unit)
{
    (void)unit;
    pthread_cond_t *c = malloc(sizeof *c);
    if (!c)
        fk_raise_out_of_memory();
    pthread_cond_init(c, NULL);
    value v = fk_alloc_custom(&condition_ops, sizeof c);
    SYNC_CONDITION(v) = c;
    return v;
}
value caml_ml_condition_wait(value c, value m)
{
    ROOTS(2, &c, &m);
    int e = wait(SYNC_CONDITION(c), SYNC_MUTEX(m));
    UNROOT_VOID();
    if (e)
        fail(e, "Condition.wait");
    return VAL_UNIT;
}
value caml_ml_condition_signal(value c)
{
    pthread_cond_signal(SYNC_CONDITION(c));
    if (fk_check.scheduled)
        fk_sched_wake(SYNC_CONDITION(c), false);
    return VAL_UNIT;
}
value caml_ml_condition_broadcast(value c)
{
    pthread_cond_broadcast(SYNC_CONDITION(c));
    if (fk_check.scheduled)
        fk_sched_wake(SYNC_CONDITION(c), true);
    return VAL_UNIT;
}
