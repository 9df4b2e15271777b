/* callback.c - entries into OCaml from C, and the entry of compiled code into
 * the collector.
 *
 * While C calls back, the running fiber is cut from its parent: an effect that
 * is not handled inside the callback must not jump over C frames. */
#include "runtime/callback.h"

#include "runtime/check_history.h"
#include "runtime/fiber.h"
#include "runtime/profiler.h"
#include "runtime/sched.h"
#include "runtime/signals.h"

extern value caml_callback_asm(struct domain *, value closure, value *args);
extern value caml_callback2_asm(struct domain *, value closure, value *args);
extern value caml_callback3_asm(struct domain *, value closure, value *args);

typedef value (*callback_fn)(struct domain *, value, value *);

static value call(callback_fn fn, value closure, value *args, int n)
{
    struct domain *d = fk_self;
    {
        value pad = VAL_UNIT; /* roots while the fiber may grow and raise */
        struct local_roots r = {d->st.local_roots, n == 3 ? 4 : n == 2 ? 3 : 2, 1,
                                {&closure, &args[0], n > 1 ? &args[1] : &pad,
                                 n > 2 ? &args[2] : &pad}};
        d->st.local_roots = &r;
        fk_fiber_room(d);
        d->st.local_roots = r.next;
    }
    struct local_roots *saved = d->st.local_roots;
    struct cut_parent cut = {d->st.current_stack->handler->parent, d->cut_parents};
    d->st.current_stack->handler->parent = NULL;
    d->cut_parents = &cut;
    value v = fn(d, closure, args);
    d->cut_parents = cut.prev;
    d->st.current_stack->handler->parent = cut.parent;
    d->st.local_roots = saved;
    return v;
}

value fk_callback_exn(value closure, value arg)
{
    value args[] = {arg};
    return call(caml_callback_asm, closure, args, 1);
}
value fk_callback2_exn(value closure, value a, value b)
{
    value args[] = {a, b};
    return call(caml_callback2_asm, closure, args, 2);
}
value fk_callback3_exn(value closure, value a, value b, value c)
{
    value args[] = {a, b, c};
    return call(caml_callback3_asm, closure, args, 3);
}

static value or_raise(value v)
{
    if (is_exn_result(v))
        fk_raise(exn_of_result(v));
    return v;
}
value fk_callback(value closure, value arg) { return or_raise(fk_callback_exn(closure, arg)); }

value caml_callback_exn(value f, value a) { return fk_callback_exn(f, a); }
value caml_callback2_exn(value f, value a, value b) { return fk_callback2_exn(f, a, b); }
value caml_callback3_exn(value f, value a, value b, value c)
{
    return fk_callback3_exn(f, a, b, c);
}
value caml_callback(value f, value a) { return fk_callback(f, a); }
value caml_callback2(value f, value a, value b) { return or_raise(fk_callback2_exn(f, a, b)); }
value caml_callback3(value f, value a, value b, value c)
{
    return or_raise(fk_callback3_exn(f, a, b, c));
}

value caml_callbackN_exn(value f, int n, value *args)
{
    struct domain *d = fk_self;
    struct local_roots r = {d->st.local_roots, 1, n, {args}};
    d->st.local_roots = &r;
    for (int i = 0; i < n && !is_exn_result(f);) {
        int k = n - i < 3 ? n - i : 3;
        f = k == 1   ? fk_callback_exn(f, args[i])
            : k == 2 ? fk_callback2_exn(f, args[i], args[i + 1])
                     : fk_callback3_exn(f, args[i], args[i + 1], args[i + 2]);
        i += k;
    }
    d->st.local_roots = r.next;
    return f;
}
value caml_callbackN(value f, int n, value *args)
{
    return or_raise(caml_callbackN_exn(f, n, args));
}

/* --- pending actions ------------------------------------------------------------------ */

