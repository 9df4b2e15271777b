/* s390x.S - runtime stubs, s390x ELF ABI, OCaml 5.3 and 5.4 ABI.
 *
 *   r10  domain state   r2..r9  arguments 1..8; r2 result and exception,
 *   r11  young_ptr              r7 C function
 *   r13  trap pointer   r0 r1   dead at every entry: PLT stubs use them
 *   r14  link           r12     size for caml_call_realloc_stack
 *   r15  fiber or C stack
 *
 * A trap frame is 0(r13) = previous trap pointer, 8(r13) = handler. dom.exn_handler
 * holds the trap pointer only while C runs.
 *
 * C wants 160 bytes above its SP for itself; OCaml frames have no such area, so C
 * runs on the C stack only: not even the dynamic linker may be entered from a fiber.
 * Calls to C and to other objects load the address from the GOT.
 *
 * Unwinding follows the ABI's rule: CFA = the caller's SP + 160, in C and in OCaml.
 */
#include "stubs/stubs.h"

#define R1 1 /* DWARF numbers */
#define R12 12
#define R15 15
#define CFA 160 /* CFA - caller's SP */

#if BUCKET_NEXT == BUCKET_R2 || BUCKET_R9 != BUCKET_R2 + 56
#error "r2..r9 are saved in one go, and the bucket's link has a word of its own"
#endif

    .text
label caml_hot.code_begin
label caml_hot.code_end
label caml_system__code_begin
    .2byte 0 /* illegal; so that code_begin names no stub */

    .macro stub name
function \name, 8
    .cfi_val_offset %r15, -CFA
    .endm

    .macro call_c symbol
    lgrl %r1, \symbol@GOTENT
    basr %r14, %r1
    .endm

/* --- switching stacks ------------------------------------------------------
 * A suspended fiber:
 *                |  caller   |
 *                |  r14      | <- stack_info.sp                                   */
#define LINK 8

    .macro push_link
    lay %r15, -LINK(%r15)
    .cfi_def_cfa_offset CFA + LINK
    stg %r14, 0(%r15)
    .cfi_offset %r14, -(CFA + LINK)
    .endm

    .macro pop_link
    lg %r14, 0(%r15)
    .cfi_restore %r14
    la %r15, LINK(%r15)
    .cfi_def_cfa_offset CFA
    .endm

/* Fiber (link pushed) to C. Uses r0, r1.
 *
 *    C stack           | prev     |             fiber     |  caller   |
 *                      | sp       |  ------------------>  |  r14      | <- stack_info.sp
 *                      | stack    |
 *    r15, dom.c_stack  | reserved |  160 bytes                                   */
    .macro fiber_to_c
    lg %r1, DOM_CURRENT_STACK(%r10)
    stg %r15, STACK_SP(%r1)
    lgr %r0, %r1
    lg %r1, DOM_C_STACK(%r10)
    stg %r0, C_LINK_STACK(%r1)
    stg %r15, C_LINK_SP(%r1)
    lgr %r15, %r1
    CFA_AT(R15, C_LINK_SP, CFA + LINK)
    .endm

    .macro c_to_fiber
    lg %r15, C_LINK_SP(%r15)
    .cfi_def_cfa %r15, CFA + LINK
    .endm

    .macro save_traps
    stg %r11, DOM_YOUNG_PTR(%r10)
    stg %r13, DOM_EXN_HANDLER(%r10)
    .endm

    .macro reload_traps
    lg %r11, DOM_YOUNG_PTR(%r10)
    lg %r13, DOM_EXN_HANDLER(%r10)
    .endm

/* Fiber `from` (current) to fiber `to`. */
    .macro switch_fiber from, to
    push_link
    stg %r15, STACK_SP(\from)
    stg %r13, STACK_EXCEPTION(\from)
    stg \to, DOM_CURRENT_STACK(%r10)
    lg %r13, STACK_EXCEPTION(\to)
    lg %r15, STACK_SP(\to)
    pop_link
    .endm

