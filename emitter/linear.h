/* linear.h - the program between Cmm and assembly: blocks of instructions.
 *
 * Glossary
 *   vreg        virtual register, a number from 1; has a component (cmm_component)
 *   place       where a vreg lives: a machine register (0-31 integer, 32-63 float,
 *               the integer ones numbered as in frametables) or a frame slot
 *   block       instructions with one entry; the last one is the terminator
 *   handler     the block that an exception raised in this block goes to
 *   trap depth  number of trap frames that the function has pushed
 *   remat       a vreg that is computed again where it is needed (a constant)
 *
 * Life of a function:  select -> polls -> comballoc -> cse -> liveness -> annotate
 *   -> regalloc -> spill -> layout -> emit. Functions of 50,000 expressions do not fit the
 *   caches, so a pass over all instructions is dear: what one pass knows it leaves for the
 *   next in lists and flags.   Not SSA: a let_mut variable or a handler
 *   parameter is one vreg with several definitions; joins need no phis, and the
 *   allocator gets the variable's register for free.
 */
#ifndef FK_LINEAR_H
#define FK_LINEAR_H

#include "emitter/cmmc.h"

typedef uint32_t lin_vreg; /* 0: none */
typedef int32_t lin_place; /* < 0: none */

enum {
    LIN_FLOAT_BASE = 32, /* places of float registers */
    LIN_SLOT_BASE = 64,  /* places of frame slots */
    LIN_NONE = -1,
};
enum { LIN_FRAME_LIMIT = 1 << 16 }; /* bytes: descriptors hold sizes below it */

static inline bool lin_is_reg(lin_place p) { return p >= 0 && p < LIN_SLOT_BASE; }
static inline bool lin_is_slot(lin_place p) { return p >= LIN_SLOT_BASE; }
static inline bool lin_is_float_reg(lin_place p)
{
    return p >= LIN_FLOAT_BASE && p < LIN_SLOT_BASE;
}

/* --- operations --------------------------------------------------------------
 * flags: P pure: dropped when no result is used    R may raise in this function
 *        G safepoint: the GC may run               K kills every register
 *        T terminator                              M reads memory   W writes memory */
enum {
    LIN_PURE = 1, LIN_RAISES = 2, LIN_GC = 4, LIN_KILLS = 8, LIN_TERM = 16, LIN_READS = 32,
    LIN_WRITES = 64,
};

/* The operands of an operation with an immediate: the last argument is absent
 * and `imm` stands for it (LIN_F_IMM). */
