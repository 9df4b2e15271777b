/* major_gc.c - mark and sweep of the major heap, all domains stopped.
 *
 * The nurseries are empty when marking begins, so marking sees no young value.
 * Marked means: header colour == fk_live_color, which swaps at the start. Each
 * worker marks from a stack of its own; one that runs dry takes from a shared
 * pool that the others fill while somebody is hungry.
 *
 * Order at the end of marking: Gc.finalise values are made alive again, then
 * ephemerons lose their dead keys, then Gc.finalise_last runs for the dead. */
#include <sched.h>
#include <stdlib.h>

#include "runtime/check.h"
#include "runtime/collect.h"
#include "runtime/fail.h"
#include "runtime/fiber.h"
#include "runtime/params.h"

uint64_t fk_major_count;
uintptr_t fk_live_words; /* found live by the last cycle */

static pthread_mutex_t share_lock = PTHREAD_MUTEX_INITIALIZER;
static struct words shared;
static _Atomic int hungry;

/* --- marking ---------------------------------------------------------------------- */

static bool is_marked(value v)
{
    if (!is_block(v) || is_young(v))
        return true;
    if (tag_of(v) == TAG_INFIX)
        v -= wosize_of(v) * sizeof(value);
    header c = hd_color(HD(v));
    return c == fk_live_color || c == COLOR_STATIC;
}

bool fk_is_marked(value v) { return is_marked(v); }

static void mark_fiber_chain(struct domain *w, struct fiber *f);

static void mark(struct domain *w, value v)
{
    if (!is_block(v))
        return;
    fk_check_mark(v);
    header hd = atomic_load_explicit(HD_ATOMIC(v), memory_order_relaxed);
    if (hd_tag(hd) == TAG_INFIX) {
        v -= hd_wosize(hd) * sizeof(value);
        hd = atomic_load_explicit(HD_ATOMIC(v), memory_order_relaxed);
    }
    if (hd_color(hd) == fk_live_color || hd_color(hd) == COLOR_STATIC)
        return;
    /* Two workers may both get here: then both scan it, which is only wasted work. */
    atomic_store_explicit(HD_ATOMIC(v), (hd & ~COLOR_MASK) | fk_live_color, memory_order_relaxed);
    w->st.stat_blocks_marked++;
    w->live_words += hd_wosize(hd) + 1;
    if (hd_tag(hd) == TAG_CONT)
        mark_fiber_chain(w, untag_ptr(FIELD(v, 0)));
    else if (hd_tag(hd) < TAG_NO_SCAN)
        words_push(&w->work, (uintptr_t)v);
}

static void mark_root(void *ctx, value v, value *p)
{
    (void)p;
    mark(ctx, v);
}

static void mark_fiber_chain(struct domain *w, struct fiber *f)
{
    for (; f; f = f->handler->parent) {
        fiber_meta(f)->marked = fk_major_count;
        fk_scan_fiber(f, NULL, mark_root, w);
    }
}

static void scan_grey(struct domain *w, value v)
{
    header hd = HD(v);
    uintptr_t i = hd_tag(hd) == TAG_CLOSURE ? closinfo_start_env(FIELD(v, 1)) : 0;
    for (uintptr_t n = hd_wosize(hd); i < n; i++)
        mark(w, FIELD(v, i));
}

/* --- sharing ------------------------------------------------------------------------- */

static void give_half(struct domain *w)
{
    pthread_mutex_lock(&share_lock);
    for (size_t n = w->work.size / 2; n > 0; n--)
        words_push(&shared, w->work.data[--w->work.size]);
    pthread_mutex_unlock(&share_lock);
}

static bool take_some(struct domain *w)
{
    pthread_mutex_lock(&share_lock);
    size_t n = shared.size < 256 ? shared.size : 256;
    for (size_t i = 0; i < n; i++)
        words_push(&w->work, shared.data[--shared.size]);
    pthread_mutex_unlock(&share_lock);
    return n > 0;
}

static void drain_local(struct domain *w)
{
    for (unsigned n = 0; w->work.size; n++) {
        scan_grey(w, w->work.data[--w->work.size]);
        if ((n & 255) == 0 && w->work.size > 64 && atomic_load(&hungry))
            give_half(w);
    }
}

/* Done when every worker is hungry and nothing is shared. */
static void drain(struct domain *w)
{
    drain_local(w);
    if (fk_stw_workers() == 1)
        return;
    atomic_fetch_add(&hungry, 1);
    for (;;) {
        if (take_some(w)) {
            atomic_fetch_sub(&hungry, 1);
            drain_local(w);
            atomic_fetch_add(&hungry, 1);
        } else if (atomic_load(&hungry) == fk_stw_workers()) {
            pthread_mutex_lock(&share_lock);
            bool none = shared.size == 0;
            pthread_mutex_unlock(&share_lock);
            if (none && atomic_load(&hungry) == fk_stw_workers())
                break;
        } else {
            sched_yield();
        }
    }
}

