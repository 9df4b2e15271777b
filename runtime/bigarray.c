/* bigarray.c - what polymorphic functions do with a Bigarray: comparison, hashing,
 * Marshal. All three look at numbers: an element is one, a complex one is two. */
#include "runtime/bigarray.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/custom.h"
#include "runtime/fail.h"
#include "runtime/gc.h"

const int caml_ba_element_size[BA_KINDS] = {4, 8, 1, 1, 2, 2, 4, 8, 8, 8, 8, 16, 1, 2};

uintptr_t fk_ba_elements(const struct ba *b)
{
    uintptr_t n = 1;
    for (intptr_t i = 0; i < b->num_dims; i++)
        n *= b->dim[i];
    return n;
}
uintptr_t fk_ba_bytes(const struct ba *b)
{
    return fk_ba_elements(b) * caml_ba_element_size[KIND(b)];
}

static bool is_complex(const struct ba *b) { return KIND(b) == COMPLEX32 || KIND(b) == COMPLEX64; }
static unsigned number_size(const struct ba *b)
{
    return caml_ba_element_size[KIND(b)] >> is_complex(b);
}

static uint64_t load(const struct ba *b, unsigned size, uintptr_t i)
{
    switch (size) {
    case 1: return ((uint8_t *)b->data)[i];
    case 2: return ((uint16_t *)b->data)[i];
    case 4: return ((uint32_t *)b->data)[i];
    }
    return ((uint64_t *)b->data)[i];
}

static void store(struct ba *b, unsigned size, uintptr_t i, uint64_t n)
{
    switch (size) {
    case 1: ((uint8_t *)b->data)[i] = (uint8_t)n; return;
    case 2: ((uint16_t *)b->data)[i] = (uint16_t)n; return;
    case 4: ((uint32_t *)b->data)[i] = (uint32_t)n; return;
    }
    ((uint64_t *)b->data)[i] = n;
}

static void finalize(value v)
{
    struct ba *b = BA(v);
    if (!(b->flags & BA_MANAGED))
        return;
    if (!b->proxy)
        free(b->data);
    else if (atomic_fetch_sub(&b->proxy->refs, 1) == 1) {
        free(b->proxy->data);
        free(b->proxy);
    }
}

/* --- comparison --------------------------------------------------------------------- */

double fk_ba_half(uint16_t h)
{
    uint64_t sign = (uint64_t)(h >> 15) << 63, e = h >> 10 & 31, m = h & 1023, n;
    if (e == 0) {
        double d = (double)m / 16777216.0;
        return sign ? -d : d;
    }
    n = sign | (e == 31 ? 2047 : e - 15 + 1023) << 52 | m << 42;
    double d;
    memcpy(&d, &n, sizeof d);
    return d;
}

/* NaN is below all others; that it was met is told, for `=` and `<`. */
static int compare_floats(double x, double y)
{
    if (isnan(x) || isnan(y))
        fk_self->st.compare_unordered = 1;
    return (x > y) - (x < y) + (x == x) - (y == y);
}

static int compare_numbers(const struct ba *a, const struct ba *b, uintptr_t i)
{
#define INTS(type) \
    do { \
        type x = ((type *)a->data)[i], y = ((type *)b->data)[i]; \
        return (x > y) - (x < y); \
    } while (0)
#define FLOATS(type, f) return compare_floats(f(((type *)a->data)[i]), f(((type *)b->data)[i]))
    switch (KIND(a)) {
    case SINT8: INTS(int8_t);
    case UINT8: case CHAR: INTS(uint8_t);
    case SINT16: INTS(int16_t);
    case UINT16: INTS(uint16_t);
    case INT32: INTS(int32_t);
    case FLOAT16: FLOATS(uint16_t, fk_ba_half);
    case FLOAT32: case COMPLEX32: FLOATS(float, );
    case FLOAT64: case COMPLEX64: FLOATS(double, );
    }
    INTS(int64_t);
#undef INTS
#undef FLOATS
}

static int order(intptr_t x, intptr_t y) { return (x > y) - (x < y); }

/* Of different layouts, kinds and numbers of dimensions the greater comes first. */
int caml_ba_compare(value v, value w)
{
    const struct ba *a = BA(v), *b = BA(w);
    intptr_t mask = BA_KIND | BA_FORTRAN;
    int c = order(b->flags & mask, a->flags & mask);
    if (!c)
        c = order(b->num_dims, a->num_dims);
    for (intptr_t i = 0; !c && i < a->num_dims; i++)
        c = order(a->dim[i], b->dim[i]);
    uintptr_t n = c ? 0 : fk_ba_bytes(a) / number_size(a);
    for (uintptr_t i = 0; !c && i < n; i++)
        c = compare_numbers(a, b, i);
    return c;
}

/* --- hashing --------------------------------------------------------------------------
 * At most 256 bytes of numbers, where a word counts as four: that is what it has on a
 * 32-bit machine. Integers of 8 and 16 bits share a word, the first lowest. */

static bool has_word_size(const struct ba *b) { return KIND(b) == CAML_INT || KIND(b) == NATIVE; }

static uintptr_t hashed_numbers(const struct ba *b)
{
    uintptr_t n = fk_ba_bytes(b) / number_size(b),
        most = 256 / (has_word_size(b) ? 4 : number_size(b));
    return n < most ? n : most;
}

static uint32_t mix_packed(uint32_t h, const struct ba *b, unsigned size)
{
    unsigned per_word = 4 / size;
    for (uintptr_t i = 0, n = hashed_numbers(b); i < n; i += per_word) {
        uint32_t word = 0;
        for (uintptr_t k = 0; k < per_word && i + k < n; k++)
            word |= (uint32_t)load(b, size, i + k) << (8 * size * k);
        h = caml_hash_mix_uint32(h, word);
    }
    return h;
}

