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

/* A profile with callbacks in C. */
typedef struct fk_mp_layer {
    fk_mp_profile *profile;
    fk_mp_table *table;   /* one of the domain's orphans, pinned */
    fk_random random;
    int level;            /* of the limit: the rate is halved so often */
    double rate;
    int64_t gap;          /* words until the next sample outside the nursery's fast path */
    uintptr_t *trigger;   /* NULL: it has to be drawn */
    fk_mp_young drawn;    /* the nursery when it was */
    int64_t words;        /* of the request at hand: up to just above its first sample; <= 0: none */
    struct fk_mp_layer *next;
} fk_mp_layer;

/* In both, what a sample touches stands together: between two of them the program
 * has emptied the cache. */
struct fk_mp_thread {
    fk_mp_domain *domain;
    bool suspended;
    bool in_flight;      /* its callback is about a block without an entry */
    size_t offset;       /* of that block in its request */
    fk_mp_table table;   /* allocations not reported yet */
    fk_mp_run run;       /* the entry whose callback it is in */
    size_t batch;        /* callbacks left in its pass */
    fk_mp_thread *prev, *next;
};

struct fk_mp_domain {
    fk_mp_host *host;
    fk_mp_profile *profile;  /* current; NULL: none. Its tables have the same */
    fk_mp_thread *current, *threads;
    uintptr_t *trigger;      /* its own; the runtime sees the highest of all */
    fk_mp_layer *layers;
    fk_mp_table *orphans;
    bool pending;            /* some callback may be due */
    bool quiet;              /* the trigger was set for a suspended thread */
    uint8_t unsure;          /* UNSURE_*: some minor fates are undecided */
    unsigned reporting;      /* callbacks of layers on the stack */
    fk_mp_table table;
    int64_t gap;             /* words until the next sample outside the nursery's fast path */
    fk_random random;
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
/* Puts a new orphan table at the head of the list; NULL: no memory. */
fk_mp_table *fk_mp_orphan_new(fk_mp_domain *, fk_mp_profile *, fk_mp_value tracker);
void fk_mp_update_pending(fk_mp_domain *);

/* sample.c */
/* Gives the block in flight an entry in the thread's table, whose runner is the
 * callback. false: no memory. */
bool fk_mp_land(fk_mp_thread *);

/* A block with a sample in a request; `offset` of its header, words. */
typedef struct {
    size_t offset, wosize, samples;
    ptrdiff_t index;
} fk_mp_hit;

/* What is left of a request: blocks below `offset`; the next sampled word is
 * the one below t. */
typedef struct {
    const unsigned char *lens; /* NULL: one block */
    size_t blocks, offset;
    int64_t t;
} fk_mp_request;

bool fk_mp_next_hit(fk_random *, fk_mp_request *, fk_mp_hit *);
/* Sampled words among the next `words`, by the counter. */
size_t fk_mp_count_samples(fk_random *, int64_t *gap, size_t words);
uintptr_t *fk_mp_place_trigger(fk_mp_young, int64_t gap);

/* layers.c */
/* Draws their triggers; the highest of them and of `trigger`. */
uintptr_t *fk_mp_layers_draw(fk_mp_domain *, uintptr_t *trigger);
/* A request of `words` at ptr: where it has samples, before anything moves. */
void fk_mp_layers_note(fk_mp_domain *, size_t words);
/* The noted request is at ptr for good. */
void fk_mp_layers_young(fk_mp_domain *, size_t words, size_t n, const unsigned char *lens);
void fk_mp_layers_block(fk_mp_domain *, fk_mp_value block, size_t wosize, size_t words, int source);
void fk_mp_layers_inherit(fk_mp_domain *, const fk_mp_domain *parent);
/* Those whose profile has ended go. */
void fk_mp_layers_prune(fk_mp_domain *);
void fk_mp_layers_drop(fk_mp_domain *);

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
