/* domain.h - domains: the unit of parallelism, each with a nursery.
 *
 * Glossary
 *   domain       a dom_state, a nursery, an allocator, a master lock, threads
 *   running      some thread holds the domain's master lock and may touch values
 *   stopped      no thread holds it (blocked in C), or its holder is parked
 *   parked       waiting at a safepoint for a stop-the-world section to end
 *   safepoint    allocation, poll, allocating C call, or leaving a blocking section
 *   STW          stop-the-world section: every domain stopped, parked ones help
 */
#ifndef FK_RT_DOMAIN_H
#define FK_RT_DOMAIN_H

#include <pthread.h>

#include "runtime/dom_state.h"
#include "runtime/heap.h"

#define MAX_DOMAINS 128

struct fiber;

/* Growable array of words: remembered sets, mark stacks, work lists. */
struct words {
    uintptr_t *data;
    size_t size, capacity;
};
void fk_words_grow(struct words *);
static inline void words_push(struct words *w, uintptr_t x)
{
    if (w->size == w->capacity)
        fk_words_grow(w);
    w->data[w->size++] = x;
}
void fk_words_free(struct words *);

/* Same layout as caml/memory.h's caml__roots_block: C stubs link themselves in. */
struct local_roots {
    struct local_roots *next;
    intptr_t ntables, nitems;
    value *tables[5];
};

/* A fiber whose parent was cut off while C calls back into OCaml. */
struct cut_parent {
    struct fiber *parent;
    struct cut_parent *prev;
};

struct final {
    value fun, val; /* val is weak for `first` entries until it dies */
};
struct finals {
    struct final *data;
    size_t size, capacity, young; /* entries below `young` are all old */
};

/* What a thread keeps while another thread of its domain runs. */
struct thread_state {
    struct fiber *current_stack;
    void *exn_handler, *c_stack;
    value *gc_regs;
    struct local_roots *local_roots;
    struct cut_parent *cut_parents;
    intptr_t backtrace_pos;
    uintptr_t *backtrace_buffer;
    value backtrace_last_exn;
};

/* What the seeded scheduler (sched.h) knows of a thread. */
struct sched {
    struct thread *next;
    const void *waits_for; /* NULL: nothing */
    bool ready, outside;
    pthread_cond_t mine;   /* it gets the turn */
};

struct thread {
    struct domain *domain;
    struct thread *next, *prev;
    struct thread_state saved;
    intptr_t id;
    value descr, terminated; /* roots: Thread.t, and its termination event */
    void *memprof;
    struct sched sched;
};

struct domain {
    struct dom_state st; /* first: compiled code's domain register points here */
    int slot;
    _Atomic bool in_use, started;

    /* scheduling: see domain.c */
    pthread_mutex_t master;        /* held by the thread that runs */
    pthread_cond_t master_free;
    bool master_busy;
    bool loaded;                   /* st has `current`'s state; settled while stopped */
    _Atomic int master_waiters;
    struct thread *threads, *current;
    struct thread main_thread;
    uint64_t master_turn;
    _Atomic int num_threads;
    _Atomic uintptr_t interrupts;  /* INT_* */
    bool parked;

    /* nursery */
    size_t young_next;             /* checking: where the next nursery starts in the slot */

    /* collector */
    struct words remembered;       /* fields outside the nursery that hold young values */
    struct words customs;          /* young custom blocks that have a finaliser */
    struct words ephes;            /* ephemerons made by this domain */
    struct words work;             /* objects copied but not yet scanned; grey objects */
    struct words dirty_fibers;     /* suspended fibers that may hold young values */
    pthread_mutex_t dirty_lock;
    struct heap heap;
    struct finals finals, finals_last;
    struct words finals_todo;      /* pairs fun, val */
    bool finals_running;

    struct cut_parent *cut_parents;
    size_t minor_collections;
    uintptr_t live_words;          /* marked by this worker */
    uint64_t alloc_points;         /* checking: entries into caml_garbage_collection and C */
    bool stress_due;
    struct lengths *lengths;       /* checking: headers to look at */
    struct words taken;            /* checking: who took what of the nursery (check_history.c) */
};

enum {
    INT_STW = 1,     /* park */
    INT_MINOR = 2,   /* somebody asked for a minor collection */
    INT_MAJOR = 4,   /* ... a major cycle */
    INT_YIELD = 8,   /* let another thread of this domain run */
    INT_CALLBACK = 16, /* finalisers or memprof callbacks wait */
};

extern _Thread_local struct domain *fk_self;
extern struct domain fk_domains[MAX_DOMAINS];
extern char *fk_young_start, *fk_young_end; /* range of all nurseries */
extern _Atomic int fk_num_domains;
/* No slot from here on was ever used: a few domains do not pay for the others' pages. */
extern _Atomic int fk_slots;
static inline int fk_slots_used(void)
{
    return atomic_load_explicit(&fk_slots, memory_order_relaxed);
}

static inline bool is_young(value v)
{
    return (char *)v > fk_young_start && (char *)v < fk_young_end;
}
static inline bool is_young_block(value v) { return is_block(v) && is_young(v); }

/* --- domain.c --------------------------------------------------------------- */

/* NULL: all slots are taken. The new domain is stopped. */
struct domain *fk_domain_new(void);
void fk_domain_delete(struct domain *); /* running, nursery empty; the slot is free after */

/* A thread takes and gives back its domain: between leave and enter it must
 * not touch values. */
void fk_thread_save(struct thread *);
void fk_thread_enter(struct thread *);
void fk_thread_leave(struct thread *);
/* The running thread around a system call that may wait. */
/* For a thread that ends: `heir`'s state becomes the domain's; then the domain
 * is given back without saving anything. */
void fk_thread_switch_away(struct thread *heir);
void fk_domain_release(struct domain *);
void fk_blocking_enter(void);
void fk_blocking_leave(void);
void fk_thread_yield(void);

void fk_interrupt(struct domain *, uintptr_t what); /* any thread */
void fk_set_action_pending(struct domain *);
void fk_reset_limit(struct domain *); /* the running thread */
/* Park and collect if asked; runs no OCaml code. */
void fk_poll_gc(struct domain *);

/* --- stw.c -------------------------------------------------------------------- */

/* Runs fn(domain, arg) on the caller and on every parked domain at once while
 * all domains are stopped. false: another section ran instead (the caller was
 * parked for it); look again whether yours is still needed. */
typedef void (*fk_stw_fn)(struct domain *worker, void *arg);
bool fk_stw(struct domain *self, fk_stw_fn fn, void *arg);
void fk_stw_park(struct domain *self);
void fk_stw_domain_runs(void);  /* a stopped domain starts; waits for a section to end */
void fk_stw_domain_stops(void);
/* Inside fn: */
void fk_stw_barrier(void);
int fk_stw_workers(void);
bool fk_stw_is_leader(void);
/* Hands out 0..n-1, each once, among the workers; -1: none left. `which` is one
 * of several counters; all are reset when a section begins. */
enum { FK_CLAIMS = 16 };
int fk_stw_claim(int which, int n);

/* --- nursery.c ------------------------------------------------------------------ */

void fk_nursery_init(uintptr_t wosize);
/* Words of a domain's nursery; inside STW with all nurseries empty. */
bool fk_nursery_resize(struct domain *, uintptr_t words);
void fk_nursery_open(struct domain *);  /* gives it memory */
void fk_nursery_close(struct domain *);
void fk_nursery_reset(struct domain *); /* empty again, after a minor collection */
extern uintptr_t fk_nursery_words;      /* of new domains */

#endif