/* --- the cycle --------------------------------------------------------------------------- */

static void finish_sweep(void)
{
    int i;
    while ((i = fk_stw_claim(CLAIM_SWEEP_FINISH, fk_slots_used())) >= 0)
        if (fk_domains[i].started)
            fk_heap_finish_sweep(&fk_domains[i].heap);
}

static void begin_cycle(void)
{
    fk_major_count++;
    fk_live_color ^= COLOR_A ^ COLOR_B;
    atomic_store(&hungry, 0);
}

static void mark_roots(struct domain *w)
{
    int i;
    if (fk_stw_claim(CLAIM_MARK_GLOBALS, 1) == 0)
        fk_scan_globals(SCAN_ALL, mark_root, w);
    while ((i = fk_stw_claim(CLAIM_MARK, fk_slots_used())) >= 0)
        if (atomic_load(&fk_domains[i].in_use))
            fk_scan_domain(&fk_domains[i], SCAN_ALL, mark_root, w);
}

static void mark_ephemerons(struct domain *w)
{
    bool progress;
    do {
        progress = false;
        fk_ephes_mark(mark_root, w, is_marked, &progress);
        drain_local(w);
    } while (progress);
}

/* What is decided by one thread: few objects, order matters. */
static void settle_weak(struct domain *w)
{
    mark_ephemerons(w);
    for (int i = 0; i < fk_slots_used(); i++)
        if (atomic_load(&fk_domains[i].in_use))
            fk_finals_major(&fk_domains[i], true, is_marked, mark_root, w);
    drain_local(w);
    mark_ephemerons(w);
    fk_ephes_clean(is_marked);
    for (int i = 0; i < fk_slots_used(); i++)
        if (atomic_load(&fk_domains[i].in_use)) {
            fk_finals_major(&fk_domains[i], false, is_marked, mark_root, w);
            fk_prof_after_major(&fk_domains[i]);
        }
    fk_fibers_sweep(fk_major_count);
}

static void begin_sweep(void)
{
    int i;
    while ((i = fk_stw_claim(CLAIM_SWEEP, fk_slots_used())) >= 0)
        if (fk_domains[i].started)
            fk_heap_begin_sweep(&fk_domains[i].heap);
}

static void add_up(void)
{
    fk_live_words = 0;
    for (int i = 0; i < fk_slots_used(); i++) {
        fk_live_words += fk_domains[i].live_words;
        fk_domains[i].live_words = 0;
    }
}

void fk_major_work(struct domain *w)
{
    finish_sweep();
    fk_stw_barrier();
    if (fk_stw_is_leader())
        begin_cycle();
    fk_stw_barrier();
    mark_roots(w);
    drain(w);
    fk_stw_barrier();
    if (fk_stw_is_leader()) {
        atomic_store(&hungry, 0); /* or the leader would give work away */
        settle_weak(w);
        add_up();
    }
    fk_stw_barrier();
    begin_sweep();
    fk_stw_barrier();
}

/* --- when -------------------------------------------------------------------------------- */

/* The first cycle waits for this much; later ones for space_overhead percent
 * of what was live. 8 MiB: a small program should not collect at all. */
enum { FIRST_CYCLE_WORDS = 1 << 20 };

bool fk_gc_major_due(void)
{
    uintptr_t allocated = 0;
    for (int i = 0; i < fk_slots_used(); i++)
        if (fk_domains[i].started)
            allocated += heap_counted(&fk_domains[i].heap);
    uintptr_t limit = fk_live_words / 100 * fk_params.space_overhead;
    return allocated > (limit > FIRST_CYCLE_WORDS ? limit : FIRST_CYCLE_WORDS);
}

struct request {
    enum gc_kind kind;
    bool ran;
};

static void collect_job(struct domain *w, void *arg)
{
    struct request *r = arg;
    fk_minor_work(w);
    fk_verify_work(w, "after the minor collection");
    if (fk_stw_is_leader() && r->kind == GC_MINOR && fk_gc_major_due())
        r->kind = GC_MAJOR;
    fk_stw_barrier();
    if (r->kind >= GC_MAJOR) {
        fk_major_work(w);
        fk_verify_work(w, "after the major cycle");
    }
    if (r->kind == GC_COMPACT) {
        fk_compact_work(w);
        fk_verify_work(w, "after compaction");
    }
}

void fk_gc_collect(struct domain *d, enum gc_kind kind)
{
    struct request r = {.kind = kind};
    uint64_t minors = fk_minor_count;
    while (!fk_stw(d, collect_job, &r))
        if (kind == GC_MINOR && fk_minor_count != minors)
            break;
    if (r.kind >= GC_MAJOR)
        d->st.stat_forced_major_collections += kind >= GC_MAJOR;
}
