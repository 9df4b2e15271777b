/* sched.h - the checking mode `seed=N`: one thread of all domains runs at a
 * time, and a pseudo-random generator says when the next one takes over and
 * which. The same seed gives the same interleaving again.
 *
 *   turn      what a thread needs to run; one thread has it
 *   point     a safepoint at which the turn may pass on
 *   ready     wants the turn
 *   waiting   for an object (a mutex, a condition, an event) to be woken
 *   outside   in a blocking section, turn kept: what it waits for happens
 *             before anything else does, or after OUTSIDE_MS the others go on
 *
 * Everything here is called with fk_check.scheduled set. */
#ifndef FK_RT_SCHED_H
#define FK_RT_SCHED_H

#include "runtime/domain.h"

/* A thread exists from fk_sched_add, called by its maker, so that when its
 * system thread gets going does not matter. */
void fk_sched_add(struct thread *);
void fk_sched_forget(struct thread *); /* made, but never started */
void fk_sched_end(struct thread *);    /* the caller's, domain given back; it may be freed after */
/* In the child of a fork: the running thread, which has the turn, is the only one. */
void fk_sched_forked(struct thread *);

void fk_sched_acquire(struct thread *); /* waits for the turn */
void fk_sched_outside(struct thread *); /* a blocking section begins; ends with acquire */
void fk_sched_pass(struct thread *);    /* domain given back; then acquire */

/* Has the generator said that the turn passes on here? Counts the point. */
bool fk_sched_due(void);
/* In C, where the domain keeps its thread: perhaps another domain runs. */
void fk_sched_point(struct domain *);

/* The running thread gives its domain back until somebody wakes it. */
void fk_sched_wait(const void *object);
void fk_sched_wake(const void *object, bool all);

#endif
