/* check_history.h - what the checking modes remember of blocks (check_history.c), so that a
 * report can say where an object was made and when it moved. Off unless a check is on that can
 * meet a stale pointer: `move`, `roots`, `heap`. */
#ifndef FK_RT_CHECK_HISTORY_H
#define FK_RT_CHECK_HISTORY_H

#include "runtime/check.h"

struct history {
    value at;            /* where the block is, or was */
    value from;          /* moved here from there; 0: made here */
    value to;            /* moved away from here; 0: died here, or is here */
    header hd;           /* wosize and tag */
    uintptr_t ra;        /* of the allocation, or of the call of C that made it; 0: unknown */
    uint64_t collection; /* number of the last event: made, moved or died */
    bool by_c;
};

void fk_history_init(void);

/* The running domain took words at young_ptr, for compiled code or for C. */
void fk_history_took(struct domain *, uintptr_t words, uintptr_t ra);
void fk_history_took_c(struct domain *, uintptr_t words);
void fk_history_major(struct domain *, value v); /* a block of the major heap, made by C */
void fk_history_emptied(struct domain *);        /* its nursery; before it is given back */
void fk_history_moved(value from, value to);     /* compaction */

static inline void fk_check_took(struct domain *d, uintptr_t words, uintptr_t ra)
{
    if (fk_check.history && words)
        fk_history_took(d, words, ra);
}
static inline void fk_check_took_c(struct domain *d, uintptr_t words)
{
    if (fk_check.history)
        fk_history_took_c(d, words);
}
static inline void fk_check_major(struct domain *d, value v)
{
    if (fk_check.history)
        fk_history_major(d, v);
}
static inline void fk_check_emptied(struct domain *d)
{
    if (fk_check.history)
        fk_history_emptied(d);
}
static inline void fk_check_moved(value from, value to)
{
    if (fk_check.history)
        fk_history_moved(from, to);
}

/* A block of the major heap, by the address of field 0. */
bool fk_history_present(value v, struct history *);
/* The last block that left this address, in collection `until` at the latest. */
bool fk_history_past(uintptr_t address, uint64_t until, struct history *);

#endif
