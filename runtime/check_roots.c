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

#include "runtime/check_history.h"
#include "runtime/fiber.h"
#include "runtime/report.h"

/* s390x reports faults by page: an entry has two pages of its own, the value is
 * the start of the second (its header lies in the first). */
enum { ENTRY_BYTES = 8192, ENTRIES = 1 << 14 };

struct poison {
    uintptr_t ra;
    value object;
    struct history history; /* of a block of the major heap, which may die later */
    uint64_t minor;
    char *sp;
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
    *p = (struct poison){w->ra, v, {0}, fk_minor_count, w->sp, offset, reg};
    if (!is_young(v))
        p->history = fk_object_at((uintptr_t)v, fk_minor_count);
    return (value)(area + (used++ % ENTRIES) * ENTRY_BYTES + ENTRY_BYTES / 2);
}

bool fk_descr_lists(const fk_descr *d, fk_live wanted)
{
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        if (l.reg == wanted.reg && (l.reg >= 0 || l.offset == wanted.offset))
            return true;
    }
    return false;
}

static bool lists_slot(const struct walk *w, ptrdiff_t offset)
{
    return fk_descr_lists(&w->descr, (fk_live){(int32_t)offset, -1});
}

/* `inner`: the frame called from this one, which may list words of its
 * incoming stack arguments beyond its own frame. */
static void poison_slots(struct walk *w, const struct walk *inner)
{
    int32_t first = fk_here->frame_reserved, end = (int32_t)w->descr.frame_size;
    for (int32_t o = first; o + 8 <= end; o += 8) {
        value *p = (value *)(w->sp + o);
        if (!looks_like_block(*p) || lists_slot(w, o))
            continue;
        if (inner && lists_slot(inner, w->sp + o - inner->sp))
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
        if (looks_like_block(*p) && !fk_descr_lists(&w->descr, (fk_live){0, r->index}))
            *p = poison_for(w, 0, r->index, *p);
    }
}

static void poison_frame(struct walk *w, const struct walk *inner, void *arg)
{
    (void)arg;
    poison_slots(w, inner);
    if (!inner && w->regs && (w->descr.flags & FK_DESCR_ALLOC))
        poison_registers(w);
}

void fk_poison_unlisted(void)
{
    if (have_area())
        fk_check_each_frame(poison_frame, NULL);
}

/* --- listed locations -------------------------------------------------------------------- */

const char *fk_location_name(fk_live l, char *buf, size_t size)
{
    const fk_reg *r = l.reg >= 0 ? fk_abi_reg(fk_here, l.reg,
                                              FK_ABI >= 504 ? FK_OCAML_5_4 : FK_OCAML_5_3) : NULL;
    if (l.reg >= 0)
        snprintf(buf, size, "%s", r ? r->name : "?");
    else
        snprintf(buf, size, "S+%d", l.offset);
    return buf;
}

static const char *location_text(fk_live l, char *buf, size_t size)
{
    char name[32];
    snprintf(buf, size, "%s %s", l.reg >= 0 ? "register" : "stack slot",
             fk_location_name(l, name, sizeof name));
    return buf;
}

/* A location that was dead at one return address (and is poisoned) is listed at a
 * later one, and was not written between. One of the two descriptors is wrong: if
 * the program goes on to use the word, the first, which did not list it; if it
 * never does, the second, which lists a dead word. So the verdict waits. */
static struct {
    uintptr_t ra, poison;
    fk_live live;
} doubt;

static const struct poison *entry_of(uintptr_t a)
{
    return &entries[(a - (uintptr_t)area) / ENTRY_BYTES];
}

static void settle_doubt(void)
{
    char where[64];
    if (!doubt.ra)
        return;
    struct finding f = {.rule = "root-value", .ra = doubt.ra,
                        .location = location_text(doubt.live, where, sizeof where)};
    fk_report(&f,
              "a listed root held a word that was dead since collection %zu, and the program never used it",
              (size_t)entry_of(doubt.poison)->minor);
}

static void meet_poison(const struct walk *w, fk_live l, uintptr_t a)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct poison *p = entry_of(a);
    if (p->reg != l.reg || p->sp + p->offset != w->sp + l.offset)
        fk_report_poison(a, "became a root");
    pthread_mutex_lock(&lock);
    if (!doubt.ra) {
        doubt.ra = w->ra, doubt.poison = a, doubt.live = l;
        atexit(settle_doubt);
    }
    pthread_mutex_unlock(&lock);
}

/* Who led the walk to this frame, if it is none. */
static uintptr_t led_by(const struct walk *w)
{
    uintptr_t culprit = fk_unwind_culprit(w);
    return culprit ? culprit : w->previous;
}

void fk_check_root_value(struct walk *w, uint32_t entry, value *p)
{
    char where[64];
    fk_live l = fk_descr_live(&w->descr, entry);
    if (l.reg >= 0 && !w->regs) {
        struct finding f = {.rule = "register-root", .ra = w->ra, .via = led_by(w),
                            .location = location_text(l, where, sizeof where)};
        fk_report(&f,
                  "the descriptor lists a register, but no registers were saved at this return address");
    }
    if (fk_is_poison((uintptr_t)*p)) {
        meet_poison(w, l, (uintptr_t)*p);
        return;
    }
    const char *why = fk_not_a_value(*p, true);
    if (!why)
        return;
    struct finding f = {.rule = "root-value", .ra = w->ra, .via = led_by(w), .object = *p,
                        .location = location_text(l, where, sizeof where)};
    fk_report(&f, "a listed root holds 0x%zx, which is no value: %s", (size_t)*p, why);
}

void fk_report_poison(uintptr_t a, const char *how)
{
    char where[64];
    const struct poison *p = entry_of(a);
    struct history h = p->history.at ? p->history : fk_object_at((uintptr_t)p->object, p->minor);
    struct finding f = {.rule = "unlisted-root", .ra = p->ra, .object = p->object, .history = &h,
                        .location = location_text((fk_live){p->offset, p->reg}, where,
                                                  sizeof where)};
    fk_report(&f,
              "a location that was not listed held the block 0x%zx during collection %zu, and %s later",
              (size_t)p->object, (size_t)p->minor, how);
}
