/* power/power.h - shared by the files of this port. */
#ifndef FK_EMITTER_POWER_H
#define FK_EMITTER_POWER_H

#include "emitter/emit.h"

/* Places: frametable indices. r0, r11, r12 are scratch and have none. */
enum { R3, R4, R5, R6, R7, R8, R9, R10, R14, R15, R16, R17, R18, R19, R20, R21, R22, R23, R24, R25,
       R26, R27, R28 };
#define FLT(n) (LIN_FLOAT_BASE + (n))

bool power_imm_ok(lin_op, lin_cc, int64_t);
bool power_amode_ok(const lin_amode *, cmm_chunk, bool store);
/* n = high * 65536 + low with 16-bit signed parts. */
static inline int64_t power_low(int64_t n) { return (int16_t)n; }
static inline int64_t power_high(int64_t n) { return (n - (int16_t)n) >> 16; }
/* A run of ones at one end of the word. */
bool power_is_low_mask(int64_t n, unsigned *bits);
bool power_is_high_mask(int64_t n, unsigned *bits);

extern void (*const power_emit[LIN_TARGET_END])(emit *, lin_insn *);
void power_move(emit *, lin_place to, lin_place from);
void power_swap(emit *, lin_place, lin_place);
void power_branch(emit *, lin_insn *, lin_cc, lin_block *);
void power_jump(emit *, lin_block *);
void power_prologue(emit *);
void power_out_of_line(emit *, ool *);
void power_function_head(emit *, const char *name);
void power_file_head(emit *);
unsigned power_size(emit *, lin_insn *);

#endif
