/* prims_int.c - integers: formats, parsing, boxed integers. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/custom.h"
#include "runtime/fail.h"
#include "runtime/gc.h"

/* --- parsing: the literal syntax of the OCaml manual, "Integer literals" ---------- */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Sign and radix prefix; *is_signed: the literal is decimal, so it must fit
 * the signed range; 0x, 0o, 0b literals may use all bits, 0u too. */
static const char *prefix(const char *p, int *sign, int *base, bool *is_signed)
{
    *sign = 1;
    *base = 10;
    *is_signed = true;
    if (*p == '-' || *p == '+')
        *sign = *p++ == '-' ? -1 : 1;
    if (*p != '0' || !p[1])
        return p;
    int b = (p[1] | 0x20) == 'x' ? 16 : (p[1] | 0x20) == 'o' ? 8 : (p[1] | 0x20) == 'b' ? 2 : 0;
    if (b || (p[1] | 0x20) == 'u') {
        *is_signed = false;
        *base = b ? b : 10;
        return p + 2;
    }
    return p;
}

static int64_t parse(value str, int bits, const char *error)
{
    int sign, base;
    bool is_signed;
    const char *p = prefix((char *)str, &sign, &base, &is_signed);
    const char *end = (char *)str + string_length(str);
    uint64_t limit = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, n = 0;
    if (digit(*p) >= base)
        fk_failwith(error);
    for (; p < end; p++) {
        if (*p == '_')
            continue;
        int d = digit(*p);
        if (d >= base || n > (limit - d) / base)
            fk_failwith(error);
        n = n * base + d;
    }
    uint64_t half = (uint64_t)1 << (bits - 1);
    if (is_signed && n >= half + (sign < 0))
        fk_failwith(error);
    n = sign < 0 ? -n : n;
    return bits == 64 ? (int64_t)n : (int64_t)(n << (64 - bits)) >> (64 - bits);
}

value caml_int_of_string(value s) { return VAL_INT(parse(s, 63, "int_of_string")); }
value caml_int32_of_string(value s)
{
    return fk_copy_int32((int32_t)parse(s, 32, "Int32.of_string"));
}
value caml_int64_of_string(value s) { return fk_copy_int64(parse(s, 64, "Int64.of_string")); }
value caml_nativeint_of_string(value s)
{
    return fk_copy_nativeint(parse(s, 64, "Nativeint.of_string"));
}

/* --- printing: a printf format whose conversion gets a 64-bit length ---------------- */

static value format(value fmt, int64_t n, uint64_t u)
{
    char f[64], small[128];
    size_t len = string_length(fmt);
    if (len == 0 || len + 3 > sizeof f)
        fk_invalid_arg("format_int: format too long");
    memcpy(f, (char *)fmt, len - 1);
    size_t p = len - 1;
    while (p > 0 && strchr("lLn", f[p - 1]))
        p--;
    char conv = ((char *)fmt)[len - 1];
    snprintf(f + p, sizeof f - p, "%s%c", PRId64[0] == 'l' && PRId64[1] == 'l' ? "ll" : "l", conv);
    bool is_signed = conv == 'd' || conv == 'i';
    int need = is_signed ? snprintf(small, sizeof small, f, n) : snprintf(small, sizeof small, f,
        u);
    if (need < (int)sizeof small)
        return fk_copy_bytes(small, need);
    value v = fk_alloc_string(need);
    char *big = malloc((size_t)need + 1);
    if (!big)
        fk_raise_out_of_memory();
    is_signed ? snprintf(big, need + 1, f, n) : snprintf(big, need + 1, f, u);
    memcpy((char *)v, big, need);
    free(big);
    return v;
}

value caml_format_int(value fmt, value n)
{
    if (string_length(fmt) == 2 && ((char *)fmt)[1] == 'd') { /* by far the most used */
        char buf[24];
        return fk_copy_bytes(buf, snprintf(buf, sizeof buf, "%" PRIdPTR, INT_VAL(n)));
    }
    return format(fmt, INT_VAL(n), (uint64_t)n >> 1);
}

/* --- boxed integers: int32 keeps 4 bytes at the start of its word --------------------- */

static int32_t int32_of(value v)
{
    int32_t n;
    memcpy(&n, CUSTOM_DATA(v), sizeof n);
    return n;
}
static int64_t int64_of(value v)
{
    int64_t n;
    memcpy(&n, CUSTOM_DATA(v), sizeof n);
    return n;
}

static int compare64(value a, value b)
{
    return (int64_of(a) > int64_of(b)) - (int64_of(a) < int64_of(b));
}
static int compare32(value a, value b)
{
    return (int32_of(a) > int32_of(b)) - (int32_of(a) < int32_of(b));
}
static intptr_t hash32(value v) { return int32_of(v); }
static intptr_t hash64(value v)
{
    uint64_t n = int64_of(v);
    return (intptr_t)(uint32_t)(n ^ n >> 32);
}
static intptr_t hash_native(value v)
{
    int64_t n = int64_of(v);
    return n ^ (n >> 32) ^ (n >> 63);
}

