/* power.S - runtime stubs, ppc64le ELFv2, OCaml 5.3 and 5.4 ABI.
 *
 *   r30  domain state   r3..r10 r14..r21  arguments 1..16; r3 result and exception
 *   r31  young_ptr      r25  C function; r24  bytes of stack arguments
 *   r29  trap pointer   r27  size for caml_call_realloc_stack, whose caller keeps
 *   r1   SP, r2  TOC         its own return address in r28
 *   r0 r11 r12 ctr      dead at every entry: PLT stubs use them
 *
 * The 32 bytes at every SP, on both kinds of stack, belong to whoever is called:
 *
 *    24(r1)  TOC of the frame's owner, while a linker stub or we call for it
 *    16(r1)  return address of the callee
 *     8(r1)  TOC of an OCaml callee (condition register of a C callee)
 *     0(r1)  back chain (C only)
 *
 * A trap frame is 0(r29) = previous trap pointer, 8(r29) = handler; r29 = r1 + 32.
 * dom.exn_handler holds the trap pointer only while C runs.
 *
 * C is called on the C stack, so with plain `bl`. Addresses of OCaml code in other
 * objects come from the GOT, with 32-bit offsets: programs outgrow 16-bit ones.
 */
#include "stubs/stubs.h"

#define R1 1 /* DWARF numbers */
#define R26 26
#define R28 28
#define LR 65

#define LR_SAVE 16
#define TOC_SAVE 24

#if BUCKET_GC_REGS != 0 || BUCKET_R3 != BUCKET_NEXT
#error "the bucket's link and r3's slot are one word here"
#endif

    .abiversion 2
    .text
label caml_hot.code_begin
label caml_hot.code_end
label caml_system__code_begin
    .long 0 /* illegal; so that code_begin names no stub */

/* Entered through a pointer (r12 = address), or at the local entry with r2 set. */
    .macro stub name
function \name, 4
0:  addis %r2, %r12, .TOC. - 0b@ha
    addi %r2, %r2, .TOC. - 0b@l
    .localentry \name, . - \name
    .endm

    .macro call_c symbol
    bl \symbol
    nop /* the linker makes it `ld r2, 24(r1)` when it has to */
    .endm

    .macro load_got reg, symbol
    addis \reg, %r2, \symbol@got@ha
    ld \reg, \symbol@got@l(\reg)
    .endm

/* --- switching stacks ------------------------------------------------------
 * A suspended fiber:
 *                |  caller's frame   |
 *                |  return address   |  +16
 *                |                   | <- stack_info.sp, CFA                      */

    .macro push_link
    mflr %r0
    std %r0, LR_SAVE(%r1)
    .cfi_offset LR, LR_SAVE
    .endm

    .macro pop_link
    ld %r0, LR_SAVE(%r1)
    mtlr %r0
    .cfi_restore LR
    .endm

/* Fiber (link pushed) to C. Uses r11, r12.
 *
 *    C stack           | prev     |             fiber     | ret. address |
 *                      | sp       |  ------------------>  |              | <- stack_info.sp
 *                      | stack    |
 *    r1, dom.c_stack   | reserved |  32 bytes                                    */
    .macro fiber_to_c
    ld %r11, DOM_CURRENT_STACK(%r30)
    ld %r12, DOM_C_STACK(%r30)
    std %r1, STACK_SP(%r11)
    std %r11, C_LINK_STACK(%r12)
    std %r1, C_LINK_SP(%r12)
    mr %r1, %r12
    CFA_AT(R1, C_LINK_SP, 0)
    .endm

    .macro c_to_fiber
    ld %r1, C_LINK_SP(%r1)
    .cfi_def_cfa R1, 0
    .endm

    .macro save_traps
    std %r31, DOM_YOUNG_PTR(%r30)
    std %r29, DOM_EXN_HANDLER(%r30)
    .endm

    .macro reload_traps
    ld %r31, DOM_YOUNG_PTR(%r30)
    ld %r29, DOM_EXN_HANDLER(%r30)
    .endm

/* Fiber `from` (current) to fiber `to`. Uses r0. */
    .macro switch_fiber from, to
    push_link
    std %r1, STACK_SP(\from)
    std %r29, STACK_EXCEPTION(\from)
    std \to, DOM_CURRENT_STACK(%r30)
    ld %r29, STACK_EXCEPTION(\to)
    ld %r1, STACK_SP(\to)
    pop_link
    .endm

