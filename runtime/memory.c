/* memory.c - allocation by C code, and the write barrier.
 *
 * The barrier keeps one invariant: a field outside the nursery that holds a
 * nursery block is in some domain's remembered set. Marking happens with the
 * world stopped, so no deletion barrier is needed. */
#include "runtime/memory.h"

#include <stdlib.h>

#include "runtime/check_history.h"
#include "runtime/fail.h"
#include "runtime/fiber.h"
#include "runtime/profiler.h"
#include "runtime/params.h"
#include "runtime/sched.h"

/* --- atoms ------------------------------------------------------------------------- */

/* Blocks of size 0, one per tag: header only. */
static header atoms[257];

void fk_atoms_init(void)
{
    for (unsigned t = 0; t < 256; t++)
        atoms[t] = make_header(0, t, COLOR_STATIC);
}

value fk_atom(unsigned tag) { return (value)&atoms[tag + 1]; }
value caml_atom(unsigned tag) { return fk_atom(tag); }

/* --- nursery ------------------------------------------------------------------------- */

void fk_make_room(struct domain *d, uintptr_t whsize)
{
    if (fk_check.scheduled)
        fk_sched_point(d);
    if (atomic_load_explicit(&d->interrupts, memory_order_relaxed))
        fk_poll_gc(d);
    if (fk_check_stress_now(d))
        fk_gc_collect(d, fk_check.kind);
    while ((uintptr_t)(d->st.young_ptr - d->st.young_start) < whsize)
        fk_gc_collect(d, GC_MINOR);
}

value *fk_reserve_young(uintptr_t words)
{
    struct domain *d = fk_self;
    fk_make_room(d, words);
    fk_reset_limit(d);
    d->st.young_ptr -= words;
    if (d->st.young_ptr < d->st.memprof_young_trigger) {
        fk_prof_set_trigger(d);
        fk_reset_limit(d);
    }
    fk_check_took_c(d, words);
    fk_check_gave(d);
    return d->st.young_ptr;
}

static void alloc_slow(struct domain *d, uintptr_t whsize)
{
    d->st.young_ptr += whsize;
    fk_make_room(d, whsize);
    fk_reset_limit(d);
    d->st.young_ptr -= whsize;
    if (d->st.young_ptr < d->st.memprof_young_trigger)
        fk_prof_sample_young_c(d, whsize - 1);
    fk_check_took_c(d, whsize);
    fk_check_gave(d);
}

value fk_alloc_small(uintptr_t wosize, unsigned tag)
{
    struct domain *d = fk_self;
    d->st.young_ptr -= wosize + 1;
    if ((uintptr_t)d->st.young_ptr < atomic_load_explicit(&d->st.young_limit, memory_order_relaxed))
        alloc_slow(d, wosize + 1);
    value v = (value)(d->st.young_ptr + 1);
    HD(v) = make_header(wosize, tag, 0);
    return v;
}

/* --- major heap ---------------------------------------------------------------------- */

static value alloc_shr(uintptr_t wosize, unsigned tag)
{
    struct domain *d = fk_self;
    if (wosize > MAX_WOSIZE)
        fk_raise_out_of_memory();
    value v = fk_heap_alloc(&d->heap, wosize, tag);
    if (!v)
        fk_raise_out_of_memory();
    d->st.allocated_words_direct += wosize + 1;
    d->st.stat_major_words += wosize + 1;
    fk_check_major(d, v);
    fk_prof_sample_block(d, v, wosize + 1, FK_PROF_NORMAL);
    if (wosize > MAX_YOUNG_WOSIZE && fk_gc_major_due())
        fk_interrupt(d, INT_MAJOR);
    return v;
}

/* Fields must be scannable at once: the next allocation may collect. */
value fk_alloc_shr(uintptr_t wosize, unsigned tag)
{
    if (wosize == 0)
        return fk_atom(tag);
    value v = alloc_shr(wosize, tag);
    if (tag < TAG_NO_SCAN)
        for (uintptr_t i = 0; i < wosize; i++)
            FIELD(v, i) = VAL_UNIT;
    return v;
}

value fk_alloc(uintptr_t wosize, unsigned tag)
{
    if (wosize == 0)
        return fk_atom(tag);
    if (wosize > MAX_YOUNG_WOSIZE)
        return fk_alloc_shr(wosize, tag);
    value v = fk_alloc_small(wosize, tag);
    if (tag < TAG_NO_SCAN)
        for (uintptr_t i = 0; i < wosize; i++)
            FIELD(v, i) = VAL_UNIT;
    return v;
}

value caml_alloc(uintptr_t wosize, unsigned tag) { return fk_alloc(wosize, tag); }
value caml_alloc_tuple(uintptr_t n) { return fk_alloc(n, 0); }
value caml_alloc_small(uintptr_t wosize, unsigned tag) { return fk_alloc_small(wosize, tag); }
value caml_alloc_shr(uintptr_t wosize, unsigned tag) { return fk_alloc_shr(wosize, tag); }

