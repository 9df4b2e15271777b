/* emit.h - shared by emit.c, relax.c, backend.c; ports include it for their emit.c. */
#ifndef FK_EMITTER_EMIT_H
#define FK_EMITTER_EMIT_H

#include "emitter/out.h"
#include "emitter/tables.h"
#include "emitter/target.h"

/* Doubles that code loads: hash table of bits -> label. */
struct lits {
    struct { uint64_t bits; uint32_t label; } *entry;
    uint32_t n, room;
};

void emit_function(emit *, lin_function *);
void emit_literals(emit *);
void emit_relax(emit *);      /* marks instructions whose targets are out of reach */
void e_loc(emit *, const cmm_dbg *);

/* Ready-made entries for a port's emit[] table. */
void e_move(emit *, lin_insn *);
void e_swap(emit *, lin_insn *);
void e_nothing(emit *, lin_insn *);
void e_jump_insn(emit *, lin_insn *);
void e_conditional(emit *, lin_insn *); /* BRANCH, BRANCHT, BRANCHF through target->branch */
void e_jump(emit *, lin_block *);       /* unless it comes next */
uint32_t e_bound_error(emit *, lin_insn *);
void e_describe(emit *, lin_insn *); /* a label here, and its descriptor */
uint32_t e_area(const lin_insn *);   /* bytes of stack arguments that a call takes off */
/* Text of an operand, good for one instruction: one of eight buffers, cut off at 160 bytes. */
const char *e_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline lin_place e_res(lin_insn *i)
{
    return lin_res(i, 0)->place;
}
static inline lin_place e_arg(lin_insn *i, unsigned n)
{
    return lin_arg(i, n)->place;
}
/* The register of the result, of argument n. */
static inline const char *e_to(emit *e, lin_insn *i)
{
    return e_reg(e, e_res(i));
}
static inline const char *e_from(emit *e, lin_insn *i, unsigned n)
{
    return e_reg(e, e_arg(i, n));
}
/* Around code that leaves the function (epilogue, then the return or jump). */
void e_begin_path(emit *);
void e_end_path(emit *);

#endif
