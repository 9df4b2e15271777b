/* prims_array.c - arrays. An array of floats is a flat block of tag 254. */
#include "runtime/callback.h"
#include "runtime/fail.h"
#include "runtime/gc.h"

static bool is_float_block(value v) { return is_block(v) && tag_of(v) == TAG_DOUBLE; }
static bool is_float_array(value v) { return tag_of(v) == TAG_DOUBLE_ARRAY; }

/* A block whose fields will all be written with `caml_initialize` or below. */
static value alloc_fields(uintptr_t n, unsigned tag)
{
    if (n > MAX_WOSIZE)
        fk_invalid_arg("Array.make");
    return fk_alloc(n, tag);
}

value caml_floatarray_create(value n)
{
    if (INT_VAL(n) < 0 || (uintptr_t)INT_VAL(n) > MAX_WOSIZE)
        fk_invalid_arg("Float.Array.create");
    return INT_VAL(n) == 0 ? fk_atom(0) : fk_alloc(INT_VAL(n), TAG_DOUBLE_ARRAY);
}
value caml_array_create_float(value n) { return caml_floatarray_create(n); }
value caml_make_float_vect(value n) { return caml_array_create_float(n); }

value caml_floatarray_make_unboxed(intptr_t n, double x)
{
    if (n < 0 || (uintptr_t)n > MAX_WOSIZE)
        fk_invalid_arg("Array.make");
    value v = caml_floatarray_create(VAL_INT(n));
    for (intptr_t i = 0; i < n; i++)
        set_double_field(v, i, x);
    return v;
}
value caml_floatarray_make(value n, value x)
{
    return caml_floatarray_make_unboxed(INT_VAL(n), double_of(x));
}

value caml_array_make(value len, value init)
{
    intptr_t n = INT_VAL(len);
    if (n == 0)
        return fk_atom(0);
    if (is_float_block(init))
        return caml_floatarray_make(len, init);
    if (n < 0 || (uintptr_t)n > MAX_WOSIZE)
        fk_invalid_arg("Array.make");
    ROOTS(1, &init);
    value v = alloc_fields(n, 0);
    for (intptr_t i = 0; i < n; i++)
        FIELD(v, i) = init;
    /* A large block lives in the major heap: one barrier per field that needs it. */
    if (n > MAX_YOUNG_WOSIZE && is_young_block(init))
        for (intptr_t i = 0; i < n; i++)
            caml_initialize(&FIELD(v, i), init);
    return fk_after_pending_actions(UNROOT(v));
}
value caml_make_vect(value n, value init) { return caml_array_make(n, init); }

/* A plain array of boxed floats becomes a flat one, other arrays stay. */
value caml_array_of_uniform_array(value a)
{
    uintptr_t n = wosize_of(a);
    if (n == 0 || is_float_array(a) || !is_float_block(FIELD(a, 0)))
        return a;
    ROOTS(1, &a);
    value v = fk_alloc(n, TAG_DOUBLE_ARRAY);
    for (uintptr_t i = 0; i < n; i++)
        set_double_field(v, i, double_of(FIELD(a, i)));
    return UNROOT(v);
}
value caml_make_array(value a) { return caml_array_of_uniform_array(a); }

/* --- get and set with a check ------------------------------------------------------------ */

static uintptr_t at(value a, value i)
{
    uintptr_t k = (uintptr_t)INT_VAL(i);
    if (k >= wosize_of(a))
        fk_bound_error();
    return k;
}

value caml_floatarray_get(value a, value i) { return fk_copy_double(double_field(a, at(a, i))); }
value caml_floatarray_set(value a, value i, value x)
{
    set_double_field(a, at(a, i), double_of(x));
    return VAL_UNIT;
}
value caml_floatarray_unsafe_get(value a, value i)
{
    return fk_copy_double(double_field(a, INT_VAL(i)));
}
value caml_floatarray_unsafe_set(value a, value i, value x)
{
    set_double_field(a, INT_VAL(i), double_of(x));
    return VAL_UNIT;
}
value caml_array_get_addr(value a, value i) { return FIELD(a, at(a, i)); }
value caml_array_get_float(value a, value i) { return caml_floatarray_get(a, i); }
value caml_array_get(value a, value i)
{
    return is_float_array(a) ? caml_floatarray_get(a, i) : caml_array_get_addr(a, i);
}
value caml_array_set_addr(value a, value i, value v)
{
    caml_modify(&FIELD(a, at(a, i)), v);
    return VAL_UNIT;
}
value caml_array_set_float(value a, value i, value x) { return caml_floatarray_set(a, i, x); }
value caml_array_set(value a, value i, value v)
{
    return is_float_array(a) ? caml_floatarray_set(a, i, v) : caml_array_set_addr(a, i, v);
}
value caml_array_unsafe_get(value a, value i)
{
    return is_float_array(a) ? caml_floatarray_unsafe_get(a, i) : FIELD(a, INT_VAL(i));
}
value caml_array_unsafe_set(value a, value i, value v)
{
    if (is_float_array(a))
        return caml_floatarray_unsafe_set(a, i, v);
    caml_modify(&FIELD(a, INT_VAL(i)), v);
    return VAL_UNIT;
}
value caml_array_length(value a) { return VAL_INT(wosize_of(a)); }

