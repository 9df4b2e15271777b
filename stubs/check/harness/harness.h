/* harness.h - the program that a stub object is linked with.
 *
 *    case (C) --fills sc_block--> sc_resume --jumps--> stub
 *      ^                                                | calls, returns, raises
 *      +---------------- event <---- pad (keeps all) <--+
 *
 * A case is straight-line C: it sets every register, resumes, gets the number
 * of the pad where the stub came out, looks at every register and at all
 * memory, plays the part of the C function or OCaml code there, and resumes.
 *
 * Glossary
 *   world    domain state, two fibers, a C stack and two buckets, filled with
 *            random bytes before each case
 *   zone     one of these memories with its model: what it must contain
 *   S        the OCaml caller's stack pointer once the stub has returned
 */
#ifndef SC_HARNESS_H
#define SC_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "abi/abi.h"

/* Layout known to ARCH.S. */
typedef struct {
    uint64_t r[32], f[32]; /* by number in instruction encodings */
    uint64_t pc, lr, ctr, cc, host_sp, pad;
} sc_state;
extern sc_state sc_block;
int sc_resume(void);

enum {
#define PAD(name) EV_##name,
#include "pads.h"
#undef PAD
    EV_COUNT
};
#define PAD(name) extern char name[];
#include "pads.h"
#undef PAD

/* --- what a port supplies (ARCH.c) ---------------------------------------- */
typedef struct {
    const fk_abi *abi;
    uint8_t trap[4];       /* the breakpoint instruction */
    uint8_t trap_length;
    uint8_t trap_advance;  /* pc reported minus address of the breakpoint */
    uint8_t pushes_return; /* bytes a call pushes: amd64 8 */
    uint8_t c_align;       /* stack alignment at a C call */
    uint8_t cfa_bias;      /* CFA minus stack pointer at function entry, less pushes */
    uint16_t red_zone;     /* bytes below the stack pointer that signals leave alone */
    int dead_index;        /* frametable number never live at an allocation, -1: none */
    uint64_t cc_kept;      /* bits of sc_state.cc that a C function preserves */
    uint8_t ignore[4];     /* integer registers lost on the way into the harness */
    uint8_t num_ignore;
    uint64_t *(*special)(const fk_reg *); /* registers outside r[] and f[]; NULL: ordinary */
    void (*fix_block)(void);              /* registers that the C library owns */
    void (*from_context)(const ucontext_t *, sc_state *);
    void (*to_context)(const sc_state *, ucontext_t *);
    uint8_t trap4_pc, trap4_previous, trap4_size; /* trap frame of OCaml 4 */
    uint8_t overflow_words;   /* bytes that the overflow code has on the stack, its caller's return
                               * address in the last word; 0: in overflow_link */
    const char *overflow_link;
    const char
        *realloc_size; /* register with caml_call_realloc_stack's argument, NULL: on the stack */
    const uint8_t *c_scratch; /* offsets of words a C callee may write above its SP */
    uint8_t num_c_scratch;
} sc_port;
extern const sc_port sc_this_port;

/* --- the run ---------------------------------------------------------------- */
extern fk_ocaml_version sc_version;
extern bool sc_five; /* separate C stack */
extern const fk_abi *sc_abi;

/* Stubs under test; address NULL: not in the object. */
typedef struct {
    const char *name;
    char *address;
} sc_stub;
extern sc_stub sc_stubs[];
extern const int sc_num_stubs;
extern int sc_current; /* index of the stub under test */
int sc_stub_index(const char *name);
char *sc_stub_begin(const char *name); /* makes it current; NULL: absent */

/* --- the image (image.c) ------------------------------------------------------- */
enum { SC_IMAGE_SIZE = 1 << 20 };
bool sc_load(const char *path);
uint64_t sc_symbol(const char *name); /* of the object under test; 0: it has none */
void sc_add_symbol(const char *name, uint64_t address);

extern uint64_t sc_seed;
uint64_t sc_random(void);
/* Which way a case takes: all combinations of the first choices over its rounds. */
bool sc_choose(void);

/* --- verdicts (report.c) ----------------------------------------------------- */
/* Count one check of `rule`; print a violation when it does not hold. `subject`
 * is a register or field: one violation per stub, rule and subject is shown. */
