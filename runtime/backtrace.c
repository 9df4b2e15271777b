/* backtrace.c - recording and decoding of backtraces.
 *
 * A raw slot, and a position inside it (which inlined frame), fit in one word:
 *
 *    62      55 54      47 46                    3  2   1   0
 *   +----------+----------+-----------------------+---+---+---+
 *   |  depth   |  block   | descriptor address    | 0 | b | 1 |
 *   +----------+----------+-----------------------+---+---+---+
 *
 * block: which block of a combined allocation, meaningful when b is set. */
#include "runtime/backtrace.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/fail.h"
#include "runtime/gc.h"

#define SLOT_HAS_BLOCK ((uintptr_t)2)
#define SLOT_BLOCK(s) (((s) >> 47) & 0xFF)
#define SLOT_DEPTH(s) (((s) >> 55) & 0xFF)
#define SLOT_DEPTH_ONE ((uintptr_t)1 << 55)
#define SLOT_DESCR(s) ((s) & (((uintptr_t)1 << 47) - 8))

static uintptr_t slot_of(const fk_descr *d) { return (uintptr_t)d->address; }

static uintptr_t slot_of_block(const fk_descr *d, long block)
{
    if (block < 0 || !(d->flags & FK_DESCR_ALLOC) || (uint32_t)block >= d->num_debug)
        return slot_of(d);
    if (!fk_descr_debuginfo(d, block))
        return slot_of(d);
    return slot_of(d) | SLOT_HAS_BLOCK | (uintptr_t)block << 47;
}

/* --- recording on raise ---------------------------------------------------------- */

void fk_backtrace_enable(struct domain *d, bool on)
{
    d->st.backtrace_active = on;
    d->st.backtrace_pos = 0;
    d->st.backtrace_last_exn = VAL_UNIT;
}

static bool have_buffer(struct domain *d)
{
    if (!d->st.backtrace_buffer)
        d->st.backtrace_buffer = calloc(BACKTRACE_SLOTS, sizeof(uintptr_t));
    return d->st.backtrace_buffer != NULL;
}

/* From caml_raise_exn: the frames between the raise and its handler. */
void caml_stash_backtrace(value exn, uintptr_t pc, char *sp, char *trap)
{
    struct domain *d = fk_self;
    fk_descr descr;
    if (exn != d->st.backtrace_last_exn) {
        d->st.backtrace_pos = 0;
        d->st.backtrace_last_exn = exn;
    }
    if (!have_buffer(d))
        return;
    while (d->st.backtrace_pos < BACKTRACE_SLOTS && fk_frame_find(pc, &descr)) {
        if (descr.flags & FK_DESCR_RETURN_TO_C)
            return; /* the callback's own handler lies here */
        d->st.backtrace_buffer[d->st.backtrace_pos++] = slot_of(&descr);
        sp += descr.frame_size;
        if (sp > trap)
            return;
        pc = *(uintptr_t *)(sp + fk_here->ra_offset);
    }
}

/* --- call stacks --------------------------------------------------------------------- */

static bool put(uintptr_t **buf, size_t *capacity, size_t n, uintptr_t slot)
{
    if (n == *capacity) {
        size_t c = *capacity ? 2 * *capacity : 16;
        uintptr_t *p = realloc(*buf, c * sizeof *p);
        if (!p)
            return false;
        *buf = p;
        *capacity = c;
    }
    (*buf)[n] = slot;
    return true;
}

static size_t fiber_slots(struct fiber *f, size_t n, size_t max, uintptr_t **buf, size_t *capacity,
                          long alloc_index)
{
    for (; f; f = f->handler->parent) {
        struct walk w;
        fk_walk_start(&w, f, NULL);
        while (n < max && fk_walk_next(&w) && w.found) {
            uintptr_t s = n == 0 ? slot_of_block(&w.descr, alloc_index) : slot_of(&w.descr);
            if (!put(buf, capacity, n, s))
                return 0;
            n++;
        }
    }
    return n;
}

size_t fk_callstack(struct domain *d, size_t max, uintptr_t **buf, size_t *capacity,
                    long alloc_index)
{
    size_t n = fiber_slots(d->st.current_stack, 0, max, buf, capacity, alloc_index);
    for (struct cut_parent *c = d->cut_parents; c && n < max; c = c->prev)
        n = fiber_slots(c->parent, n, max, buf, capacity, -1);
    return n;
}

