/* prims_compare.c - structural comparison (Stdlib.compare and friends).
 *
 * Pairs still to be compared are kept in an explicit stack: values may be
 * deep. Order of kinds, as the manual leaves open and programs rely on:
 * immediates come before blocks; then tag, size, fields. */
#include <stdlib.h>

#include "runtime/fail.h"
#include "runtime/gc.h"

#define UNORDERED INTPTR_MIN /* a NaN was met and the caller asked for IEEE order */

struct pairs {
    value *a, *b;
    uintptr_t n;
};

struct todo {
    struct pairs small[64], *stack;
    size_t size, capacity;
};

static void push(struct todo *t, value *a, value *b, uintptr_t n)
{
    if (t->size == t->capacity) {
        size_t c = 2 * t->capacity;
        struct pairs *p = malloc(c * sizeof *p);
        if (!p)
            fk_raise_out_of_memory();
        memcpy(p, t->stack, t->size * sizeof *p);
        if (t->stack != t->small)
            free(t->stack);
        t->stack = p;
        t->capacity = c;
    }
    t->stack[t->size++] = (struct pairs){a, b, n};
}

static void done(struct todo *t)
{
    if (t->stack != t->small)
        free(t->stack);
}

static FK_NORETURN void refuse(struct todo *t, const char *why)
{
    done(t);
    fk_invalid_arg(why);
}

static intptr_t compare_doubles(double a, double b, bool total)
{
    if (a < b)
        return -1;
    if (a > b)
        return 1;
    if (a == b)
        return 0;
    if (!total)
        return UNORDERED;
    return (a == a) - (b == b);
}

static intptr_t compare_double_arrays(value a, value b, bool total)
{
    uintptr_t n = wosize_of(a), m = wosize_of(b);
    if (n != m)
        return n < m ? -1 : 1;
    for (uintptr_t i = 0; i < n; i++) {
        intptr_t c = compare_doubles(double_field(a, i), double_field(b, i), total);
        if (c)
            return c;
    }
    return 0;
}

static intptr_t compare_strings(value a, value b)
{
    uintptr_t la = string_length(a), lb = string_length(b);
    int c = memcmp((void *)a, (void *)b, la < lb ? la : lb);
    return c ? (c < 0 ? -1 : 1) : (la > lb) - (la < lb);
}

static intptr_t compare_custom(struct todo *t, value a, value b, bool total)
{
    const struct custom_operations *x = CUSTOM_OPS(a), *y = CUSTOM_OPS(b);
    if (x != y) {
        int c = strcmp(x->identifier, y->identifier);
        if (c)
            return c < 0 ? -1 : 1;
    }
    if (!x->compare)
        refuse(t, "compare: abstract value");
    fk_self->st.compare_unordered = 0;
    int c = x->compare(a, b);
    if (fk_self->st.compare_unordered && !total)
        return UNORDERED;
    return (c > 0) - (c < 0);
}

/* An immediate against a custom block that knows how (e.g. big integers). */
static intptr_t compare_mixed(value a, value b, bool total)
{
    value block = is_block(a) ? a : b;
    if (tag_of(block) == TAG_CUSTOM && CUSTOM_OPS(block)->compare_ext) {
        fk_self->st.compare_unordered = 0;
        int c = CUSTOM_OPS(block)->compare_ext(a, b);
        if (fk_self->st.compare_unordered && !total)
            return UNORDERED;
        return (c > 0) - (c < 0);
    }
    return is_int(a) ? -1 : 1;
}

/* Blocks of one tag. Fields are pushed; 0 means equal so far. */
static intptr_t compare_blocks(struct todo *t, value a, value b, unsigned tag, bool total)
{
    switch (tag) {
    case TAG_STRING: return compare_strings(a, b);
    case TAG_DOUBLE: return compare_doubles(double_of(a), double_of(b), total);
    case TAG_DOUBLE_ARRAY: return compare_double_arrays(a, b, total);
    case TAG_CUSTOM: return compare_custom(t, a, b, total);
    case TAG_ABSTRACT: refuse(t, "compare: abstract value");
    case TAG_CLOSURE:
    case TAG_INFIX: refuse(t, "compare: functional value");
    case TAG_CONT: refuse(t, "compare: continuation value");
    case TAG_OBJECT: return (FIELD(a, 1) > FIELD(b, 1)) - (FIELD(a, 1) < FIELD(b, 1));
    }
    uintptr_t n = wosize_of(a), m = wosize_of(b);
    if (n != m)
        return n < m ? -1 : 1;
    if (n)
        push(t, &FIELD(a, 0), &FIELD(b, 0), n);
    return 0;
}

static value short_cut(value v)
{
    while (is_block(v) && tag_of(v) == TAG_FORWARD)
        v = FIELD(v, 0);
    return v;
}

/* -1, 0, 1 or UNORDERED for two values without their fields. */
static intptr_t compare_one(struct todo *t, value a, value b, bool total)
{
    a = short_cut(a);
    b = short_cut(b);
    if (a == b && total)
        return 0;
    if (is_int(a) && is_int(b))
        return (a > b) - (a < b);
    if (is_int(a) || is_int(b))
        return compare_mixed(a, b, total);
    unsigned x = tag_of(a), y = tag_of(b);
    if (x == TAG_INFIX)
        x = TAG_CLOSURE;
    if (y == TAG_INFIX)
        y = TAG_CLOSURE;
    if (x != y)
        return x < y ? -1 : 1;
    return compare_blocks(t, a, b, x, total);
}

static intptr_t compare(value a, value b, bool total)
{
    struct todo t = {.capacity = 64};
    t.stack = t.small;
    intptr_t c = compare_one(&t, a, b, total);
    while (c == 0 && t.size) {
        struct pairs *p = &t.stack[t.size - 1];
        value x = *p->a++, y = *p->b++;
        if (--p->n == 0)
            t.size--;
        c = compare_one(&t, x, y, total);
    }
    done(&t);
    return c;
}

value caml_compare(value a, value b) { return VAL_INT(compare(a, b, true)); }
value caml_equal(value a, value b) { return VAL_BOOL(compare(a, b, false) == 0); }
value caml_notequal(value a, value b) { return VAL_BOOL(compare(a, b, false) != 0); }

static bool ordered(intptr_t c) { return c != UNORDERED; }
value caml_lessthan(value a, value b)
{
    intptr_t c = compare(a, b, false);
    return VAL_BOOL(ordered(c) && c < 0);
}
value caml_lessequal(value a, value b)
{
    intptr_t c = compare(a, b, false);
    return VAL_BOOL(ordered(c) && c <= 0);
}
value caml_greaterthan(value a, value b) { return VAL_BOOL(compare(a, b, false) > 0); }
value caml_greaterequal(value a, value b) { return VAL_BOOL(compare(a, b, false) >= 0); }

/* On unboxed integers. */
value caml_int_compare(value a, value b) { return VAL_INT((a > b) - (a < b)); }
intptr_t caml_int32_compare_unboxed(int32_t a, int32_t b) { return (a > b) - (a < b); }
intptr_t caml_int64_compare_unboxed(int64_t a, int64_t b) { return (a > b) - (a < b); }
intptr_t caml_nativeint_compare_unboxed(intptr_t a, intptr_t b) { return (a > b) - (a < b); }