#define LIN_OPS(X)                                                                       \
    X(NOP, "nop", 0)                                                                     \
    X(PARAMS, "params", 0)            /* results: parameters in their registers */       \
    X(INCOMING, "incoming", LIN_PURE) /* stack parameter imm */                          \
    X(MOVE, "move", LIN_PURE)                                                            \
    X(OPAQUE, "opaque", 0)                                                               \
    X(SWAP, "swap", 0)                /* exchanges two registers (allocator's) */        \
    X(PUSHAREA, "pusharea", 0)        /* imm bytes of outgoing stack arguments */        \
    X(STOREARG, "storearg", LIN_WRITES) /* at byte imm of that area; the call frees it */ \
    X(CONST, "const", LIN_PURE)                                                          \
    X(FCONST, "fconst", LIN_PURE)     /* imm: IEEE bits */                               \
    X(SYMBOL, "symbol", LIN_PURE)     /* sym + disp */                                   \
    X(ADD, "add", LIN_PURE)                                                              \
    X(SUB, "sub", LIN_PURE)                                                              \
    X(MUL, "mul", LIN_PURE)                                                              \
    X(MULH, "mulh", LIN_PURE)                                                            \
    X(DIV, "div", LIN_PURE)                                                              \
    X(MOD, "mod", LIN_PURE)                                                              \
    X(AND, "and", LIN_PURE)                                                              \
    X(OR, "or", LIN_PURE)                                                                \
    X(XOR, "xor", LIN_PURE)                                                              \
    X(SHL, "shl", LIN_PURE)                                                              \
    X(SHR, "shr", LIN_PURE)                                                              \
    X(SAR, "sar", LIN_PURE)                                                              \
    X(NEG, "neg", LIN_PURE)                                                              \
    X(SET, "set", LIN_PURE)           /* cc */                                           \
    X(SETF, "setf", LIN_PURE)         /* cc */                                           \
    X(LEA, "lea", LIN_PURE)           /* address of the memory operand */                \
    X(FNEG, "fneg", LIN_PURE)                                                            \
    X(FABS, "fabs", LIN_PURE)                                                            \
    X(FSQRT, "fsqrt", LIN_PURE)                                                          \
    X(FADD, "fadd", LIN_PURE)                                                            \
    X(FSUB, "fsub", LIN_PURE)                                                            \
    X(FMUL, "fmul", LIN_PURE)                                                            \
    X(FDIV, "fdiv", LIN_PURE)                                                            \
    X(FMADD, "fmadd", LIN_PURE)       /* c + a * b, one rounding; arguments c a b */        \
    X(FMSUB, "fmsub", LIN_PURE)       /* a * b - c */                                    \
    X(FNMSUB, "fnmsub", LIN_PURE)     /* c - a * b */                                    \
    X(FNMADD, "fnmadd", LIN_PURE)     /* -(a * b) - c */                                 \
    X(FNMUL, "fnmul", LIN_PURE)       /* -(a * b); arguments a b */                      \
    X(FOFI, "fofi", LIN_PURE)         /* double of int */                                \
    X(IOFF, "ioff", LIN_PURE)         /* int of double */                                \
    X(BSWAP, "bswap", LIN_PURE)       /* imm: 16, 32 (sign-extends), 64 bits */          \
    X(LOAD, "load", LIN_PURE | LIN_READS)                                                \
    X(LOAD_ATOMIC, "load_atomic", LIN_READS | LIN_WRITES)                                \
    X(STORE, "store", LIN_WRITES)     /* value is argument 0, or imm */                  \
    X(LOADDOM, "loaddom", LIN_PURE | LIN_READS) /* word imm bytes into the domain state */ \
    X(STOREDOM, "storedom", LIN_WRITES)                                                  \
    X(ALLOC, "alloc", LIN_GC | LIN_RAISES) /* imm bytes; result young_ptr + disp */      \
    X(YOUNG, "young", LIN_PURE)       /* young_ptr + disp: a later block of a combined ALLOC */ \
    X(POLL, "poll", LIN_GC | LIN_RAISES)                                                 \
    X(CALL, "call", LIN_GC | LIN_RAISES | LIN_KILLS)  /* sym, or the code in the last argument */ \
    X(EXTCALL, "extcall", LIN_GC | LIN_RAISES | LIN_KILLS) /* through caml_c_call */     \
    X(CCALL, "ccall", LIN_READS | LIN_WRITES)              /* noalloc */                 \
    X(CHECKBOUND, "checkbound", LIN_RAISES)           /* size, index */                  \
    X(PUSHTRAP, "pushtrap", 0)        /* target: the handler */                          \
    X(POPTRAP, "poptrap", 0)                                                             \
    X(HANDLER, "handler", 0)          /* first in a handler: result: the exception */    \
    X(RAISE, "raise", LIN_RAISES | LIN_TERM)          /* cc: lin_raise */                \
    X(TAILCALL, "tailcall", LIN_TERM)                                                    \
    X(RETURN, "return", LIN_TERM)                                                        \
    X(JUMP, "jump", LIN_TERM)                                                            \
    X(BRANCH, "branch", LIN_TERM)     /* cc, integers; succ[0] taken, succ[1] not */     \
    X(BRANCHT, "brancht", LIN_TERM)   /* cc EQ/NE: (argument & imm) against 0 */         \
    X(BRANCHF, "branchf", LIN_TERM)   /* cc, floats */                                   \
    X(SWITCH, "switch", LIN_TERM)     /* succ[imm-th of table] */

typedef enum {
#define LIN_X(id, name, flags) LIN_##id,
    LIN_OPS(LIN_X)
#undef LIN_X
    LIN_TARGET, /* a port's own operations start here; all are pure */
    LIN_TARGET_END = LIN_TARGET + 24,
} lin_op;