/* --- saving every register -------------------------------------------------- */

    .macro bucket_words multiple, i, f
    \multiple %r2, %r9, BUCKET_R2(%r1)
    \i %r12, BUCKET_R12(%r1)
    \f %f0, BUCKET_F0(%r1)
    \f %f1, BUCKET_F1(%r1)
    \f %f2, BUCKET_F2(%r1)
    \f %f3, BUCKET_F3(%r1)
    \f %f4, BUCKET_F4(%r1)
    \f %f5, BUCKET_F5(%r1)
    \f %f6, BUCKET_F6(%r1)
    \f %f7, BUCKET_F7(%r1)
    \f %f8, BUCKET_F8(%r1)
    \f %f9, BUCKET_F9(%r1)
    \f %f10, BUCKET_F10(%r1)
    \f %f11, BUCKET_F11(%r1)
    \f %f12, BUCKET_F12(%r1)
    \f %f13, BUCKET_F13(%r1)
    \f %f14, BUCKET_F14(%r1)
    \f %f15, BUCKET_F15(%r1)
    .endm

/* r1 := a bucket from the free list, with all allocatable registers in it.
 * dom.gc_regs := its registers. Uses r0. */
    .macro save_registers
    lg %r1, DOM_GC_REGS_BUCKETS(%r10)
    lg %r0, BUCKET_NEXT(%r1)
    stg %r0, DOM_GC_REGS_BUCKETS(%r10)
    bucket_words stmg, stg, std
    la %r0, BUCKET_GC_REGS(%r1)
    stg %r0, DOM_GC_REGS(%r10)
    .endm

/* r1 := the bucket of dom.gc_regs, free again. gc_regs is zero from here on: an
 * exception that leaves a collection is thus told from one that leaves a plain C
 * call (caml_raise_exception). Uses r0. */
    .macro release_bucket
    lg %r1, DOM_GC_REGS(%r10)
    mvghi DOM_GC_REGS(%r10), 0
    aghi %r1, -BUCKET_GC_REGS
    lg %r0, DOM_GC_REGS_BUCKETS(%r10)
    stg %r0, BUCKET_NEXT(%r1)
    stg %r1, DOM_GC_REGS_BUCKETS(%r10)
    .endm

    .macro restore_registers
    release_bucket
    bucket_words lmg, lg, ld
    .endm

/* --- collection and allocation ----------------------------------------------- */

/* young_ptr is already lowered. caml_garbage_collection finds the return address
 * in the frametables, makes room and lowers young_ptr again: when this returns the
 * block is allocated, and compiled code does not try again. */
stub caml_call_gc
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
    br %r14
end_function caml_call_gc

    .macro alloc_function name, bytes
stub \name
    .if \bytes
    lay %r11, -\bytes(%r11)
    .endif
    clg %r11, DOM_YOUNG_LIMIT(%r10)
    jl .Lcall_gc /* r14 is the address in the frametable */
    br %r14
end_function \name
    .endm

alloc_function caml_alloc1, 16
alloc_function caml_alloc2, 24
alloc_function caml_alloc3, 32
alloc_function caml_allocN, 0 /* the caller has lowered young_ptr */

/* Called before a prologue when the frame might not fit; r12 = words needed.
 *
 *    |  caller       |
 *    |  r14          |  of the function that overflowed
 *    |  r14          |  our link                                              */
stub caml_call_realloc_stack
    .cfi_signal_frame
    push_link
    save_traps
    save_registers
    lgr %r2, %r12
    fiber_to_c
    call_c caml_try_realloc_stack
    c_to_fiber
    ltr %r2, %r2
    je .Lstack_overflow
    restore_registers
    reload_traps
    .cfi_remember_state
    pop_link
    br %r14
    .cfi_restore_state
.Lstack_overflow: /* raise in the function that overflowed */
    release_bucket
    reload_traps
    lg %r14, LINK(%r15)
    .cfi_restore %r14
    .cfi_def_cfa_offset CFA + LINK + 8
    la %r15, LINK + 8(%r15)
    .cfi_def_cfa_offset CFA
    lgrl %r2, caml_exn_Stack_overflow@GOTENT
    j .Lraise_exn