/* --- saving every register --------------------------------------------------
 * All but r3, whose word is the bucket's link. f14..f31 are kept by C.           */
    .macro bucket_words i, f
    \i %r4, BUCKET_R4(%r11)
    \i %r5, BUCKET_R5(%r11)
    \i %r6, BUCKET_R6(%r11)
    \i %r7, BUCKET_R7(%r11)
    \i %r8, BUCKET_R8(%r11)
    \i %r9, BUCKET_R9(%r11)
    \i %r10, BUCKET_R10(%r11)
    \i %r14, BUCKET_R14(%r11)
    \i %r15, BUCKET_R15(%r11)
    \i %r16, BUCKET_R16(%r11)
    \i %r17, BUCKET_R17(%r11)
    \i %r18, BUCKET_R18(%r11)
    \i %r19, BUCKET_R19(%r11)
    \i %r20, BUCKET_R20(%r11)
    \i %r21, BUCKET_R21(%r11)
    \i %r22, BUCKET_R22(%r11)
    \i %r23, BUCKET_R23(%r11)
    \i %r24, BUCKET_R24(%r11)
    \i %r25, BUCKET_R25(%r11)
    \i %r26, BUCKET_R26(%r11)
    \i %r27, BUCKET_R27(%r11)
    \i %r28, BUCKET_R28(%r11)
    \f %f0, BUCKET_F0(%r11)
    \f %f1, BUCKET_F1(%r11)
    \f %f2, BUCKET_F2(%r11)
    \f %f3, BUCKET_F3(%r11)
    \f %f4, BUCKET_F4(%r11)
    \f %f5, BUCKET_F5(%r11)
    \f %f6, BUCKET_F6(%r11)
    \f %f7, BUCKET_F7(%r11)
    \f %f8, BUCKET_F8(%r11)
    \f %f9, BUCKET_F9(%r11)
    \f %f10, BUCKET_F10(%r11)
    \f %f11, BUCKET_F11(%r11)
    \f %f12, BUCKET_F12(%r11)
    \f %f13, BUCKET_F13(%r11)
    .endm

/* r11 := a bucket from the free list, with all allocatable registers in it.
 * dom.gc_regs := its registers. Uses r0. */
    .macro save_registers
    ld %r11, DOM_GC_REGS_BUCKETS(%r30)
    ld %r0, BUCKET_NEXT(%r11)
    std %r0, DOM_GC_REGS_BUCKETS(%r30)
    std %r3, BUCKET_R3(%r11) /* over the link */
    bucket_words std, stfd
    std %r11, DOM_GC_REGS(%r30)
    .endm

/* Frees the bucket r11 = dom.gc_regs. gc_regs is zero from here on: an exception
 * that leaves a collection is thus told from one that leaves a plain C call
 * (caml_raise_exception). Uses r0. */
    .macro release_bucket
    li %r0, 0
    std %r0, DOM_GC_REGS(%r30)
    ld %r0, DOM_GC_REGS_BUCKETS(%r30)
    std %r0, BUCKET_NEXT(%r11)
    std %r11, DOM_GC_REGS_BUCKETS(%r30)
    .endm

/* r3 leaves its word before the link enters it. */
    .macro restore_registers
    ld %r11, DOM_GC_REGS(%r30)
    ld %r3, BUCKET_R3(%r11)
    release_bucket
    bucket_words ld, lfd
    .endm

/* --- collection ------------------------------------------------------------ */

/* young_ptr is already lowered. caml_garbage_collection finds the return address
 * in the frametables, makes room and lowers young_ptr again: when this returns the
 * block is allocated, and compiled code does not try again. The caller comes with a
 * `bctr` from code shared by its function, which left the caller's TOC at 24(r1). */
stub caml_call_gc
    .cfi_signal_frame
    push_link
    save_traps
    save_registers
    fiber_to_c
    call_c caml_garbage_collection
    c_to_fiber
    restore_registers
    reload_traps
    pop_link
    ld %r2, TOC_SAVE(%r1)
    blr
end_function caml_call_gc

