/* s390x/s390x.h - shared by the files of this port. */
#ifndef FK_EMITTER_S390X_H
#define FK_EMITTER_S390X_H

#include "emitter/emit.h"

/* Places: frametable indices. r0, r1 and f15 are scratch and have none. */
enum { R2, R3, R4, R5, R6, R7, R8, R9, R12 };
#define FLT(index) (LIN_FLOAT_BASE + (index)) /* f0 f2 f4 f6 f1 f3 f5 f7 f8 ... f14 */

static inline bool s390x_is_disp12(int64_t n) { return n >= 0 && n < 4096; }
static inline bool s390x_is_disp20(int64_t n) { return n >= -(1 << 19) && n < (1 << 19); }

bool s390x_imm_ok(lin_op, lin_cc, int64_t);
bool s390x_amode_ok(const lin_amode *, cmm_chunk, bool store);
lin_vreg s390x_select(struct sel *, const cmm_expr *, lin_vreg into);
/* AND with this constant is one rotate-and-insert: bits first..last, 0 is the highest. */
bool s390x_is_mask(int64_t n, unsigned *first, unsigned *last);

extern void (*const s390x_emit[LIN_TARGET_END])(emit *, lin_insn *);
void s390x_move(emit *, lin_place to, lin_place from);
void s390x_swap(emit *, lin_place, lin_place);
void s390x_branch(emit *, lin_insn *, lin_cc, lin_block *);
void s390x_jump(emit *, lin_block *);
void s390x_prologue(emit *);
void s390x_out_of_line(emit *, ool *);
void s390x_function_head(emit *, const char *name);
unsigned s390x_size(emit *, lin_insn *);

#endif