value fk_callstack_value(const uintptr_t *slots, size_t n)
{
    if (n == 0)
        return fk_atom(0);
    value v = fk_alloc(n, 0);
    for (size_t i = 0; i < n; i++)
        FIELD(v, i) = (value)(slots[i] | 1);
    return v;
}

/* At most `max` frames; a negative number is no limit. */
value caml_get_current_callstack(value max)
{
    uintptr_t *buf = NULL;
    size_t capacity = 0;
    size_t n = fk_callstack(fk_self, (size_t)INT_VAL(max), &buf, &capacity, -1);
    value v = fk_callstack_value(buf, n);
    free(buf);
    return v;
}

value caml_get_continuation_callstack(value cont, value max)
{
    uintptr_t *buf = NULL;
    size_t capacity = 0;
    size_t n = fiber_slots(untag_ptr(FIELD(cont, 0)), 0, INT_VAL(max), &buf, &capacity, -1);
    value v = fk_callstack_value(buf, n);
    free(buf);
    return v;
}

/* --- decoding --------------------------------------------------------------------------- */

/* A descriptor begins with its return address. */
uintptr_t fk_slot_address(uintptr_t slot) { return *(uintptr_t *)SLOT_DESCR(slot); }

/* Debuginfo record of the slot; 0: none. An allocation point without a block
 * shows its first block that has a location. */
static uint64_t record_of(uintptr_t slot, fk_descr *d)
{
    uintptr_t ra = fk_slot_address(slot);
    if (!fk_frame_find(ra, d) || !(d->flags & FK_DESCR_DEBUG))
        return 0;
    if (slot & SLOT_HAS_BLOCK)
        return fk_descr_debuginfo(d, SLOT_BLOCK(slot));
    uint64_t r = 0;
    for (uint32_t i = 0; i < d->num_debug && !r; i++)
        r = fk_descr_debuginfo(d, i);
    return r;
}

bool fk_slot_frame(uintptr_t slot, unsigned depth, fk_frame *out)
{
    fk_descr d;
    fk_chain c;
    fk_error err;
    uint64_t r = record_of(slot, &d);
    if (!r)
        return false;
    fk_chain_start(d.table, r, &c);
    for (unsigned i = 0; i <= depth; i++)
        if (fk_chain_next(&c, out, &err) != FK_OK)
            return false;
    return true;
}

static bool slot_frame(uintptr_t slot, fk_frame *f)
{
    return fk_slot_frame(slot, SLOT_DEPTH(slot), f);
}

/* Printexc.backtrace_slot: Unknown_location {is_raise} is tag 1. Without debuginfo
 * the slot stands for a re-raise by compiler-made code, which Printexc leaves out. */
static value unknown_location(void)
{
    value v = fk_alloc_small(1, 1);
    FIELD(v, 0) = VAL_TRUE;
    return v;
}

static value known_location(const fk_frame *f, bool inlined)
{
    value file = VAL_UNIT, name = VAL_UNIT;
    ROOTS(2, &file, &name);
    file = fk_copy_string(f->file);
    name = fk_copy_string(f->defname ? f->defname : "");
    value v = fk_alloc_small(9, 0);
    FIELD(v, 0) = VAL_BOOL(f->raise);
    FIELD(v, 1) = file;
    FIELD(v, 2) = VAL_INT(f->line);
    FIELD(v, 3) = VAL_INT(f->start_char);
    FIELD(v, 4) = VAL_INT(f->end_offset);
    FIELD(v, 5) = VAL_INT(f->end_line);
    FIELD(v, 6) = VAL_INT(f->end_char);
    FIELD(v, 7) = VAL_BOOL(inlined);
    FIELD(v, 8) = name;
    return UNROOT(v);
}

static bool has_next(uintptr_t slot)
{
    fk_frame f;
    return fk_slot_frame(slot, SLOT_DEPTH(slot) + 1, &f);
}

value caml_convert_raw_backtrace_slot(value slot)
{
    fk_frame f;
    if (!slot_frame((uintptr_t)slot, &f))
        return unknown_location();
    return known_location(&f, has_next((uintptr_t)slot));
}

value caml_raw_backtrace_length(value bt) { return VAL_INT(wosize_of(bt)); }

