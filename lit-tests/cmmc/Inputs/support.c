/* support.c - the C functions that Cmm programs of the tests call. The interpreter has the
 * same ones (emitter/interp/externals.c). */
#define CAML_INTERNALS
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void cmm_print_int(intnat i) { printf("%ld\n", (long)i); }
void cmm_print_text(const char *s) { fputs(s, stdout); }

void cmm_print_float(double d)
{
    if (isnan(d)) {
        puts("nan");
    } else {
        printf("%.17g\n", d);
    }
}

/* The bits of a float. */
void cmm_print_bits(double d)
{
    uint64_t b;
    memcpy(&b, &d, sizeof b);
    printf("0f%016lx\n", (unsigned long)b);
}

/* Ten places each way, so that some are on the stack everywhere. */
intnat cmm_sum_ints(intnat a, intnat b, intnat c, intnat d, intnat e, intnat f, intnat g, intnat h,
                    intnat i, intnat j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

double cmm_sum_floats(double a, double b, double c, double d, double e, double f, double g,
                      double h, double i, double j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

double cmm_sum_mixed(intnat a, double b, intnat c, double d, intnat e, double f, intnat g,
                     double h, intnat i, double j, intnat k, double l, intnat m, double n,
                     intnat o, double p, intnat q, double r, intnat s, double t)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
           12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r + 19 * s + 20 * t;
}

int32_t cmm_add_int32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
intnat cmm_identity(intnat i) { return i; }

/* Identities that write every register that C functions may: more values are alive than there
 * are registers, and all are nonsense. */
static volatile intnat some_ints[40] = {0x5a5a5a5a5a5a5a5};
static volatile double some_floats[40] = {-1e200};

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define FORTY(X) TEN(X, ) TEN(X, 1) TEN(X, 2) TEN(X, 3)
#define LOAD_INT(n) intnat i##n = some_ints[n] ^ 0x5a5a5a5a5a5a5a5;
#define STORE_INT(n) some_ints[n] = i##n;
#define LOAD_FLOAT(n) double f##n = some_floats[n] - 1e100;
#define STORE_FLOAT(n) some_floats[n] = f##n;

intnat cmm_clobber(intnat i)
{
    FORTY(LOAD_INT)
    FORTY(LOAD_FLOAT)
    FORTY(STORE_INT)
    FORTY(STORE_FLOAT)
    return i;
}

double cmm_clobber_float(double d)
{
    cmm_clobber(0);
    return d;
}

/* The next poll or allocation goes to the collector. */
void cmm_request_gc(void) { caml_request_minor_gc(); }

/* An allocating call: everything young moves. */
value cmm_gc(value unit)
{
    (void)unit;
    caml_minor_collection();
    return Val_unit;
}
