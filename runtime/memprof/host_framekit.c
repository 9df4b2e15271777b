/* host_framekit.c - the engine in framekit's own runtime: runtime/profiler.h
 * on one side, host.h on the other, and the primitives of Gc.Memprof.
 *
 * All domains have promoted when the runtime reports a minor collection, so no
 * fate is ever undecided here. A domain without a profiler (memory ran out
 * when it was made) samples nothing. */
#include "runtime/profiler.h"

#include <stdlib.h>
#include <time.h>

#include "engine.h"
#include "runtime/backtrace.h"
#include "runtime/callback.h"
#include "runtime/collect.h"
#include "runtime/fail.h"
#include "runtime/memory.h"
#include "session.h"

struct fk_mp_host {
    struct domain *dom;
    fk_mp_domain *engine;
    uintptr_t *slots;
    size_t slots_capacity;
};

static fk_mp_host *host_of(struct domain *d)
{
    return d->st.memprof;
}

static fk_mp_domain *engine_of(struct domain *d)
{
    fk_mp_host *h = host_of(d);
    return h ? h->engine : NULL;
}

/* --- nursery ----------------------------------------------------------------- */

fk_mp_young fk_host_young(fk_mp_host *h)
{
    return (fk_mp_young){(uintptr_t *)h->dom->st.young_start, (uintptr_t *)h->dom->st.young_ptr};
}

void fk_host_set_young_ptr(fk_mp_host *h, uintptr_t *ptr)
{
    h->dom->st.young_ptr = (value *)ptr;
}

uintptr_t *fk_host_sample_trigger(fk_mp_host *h)
{
    return (uintptr_t *)h->dom->st.memprof_young_trigger;
}

void fk_host_store_sample_trigger(fk_mp_host *h, uintptr_t *trigger)
{
    h->dom->st.memprof_young_trigger = (value *)trigger;
}

/* Only the running thread lowers the limit, and it looks for interrupts after. */
void fk_host_set_sample_trigger(fk_mp_host *h, uintptr_t *trigger)
{
    fk_host_store_sample_trigger(h, trigger);
    fk_reset_limit(h->dom);
}

void fk_host_make_room(fk_mp_host *h, size_t words)
{
    fk_make_room(h->dom, words);
}

/* --- heap -------------------------------------------------------------------- */

bool fk_host_is_young(fk_mp_value v)
{
    return is_young(v);
}

fk_mp_fate fk_host_minor_fate(fk_mp_host *h, fk_mp_value v, bool final, fk_mp_value *moved)
{
    (void)h, (void)final;
    *moved = v;
    return fk_minor_forward(moved) ? FK_MP_MOVED : FK_MP_DIED;
}

bool fk_host_is_unmarked(fk_mp_value v)
{
    return !fk_is_marked(v);
}

/* --- callbacks ---------------------------------------------------------------- */

fk_mp_value fk_host_tracker(fk_mp_value tracker, int n)
{
    return FIELD(tracker, n);
}

static fk_mp_result from_value(value v)
{
    bool raised = is_exn_result(v);
    return (fk_mp_result){raised, raised ? exn_of_result(v) : v};
}

fk_mp_result fk_host_call_alloc(fk_mp_value closure, const fk_mp_allocation *a)
{
    value stack = VAL_UNIT;
    ROOTS(2, &closure, &stack);
    stack = fk_callstack_value((const uintptr_t *)a->slots, a->depth);
    value arg = fk_alloc_small(4, 0);
    FIELD(arg, 0) = VAL_INT(a->samples);
    FIELD(arg, 1) = VAL_INT(a->wosize);
    FIELD(arg, 2) = VAL_INT(a->source);
    FIELD(arg, 3) = stack;
    UNROOT_VOID();
    return from_value(fk_callback_exn(closure, arg));
}

fk_mp_result fk_host_call(fk_mp_value closure, fk_mp_value argument)
{
    return from_value(fk_callback_exn(closure, argument));
}

bool fk_host_option(fk_mp_value option, fk_mp_value *some)
{
    if (!is_block(option))
        return false;
    *some = FIELD(option, 0);
    return true;
}

void fk_host_set_pending(fk_mp_host *h)
{
    fk_set_action_pending(h->dom);
}