value caml_raw_backtrace_slot(value bt, value index)
{
    if ((uintptr_t)INT_VAL(index) >= wosize_of(bt))
        fk_invalid_arg("Printexc.get_raw_backtrace_slot: index out of bounds");
    return FIELD(bt, INT_VAL(index));
}

value caml_raw_backtrace_next_slot(value slot)
{
    if (!has_next((uintptr_t)slot))
        return VAL_NONE;
    value v = fk_alloc_small(1, 0);
    FIELD(v, 0) = slot + (value)SLOT_DEPTH_ONE;
    return v;
}

static size_t slot_frames(uintptr_t slot)
{
    fk_frame f;
    size_t n = 0;
    while (fk_slot_frame(slot, n, &f))
        n++;
    return n;
}

/* All source frames of a raw backtrace, inlined ones included; a slot without
 * debuginfo has none. */
value caml_convert_raw_backtrace(value bt)
{
    value out = VAL_UNIT;
    size_t n = 0, k = 0;
    ROOTS(2, &bt, &out);
    for (size_t i = 0; i < wosize_of(bt); i++)
        n += slot_frames((uintptr_t)FIELD(bt, i));
    out = fk_alloc(n, 0);
    for (size_t i = 0; i < wosize_of(bt); i++) {
        size_t m = slot_frames((uintptr_t)FIELD(bt, i));
        for (size_t j = 0; j < m; j++) {
            value s = caml_convert_raw_backtrace_slot(FIELD(bt, i) + (value)(j * SLOT_DEPTH_ONE));
            caml_modify(&FIELD(out, k++), s);
        }
    }
    return UNROOT(out);
}

/* --- Printexc ------------------------------------------------------------------------------ */

value caml_record_backtrace(value on)
{
    if (INT_VAL(on) != fk_self->st.backtrace_active)
        fk_backtrace_enable(fk_self, INT_VAL(on));
    return VAL_UNIT;
}
value caml_backtrace_status(value unit)
{
    (void)unit;
    return VAL_BOOL(fk_self->st.backtrace_active);
}
value caml_ml_debug_info_status(value unit)
{
    (void)unit;
    return VAL_INT(1);
}

value caml_get_exception_raw_backtrace(value unit)
{
    struct domain *d = fk_self;
    (void)unit;
    if (!d->st.backtrace_active || !d->st.backtrace_buffer || d->st.backtrace_pos == 0)
        return fk_atom(0);
    return fk_callstack_value(d->st.backtrace_buffer, d->st.backtrace_pos);
}

value caml_restore_raw_backtrace(value exn, value bt)
{
    struct domain *d = fk_self;
    size_t n = wosize_of(bt) < BACKTRACE_SLOTS ? wosize_of(bt) : BACKTRACE_SLOTS;
    d->st.backtrace_last_exn = exn;
    d->st.backtrace_pos = 0;
    if (n == 0 || !have_buffer(d))
        return VAL_UNIT;
    for (size_t i = 0; i < n; i++)
        d->st.backtrace_buffer[i] = (uintptr_t)FIELD(bt, i) & ~(uintptr_t)1;
    d->st.backtrace_pos = n;
    return VAL_UNIT;
}

static void print_frame(const fk_frame *f, bool first, bool inlined)
{
    const char *how = f->raise ? (first ? "Raised at" : "Re-raised at")
                               : (first ? "Raised by primitive operation at" : "Called from");
    fprintf(stderr, "%s %s in file \"%s\"%s, ", how, f->defname ? f->defname : "?", f->file,
            inlined ? " (inlined)" : "");
    if (f->line == f->end_line)
        fprintf(stderr, "line %d, characters %d-%d\n", f->line, f->start_char, f->end_offset);
    else
        fprintf(stderr, "lines %d-%d, characters %d-%d\n", f->line, f->end_line, f->start_char,
                f->end_offset);
}

void fk_print_backtrace(struct domain *d)
{
    for (intptr_t i = 0; i < d->st.backtrace_pos; i++) {
        fk_frame f;
        for (unsigned k = 0; fk_slot_frame(d->st.backtrace_buffer[i], k, &f); k++)
            print_frame(&f, i == 0 && k == 0,
                        has_next(d->st.backtrace_buffer[i] + k * SLOT_DEPTH_ONE));
    }
}