bool sc_check(bool holds, const char *rule, const char *subject, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void sc_count(const char *rule);
/* A violation after which the case cannot go on. */
_Noreturn void sc_abandon(const char *rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sc_report_counts(void);
_Noreturn void sc_end(int status); /* of the process that runs the cases; 0: all have run */
extern bool sc_first_only;         /* end with the first violation */
void sc_put(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sc_flush(void);
extern jmp_buf sc_case_end;
extern uint64_t sc_where; /* address shown with a violation, 0: none */
bool sc_is_rule(const char *rule);

/* --- registers (regs.c) ------------------------------------------------------ */
typedef struct {
    uint64_t *sp, *dom, *young, *trap, *link, *limit, *toc, *c_function, *args_begin, *args_end,
        *result, *fresult;
} sc_roles;
extern sc_roles R; /* NULL: this port has none */
void sc_find_roles(void);
uint64_t *sc_reg(const fk_reg *);
uint32_t sc_role_bits(const fk_reg *);
bool sc_is_lost(const fk_reg *);
void sc_randomize(void);
/* The n-th integer argument; NULL: none. */
uint64_t *sc_ocaml_arg(int n);
uint64_t *sc_c_arg(int n);
/* Play a C function that does all it may: every register that C does not keep,
 * memory below its stack pointer and the area it owns above. */
void sc_c_body(bool indirect);
void sc_c_leave(uint64_t result);
/* Play OCaml code: everything but dom, young, trap and stack pointer. */
void sc_ocaml_body(void);
/* Jump to `stub` as from OCaml or C code that is described by `ra`. */
void sc_call(char *stub, const char *ra);
extern sc_state sc_at_call; /* the registers then */
uint64_t sc_return_address(void); /* at the entry of a called function */
/* All registers of `before` with every bit of `role` and none of `without`. */
void sc_check_kept(const sc_state *before, uint32_t role, uint32_t without, const char *rule);
uint64_t sc_value(const sc_state *, const fk_reg *);

/* --- memory (world.c) ---------------------------------------------------------- */
typedef struct {
    const char *name;
    uint8_t *mem, *model;
    size_t size;
    uint64_t low; /* bytes below are nobody's */
} sc_zone;
enum { Z_DOM, Z_STACK, Z_OTHER, Z_THIRD, Z_C, Z_BUCKET, Z_BUCKET2, Z_HEAP, Z_COUNT };
extern sc_zone sc_zones[Z_COUNT];
uint64_t sc_zone_base(int zone);
bool sc_changed(uint64_t address); /* differs from the model */
enum { SC_STACK_SIZE = 12288, SC_C_SIZE = 16384, SC_DOM_SIZE = 2048 };

uint64_t rd(uint64_t address);
void wr(uint64_t address, uint64_t value);       /* harness writes: memory and model */
/* The stub must have written `value`: a violation of `rule` says what it is. */
bool sc_stored(uint64_t address, uint64_t value, const char *rule, const char *what);
void sc_forget(uint64_t from, uint64_t to);       /* whatever is there is right */
void sc_check_memory(const char *rule);
sc_zone *sc_zone_of(uint64_t address);
void sc_scribble(uint64_t from, uint64_t to);     /* random bytes, model included */
void sc_sync(void);                               /* model := memory */
uint64_t dom_at(const char *field);               /* address of a field */
bool dom_has(const char *field);
#define DOM(field) rd(dom_at(field))

typedef struct {
    uint64_t dom, S, ra, trap, outer_trap, link, prev_link, stack, bucket, next_bucket, old_gc_regs;
    uint64_t handler; /* stack_handler of the current fiber */
    int64_t moved;    /* distance of the last stack move */
} sc_world;
extern sc_world W;

/* Random memory; a fiber with an OCaml caller's frame, its handlers and its
 * caller; a C stack with a link; domain state in agreement. */
void sc_new_world(void);
/* Registers of OCaml code in this world. */
void sc_ocaml_state(void);
/* Move the current fiber as caml_try_realloc_stack does; only [sp, base) goes
 * along, the old one is scribbled over. */
void sc_move_stack(uint64_t sp);
uint64_t sc_fiber_top(int zone);                  /* its stack_handler */
void sc_put_trap(uint64_t at, uint64_t previous, const char *handler);
void sc_make_fiber(int zone, uint64_t sp, uint64_t exn, uint64_t parent);

/* --- resuming (run.c) ------------------------------------------------------------ */
void sc_go(int expected);
int sc_go_any(void);
const char *sc_event_name(int event);
const char *sc_place(uint64_t address); /* symbol of a pad or stub, or hex */

/* What an unwinder must find at each instruction until the next event. */
typedef struct {
    uint64_t cfa, ra;
} sc_frame;
void sc_truth(sc_frame a, sc_frame b, const sc_state *c_caller);
void sc_truth_ocaml(void);  /* the caller's frame at W.S */
void sc_truth_row_only(void); /* nobody called: any row will do, but there must be one */
void sc_truth_cut(uint64_t sp); /* no frame is left once SP has reached this */

/* --- tracing (trace.c) -------------------------------------------------------------- */
bool sc_trace_load(const char *path);
/* What is destroyed at each instruction: memory below the stack pointer, or what a
 * veneer may take, at a call that may pass one. */
enum { SC_BELOW = 1, SC_VENEER };
void sc_trace_arm(int destroys);
bool sc_trace_has_sites(void);
void sc_trace_disarm(void);
void sc_install_handlers(void);
extern int sc_tracing; /* 0: not, else what is destroyed */
int sc_probe(void);

/* --- checks that many cases share (common.c) ------------------------------------ */
/* At a C function reached from OCaml: stack, alignment, link, saved pointers,
 * the way from them to the caller. `trap`: it may run OCaml code or raise. */
void sc_check_c_entry(const sc_state *before);
void sc_forget_c_area(uint64_t sp);
void sc_check_alignment(void);
void sc_check_walk(void);
void sc_check_pointers(uint64_t young); /* back in OCaml code */
void sc_check_sp(uint64_t want);
void sc_check_indirect(char *target);
/* Give the domain a new young_ptr and, now and then, a moved stack or another
 * handler, as C code may. */
uint64_t sc_c_effects(bool may_move);
/* Before `ra` is called: the C caller's frame. */
void sc_enter_from_c(uint64_t sp);
void sc_check_handler(uint64_t bucket);
/* In a collection whose save area is `area`: each register is in its slot, and gets
 * another value there; then, back in OCaml code, each has the value of `want`. */
void sc_move_roots(uint64_t area, const sc_state *before, sc_state *want);
void sc_check_moved(const sc_state *before, const sc_state *want);
bool sc_is_c_frame(uint64_t ra);

/* --- cases ---------------------------------------------------------------------------- */
typedef struct {
    const char *name;
    void (*run)(void);
    uint8_t repeat; /* times with other random contents */
    bool traced;    /* also once instruction by instruction */
    int generation; /* 4, 5, 0: both */
} sc_case;
extern const sc_case sc_cases_gc[], sc_cases_c_call[], sc_cases_start[], sc_cases_raise[],
    sc_cases_fiber[], sc_cases_chain[], sc_cases_buckets[], sc_cases_table[], sc_cases_sizes[];

#endif
