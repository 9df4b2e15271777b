/* prims_bigarray.c - the primitives of Bigarray (bigarray.h has the layout). */
#include <stdlib.h>

#include "runtime/bigarray.h"
#include "runtime/custom.h"
#include "runtime/fail.h"
#include "runtime/memory.h"

/* `mem`: bytes of memory that the block will own. */
static value make(intptr_t flags, int num_dims, const intptr_t *dim, char *data,
                  struct proxy *proxy, uintptr_t mem)
{
    uintptr_t size = sizeof(struct ba) + num_dims * sizeof(intptr_t);
    value v = mem ? caml_alloc_custom_mem(&fk_ba_ops, size, mem) : fk_alloc_custom(&fk_ba_ops,
        size);
    struct ba *b = BA(v);
    b->data = data;
    b->num_dims = num_dims;
    b->flags = flags;
    b->proxy = proxy;
    memcpy(b->dim, dim, num_dims * sizeof *dim);
    return v;
}

value caml_ba_alloc(int flags, int num_dims, void *data, intptr_t *dim)
{
    uintptr_t n = caml_ba_element_size[flags & BA_KIND];
    for (int i = 0; i < num_dims; i++) {
        if (dim[i] < 0 || (dim[i] && n > MAX_WOSIZE / (uintptr_t)dim[i]))
            fk_raise_out_of_memory();
        n *= dim[i];
    }
    if (!data) {
        data = malloc(n ? n : 1);
        if (!data)
            fk_raise_out_of_memory();
        return make(flags | BA_MANAGED, num_dims, dim, data, NULL, n);
    }
    return make(flags, num_dims, dim, data, NULL, 0);
}

static int read_dims(value dims, intptr_t *dim)
{
    uintptr_t n = wosize_of(dims);
    if (n > BA_MAX_DIMS)
        fk_invalid_arg("Bigarray.create: bad number of dimensions");
    for (uintptr_t i = 0; i < n; i++)
        if ((dim[i] = INT_VAL(FIELD(dims, i))) < 0)
            fk_invalid_arg("Bigarray.create: negative dimension");
    return (int)n;
}

value caml_ba_create(value kind, value layout, value dims)
{
    intptr_t dim[BA_MAX_DIMS];
    int n = read_dims(dims, dim);
    return caml_ba_alloc((int)(INT_VAL(kind) | INT_VAL(layout) << 8), n, NULL, dim);
}

/* --- access ----------------------------------------------------------------------------- */

static uintptr_t offset(struct ba *b, const intptr_t *index)
{
    uintptr_t at = 0;
    bool fortran = b->flags & BA_FORTRAN;
    for (intptr_t k = 0; k < b->num_dims; k++) {
        intptr_t i = fortran ? b->num_dims - 1 - k : k;
        intptr_t x = index[i] - (fortran ? 1 : 0);
        if ((uintptr_t)x >= (uintptr_t)b->dim[i])
            fk_bound_error();
        at = at * b->dim[i] + x;
    }
    return at;
}

static value complex_value(double re, double im)
{
    value v = fk_alloc_small(2, TAG_DOUBLE_ARRAY);
    set_double_field(v, 0, re);
    set_double_field(v, 1, im);
    return v;
}

/* Round to nearest even through the exact steps of a float. */
static uint16_t double_to_half(double d)
{
    uint16_t sign = 0;
    if (d < 0 || (d == 0 && 1 / d < 0))
        sign = 0x8000, d = -d;
    if (d != d)
        return sign | 0x7E00;
    if (d >= 65520.0)
        return sign | 0x7C00;
    int e = 0;
    double unit = 1.0 / 16777216.0; /* 2^-24 */
    while (d >= 2048.0 * unit && e < 30)
        unit *= 2, e++;
    double q = d / unit;
    uint64_t m = (uint64_t)q;
    double rest = q - (double)m;
    m += rest > 0.5 || (rest == 0.5 && (m & 1));
    return sign | (uint16_t)((e << 10) + m);
}

