/* check_heap.c - what is a value, and is the whole heap made of them? */
#include "runtime/check.h"
#include "runtime/collect.h"
#include "runtime/fiber.h"

/* The program's writable data: where compiled code keeps static blocks. */
extern char __data_start[], _end[];
extern char __executable_start[];

static bool in_image(value v)
{
    return (char *)v >= __executable_start && (char *)v < _end;
}

static bool in_nursery(value v)
{
    for (int i = 0; i < fk_slots_used(); i++) {
        struct domain *d = &fk_domains[i];
        if ((char *)v > (char *)d->st.young_ptr && (char *)v < (char *)d->st.young_end)
            return atomic_load(&d->in_use);
    }
    return false;
}

static const char *wrong_header(value v, uintptr_t words_left)
{
    header hd = HD(v);
    if (hd_tag(hd) == TAG_INFIX)
        return NULL;
    return hd_wosize(hd) > words_left ? "its header has an impossible size" : NULL;
}

static const char *young_fault(value v)
{
    if (!in_nursery(v))
        return "it points into a nursery that was already emptied: a pointer was not updated";
    header hd = HD(v);
    return hd == HEADER_FORWARDED || hd == HEADER_LOCKED ? NULL : wrong_header(v, MAX_YOUNG_WOSIZE);
}

const char *fk_not_a_value(value v, bool young)
{
    if (is_int(v))
        return NULL;
    if (v & 7)
        return "it is not aligned";
    if (is_young(v))
        return young ? young_fault(v) : "it points into the nursery, which is empty";
    if (in_image(v))
        return hd_color(HD(v)) == COLOR_STATIC || tag_of(v) == TAG_INFIX ? NULL
                   : "it points into the program's data, but not at a block";
    if (!fk_span_of((void *)v))
        return "it points outside the heap";
    if (fk_heap_is_block(v))
        return NULL;
    if (tag_of(v) == TAG_INFIX && fk_heap_is_block(v - (value)(wosize_of(v) * sizeof(value))))
        return NULL;
    return "it points into the heap, but not at a live block";
}

/* Called by the marker for everything it meets; nurseries are empty then. */
void fk_check_mark_value(value v)
{
    if (fk_is_poison((uintptr_t)v))
        fk_report_poison((uintptr_t)v, "was stored in the heap");
    const char *why = fk_not_a_value(v, false);
    if (!why)
        return;
    struct finding f = {.rule = "heap-value", .object = v};
    fk_report(&f, "the collector met 0x%zx, which is no value: %s", (size_t)v, why);
}

static void verify_field(value block, uintptr_t i)
{
    value v = FIELD(block, i);
    if (fk_is_poison((uintptr_t)v))
        fk_report_poison((uintptr_t)v, "was stored in the heap");
    const char *why = fk_not_a_value(v, false);
    if (!why)
        return;
    struct finding f = {.rule = "heap-value", .object = v, .holder = block};
    fk_report(&f, "field %zu of a block holds 0x%zx, which is no value: %s", (size_t)i, (size_t)v,
              why);
}

static void verify_block(value v, void *arg)
{
    header hd = HD(v);
    struct span *s = fk_span_of((void *)v);
    (void)arg;
    if (s->kind == SPAN_POOL && hd_wosize(hd) >= s->slot_words) {
        struct finding f = {.rule = "heap-header", .object = v};
        fk_report(&f, "a block's header says %zu fields, its slot has %u", (size_t)hd_wosize(hd),
                  s->slot_words - 1);
    }
    if (hd_tag(hd) >= TAG_NO_SCAN || hd_tag(hd) == TAG_CONT)
        return;
    uintptr_t i = hd_tag(hd) == TAG_CLOSURE ? closinfo_start_env(FIELD(v, 1)) : 0;
    for (; i < hd_wosize(hd); i++)
        verify_field(v, i);
}

void fk_verify_heap(struct domain *w, const char *when)
{
    static uint64_t collections;
    (void)w, (void)when;
    if (fk_stw_is_leader()) {
        fk_check_sites_work();
        if (fk_check.roots)
            fk_poison_unlisted();
        fk_check_frames_done();
        if (fk_check.heap_period && ++collections % fk_check.heap_period == 0)
            for (int i = 0; i < fk_slots_used(); i++)
                if (atomic_load(&fk_domains[i].in_use))
                    fk_heap_each(&fk_domains[i].heap, verify_block, NULL);
    }
    fk_stw_barrier();
}
