/* report_object.c - the block that a report is about.
 *
 *   object: 0x7f..18, nursery, 3 fields, tag 0
 *     allocated at: 0x401234 camlFoo.f_12+0x34 (foo.ml:3, Foo.f)
 *     moved: in collection 17, from 0x7f..18 to 0x7e..40 */
#include "runtime/report.h"

#include <stdio.h>

#include "runtime/fiber.h"

static bool is_live_block(value v)
{
    return !is_young(v) && fk_heap_is_block(v);
}

/* The tag may have changed since: the block knows. The size may not: another one is damage. */
static struct history live_block(value v)
{
    struct history h;
    bool known = fk_history_present(v, &h);
    if (!known)
        h = (struct history){.at = v};
    if (!known || hd_wosize(h.hd) == wosize_of(v))
        h.hd = HD(v);
    return h;
}

struct history fk_object_at(uintptr_t a, uint64_t until)
{
    struct history h = {0};
    if (is_live_block((value)a))
        h = live_block((value)a);
    else if (!fk_history_past(a, until, &h))
        h = (struct history){0};
    return h;
}

static void print_allocation(const struct history *h)
{
    fk_descr d;
    bool compiled = h->ra && fk_frame_find(h->ra, &d) && !(d.flags & FK_DESCR_RETURN_TO_C);
    if (!compiled) {
        fprintf(stderr, h->by_c ? "    allocated by the runtime\n" : "    allocated: not known\n");
        return;
    }
    fprintf(stderr, h->by_c ? "    allocated by C code, called at: " : "    allocated at: ");
    fk_print_location(h->ra);
    fputc('\n', stderr);
}

static void print_move(const struct history *h)
{
    value from = h->to ? h->at : h->from, to = h->to ? h->to : h->at;
    if (from)
        fprintf(stderr, "    moved: in collection %zu, from 0x%zx to 0x%zx\n",
                (size_t)h->collection, (size_t)from, (size_t)to);
    else if (is_young(h->at))
        fprintf(stderr, "    died: in collection %zu\n", (size_t)h->collection);
}

void fk_print_object(const char *label, value v, const struct history *h)
{
    const char *where = is_young(v)               ? "nursery"
                        : fk_span_of((void *)v) ? "major heap"
                                                : "outside the heap";
    fprintf(stderr, "  %s: 0x%zx, %s", label, (size_t)v, where);
    if (!h->at) {
        fprintf(stderr, ", of which nothing is known\n");
        return;
    }
    fprintf(stderr, ", %zu fields, tag %u", (size_t)hd_wosize(h->hd), hd_tag(h->hd));
    if (v != h->at)
        fprintf(stderr, ", an address inside the block 0x%zx", (size_t)h->at);
    fputc('\n', stderr);
    print_allocation(h);
    print_move(h);
}

void fk_print_holders(const struct walk *w, const struct history *h)
{
    value end = h->at + (value)(hd_wosize(h->hd) * sizeof(value));
    int32_t size = h->at ? (int32_t)w->descr.frame_size : 0;
    for (int32_t o = fk_here->frame_reserved; o + 8 <= size; o += 8) {
        value v = *(value *)(w->sp + o);
        if (v >= h->at && v < end)
            fprintf(stderr, "; S+%d holds the object and is %s", o,
                    fk_descr_lists(&w->descr, (fk_live){o, -1}) ? "listed" : "not listed");
    }
}
