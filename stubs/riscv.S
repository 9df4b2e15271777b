/* riscv.S - runtime stubs, RV64GC lp64d, OCaml 5.3 and 5.4 ABI.
 *
 *   s11  domain state   a0..a7 s2..s9  arguments 1..16; a0 result and exception
 *   s10  young_ptr      t2   C function, or bytes of caml_allocN
 *   s1   trap pointer   t0 t1  the stubs' own; t0..t6 are dead at every entry but
 *   sp   fiber or C stack      for t2, which the ABI fixed although a lazily bound
 *                              PLT entry destroys it: programs bind these calls early
 *
 * A trap frame is 0(s1) = previous trap pointer, 8(s1) = handler. dom.exn_handler
 * holds the trap pointer only while C runs. gp and tp are never touched.
 */
#include "stubs/stubs.h"

#define SP 2 /* DWARF numbers */
#define S2 18

#if BUCKET_NEXT == BUCKET_A0
#error "the bucket's link has a word of its own here"
#endif

    .option pic     /* `la` reads the GOT */
    .option norelax /* nothing here gets shorter; distances are final */
    .text
label caml_hot.code_begin
label caml_hot.code_end
label caml_system__code_begin
    unimp /* so that code_begin names no stub */

    .macro call_c symbol
    la t1, \symbol
    jalr t1
    .endm

/* --- switching stacks ------------------------------------------------------
 * A suspended fiber:
 *                |  caller   |
 *                |  ra       |
 *                |  (unused) | <- stack_info.sp, CFA - 16                       */
#define LINK 16
#define LINK_RA 8

    .macro push_link
    addi sp, sp, -LINK
    .cfi_def_cfa_offset LINK
    sd ra, LINK_RA(sp)
    .cfi_offset ra, LINK_RA - LINK
    .endm

    .macro pop_link
    ld ra, LINK_RA(sp)
    .cfi_restore ra
    addi sp, sp, LINK
    .cfi_def_cfa_offset 0
    .endm

/* Fiber (link pushed) to C. Uses t0, t1.
 *
 *    C stack           | prev   |             fiber     |  caller   |
 *                      | sp     |  ------------------>  | - ra      | <- stack_info.sp
 *    sp, dom.c_stack   | stack  |                                               */
    .macro fiber_to_c
    ld t0, DOM_CURRENT_STACK(s11)
    ld t1, DOM_C_STACK(s11)
    sd sp, STACK_SP(t0)
    sd t0, C_LINK_STACK(t1)
    sd sp, C_LINK_SP(t1)
    mv sp, t1
    CFA_AT(SP, C_LINK_SP, LINK)
    .endm

    .macro c_to_fiber
    ld sp, C_LINK_SP(sp)
    .cfi_def_cfa sp, LINK
    .endm

    .macro save_traps
    sd s10, DOM_YOUNG_PTR(s11)
    sd s1, DOM_EXN_HANDLER(s11)
    .endm

    .macro reload_traps
    ld s10, DOM_YOUNG_PTR(s11)
    ld s1, DOM_EXN_HANDLER(s11)
    .endm

/* Fiber `from` (current) to fiber `to`. */
    .macro switch_fiber from, to
    push_link
    sd sp, STACK_SP(\from)
    sd s1, STACK_EXCEPTION(\from)
    sd \to, DOM_CURRENT_STACK(s11)
    ld s1, STACK_EXCEPTION(\to)
    ld sp, STACK_SP(\to)
    pop_link
    .endm

