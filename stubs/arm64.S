/* arm64.S - runtime stubs, AAPCS64, OCaml 5.3 and 5.4 ABI.
 *
 *   x28  domain state   x0..x15  arguments and results; x8 = C function, or bytes
 *   x27  young_ptr               of caml_allocN
 *   x26  trap pointer   x16 x17  dead at every entry: linker veneers use them
 *   sp   fiber or C stack, a multiple of 16 always
 *
 * A trap frame is [x26] = previous trap pointer, [x26+8] = handler. dom.exn_handler
 * holds the trap pointer only while C runs.
 *
 * x29 is the C frame pointer and OCaml code leaves it alone, so it stays what
 * caml_start_program set: a chain of frame pointers leads from C over the fibers to
 * C. Stubs put no frame of their own into it, because a fiber that moves would leave
 * the C frames above with a link into freed memory.
 */
#include "stubs/stubs.h"

#define SP 31 /* DWARF numbers */
#define X20 20
#define X28 28

#if BUCKET_NEXT == BUCKET_X0
#error "the bucket's link has a word of its own here"
#endif

    .text
label caml_hot.code_begin
label caml_hot.code_end
label caml_system__code_begin
    udf 0 /* so that code_begin names no stub */

    .macro load_got reg, symbol
    adrp \reg, :got:\symbol
    ldr \reg, [\reg, :got_lo12:\symbol]
    .endm

    .macro call_c symbol
    load_got x16, \symbol
    blr x16
    .endm

/* --- switching stacks ------------------------------------------------------
 * A suspended fiber:
 *                |  caller   |
 *                |  x30      |
 *                |  x29      | <- stack_info.sp, CFA - 16                       */
#define LINK 16

    .macro push_link
    stp x29, x30, [sp, -LINK]!
    .cfi_def_cfa_offset LINK
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    .endm

/* x29 has not changed since it was pushed. */
    .macro pop_link
    ldr x30, [sp, 8]
    add sp, sp, LINK
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    .endm

/* Fiber (link pushed) to C. Uses x16, x17.
 *
 *    C stack           | prev   |             fiber     |  caller   |
 *                      | sp     |  ------------------>  | x29 x30   | <- stack_info.sp
 *    sp, dom.c_stack   | stack  |                                               */
    .macro fiber_to_c
    ldr x16, [x28, DOM_CURRENT_STACK]
    mov x17, sp
    str x17, [x16, STACK_SP]
    ldr x17, [x28, DOM_C_STACK]
    str x16, [x17, C_LINK_STACK]
    mov x16, sp
    str x16, [x17, C_LINK_SP]
    mov sp, x17
    CFA_AT(SP, C_LINK_SP, LINK)
    .endm

    .macro c_to_fiber
    ldr x16, [sp, C_LINK_SP]
    mov sp, x16
    .cfi_def_cfa sp, LINK
    .endm

    .macro save_traps
    str x27, [x28, DOM_YOUNG_PTR]
    str x26, [x28, DOM_EXN_HANDLER]
    .endm

    .macro reload_traps
    ldr x27, [x28, DOM_YOUNG_PTR]
    ldr x26, [x28, DOM_EXN_HANDLER]
    .endm

#if STACK_SP != 0 || STACK_EXCEPTION != 8
#error "sp and exception_ptr are stored as a pair"
#endif

/* Fiber `from` (current) to fiber `to`. Uses x16. */
    .macro switch_fiber from, to
    push_link
    mov x16, sp
    stp x16, x26, [\from]
    str \to, [x28, DOM_CURRENT_STACK]
    ldp x16, x26, [\to]
    mov sp, x16
    pop_link
    .endm

/* --- saving every register --------------------------------------------------
 * Words of the bucket in pairs; d8..d15 are kept by C.                           */
#if BUCKET_X1 != BUCKET_X0 + 8 || BUCKET_X20 != BUCKET_X19 + 8 || BUCKET_D1 != BUCKET_D0 + 8 || \
    BUCKET_D17 != BUCKET_D16 + 8
