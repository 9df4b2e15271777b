/* select.h - shared by the files of selection (select*.c, effects.c). */
#ifndef FK_SELECT_H
#define FK_SELECT_H

#include "emitter/target.h"

/* The vregs of a value, one per component. As a destination: v[i] == 0 asks for
 * any vreg, else the value must end up in v[i], written by the last instruction. */
typedef struct {
    unsigned n;
    lin_vreg v[CMM_MAX_COMPONENTS];
} val;

/* A variable: vregs, or a constant that is selected again at each use. */
typedef struct {
    const cmm_expr *alias;
    uint32_t n;
    lin_vreg *v;
} binding;

typedef struct {
    lin_block *block;
    uint32_t n;
    lin_vreg *v;            /* parameters */
    lin_block *outer;       /* exception handler outside the catch */
    uint32_t trap_depth;
    bool inside;            /* a handler of the same recursive catch is being selected */
} handler_info;

typedef struct sel {
    cmm_unit *unit;
    const cmm_function *source;
    lin_function *f;
    const cmmc_options *options;
    const target *t;
    const machine *m;
    lin_block *b;           /* where code goes; NULL: not reachable */
    lin_block *handler;
    uint32_t trap_depth;
    binding *vars;          /* by cmm_var id */
    handler_info *handlers; /* by cmm_handler id */
    lin_block *self;        /* target of self tail calls */
    lin_vreg *params;
    uint32_t nparams;
    const cmm_dbg *dbg;
} sel;

/* --- select.c: control ------------------------------------------------------ */
void sel_expr(sel *, const cmm_expr *, val *);
lin_vreg sel_word(sel *, const cmm_expr *, lin_vreg into); /* one component */
void sel_tail(sel *, const cmm_expr *);
void sel_jump(sel *, lin_block *to);
void sel_finish(sel *, lin_insn *term, unsigned n, lin_block *const *succ);
lin_block *sel_block(sel *); /* new block in the current exception scope */
void sel_at(sel *, lin_block *);
lin_vreg sel_int(sel *, int64_t, lin_vreg into);
binding *sel_binding(sel *, const cmm_var *);
lin_insn *sel_put(sel *, lin_insn *); /* appends; sets the location */
void sel_parallel(sel *, unsigned n, const lin_vreg *to, const lin_vreg *from);
lin_insn *sel_move(sel *, lin_vreg to, lin_vreg from);
lin_vreg sel_target(sel *, const cmm_expr *, lin_vreg into); /* into, or a new vreg of e's type */

/* --- select_ops.c: operators, memory, conditions ------------------------------ */
lin_vreg sel_operator(sel *, const cmm_expr *, lin_vreg into);
void sel_condition(sel *, const cmm_expr *, lin_block *yes, lin_block *no);
void sel_branch_const(sel *, lin_vreg, lin_cc, int64_t, lin_block *yes, lin_block *no);
lin_vreg sel_load(sel *, const cmm_expr *, lin_vreg into);
void sel_store(sel *, const cmm_expr *);
void sel_checkbound(sel *, const cmm_expr *);
lin_vreg sel_alloc(sel *, const cmm_expr *, lin_vreg into);
lin_vreg sel_binary(sel *, lin_op, sel_opn a, sel_opn b, cmm_component, lin_vreg into);
lin_vreg sel_divide(sel *, bool mod, sel_opn a, int64_t d, lin_vreg into);

/* --- select_call.c -------------------------------------------------------------- */
void sel_apply(sel *, const cmm_expr *, val *);
bool sel_tail_apply(sel *, const cmm_expr *); /* false: not possible as a tail call */
void sel_extcall(sel *, const cmm_expr *, val *);
void sel_parameters(sel *);
void sel_return(sel *, const val *);
void sel_raise(sel *, const cmm_expr *);

/* --- effects.c --------------------------------------------------------------------- */
enum { EFFECT_NONE, EFFECT_RAISE, EFFECT_ANY };
enum { READS_NONE, READS_MUTABLE, READS_ANY };
typedef struct {
    uint8_t effect, reads;
    bool simple; /* may be moved: no call, alloc, store, control inside */
} effects;
effects effects_of(const cmm_expr *);
/* May `e` be evaluated after expressions with `left` effects that were to come later? */
bool effects_deferrable(effects e, effects left);
effects effects_join(effects, effects);

#endif