/* --- saving every register --------------------------------------------------
 * fs0..fs11 are kept by C.                                                       */
    .macro bucket_words i, f
    \i a0, BUCKET_A0(t0)
    \i a1, BUCKET_A1(t0)
    \i a2, BUCKET_A2(t0)
    \i a3, BUCKET_A3(t0)
    \i a4, BUCKET_A4(t0)
    \i a5, BUCKET_A5(t0)
    \i a6, BUCKET_A6(t0)
    \i a7, BUCKET_A7(t0)
    \i s2, BUCKET_S2(t0)
    \i s3, BUCKET_S3(t0)
    \i s4, BUCKET_S4(t0)
    \i s5, BUCKET_S5(t0)
    \i s6, BUCKET_S6(t0)
    \i s7, BUCKET_S7(t0)
    \i s8, BUCKET_S8(t0)
    \i s9, BUCKET_S9(t0)
    \i t2, BUCKET_T2(t0)
    \i t3, BUCKET_T3(t0)
    \i t4, BUCKET_T4(t0)
    \i t5, BUCKET_T5(t0)
    \i t6, BUCKET_T6(t0)
    \i s0, BUCKET_S0(t0)
    \f ft0, BUCKET_FT0(t0)
    \f ft1, BUCKET_FT1(t0)
    \f ft2, BUCKET_FT2(t0)
    \f ft3, BUCKET_FT3(t0)
    \f ft4, BUCKET_FT4(t0)
    \f ft5, BUCKET_FT5(t0)
    \f ft6, BUCKET_FT6(t0)
    \f ft7, BUCKET_FT7(t0)
    \f fa0, BUCKET_FA0(t0)
    \f fa1, BUCKET_FA1(t0)
    \f fa2, BUCKET_FA2(t0)
    \f fa3, BUCKET_FA3(t0)
    \f fa4, BUCKET_FA4(t0)
    \f fa5, BUCKET_FA5(t0)
    \f fa6, BUCKET_FA6(t0)
    \f fa7, BUCKET_FA7(t0)
    \f ft8, BUCKET_FT8(t0)
    \f ft9, BUCKET_FT9(t0)
    \f ft10, BUCKET_FT10(t0)
    \f ft11, BUCKET_FT11(t0)
    .endm

/* t0 := a bucket from the free list, with all allocatable registers in it.
 * dom.gc_regs := its registers. Uses t1. */
    .macro save_registers
    ld t0, DOM_GC_REGS_BUCKETS(s11)
    ld t1, BUCKET_NEXT(t0)
    sd t1, DOM_GC_REGS_BUCKETS(s11)
    bucket_words sd, fsd
    addi t1, t0, BUCKET_GC_REGS
    sd t1, DOM_GC_REGS(s11)
    .endm

/* t0 := the bucket of dom.gc_regs, free again. gc_regs is zero from here on: an
 * exception that leaves a collection is thus told from one that leaves a plain C
 * call (caml_raise_exception). Uses t1. */
    .macro release_bucket
    ld t0, DOM_GC_REGS(s11)
    sd zero, DOM_GC_REGS(s11)
    addi t0, t0, -BUCKET_GC_REGS
    ld t1, DOM_GC_REGS_BUCKETS(s11)
    sd t1, BUCKET_NEXT(t0)
    sd t0, DOM_GC_REGS_BUCKETS(s11)
    .endm

    .macro restore_registers
    release_bucket
    bucket_words ld, fld
    .endm

/* --- collection and allocation ----------------------------------------------- */

/* young_ptr is already lowered. caml_garbage_collection finds the return address
 * in the frametables, makes room and lowers young_ptr again: when this returns the
 * block is allocated, and compiled code does not try again. */
function caml_call_gc, 4
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

    .macro alloc_function name, op, operand
function \name, 4
    ld t1, DOM_YOUNG_LIMIT(s11)
    \op s10, s10, \operand
    bltu s10, t1, .Lcall_gc /* ra is the address in the frametable */
    ret
end_function \name
    .endm

alloc_function caml_alloc1, addi, -16
alloc_function caml_alloc2, addi, -24
alloc_function caml_alloc3, addi, -32
alloc_function caml_allocN, sub, t2

/* Called before a prologue when the frame might not fit:
 *
 *    |  caller       |
 *    |  ra           |  of the function that overflowed
 *    |  words needed |
 *    |  - ra         |  our link                                              */
