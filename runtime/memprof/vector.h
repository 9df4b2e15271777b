/* vector.h - the one place for compiler-specific help with hot loops.
 *
 * FK_VECTOR_CLONES compiles a function for AVX2 as well and picks at load
 * time. Without it the loops are the same, only narrower. Sanitizers run
 * before the loader has resolved such functions, so they do without. */
#ifndef FK_MEMPROF_VECTOR_H
#define FK_MEMPROF_VECTOR_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define FK_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define FK_VECTOR_CLONES
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