typedef struct {
    const char *name;
    uint8_t flags;
} lin_op_info;
extern const lin_op_info lin_ops[LIN_TARGET];

/* Conditions. Integers: EQ..GE signed, LTU..GEU unsigned. Floats: EQ..GE and the
 * negations NLT..NGE, true when unordered. */
typedef enum {
    LIN_EQ, LIN_NE, LIN_LT, LIN_LE, LIN_GT, LIN_GE, LIN_LTU, LIN_LEU, LIN_GTU, LIN_GEU,
    LIN_NLT, LIN_NLE, LIN_NGT, LIN_NGE, LIN_NUM_CC
} lin_cc;
lin_cc lin_negate(lin_cc);       /* !(a cc b), integers */
lin_cc lin_negate_float(lin_cc); /* the same for floats */
lin_cc lin_swap(lin_cc);         /* b cc a */
extern const char *const lin_cc_names[LIN_NUM_CC];

typedef enum { LIN_RAISE_REGULAR, LIN_RAISE_RERAISE, LIN_RAISE_NOTRACE } lin_raise;

/* Flags of an instruction. */
enum {
    LIN_F_IMM = 1 << 0,     /* imm is the last operand */
    LIN_F_BARRIER = 1 << 1, /* STORE: an assignment that other domains may see */
    LIN_F_SMALL = 1 << 2,   /* ALLOC, POLL: the size-optimised form */
    LIN_F_IMMUTABLE = 1 << 3, /* LOAD: no store changes it */
    LIN_F_UNREACHED = 1 << 4, /* the result is not used: nothing follows */
};

enum {
    LIN_NEXT_NONE = 0xffffffffu, /* no use before everything is killed */
    LIN_NEXT_OUT = 0xfffffffeu,  /* used in a later block */
};

/* place: after allocation; LIN_SLOT_BASE + v until slots are numbered. want: the
 * register it should have, or -1; like: the vreg whose register it should share.
 * last (argument): dies here; (result): is never used from a register. next: number
 * of the instruction of this block that uses it next, or LIN_NEXT_*. */
typedef struct {
    lin_vreg v;
    lin_place place;
    uint32_t next;
    lin_vreg like;
    int8_t want;
    bool last;
} lin_operand;

/* A root of a safepoint. */
typedef struct {
    lin_vreg v;
    lin_place place;
} lin_root;

/* Allocation lengths and locations of a combined allocation, in program order. */
typedef struct {
    uint32_t count, room;
    struct {
        uint16_t wosize;
        const cmm_dbg *dbg;
    } *blocks;
} lin_allocs;

typedef struct lin_insn {
    struct lin_insn *next, *prev;
    uint16_t op;
    uint8_t cc;
    uint8_t chunk;      /* cmm_chunk of LOAD, STORE and memory operands */
    uint16_t nres;
    uint16_t nargs;     /* with the memory operand's registers */
    uint8_t flags;
    int8_t base, index; /* memory operand: argument numbers, -1: none */
    uint8_t scale;      /* index is multiplied by this: 1, 2, 4, 8 */
    bool far;           /* branch relaxation: use the long form */
    uint8_t ntemps;
    int8_t temps[3];    /* scratch registers that the port asked for */
    uint32_t number;    /* position in its block */
    uint32_t nroots;
    int64_t imm;
    int64_t disp;       /* memory operand, SYMBOL, ALLOC */
    const cmm_sym *sym;
    const cmm_dbg *dbg;
    union {
        lin_allocs *allocs;       /* ALLOC, POLL (NULL) */
        struct lin_call *call;    /* CALL, EXTCALL, CCALL, TAILCALL */
        struct lin_block *target; /* PUSHTRAP */
        uint32_t *table;          /* SWITCH: position -> succ number; imm: its size */
    } u;
    lin_root *roots;    /* safepoints: what the GC must see (vregs with their places) */
    lin_operand ops[];  /* nres results, then nargs arguments */
} lin_insn;

