/* target.h - what a port fills. One `struct target` per architecture, in
 * emitter/ARCH/{ARCH.h,registers.c,select.c,emit.c}, listed in targets.c; nothing else
 * knows the machine. amd64 is the worked example: copy its four files.
 *
 * A port provides, in this order of work:
 *
 *   registers.c   the struct. reg_prefix, reg_skip: spelling of registers; `order`:
 *                 places in order of preference (0-31 = frametable index of the integer
 *                 register, 32 + n = float with index 100 + n); `reserved`: allocatable
 *                 in abi/ but kept as scratch (needed when no other register may be used
 *                 to move a slot to a slot, or to break a cycle of floats).
 *                 `constrain` is asked for every instruction except calls, RETURN, RAISE,
 *                 PARAMS, MOVE (their places come from the convention; HANDLER, and what
 *                 ALLOC and POLL destroy, are filled in before it is called). It says
 *                 which registers operands must be in (arg[], res[]), what is destroyed
 *                 (kills), whether the result shares argument 0's register (tied; then
 *                 emit may rely on it), which arguments may stay in a frame slot
 *                 (slot_ok), how many integer scratch registers it wants (temps).
 *                 Without constraints: all operands in registers, the result may be
 *                 in the register of an argument that dies.
 *   select.c      imm_ok: may this constant be the last operand (insn->imm, LIN_F_IMM)
 *                 of the operation? Also asked for BRANCH, SET, CHECKBOUND (compares),
 *                 BRANCHT (mask) and STORE (constant stored). amode_ok: may a load or
 *                 store address memory so? {has_base, disp 0} must be accepted; has_sym
 *                 only for symbols the port can address directly. select: fused
 *                 operations (lea, multiply-add, shift-add), op codes LIN_TARGET + n.
 *   emit.c        one function per operation in emit[] (emit.h has ready ones for moves,
 *                 jumps and branches), move, swap, branch, jump, prologue, out_of_line,
 *                 function_head (.globl .type label .cfi_startproc). Register a return
 *                 address with e_descriptor(e, insn, label) for ALLOC, POLL (at the GC
 *                 call), CALL, EXTCALL, RAISE regular and reraise, bound errors.
 *                 Calls with stack arguments: PUSHAREA lowers SP by imm, STOREARG stores
 *                 at S + frame_reserved + imm, the call frees the area after its
 *                 descriptor; u.call->stack_words says how much. In C calls with
 *                 c_rules.home_words the words include the home area.
 *                 PUSHTRAP and POPTRAP move SP by 16 (e_adjust keeps slots, F and CFI
 *                 right). Slots: e_slot(e, place) bytes from SP; stack parameters:
 *                 e_incoming(e, imm).
 *                 size, branch_range, ool_size: only when the assembler does not lengthen
 *                 branches itself; insn->far then asks for the long form.
 *
 * Semantics of operations where machines differ: SHL SHR SAR with a count outside
 * 0..63, DIV and MOD by 0, IOFF out of range: whatever the machine does (docs/cmm.md
 * has the table). BSWAP 16 zero-extends, 32 sign-extends. SET gives 0 or 1. LOAD
 * extends to 64 bits by its chunk, single precision is widened; STORE with
 * LIN_F_BARRIER needs the barrier of docs/abi.md before it; LOAD_ATOMIC its fences.
 * CHECKBOUND(size, index) fails unless index <u size. LOADDOM, STOREDOM: imm is the
 * byte offset in the domain state, chunk DOUBLE or word by the register's class.
 *
 * Everything else (calling convention, polls, combining, registers, slots, roots,
 * frame sizes, descriptors, CFI bookkeeping, layout, data, unit symbols) is generic.
 */
#ifndef FK_TARGET_H
#define FK_TARGET_H

#include "emitter/linear.h"

struct emit;
struct sel;

/* What one instruction asks of the register allocator. Filled with defaults
 * (no place fixed, nothing destroyed) before `constrain` is called. */
typedef struct {
    int8_t arg[8];     /* register that argument i must be in; -1: any of its class */
    int8_t res[4];
    bool tied;         /* result 0 gets the register that argument 0 is in */
    bool commutes;     /* arguments 0 and 1 may be exchanged (tied only) */
    bool early;        /* no argument may be in a register of kills or of the results */
    uint32_t slot_ok;  /* bit i: argument i may be a frame slot (one of them will) */
    uint64_t kills;    /* registers destroyed besides the results */
    uint8_t temps;     /* integer scratch registers wanted, in insn->temps */
} lin_constraint;

/* An address: base + index * scale + disp. sym: base is this symbol's address. */
typedef struct {
    bool has_base, has_index;
    unsigned scale;
    int64_t disp;
    const cmm_sym *sym;
} lin_amode;

/* Operand of an operator while it is selected: an expression not yet evaluated
 * (it has no effect that matters), or a vreg. */
typedef struct {
    const cmm_expr *e;
    lin_vreg v;
} sel_opn;