/* --- blit, fill ----------------------------------------------------------------------------- */

static void blit_fields(value src, intptr_t s, value dst, intptr_t d, intptr_t n)
{
    if (is_young(dst)) {
        memmove(&FIELD(dst, d), &FIELD(src, s), n * sizeof(value));
        return;
    }
    if (src == dst && s < d)
        for (intptr_t i = n; i-- > 0;)
            caml_modify(&FIELD(dst, d + i), FIELD(src, s + i));
    else
        for (intptr_t i = 0; i < n; i++)
            caml_modify(&FIELD(dst, d + i), FIELD(src, s + i));
}

value caml_floatarray_blit(value src, value s, value dst, value d, value n)
{
    memmove((double *)dst + INT_VAL(d), (double *)src + INT_VAL(s), INT_VAL(n) * sizeof(double));
    return VAL_UNIT;
}

value caml_array_blit(value src, value s, value dst, value d, value n)
{
    if (INT_VAL(n) == 0)
        return VAL_UNIT;
    if (is_float_array(dst))
        return caml_floatarray_blit(src, s, dst, d, n);
    blit_fields(src, INT_VAL(s), dst, INT_VAL(d), INT_VAL(n));
    return VAL_UNIT;
}

value caml_floatarray_fill_unboxed(value a, intptr_t from, intptr_t n, double x)
{
    for (intptr_t i = 0; i < n; i++)
        set_double_field(a, from + i, x);
    return VAL_UNIT;
}
value caml_floatarray_fill(value a, value from, value n, value x)
{
    return caml_floatarray_fill_unboxed(a, INT_VAL(from), INT_VAL(n), double_of(x));
}

value caml_array_fill(value a, value from, value len, value v)
{
    if (INT_VAL(len) == 0)
        return VAL_UNIT;
    if (is_float_array(a))
        return caml_floatarray_fill(a, from, len, v);
    for (intptr_t i = INT_VAL(from), n = i + INT_VAL(len); i < n; i++)
        caml_modify(&FIELD(a, i), v);
    return VAL_UNIT;
}

/* --- sub, append, concat ------------------------------------------------------------------------ */

/* Pieces of arrays that become one new array. `arrays` are rooted here. */
struct pieces {
    intptr_t n;
    value *array;
    const intptr_t *from, *length;
};

static value join_floats(const struct pieces *p, uintptr_t total)
{
    value v = fk_alloc(total, TAG_DOUBLE_ARRAY);
    for (intptr_t i = 0, at = 0; i < p->n; at += p->length[i++])
        memcpy((double *)v + at, (double *)p->array[i] + p->from[i], p->length[i] * sizeof(double));
    return v;
}

static value join_fields(const struct pieces *p, uintptr_t total)
{
    value v = alloc_fields(total, 0);
    for (intptr_t i = 0, at = 0; i < p->n; at += p->length[i++])
        for (intptr_t k = 0; k < p->length[i]; k++)
            caml_initialize(&FIELD(v, at + k), FIELD(p->array[i], p->from[i] + k));
    return v;
}

static value join(const struct pieces *p)
{
    uintptr_t total = 0;
    bool floats = false;
    for (intptr_t i = 0; i < p->n; i++) {
        if (MAX_WOSIZE - total < (uintptr_t)p->length[i])
            fk_invalid_arg("Array.concat");
        total += p->length[i];
        floats |= p->length[i] > 0 && is_float_array(p->array[i]);
    }
    if (total == 0)
        return fk_atom(0);
    struct local_roots r = {fk_self->st.local_roots, 1, p->n, {p->array}};
    fk_self->st.local_roots = &r;
    value v = floats ? join_floats(p, total) : join_fields(p, total);
    fk_self->st.local_roots = r.next;
    return v;
}

value caml_array_sub(value a, value from, value len)
{
    intptr_t f = INT_VAL(from), n = INT_VAL(len);
    return join(&(struct pieces){1, &a, &f, &n});
}
value caml_floatarray_sub(value a, value from, value len) { return caml_array_sub(a, from, len); }

value caml_array_append(value a, value b)
{
    value arrays[] = {a, b};
    intptr_t from[] = {0, 0}, length[] = {wosize_of(a), wosize_of(b)};
    return join(&(struct pieces){2, arrays, from, length});
}
value caml_floatarray_append(value a, value b) { return caml_array_append(a, b); }

value caml_array_concat(value list)
{
    struct words arrays = {0}, from = {0}, length = {0};
    for (value l = list; is_block(l); l = FIELD(l, 1)) {
        words_push(&arrays, (uintptr_t)FIELD(l, 0));
        words_push(&from, 0);
        words_push(&length, wosize_of(FIELD(l, 0)));
    }
    value v = join(&(struct pieces){arrays.size, (value *)arrays.data, (intptr_t *)from.data,
                                    (intptr_t *)length.data});
    fk_words_free(&arrays);
    fk_words_free(&from);
    fk_words_free(&length);
    return v;
}
value caml_floatarray_concat(value list) { return caml_array_concat(list); }
