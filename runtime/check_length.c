/* check_length.c - do the lengths in a descriptor describe what the code wrote?
 *
 *   young_ptr -> +--------+
 *                | header |  block 0: lens[0] fields, the last one allocated
 *                | fields |
 *                +--------+
 *                | header |  block 1 ...
 *
 * When a point gives memory to compiled code it is filled with a pattern; at
 * the next point the headers must be where the lengths put them. A header that
 * is still the pattern was never written (an exception came first): no verdict.
 *
 * And since every allocation passes a point in this mode, young_ptr must come back lowered by just
 * the words that the descriptor of the new point names. */
#include <stdlib.h>

#include "runtime/check.h"

#define PATTERN ((uintptr_t)0x5A5A5A5A5A5A5A5A)

struct lengths {
    value *left;     /* young_ptr when the last point ended; NULL: unknown */
    value *base;     /* NULL: nothing to look at */
    uintptr_t ra;
    uint64_t minors; /* the nursery is the same while this is */
    uint32_t n;
    uint16_t wosize[256];
};

static struct lengths *lengths_of(struct domain *d)
{
    if (!d->lengths && !(d->lengths = calloc(1, sizeof *d->lengths)))
        fk_fatal("out of memory: the check of allocation lengths");
    return d->lengths;
}

void fk_lengths_remember(struct domain *d)
{
    struct lengths *l = lengths_of(d);
    struct walk w;
    uintptr_t words = 0;
    fk_walk_start(&w, d->st.current_stack, d->st.gc_regs);
    l->base = NULL;
    fk_lengths_gave(d);
    if (!fk_walk_next(&w) || !w.found || w.descr.num_allocs == 0)
        return;
    l->n = w.descr.num_allocs < 256 ? w.descr.num_allocs : 256;
    for (uint32_t i = 0; i < l->n; i++) {
        l->wosize[i] = fk_descr_wosize(&w.descr, i);
        words += l->wosize[i] + 1;
    }
    l->base = d->st.young_ptr;
    l->ra = w.ra;
    for (uintptr_t i = 0; i < words && l->base + i < d->st.young_end; i++)
        l->base[i] = (value)PATTERN;
}

static FK_NORETURN void wrong(struct lengths *l, uint32_t i, header hd)
{
    struct finding f = {.rule = "alloc-length", .ra = l->ra};
    fk_report(&f,
              "block %u of the combined allocation has %zu field(s) in the descriptor, but the code "
              "wrote a header with %zu (tag %u)", i, (size_t)l->wosize[i], (size_t)hd_wosize(hd),
                  hd_tag(hd));
}

void fk_lengths_gave(struct domain *d)
{
    lengths_of(d)->left = d->st.young_ptr;
    d->lengths->minors = d->minor_collections;
}

/* young_ptr has been raised by the descriptor's words. */
void fk_lengths_taken(struct domain *d, const struct walk *w)
{
    struct lengths *l = lengths_of(d);
    value *left = l->left;
    l->left = NULL;
    if (!left || l->minors != d->minor_collections || left == d->st.young_ptr)
        return;
    struct finding f = {.rule = "alloc-length", .ra = w->ra};
    ptrdiff_t more = left - d->st.young_ptr;
    fk_report(&f, "the code took %td word(s) %s than the lengths in the descriptor add up to",
              more < 0 ? -more : more,
              more < 0 ? "less" : "more");
}

uintptr_t fk_lengths_last(const struct domain *d) { return d->lengths ? d->lengths->ra : 0; }

void fk_lengths_verify(struct domain *d)
{
    struct lengths *l = lengths_of(d);
    value *p = l->base;
    l->base = NULL;
    if (!p || l->minors != d->minor_collections)
        return;
    for (uint32_t i = 0; i < l->n && p < d->st.young_end; p += l->wosize[i++] + 1) {
        header hd = (header)*p;
        if (hd == PATTERN)
            continue;
        if (hd_wosize(hd) != l->wosize[i] || hd_color(hd) != 0)
            wrong(l, i, hd);
    }
}
