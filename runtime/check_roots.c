/* check_roots.c - proof of every root.
 *
 * Listed locations must hold values. Locations that are not listed are dead by
 * the frametable's word, so nobody may care what is in them: after each
 * collection every unlisted word of every frame that looks like a block (an
 * old nursery address or a block of the major heap) is replaced by poison.
 *
 *   poison_base                               value that replaces word i
 *   |<- 8192 bytes ->|                        v
 *   | entry 0        | entry 1  ...   |  ...  . 4096 | ...
 *
 * The area is never accessible. Code that uses such a word faults there, or
 * stores it where the collector finds it; the address gives the entry, the
 * entry says at which return address which location was not listed. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/check.h"
#include "runtime/fiber.h"

/* s390x reports faults by page: an entry has two pages of its own, the value is
 * the start of the second (its header lies in the first). */
enum { ENTRY_BYTES = 8192, ENTRIES = 1 << 14 };

struct poison {
    uintptr_t ra;
    value object;
    header hd;
    uint64_t minor;
    int32_t offset;
    int16_t reg;
};

static char *area;
static struct poison *entries;
static uint64_t used; /* a ring */

static bool have_area(void)
{
    if (area)
        return true;
    entries = calloc(ENTRIES, sizeof *entries);
    char *p = mmap(NULL, (size_t)ENTRIES * ENTRY_BYTES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (entries && p != MAP_FAILED)
        area = p;
    return area != NULL;
}

bool fk_is_poison(uintptr_t a)
{
    return area && a >= (uintptr_t)area && a < (uintptr_t)area + (size_t)ENTRIES * ENTRY_BYTES;
}

/* --- words that no descriptor lists ---------------------------------------------------- */

static bool looks_like_block(value v)
{
    return is_block(v) && v && (is_young(v) || fk_heap_is_block(v));
}

static value poison_for(struct walk *w, int32_t offset, int reg, value v)
{
    struct poison *p = &entries[used % ENTRIES];
    *p = (struct poison){w->ra, v, is_young(v) ? 0 : HD(v), fk_minor_count, offset, reg};
    return (value)(area + (used++ % ENTRIES) * ENTRY_BYTES + ENTRY_BYTES / 2);
}

static bool is_listed(const fk_descr *d, int32_t offset, int reg)
{
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        if (l.reg == reg && (reg >= 0 || l.offset == offset))
            return true;
    }
    return false;
}

/* `inner`: the frame called from this one, which may list words of its
 * incoming stack arguments beyond its own frame. */
static void poison_slots(struct walk *w, const struct walk *inner)
{
    int32_t first = fk_here->frame_reserved, end = (int32_t)w->descr.frame_size;
    for (int32_t o = first; o + 8 <= end; o += 8) {
        value *p = (value *)(w->sp + o);
        if (!looks_like_block(*p) || is_listed(&w->descr, o, -1))
            continue;
        if (inner && is_listed(&inner->descr, (int32_t)(w->sp + o - inner->sp), -1))
            continue;
        *p = poison_for(w, o, -1, *p);
    }
}

static void poison_registers(struct walk *w)
{
    for (size_t i = 0; i < fk_here->num_regs; i++) {
        const fk_reg *r = &fk_here->regs[i];
        if (r->index < 0 || r->index >= 100 || r->slot < 0)
            continue;
        value *p = &w->regs[r->slot];
        if (looks_like_block(*p) && !is_listed(&w->descr, 0, r->index))
            *p = poison_for(w, 0, r->index, *p);
    }
}

static void poison_fiber(struct fiber *f, value *regs)
{
    struct walk w, inner;
    bool top = true;
    fk_walk_start(&w, f, regs);
    for (char *chunk = NULL; fk_walk_next(&w) && w.found; inner = w, top = false) {
        bool first = top || w.chunk_end != chunk;
        chunk = w.chunk_end;
        poison_slots(&w, first ? NULL : &inner);
        if (first && w.regs && (w.descr.flags & FK_DESCR_ALLOC))
            poison_registers(&w);
    }
}

static void poison_chain(struct fiber *f, value *regs)
{
    for (; f; f = f->handler->parent, regs = NULL)
        poison_fiber(f, regs);
}

static void poison_thread(struct thread *t)
{
    poison_chain(t->saved.current_stack, t->saved.gc_regs);
    for (struct cut_parent *c = t->saved.cut_parents; c; c = c->prev)
        poison_chain(c->parent, NULL);
}

void fk_poison_unlisted(void)
{
    if (!have_area())
        return;
    for (int i = 0; i < fk_slots_used(); i++) {
        struct domain *d = &fk_domains[i];
        if (!atomic_load(&d->in_use))
            continue;
        for (struct thread *t = d->threads; t; t = t->next)
            poison_thread(t);
    }
}

/* --- listed locations -------------------------------------------------------------------- */

static const char *location_name(int32_t offset, int reg, char *buf, size_t size)
{
    const fk_reg *r = reg >= 0 ? fk_abi_reg(fk_here, reg, FK_ABI >= 504 ? FK_OCAML_5_4 : FK_OCAML_5_3) : NULL;
    if (reg >= 0)
        snprintf(buf, size, "register %s", r ? r->name : "?");
    else
        snprintf(buf, size, "stack slot S+%d", offset);
    return buf;
}

void fk_check_root_value(struct walk *w, uint32_t entry, value *p)
{
    char where[64];
    fk_live l = fk_descr_live(&w->descr, entry);
    if (l.reg >= 0 && !w->regs) {
        struct finding f = {.rule = "register-root", .ra = w->ra, .location = location_name(0, l.reg, where, sizeof where)};
        fk_report(&f, "the descriptor lists a register, but no registers were saved at this return address");
    }
    if (fk_is_poison((uintptr_t)*p))
        fk_report_poison((uintptr_t)*p, "became a root");
    const char *why = fk_not_a_value(*p, true);
    if (!why)
        return;
    struct finding f = {.rule = "root-value", .ra = w->ra, .location = location_name(l.offset, l.reg, where, sizeof where)};
    fk_report(&f, "a listed root holds 0x%zx, which is no value: %s", (size_t)*p, why);
}

void fk_report_poison(uintptr_t a, const char *how)
{
    char where[64];
    const struct poison *p = &entries[(a - (uintptr_t)area) / ENTRY_BYTES];
    struct finding f = {.rule = "unlisted-root", .ra = p->ra,
                        .location = location_name(p->offset, p->reg, where, sizeof where)};
    char block[96] = "";
    if (p->hd)
        snprintf(block, sizeof block, " (major heap, %zu fields, tag %u)", (size_t)hd_wosize(p->hd), hd_tag(p->hd));
    fk_report(&f, "a location that was not listed held the block 0x%zx%s during collection %zu, and %s later",
              (size_t)p->object, block, (size_t)p->minor, how);
}