/* Called before a prologue when the frame might not fit. */
stub caml_call_realloc_stack
    .cfi_signal_frame
    push_link
    save_traps
    save_registers
    mr %r3, %r27
    fiber_to_c
    call_c caml_try_realloc_stack
    c_to_fiber
    cmpwi %r3, 0
    beq .Lstack_overflow
    restore_registers
    reload_traps
    .cfi_remember_state
    pop_link
    blr
    .cfi_restore_state
.Lstack_overflow: /* raise in the function that overflowed */
    ld %r11, DOM_GC_REGS(%r30)
    release_bucket
    reload_traps
    mtlr %r28
    .cfi_restore LR
    load_got %r3, caml_exn_Stack_overflow
    b .Lraise_exn
end_function caml_call_realloc_stack

/* --- C calls --------------------------------------------------------------- */

/* r25 = function; its arguments are where C wants them. r2 is kept. */
stub caml_c_call
    .cfi_signal_frame
.Lc_call:
    push_link
    save_traps
    fiber_to_c
    std %r2, TOC_SAVE(%r1)
    mr %r12, %r25
    mtctr %r12
    bctrl
    ld %r2, TOC_SAVE(%r1)
.Lc_called:
    c_to_fiber
    reload_traps
    pop_link
    ld %r11, DOM_ACTION_PENDING(%r30)
    cmpdi %r11, 0
    bne 1f
    blr
1:  li %r11, -1 /* the next allocation or poll will act */
    std %r11, DOM_YOUNG_LIMIT(%r30)
    blr
end_function caml_c_call

/* r25 = function, r24 = bytes at r1+32 for its stack, a multiple of 16. r28 holds
 * the link, r27 the fiber's SP:
 *
 *    r28      | reserved, stack sp prev |
 *    r1+32    | words                   |
 *    r1       | reserved                |                                        */
stub caml_c_call_stack_args
    .cfi_signal_frame
    push_link
    save_traps
    mr %r27, %r1
    fiber_to_c
    mr %r28, %r1
    CFA_AT(R28, C_LINK_SP, 0)
    subfic %r0, %r24, -FRAME_RESERVED
    stdux %r1, %r1, %r0
    addi %r11, %r24, FRAME_RESERVED
    b 2f
1:  ldx %r0, %r27, %r11
    stdx %r0, %r1, %r11
2:  addi %r11, %r11, -8
    cmpdi %r11, FRAME_RESERVED
    bge 1b
    std %r2, TOC_SAVE(%r1)
    mr %r12, %r25
    mtctr %r12
    bctrl
    ld %r2, TOC_SAVE(%r1)
    mr %r1, %r28
    b .Lc_called
end_function caml_c_call_stack_args

/* --- from C to OCaml ---------------------------------------------------------- */

/* value caml_start_program(dom *)
 *
 *    C stack                                 fiber
 *    CFA+16   return address                 |            | <- stack_info.sp
 *    CFA      caller's frame                 | gc_regs    | header
 *    CFA-144  f14..f31                       | C stack ------> link
 *    CFA-288  r14..r31                       | handler    |
 *             r2                             | exn_handler| <- r29: trap frame
 *             link.prev sp stack             | reserved   | 32 bytes
 *    CFA-352  reserved <- c_stack            |            | <- r1
 */
#define START_TOC C_LINK_SIZE
#define START_R14 (START_TOC + 8)
#define START_F14 (START_R14 + 18 * 8)
#define START_FRAME (START_F14 + 18 * 8)

    .macro save_word op, prefix, n, offset
    \op %\prefix\n, \offset(%r1)
    .ifc \op, std
    .cfi_rel_offset \n, \offset
    .endif
    .ifc \op, stfd
    .cfi_rel_offset 32 + \n, \offset
    .endif
    .ifc \op, ld
    .cfi_restore \n
    .endif
    .ifc \op, lfd
    .cfi_restore 32 + \n
    .endif
    .endm

    .macro callee_saved i, f
    .irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    save_word \i, r, \n, START_R14 + 8 * (\n - 14)
    save_word \f, f, \n, START_F14 + 8 * (\n - 14)
    .endr
    .endm

stub caml_start_program
    .cfi_signal_frame
    mr %r7, %r3
    load_got %r12, caml_program
