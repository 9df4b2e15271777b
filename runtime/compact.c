/* compact.c - moves the blocks of sparse pools together and gives memory back.
 *
 * Runs after a major cycle, by the leader alone. A moved block leaves its new
 * address in field 0 under a header of colour FREE; no live pointer refers to a
 * free slot, so "its header is FREE" means "it moved". Large blocks stay.
 *
 * With the check `move`, every pool is emptied into new ones, and the old ones
 * stay inaccessible until the next compaction. */
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/check_history.h"
#include "runtime/collect.h"
#include "runtime/fiber.h"
#include "runtime/pages.h"

uint64_t fk_compact_count;
static struct span *quarantine;

static void move_block(struct heap *h, value v)
{
    header hd = HD(v);
    value to = fk_heap_alloc(h, hd_wosize(hd), hd_tag(hd));
    if (!to)
        fk_fatal("out of memory: compaction of the heap");
    memcpy((void *)to, (void *)v, hd_wosize(hd) * sizeof(value));
    fk_check_moved(v, to);
    HD(v) = make_header(hd_wosize(hd), TAG_ABSTRACT, COLOR_FREE);
    FIELD(v, 0) = to;
}

static void empty_pool(struct heap *h, struct span *s)
{
    for (size_t i = 0, n = fk_pool_slots(s); i < n; i++) {
        value v = fk_pool_slot(s, i);
        if (hd_color(HD(v)) == fk_live_color)
            move_block(h, v);
    }
}

static struct span *evacuate(struct heap *h, struct span *emptied)
{
    for (unsigned c = 0; c < NUM_CLASSES; c++)
        for (struct span *s = fk_heap_take_sparse(h, c, fk_check.move), *next; s; s = next) {
            next = s->next;
            empty_pool(h, s);
            s->next = emptied;
            emptied = s;
        }
    return emptied;
}

/* --- references ------------------------------------------------------------------------ */

static void update(void *ctx, value v, value *p)
{
    uintptr_t offset = 0;
    (void)ctx;
    if (!is_block(v) || is_young(v))
        return;
    if (tag_of(v) == TAG_INFIX) {
        offset = wosize_of(v) * sizeof(value);
        v -= offset;
    }
    if (hd_color(HD(v)) == COLOR_FREE)
        *p = FIELD(v, 0) + offset;
}

static void update_chain(struct fiber *f)
{
    for (; f; f = f->handler->parent)
        fk_scan_fiber(f, NULL, update, NULL);
}

static void update_block(value v, void *arg)
{
    (void)arg;
    if (tag_of(v) == TAG_CONT)
        update_chain(untag_ptr(FIELD(v, 0)));
    else
        fk_scan_block(v, update, NULL);
}

static void update_all(void)
{
    fk_scan_globals(SCAN_ALL, update, NULL);
    fk_ephes_scan_list(update, NULL);
    fk_ephes_scan(update, NULL);
    for (int i = 0; i < fk_slots_used(); i++) {
        struct domain *d = &fk_domains[i];
        if (!atomic_load(&d->in_use))
            continue;
        fk_scan_domain(d, SCAN_ALL, update, NULL);
        fk_finals_scan_weak(d, update, NULL);
        fk_prof_scan_weak(d, update, NULL);
        fk_heap_each(&d->heap, update_block, NULL);
    }
}

/* --- pools that were emptied -------------------------------------------------------------- */

static void release(struct span *s)
{
    for (struct span *next; s; s = next) {
        next = s->next;
        mprotect(s->start, s->pages << PAGE_SHIFT, PROT_READ | PROT_WRITE);
        fk_pages_free(s);
    }
}

static void protect(struct span *s)
{
    for (; s; s = s->next) {
        s->kind = SPAN_FREE;
        mprotect(s->start, s->pages << PAGE_SHIFT, PROT_NONE);
    }
}

void fk_compact_work(struct domain *w)
{
    struct span *emptied = NULL;
    (void)w;
    if (fk_stw_is_leader()) {
        for (int i = 0; i < fk_slots_used(); i++)
            if (fk_domains[i].started) {
                fk_heap_finish_sweep(&fk_domains[i].heap);
                emptied = evacuate(&fk_domains[i].heap, emptied);
            }
        fk_check.paused = true; /* roots name the old places until they are updated */
        update_all();
        fk_check.paused = false;
        release(quarantine);
        quarantine = NULL;
        if (fk_check.move)
            protect(quarantine = emptied);
        else
            release(emptied);
        fk_pages_trim();
        fk_compact_count++;
    }
    fk_stw_barrier();
}
