/* externals.c - the C functions that programs of the tests may call. The compiled
 * programs find the same ones in lit-tests/cmmc/Inputs/support.c. */
#include <math.h>
#include <string.h>

#include "emitter/interp/interp.h"

typedef struct {
    interp *in;
    const value *args;
    size_t n;
    uint64_t w; /* result */
} call;

static uint64_t arg(const call *c, size_t i) {
    return i < c->n ? c->args[i].w[0] : 0;
}

static void print_int(call *c) {
    fprintf(c->in->out, "%lld\n", (long long)arg(c, 0));
}
static void print_bits(call *c) {
    fprintf(c->in->out, "0f%016llx\n", (unsigned long long)arg(c, 0));
}

/* A float for people and for comparing: 17 digits; every NaN is "nan". */
static void print_float(call *c) {
    double d = double_of(arg(c, 0));
    if (isnan(d)) {
        fputs("nan\n", c->in->out);
    } else {
        fprintf(c->in->out, "%.17g\n", d);
    }
}

/* Bytes up to a NUL. */
static void print_text(call *c) {
    uint64_t w;
    for (uint64_t p = arg(c, 0); load_memory(c->in, p, CMM_BYTE_U, &w) && w != 0; p++) {
        fputc((int)w, c->in->out);
    }
}

/* sum of (i + 1) * argument i */
static void sum_ints(call *c) {
    for (size_t i = 0; i < c->n; i++) {
        c->w += (i + 1) * arg(c, i);
    }
}

static void sum_floats(call *c) {
    double d = 0;
    for (size_t i = 0; i < c->n; i++) {
        d += (double)(i + 1) * double_of(arg(c, i));
    }
    c->w = bits_of(d);
}

/* int, float, int, float ...: (i + 1) * argument i */
static void sum_mixed(call *c) {
    double d = 0;
    for (size_t i = 0; i < c->n; i++) {
        d += (double)(i + 1) * (i % 2 == 0 ? (double)(int64_t)arg(c, i) : double_of(arg(c, i)));
    }
    c->w = bits_of(d);
}

static void add_int32(call *c) {
    c->w = (uint64_t)(int64_t)((int32_t)arg(c, 0) + (int32_t)arg(c, 1));
}
static void identity(call *c) {
    c->w = arg(c, 0);
}
static void nothing(call *c) {
    c->w = 1;
}
static void square_root(call *c) {
    c->w = bits_of(sqrt(double_of(arg(c, 0))));
}
static void store_word(call *c) {
    store_memory(c->in, arg(c, 0), CMM_WORD_VAL, arg(c, 1));
}
static void swap64(call *c) {
    c->w = __builtin_bswap64(arg(c, 0));
}
static void swap32(call *c) {
    c->w = (uint64_t)(int64_t)(int32_t)__builtin_bswap32((uint32_t)arg(c, 0));
}
static void swap16(call *c) {
    c->w = __builtin_bswap16((uint16_t)arg(c, 0));
}

static const struct {
    const char *name;
    void (*fn)(call *);
} table[] = {
    {"cmm_print_int", print_int},
    {"cmm_print_float", print_float},
    {"cmm_print_bits", print_bits},
    {"cmm_print_text", print_text},
    {"cmm_sum_ints", sum_ints},
    {"cmm_sum_floats", sum_floats},
    {"cmm_sum_mixed", sum_mixed},
    {"cmm_add_int32", add_int32},
    {"cmm_identity", identity},
    {"cmm_clobber", identity},
    {"cmm_clobber_float", identity},
    {"cmm_request_gc", nothing},
    {"cmm_gc", nothing},
    {"caml_register_named_value", nothing},
    {"sqrt", square_root},
    {"caml_initialize", store_word},
    {"caml_modify", store_word},
    {"caml_int64_direct_bswap", swap64},
    {"caml_nativeint_direct_bswap", swap64},
    {"caml_int32_direct_bswap", swap32},
    {"caml_bswap16_direct", swap16},
};

bool call_external(interp *in, const cmm_extcall *x, const value *args, size_t n, cmm_type type,
                   value *result) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, x->name->text) == 0) {
            call c = {in, args, n, 0};
            table[i].fn(&c);
            *result = (value){.n = cmm_type_count(type)};
            result->w[0] = c.w;
            return true;
        }
    }
    return false;
}