.Lstart: /* r7 = dom, r12 = code, r3..r6 = its arguments */
    push_link
    stdu %r1, -START_FRAME(%r1)
    .cfi_def_cfa_offset START_FRAME
    callee_saved std, stfd
    std %r2, START_TOC(%r1) /* 24(r1) serves whoever calls C */
    mr %r30, %r7
    ld %r31, DOM_YOUNG_PTR(%r30)
    ld %r0, DOM_C_STACK(%r30)
    std %r0, C_LINK_PREV(%r1)
    li %r0, 0 /* belongs to no fiber until fiber_to_c says so */
    std %r0, C_LINK_STACK(%r1)
    std %r0, C_LINK_SP(%r1)
    std %r1, DOM_C_STACK(%r30)
    ld %r11, DOM_CURRENT_STACK(%r30)
    ld %r29, STACK_SP(%r11)
    addi %r29, %r29, FRAME_RESERVED - HEADER_SIZE
    std %r1, HEADER_C_STACK(%r29)
    ld %r11, DOM_GC_REGS(%r30)
    std %r11, HEADER_SAVED_GC_REGS(%r29)
    std %r0, DOM_GC_REGS(%r30)
    ld %r11, DOM_EXN_HANDLER(%r30)
    std %r11, HEADER_EXN_HANDLER(%r29)
    addis %r11, %r2, .Lstart_handler@toc@ha
    addi %r11, %r11, .Lstart_handler@toc@l
    std %r11, HEADER_PC(%r29)
    addi %r1, %r29, -FRAME_RESERVED
    CFA_AT(R1, FRAME_RESERVED + HEADER_C_STACK, START_FRAME)
    mtctr %r12
    bctrl
.Lstart_return:
    ld %r29, FRAME_RESERVED + HEADER_EXN_HANDLER(%r1)
    addi %r1, %r1, TRAP_SIZE
