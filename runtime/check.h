/* check.h - checking modes (docs/checking.md). Everything is off by default and
 * costs one predictable branch then.
 *
 * FRAMEKIT_CHECK=LIST, comma separated:
 *   gc[=N]      collect at every (Nth) allocation and poll
 *   major[=N]   the same with a full major cycle;  compact[=N] with compaction
 *   at=SITE     collect at this return address (0x..., or SYMBOL+0xOFF); repeatable
 *   move        the nursery moves at each collection, the old one faults
 *   roots       every root must be a value; what is not listed gets poisoned
 *   heap[=N]    the whole heap is verified after every (Nth) collection
 *   lengths     allocation lengths of descriptors against the headers written
 *   stubs       stack limits, save areas and trap chain at each entry
 *   seed=N      domains run one at a time, switched by this seed
 *   sites=FILE  which return addresses collections met, and what their entries held
 *   kill=SITE/LOCATION  replace one live entry's block after each collection
 *   core        leave a core after a report
 *   all[=N]     gc=N,move,roots,heap=100,lengths,stubs
 *
 * Vocabulary: a *point* is an entry into the runtime at which a collection is
 * possible; poison is an address that faults and tells which location it
 * replaced (check_roots.c). */
#ifndef FK_RT_CHECK_H
#define FK_RT_CHECK_H

#include "runtime/fail.h"
#include "runtime/gc.h"

enum { MAX_CHECK_SITES = 64 };

struct check_config {
    bool paused, any, move, roots, lengths, stubs, core, every_alloc, after_gc, history;
    unsigned move_slots;       /* nurseries per slot */
    uint64_t period;           /* of gc, major, compact; 0: off */
    uint64_t heap_period;      /* 0: off */
    enum gc_kind kind;         /* what to do at a chosen point; GC_MINOR otherwise */
    bool scheduled;
    uint64_t seed;
    char *site_log, *kill;     /* sites=FILE, kill=SITE/LOCATION */
    unsigned nsites;
    uintptr_t sites[MAX_CHECK_SITES];
    const char *site_names[MAX_CHECK_SITES];
};
extern struct check_config fk_check;

void fk_check_init(void);
void fk_check_late_init(void); /* what needs symbols and a heap */
/* The API's way (framekit/runtime.h): false, and why in *error. */
bool fk_check_parse(const char *list, const char **error);

/* --- points of collection: check.c --- */
bool fk_check_due(struct domain *, uintptr_t ra);
/* Called once per entry: counts it and decides; fk_check_stress then says so once. */
void fk_check_point(struct domain *, struct walk *);
static inline void fk_check_gc_point(struct domain *d, struct walk *w)
{
    if (fk_check.any)
        fk_check_point(d, w);
}
static inline bool fk_check_stress(struct domain *d)
{
    bool due = d->stress_due;
    d->stress_due = false;
    return due;
}
/* An allocation by C code. */
static inline bool fk_check_stress_now(struct domain *d)
{
    return fk_check.every_alloc && fk_check_due(d, 0);
}

/* --- stubs: check_stub.c --- */
void fk_check_stub(struct domain *);
static inline void fk_check_stub_entry(struct domain *d)
{
    if (fk_check.stubs)
        fk_check_stub(d);
}

/* --- lengths: check_length.c --- */
void fk_lengths_remember(struct domain *);
void fk_lengths_verify(struct domain *);
uintptr_t fk_lengths_last(const struct domain *); /* the point that gave memory last; 0: unknown */
/* The point that gave memory ends. */
void fk_lengths_gave(struct domain *);
void fk_lengths_taken(struct domain *, const struct walk *);
static inline void fk_check_gave(struct domain *d)
{
    if (fk_check.lengths)
        fk_lengths_gave(d);
}
static inline void fk_check_expect_headers(struct domain *d)
{
    if (fk_check.lengths)
        fk_lengths_remember(d);
}

/* --- frames: check_frames.c; world stopped, nurseries empty --- */
/* `inner`: the frame called from this one; NULL for the youngest of a chunk. */
typedef void (*frame_fn)(struct walk *, const struct walk *inner, void *arg);
void fk_check_each_frame(frame_fn, void *arg);
void fk_check_frames_done(void); /* suspended fibers have been seen */
void fk_check_suspended_fiber(struct fiber *);
static inline void fk_check_suspended(struct fiber *f)
{
    if (fk_check.roots || fk_check.site_log || fk_check.kill)
        fk_check_suspended_fiber(f);
}

/* --- sites and kill: check_sites.c --- */
void fk_check_sites_init(void);
void fk_check_sites_work(void);
void fk_check_site_entered(struct walk *);
bool fk_check_is_killed(value v);
static inline bool fk_check_killed(value v) { return fk_check.kill && fk_check_is_killed(v); }

/* --- roots: check_roots.c --- */
/* "S+8" or "rbx" */
const char *fk_location_name(fk_live, char *buf, size_t size);
bool fk_descr_lists(const fk_descr *, fk_live);
void fk_check_root_value(struct walk *, uint32_t entry, value *p);
static inline void fk_check_root(struct walk *w, uint32_t entry, value *p)
{
    if (fk_check.roots && !fk_check.paused)
        fk_check_root_value(w, entry, p);
}
void fk_poison_unlisted(void); /* all fibers; world stopped, nurseries empty */
bool fk_is_poison(uintptr_t address);
FK_NORETURN void fk_report_poison(uintptr_t address, const char *how);

/* --- heap: check_heap.c --- */
/* What a word is, when it is not a value: NULL if it is one. `young`: nursery
 * blocks are allowed. */
const char *fk_not_a_value(value v, bool young);
void fk_check_mark_value(value v);
static inline void fk_check_mark(value v)
{
    if (fk_check.roots)
        fk_check_mark_value(v);
}
void fk_verify_heap(struct domain *worker, const char *when);
static inline void fk_verify_work(struct domain *worker, const char *when)
{
    if (fk_check.after_gc)
        fk_verify_heap(worker, when);
}

/* --- reports: report.c; all exit with code 97 --- */
FK_NORETURN void fk_report_no_descriptor(struct walk *);
FK_NORETURN void fk_report_stuck(struct walk *);
FK_NORETURN void fk_report_not_gc_point(struct walk *);
/* The facts that belong to a report. */
struct finding {
    const char *rule;     /* stable id, docs/checking.md */
    uintptr_t ra;         /* the return address concerned; 0: none */
    uintptr_t via;        /* the frame whose size led the walk there; 0: none */
    value object;         /* a block, or an address where one was; 0: none */
    const struct history *history; /* its, if not what is known now; NULL */
    value holder;         /* the block that has it in a field; 0: none */
    const char *location; /* "stack slot 16"; NULL */
};
FK_NORETURN void fk_report(const struct finding *, const char *format, ...) FK_PRINTF(2, 3);
void fk_report_init(void); /* fault handler */

/* --- symbols.c --- */
/* "camlFoo.f_12+0x34", or "0x..." without a symbol. */
void fk_symbol_name(uintptr_t address, char *buf, size_t size);
/* Of a return address, which may lie just past the end of its function. */
void fk_symbol_name_ra(uintptr_t ra, char *buf, size_t size);
uintptr_t fk_symbol_address(const char *name); /* "SYMBOL" or "SYMBOL+0xOFF"; 0: unknown */
uintptr_t fk_site_address(const char *name);   /* the same, or "0x..." */
/* A section of the program's file, and the address it is loaded at. NULL: there is none. */
const void *fk_program_section(const char *name, size_t *size, uintptr_t *address);

#endif
