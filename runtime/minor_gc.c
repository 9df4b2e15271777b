/* minor_gc.c - empties all nurseries: every domain's survivors are copied to
 * the major heap by the workers of one stop-the-world section.
 *
 * A worker takes a domain's roots, copies what they reach and scans the copies
 * until nothing is left; copies go to the worker's own heap. Two workers can
 * meet at one block: the header is the lock.
 *
 *   header of a nursery block    meaning
 *   wosize | tag                 not yet copied
 *   0x100                        a worker is copying it
 *   0                            copied; field 0 is the new address
 */
#include "runtime/collect.h"

#include <sched.h>

#include "runtime/check_history.h"
#include "runtime/fail.h"
#include "runtime/fiber.h"

uint64_t fk_minor_count;
static bool parallel;

static FK_NORETURN void heap_full(uintptr_t wosize)
{
    fk_fatal("out of memory: no room for a surviving block of %zu words", (size_t)wosize);
}

/* Wins the block (its header) or waits for the winner (0). */
static header lock_block(value v)
{
    header hd = atomic_load_explicit(HD_ATOMIC(v), memory_order_acquire);
    if (!parallel)
        return hd;
    for (;;) {
        if (hd == HEADER_FORWARDED)
            return 0;
        if (hd == HEADER_LOCKED)
            sched_yield();
        else if (atomic_compare_exchange_strong(HD_ATOMIC(v), &hd, HEADER_LOCKED))
            return hd;
        hd = atomic_load_explicit(HD_ATOMIC(v), memory_order_acquire);
    }
}

static value copy_block(struct domain *w, value v, header hd)
{
    uintptr_t wosize = hd_wosize(hd);
    value to = fk_heap_alloc(&w->heap, wosize, hd_tag(hd));
    if (!to)
        heap_full(wosize);
    memcpy((void *)to, (void *)v, wosize * sizeof(value));
    FIELD(v, 0) = to;
    atomic_store_explicit(HD_ATOMIC(v), HEADER_FORWARDED, memory_order_release);
    w->st.stat_promoted_words += wosize + 1;
    if (hd_tag(hd) < TAG_NO_SCAN)
        words_push(&w->work, (uintptr_t)to);
    return to;
}

static value promote(struct domain *w, value v)
{
    header hd = atomic_load_explicit(HD_ATOMIC(v), memory_order_relaxed);
    uintptr_t offset = 0;
    if (hd != HEADER_FORWARDED && hd_tag(hd) == TAG_INFIX) {
        offset = hd_wosize(hd) * sizeof(value);
        v -= offset;
    }
    hd = lock_block(v);
    return (hd ? copy_block(w, v, hd) : FIELD(v, 0)) + offset;
}

static void promote_root(void *ctx, value v, value *p)
{
    if (is_young_block(v)) /* a field can be a root twice: both workers store the same */
        field_store(p, promote(ctx, v));
}

static void scan_copy(struct domain *w, value v)
{
    header hd = HD(v);
    uintptr_t i = hd_tag(hd) == TAG_CLOSURE ? closinfo_start_env(FIELD(v, 1)) : 0;
    for (uintptr_t n = hd_wosize(hd); i < n; i++) {
        value f = FIELD(v, i);
        if (is_young_block(f))
            FIELD(v, i) = promote(w, f);
    }
}

static void drain(struct domain *w)
{
    while (w->work.size)
        scan_copy(w, w->work.data[--w->work.size]);
}

static void promote_remembered(struct domain *w, struct domain *d)
{
    for (size_t i = 0; i < d->remembered.size; i++) {
        value *p = (value *)d->remembered.data[i];
        promote_root(w, field_load(p), p);
        if (w->work.size > 4096)
            drain(w);
    }
    d->remembered.size = 0;
}

/* --- phases: each worker claims domains ---------------------------------------------- */

static void phase_roots(struct domain *w)
{
    int i;
    if (fk_stw_claim(CLAIM_GLOBALS, 1) == 0)
        fk_scan_globals(SCAN_YOUNG, promote_root, w);
    while ((i = fk_stw_claim(CLAIM_ROOTS, fk_slots_used())) >= 0) {
        struct domain *d = &fk_domains[i];
        if (!atomic_load(&d->in_use))
            continue;
        fk_scan_domain(d, SCAN_YOUNG, promote_root, w);
        promote_remembered(w, d);
    }
    drain(w);
}

/* Fibers that ran since the last collection and are suspended now. */
static void phase_fibers(struct domain *w)
{
    int i;
    while ((i = fk_stw_claim(CLAIM_FIBERS, fk_slots_used())) >= 0) {
        struct words *dirty = &fk_domains[i].dirty_fibers;
        size_t kept = 0;
        for (size_t k = 0; k < dirty->size; k++) {
            struct fiber *f = (struct fiber *)dirty->data[k];
            if (fiber_meta(f)->running == fk_minor_count) {
                dirty->data[kept++] = (uintptr_t)f;
                continue;
            }
            fk_scan_fiber(f, NULL, promote_root, w);
            fk_check_suspended(f);
            fiber_meta(f)->dirty_in = NULL;
        }
        dirty->size = kept;
    }
    drain(w);
}

/* Where a nursery value went; false: it is dead. */
static bool forward(value *p)
{
    value v = *p;
    uintptr_t offset = 0;
    if (!is_young_block(v))
        return true;
    header hd = HD(v);
    if (hd != HEADER_FORWARDED && hd_tag(hd) == TAG_INFIX) {
        offset = hd_wosize(hd) * sizeof(value);
        v -= offset;
    }
    if (HD(v) != HEADER_FORWARDED)
        return false;
    *p = FIELD(v, 0) + offset;
    return true;
}

bool fk_minor_forward(value *p) { return forward(p); }

static void finalize_customs(struct domain *d)
{
    for (size_t i = 0; i < d->customs.size; i++) {
        value v = d->customs.data[i];
        if (HD(v) != HEADER_FORWARDED)
            CUSTOM_OPS(v)->finalize(v);
    }
    d->customs.size = 0;
}

static void empty(struct domain *d)
{
    fk_finals_minor(d, forward);
    finalize_customs(d);
    fk_prof_after_minor(d);
    d->st.stat_minor_words += d->st.young_end - d->st.young_ptr;
    d->minor_collections++;
}

/* All survivors of all domains are copied: what has no new address is dead. */
static void phase_deaths(void)
{
    int i;
    while ((i = fk_stw_claim(CLAIM_DEATHS, fk_slots_used())) >= 0)
        if (atomic_load(&fk_domains[i].in_use))
            empty(&fk_domains[i]);
}

static void phase_reset(void)
{
    int i;
    while ((i = fk_stw_claim(CLAIM_RESET, fk_slots_used())) >= 0)
        if (atomic_load(&fk_domains[i].in_use)) {
            fk_check_emptied(&fk_domains[i]);
            fk_nursery_reset(&fk_domains[i]);
            fk_prof_set_trigger(&fk_domains[i]);
            fk_reset_limit(&fk_domains[i]);
        }
}

void fk_minor_work(struct domain *w)
{
    if (fk_stw_is_leader()) {
        fk_minor_count++;
        parallel = fk_stw_workers() > 1;
    }
    fk_stw_barrier();
    phase_roots(w);
    fk_stw_barrier();
    phase_fibers(w);
    fk_stw_barrier();
    phase_deaths();
    fk_stw_barrier();
    phase_reset();
    fk_stw_barrier();
}
