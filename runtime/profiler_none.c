/* profiler_none.c - no profiler is linked: nothing is sampled, and Gc.Memprof
 * says so when it is used. */
#include "runtime/fail.h"
#include "runtime/profiler.h"

void fk_prof_scan_roots(struct domain *d, enum scan_kind kind, root_fn fn, void *ctx)
{
    (void)d, (void)kind, (void)fn, (void)ctx;
}
void fk_prof_scan_weak(struct domain *d, root_fn fn, void *ctx) { (void)d, (void)fn, (void)ctx; }
void fk_prof_after_minor(struct domain *d) { (void)d; }
void fk_prof_after_major(struct domain *d) { (void)d; }
void fk_prof_set_trigger(struct domain *d) { d->st.memprof_young_trigger = d->st.young_start; }
void fk_prof_sample_young_c(struct domain *d, uintptr_t wosize) { (void)d, (void)wosize; }
value fk_prof_sample_young(struct domain *d, uintptr_t words, unsigned n, const unsigned char *lens)
{
    (void)d, (void)words, (void)n, (void)lens;
    return VAL_UNIT;
}
void fk_prof_sample_block(struct domain *d, value v, uintptr_t words, int source)
{
    (void)d, (void)v, (void)words, (void)source;
}
value fk_prof_run_callbacks(struct domain *d) { (void)d; return VAL_UNIT; }
void fk_prof_suspend(struct domain *d) { (void)d; }
bool fk_prof_new_domain(struct domain *parent, struct domain *child)
{
    (void)parent, (void)child;
    return true;
}
void fk_prof_delete_domain(struct domain *d) { (void)d; }
bool fk_prof_new_thread(struct domain *d, struct thread *t) { (void)d, (void)t; return true; }
void fk_prof_enter_thread(struct domain *d, struct thread *t) { (void)d, (void)t; }
void fk_prof_delete_thread(struct domain *d, struct thread *t) { (void)d, (void)t; }

static const char missing[] = "Gc.Memprof: no profiler is linked with this runtime";
value caml_memprof_start(value lambda, value size, value tracker)
{
    (void)lambda, (void)size, (void)tracker;
    fk_failwith(missing);
}
value caml_memprof_stop(value unit) { (void)unit; fk_failwith(missing); }
value caml_memprof_discard(value profile) { (void)profile; fk_failwith(missing); }