/* Blocks of more than 256 fields, from compiled code. */
value caml_alloc_shr_check_gc(uintptr_t wosize, unsigned tag)
{
    if (fk_check_stress_now(fk_self))
        fk_gc_collect(fk_self, fk_check.kind);
    return fk_alloc_shr(wosize, tag);
}

/* --- strings and boxed numbers ---------------------------------------------------------- */

value fk_alloc_string(uintptr_t length)
{
    uintptr_t wosize = length / sizeof(value) + 1;
    if (wosize > MAX_WOSIZE || length > MAX_WOSIZE * sizeof(value) - 1)
        fk_invalid_arg("Bytes.create");
    value v = fk_alloc(wosize, TAG_STRING);
    uintptr_t last = wosize * sizeof(value) - 1;
    FIELD(v, wosize - 1) = 0;
    ((unsigned char *)v)[last] = last - length;
    return v;
}
value caml_alloc_string(uintptr_t length) { return fk_alloc_string(length); }

value fk_copy_bytes(const void *p, uintptr_t length)
{
    value v = fk_alloc_string(length);
    memcpy((void *)v, p, length);
    return v;
}
value fk_copy_string(const char *s) { return fk_copy_bytes(s, strlen(s)); }
value caml_copy_string(const char *s) { return fk_copy_string(s); }
value caml_alloc_initialized_string(uintptr_t n, const char *p) { return fk_copy_bytes(p, n); }

value fk_copy_double(double d)
{
    value v = fk_alloc_small(1, TAG_DOUBLE);
    memcpy((void *)v, &d, sizeof d);
    return v;
}
value caml_copy_double(double d) { return fk_copy_double(d); }

/* --- custom blocks ------------------------------------------------------------------------ */

value fk_alloc_custom(const struct custom_operations *ops, uintptr_t bytes)
{
    uintptr_t wosize = 1 + (bytes + sizeof(value) - 1) / sizeof(value);
    value v = wosize <= MAX_YOUNG_WOSIZE ? fk_alloc_small(wosize, TAG_CUSTOM)
                                         : fk_alloc_shr(wosize, TAG_CUSTOM);
    CUSTOM_OPS(v) = ops;
    if (ops->finalize && is_young(v))
        words_push(&fk_self->customs, (uintptr_t)v);
    return v;
}

value caml_alloc_custom(const struct custom_operations *ops, uintptr_t bytes, uintptr_t mem,
                        uintptr_t max)
{
    struct domain *d = fk_self;
    value v = fk_alloc_custom(ops, bytes);
    if (mem && max) { /* a fraction of the resource: full at 1.0 */
        d->st.extra_heap_resources += (double)mem / (double)max;
        if (d->st.extra_heap_resources > 1.0) {
            d->st.extra_heap_resources = 0;
            fk_interrupt(d, INT_MAJOR);
        }
    }
    return v;
}

/* What holds much memory should not wait for the nursery's end to be counted. */
static value alloc_custom_shr(const struct custom_operations *ops, uintptr_t bytes)
{
    value v = fk_alloc_shr(1 + (bytes + sizeof(value) - 1) / sizeof(value), TAG_CUSTOM);
    CUSTOM_OPS(v) = ops;
    return v;
}

value caml_alloc_custom_mem(const struct custom_operations *ops, uintptr_t bytes, uintptr_t mem)
{
    value v = mem > fk_params.custom_minor_max_size ? alloc_custom_shr(ops, bytes)
                                                    : fk_alloc_custom(ops, bytes);
    heap_count(&fk_self->heap, mem / sizeof(value));
    fk_prof_sample_block(fk_self, v, (mem + sizeof(value) - 1) / sizeof(value), FK_PROF_CUSTOM);
    if (fk_gc_major_due())
        fk_interrupt(fk_self, INT_MAJOR);
    return v;
}

/* --- write barrier -------------------------------------------------------------------------- */

void caml_modify(value *field, value v)
{
    value old = atomic_load_explicit((_Atomic value *)field, memory_order_relaxed);
    if (is_young_block(v) && !is_young((value)field) && !is_young_block(old))
        words_push(&fk_self->remembered, (uintptr_t)field);
    /* The memory model: the store publishes what came before it, and may not
     * overtake a load before it. */
    atomic_thread_fence(memory_order_acquire);
    atomic_store_explicit((_Atomic value *)field, v, memory_order_release);
}

void caml_initialize(value *field, value v)
{
    if (is_young_block(v) && !is_young((value)field))
        words_push(&fk_self->remembered, (uintptr_t)field);
    *field = v;
}

/* --- C memory ------------------------------------------------------------------------------------ */

void *caml_stat_alloc_noexc(size_t n) { return malloc(n ? n : 1); }
void *caml_stat_alloc(size_t n)
{
    void *p = caml_stat_alloc_noexc(n);
    if (!p)
        fk_raise_out_of_memory();
    return p;
}
void caml_stat_free(void *p) { free(p); }
void *caml_stat_resize_noexc(void *p, size_t n) { return realloc(p, n ? n : 1); }
char *caml_stat_strdup(const char *s)
{
    char *p = caml_stat_alloc(strlen(s) + 1);
    return strcpy(p, s);
}