static void write32(value v, uintptr_t *b32, uintptr_t *b64)
{
    fk_serialize_be((uint32_t)int32_of(v), 4);
    *b32 = *b64 = 4;
}
static uintptr_t read32(void *dst)
{
    int32_t n = (int32_t)fk_deserialize_be(4);
    memcpy(dst, &n, sizeof n);
    return sizeof n;
}
static void write64(value v, uintptr_t *b32, uintptr_t *b64)
{
    fk_serialize_be(int64_of(v), 8);
    *b32 = *b64 = 8;
}
static uintptr_t read64(void *dst)
{
    int64_t n = (int64_t)fk_deserialize_be(8);
    memcpy(dst, &n, sizeof n);
    return sizeof n;
}
/* A nativeint is marshalled with its width: 1 for 32 bits, 2 for 64. */
static void write_native(value v, uintptr_t *b32, uintptr_t *b64)
{
    int64_t n = int64_of(v);
    bool small = n == (int32_t)n;
    fk_serialize_be(small ? 1 : 2, 1);
    fk_serialize_be(n, small ? 4 : 8);
    *b32 = 4;
    *b64 = 8;
}
static uintptr_t read_native(void *dst)
{
    int64_t n = fk_deserialize_be(1) == 1 ? (int32_t)fk_deserialize_be(4) : (int64_t)fk_deserialize_be(8);
    memcpy(dst, &n, sizeof n);
    return sizeof n;
}

static const struct custom_fixed_length length4 = {4, 4}, length8 = {8, 8}, length_native = {4, 8};
const struct custom_operations caml_int32_ops = {
    "_i", NULL, compare32, hash32, write32, read32, NULL, &length4};
const struct custom_operations caml_int64_ops = {
    "_j", NULL, compare64, hash64, write64, read64, NULL, &length8};
const struct custom_operations caml_nativeint_ops = {
    "_n", NULL, compare64, hash_native, write_native, read_native, NULL, &length_native};

static value box(const struct custom_operations *ops, const void *data, size_t n)
{
    value v = fk_alloc_small(2, TAG_CUSTOM);
    CUSTOM_OPS(v) = ops;
    FIELD(v, 1) = 0;
    memcpy(CUSTOM_DATA(v), data, n);
    return v;
}
value fk_copy_int32(int32_t n) { return box(&caml_int32_ops, &n, sizeof n); }
value fk_copy_int64(int64_t n) { return box(&caml_int64_ops, &n, sizeof n); }
value fk_copy_nativeint(intptr_t n) { return box(&caml_nativeint_ops, &n, sizeof n); }
value caml_copy_int32(int32_t n) { return fk_copy_int32(n); }
value caml_copy_int64(int64_t n) { return fk_copy_int64(n); }
value caml_copy_nativeint(intptr_t n) { return fk_copy_nativeint(n); }

value caml_int32_format(value fmt, value n)
{
    return format(fmt, int32_of(n), (uint32_t)int32_of(n));
}
value caml_int64_format(value fmt, value n) { return format(fmt, int64_of(n), int64_of(n)); }
value caml_nativeint_format(value fmt, value n) { return format(fmt, int64_of(n), int64_of(n)); }

/* --- conversions between unboxed numbers (called without boxing) ----------------------- */

int32_t caml_int32_of_float_unboxed(double d) { return (int32_t)(int64_t)d; }
double caml_int32_to_float_unboxed(int32_t n) { return n; }
int64_t caml_int64_of_float_unboxed(double d) { return (int64_t)d; }
double caml_int64_to_float_unboxed(int64_t n) { return (double)n; }
intptr_t caml_nativeint_of_float_unboxed(double d) { return (intptr_t)d; }
double caml_nativeint_to_float_unboxed(intptr_t n) { return (double)n; }
int32_t caml_int32_bits_of_float_unboxed(double d)
{
    float f = (float)d;
    int32_t n;
    memcpy(&n, &f, sizeof n);
    return n;
}
double caml_int32_float_of_bits_unboxed(int32_t n)
{
    float f;
    memcpy(&f, &n, sizeof f);
    return f;
}
int64_t caml_int64_bits_of_float_unboxed(double d)
{
    int64_t n;
    memcpy(&n, &d, sizeof n);
    return n;
}
double caml_int64_float_of_bits_unboxed(int64_t n)
{
    double d;
    memcpy(&d, &n, sizeof d);
    return d;
}

/* --- byte order: direct calls on architectures without such an instruction ------------- */

intptr_t caml_bswap16_direct(intptr_t n) { return __builtin_bswap16((uint16_t)n); }
int32_t caml_int32_direct_bswap(int32_t n) { return (int32_t)__builtin_bswap32((uint32_t)n); }
int64_t caml_int64_direct_bswap(int64_t n) { return (int64_t)__builtin_bswap64((uint64_t)n); }
intptr_t caml_nativeint_direct_bswap(intptr_t n)
{
    return (intptr_t)__builtin_bswap64((uint64_t)n);
}
value caml_bswap16(value n) { return VAL_INT(__builtin_bswap16((uint16_t)INT_VAL(n))); }
value caml_int32_bswap(value n)
{
    return fk_copy_int32((int32_t)__builtin_bswap32((uint32_t)int32_of(n)));
}
value caml_int64_bswap(value n)
{
    return fk_copy_int64((int64_t)__builtin_bswap64((uint64_t)int64_of(n)));
}
value caml_nativeint_bswap(value n)
{
    return fk_copy_nativeint((intptr_t)__builtin_bswap64((uint64_t)int64_of(n)));
}