bool fk_host_in_compiled_code(fk_mp_host *h)
{
    struct walk w;
    fk_walk_start(&w, h->dom->st.current_stack, NULL);
    return fk_walk_next(&w) && w.found && (w.descr.flags & FK_DESCR_ALLOC);
}

uint64_t fk_host_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- callstacks ----------------------------------------------------------------- */

enum { KEEP_SLOTS = 256, KEEP_FACTOR = 8 };

size_t fk_host_callstack(fk_mp_host *h, size_t limit, ptrdiff_t alloc_index, const fk_mp_slot **slots)
{
    size_t depth = fk_callstack(h->dom, limit, &h->slots, &h->slots_capacity, alloc_index);
    if (h->slots_capacity > KEEP_SLOTS && h->slots_capacity > KEEP_FACTOR * (depth + 1)) {
        uintptr_t *smaller = realloc(h->slots, KEEP_SLOTS * sizeof *smaller);
        if (smaller) {
            h->slots = smaller;
            h->slots_capacity = KEEP_SLOTS;
        }
    }
    *slots = (const fk_mp_slot *)h->slots;
    return depth < h->slots_capacity ? depth : h->slots_capacity;
}

/* The cursor is the number of frames given so far. */
bool fk_host_frame(fk_mp_slot slot, void **cursor, fk_mp_frame *out)
{
    fk_frame f;
    uintptr_t n = (uintptr_t)*cursor;
    *cursor = (void *)(n + 1);
    *out = (fk_mp_frame){.address = fk_slot_address((uintptr_t)slot)};
    if (!fk_slot_frame((uintptr_t)slot, (unsigned)n, &f))
        return n == 0;
    out->function = f.defname;
    out->file = f.file;
    out->line = f.line;
    out->start_char = f.start_char;
    out->end_char = f.end_offset;
    return true;
}

/* --- domains and threads ----------------------------------------------------------- */

static void host_free(fk_mp_host *h)
{
    free(h->slots);
    free(h);
}

bool fk_prof_new_domain(struct domain *parent, struct domain *child)
{
    static _Atomic uint64_t born; /* a new stream for every domain, the same in every run */
    fk_mp_host *h = calloc(1, sizeof *h);
    child->st.memprof = NULL;
    if (!h)
        return false;
    h->dom = child;
    h->engine = fk_mp_domain_new(h, parent ? engine_of(parent) : NULL, atomic_fetch_add(&born, 1));
    if (!h->engine) {
        host_free(h);
        return false;
    }
    child->st.memprof = h;
    child->main_thread.memprof = fk_mp_domain_main_thread(h->engine);
    if (!parent)
        fk_mp_session_begin(h->engine, "framekit's engine in framekit's runtime");
    fk_mp_set_trigger(h->engine, true);
    fk_reset_limit(child);
    return true;
}

void fk_prof_delete_domain(struct domain *d)
{
    fk_mp_host *h = host_of(d);
    d->st.memprof_young_trigger = d->st.young_start;
    if (!h)
        return;
    d->st.memprof = NULL;
    fk_mp_domain_delete(h->engine);
    host_free(h);
}

bool fk_prof_new_thread(struct domain *d, struct thread *t)
{
    if (!engine_of(d))
        return true;
    t->memprof = fk_mp_thread_new(engine_of(d));
    return t->memprof != NULL;
}

void fk_prof_enter_thread(struct domain *d, struct thread *t)
{
    (void)d;
    if (t->memprof)
        fk_mp_thread_enter(t->memprof);
}

/* `t` may be the one that ran last: its heir runs now. */
void fk_prof_delete_thread(struct domain *d, struct thread *t)
{
    if (!t->memprof)
        return;
    fk_prof_enter_thread(d, d->current);
    fk_mp_thread_delete(t->memprof);
    t->memprof = NULL;
}

void fk_prof_suspend(struct domain *d)
{
    if (engine_of(d))
        fk_mp_suspend(engine_of(d), true);
}

/* --- sampling and callbacks ----------------------------------------------------------- */

void fk_prof_set_trigger(struct domain *d)
{
    if (engine_of(d))
        fk_mp_set_trigger(engine_of(d), true);
    else
        d->st.memprof_young_trigger = d->st.young_start;
}