end_function caml_call_realloc_stack

/* --- C calls --------------------------------------------------------------- */

/* r7 = function; its arguments are where C wants them. */
stub caml_c_call
    .cfi_signal_frame
.Lc_call:
    push_link
    save_traps
    fiber_to_c
    basr %r14, %r7
.Lc_called:
    c_to_fiber
    reload_traps
    pop_link
    cghsi DOM_ACTION_PENDING(%r10), 0
    jne 1f
    br %r14
1:  mvghi DOM_YOUNG_LIMIT(%r10), -1 /* the next allocation or poll will act */
    br %r14
end_function caml_c_call

/* r7 = function, [r9, r8) = words for its stack. r12 holds the link:
 *
 *    r12       | reserved, stack sp prev |
 *    r15+160   | words                   |
 *    r15       | reserved                |                                       */
stub caml_c_call_stack_args
    .cfi_signal_frame
    push_link
    save_traps
    fiber_to_c
    lgr %r12, %r15
    CFA_AT(R12, C_LINK_SP, CFA + LINK)
    j 2f
1:  aghi %r8, -8
    aghi %r15, -8
    mvc C_STACK_RESERVED(8, %r15), 0(%r8)
2:  clgr %r8, %r9
    jh 1b
    basr %r14, %r7
    lgr %r15, %r12
    j .Lc_called
end_function caml_c_call_stack_args

/* --- from C to OCaml ---------------------------------------------------------- */

/* value caml_start_program(dom *)
 *
 *    C stack                                 fiber
 *    CFA-112  r6..r15 (the caller's area)    |            | <- stack_info.sp
 *    CFA-160  caller's SP                    | gc_regs    | header
 *    CFA-224  f8..f15                        | C stack ------> link
 *             link.prev sp stack             | handler    |
 *    CFA-408  reserved <- c_stack            | exn_handler| <- r15, r13: trap frame
 */
#define SAVE_R6 48
#define START_FLOATS 64
#define START_SIZE (START_FLOATS + C_LINK_SIZE)
#define START_FRAME (CFA + START_SIZE)

    .macro save_float op, reg, n
    \op \reg, C_LINK_SIZE + 8 * \n(%r15)
    .ifc \op, std
    .cfi_rel_offset \reg, C_LINK_SIZE + 8 * \n
    .else
    .cfi_restore \reg
    .endif
    .endm

    .macro callee_saved_floats op
    save_float \op, %f8, 0
    save_float \op, %f9, 1
    save_float \op, %f10, 2
    save_float \op, %f11, 3
    save_float \op, %f12, 4
    save_float \op, %f13, 5
    save_float \op, %f14, 6
    save_float \op, %f15, 7
    .endm

stub caml_start_program
    .cfi_signal_frame
    lgr %r0, %r2
    lgrl %r1, caml_program@GOTENT
