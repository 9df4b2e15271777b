/* thread.h - threads inside a domain. */
#ifndef FK_RT_THREAD_H
#define FK_RT_THREAD_H

#include "runtime/domain.h"

void fk_thread_domain_starts(struct domain *); /* its first thread runs */
/* Waits until the running thread is its domain's last. */
void fk_threads_join_all(struct domain *);
/* In the child of a fork: the running thread is the only one. */
void fk_thread_forked(void);

#endif