/* How C arguments that do not fit registers are passed. */
typedef struct {
    bool float_takes_int;  /* power: a float uses up an integer register */
    bool float_in_int;     /* riscv: floats past the float registers use integer ones */
    uint8_t home_words;    /* power 8: words of the stack area that mirror registers */
} target_c_rules;

/* Which products of floats are operands of one instruction with the sum around them. The
 * choice is ocamlopt's, since one rounding less shows in results (docs/cmm.md). */
enum {
    TARGET_FUSES_SUMS = 1 << 0,        /* a * b + c, c + a * b, a * b - c */
    TARGET_FUSES_REVERSE = 1 << 1,     /* c - a * b too; of two products the second */
    TARGET_FUSES_NEG_PRODUCT = 1 << 2, /* -(a * b) */
    TARGET_FUSES_NEG_SUM = 1 << 3,     /* -(a * b + c), -(a * b - c), not -(c + a * b) */
};

/* Out-of-line code at the end of the function. */
typedef enum { OOL_GC, OOL_BOUND, OOL_STACK, OOL_PORT } ool_kind;
typedef struct ool {
    ool_kind kind;
    lin_insn *insn;
    uint32_t entry;    /* its label */
    uint32_t back;     /* label to return to; 0: does not return */
    uint32_t stack_offset;
    uint32_t next_is;  /* OOL_PORT: the port's own */
    struct ool *next;
} ool;

typedef struct target {
    const char *name;               /* as in abi/ */

    /* registers.c. Assembler names are reg_prefix + the name in abi/ without its first
     * reg_skip letters; everything else about registers is in `machine`, from abi/. */
    const char *reg_prefix;
    unsigned reg_skip;
    const int8_t *order;            /* places in order of preference, -1 ends; integer then float */
    uint64_t reserved;              /* allocatable in abi/ but kept as emitter's scratch */
    void (*constrain)(const lin_insn *, lin_constraint *); /* see machine_constrain */
    target_c_rules c_rules;

    /* select.c */
    bool (*imm_ok)(lin_op, lin_cc, int64_t imm); /* STORE: constant value stored */
    bool (*amode_ok)(const lin_amode *, cmm_chunk, bool store);
    /* Tries a fused form of the operator `e`, before its operands are evaluated (with
     * sel_args, in order); 0: none, and nothing was evaluated. `into`: the vreg that
     * should get the result, 0: a new one. NULL: the port has no fused forms. */
    lin_vreg (*select)(struct sel *, const cmm_expr *e, lin_vreg into);
    const char *const *op_names;    /* of LIN_TARGET + n */
    uint8_t fuses;                  /* TARGET_FUSES_* */
    bool has_sqrt, has_bswap;       /* FSQRT, BSWAP replace the C functions */
    bool tests_bits;                /* BRANCHT exists (imm_ok says for which masks) */
    bool slow_mulh;                 /* no cheap MULH: divide by constants with DIV */

    /* emit.c */
    void (*const *emit)(struct emit *, lin_insn *); /* by lin_op */
    void (*move)(struct emit *, lin_place to, lin_place from); /* registers and slots, any pair */
    void (*swap)(struct emit *, lin_place, lin_place);         /* two registers of one class */
    void (*branch)(struct emit *, lin_insn *, lin_cc, lin_block *to); /* BRANCH, BRANCHT, BRANCHF */
    void (*jump)(struct emit *, lin_block *to);
    void (*before)(struct emit *);  /* code before the entry label (stack overflow on some) */
    void (*prologue)(struct emit *);
    void (*out_of_line)(struct emit *, ool *);
    void (*after)(struct emit *);   /* literal pools, the end of the function */
    void (*function_head)(struct emit *, const char *name); /* .type, label; power's local entry */
    void (*file_head)(struct emit *);
    void (*file_tail)(struct emit *);
    const char *code_align;         /* directive before a function */
    const char *text_pad;           /* after code_end: "\t.long\t0\n" or NULL */
    bool data_aligned;              /* data phrases start 8-aligned */
    bool data_global;               /* all data symbols are global */
    uint8_t cfa_bias;               /* CFA - SP at entry by the psABI (s390x 160) */

    /* Branch ranges. NULL: the assembler does it all. Upper bound of the bytes that
     * an instruction (with insn->far) takes in line. */
    unsigned (*size)(struct emit *, lin_insn *);
    int64_t branch_range[5];        /* bytes either way, 0: any: BRANCH and BRANCHF, BRANCHT, to
                                     * out-of-line code, PUSHTRAP, JUMP */
    unsigned ool_size;              /* bound of one out-of-line part */
} target;

extern const target *const targets[];
const target *target_by_abi(const fk_abi *);