/* All NaNs hash alike, and so do the two zeros. */
static uint32_t mix_half(uint32_t h, uint16_t n)
{
    return caml_hash_mix_uint32(h, (n & 0x7FFF) > 0x7C00 ? 0x7C01 : n == 0x8000 ? 0 : n);
}

static uint32_t mix_number(uint32_t h, const struct ba *b, uintptr_t i)
{
    switch (KIND(b)) {
    case FLOAT16: return mix_half(h, ((uint16_t *)b->data)[i]);
    case FLOAT32: case COMPLEX32: return caml_hash_mix_float(h, ((float *)b->data)[i]);
    case FLOAT64: case COMPLEX64: return caml_hash_mix_double(h, ((double *)b->data)[i]);
    case INT32: return caml_hash_mix_uint32(h, ((uint32_t *)b->data)[i]);
    case INT64: return caml_hash_mix_int64(h, ((int64_t *)b->data)[i]);
    }
    return caml_hash_mix_intnat(h, ((intptr_t *)b->data)[i]);
}

intptr_t caml_ba_hash(value v)
{
    const struct ba *b = BA(v);
    uint32_t h = 0;
    if (number_size(b) < 4 && KIND(b) != FLOAT16)
        return mix_packed(h, b, number_size(b));
    for (uintptr_t i = 0, n = hashed_numbers(b); i < n; i++)
        h = mix_number(h, b, i);
    return h;
}

/* --- Marshal ----------------------------------------------------------------------------
 *
 *   4 bytes dimensions | 4 kind and layout | for each dimension 2 bytes, or FFFF and 8 |
 *   numbers, big-endian. Before those of kind int and nativeint one byte: 0 when all are
 *   such of a 32-bit machine and have 4 bytes, 1 when they have 8. */

enum { WIDE_DIM = 0xFFFF };

static bool fit_in_four(const struct ba *b)
{
    const intptr_t *p = (intptr_t *)b->data;
    intptr_t limit = (intptr_t)1 << (KIND(b) == CAML_INT ? 30 : 31);
    for (uintptr_t i = 0, n = fk_ba_elements(b); i < n; i++)
        if (p[i] < -limit || p[i] >= limit)
            return false;
    return true;
}

static uintptr_t block_size(intptr_t num_dims, unsigned word) { return (4 + num_dims) * word; }

void caml_ba_serialize(value v, uintptr_t *size_32, uintptr_t *size_64)
{
    const struct ba *b = BA(v);
    fk_serialize_be(b->num_dims, 4);
    fk_serialize_be(b->flags & (BA_KIND | BA_FORTRAN), 4);
    for (intptr_t i = 0; i < b->num_dims; i++) {
        bool wide = b->dim[i] >= WIDE_DIM;
        fk_serialize_be(wide ? WIDE_DIM : b->dim[i], 2);
        if (wide)
            fk_serialize_be(b->dim[i], 8);
    }
    unsigned size = number_size(b), written = size;
    if (has_word_size(b)) {
        written = fit_in_four(b) ? 4 : 8;
        fk_serialize_be(written == 8, 1);
    }
    for (uintptr_t i = 0, n = fk_ba_bytes(b) / size; i < n; i++)
        fk_serialize_be(load(b, size, i), written);
    *size_32 = block_size(b->num_dims, 4);
    *size_64 = block_size(b->num_dims, 8);
}

/* Elements that the dimensions of the input promise, none of them unread. */
static uintptr_t read_dims(struct ba *b)
{
    uintptr_t n = 1, left = fk_deserialize_left();
    for (intptr_t i = 0; i < b->num_dims; i++) {
        uint64_t d = fk_deserialize_be(2);
        b->dim[i] = d == WIDE_DIM ? fk_deserialize_be(8) : d;
        if (b->dim[i] < 0 || (n && (uintptr_t)b->dim[i] > MAX_WOSIZE / n))
            fk_deserialize_bad("input_value: size overflow for bigarray");
        n *= b->dim[i];
    }
    if (n > left)
        fk_deserialize_bad("input_value: truncated bigarray");
    return n;
}

uintptr_t caml_ba_deserialize(void *dst)
{
    struct ba *b = dst;
    intptr_t dims = fk_deserialize_be(4), flags = fk_deserialize_be(4);
    if (dims > BA_MAX_DIMS || fk_deserialize_room() != block_size(dims, 8) ||
        (flags & BA_KIND) >= BA_KINDS || flags & ~(intptr_t)(BA_KIND | BA_FORTRAN))
        fk_deserialize_bad("input_value: wrong bigarray");
    b->num_dims = dims;
    b->flags = flags;
    uintptr_t bytes = read_dims(b) * caml_ba_element_size[KIND(b)];
    unsigned size = number_size(b), written = size;
    if (has_word_size(b))
        written = fk_deserialize_be(1) ? 8 : 4;
    if (bytes / size > fk_deserialize_left() / written)
        fk_deserialize_bad("input_value: truncated bigarray");
    if (!(b->data = malloc(bytes ? bytes : 1)))
        fk_deserialize_bad("input_value: out of memory for bigarray");
    b->flags |= BA_MANAGED;
    for (uintptr_t i = 0; i < bytes / size; i++) {
        uint64_t n = fk_deserialize_be(written);
        store(b, size, i, has_word_size(b) && written == 4 ? (uint64_t)(int32_t)n : n);
    }
    return block_size(dims, 8);
}

const struct custom_operations fk_ba_ops = {
    .identifier = "_bigarr02", .finalize = finalize, .compare = caml_ba_compare,
    .hash = caml_ba_hash, .serialize = caml_ba_serialize, .deserialize = caml_ba_deserialize};