/* Where the operands of a call go. */
typedef struct lin_call {
    lin_place *arg;        /* registers; LIN_NONE: any that no other argument is in */
    lin_place result[CMM_MAX_COMPONENTS];
    uint32_t stack_words;  /* outgoing stack words */
    bool fixed_results;
} lin_call;

static inline lin_operand *lin_res(lin_insn *i, unsigned n) { return &i->ops[n]; }
static inline lin_operand *lin_arg(lin_insn *i, unsigned n) { return &i->ops[i->nres + n]; }

/* Calls, and ends of a function, whose operands' places the convention says. */
static inline bool lin_fixed_call(const lin_insn *i)
{
    return i->u.call && (i->op == LIN_CALL || i->op == LIN_EXTCALL || i->op == LIN_CCALL ||
                         i->op == LIN_TAILCALL || i->op == LIN_RETURN || i->op == LIN_RAISE);
}

/* Ordered by who reads it: the walks over the graph touch the first 64 bytes and no list. */
typedef struct lin_block {
    uint32_t id;            /* index in blocks[] */
    uint32_t order;         /* reverse postorder number */
    uint32_t nsucc, npred;
    struct lin_block **succ, **pred;
    struct lin_block *succ2[2], *pred2[2]; /* what these point to when there are no more */

    struct lin_block *handler; /* of exceptions raised here; NULL: the caller's */
    lin_insn *first, *last; /* last: the terminator once complete */
    struct lin_block *loop_head; /* innermost loop; NULL: none */
    struct lin_block *back_to; /* ends in a jump back to this handler of a recursive catch */
    uint32_t trap_depth;
    uint32_t loop_depth;
    bool is_handler;
    bool is_cold;           /* ends in a raise */
    bool alloc_continues;   /* a pending allocation of the block before goes on here */
    bool is_loop;           /* has a back edge */
    bool has_kill;          /* some instruction kills every register */
    bool loop_kills;        /* is_loop: some block of the loop has_kill */
    bool done;              /* allocation */
    bool uses_slots;        /* has safepoints or touches slots (spill.c) */
    bool labelled;          /* some instruction mentions the label */
    uint8_t nwants;
    uint32_t label;         /* emission */

    /* liveness: vregs live at entry; those with a use before any kill; ascending */
    lin_vreg *live_in, *reg_in, *slot_in;
    uint32_t nlive_in, nreg_in, nslot_in;
    uint32_t nentry, nexit;
    uint32_t event_first, event_last; /* in the function's events */
    uint32_t number_first, number_last; /* global positions, for slots */
    uint32_t *reg_next;     /* next use of reg_in[k] in this block, or LIN_NEXT_OUT */
    lin_root *entry, *exit; /* vregs in registers at the borders */
    struct lin_want *wants; /* at its start */
    int64_t offset;         /* estimate, for branch ranges */
} lin_block;

typedef struct lin_want {
    lin_vreg v, like;
    int8_t want;
} lin_want;

/* At instruction `number`, registers of `mask` are destroyed, or (arguments) taken by
 * what the instruction reads. */
typedef struct {
    uint32_t number;
    bool arguments;
    uint64_t mask;
} lin_reg_event;

enum {
    LIN_V_REMAT = 1 << 0,   /* `remat` computes it anywhere */
    LIN_V_MULTI = 1 << 1,   /* several definitions */
};

typedef struct {
    uint8_t component;      /* cmm_component */
    uint8_t flags;
    int8_t home;            /* register that it had last at a join, -1 */
    bool in_slot;           /* something may read its slot */
    uint32_t pos;           /* in the source, for errors */
    lin_place slot;         /* LIN_NONE: it has none */
    lin_insn *remat;        /* LIN_V_REMAT: the CONST, FCONST or SYMBOL */
} lin_vinfo;

