/* internal.h - shared by domain.c, sample.c, run.c and control.c. */
#ifndef FK_MEMPROF_INTERNAL_H
#define FK_MEMPROF_INTERNAL_H

#include "engine.h"

enum {
    MIN_THREAD = 16,    /* entries */
    MIN_DOMAIN = 128,
    MIN_ORPHAN = 16,
    BATCH = 8192,       /* callbacks in one pass: bounds the delay of a poll */
};

struct fk_mp_thread {
    fk_mp_domain *domain;
    fk_mp_table table;   /* allocations not reported yet */
    fk_mp_run run;       /* the entry whose callback it is in */
    bool in_flight;      /* ... or that callback is about a block without an entry */
    size_t offset;       /* of that block in its request */
    bool suspended;
    size_t batch;        /* callbacks left in its pass */
    fk_mp_thread *prev, *next;
};

struct fk_mp_domain {
    fk_mp_host *host;
    fk_random random;
    int64_t gap;             /* words until the next sample outside the nursery's fast path */
    fk_mp_profile *profile;  /* current; NULL: none. Its tables have the same */
    fk_mp_table table;
    fk_mp_table *orphans;
    fk_mp_thread *threads, *current;
    bool pending;            /* some callback may be due */
    bool quiet;              /* the trigger was set for a suspended thread */
    uint8_t unsure;          /* UNSURE_*: some minor fates are undecided */
};

/* A host that reports a minor collection before every domain has finished
 * leaves fates undecided. The next set_trigger (still inside the collection)
 * then arms the trigger so that the very next allocation enters the runtime,
 * and what comes first of all entry points decides, before the old nursery is
 * overwritten. */
enum { UNSURE_NONE, UNSURE_NOTED, UNSURE_ARMED };

/* domain.c */
bool fk_mp_samples(const fk_mp_domain *);
void fk_mp_decide(fk_mp_domain *);
void fk_mp_each_table(fk_mp_domain *, void (*f)(fk_mp_table *, void *), void *arg);
void fk_mp_adopt(fk_mp_domain *);
void fk_mp_sweep_orphans(fk_mp_domain *);
/* Puts a new orphan table with the profile and tracker of `like` at the head
 * of the list; NULL: no memory. */
fk_mp_table *fk_mp_orphan_new(fk_mp_domain *, const fk_mp_table *like);
void fk_mp_update_pending(fk_mp_domain *);

/* sample.c */
/* Gives the block in flight an entry in the thread's table, whose runner is the
 * callback. false: no memory. */
bool fk_mp_land(fk_mp_thread *);

/* control.c */
void fk_mp_table_cancel_offsets(fk_mp_table *);

/* run.c */
/* What a callback said: keep the entry with a datum, or not. */
typedef struct {
    fk_mp_result res;
    bool keep;
    fk_mp_value datum;
} fk_mp_answer;
/* Reports an allocation of the table's profile. mutator. */
fk_mp_answer fk_mp_report_alloc(const fk_mp_table *, uint16_t state, const fk_mp_allocation *);
/* The thread's entry gets what its callback said. True: it goes on. */
bool fk_mp_settle(fk_mp_thread *, const fk_mp_answer *);
fk_mp_result fk_mp_run_table(fk_mp_domain *, fk_mp_table *);
/* Reported entries of the current thread go to the domain's table. */
void fk_mp_flush_thread(fk_mp_domain *);

#endif