function caml_call_realloc_stack, 4
    .cfi_signal_frame
    push_link
    save_traps
    save_registers
    ld a0, LINK(sp)
    fiber_to_c
    call_c caml_try_realloc_stack
    c_to_fiber
    beqz a0, .Lstack_overflow
    restore_registers
    reload_traps
    .cfi_remember_state
    pop_link
    ret
    .cfi_restore_state
.Lstack_overflow: /* raise in the function that overflowed */
    release_bucket
    reload_traps
    ld ra, LINK + 8(sp)
    .cfi_restore ra
    .cfi_def_cfa_offset LINK + 16
    addi sp, sp, LINK + 16
    .cfi_def_cfa_offset 0
    la a0, caml_exn_Stack_overflow
    j .Lraise_exn
end_function caml_call_realloc_stack

/* --- C calls --------------------------------------------------------------- */

/* t2 = function; its arguments are where C wants them. */
function caml_c_call, 4
    .cfi_signal_frame
.Lc_call:
    push_link
    save_traps
    fiber_to_c
    jalr t2
.Lc_called:
    c_to_fiber
    reload_traps
    pop_link
    ld t0, DOM_ACTION_PENDING(s11)
    bnez t0, 1f
    ret
1:  li t0, -1 /* the next allocation or poll will act */
    sd t0, DOM_YOUNG_LIMIT(s11)
    ret
end_function caml_c_call

/* t2 = function, [s3, s4) = words for its stack, a multiple of 16 bytes. s2 holds
 * the link:
 *
 *    s2   | stack sp prev |
 *         | words         |
 *    sp   |               |                                                     */
function caml_c_call_stack_args, 4
    .cfi_signal_frame
    push_link
    save_traps
    fiber_to_c
    mv s2, sp
    CFA_AT(S2, C_LINK_SP, LINK)
    j 2f
1:  addi s4, s4, -16
    addi sp, sp, -16
    ld t0, 0(s4)
    ld t1, 8(s4)
    sd t0, 0(sp)
    sd t1, 8(sp)
2:  bltu s3, s4, 1b
    jalr t2
    mv sp, s2
    j .Lc_called
end_function caml_c_call_stack_args

/* --- from C to OCaml ---------------------------------------------------------- */

/* value caml_start_program(dom *)
 *
 *    C stack                                 fiber
 *    CFA                                     |            | <- stack_info.sp
 *    CFA-208  ra s0..s11 fs0..fs11, pad      | gc_regs    | header
 *    CFA-224  link.prev, pad                 | C stack ------> link
 *             link.sp                        | handler    |
 *    CFA-240  link.stack <- c_stack          | exn_handler| <- sp, s1: trap frame
 */
#define START_SAVED 208
#define START_FRAME (START_SAVED + 32)


    .macro save_word op, reg, offset
    \op \reg, (\offset) + START_FRAME - START_SAVED(sp)
    .ifc \op, sd
    .cfi_rel_offset \reg, (\offset) + START_FRAME - START_SAVED
    .endif
    .ifc \op, fsd
    .cfi_rel_offset \reg, (\offset) + START_FRAME - START_SAVED
    .endif
    .ifc \op, ld
    .cfi_restore \reg
    .endif
    .ifc \op, fld
    .cfi_restore \reg
    .endif
    .endm

    .macro callee_saved i, f
    save_word \i, ra, 0
    save_word \i, s0, 8
    save_word \i, s1, 16
    save_word \i, s2, 24
    save_word \i, s3, 32
    save_word \i, s4, 40
    save_word \i, s5, 48
    save_word \i, s6, 56
    save_word \i, s7, 64
    save_word \i, s8, 72
    save_word \i, s9, 80
    save_word \i, s10, 88
    save_word \i, s11, 96
    save_word \f, fs0, 104
    save_word \f, fs1, 112
    save_word \f, fs2, 120
    save_word \f, fs3, 128
    save_word \f, fs4, 136
    save_word \f, fs5, 144
    save_word \f, fs6, 152
    save_word \f, fs7, 160
    save_word \f, fs8, 168
    save_word \f, fs9, 176
    save_word \f, fs10, 184
    save_word \f, fs11, 192
    .endm