.Lstart: /* r0 = dom, r1 = code, r2..r5 = its arguments */
    stmg %r6, %r15, SAVE_R6(%r15)
    .cfi_rel_offset %r6, SAVE_R6
    .cfi_rel_offset %r7, SAVE_R6 + 8
    .cfi_rel_offset %r8, SAVE_R6 + 16
    .cfi_rel_offset %r9, SAVE_R6 + 24
    .cfi_rel_offset %r10, SAVE_R6 + 32
    .cfi_rel_offset %r11, SAVE_R6 + 40
    .cfi_rel_offset %r12, SAVE_R6 + 48
    .cfi_rel_offset %r13, SAVE_R6 + 56
    .cfi_rel_offset %r14, SAVE_R6 + 64
    .cfi_rel_offset %r15, SAVE_R6 + 72
    lay %r15, -START_SIZE(%r15)
    .cfi_def_cfa_offset START_FRAME
    callee_saved_floats std
    lgr %r10, %r0
    lgr %r6, %r1
    lg %r11, DOM_YOUNG_PTR(%r10)
    mvc C_LINK_PREV(8, %r15), DOM_C_STACK(%r10)
    mvghi C_LINK_STACK(%r15), 0 /* belongs to no fiber until fiber_to_c says so */
    mvghi C_LINK_SP(%r15), 0
    stg %r15, DOM_C_STACK(%r10)
    lg %r13, DOM_CURRENT_STACK(%r10)
    lg %r13, STACK_SP(%r13)
    aghi %r13, -HEADER_SIZE
    mvc HEADER_EXN_HANDLER(8, %r13), DOM_EXN_HANDLER(%r10)
    larl %r1, .Lstart_handler
    stg %r1, HEADER_PC(%r13)
    stg %r15, HEADER_C_STACK(%r13)
    mvc HEADER_SAVED_GC_REGS(8, %r13), DOM_GC_REGS(%r10)
    mvghi DOM_GC_REGS(%r10), 0
    lgr %r15, %r13
    CFA_AT(R15, HEADER_C_STACK, START_FRAME)
    basr %r14, %r6
.Lstart_return:
    lg %r13, HEADER_EXN_HANDLER(%r15)
    la %r15, TRAP_SIZE(%r15)