typedef struct lin_function {
    cmm_unit *unit;
    const cmm_function *source;
    const struct target *target;
    const cmmc_options *options;
    struct lin_arena *arena;  /* lives as long as the function */
    struct lin_arena *scratch; /* lives as long as a pass */
    lin_block **blocks;       /* [0] is the entry */
    uint32_t nblocks, blocks_room;
    lin_vinfo *v;             /* by vreg; [0] unused */
    uint32_t nv, v_room;
    lin_block **rpo;          /* reachable blocks, reverse postorder */
    uint32_t nrpo;
    uint32_t nordered;        /* nblocks when they were ordered */
    bool has_loops;
    uint32_t ninsns, nallocs; /* ever made */
    uint32_t *uses;           /* by vreg: arguments that are it (cse.c to liveness.c) */
    lin_reg_event *events;    /* by block, in order (annotate.c to regalloc.c) */
    lin_block **layout;       /* emission order */
    uint32_t nlayout;
    uint32_t nslots;
    uint32_t nincoming;       /* stack parameters */
    bool small;               /* reduce_code_size */
    bool needs_frame;         /* something needs the return address on the stack */
    bool calls_ocaml;         /* a non-tail OCaml call */
    uint32_t max_trap_depth;
    uint32_t max_outgoing;    /* bytes */
} lin_function;

/* --- building ----------------------------------------------------------------- */
struct lin_arena *lin_arena_new(void);
void lin_arena_free(struct lin_arena *);
void lin_arena_reset(struct lin_arena *);
void *lin_alloc(struct lin_arena *, size_t); /* zeroed; aborts when memory is out */
void *lin_scratch(lin_function *, size_t count, size_t size); /* until the pass ends */

lin_vreg lin_new_vreg(lin_function *, cmm_component);
lin_block *lin_new_block(lin_function *);
lin_insn *lin_new_insn(lin_function *, lin_op, unsigned nres, unsigned nargs);
void lin_append(lin_block *, lin_insn *);
void lin_insert_before(lin_block *, lin_insn *at, lin_insn *);
void lin_insert_after(lin_block *, lin_insn *at, lin_insn *); /* at NULL: first */
void lin_remove(lin_block *, lin_insn *);
void lin_set_succs(lin_function *, lin_block *, unsigned n, lin_block *const *succ);
/* Reachable blocks in reverse postorder, predecessors, loops. */
void lin_order(lin_function *);
static inline unsigned lin_flags(const lin_insn *i) /* LIN_PURE ... */
{
    return i->op < LIN_TARGET ? lin_ops[i->op].flags
                              : LIN_PURE | (i->base >= 0 || i->sym ? LIN_READS : 0);
}

/* Writes a function as text (--emit=linear). */
void lin_print(const lin_function *, const char *after, FILE *);

/* --- passes --------------------------------------------------------------------- */
lin_function *lin_select(cmm_unit *, const cmm_function *, const cmmc_options *,
                         const struct target *, struct lin_arena *, struct lin_arena *scratch);
void lin_polls(lin_function *);
void lin_comballoc(lin_function *);
void lin_cse(lin_function *);           /* numbers the instructions and counts uses, too */
void lin_liveness(lin_function *);      /* and takes out what is not used */
bool lin_check_derived(lin_function *); /* no addr over a safepoint; false: error added */
void lin_annotate(lin_function *);      /* operands: next uses and wishes */
void lin_regalloc(lin_function *);
bool lin_spill(lin_function *);         /* stores, slots, roots; false: too long, error added */
/* Sparse liveness by walking from uses to definitions (flow.c): blocks by vreg, as lists. */
typedef struct {
    uint32_t block, next;     /* next: 0 ends, else its index + 1 */
} lin_event;
typedef struct {
    lin_event *e;
    uint32_t n, room;
    uint32_t *head;           /* by vreg: as next */
} lin_events;
void lin_events_new(lin_events *, lin_function *);
void lin_events_free(lin_events *);
void lin_add_event(lin_events *, lin_vreg, uint32_t block);
/* live_in and reg_in, or slot_in. Uses: before any definition in their block; of `reg`
 * before anything kills all registers, too. */
void lin_flow(lin_function *, const lin_events *defs, const lin_events *live,
              const lin_events *reg);
void lin_flow_slots(lin_function *, const lin_events *defs, const lin_events *uses);
void lin_layout(lin_function *);

#endif
