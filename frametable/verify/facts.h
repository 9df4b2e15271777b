/* facts.h - what functions tell about each other's arguments and results.
 *
 * A type with blocks is never that of an integer. A function that reads a field of its argument, or
 * returns a block, shows it to its callers; a caller that gives it a block shows it to the
 * function.
 *
 *   f:  ld  [a0]          pointers(f) has a0:  f takes a block
 *   g:  mv a0, block      given(f) has a0:     f is given a block
 *       call f
 *   h:  mv a0, block      returns(h)
 *       ret
 *   k:  j   f             what holds of f's a0 holds of k's, k returns what f returns
 *
 * What is a number on some path, computed by a function or handed to one, is of any type (GADT):
 * numbers(f) has a0, returns_number(h). It shows nothing, whatever else it is. */
#ifndef FK_VERIFY_FACTS_H
#define FK_VERIFY_FACTS_H

#include "frametable/verify/flow.h"

typedef struct {
    uint64_t entry; /* first: the key */
    uint32_t pointers, given, numbers; /* argument registers */
    bool returns, returns_number;
} fk_fact;

/* `from` hands its argument to `to`, or its result is that of `to`. */
typedef struct {
    uint64_t from, to;
    uint8_t from_reg, to_reg; /* FK_NO_REG: the result */
} fk_passing;

typedef struct fk_facts {
    fk_fact *list; /* by entry */
    size_t num, cap;
    fk_passing *passings;
    size_t num_passings, cap_passings;
    bool lost; /* no memory */
} fk_facts;

/* A visit (fk_visit_fn) of every instruction; arg is a fk_facts. */
void fk_facts_visit(fk_function *, const fk_state *, int32_t node, void *facts);
/* Adds all of `more`. */
void fk_facts_add(fk_facts *, const fk_facts *more);
/* After the last: draws the conclusions. The order of additions does not show. */
void fk_facts_conclude(fk_facts *);
/* NULL: nothing is known. */
const fk_fact *fk_fact_of(const fk_facts *, uint64_t entry);
/* The function that a direct call or tail call enters; 0: none. */
uint64_t fk_callee_entry(const fk_function *, const fk_state *, const fk_node *);
void fk_facts_close(fk_facts *);

#endif