static value to_value(fk_mp_result res)
{
    return res.is_exception ? make_exn_result(res.value) : VAL_UNIT;
}

void fk_prof_sample_young_c(struct domain *d, uintptr_t wosize)
{
    if (engine_of(d))
        fk_mp_sample_young_c(engine_of(d), wosize);
}

value fk_prof_sample_young(struct domain *d, uintptr_t words, unsigned n, const unsigned char *lens)
{
    return engine_of(d) ? to_value(fk_mp_sample_young(engine_of(d), words, n, lens)) : VAL_UNIT;
}

/* Custom memory has no header: what is sampled is the payload. */
void fk_prof_sample_block(struct domain *d, value block, uintptr_t words, int source)
{
    if (engine_of(d) && words)
        fk_mp_sample_block(engine_of(d), block, source <= FK_PROF_MARSHAL ? words - 1 : words, words, source);
}

value fk_prof_run_callbacks(struct domain *d)
{
    return engine_of(d) ? to_value(fk_mp_run_callbacks(engine_of(d))) : VAL_UNIT;
}

/* --- collector ------------------------------------------------------------------------- */

struct visit {
    root_fn fn;
    void *ctx;
};

static void visit_root(void *arg, fk_mp_value v, volatile fk_mp_value *p)
{
    struct visit *visit = arg;
    visit->fn(visit->ctx, v, (value *)p);
}

static void scan(struct domain *d, fk_mp_roots roots, root_fn fn, void *ctx)
{
    if (engine_of(d))
        fk_mp_scan_roots(engine_of(d), visit_root, &(struct visit){fn, ctx}, roots);
}

void fk_prof_scan_roots(struct domain *d, enum scan_kind kind, root_fn fn, void *ctx)
{
    scan(d, kind == SCAN_YOUNG ? FK_MP_ROOTS_YOUNG : FK_MP_ROOTS_ALL, fn, ctx);
}

void fk_prof_scan_weak(struct domain *d, root_fn fn, void *ctx)
{
    scan(d, FK_MP_ROOTS_WEAK, fn, ctx);
}

void fk_prof_after_minor(struct domain *d)
{
    if (engine_of(d))
        fk_mp_after_minor(engine_of(d));
}

void fk_prof_after_major(struct domain *d)
{
    if (engine_of(d))
        fk_mp_after_major(engine_of(d));
}

/* --- Gc.Memprof ----------------------------------------------------------------------------- */

static fk_mp_profile **profile_cell(value handle)
{
    return CUSTOM_DATA(handle);
}

static void handle_finalize(value handle)
{
    fk_mp_profile_unref(*profile_cell(handle));
}

static const struct custom_operations handle_ops = {.identifier = "framekit.memprof.profile",
                                                    .finalize = handle_finalize};

static void fail(fk_mp_error e)
{
    if (e == FK_MP_OK)
        return;
    if (e == FK_MP_NO_MEMORY)
        fk_raise_out_of_memory();
    if (e == FK_MP_BAD_ARGUMENT)
        fk_invalid_arg(fk_mp_error_text(e));
    fk_failwith(fk_mp_error_text(e));
}

static fk_mp_domain *self(void)
{
    if (!engine_of(fk_self))
        fk_raise_out_of_memory();
    return engine_of(fk_self);
}

value caml_memprof_start(value rate, value depth, value tracker)
{
    double r = double_of(rate);
    ROOTS(1, &tracker);
    value handle = fk_alloc_custom(&handle_ops, sizeof(fk_mp_profile *));
    UNROOT_VOID();
    *profile_cell(handle) = NULL;
    fail(fk_mp_start(self(), r, INT_VAL(depth), tracker, profile_cell(handle)));
    return handle;
}

value caml_memprof_stop(value unit)
{
    value exn = VAL_UNIT;
    fk_mp_error e = fk_mp_stop(self(), &exn);
    if (e == FK_MP_EXCEPTION)
        fk_raise(exn);
    fail(e);
    return unit;
}

value caml_memprof_discard(value handle)
{
    fail(fk_mp_discard(*profile_cell(handle)));
    return VAL_UNIT;
}