#error "registers are saved in pairs"
#endif

    .macro bucket_pairs op
    \op x0, x1, [x16, BUCKET_X0]
    \op x2, x3, [x16, BUCKET_X2]
    \op x4, x5, [x16, BUCKET_X4]
    \op x6, x7, [x16, BUCKET_X6]
    \op x8, x9, [x16, BUCKET_X8]
    \op x10, x11, [x16, BUCKET_X10]
    \op x12, x13, [x16, BUCKET_X12]
    \op x14, x15, [x16, BUCKET_X14]
    \op x19, x20, [x16, BUCKET_X19]
    \op x21, x22, [x16, BUCKET_X21]
    \op x23, x24, [x16, BUCKET_X23]
    \op d0, d1, [x16, BUCKET_D0]
    \op d2, d3, [x16, BUCKET_D2]
    \op d4, d5, [x16, BUCKET_D4]
    \op d6, d7, [x16, BUCKET_D6]
    \op d16, d17, [x16, BUCKET_D16]
    \op d18, d19, [x16, BUCKET_D18]
    \op d20, d21, [x16, BUCKET_D20]
    \op d22, d23, [x16, BUCKET_D22]
    \op d24, d25, [x16, BUCKET_D24]
    \op d26, d27, [x16, BUCKET_D26]
    \op d28, d29, [x16, BUCKET_D28]
    \op d30, d31, [x16, BUCKET_D30]
    .endm

/* x16 := a bucket from the free list, with all allocatable registers in it.
 * dom.gc_regs := its registers. Uses x17. */
    .macro save_registers
    ldr x16, [x28, DOM_GC_REGS_BUCKETS]
    ldr x17, [x16, BUCKET_NEXT]
    str x17, [x28, DOM_GC_REGS_BUCKETS]
    bucket_pairs stp
    str x25, [x16, BUCKET_X25]
    add x17, x16, BUCKET_GC_REGS
    str x17, [x28, DOM_GC_REGS]
    .endm

/* x16 := the bucket of dom.gc_regs, free again. gc_regs is zero from here on: an
 * exception that leaves a collection is thus told from one that leaves a plain C
 * call (caml_raise_exception). Uses x17. */
    .macro release_bucket
    ldr x16, [x28, DOM_GC_REGS]
    str xzr, [x28, DOM_GC_REGS]
    sub x16, x16, BUCKET_GC_REGS
    ldr x17, [x28, DOM_GC_REGS_BUCKETS]
    str x17, [x16, BUCKET_NEXT]
    str x16, [x28, DOM_GC_REGS_BUCKETS]
    .endm

    .macro restore_registers
    release_bucket
    bucket_pairs ldp
    ldr x25, [x16, BUCKET_X25]
    .endm

/* --- collection and allocation ----------------------------------------------- */

/* young_ptr is already lowered. caml_garbage_collection finds the return address
 * in the frametables, makes room and lowers young_ptr again: when this returns the
 * block is allocated, and compiled code does not try again. */
function caml_call_gc
    .cfi_signal_frame
.Lcall_gc:
    push_link
    save_traps
    save_registers
    fiber_to_c
    call_c caml_garbage_collection
    c_to_fiber
    restore_registers
    reload_traps
    pop_link
    ret
end_function caml_call_gc

    .macro alloc_function name, bytes
function \name
    ldr x16, [x28, DOM_YOUNG_LIMIT]
    sub x27, x27, \bytes
    cmp x27, x16
    b.lo .Lcall_gc /* x30 is the address in the frametable */
    ret
end_function \name
    .endm

alloc_function caml_alloc1, 16
alloc_function caml_alloc2, 24
alloc_function caml_alloc3, 32
alloc_function caml_allocN, x8

/* Called before a prologue when the frame might not fit:
 *
 *    |  caller       |
 *    |  x30          |  of the function that overflowed
 *    |  words needed |
 *    |  x29 x30      |  our link                                              */
function caml_call_realloc_stack
    .cfi_signal_frame
    push_link
    save_traps
    save_registers
    ldr x0, [sp, LINK]
    fiber_to_c
    call_c caml_try_realloc_stack
    c_to_fiber
    cbz w0, .Lstack_overflow
    restore_registers
    reload_traps
    .cfi_remember_state
    pop_link
    ret
    .cfi_restore_state
.Lstack_overflow: /* raise in the function that overflowed */
    release_bucket
    reload_traps
    ldr x30, [sp, LINK + 8]
    .cfi_restore x30
    .cfi_def_cfa_offset LINK + 16
    add sp, sp, LINK + 16
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    load_got x0, caml_exn_Stack_overflow
    b .Lraise_exn
end_function caml_call_realloc_stack

/* --- C calls --------------------------------------------------------------- */

/* x8 = function; its arguments are where C wants them. */
function caml_c_call
    .cfi_signal_frame
