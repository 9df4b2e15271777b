/* roots.c - everything that is a root, in one place.
 *
 * Stacks are scanned frame by frame through the frametable index. Static data
 * are roots too: caml_globals lists, per unit, the blocks whose fields count.
 * Between collections only units that were initialised since then can have
 * got young values without the write barrier. */
#include <stdlib.h>

#include "runtime/check.h"
#include "runtime/fail.h"
#include "runtime/gc.h"
#include "runtime/globals.h"
#include "runtime/profiler.h"

intptr_t caml_globals_inited;
extern value *const *const caml_globals[]; /* units' gc_roots, NULL */
static intptr_t globals_scanned;

/* --- stacks ----------------------------------------------------------------------- */

static void scan_frame(struct walk *w, root_fn fn, void *ctx)
{
    const fk_descr *d = &w->descr;
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        value *p = l.reg >= 0 ? &w->regs[l.reg] : (value *)(w->sp + l.offset);
        fk_check_root(w, i, p);
        if (!fk_check_killed(*p))
            fn(ctx, *p, p);
    }
}

void fk_scan_fiber(struct fiber *f, value *regs, root_fn fn, void *ctx)
{
    struct walk w;
    fn(ctx, f->handler->handle_value, &f->handler->handle_value);
    fn(ctx, f->handler->handle_exn, &f->handler->handle_exn);
    fn(ctx, f->handler->handle_effect, &f->handler->handle_effect);
    fk_walk_start(&w, f, regs);
    while (fk_walk_next(&w)) {
        if (!w.found)
            fk_report_no_descriptor(&w);
        if (fk_walk_stuck(&w))
            fk_report_stuck(&w);
        scan_frame(&w, fn, ctx);
    }
}

static void scan_chain(struct fiber *f, value *regs, root_fn fn, void *ctx)
{
    for (; f; f = f->handler->parent, regs = NULL) {
        fiber_meta(f)->running = fk_minor_count;
        fiber_meta(f)->marked = fk_major_count;
        fk_scan_fiber(f, regs, fn, ctx);
    }
}

/* --- threads and domains --------------------------------------------------------------- */

static void scan_locals(struct local_roots *r, root_fn fn, void *ctx)
{
    for (; r; r = r->next)
        for (intptr_t t = 0; t < r->ntables; t++)
            for (intptr_t i = 0; i < r->nitems; i++)
                fn(ctx, r->tables[t][i], &r->tables[t][i]);
}

static void scan_state(struct thread_state *s, root_fn fn, void *ctx)
{
    scan_chain(s->current_stack, s->gc_regs, fn, ctx);
    for (struct cut_parent *c = s->cut_parents; c; c = c->prev)
        scan_chain(c->parent, NULL, fn, ctx);
    scan_locals(s->local_roots, fn, ctx);
    fn(ctx, s->backtrace_last_exn, &s->backtrace_last_exn);
}

static void scan_thread(struct thread *t, root_fn fn, void *ctx)
{
    fn(ctx, t->descr, &t->descr);
    fn(ctx, t->terminated, &t->terminated);
    scan_state(&t->saved, fn, ctx);
}

/* The running thread's state is in the domain: bring its saved copy up to date,
 * scan that, and put back what a root action may have rewritten. */
static void scan_running(struct domain *d, root_fn fn, void *ctx)
{
    fk_thread_save(d->current);
    scan_thread(d->current, fn, ctx);
    d->st.backtrace_last_exn = d->current->saved.backtrace_last_exn;
}

void fk_scan_domain(struct domain *d, enum scan_kind kind, root_fn fn, void *ctx)
{
    fn(ctx, d->st.dls_root, &d->st.dls_root);
    for (struct thread *t = d->threads; t; t = t->next)
        if (t == d->current && d->loaded)
            scan_running(d, fn, ctx);
        else
            scan_thread(t, fn, ctx);
    fk_finals_scan(d, kind, fn, ctx);
    fk_prof_scan_roots(d, kind, fn, ctx);
}

/* --- static data ------------------------------------------------------------------------- */

void fk_scan_block(value v, root_fn fn, void *ctx)
{
    header hd = HD(v);
    if (hd_tag(hd) >= TAG_NO_SCAN)
        return;
    uintptr_t i = hd_tag(hd) == TAG_CLOSURE ? closinfo_start_env(FIELD(v, 1)) : 0;
    for (uintptr_t n = hd_wosize(hd); i < n; i++)
        fn(ctx, field_load(&FIELD(v, i)), &FIELD(v, i));
}

static void scan_unit(intptr_t i, root_fn fn, void *ctx)
{
    for (value *const *b = caml_globals[i]; *b; b++)
        fk_scan_block((value)*b, fn, ctx);
}

void fk_scan_globals(enum scan_kind kind, root_fn fn, void *ctx)
{
    intptr_t from = kind == SCAN_YOUNG ? globals_scanned : 0;
    intptr_t i = from;
    /* The unit being initialised, number caml_globals_inited, is included, and scanned again. */
    for (; i <= caml_globals_inited && caml_globals[i]; i++)
        scan_unit(i, fn, ctx);
    globals_scanned = i < caml_globals_inited ? i : caml_globals_inited;
    fk_globals_scan(kind, fn, ctx);
}
