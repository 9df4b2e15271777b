/* check_frames.c - every frame that a collection scanned, for the checks.
 *
 * Frames that run or wait for a callee or for C are found from the threads.
 * Suspended fibers are found by the minor collection itself (phase_fibers),
 * which tells us: each is visited once after it ran, as the collector does. */
#include "runtime/check.h"
#include "runtime/fiber.h"

static struct words suspended;
static pthread_mutex_t suspended_lock = PTHREAD_MUTEX_INITIALIZER;

void fk_check_suspended_fiber(struct fiber *f)
{
    pthread_mutex_lock(&suspended_lock);
    words_push(&suspended, (uintptr_t)f);
    pthread_mutex_unlock(&suspended_lock);
}

static void visit_fiber(struct fiber *f, value *regs, frame_fn fn, void *arg)
{
    struct walk w, inner;
    bool top = true;
    fk_walk_start(&w, f, regs);
    for (char *chunk = NULL; fk_walk_next(&w) && w.found && !fk_walk_stuck(&w);
         inner = w, top = false) {
        bool first = top || w.chunk_end != chunk;
        chunk = w.chunk_end;
        fn(&w, first ? NULL : &inner, arg);
    }
}

static void visit_chain(struct fiber *f, value *regs, frame_fn fn, void *arg)
{
    for (; f; f = f->handler->parent, regs = NULL)
        visit_fiber(f, regs, fn, arg);
}

static void visit_thread(struct thread *t, frame_fn fn, void *arg)
{
    visit_chain(t->saved.current_stack, t->saved.gc_regs, fn, arg);
    for (struct cut_parent *c = t->saved.cut_parents; c; c = c->prev)
        visit_chain(c->parent, NULL, fn, arg);
}

void fk_check_each_frame(frame_fn fn, void *arg)
{
    for (int i = 0; i < fk_slots_used(); i++)
        if (atomic_load(&fk_domains[i].in_use))
            for (struct thread *t = fk_domains[i].threads; t; t = t->next)
                visit_thread(t, fn, arg);
    for (size_t i = 0; i < suspended.size; i++)
        visit_fiber((struct fiber *)suspended.data[i], NULL, fn, arg);
}

void fk_check_frames_done(void) { suspended.size = 0; }