.Lc_call:
    push_link
    save_traps
    fiber_to_c
    blr x8
.Lc_called:
    c_to_fiber
    reload_traps
    pop_link
    ldr x16, [x28, DOM_ACTION_PENDING]
    cbnz x16, 1f
    ret
1:  mov x16, -1 /* the next allocation or poll will act */
    str x16, [x28, DOM_YOUNG_LIMIT]
    ret
end_function caml_c_call

/* x8 = function, [x20, x21) = words for its stack, a multiple of 16 bytes. x19 holds
 * the link:
 *
 *    x19  | stack sp prev |
 *         | words         |
 *    sp   |               |                                                     */
function caml_c_call_stack_args
    .cfi_signal_frame
    push_link
    save_traps
    fiber_to_c
    mov x19, sp
    CFA_AT(19, C_LINK_SP, LINK)
    b 2f
1:  ldp x16, x17, [x21, -16]!
    stp x16, x17, [sp, -16]!
2:  cmp x21, x20
    b.hi 1b
    blr x8
    mov sp, x19
    b .Lc_called
end_function caml_c_call_stack_args

/* --- from C to OCaml ---------------------------------------------------------- */

/* value caml_start_program(dom *)
 *
 *    C stack                                 fiber
 *    CFA                                     |            | <- stack_info.sp
 *    CFA-160  x29 x30 x19..x28 d8..d15       | gc_regs    | header
 *    CFA-176  link.prev, pad                 | C stack ------> link
 *             link.sp                        | handler    |
 *    CFA-192  link.stack <- c_stack          | exn_handler| <- sp, x26: trap frame
 */
#define START_SAVED 160
#define START_FRAME (START_SAVED + 32)

    .macro save_pair op, a, b, offset
    \op \a, \b, [sp, \offset]
    .ifc \op, stp
    .cfi_rel_offset \a, \offset
    .cfi_rel_offset \b, \offset + 8
    .else
    .cfi_restore \a
    .cfi_restore \b
    .endif
    .endm

    .macro callee_saved op
    save_pair \op, x19, x20, 16
    save_pair \op, x21, x22, 32
    save_pair \op, x23, x24, 48
    save_pair \op, x25, x26, 64
    save_pair \op, x27, x28, 80
    save_pair \op, d8, d9, 96
    save_pair \op, d10, d11, 112
    save_pair \op, d12, d13, 128
    save_pair \op, d14, d15, 144
    .endm

function caml_start_program
    .cfi_signal_frame
    mov x16, x0
    load_got x17, caml_program
.Lstart: /* x16 = dom, x17 = code, x0..x3 = its arguments */
    stp x29, x30, [sp, -START_SAVED]!
    .cfi_def_cfa_offset START_SAVED
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    mov x29, sp
    callee_saved stp
    mov x28, x16
    ldr x27, [x28, DOM_YOUNG_PTR]
    ldr x16, [x28, DOM_C_STACK]
    stp x16, xzr, [sp, -16]!
    .cfi_def_cfa_offset START_SAVED + 16
    stp xzr, xzr, [sp, -16]! /* belongs to no fiber until fiber_to_c says so */
    .cfi_def_cfa_offset START_FRAME
    mov x9, sp
    str x9, [x28, DOM_C_STACK]
    ldr x26, [x28, DOM_CURRENT_STACK]
    ldr x26, [x26, STACK_SP]
    ldr x10, [x28, DOM_GC_REGS]
    str xzr, [x28, DOM_GC_REGS]
    stp x9, x10, [x26, -16]!
    ldr x9, [x28, DOM_EXN_HANDLER]
    adr x10, .Lstart_handler
    stp x9, x10, [x26, -16]!
    mov sp, x26
    CFA_AT(SP, HEADER_C_STACK, START_FRAME)
    blr x17
.Lstart_return:
    ldr x26, [sp], TRAP_SIZE