.Lstart_leave: /* the trap frame is gone, r29 = outer trap pointer, r3 = result */
    CFA_AT(R1, FRAME_RESERVED + HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    std %r29, DOM_EXN_HANDLER(%r30)
    std %r31, DOM_YOUNG_PTR(%r30)
    ld %r0, FRAME_RESERVED + HEADER_SAVED_GC_REGS - TRAP_SIZE(%r1)
    std %r0, DOM_GC_REGS(%r30)
    addi %r0, %r1, HEADER_SIZE - TRAP_SIZE
    ld %r11, DOM_CURRENT_STACK(%r30)
    std %r0, STACK_SP(%r11)
    ld %r1, DOM_C_STACK(%r30)
    .cfi_def_cfa R1, START_FRAME
    ld %r0, C_LINK_PREV(%r1)
    std %r0, DOM_C_STACK(%r30)
    ld %r2, START_TOC(%r1)
    .cfi_remember_state
    callee_saved ld, lfd
    addi %r1, %r1, START_FRAME
    .cfi_def_cfa_offset 0
    pop_link
    blr
    .cfi_restore_state
.Lstart_handler: /* r3 = exception */
    CFA_AT(R1, FRAME_RESERVED + HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    ori %r3, %r3, 2 /* an exception result */
    b .Lstart_leave
end_function caml_start_program

/* value caml_callbackN_asm(dom *, value closure, value *args) */
stub caml_callback_asm
    mr %r7, %r3
    ld %r3, 0(%r5)
    ld %r12, 0(%r4)
    b .Lstart
end_function caml_callback_asm

stub caml_callback2_asm
    mr %r7, %r3
    mr %r8, %r4
    ld %r3, 0(%r5)
    ld %r4, 8(%r5)
    mr %r5, %r8
    load_got %r12, caml_apply2
    b .Lstart
end_function caml_callback2_asm

stub caml_callback3_asm
    mr %r7, %r3
    mr %r6, %r4
    ld %r3, 0(%r5)
    ld %r4, 8(%r5)
    ld %r5, 16(%r5)
    load_got %r12, caml_apply3
    b .Lstart
end_function caml_callback3_asm

/* --- exceptions ---------------------------------------------------------------- */

/* r3 = exception. The handler gets it in r3, with SP as before its trap frame was
 * pushed, that is with the trap frame in the 32 bytes of the callee:
 *
 *    24(r1)  handler         16(r1)  previous trap pointer
 *
 * From the moment SP is cut the caller to unwind to is the handler's function. */
    .macro cut_to_handler
    ld %r0, TRAP_HANDLER(%r29)
    mtctr %r0
    addi %r1, %r29, TRAP_SIZE - FRAME_RESERVED
    .cfi_def_cfa R1, 0
    .cfi_offset LR, FRAME_RESERVED - TRAP_SIZE + TRAP_HANDLER
    ld %r29, TRAP_PREVIOUS(%r29)
    bctr
    .endm

stub caml_raise_exn
    .cfi_signal_frame
.Lraise_exn:
    ld %r0, DOM_BACKTRACE_ACTIVE(%r30)
    cmpdi %r0, 0
    bne .Lraise_traced
.Lraise_untraced:
    .cfi_remember_state
    cut_to_handler
    .cfi_restore_state
.Lraise_traced:
    li %r0, 0
    std %r0, DOM_BACKTRACE_POS(%r30)
.Lreraise_traced: /* caml_stash_backtrace(exception, pc, sp, trap pointer) */
    mr %r28, %r1
    .cfi_def_cfa R28, 0
    mflr %r26
    .cfi_register LR, R26
    mr %r27, %r3
    mr %r4, %r26
    mr %r5, %r1
    mr %r6, %r29
    ld %r1, DOM_C_STACK(%r30)
    call_c caml_stash_backtrace
    mr %r3, %r27
    cut_to_handler
end_function caml_raise_exn

/* The same for an exception that goes on: its backtrace is kept and extended. */
stub caml_reraise_exn
    ld %r0, DOM_BACKTRACE_ACTIVE(%r30)
    cmpdi %r0, 0
    beq .Lraise_untraced
    b .Lreraise_traced
end_function caml_reraise_exn

/* void caml_raise_exception(dom *, value exception), from C; does not return.
 * C left the fiber at stack_info.sp, the return address of that call at 16(sp). */
stub caml_raise_exception
    .cfi_signal_frame
    mr %r30, %r3
    .cfi_undefined 30
    mr %r3, %r4
    ld %r11, DOM_GC_REGS(%r30)
    cmpdi %r11, 0
    beq 1f
    release_bucket /* the exception leaves a collection */
1:  reload_traps
    .cfi_undefined 29
    .cfi_undefined 31
    ld %r11, DOM_CURRENT_STACK(%r30)
    ld %r1, STACK_SP(%r11)
    .cfi_same_value 29
    .cfi_same_value 30
    .cfi_same_value 31
    .cfi_offset LR, LR_SAVE
    pop_link
    b .Lraise_exn
end_function caml_raise_exception

stub caml_ml_array_bound_error
    load_got %r25, caml_array_bound_error_asm
    b .Lc_call
end_function caml_ml_array_bound_error

/* --- effects -------------------------------------------------------------------
 * A continuation holds, both as address + 1: [0] the fiber that performed, [8] the
 * last fiber of the chain that a resume brings back. Handlers run on the parent. */

/* r3 = effect, r4 = continuation */
stub caml_perform
    ld %r7, DOM_CURRENT_STACK(%r30)
    addi %r5, %r7, 1
    std %r5, 0(%r4)
.Lperform: /* r7 = current fiber, r5 = it + 1 = the last of the chain */
    std %r5, 8(%r4)
    ld %r8, STACK_HANDLER(%r7)
    ld %r9, HANDLER_PARENT(%r8)
    cmpdi %r9, 0
    beq .Lunhandled
    switch_fiber %r7, %r9
    li %r0, 0
    std %r0, HANDLER_PARENT(%r8) /* the performer is off the chain */
    ld %r6, HANDLER_EFFECT(%r8)
    load_got %r12, caml_apply3 /* effect, continuation, last fiber */
    mtctr %r12
    bctr
.Lunhandled: /* back to the performer, and raise there */
    ld %r9, 0(%r4)
    addi %r9, %r9, -1
    switch_fiber %r7, %r9
    load_got %r25, caml_raise_unhandled_effect
    b .Lc_call
end_function caml_perform

/* r3 = effect, r4 = continuation, r5 = last fiber + 1: hang the current fiber under
 * the chain and go on to its parent. */
stub caml_reperform
    addi %r5, %r5, -1
    ld %r9, STACK_HANDLER(%r5)
    ld %r7, DOM_CURRENT_STACK(%r30)
    std %r7, HANDLER_PARENT(%r9)
    addi %r5, %r7, 1
    b .Lperform
end_function caml_reperform

/* r3 = fiber + 1, r4 = function, r5 = argument, r6 = last fiber + 1 */
stub caml_resume
    addi %r9, %r3, -1
    mr %r3, %r5
    cmpdi %r9, 0
    beq .Lalready_resumed
    addi %r6, %r6, -1
    ld %r8, STACK_HANDLER(%r6)
    ld %r7, DOM_CURRENT_STACK(%r30)
    std %r7, HANDLER_PARENT(%r8)
    switch_fiber %r7, %r9
    ld %r12, 0(%r4)
    mtctr %r12
    bctr
.Lalready_resumed:
    load_got %r25, caml_raise_continuation_already_resumed
    b .Lc_call
end_function caml_resume

/* r3 = new fiber + 1, r4 = function, r5 = argument. Calls it on the new fiber:
 *
 *    new fiber      | parent       | stack_handler (16-aligned)
 *                   | effect       |
 *                   | exn          |
 *                   | value        |
 *                   | (2 words)    | header
 *                   | handler      |
 *                   | exn. pointer | <- r29
 *                   | reserved     | 32 bytes
 *                   |              | <- r1
 *
 * then frees the fiber and goes on, with its result or exception, to handle_value
 * or handle_exn on the parent. CFA: parent->sp. */
#define CFA_PARENT(offset) CFA_AT_AT(R1, (offset) + HANDLER_PARENT, STACK_SP, 0)

stub caml_runstack
    .cfi_signal_frame
    push_link
    addi %r3, %r3, -1
    ld %r7, DOM_CURRENT_STACK(%r30)
    std %r1, STACK_SP(%r7)
    std %r29, STACK_EXCEPTION(%r7)
    ld %r8, STACK_HANDLER(%r3)
    std %r7, HANDLER_PARENT(%r8)
    std %r3, DOM_CURRENT_STACK(%r30)
    ld %r29, STACK_SP(%r3)
    addi %r29, %r29, FRAME_RESERVED - HEADER_SIZE
    ld %r0, STACK_EXCEPTION(%r3)
    std %r0, HEADER_EXN_HANDLER(%r29)
    addis %r11, %r2, .Lfiber_handler@toc@ha
    addi %r11, %r11, .Lfiber_handler@toc@l
    std %r11, HEADER_PC(%r29)
    addi %r1, %r29, -FRAME_RESERVED
    CFA_PARENT(HEADER_SIZE)
    mr %r3, %r5
    ld %r12, 0(%r4)
    mtctr %r12
    bctrl
.Lrunstack_return:
    addi %r1, %r1, TRAP_SIZE
    CFA_PARENT(HEADER_SIZE - TRAP_SIZE)
    ld %r25, HEADER_SIZE - TRAP_SIZE + HANDLER_VALUE(%r1)
.Lfiber_done: /* r3 = value or exception, r25 = closure that wants it */
    mr %r26, %r3
    ld %r7, HEADER_SIZE - TRAP_SIZE + HANDLER_PARENT(%r1)
    ld %r27, STACK_SP(%r7)
    .cfi_remember_state
    .cfi_def_cfa 27, 0
    ld %r29, STACK_EXCEPTION(%r7)
    ld %r3, DOM_CURRENT_STACK(%r30)
    std %r7, DOM_CURRENT_STACK(%r30)
    ld %r1, DOM_C_STACK(%r30)
    /* r2 is the TOC of whatever ran last. No slot of the parent holds ours: the
     * parent may have come here through caml_resume. */
    bcl 20, 31, 1f
1:  mflr %r12
    addis %r2, %r12, .TOC. - 1b@ha
    addi %r2, %r2, .TOC. - 1b@l
    call_c caml_free_stack
    mr %r1, %r27
    .cfi_def_cfa R1, 0
    mr %r3, %r26
    mr %r4, %r25
    ld %r12, 0(%r4)
    mtctr %r12
    pop_link
    bctr
    .cfi_restore_state
.Lfiber_handler: /* the trap frame is gone, r3 = exception */
    ld %r25, HEADER_SIZE - TRAP_SIZE + HANDLER_EXN(%r1)
    b .Lfiber_done
end_function caml_runstack

label caml_system__code_end

system_frametable .Lstart_return, .Lrunstack_return
