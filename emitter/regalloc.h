/* regalloc.h - shared by regalloc.c (inside blocks) and edges.c (between them). */
#ifndef FK_REGALLOC_H
#define FK_REGALLOC_H

#include "emitter/target.h"

typedef struct {
    lin_function *f;
    const machine *m;
    lin_block *b;
    lin_insn *at;           /* code is inserted before this one */
    int8_t *reg;            /* by vreg: its register or LIN_NONE */
    uint32_t *next;         /* by vreg in a register: next use in this block */
    uint32_t *count;        /* by vreg: scratch of ra_entry */
    lin_vreg in[64];        /* by register */
    uint64_t used;
    uint64_t loop_homes;    /* registers that the enclosing loop wants back */
    const lin_reg_event *events; /* of this block */
    uint32_t nevents, next_event;
    uint32_t entry_next[64];
} ra;

/* v goes to register `to`; from: its register, or LIN_NONE (slot or constant). */
typedef struct {
    lin_vreg v;
    lin_place to, from;
} ra_copy;

bool ra_is_float(const ra *, lin_vreg);
lin_place ra_slot(ra *, lin_vreg); /* to be read */
lin_insn *ra_reload(ra *, lin_vreg, lin_place to);
/* All copies at once, before `at` of block b (NULL: at its end). */
void ra_parallel(ra *, ra_copy *, unsigned n, lin_block *, lin_insn *at);
/* Fills b->entry (and entry_next) from the predecessors that are done. */
void ra_entry(ra *, lin_block *);
/* Moves on the edges whose ends disagree. */
void ra_edges(ra *);

#endif