.Lstart_leave: /* the trap frame is gone, r13 = outer trap pointer, r2 = result */
    CFA_AT(R15, HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    stg %r13, DOM_EXN_HANDLER(%r10)
    stg %r11, DOM_YOUNG_PTR(%r10)
    mvc DOM_GC_REGS(8, %r10), HEADER_SAVED_GC_REGS - TRAP_SIZE(%r15)
    la %r0, HEADER_SIZE - TRAP_SIZE(%r15)
    lg %r1, DOM_CURRENT_STACK(%r10)
    stg %r0, STACK_SP(%r1)
    lg %r15, DOM_C_STACK(%r10)
    .cfi_def_cfa %r15, START_FRAME
    mvc DOM_C_STACK(8, %r10), C_LINK_PREV(%r15)
    .cfi_remember_state
    callee_saved_floats ld
    lmg %r6, %r15, START_SIZE + SAVE_R6(%r15)
    .cfi_def_cfa_offset CFA
    .cfi_restore %r6
    .cfi_restore %r7
    .cfi_restore %r8
    .cfi_restore %r9
    .cfi_restore %r10
    .cfi_restore %r11
    .cfi_restore %r12
    .cfi_restore %r13
    .cfi_restore %r14
    .cfi_val_offset %r15, -CFA
    br %r14
    .cfi_restore_state
.Lstart_handler: /* r2 = exception */
    CFA_AT(R15, HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    oill %r2, 2 /* an exception result */
    j .Lstart_leave
end_function caml_start_program

/* value caml_callbackN_asm(dom *, value closure, value *args) */
stub caml_callback_asm
    lgr %r0, %r2
    lg %r1, 0(%r3)
    lg %r2, 0(%r4)
    j .Lstart
end_function caml_callback_asm

stub caml_callback2_asm
    lgr %r0, %r2
    lgr %r1, %r3
    lg %r2, 0(%r4)
    lg %r3, 8(%r4)
    lgr %r4, %r1
    lgrl %r1, caml_apply2@GOTENT
    j .Lstart
end_function caml_callback2_asm

stub caml_callback3_asm
    lgr %r0, %r2
    lgr %r5, %r3
    lg %r2, 0(%r4)
    lg %r3, 8(%r4)
    lg %r4, 16(%r4)
    lgrl %r1, caml_apply3@GOTENT
    j .Lstart
end_function caml_callback3_asm

/* --- exceptions ---------------------------------------------------------------- */

/* r2 = exception. The handler gets it in r2, with SP above its trap frame. From the
 * moment SP is cut the caller to unwind to is the handler's function. */
    .macro cut_to_handler
    lgr %r15, %r13
    .cfi_def_cfa %r15, CFA + TRAP_SIZE
    .cfi_offset %r14, TRAP_HANDLER - TRAP_SIZE - CFA
    lg %r1, TRAP_HANDLER(%r15)
    lg %r13, TRAP_PREVIOUS(%r15)
    la %r15, TRAP_SIZE(%r15)
    .cfi_def_cfa_offset CFA
    .cfi_register %r14, %r1
    br %r1
    .endm

stub caml_raise_exn
    .cfi_signal_frame
.Lraise_exn:
    cghsi DOM_BACKTRACE_ACTIVE(%r10), 0
    jne .Lraise_traced
.Lraise_untraced:
    .cfi_remember_state
    cut_to_handler
    .cfi_restore_state
.Lraise_traced:
    mvghi DOM_BACKTRACE_POS(%r10), 0
.Lreraise_traced: /* caml_stash_backtrace(exception, pc, sp, trap pointer) */
    lgr %r7, %r15
    .cfi_def_cfa %r7, CFA
    lgr %r8, %r14
    .cfi_register %r14, %r8
    lgr %r6, %r2
    lgr %r3, %r14
    lgr %r4, %r15
    lgr %r5, %r13
    lg %r15, DOM_C_STACK(%r10)
    call_c caml_stash_backtrace
    lgr %r2, %r6
    cut_to_handler
end_function caml_raise_exn

/* The same for an exception that goes on: its backtrace is kept and extended. */
stub caml_reraise_exn
    cghsi DOM_BACKTRACE_ACTIVE(%r10), 0
    je .Lraise_untraced
    j .Lreraise_traced
end_function caml_reraise_exn

/* void caml_raise_exception(dom *, value exception), from C; does not return.
 * C left the fiber at stack_info.sp, with the link of that call on top. */
stub caml_raise_exception
    .cfi_signal_frame
    lgr %r10, %r2
    .cfi_undefined %r10
    lgr %r2, %r3
    cghsi DOM_GC_REGS(%r10), 0
    je 1f
    release_bucket /* the exception leaves a collection */
1:  reload_traps
    .cfi_undefined %r11
    .cfi_undefined %r13
    lg %r1, DOM_CURRENT_STACK(%r10)
    lg %r15, STACK_SP(%r1)
    .cfi_same_value %r10
    .cfi_same_value %r11
    .cfi_same_value %r13
    .cfi_def_cfa_offset CFA + LINK
    .cfi_offset %r14, -(CFA + LINK)
    pop_link
    j .Lraise_exn
end_function caml_raise_exception

stub caml_ml_array_bound_error
    lgrl %r7, caml_array_bound_error_asm@GOTENT
    j .Lc_call
end_function caml_ml_array_bound_error

/* --- effects -------------------------------------------------------------------
 * A continuation holds, both as address + 1: [0] the fiber that performed, [8] the
 * last fiber of the chain that a resume brings back. Handlers run on the parent. */

/* r2 = effect, r3 = continuation */
stub caml_perform
    lg %r6, DOM_CURRENT_STACK(%r10)
    la %r4, 1(%r6)
    stg %r4, 0(%r3)
.Lperform: /* r6 = current fiber, r4 = it + 1 = the last of the chain */
    stg %r4, 8(%r3)
    lg %r8, STACK_HANDLER(%r6)
    ltg %r9, HANDLER_PARENT(%r8)
    je .Lunhandled
    switch_fiber %r6, %r9
    mvghi HANDLER_PARENT(%r8), 0 /* the performer is off the chain */
    lg %r5, HANDLER_EFFECT(%r8)
    lgrl %r1, caml_apply3@GOTENT /* effect, continuation, last fiber */
    br %r1
.Lunhandled: /* back to the performer, and raise there */
    lg %r9, 0(%r3)
    aghi %r9, -1
    switch_fiber %r6, %r9
    lgrl %r7, caml_raise_unhandled_effect@GOTENT
    j .Lc_call
end_function caml_perform

/* r2 = effect, r3 = continuation, r4 = last fiber + 1: hang the current fiber under
 * the chain and go on to its parent. */
stub caml_reperform
    lg %r6, DOM_CURRENT_STACK(%r10)
    lg %r9, STACK_HANDLER - 1(%r4)
    stg %r6, HANDLER_PARENT(%r9)
    la %r4, 1(%r6)
    j .Lperform
end_function caml_reperform

/* r2 = fiber + 1, r3 = function, r4 = argument, r5 = last fiber + 1 */
stub caml_resume
    lgr %r9, %r2
    lgr %r2, %r4
    aghi %r9, -1
    je .Lalready_resumed
    lg %r6, DOM_CURRENT_STACK(%r10)
    lg %r8, STACK_HANDLER - 1(%r5)
    stg %r6, HANDLER_PARENT(%r8)
    switch_fiber %r6, %r9
    lg %r1, 0(%r3)
    br %r1
.Lalready_resumed:
    lgrl %r7, caml_raise_continuation_already_resumed@GOTENT
    j .Lc_call
end_function caml_resume

/* r2 = new fiber + 1, r3 = function, r4 = argument. Calls it on the new fiber:
 *
 *    new fiber      | parent       | stack_handler (16-aligned)
 *                   | effect       |
 *                   | exn          |
 *                   | value        |
 *                   | (2 words)    | header
 *                   | handler      |
 *                   | exn. pointer | <- r15, r13
 *
 * then frees the fiber and goes on, with its result or exception, to handle_value
 * or handle_exn on the parent. CFA: parent->sp + LINK + 160. */
#define CFA_PARENT(offset) \
    CFA_AT_AT(R15, (offset) + HANDLER_PARENT, STACK_SP, CFA + LINK)

stub caml_runstack
    .cfi_signal_frame
    push_link
    aghi %r2, -1
    lg %r6, DOM_CURRENT_STACK(%r10)
    stg %r15, STACK_SP(%r6)
    stg %r13, STACK_EXCEPTION(%r6)
    lg %r8, STACK_HANDLER(%r2)
    stg %r6, HANDLER_PARENT(%r8)
    stg %r2, DOM_CURRENT_STACK(%r10)
    lg %r13, STACK_SP(%r2)
    aghi %r13, -HEADER_SIZE
    mvc HEADER_EXN_HANDLER(8, %r13), STACK_EXCEPTION(%r2)
    larl %r1, .Lfiber_handler
    stg %r1, HEADER_PC(%r13)
    lgr %r15, %r13
    CFA_PARENT(HEADER_SIZE)
    lgr %r2, %r4
    lg %r1, 0(%r3)
    basr %r14, %r1
.Lrunstack_return:
    la %r15, TRAP_SIZE(%r15)
    CFA_PARENT(HEADER_SIZE - TRAP_SIZE)
    lg %r8, HEADER_SIZE - TRAP_SIZE + HANDLER_VALUE(%r15)
.Lfiber_done: /* r2 = value or exception, r8 = closure that wants it */
    lgr %r7, %r2
    lg %r9, HEADER_SIZE - TRAP_SIZE + HANDLER_PARENT(%r15)
    lg %r6, STACK_SP(%r9)
    .cfi_remember_state
    .cfi_def_cfa %r6, CFA + LINK
    lg %r13, STACK_EXCEPTION(%r9)
    lg %r2, DOM_CURRENT_STACK(%r10)
    stg %r9, DOM_CURRENT_STACK(%r10)
    lg %r15, DOM_C_STACK(%r10)
    call_c caml_free_stack
    lgr %r15, %r6
    .cfi_def_cfa %r15, CFA + LINK
    lgr %r2, %r7
    lgr %r3, %r8
    lg %r1, 0(%r3)
    pop_link
    br %r1
    .cfi_restore_state
.Lfiber_handler: /* the trap frame is gone, r2 = exception */
    lg %r8, HEADER_SIZE - TRAP_SIZE + HANDLER_EXN(%r15)
    j .Lfiber_done
end_function caml_runstack

label caml_system__code_end

system_frametable .Lstart_return, .Lrunstack_return