.Lstart_leave: /* the trap frame is gone, x26 = outer trap pointer, x0 = result */
    CFA_AT(SP, HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    str x26, [x28, DOM_EXN_HANDLER]
    str x27, [x28, DOM_YOUNG_PTR]
    ldr x9, [sp, HEADER_SAVED_GC_REGS - TRAP_SIZE]
    str x9, [x28, DOM_GC_REGS]
    add x9, sp, HEADER_SIZE - TRAP_SIZE
    ldr x10, [x28, DOM_CURRENT_STACK]
    str x9, [x10, STACK_SP]
    ldr x9, [x28, DOM_C_STACK]
    mov sp, x9
    .cfi_def_cfa sp, START_FRAME
    ldr x9, [sp, C_LINK_PREV]
    str x9, [x28, DOM_C_STACK]
    add sp, sp, START_FRAME - START_SAVED
    .cfi_def_cfa_offset START_SAVED
    .cfi_remember_state
    callee_saved ldp
    ldp x29, x30, [sp], START_SAVED
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_restore_state
.Lstart_handler: /* x0 = exception */
    CFA_AT(SP, HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    orr x0, x0, 2 /* an exception result */
    b .Lstart_leave
end_function caml_start_program

/* value caml_callbackN_asm(dom *, value closure, value *args) */
function caml_callback_asm
    mov x16, x0
    ldr x0, [x2]
    ldr x17, [x1]
    b .Lstart
end_function caml_callback_asm

function caml_callback2_asm
    mov x16, x0
    mov x9, x1
    ldp x0, x1, [x2]
    mov x2, x9
    load_got x17, caml_apply2
    b .Lstart
end_function caml_callback2_asm

function caml_callback3_asm
    mov x16, x0
    mov x3, x1
    ldp x0, x1, [x2]
    ldr x2, [x2, 16]
    load_got x17, caml_apply3
    b .Lstart
end_function caml_callback3_asm

/* --- exceptions ---------------------------------------------------------------- */

/* x0 = exception. The handler gets it in x0, with SP above its trap frame. From the
 * moment SP is cut the caller to unwind to is the handler's function. */
    .macro cut_to_handler
    mov sp, x26
    .cfi_def_cfa sp, TRAP_SIZE
    .cfi_offset x30, -8
    ldp x26, x16, [sp], TRAP_SIZE
    .cfi_def_cfa_offset 0
    .cfi_register x30, x16
    br x16
    .endm

function caml_raise_exn
    .cfi_signal_frame
.Lraise_exn:
    ldr x16, [x28, DOM_BACKTRACE_ACTIVE]
    cbnz x16, .Lraise_traced
.Lraise_untraced:
    .cfi_remember_state
    cut_to_handler
    .cfi_restore_state
.Lraise_traced:
    str xzr, [x28, DOM_BACKTRACE_POS]
.Lreraise_traced: /* caml_stash_backtrace(exception, pc, sp, trap pointer) */
    mov x19, x0
    mov x20, sp
    .cfi_def_cfa x20, 0
    mov x21, x30
    .cfi_register x30, x21
    mov x1, x30
    mov x2, sp
    mov x3, x26
    ldr x16, [x28, DOM_C_STACK]
    mov sp, x16
    call_c caml_stash_backtrace
    mov x0, x19
    cut_to_handler
end_function caml_raise_exn

/* The same for an exception that goes on: its backtrace is kept and extended. */
function caml_reraise_exn
    ldr x16, [x28, DOM_BACKTRACE_ACTIVE]
    cbz x16, .Lraise_untraced
    b .Lreraise_traced
end_function caml_reraise_exn

/* void caml_raise_exception(dom *, value exception), from C; does not return.
 * C left the fiber at stack_info.sp, with the link of that call on top. */
function caml_raise_exception
    .cfi_signal_frame
    mov x28, x0
    .cfi_undefined x28
    mov x0, x1
    ldr x16, [x28, DOM_GC_REGS]
    cbz x16, 1f
    release_bucket /* the exception leaves a collection */
1:  reload_traps
    .cfi_undefined x26
    .cfi_undefined x27
    ldr x16, [x28, DOM_CURRENT_STACK]
    ldr x16, [x16, STACK_SP]
    mov sp, x16
    .cfi_same_value x26
    .cfi_same_value x27
    .cfi_same_value x28
    .cfi_def_cfa_offset LINK
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    ldp x29, x30, [sp], LINK
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    b .Lraise_exn
end_function caml_raise_exception

function caml_ml_array_bound_error
    load_got x8, caml_array_bound_error_asm
    b .Lc_call
end_function caml_ml_array_bound_error

/* --- effects -------------------------------------------------------------------
 * A continuation holds, both as address + 1: [0] the fiber that performed, [8] the
 * last fiber of the chain that a resume brings back. Handlers run on the parent. */

/* x0 = effect, x1 = continuation */
function caml_perform
    ldr x9, [x28, DOM_CURRENT_STACK]
    add x2, x9, 1
    str x2, [x1]
.Lperform: /* x9 = current fiber, x2 = it + 1 = the last of the chain */
    str x2, [x1, 8]
    ldr x11, [x9, STACK_HANDLER]
    ldr x10, [x11, HANDLER_PARENT]
    cbz x10, .Lunhandled
    switch_fiber x9, x10
    str xzr, [x11, HANDLER_PARENT] /* the performer is off the chain */
    ldr x3, [x11, HANDLER_EFFECT]
    load_got x16, caml_apply3 /* effect, continuation, last fiber */
    br x16
.Lunhandled: /* back to the performer, and raise there */
    ldr x10, [x1]
    sub x10, x10, 1
    switch_fiber x9, x10
    load_got x8, caml_raise_unhandled_effect
    b .Lc_call
end_function caml_perform

/* x0 = effect, x1 = continuation, x2 = last fiber + 1: hang the current fiber under
 * the chain and go on to its parent. */
function caml_reperform
    ldr x9, [x28, DOM_CURRENT_STACK]
    ldr x10, [x2, STACK_HANDLER - 1]
    str x9, [x10, HANDLER_PARENT]
    add x2, x9, 1
    b .Lperform
end_function caml_reperform

/* x0 = fiber + 1, x1 = function, x2 = argument, x3 = last fiber + 1 */
function caml_resume
    sub x10, x0, 1
    mov x0, x2
    cbz x10, .Lalready_resumed
    ldr x9, [x28, DOM_CURRENT_STACK]
    ldr x11, [x3, STACK_HANDLER - 1]
    str x9, [x11, HANDLER_PARENT]
    switch_fiber x9, x10
    ldr x16, [x1]
    br x16
.Lalready_resumed:
    load_got x8, caml_raise_continuation_already_resumed
    b .Lc_call
end_function caml_resume

/* x0 = new fiber + 1, x1 = function, x2 = argument. Calls it on the new fiber:
 *
 *    new fiber      | parent       | stack_handler (16-aligned)
 *                   | effect       |
 *                   | exn          |
 *                   | value        |
 *                   | (2 words)    | header
 *                   | handler      |
 *                   | exn. pointer | <- sp, x26
 *
 * then frees the fiber and goes on, with its result or exception, to handle_value
 * or handle_exn on the parent. CFA: parent->sp + LINK. */
#define CFA_PARENT(offset) CFA_AT_AT(SP, (offset) + HANDLER_PARENT, STACK_SP, LINK)

function caml_runstack
    .cfi_signal_frame
    push_link
    sub x0, x0, 1
    ldr x9, [x28, DOM_CURRENT_STACK]
    mov x16, sp
    stp x16, x26, [x9]
    ldr x11, [x0, STACK_HANDLER]
    str x9, [x11, HANDLER_PARENT]
    str x0, [x28, DOM_CURRENT_STACK]
    ldp x26, x10, [x0]
    adr x11, .Lfiber_handler
    stp x10, x11, [x26, -HEADER_SIZE]!
    mov sp, x26
    CFA_PARENT(HEADER_SIZE)
    mov x0, x2
    ldr x16, [x1]
    blr x16
.Lrunstack_return:
    add sp, sp, TRAP_SIZE
    CFA_PARENT(HEADER_SIZE - TRAP_SIZE)
    ldr x20, [sp, HEADER_SIZE - TRAP_SIZE + HANDLER_VALUE]
.Lfiber_done: /* x0 = value or exception, x20 = closure that wants it */
    mov x19, x0
    ldr x10, [sp, HEADER_SIZE - TRAP_SIZE + HANDLER_PARENT]
    ldp x21, x26, [x10]
    .cfi_remember_state
    .cfi_def_cfa x21, LINK
    ldr x0, [x28, DOM_CURRENT_STACK]
    str x10, [x28, DOM_CURRENT_STACK]
    ldr x16, [x28, DOM_C_STACK]
    mov sp, x16
    call_c caml_free_stack
    mov sp, x21
    .cfi_def_cfa sp, LINK
    mov x0, x19
    mov x1, x20
    pop_link
    ldr x16, [x1]
    br x16
    .cfi_restore_state
.Lfiber_handler: /* the trap frame is gone, x0 = exception */
    ldr x20, [sp, HEADER_SIZE - TRAP_SIZE + HANDLER_EXN]
    b .Lfiber_done
end_function caml_runstack

label caml_system__code_end

system_frametable .Lstart_return, .Lrunstack_return
