/* flow.h - the code of one function as a graph, and what is known at each instruction.
 *
 *   program    an image: its descriptors sorted by return address, registers by role
 *   function   the instructions that can be reached from its entry, handlers and tables included
 *   leader     an instruction that more than one path may enter: a state is kept there
 *   state      a value for each integer register and each word of the frame
 *
 * A value says what a place holds on every path:
 *
 *   NONE      something is only left over there on some path: not initialised
 *   ANY k     initialised; k says where it comes from: equal numbers are equal values, 0 is none
 *   CONST k   the number or address k
 *   SP k      the stack pointer at entry + k
 *   YOUNG k   the young pointer after the allocation that is looked at, + k
 *   OFFSET k  something unknown + k
 *   NEAR k    k + something unknown: a place in a table
 *   ENTRY k   a word read from the table at k
 *   TARGET k  k + such a word from the table at k + stale
 *   CSTACK    the C stack (dom.c_stack)
 *   GOT k     the address of a linkage slot that will hold k (objects)
 *
 * Interpretation is bounded for each function: FK_FUNCTION_BYTES of code, FK_STATE_BYTES of states,
 * FK_ROUNDS visits of a leader. Beyond it the function is not checked. */
#ifndef FK_VERIFY_FLOW_H
#define FK_VERIFY_FLOW_H

#include "framekit/frametable.h"
#include "frametable/verify/insn.h"

enum {
    FK_V_NONE,
    FK_V_ANY,
    FK_V_CONST,
    FK_V_SP,
    FK_V_YOUNG,
    FK_V_OFFSET,
    FK_V_NEAR,
    FK_V_ENTRY,
    FK_V_TARGET,
    FK_V_CSTACK,
    FK_V_GOT
};

/* What the collector knows or does not know about a value. */
enum {
    FK_F_ROOT = 1,         /* it was a root at a safepoint */
    FK_F_DERIVED = 2,      /* a root + offset */
    FK_F_STALE = 4,        /* it crossed a safepoint that did not list it: `stale` */
    FK_F_BLOCK = 8,        /* it was allocated here, on some path */
    FK_F_ASKED = 16,       /* its tag was asked for: of any type, fk_asks_tag */
    FK_F_BOXED_FLOAT = 32, /* put in a block here, as what reads an array of any type does */
    FK_F_NUMBER = 64,      /* it was computed here, on some path */
};

typedef struct {
    int64_t k;
    uint32_t stale; /* descriptor of the program */
    uint8_t kind, flags;
} fk_value;

enum {
    FK_LR = 32,
    FK_CTR = 33,
    FK_EXN = 34, /* dom.exn_handler */
    FK_CALLER = 35, /* the return address, where it lies in the caller's frame (amd64, power) */
    FK_STATE_REGS = 36
};

/* place[0..35]: registers and FK_CALLER; then the frame from the entry's stack pointer down:
 * place[FK_STATE_REGS + n] is the word at SP -8(n + 1). */
typedef struct {
    fk_value *place;
} fk_state;

enum {
    FK_FUNCTION_BYTES = 4 << 20,
    FK_STATE_BYTES = 64 << 20,
    FK_ROUNDS = 250,
    FK_NO_INSN = -1,
};
#define FK_RETURN_NUMBER 63 /* of the return address at entry; below are arguments */
#define FK_JOINED ((int64_t)1 << 40) /* numbers of values that joins make */

typedef enum {
    FK_CALLEE_OTHER,
    FK_CALLEE_GC,
    FK_CALLEE_ALLOC1,
    FK_CALLEE_ALLOC2,
    FK_CALLEE_ALLOC3,
    FK_CALLEE_ALLOCN,
    FK_CALLEE_NORETURN,
    FK_CALLEE_REALLOC,
    FK_CALLEE_C,
    FK_CALLEE_TAG, /* caml_obj_tag */
    FK_CALLEE_UNKNOWN,
    FK_CALLEES
} fk_callee;

typedef struct {
    uint64_t at, value; /* at first: the key. value 0: the symbol is elsewhere */
    bool got;  /* names a linkage slot of it */
    bool high; /* the high half of it */
    bool low;  /* the low bits of it, added to what the high half made */
} fk_fixup;

typedef struct {
    uint64_t from, to;
} fk_range;

/* A load out of a jump table that is part of a larger one. */
typedef struct {
    uint64_t load, begin; /* the instruction, the first word of the part */
} fk_part;

/* What a direct call of a file without symbols reaches in the runtime. */
typedef struct {
    uint64_t target;
    fk_callee kind; /* FK_CALLEE_UNKNOWN: it may not even return */
} fk_entry;

