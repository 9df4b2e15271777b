/* prims_float.c - floating point primitives. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/fail.h"
#include "runtime/gc.h"

/* --- one argument, boxed and unboxed forms ------------------------------------------- */

#define EACH_UNARY(X) \
    X(sqrt) X(exp) X(log) X(log10) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) \
    X(tanh) X(floor) X(ceil)
#define EACH_UNARY_OWN(X) \
    X(acosh) X(asinh) X(atanh) X(cbrt) X(erf) X(erfc) X(exp2) X(expm1) X(log1p) X(log2) X(round) X(trunc)

/* NAME_float boxed; the unboxed form is libm's own function. */
#define X(f) \
    value caml_##f##_float(value x) { return fk_copy_double(f(double_of(x))); }
EACH_UNARY(X)
#undef X
#define X(f) \
    double caml_##f(double x) { return f(x); } \
    value caml_##f##_float(value x) { return fk_copy_double(f(double_of(x))); }
EACH_UNARY_OWN(X)
#undef X

double caml_hypot(double a, double b) { return hypot(a, b); }
double caml_copysign(double a, double b) { return copysign(a, b); }
double caml_nextafter(double a, double b) { return nextafter(a, b); }
double caml_fma(double a, double b, double c) { return fma(a, b, c); }
value caml_hypot_float(value a, value b)
{
    return fk_copy_double(hypot(double_of(a), double_of(b)));
}
value caml_copysign_float(value a, value b)
{
    return fk_copy_double(copysign(double_of(a), double_of(b)));
}
value caml_nextafter_float(value a, value b)
{
    return fk_copy_double(nextafter(double_of(a), double_of(b)));
}
value caml_fma_float(value a, value b, value c)
{
    return fk_copy_double(fma(double_of(a), double_of(b), double_of(c)));
}
value caml_atan2_float(value a, value b)
{
    return fk_copy_double(atan2(double_of(a), double_of(b)));
}
value caml_fmod_float(value a, value b) { return fk_copy_double(fmod(double_of(a), double_of(b))); }
value caml_power_float(value a, value b) { return fk_copy_double(pow(double_of(a), double_of(b))); }
value caml_add_float(value a, value b) { return fk_copy_double(double_of(a) + double_of(b)); }
value caml_sub_float(value a, value b) { return fk_copy_double(double_of(a) - double_of(b)); }
value caml_mul_float(value a, value b) { return fk_copy_double(double_of(a) * double_of(b)); }
value caml_div_float(value a, value b) { return fk_copy_double(double_of(a) / double_of(b)); }
value caml_neg_float(value a) { return fk_copy_double(-double_of(a)); }
value caml_abs_float(value a) { return fk_copy_double(fabs(double_of(a))); }
value caml_float_of_int(value n) { return fk_copy_double((double)INT_VAL(n)); }
value caml_int_of_float(value x) { return VAL_INT((intptr_t)double_of(x)); }
value caml_eq_float(value a, value b) { return VAL_BOOL(double_of(a) == double_of(b)); }
value caml_neq_float(value a, value b) { return VAL_BOOL(double_of(a) != double_of(b)); }
value caml_lt_float(value a, value b) { return VAL_BOOL(double_of(a) < double_of(b)); }
value caml_le_float(value a, value b) { return VAL_BOOL(double_of(a) <= double_of(b)); }
value caml_gt_float(value a, value b) { return VAL_BOOL(double_of(a) > double_of(b)); }
value caml_ge_float(value a, value b) { return VAL_BOOL(double_of(a) >= double_of(b)); }

double caml_ldexp_float_unboxed(double x, intptr_t e)
{
    return ldexp(x, e > 1 << 20 ? 1 << 20 : e < -(1 << 20) ? -(1 << 20) : (int)e);
}
value caml_ldexp_float(value x, value e)
{
    return fk_copy_double(caml_ldexp_float_unboxed(double_of(x), INT_VAL(e)));
}

