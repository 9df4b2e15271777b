/* vector.h - the one place for compiler-specific help with hot loops.
 *
 * FK_WIDE compiles a function for AVX2; it may be called where fk_has_wide is true. Elsewhere the
 * loops are the same, only narrower. The compiler's own way to choose asks the processor whenever a
 * program is loaded, which takes longer than the rest of a start-up where a hypervisor answers. */
#ifndef FK_MEMPROF_VECTOR_H
#define FK_MEMPROF_VECTOR_H

#include <stdbool.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define FK_WIDE __attribute__((target("avx2")))

/* The processor has AVX2, and the system saves its registers (Intel's manual, 14.7.1). */
static inline bool fk_has_wide(void)
{
    const unsigned saves = bit_OSXSAVE | bit_AVX;
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & saves) != saves)
        return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}
#else
#define FK_WIDE
static inline bool fk_has_wide(void)
{
    return false;
}
#endif

/* variable = value, by a branch that is predicted not taken when the value stays
 * the same: what depends on the variable does not wait for the value. */
#define FK_PREDICT_SAME(variable, value)   \
    do {                                   \
        if ((variable) != (value)) {       \
            (variable) = (value);          \
            __asm__("" : "+r"(variable)); \
        }                                  \
    } while (0)

#endif