/* --- registers, from abi/ (machine.c) ------------------------------------------- */
typedef struct {
    const fk_abi *abi;
    fk_ocaml_version version;
    char name[64][8];          /* assembler names by place; "" */
    uint8_t dwarf[64];
    uint64_t allocatable;      /* without target->reserved */
    uint64_t ints, floats;     /* the allocatable ones of each class */
    uint64_t alloc_kills, c_kills;
    int8_t int_args[32], float_args[32];   /* OCaml convention, -1 ends */
    int8_t c_int_args[16], c_float_args[16];
    char dom[8], young[8], trap[8], sp[8], link[8], c_function[8];
    char noalloc_sp[8], stackargs_begin[8], stackargs_end[8];
    int off_young_limit, off_young_ptr, off_current_stack, off_exn_handler, off_c_stack;
    int off_extra_params, off_dls_root, off_backtrace_pos;
} machine;
/* Filled once per run. */
const machine *machine_get(const target *, fk_ocaml_version);
enum { MACHINE_EXTRA_PARAMS = 64 };
/* Defaults, what is the same everywhere (handlers, allocations), then the port's. */
void machine_constrain(const target *, const machine *, const lin_insn *, lin_constraint *);

/* --- services for select.c of a port (select.c) ------------------------------------ */
bool sel_const(struct sel *, sel_opn, int64_t *);    /* a constant integer? */
void sel_args(struct sel *, cmm_expr *const *, unsigned n, sel_opn *out); /* right to left */
lin_vreg sel_operand(struct sel *, sel_opn);         /* in a register */
sel_opn sel_child(struct sel *, const cmm_expr *);   /* operand of a deferred expression */
lin_insn *sel_emit(struct sel *, lin_op, unsigned nres, unsigned nargs);
lin_vreg sel_result(struct sel *, lin_insn *, cmm_component, lin_vreg into);
bool sel_is_simple(struct sel *, const cmm_expr *);
/* Address operand of a deferred expression; false: no form of the port fits. Then
 * sel_put_address adds it to an instruction whose arguments from `first` are free. */
typedef struct {
    sel_opn base, index;
    lin_amode mode;
} sel_address;
bool sel_sum_fits(struct sel *, const cmm_expr *);
bool sel_match_address(struct sel *, const cmm_expr *, cmm_chunk, bool store, sel_address *);
lin_insn *sel_emit_mem(struct sel *, lin_op, unsigned nres, unsigned nargs, cmm_chunk,
                       const sel_address *);
const lin_function *sel_function(struct sel *);

/* --- services for emit.c of a port (emit.c) ------------------------------------------- */
typedef struct emit {
    cmm_unit *unit;
    const cmmc_options *options;
    const target *t;
    const machine *m;
    lin_function *f;
    lin_block *block, *next_block; /* being emitted; laid out after it */
    struct out *out;
    struct tables *tables;
    uint32_t next_label;       /* of the unit */
    uint32_t frame;            /* F at trap depth 0; without a frame 0 or the return address */
    bool has_frame;
    bool far_function;         /* longer than the range of out-of-line code */
    uint32_t stack_offset;     /* bytes pushed below the frame now */
    uint32_t cfa;              /* offset that the assembler believes */
    uint32_t path_cfa;
    bool falls_through;        /* the block before runs into this one */
    ool *ools, **ool_tail;
    ool *bound;                /* the shared bound error */
    uint32_t gc_label;         /* power: the function's GC glue */
    uint32_t file_number, *files; /* by cmm_sym number */
    const cmm_dbg *last_dbg;
    struct lin_arena *arena;   /* outside functions */
    struct lits *lits;
} emit;

/* One line of assembly: a tab, the text, a newline. %% escapes; printf formats. */
void e_(struct emit *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void e_raw(struct emit *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void e_label(struct emit *, uint32_t label);     /* ".L12:" */
uint32_t e_new_label(struct emit *);
uint32_t e_block_label(struct emit *, lin_block *);
const char *e_reg(struct emit *, lin_place);     /* assembler name */
const char *e_sym(struct emit *, const cmm_sym *); /* escaped; valid for 4 calls */
const char *e_name(struct emit *, const char *); /* the same for a literal name */
/* Byte offset from S of a slot or stack parameter, with what is pushed now. */
int64_t e_slot(struct emit *, lin_place);
int64_t e_incoming(struct emit *, int64_t n);
uint32_t e_frame_size(struct emit *);            /* F now */
/* The descriptor of `insn` has this return address. */
void e_descriptor(struct emit *, lin_insn *insn, uint32_t label);
ool *e_out_of_line(struct emit *, ool_kind, lin_insn *);
/* Stack bookkeeping: after a push of n bytes (negative: pop). Emits CFI. */
void e_adjust(struct emit *, int64_t n);
void e_cfa(struct emit *, uint32_t offset);      /* the CFA is S + offset now */
uint32_t e_float_label(struct emit *, uint64_t bits); /* literal pool */
/* Stores outgoing stack arguments of a call whose area of `bytes` has been pushed.
 * Uses target->move with slots at the area. */
uint32_t e_stack_check_size(struct emit *);      /* K of the prologue check; 0: none */
uint32_t e_stack_words(struct emit *);           /* argument of caml_call_realloc_stack */

/* Defined in this unit and not exported: code may address it directly. */
static inline bool target_local_symbol(const cmm_sym *s)
{
    return s->is_data && !s->is_global;
}

#endif