typedef struct fk_program {
    const fk_image *image;
    const fk_abi *abi;
    fk_ocaml_version version;
    fk_decode_fn decode;
    fk_descr *descrs; /* by return address */
    size_t num_descrs;
    fk_fixup *fixups; /* of code, in an object, by address */
    size_t num_fixups;
    bool object;
    bool nameless; /* no symbol names an OCaml function: nameless.c */
    fk_range *functions; /* of a nameless file, sorted */
    size_t num_functions;
    fk_entry *entries; /* of a nameless file, sorted */
    size_t num_entries;
    fk_range ocaml; /* of a nameless file: the code that has descriptors */
    uint64_t *tables; /* where jump tables may begin, sorted */
    size_t num_tables;
    fk_part *parts; /* of joined jump tables, by their loads */
    size_t num_parts;
    uint64_t callee_addr[16];
    uint8_t sp, link, young, trap, result, domain, c_argument;
    uint32_t domains, limits;    /* registers that may be it in some version of the generation */
    uint32_t size_regs;          /* one of them is the argument of caml_allocN */
    uint32_t arguments, kept_by_c, allocatable, reserved;
    int exn_handler, c_stack;    /* offsets in the domain state, -1: none */
} fk_program;

/* false: no memory. */
bool fk_program_open(const fk_image *, fk_ocaml_version, fk_program *);
void fk_program_close(fk_program *);
/* Index of the descriptor of a return address, num_descrs: none. */
size_t fk_program_find(const fk_program *, uint64_t retaddr);
/* The function that holds addr; of a file without symbols by its FDE, with the name "". */
fk_result fk_program_function(const fk_program *, uint64_t addr, fk_symbol *out);
/* The callee of a direct call (or of an indirect one whose target is known). */
fk_callee fk_program_callee(const fk_program *, uint64_t call, uint64_t retaddr, uint64_t target);

typedef struct {
    fk_insn insn;
    int32_t next, to;      /* successors, FK_NO_INSN */
    int32_t prev;          /* who falls into it */
    int32_t from, sibling; /* branches to it: the first; the next of the same target */
    int32_t state;         /* of a leader, else -1 */
    uint32_t descr;        /* of a call: its descriptor, or UINT32_MAX */
    uint8_t callee;        /* of a call: fk_callee */
    bool leader, queued;
    uint8_t rounds;
} fk_node;

typedef struct {
    int32_t from, to; /* nodes */
} fk_edge;

typedef struct fk_function {
    const fk_program *program;
    fk_symbol symbol;
    uint64_t lo, hi; /* window of the code that may belong to it */
    const uint8_t *code;
    fk_node *nodes;
    size_t num_nodes, cap_nodes;
    uint32_t *map; /* node + 1 of the byte (or unit) at lo + n */
    size_t cap_map;
    unsigned num_slots;
    fk_value *states;
    size_t num_states, cap_states, stride;
    int32_t *queue;
    size_t num_queue, cap_queue;
    fk_edge *edges; /* what instructions do not say: jump tables, handlers; sorted */
    size_t num_edges, cap_edges;
    int32_t source;      /* the node that control leaves just now */
    fk_value *scratch;   /* one state */
    size_t unknown;      /* instructions that did not decode */
    const char *problem; /* why it is not checked, NULL: it is */
    size_t first, last;  /* its descriptors */
} fk_function;

/* Called for every instruction that is reached, once, with what is known before it. */
typedef void (*fk_visit_fn)(fk_function *, const fk_state *, int32_t node, void *arg);

/* Discovers and interprets the function that holds the descriptors [first, last).
 * `f` is reused from one function to the next: zero it before the first. */
fk_result fk_function_read(fk_function *f, const fk_program *, const fk_symbol *, uint64_t lo,
                           uint64_t hi, size_t first, size_t last);
void fk_function_visit(fk_function *, fk_visit_fn, void *arg);
/* The first of the edges from a node, all in a row. */
const fk_edge *fk_edges_from(const fk_function *, int32_t node, size_t *count);
void fk_function_close(fk_function *);

/* --- for rules that walk by themselves --------------------------------------------- */
/* What one instruction does to a state; calls are fk_call. */
void fk_step(const fk_function *, fk_state *, const fk_insn *);
/* First part of a step: only of what may be of any type is it asked whether a new block is an
 * integer. */
void fk_test_value(const fk_function *, fk_state *, const fk_insn *);
/* What a call does that returns. */
void fk_call(const fk_function *, fk_state *, const fk_node *);
/* A call, in place, of the C function that says what its argument is. Where Lazy.force is inlined
 * the argument may be a value of any type: an integer is looked at as a block there, on a path that
 * is not taken, and a block that was just made as an integer. */
bool fk_asks_tag(const fk_function *, const fk_node *);
/* A float is put in a block, or read from one. What reads or writes an array of any type does so on
 * a path that others do not take: neither shows that something is a block. */
bool fk_boxes_float(const fk_function *, const fk_state *, const fk_insn *);
bool fk_unboxes_float(const fk_insn *);
/* Value of the frame's word at SP + offset; NULL: outside of what is followed. */
fk_value *fk_slot(const fk_function *, const fk_state *, int64_t offset);
/* Where the collector reads the return address, in bytes from the stack pointer at entry. */
int64_t fk_return_at(const fk_program *);
/* The same of the word at `at` bytes from the stack pointer at entry. */
fk_value *fk_slot_at(const fk_function *, const fk_state *, int64_t at);
/* Address of the instruction's memory operand as a value. */
fk_value fk_memory_address(const fk_function *, const fk_state *, const fk_insn *);
/* The number of the value that the call i returns. */
int64_t fk_result_number(const fk_function *, const fk_insn *i);
int32_t fk_node_at(const fk_function *, uint64_t addr);

#endif
