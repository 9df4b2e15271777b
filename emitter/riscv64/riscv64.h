/* riscv64/riscv64.h - shared by the files of this port. */
#ifndef FK_EMITTER_RISCV64_H
#define FK_EMITTER_RISCV64_H

#include "emitter/emit.h"

#define F(n) (LIN_FLOAT_BASE + (n)) /* by number: ft0-7 0-7, fs0-1, fa0-7 10-17, fs2-11, ft8-11 */

bool riscv64_imm_ok(lin_op, lin_cc, int64_t);
bool riscv64_amode_ok(const lin_amode *, cmm_chunk, bool store);

extern void (*const riscv64_emit[LIN_TARGET_END])(emit *, lin_insn *);
void riscv64_move(emit *, lin_place to, lin_place from);
void riscv64_swap(emit *, lin_place, lin_place);
void riscv64_branch(emit *, lin_insn *, lin_cc, lin_block *);
void riscv64_jump(emit *, lin_block *);
void riscv64_prologue(emit *);
void riscv64_out_of_line(emit *, ool *);
void riscv64_function_head(emit *, const char *name);
void riscv64_file_head(emit *);
unsigned riscv64_size(emit *, lin_insn *);

#endif
