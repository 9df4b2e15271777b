/* params.h - what OCAMLRUNPARAM and FRAMEKIT_CHECK set (docs/runtime.md). */
#ifndef FK_RT_PARAMS_H
#define FK_RT_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

struct params {
    uintptr_t minor_words;    /* s */
    _Atomic uintptr_t space_overhead; /* o, percent; like all _Atomic ones: Gc.set */
    uintptr_t stack_words;    /* l: limit of a fiber */
    _Atomic uintptr_t verbose;        /* v */
    bool backtrace;           /* b */
    bool randomize;           /* R: Hashtbl */
    /* M m n; only the last is read, the others are Gc.get's */
    _Atomic uintptr_t custom_major_ratio, custom_minor_ratio, custom_minor_max_size;
};
extern struct params fk_params;
void fk_params_init(void);

#endif
