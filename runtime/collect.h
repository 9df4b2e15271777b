/* collect.h - inside the collector: work of one STW section. */
#ifndef FK_RT_COLLECT_H
#define FK_RT_COLLECT_H

#include "runtime/gc.h"
#include "runtime/profiler.h"

/* Counters for fk_stw_claim: one per phase. */
enum {
    CLAIM_GLOBALS, CLAIM_ROOTS, CLAIM_FIBERS, CLAIM_DEATHS, CLAIM_RESET,
    CLAIM_SWEEP_FINISH, CLAIM_MARK_GLOBALS, CLAIM_MARK, CLAIM_SWEEP, CLAIM_VERIFY,
    CLAIM_COMPACT, CLAIM_COMPACT_ROOTS, CLAIM_COMPACT_HEAP,
};

void fk_minor_work(struct domain *worker);
/* Where a nursery value went; false: it is dead. */
bool fk_minor_forward(value *p);
bool fk_is_marked(value v);
void fk_major_work(struct domain *worker);
void fk_compact_work(struct domain *worker);

#endif