static value get_at(struct ba *b, uintptr_t i)
{
    char *p = b->data;
    switch (KIND(b)) {
    case FLOAT16: return fk_copy_double(fk_ba_half(((uint16_t *)p)[i]));
    case FLOAT32: return fk_copy_double(((float *)p)[i]);
    case FLOAT64: return fk_copy_double(((double *)p)[i]);
    case SINT8: return VAL_INT(((int8_t *)p)[i]);
    case UINT8: case CHAR: return VAL_INT(((uint8_t *)p)[i]);
    case SINT16: return VAL_INT(((int16_t *)p)[i]);
    case UINT16: return VAL_INT(((uint16_t *)p)[i]);
    case INT32: return fk_copy_int32(((int32_t *)p)[i]);
    case INT64: return fk_copy_int64(((int64_t *)p)[i]);
    case NATIVE: return fk_copy_nativeint(((intptr_t *)p)[i]);
    case CAML_INT: return VAL_INT(((intptr_t *)p)[i]);
    case COMPLEX32: return complex_value(((float *)p)[2 * i], ((float *)p)[2 * i + 1]);
    default: return complex_value(((double *)p)[2 * i], ((double *)p)[2 * i + 1]);
    }
}

static void set_at(struct ba *b, uintptr_t i, value v)
{
    char *p = b->data;
    switch (KIND(b)) {
    case FLOAT16: ((uint16_t *)p)[i] = double_to_half(double_of(v)); break;
    case FLOAT32: ((float *)p)[i] = (float)double_of(v); break;
    case FLOAT64: ((double *)p)[i] = double_of(v); break;
    case SINT8: case UINT8: case CHAR: ((uint8_t *)p)[i] = (uint8_t)INT_VAL(v); break;
    case SINT16: case UINT16: ((uint16_t *)p)[i] = (uint16_t)INT_VAL(v); break;
    case INT32: memcpy(&((int32_t *)p)[i], CUSTOM_DATA(v), 4); break;
    case INT64: case NATIVE: memcpy(&((int64_t *)p)[i], CUSTOM_DATA(v), 8); break;
    case CAML_INT: ((intptr_t *)p)[i] = INT_VAL(v); break;
    case COMPLEX32:
        ((float *)p)[2 * i] = (float)double_field(v, 0);
        ((float *)p)[2 * i + 1] = (float)double_field(v, 1);
        break;
    default:
        ((double *)p)[2 * i] = double_field(v, 0);
        ((double *)p)[2 * i + 1] = double_field(v, 1);
    }
}

static value get_n(value v, int n, const intptr_t *index)
{
    if (BA(v)->num_dims != n)
        fk_invalid_arg("Bigarray.get: wrong number of indices");
    return get_at(BA(v), offset(BA(v), index));
}
static value set_n(value v, int n, const intptr_t *index, value x)
{
    if (BA(v)->num_dims != n)
        fk_invalid_arg("Bigarray.set: wrong number of indices");
    set_at(BA(v), offset(BA(v), index), x);
    return VAL_UNIT;
}
#define INDEX(...) (const intptr_t[]){__VA_ARGS__}
value caml_ba_get_1(value v, value i) { return get_n(v, 1, INDEX(INT_VAL(i))); }
value caml_ba_get_2(value v, value i, value j)
{
    return get_n(v, 2, INDEX(INT_VAL(i), INT_VAL(j)));
}
value caml_ba_get_3(value v, value i, value j, value k)
{
    return get_n(v, 3, INDEX(INT_VAL(i), INT_VAL(j), INT_VAL(k)));
}
value caml_ba_set_1(value v, value i, value x) { return set_n(v, 1, INDEX(INT_VAL(i)), x); }
value caml_ba_set_2(value v, value i, value j, value x)
{
    return set_n(v, 2, INDEX(INT_VAL(i), INT_VAL(j)), x);
}
value caml_ba_set_3(value v, value i, value j, value k, value x)
{
    return set_n(v, 3, INDEX(INT_VAL(i), INT_VAL(j), INT_VAL(k)), x);
}
value caml_ba_get_generic(value v, value index)
{
    intptr_t i[BA_MAX_DIMS];
    uintptr_t n = wosize_of(index);
    for (uintptr_t k = 0; k < n && k < BA_MAX_DIMS; k++)
        i[k] = INT_VAL(FIELD(index, k));
    return get_n(v, (int)n, i);
}
value caml_ba_set_generic(value v, value index, value x)
{
    intptr_t i[BA_MAX_DIMS];
    uintptr_t n = wosize_of(index);
    for (uintptr_t k = 0; k < n && k < BA_MAX_DIMS; k++)
        i[k] = INT_VAL(FIELD(index, k));
    return set_n(v, (int)n, i, x);
}

/* --- properties and views ------------------------------------------------------------------ */