value fk_pending_actions(struct domain *d)
{
    fk_poll_gc(d);
    d->st.action_pending = 0;
    fk_reset_limit(d);
    value r = fk_signals_run(d);
    if (!is_exn_result(r))
        r = fk_prof_run_callbacks(d);
    if (!is_exn_result(r))
        r = fk_finals_run(d);
    if (!is_exn_result(r) && (atomic_fetch_and(&d->interrupts, ~(uintptr_t)INT_YIELD) & INT_YIELD))
        fk_thread_yield();
    if (is_exn_result(r)) /* the rest stays pending */
        fk_set_action_pending(d);
    return r;
}

static bool has_pending(struct domain *d)
{
    return atomic_load(&d->interrupts) || d->st.action_pending;
}

value caml_process_pending_actions_exn(void)
{
    return has_pending(fk_self) ? fk_pending_actions(fk_self) : VAL_UNIT;
}
void caml_process_pending_actions(void)
{
    value r = caml_process_pending_actions_exn();
    if (is_exn_result(r))
        fk_raise(exn_of_result(r));
}
value fk_after_pending_actions(value v)
{
    ROOTS(1, &v);
    caml_process_pending_actions();
    return UNROOT(v);
}
int caml_check_pending_actions(void) { return has_pending(fk_self); }

/* --- compiled code's way in --------------------------------------------------------------- */

/* Leaves caml_call_gc's frame by an exception. The stub gives the save area of
 * gc_regs back: doing it here as well would put it on the free list twice. */
static FK_NORETURN void raise_from_gc(struct domain *d, value *regs, value result)
{
    d->st.gc_regs = regs;
    fk_raise(exn_of_result(result));
}

static void run_actions(struct domain *d)
{
    value *regs = d->st.gc_regs;
    value r = fk_pending_actions(d);
    d->st.gc_regs = regs;
    if (is_exn_result(r))
        raise_from_gc(d, regs, r);
}

static uintptr_t combined_words(const fk_descr *descr)
{
    uintptr_t n = 0;
    for (uint32_t i = 0; i < descr->num_allocs; i++)
        n += fk_descr_wosize(descr, i) + 1;
    return n;
}

/* The reserved words hold a sample: the profiler's callbacks run now, before
 * compiled code writes the blocks, and may undo the request by an exception. */
static void sample(struct domain *d, const fk_descr *descr, uintptr_t words)
{
    unsigned char lens[256];
    unsigned n = descr->num_allocs < sizeof lens ? descr->num_allocs : sizeof lens;
    for (unsigned i = 0; i < n; i++)
        lens[i] = (unsigned char)(fk_descr_wosize(descr, i) - 1);
    value *regs = d->st.gc_regs;
    value r = fk_prof_sample_young(d, words, n, lens);
    d->st.gc_regs = regs;
    if (is_exn_result(r))
        raise_from_gc(d, regs, r);
}

/* young_ptr comes in lowered by the words that the descriptor names and goes
 * out lowered again, with room below it: compiled code does not look again. */
void caml_garbage_collection(void)
{
    struct domain *d = fk_self;
    struct walk w;
    fk_check_stub_entry(d);
    fk_walk_start(&w, d->st.current_stack, d->st.gc_regs);
    if (!fk_walk_next(&w) || !w.found)
        fk_report_no_descriptor(&w);
    if (!(w.descr.flags & FK_DESCR_ALLOC))
        fk_report_not_gc_point(&w);
    uintptr_t words = combined_words(&w.descr);
    value *regs = d->st.gc_regs;
    d->st.young_ptr += words;
    fk_check_gc_point(d, &w);
    if (fk_check.scheduled && fk_sched_due())
        fk_interrupt(d, INT_YIELD);
    if (has_pending(d))
        run_actions(d);
    while (fk_check_stress(d) ||
           (uintptr_t)(d->st.young_ptr - d->st.young_start) < words) {
        fk_gc_collect(d, fk_check.kind);
        if (has_pending(d))
            run_actions(d);
    }
    fk_reset_limit(d);
    d->st.gc_regs = regs;
    d->st.young_ptr -= words;
    if (words && d->st.young_ptr < d->st.memprof_young_trigger)
        sample(d, &w.descr, words);
    fk_check_took(d, words, w.ra);
    fk_check_expect_headers(d);
}
