/* prims_domain.c - Domain: spawn, termination, domain-local storage.
 *
 * Domain.spawn hands over a closure and a record {state; mutex; condition}.
 * When the closure is done, state becomes Finished (Ok v | Error exn) under the
 * mutex and the condition is broadcast: that is all that join waits for. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/backtrace.h"
#include "runtime/callback.h"
#include "runtime/check.h"
#include "runtime/fail.h"
#include "runtime/globals.h"
#include "runtime/profiler.h"
#include "runtime/sched.h"
#include "runtime/signals.h"
#include "runtime/sync.h"
#include "runtime/thread.h"

struct start {
    struct domain *domain;
    value closure, term; /* roots */
};

static value finished(value result)
{
    bool failed = is_exn_result(result);
    value v = exn_of_result(result);
    if (!failed)
        v = result;
    ROOTS(1, &v);
    value r = fk_alloc_small(1, failed ? 1 : 0);
    FIELD(r, 0) = v;
    v = r;
    value f = fk_alloc_small(1, 0);
    FIELD(f, 0) = v;
    return UNROOT(f);
}

/* Before join can return, what the domain made is in the heap and its profile's
 * entries are anybody's to take. */
static void publish(struct domain *d, value *term, value result)
{
    value state = finished(result);
    ROOTS(1, &state);
    fk_gc_collect(d, GC_MINOR);
    fk_prof_delete_domain(d);
    caml_ml_mutex_lock(FIELD(*term, 1));
    caml_modify(&FIELD(*term, 0), state);
    caml_ml_condition_broadcast(FIELD(*term, 2));
    caml_ml_mutex_unlock(FIELD(*term, 1));
    UNROOT_VOID();
}

static void *domain_main(void *p)
{
    struct start *s = p;
    struct domain *d = s->domain;
    fk_signals_stack();
    fk_thread_enter(d->current);
    fk_thread_domain_starts(d);
    value result = fk_callback_exn(s->closure, VAL_UNIT);
    {
        value r = is_exn_result(result) ? exn_of_result(result) : result;
        bool failed = is_exn_result(result);
        ROOTS(1, &r);
        fk_threads_join_all(d);
        UNROOT_VOID();
        result = failed ? make_exn_result(r) : r;
    }
    publish(d, &s->term, result);
    caml_remove_global_root(&s->closure);
    caml_remove_global_root(&s->term);
    free(s);
    fk_gc_collect(d, GC_MINOR); /* what the last steps allocated */
    fk_domain_delete(d);
    if (fk_check.scheduled)
        fk_sched_end(&d->main_thread);
    fk_signals_stack_free();
    return NULL;
}

value caml_domain_spawn(value closure, value term)
{
    pthread_t thread;
    pthread_attr_t attr;
    struct start *s = malloc(sizeof *s);
    if (!s)
        fk_raise_out_of_memory();
    struct domain *d = fk_domain_new();
    if (!d) {
        free(s);
        fk_failwith("failed to allocate domain");
    }
    *s = (struct start){d, closure, term};
    caml_register_global_root(&s->closure);
    caml_register_global_root(&s->term);
    fk_prof_new_domain(fk_self, d);
    fk_backtrace_enable(d, fk_self->st.backtrace_active);
    intptr_t id = d->st.unique_id;
    if (fk_check.scheduled)
        fk_sched_add(&d->main_thread);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int e = pthread_create(&thread, &attr, domain_main, s);
    pthread_attr_destroy(&attr);
    if (e) {
        errno = e;
        fk_fatal("cannot create a thread for a domain: %s", strerror(e));
    }
    return VAL_INT(id);
}

value caml_ml_domain_id(value unit) { (void)unit; return VAL_INT(fk_self->st.unique_id); }
value caml_ml_domain_index(value unit) { (void)unit; return VAL_INT(fk_self->st.id); }
value caml_ml_domain_cpu_relax(value unit)
{
    (void)unit;
    sched_yield();
    caml_ml_domain_id(VAL_UNIT);
    if (fk_check.scheduled)
        fk_sched_point(fk_self);
    if (atomic_load(&fk_self->interrupts))
        fk_poll_gc(fk_self);
    return VAL_UNIT;
}
value caml_recommended_domain_count(value unit)
{
    cpu_set_t set;
    (void)unit;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return VAL_INT(n < 1 ? 1 : n > MAX_DOMAINS ? MAX_DOMAINS : n);
}

value caml_domain_dls_get(value unit) { (void)unit; return fk_self->st.dls_root; }
value caml_domain_dls_set(value v)
{
    fk_self->st.dls_root = v;
    return VAL_UNIT;
}
value caml_domain_dls_compare_and_set(value old, value v)
{
    if (fk_self->st.dls_root != old)
        return VAL_FALSE;
    fk_self->st.dls_root = v;
    return VAL_TRUE;
}