value caml_ba_num_dims(value v) { return VAL_INT(BA(v)->num_dims); }
value caml_ba_dim(value v, value i)
{
    if ((uintptr_t)INT_VAL(i) >= (uintptr_t)BA(v)->num_dims)
        fk_invalid_arg("Bigarray.dim");
    return VAL_INT(BA(v)->dim[INT_VAL(i)]);
}
value caml_ba_dim_1(value v) { return caml_ba_dim(v, VAL_INT(0)); }
value caml_ba_dim_2(value v) { return caml_ba_dim(v, VAL_INT(1)); }
value caml_ba_dim_3(value v) { return caml_ba_dim(v, VAL_INT(2)); }
value caml_ba_kind(value v) { return VAL_INT(KIND(BA(v))); }
value caml_ba_layout(value v) { return VAL_INT(BA(v)->flags >> 8 & 1); }
uintptr_t caml_ba_byte_size(struct ba *b) { return fk_ba_bytes(b); }

/* A block that shares the data of `v`. */
static value view(value v, intptr_t flags, int num_dims, const intptr_t *dim, char *data)
{
    struct ba *b = BA(v);
    if (b->flags & BA_MANAGED) {
        if (!b->proxy) {
            if (!(b->proxy = malloc(sizeof *b->proxy)))
                fk_raise_out_of_memory();
            *b->proxy = (struct proxy){1, b->data};
        }
        atomic_fetch_add(&b->proxy->refs, 1);
    }
    struct proxy *p = b->proxy;
    return make(flags, num_dims, dim, data, p, 0);
}

value caml_ba_sub(value v, value from, value len)
{
    struct ba *b = BA(v);
    bool fortran = b->flags & BA_FORTRAN;
    intptr_t axis = fortran ? b->num_dims - 1 : 0, dim[BA_MAX_DIMS], stride = 1;
    intptr_t f = INT_VAL(from) - (fortran ? 1 : 0), n = INT_VAL(len);
    if (f < 0 || n < 0 || f + n > b->dim[axis])
        fk_invalid_arg("Bigarray.sub: bad sub-array");
    memcpy(dim, b->dim, b->num_dims * sizeof *dim);
    for (intptr_t i = 0; i < b->num_dims; i++)
        stride *= i == axis ? 1 : dim[i];
    dim[axis] = n;
    return view(v, b->flags, (int)b->num_dims, dim,
                b->data + f * stride * caml_ba_element_size[KIND(b)]);
}

value caml_ba_slice(value v, value index)
{
    struct ba *b = BA(v);
    intptr_t n = wosize_of(index), at[BA_MAX_DIMS], left = b->num_dims - n;
    bool fortran = b->flags & BA_FORTRAN;
    if (n > b->num_dims)
        fk_invalid_arg("Bigarray.slice: too many indices");
    for (intptr_t i = 0; i < b->num_dims; i++)
        at[i] = fortran ? 1 : 0;
    for (intptr_t i = 0; i < n; i++)
        at[fortran ? left + i : i] = INT_VAL(FIELD(index, i));
    uintptr_t off = offset(b, at) * caml_ba_element_size[KIND(b)];
    return view(v, b->flags, (int)left, fortran ? b->dim : b->dim + n, b->data + off);
}

value caml_ba_reshape(value v, value dims)
{
    intptr_t dim[BA_MAX_DIMS];
    int n = read_dims(dims, dim);
    uintptr_t count = 1;
    for (int i = 0; i < n; i++)
        count *= dim[i];
    if (count != fk_ba_elements(BA(v)))
        fk_invalid_arg("Bigarray.reshape: size mismatch");
    return view(v, BA(v)->flags, n, dim, BA(v)->data);
}

value caml_ba_change_layout(value v, value layout)
{
    struct ba *b = BA(v);
    intptr_t dim[BA_MAX_DIMS], n = b->num_dims;
    if ((b->flags >> 8 & 1) == INT_VAL(layout))
        return v;
    for (intptr_t i = 0; i < n; i++)
        dim[i] = b->dim[n - 1 - i];
    return view(v, b->flags ^ BA_FORTRAN, (int)n, dim, b->data);
}

value caml_ba_fill(value v, value x)
{
    for (uintptr_t i = 0, n = fk_ba_elements(BA(v)); i < n; i++)
        set_at(BA(v), i, x);
    return VAL_UNIT;
}

value caml_ba_blit(value src, value dst)
{
    struct ba *a = BA(src), *b = BA(dst);
    bool same = a->num_dims == b->num_dims;
    for (intptr_t i = 0; same && i < a->num_dims; i++)
        same = a->dim[i] == b->dim[i];
    if (!same)
        fk_invalid_arg("Bigarray.blit: dimension mismatch");
    memmove(b->data, a->data, fk_ba_bytes(a));
    return VAL_UNIT;
}
