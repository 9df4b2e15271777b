/* prims_gc.c - the Gc module. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/callback.h"
#include "runtime/collect.h"
#include "runtime/fail.h"
#include "runtime/fiber.h"
#include "runtime/params.h"

extern uintptr_t fk_live_words;

/* Collect, then run what became pending (finalisers, signals): once, as OCaml does,
 * so what a finaliser lets go dies in a later call. */
static value collect(enum gc_kind kind, int times)
{
    for (int i = 0; i < times; i++)
        fk_gc_collect(fk_self, kind);
    value r = fk_pending_actions(fk_self);
    if (is_exn_result(r))
        fk_raise(exn_of_result(r));
    return VAL_UNIT;
}

value caml_gc_minor(value unit) { (void)unit; return collect(GC_MINOR, 1); }
value caml_gc_major(value unit) { (void)unit; return collect(GC_MAJOR, 1); }
/* Three, since ephemerons and values that were revived die one cycle later each. */
value caml_gc_full_major(value unit) { (void)unit; return collect(GC_MAJOR, 3); }
value caml_gc_compaction(value unit)
{
    (void)unit;
    fk_gc_collect(fk_self, GC_MAJOR);
    fk_gc_collect(fk_self, GC_MAJOR);
    return collect(GC_COMPACT, 1);
}
value caml_gc_major_slice(value n) { (void)n; collect(GC_MAJOR, 1); return VAL_INT(0); }

/* --- statistics ------------------------------------------------------------------------ */

struct totals {
    double minor, promoted, major;
    intptr_t minors, forced;
};

static uintptr_t minor_words(struct domain *d)
{
    return d->st.stat_minor_words + (d->st.young_end - d->st.young_ptr);
}

static struct totals totals(void)
{
    struct totals t = {0};
    for (int i = 0; i < fk_slots_used(); i++) {
        struct domain *d = &fk_domains[i];
        t.minor += (double)(d->st.stat_minor_words);
        if (atomic_load(&d->in_use) && d->st.young_end)
            t.minor += (double)(d->st.young_end - d->st.young_ptr);
        t.promoted += (double)d->st.stat_promoted_words;
        t.major += (double)(d->st.stat_major_words + d->st.stat_promoted_words);
        t.forced += d->st.stat_forced_major_collections;
    }
    t.minors = (intptr_t)fk_minor_count;
    return t;
}

double caml_gc_minor_words_unboxed(void) { return (double)minor_words(fk_self); }
value caml_gc_minor_words(value unit)
{
    (void)unit;
    return fk_copy_double(caml_gc_minor_words_unboxed());
}

static value float_fields(const double *x, int n, int total)
{
    value v = fk_alloc(total, 0);
    ROOTS(1, &v);
    for (int i = 0; i < n; i++) {
        value boxed = fk_copy_double(x[i]); /* before the address: it may collect */
        caml_modify(&FIELD(v, i), boxed);
    }
    return UNROOT(v);
}

value caml_gc_counters(value unit)
{
    struct domain *d = fk_self;
    (void)unit;
    double x[] = {(double)minor_words(d), (double)d->st.stat_promoted_words,
                  (double)(d->st.stat_major_words + d->st.stat_promoted_words)};
    return float_fields(x, 3, 3);
}

struct census {
    intptr_t blocks, words;
};
static void count(value v, void *p)
{
    struct census *c = p;
    c->blocks++;
    c->words += wosize_of(v) + 1;
}

/* Gc.stat: 17 fields, the first three are floats. */
static value stat_record(bool full)
{
    struct totals t = totals();
    double x[] = {t.minor, t.promoted, t.major};
    struct census c = {0};
    if (full)
        for (int i = 0; i < fk_slots_used(); i++)
            fk_heap_each(&fk_domains[i].heap, count, &c);
    value v = float_fields(x, 3, 17);
    intptr_t heap = (intptr_t)fk_heap_words();
    intptr_t rest[] = {t.minors, (intptr_t)fk_major_count, heap, 0, c.words, c.blocks,
                       full ? heap - c.words : 0, 0, 0, 0, (intptr_t)fk_compact_count, heap,
                       fk_self->st.current_stack ? (intptr_t)fiber_meta(fk_self->st.current_stack)->words : 0,
                       t.forced};
    for (int i = 0; i < 14; i++)
        FIELD(v, i + 3) = VAL_INT(rest[i]);
    return v;
}

value caml_gc_quick_stat(value unit) { (void)unit; return stat_record(false); }
value caml_gc_stat(value unit)
{
    (void)unit;
    collect(GC_MAJOR, 1);
    return stat_record(true);
}

/* --- control: 11 fields, those of OCaml 4's heap are 0 ---------------------------------- */

value caml_gc_get(value unit)
{
    struct domain *d = fk_self;
    (void)unit;
    intptr_t f[] = {(intptr_t)d->st.minor_heap_wsz, 0, (intptr_t)fk_params.space_overhead,
                    (intptr_t)fk_params.verbose, 0,
                    (intptr_t)fk_max_fiber_words, 0, 0, (intptr_t)fk_params.custom_major_ratio,
                    (intptr_t)fk_params.custom_minor_ratio,
                        (intptr_t)fk_params.custom_minor_max_size};
    value v = fk_alloc_small(11, 0);
    for (int i = 0; i < 11; i++)
        FIELD(v, i) = VAL_INT(f[i]);
    return v;
}

struct resize {
    struct domain *domain;
    uintptr_t words;
    bool ok;
};
static void resize_job(struct domain *w, void *arg)
{
    struct resize *r = arg;
    fk_minor_work(w);
    if (fk_stw_is_leader()) {
        r->ok = fk_nursery_resize(r->domain, r->words);
        for (int i = 0; i < fk_slots_used(); i++)
            if (atomic_load(&fk_domains[i].in_use)) {
                fk_prof_set_trigger(&fk_domains[i]);
                fk_reset_limit(&fk_domains[i]);
            }
    }
    fk_stw_barrier();
}

value caml_gc_set(value c)
{
    struct domain *d = fk_self;
    intptr_t minor = INT_VAL(FIELD(c, 0)), overhead = INT_VAL(FIELD(c, 2));
    intptr_t stack = INT_VAL(FIELD(c, 5));
    fk_params.space_overhead = overhead > 0 ? overhead : 1;
    fk_params.verbose = INT_VAL(FIELD(c, 3));
    fk_params.custom_major_ratio = INT_VAL(FIELD(c, 8)) > 0 ? INT_VAL(FIELD(c, 8)) : 1;
    fk_params.custom_minor_ratio = INT_VAL(FIELD(c, 9));
    fk_params.custom_minor_max_size = INT_VAL(FIELD(c, 10));
    fk_max_fiber_words = stack > 1024 ? stack : 1024;
    if (minor < 512)
        minor = 512;
    if ((uintptr_t)minor != d->st.minor_heap_wsz) {
        struct resize r = {d, minor, false};
        while (!fk_stw(d, resize_job, &r))
            continue;
        if (!r.ok)
            fk_raise_out_of_memory();
    }
    return VAL_UNIT;
}

value caml_get_minor_free(value unit)
{
    (void)unit;
    return VAL_INT(fk_self->st.young_ptr - fk_self->st.young_start);
}
value caml_get_major_bucket(value n) { (void)n; return VAL_INT(0); }
value caml_get_major_credit(value n) { (void)n; return VAL_INT(0); }
value caml_eventlog_resume(value unit) { (void)unit; return VAL_UNIT; }
value caml_eventlog_pause(value unit) { (void)unit; return VAL_UNIT; }