function caml_start_program, 4
    .cfi_signal_frame
    mv t0, a0
    la t1, caml_program
.Lstart: /* t0 = dom, t1 = code, a0..a3 = its arguments */
    addi sp, sp, -START_FRAME
    .cfi_def_cfa_offset START_FRAME
    callee_saved sd, fsd
    mv s11, t0
    ld s10, DOM_YOUNG_PTR(s11)
    ld t3, DOM_C_STACK(s11)
    sd t3, C_LINK_PREV(sp)
    sd zero, C_LINK_STACK(sp) /* belongs to no fiber until fiber_to_c says so */
    sd zero, C_LINK_SP(sp)
    sd sp, DOM_C_STACK(s11)
    ld s1, DOM_CURRENT_STACK(s11)
    ld s1, STACK_SP(s1)
    addi s1, s1, -HEADER_SIZE
    sd sp, HEADER_C_STACK(s1)
    ld t3, DOM_GC_REGS(s11)
    sd t3, HEADER_SAVED_GC_REGS(s1)
    sd zero, DOM_GC_REGS(s11)
    ld t3, DOM_EXN_HANDLER(s11)
    sd t3, HEADER_EXN_HANDLER(s1)
    lla t3, .Lstart_handler
    sd t3, HEADER_PC(s1)
    mv sp, s1
    CFA_AT(SP, HEADER_C_STACK, START_FRAME)
    jalr t1
.Lstart_return:
    ld s1, HEADER_EXN_HANDLER(sp)
    addi sp, sp, TRAP_SIZE