static value pair(value a, value b)
{
    ROOTS(2, &a, &b);
    value v = fk_alloc_small(2, 0);
    FIELD(v, 0) = a;
    FIELD(v, 1) = b;
    return UNROOT(v);
}

value caml_frexp_float(value x)
{
    int e;
    double m = frexp(double_of(x), &e);
    return pair(fk_copy_double(m), VAL_INT(e));
}
value caml_modf_float(value x)
{
    double whole, part = modf(double_of(x), &whole);
    value a = fk_copy_double(part), b = VAL_UNIT;
    ROOTS(1, &a);
    b = fk_copy_double(whole);
    UNROOT_VOID();
    return pair(a, b);
}

value caml_signbit(double x) { return VAL_BOOL(signbit(x)); }
value caml_signbit_float(value x) { return caml_signbit(double_of(x)); }

/* Stdlib.fpclass: normal, subnormal, zero, infinite, nan */
value caml_classify_float_unboxed(double x)
{
    switch (fpclassify(x)) {
    case FP_NORMAL: return VAL_INT(0);
    case FP_SUBNORMAL: return VAL_INT(1);
    case FP_ZERO: return VAL_INT(2);
    case FP_INFINITE: return VAL_INT(3);
    default: return VAL_INT(4);
    }
}
value caml_classify_float(value x) { return caml_classify_float_unboxed(double_of(x)); }

/* NaN equals itself and is below everything else. */
intptr_t caml_float_compare_unboxed(double a, double b)
{
    return (a > b) - (a < b) + (a == a) - (b == b);
}
value caml_float_compare(value a, value b)
{
    return VAL_INT(caml_float_compare_unboxed(double_of(a), double_of(b)));
}

/* --- text ------------------------------------------------------------------------------- */

/* What C's printf makes of one number, however long. */
static value printed(const char *fmt, ...)
{
    char small[400];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < (int)sizeof small)
        return fk_copy_bytes(small, n);
    char *big = malloc((size_t)n + 1);
    if (!big)
        fk_raise_out_of_memory();
    va_start(args, fmt);
    vsnprintf(big, n + 1, fmt, args);
    va_end(args);
    value v = fk_copy_bytes(big, n);
    free(big);
    return v;
}

value caml_format_float(value fmt, value x) { return printed((char *)fmt, double_of(x)); }

/* %h and %H of Printf: C's %a with OCaml's names for what is not finite. A negative
 * precision is none, for C as well. */
value caml_hexstring_of_float(value x, value precision, value style)
{
    double d = double_of(x);
    intptr_t prec = INT_VAL(precision);
    char s = (char)INT_VAL(style), fmt[8] = "%.*a";
    const char *sign = signbit(d) ? "-" : s == '+' ? "+" : s == ' ' ? " " : "";
    if (!isfinite(d))
        return printed("%s%s", sign, isnan(d) ? "nan" : "infinity");
    if (s == '+' || s == ' ')
        snprintf(fmt, sizeof fmt, "%%%c.*a", s);
    return printed(fmt, (int)prec, d);
}

/* Underscores are dropped; the rest must be one number; blanks before it are strtod's. */
value caml_float_of_string(value s)
{
    size_t len = string_length(s), n = 0;
    char small[64], *buf = len < sizeof small ? small : malloc(len + 1), *end;
    if (!buf)
        fk_raise_out_of_memory();
    for (size_t i = 0; i < len; i++)
        if (((char *)s)[i] != '_')
            buf[n++] = ((char *)s)[i];
    buf[n] = 0;
    double d = strtod(buf, &end);
    bool ok = n > 0 && end == buf + n;
    if (buf != small)
        free(buf);
    if (!ok)
        fk_failwith("float_of_string");
    return fk_copy_double(d);
}

value caml_float_compare_total(value a, value b) { return caml_float_compare(a, b); }
