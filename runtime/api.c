/* api.c - framekit/runtime.h. */
#include "framekit/runtime.h"

#include <pthread.h>
#include <stdlib.h>

#include "runtime/backtrace.h"
#include "runtime/callback.h"
#include "runtime/check.h"
#include "runtime/profiler.h"
#include "runtime/sched.h"
#include "runtime/signals.h"
#include "runtime/thread.h"

extern value caml_startup_exn(char **argv);

/* Misuse ends here, by name, and not as a fault somewhere in the collector. */
static void need_domain(const char *function)
{
    if (!fk_self)
        fk_fatal("%s: the calling thread runs no OCaml code", function);
}

bool fk_rt_check(const char *list, const char **error)
{
    *error = "fk_rt_check after fk_rt_start";
    return fk_slots_used() == 0 && fk_check_parse(list, error);
}

fk_rt_value fk_rt_start(char **argv)
{
    value r = caml_startup_exn(argv);
    return is_exn_result(r) ? exn_of_result(r) : 0;
}

void fk_rt_collect(fk_rt_kind kind)
{
    need_domain("fk_rt_collect");
    if (kind > FK_RT_COMPACT)
        fk_fatal("fk_rt_collect: there is no kind %d", (int)kind);
    fk_gc_collect(fk_self, (enum gc_kind)kind);
}

/* --- domains --------------------------------------------------------------------------- */

struct fk_rt_domain {
    pthread_t thread;
    struct domain *domain;
    void (*fn)(void *);
    void *arg;
    bool done; /* scheduled: the domain has ended */
};

static void *run(void *p)
{
    struct fk_rt_domain *r = p;
    struct domain *d = r->domain;
    fk_signals_stack();
    fk_thread_enter(d->current);
    fk_thread_domain_starts(d);
    r->fn(r->arg);
    fk_threads_join_all(d);
    fk_gc_collect(d, GC_MINOR);
    fk_prof_delete_domain(d);
    fk_domain_delete(d);
    if (fk_check.scheduled) {
        r->done = true;
        fk_sched_wake(r, true);
        fk_sched_end(&d->main_thread);
    }
    fk_signals_stack_free();
    return NULL;
}

fk_rt_domain *fk_rt_spawn(void (*fn)(void *), void *arg)
{
    need_domain("fk_rt_spawn");
    struct fk_rt_domain *r = malloc(sizeof *r);
    if (!r)
        return NULL;
    *r = (struct fk_rt_domain){.domain = fk_domain_new(), .fn = fn, .arg = arg};
    if (!r->domain) {
        free(r);
        return NULL;
    }
    fk_prof_new_domain(fk_self, r->domain);
    if (fk_check.scheduled)
        fk_sched_add(r->domain->current);
    if (pthread_create(&r->thread, NULL, run, r) != 0)
        fk_fatal("cannot create a thread for a domain");
    return r;
}

void fk_rt_join(fk_rt_domain *r)
{
    need_domain("fk_rt_join");
    if (!r)
        return;
    while (fk_check.scheduled && !r->done)
        fk_sched_wait(r);
    fk_blocking_enter();
    pthread_join(r->thread, NULL);
    fk_blocking_leave();
    free(r);
}

/* --- census ------------------------------------------------------------------------------- */

static void count(value v, void *p)
{
    fk_rt_census_line *line = (fk_rt_census_line *)p + tag_of(v);
    line->blocks++;
    line->words += wosize_of(v) + 1;
}

/* The heap of other domains must not change while it is walked. */
static void census_job(struct domain *w, void *lines)
{
    (void)w;
    if (fk_stw_is_leader())
        for (int i = 0; i < fk_slots_used(); i++)
            if (fk_domains[i].started)
                fk_heap_each(&fk_domains[i].heap, count, lines);
}

void fk_rt_census(void (*each)(const fk_rt_census_line *, void *), void *arg)
{
    need_domain("fk_rt_census");
    fk_rt_census_line lines[256] = {{0, 0, 0}};
    fk_gc_collect(fk_self, GC_MAJOR);
    while (!fk_stw(fk_self, census_job, lines))
        continue;
    for (unsigned tag = 0; tag < 256; tag++) {
        lines[tag].tag = tag;
        if (lines[tag].blocks)
            each(&lines[tag], arg);
    }
}

/* --- frames ----------------------------------------------------------------------------------- */

void fk_rt_frames(int (*each)(const fk_rt_frame *, void *), void *arg)
{
    need_domain("fk_rt_frames");
    struct walk w;
    for (struct fiber *f = fk_self->st.current_stack; f; f = f->handler->parent) {
        fk_walk_start(&w, f, NULL);
        while (fk_walk_next(&w) && w.found) {
            fk_frame src;
            fk_rt_frame out = {.return_address = w.ra, .frame_size = w.descr.frame_size,
                               .live = w.descr.num_live};
            if (fk_slot_frame((uintptr_t)w.descr.address, 0, &src)) {
                out.file = src.file;
                out.name = src.defname;
                out.line = src.line;
            }
            if (each(&out, arg))
                return;
        }
    }
}
