/* arm64/arm64.h - shared by the files of this port. */
#ifndef FK_EMITTER_ARM64_H
#define FK_EMITTER_ARM64_H

#include "emitter/emit.h"

#define D(n) (LIN_FLOAT_BASE + (n))

/* The port's own operations. */
enum {
    ARM_ADDSHIFT = LIN_TARGET, /* a + (b << imm) */
    ARM_SUBSHIFT,              /* a - (b << imm) */
    ARM_MADD, ARM_MSUB,        /* c + a * b, c - a * b; arguments a b c */
};

bool arm64_imm_ok(lin_op, lin_cc, int64_t);
bool arm64_logical_imm(uint64_t);
bool arm64_amode_ok(const lin_amode *, cmm_chunk, bool store);
lin_vreg arm64_select(struct sel *, const cmm_expr *, lin_vreg into);

extern void (*const arm64_emit[LIN_TARGET_END])(emit *, lin_insn *);
void arm64_move(emit *, lin_place to, lin_place from);
void arm64_swap(emit *, lin_place, lin_place);
void arm64_branch(emit *, lin_insn *, lin_cc, lin_block *);
void arm64_jump(emit *, lin_block *);
void arm64_prologue(emit *);
void arm64_out_of_line(emit *, ool *);
void arm64_function_head(emit *, const char *name);
unsigned arm64_size(emit *, lin_insn *);

#endif
