/* interp/interp.h - between the interpreter's files.
 *
 * It is slow and simple on purpose: one function a form, values as plain words, no
 * sharing with the compiler beyond the tree, so that a difference means something.
 */
#ifndef FK_INTERP_INTERP_H
#define FK_INTERP_INTERP_H

#include "emitter/cmm.h"

/* A value: one word a component; floats as their bits. */
typedef struct {
    unsigned n;
    uint64_t w[CMM_MAX_COMPONENTS];
} value;

/* Results outside the defined domain, as the hardware of a target gives them
 * (docs/cmm.md, "Outside the domain"). */
enum { FUSE_SUMS = 1, FUSE_REVERSE = 2, FUSE_NEGATED = 4 };
typedef enum { DIV_TRAPS, DIV_ZERO, DIV_MINUS_ONE } div_kind;
typedef struct {
    const char *name;
    bool big_endian;
    div_kind by_zero;      /* quotient of x / 0; the remainder is then x */
    bool overflow_traps;   /* min / -1 */
    unsigned shift_modulus; /* 64 or 128 */
    bool saturates;        /* float to int, out of range; else 0x8000... */
    uint64_t nan_to_int;
    unsigned fuses;        /* FUSE_*: products that are rounded together with a sum */
} machine;
const machine *machine_by_name(const char *name);

/* Symbols of all units. Functions get addresses in a region that cannot be read. */
typedef struct {
    const char *name;
    uint64_t address;
    cmm_function *fn;
    cmm_unit *unit;
} linked;

typedef enum { OK, EXITS, RAISES, TAIL, STOPS } status;

typedef struct interp {
    const machine *m;
    cmm_unit *const *units;
    size_t nunits;
    FILE *out, *err;
    char *base, *top, *end;        /* memory: data, then the heap up to end */
    linked ***by_number;           /* [unit]: by symbol number */
    linked *symbols;               /* all that are defined */
    size_t nsymbols;
    linked **table;                /* hash of global names */
    size_t table_size;
    linked **functions;            /* by (address - code) / 16 */
    size_t nfunctions, cap_functions;
    char *code;
    /* travelling with EXITS, RAISES, TAIL */
    cmm_handler *handler;
    value *args;
    size_t nargs, cap_args;
    uint64_t exception;
    linked *callee;
    char *stack_base;
    size_t held;                   /* bytes of values that wait for a call's return */
} interp;

typedef struct {
    interp *in;
    const cmm_function *fn;
    size_t unit;   /* index of the unit it is in */
    value *vars;   /* by id */
} frame;

static inline value one(uint64_t w)
{
    value v = {.n = 1};
    v.w[0] = w;
    return v;
}
static inline uint64_t bits_of(double d)
{
    uint64_t b;
    __builtin_memcpy(&b, &d, sizeof b);
    return b;
}
static inline double double_of(uint64_t b)
{
    double d;
    __builtin_memcpy(&d, &b, sizeof d);
    return d;
}

/* Prints "FILE:LINE: reason" (pos UINT32_MAX: no position) and gives STOPS. */
status stop(interp *, const cmm_unit *, uint32_t pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* memory.c */
bool link_units(interp *);
void unlink_units(interp *);
linked *symbol_of(interp *, size_t unit, const cmm_sym *);
bool load_memory(const interp *, uint64_t address, cmm_chunk, uint64_t *w);
bool store_memory(const interp *, uint64_t address, cmm_chunk, uint64_t w);
bool allocate(interp *, unsigned words, uint64_t *address); /* of the header */

/* operators.c: false: the machine traps or the result is undefined. */
bool apply_operator(const machine *, cmm_op, uint64_t a, uint64_t b, uint64_t *result);

/* externals.c: false: no such function. */
bool call_external(interp *, const cmm_extcall *, const value *args, size_t n, cmm_type type,
                   value *result);

#endif
