/* prims_string.c - strings and bytes. Bounds were checked by the caller
 * (Stdlib) unless a function says otherwise. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/fail.h"
#include "runtime/gc.h"

#define BYTES(v) ((unsigned char *)(v))

value caml_create_bytes(value n)
{
    if (INT_VAL(n) < 0)
        fk_invalid_arg("Bytes.create");
    return fk_alloc_string(INT_VAL(n));
}
value caml_create_string(value n) { return caml_create_bytes(n); }

value caml_blit_bytes(value src, value from, value dst, value to, value n)
{
    memmove(BYTES(dst) + INT_VAL(to), BYTES(src) + INT_VAL(from), INT_VAL(n));
    return VAL_UNIT;
}
value caml_blit_string(value src, value from, value dst, value to, value n)
{
    return caml_blit_bytes(src, from, dst, to, n);
}
value caml_fill_bytes(value s, value from, value n, value c)
{
    memset(BYTES(s) + INT_VAL(from), INT_VAL(c), INT_VAL(n));
    return VAL_UNIT;
}

/* --- comparison ----------------------------------------------------------------------- */

value caml_string_equal(value a, value b)
{
    uintptr_t n = wosize_of(a);
    return VAL_BOOL(a == b ||
                    (n == wosize_of(b) && memcmp((void *)a, (void *)b, n * sizeof(value)) == 0));
}
value caml_string_notequal(value a, value b)
{
    return VAL_BOOL(caml_string_equal(a, b) == VAL_FALSE);
}

static int order(value a, value b)
{
    uintptr_t la = string_length(a), lb = string_length(b);
    int c = memcmp((void *)a, (void *)b, la < lb ? la : lb);
    return c ? (c > 0) - (c < 0) : (la > lb) - (la < lb);
}
value caml_string_compare(value a, value b) { return VAL_INT(order(a, b)); }
value caml_string_lessthan(value a, value b) { return VAL_BOOL(order(a, b) < 0); }
value caml_string_lessequal(value a, value b) { return VAL_BOOL(order(a, b) <= 0); }
value caml_string_greaterthan(value a, value b) { return VAL_BOOL(order(a, b) > 0); }
value caml_string_greaterequal(value a, value b) { return VAL_BOOL(order(a, b) >= 0); }
value caml_bytes_equal(value a, value b) { return caml_string_equal(a, b); }
value caml_bytes_notequal(value a, value b) { return caml_string_notequal(a, b); }
value caml_bytes_compare(value a, value b) { return caml_string_compare(a, b); }
value caml_bytes_lessthan(value a, value b) { return caml_string_lessthan(a, b); }
value caml_bytes_lessequal(value a, value b) { return caml_string_lessequal(a, b); }
value caml_bytes_greaterthan(value a, value b) { return caml_string_greaterthan(a, b); }
value caml_bytes_greaterequal(value a, value b) { return caml_string_greaterequal(a, b); }

/* --- access with a check ------------------------------------------------------------------ */

static uintptr_t at(value s, value i, uintptr_t width)
{
    uintptr_t k = (uintptr_t)INT_VAL(i), n = string_length(s);
    if (n < width || k > n - width)
        fk_bound_error();
    return k;
}

value caml_ml_string_length(value s) { return VAL_INT(string_length(s)); }
value caml_ml_bytes_length(value s) { return caml_ml_string_length(s); }
value caml_string_get(value s, value i) { return VAL_INT(BYTES(s)[at(s, i, 1)]); }
value caml_bytes_get(value s, value i) { return caml_string_get(s, i); }
value caml_bytes_set(value s, value i, value c)
{
    BYTES(s)[at(s, i, 1)] = (unsigned char)INT_VAL(c);
    return VAL_UNIT;
}

/* Multi-byte accesses are in the machine's own byte order. */
#define ACCESS(bits, type, box, unbox) \
    value caml_string_get##bits(value s, value i) \
    { \
        type n; \
        memcpy(&n, BYTES(s) + at(s, i, sizeof n), sizeof n); \
        return box(n); \
    } \
    value caml_bytes_get##bits(value s, value i) { return caml_string_get##bits(s, i); } \
    value caml_bytes_set##bits(value s, value i, value v) \
    { \
        type n = (type)unbox(v); \
        memcpy(BYTES(s) + at(s, i, sizeof n), &n, sizeof n); \
        return VAL_UNIT; \
    }
#define INT32_OF(v) (*(int32_t *)CUSTOM_DATA(v))
#define INT64_OF(v) (*(int64_t *)CUSTOM_DATA(v))
ACCESS(16, uint16_t, VAL_INT, INT_VAL)
ACCESS(32, int32_t, fk_copy_int32, INT32_OF)
ACCESS(64, int64_t, fk_copy_int64, INT64_OF)

value caml_bytes_of_string(value s) { return s; }
value caml_string_of_bytes(value s) { return s; }