.Lstart_leave: /* the trap frame is gone, s1 = outer trap pointer, a0 = result */
    CFA_AT(SP, HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    sd s1, DOM_EXN_HANDLER(s11)
    sd s10, DOM_YOUNG_PTR(s11)
    ld t0, HEADER_SAVED_GC_REGS - TRAP_SIZE(sp)
    sd t0, DOM_GC_REGS(s11)
    addi t0, sp, HEADER_SIZE - TRAP_SIZE
    ld t1, DOM_CURRENT_STACK(s11)
    sd t0, STACK_SP(t1)
    ld sp, DOM_C_STACK(s11)
    .cfi_def_cfa sp, START_FRAME
    ld t0, C_LINK_PREV(sp)
    sd t0, DOM_C_STACK(s11)
    .cfi_remember_state
    callee_saved ld, fld
    addi sp, sp, START_FRAME
    .cfi_def_cfa_offset 0
    ret
    .cfi_restore_state
.Lstart_handler: /* a0 = exception */
    CFA_AT(SP, HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    ori a0, a0, 2 /* an exception result */
    j .Lstart_leave
end_function caml_start_program

/* value caml_callbackN_asm(dom *, value closure, value *args) */
function caml_callback_asm, 4
    mv t0, a0
    ld t1, 0(a1)
    ld a0, 0(a2)
    j .Lstart
end_function caml_callback_asm

function caml_callback2_asm, 4
    mv t0, a0
    mv t2, a1
    ld a0, 0(a2)
    ld a1, 8(a2)
    mv a2, t2
    la t1, caml_apply2
    j .Lstart
end_function caml_callback2_asm

function caml_callback3_asm, 4
    mv t0, a0
    mv a3, a1
    ld a0, 0(a2)
    ld a1, 8(a2)
    ld a2, 16(a2)
    la t1, caml_apply3
    j .Lstart
end_function caml_callback3_asm

/* --- exceptions ---------------------------------------------------------------- */

/* a0 = exception. The handler gets it in a0, with SP above its trap frame. From the
 * moment SP is cut the caller to unwind to is the handler's function. */
    .macro cut_to_handler
    mv sp, s1
    .cfi_def_cfa sp, TRAP_SIZE
    .cfi_offset ra, TRAP_HANDLER - TRAP_SIZE
    ld t1, TRAP_HANDLER(sp)
    ld s1, TRAP_PREVIOUS(sp)
    addi sp, sp, TRAP_SIZE
    .cfi_def_cfa_offset 0
    .cfi_register ra, t1
    jr t1
    .endm

function caml_raise_exn, 4
    .cfi_signal_frame
.Lraise_exn:
    ld t0, DOM_BACKTRACE_ACTIVE(s11)
    bnez t0, .Lraise_traced
.Lraise_untraced:
    .cfi_remember_state
    cut_to_handler
    .cfi_restore_state
.Lraise_traced:
    sd zero, DOM_BACKTRACE_POS(s11)
.Lreraise_traced: /* caml_stash_backtrace(exception, pc, sp, trap pointer) */
    mv s3, sp
    .cfi_def_cfa s3, 0
    mv s4, ra
    .cfi_register ra, s4
    mv s2, a0
    mv a1, ra
    mv a2, sp
    mv a3, s1
    ld sp, DOM_C_STACK(s11)
    call_c caml_stash_backtrace
    mv a0, s2
    cut_to_handler
end_function caml_raise_exn

/* The same for an exception that goes on: its backtrace is kept and extended. */
function caml_reraise_exn, 4
    ld t0, DOM_BACKTRACE_ACTIVE(s11)
    beqz t0, .Lraise_untraced
    j .Lreraise_traced
end_function caml_reraise_exn

/* void caml_raise_exception(dom *, value exception), from C; does not return.
 * C left the fiber at stack_info.sp, with the link of that call on top. */
function caml_raise_exception, 4
    .cfi_signal_frame
    mv s11, a0
    .cfi_undefined s11
    mv a0, a1
    ld t0, DOM_GC_REGS(s11)
    beqz t0, 1f
    release_bucket /* the exception leaves a collection */
1:  reload_traps
    .cfi_undefined s1
    .cfi_undefined s10
    ld t0, DOM_CURRENT_STACK(s11)
    ld sp, STACK_SP(t0)
    .cfi_same_value s1
    .cfi_same_value s10
    .cfi_same_value s11
    .cfi_def_cfa_offset LINK
    .cfi_offset ra, LINK_RA - LINK
    pop_link
    j .Lraise_exn
end_function caml_raise_exception

function caml_ml_array_bound_error, 4
    la t2, caml_array_bound_error_asm
    j .Lc_call
end_function caml_ml_array_bound_error

/* --- effects -------------------------------------------------------------------
 * A continuation holds, both as address + 1: [0] the fiber that performed, [8] the
 * last fiber of the chain that a resume brings back. Handlers run on the parent. */

/* a0 = effect, a1 = continuation */
function caml_perform, 4
    ld t3, DOM_CURRENT_STACK(s11)
    addi a2, t3, 1
    sd a2, 0(a1)
.Lperform: /* t3 = current fiber, a2 = it + 1 = the last of the chain */
    sd a2, 8(a1)
    ld t5, STACK_HANDLER(t3)
    ld t4, HANDLER_PARENT(t5)
    beqz t4, .Lunhandled
    switch_fiber t3, t4
    sd zero, HANDLER_PARENT(t5) /* the performer is off the chain */
    ld a3, HANDLER_EFFECT(t5)
    la t1, caml_apply3 /* effect, continuation, last fiber */
    jr t1
.Lunhandled: /* back to the performer, and raise there */
    ld t4, 0(a1)
    addi t4, t4, -1
    switch_fiber t3, t4
    la t2, caml_raise_unhandled_effect
    j .Lc_call
end_function caml_perform

/* a0 = effect, a1 = continuation, a2 = last fiber + 1: hang the current fiber under
 * the chain and go on to its parent. */
function caml_reperform, 4
    ld t3, DOM_CURRENT_STACK(s11)
    ld t4, STACK_HANDLER - 1(a2)
    sd t3, HANDLER_PARENT(t4)
    addi a2, t3, 1
    j .Lperform
end_function caml_reperform

/* a0 = fiber + 1, a1 = function, a2 = argument, a3 = last fiber + 1 */
function caml_resume, 4
    addi t4, a0, -1
    mv a0, a2
    beqz t4, .Lalready_resumed
    ld t3, DOM_CURRENT_STACK(s11)
    ld t5, STACK_HANDLER - 1(a3)
    sd t3, HANDLER_PARENT(t5)
    switch_fiber t3, t4
    ld t1, 0(a1)
    jr t1
.Lalready_resumed:
    la t2, caml_raise_continuation_already_resumed
    j .Lc_call
end_function caml_resume

/* a0 = new fiber + 1, a1 = function, a2 = argument. Calls it on the new fiber:
 *
 *    new fiber      | parent       | stack_handler (16-aligned)
 *                   | effect       |
 *                   | exn          |
 *                   | value        |
 *                   | (2 words)    | header
 *                   | handler      |
 *                   | exn. pointer | <- sp, s1
 *
 * then frees the fiber and goes on, with its result or exception, to handle_value
 * or handle_exn on the parent. CFA: parent->sp + LINK. */
#define CFA_PARENT(offset) CFA_AT_AT(SP, (offset) + HANDLER_PARENT, STACK_SP, LINK)

function caml_runstack, 4
    .cfi_signal_frame
    push_link
    addi a0, a0, -1
    ld t3, DOM_CURRENT_STACK(s11)
    sd sp, STACK_SP(t3)
    sd s1, STACK_EXCEPTION(t3)
    ld t5, STACK_HANDLER(a0)
    sd t3, HANDLER_PARENT(t5)
    sd a0, DOM_CURRENT_STACK(s11)
    ld s1, STACK_SP(a0)
    addi s1, s1, -HEADER_SIZE
    ld t3, STACK_EXCEPTION(a0)
    sd t3, HEADER_EXN_HANDLER(s1)
    lla t3, .Lfiber_handler
    sd t3, HEADER_PC(s1)
    mv sp, s1
    CFA_PARENT(HEADER_SIZE)
    mv a0, a2
    ld t1, 0(a1)
    jalr t1
.Lrunstack_return:
    addi sp, sp, TRAP_SIZE
    CFA_PARENT(HEADER_SIZE - TRAP_SIZE)
    ld s4, HEADER_SIZE - TRAP_SIZE + HANDLER_VALUE(sp)
.Lfiber_done: /* a0 = value or exception, s4 = closure that wants it */
    mv s3, a0
    ld t3, HEADER_SIZE - TRAP_SIZE + HANDLER_PARENT(sp)
    ld s2, STACK_SP(t3)
    .cfi_remember_state
    .cfi_def_cfa s2, LINK
    ld s1, STACK_EXCEPTION(t3)
    ld a0, DOM_CURRENT_STACK(s11)
    sd t3, DOM_CURRENT_STACK(s11)
    ld sp, DOM_C_STACK(s11)
    call_c caml_free_stack
    mv sp, s2
    .cfi_def_cfa sp, LINK
    mv a0, s3
    mv a1, s4
    ld t1, 0(a1)
    pop_link
    jr t1
    .cfi_restore_state
.Lfiber_handler: /* the trap frame is gone, a0 = exception */
    ld s4, HEADER_SIZE - TRAP_SIZE + HANDLER_EXN(sp)
    j .Lfiber_done
end_function caml_runstack

label caml_system__code_end

system_frametable .Lstart_return, .Lrunstack_return
