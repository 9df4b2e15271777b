/* amd64/amd64.h - shared by the files of this port. */
#ifndef FK_EMITTER_AMD64_H
#define FK_EMITTER_AMD64_H

#include "emitter/emit.h"

enum { RAX, RBX, RDI, RSI, RDX, RCX, R8, R9, R12, R13, R10, R11, RBP };
#define XMM(n) (LIN_FLOAT_BASE + (n))

bool amd64_imm_ok(lin_op, lin_cc, int64_t);
bool amd64_amode_ok(const lin_amode *, cmm_chunk, bool store);
lin_vreg amd64_select(struct sel *, const cmm_expr *, lin_vreg into);

extern void (*const amd64_emit[LIN_TARGET_END])(emit *, lin_insn *);
void amd64_move(emit *, lin_place to, lin_place from);
void amd64_swap(emit *, lin_place, lin_place);
void amd64_branch(emit *, lin_insn *, lin_cc, lin_block *);
void amd64_jump(emit *, lin_block *);
void amd64_prologue(emit *);
void amd64_out_of_line(emit *, ool *);
void amd64_function_head(emit *, const char *name);

#endif
