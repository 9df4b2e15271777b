/* amd64.S - runtime stubs, System V x86-64, OCaml 5.3 and 5.4 ABI.
 *
 *   r14  domain state      rax  1st argument, result, exception, C function
 *   r15  young_ptr         rbx rdi rsi rdx rcx r8 r9 r12 r13  arguments 2..10
 *   rsp  fiber or C stack  r10 r11  dead at every entry (a PLT stub may use them)
 *
 * The trap pointer lives in memory only: dom.exn_handler. A trap frame is
 * [rsp] = previous trap pointer, [rsp+8] = handler.
 *
 * C functions and OCaml functions of other objects are reached through the GOT:
 * a lazily bound PLT entry would run the dynamic linker on a fiber.
 */
#include "stubs/stubs.h"

#define RBX 3 /* DWARF numbers */
#define RSP 7
#define R14 14
#define R15 15
#define RA 16

#if BUCKET_GC_REGS != 0 || BUCKET_RAX != BUCKET_NEXT
#error "the bucket's link and rax's slot are one word here"
#endif

    .text
label caml_hot.code_begin
label caml_hot.code_end
label caml_system__code_begin
    hlt /* so that code_begin names no stub */

/* --- switching stacks ------------------------------------------------------ */

/* Fiber to C. CFA: return address on the fiber at *(link.sp).   Uses r10, r11.
 *
 *    C stack       |        |              fiber     |  caller  |
 *                  | prev   |                        |  ret. a. | <- link.sp,
 *                  | sp     |                        +----------+    stack_info.sp
 *    rsp, c_stack  | stack  |                                            */
    .macro fiber_to_c
    movq DOM_CURRENT_STACK(%r14), %r10
    movq DOM_C_STACK(%r14), %r11
    movq %rsp, STACK_SP(%r10)
    movq %r10, C_LINK_STACK(%r11)
    movq %rsp, C_LINK_SP(%r11)
    movq %r11, %rsp
    CFA_AT(RSP, C_LINK_SP, 8)
    .endm

    .macro c_to_fiber
    movq C_LINK_SP(%rsp), %rsp
    .cfi_def_cfa rsp, 8
    .endm

/* Fiber `from` (current) to fiber `to`; the return address stays on each. */
    .macro switch_fiber from, to, tmp
    movq %rsp, STACK_SP(\from)
    movq DOM_EXN_HANDLER(%r14), \tmp
    movq \tmp, STACK_EXCEPTION(\from)
    movq \to, DOM_CURRENT_STACK(%r14)
    movq STACK_SP(\to), %rsp
    movq STACK_EXCEPTION(\to), \tmp
    movq \tmp, DOM_EXN_HANDLER(%r14)
    .endm

/* --- saving every register -------------------------------------------------- */

/* r15 := a bucket from the free list, with all allocatable registers in it;
 * young_ptr goes to the domain state. */
    .macro save_registers
    movq %r15, DOM_YOUNG_PTR(%r14)
    SAVED_AT(R15, R14, DOM_YOUNG_PTR)
    movq DOM_GC_REGS_BUCKETS(%r14), %r15
    movq %r11, BUCKET_R11(%r15)
    movq BUCKET_NEXT(%r15), %r11
    movq %r11, DOM_GC_REGS_BUCKETS(%r14)
    movq %rax, BUCKET_RAX(%r15) /* over the link */
    movq %rbx, BUCKET_RBX(%r15)
    movq %rdi, BUCKET_RDI(%r15)
    movq %rsi, BUCKET_RSI(%r15)
    movq %rdx, BUCKET_RDX(%r15)
    movq %rcx, BUCKET_RCX(%r15)
    movq %r8, BUCKET_R8(%r15)
    movq %r9, BUCKET_R9(%r15)
    movq %r12, BUCKET_R12(%r15)
    movq %r13, BUCKET_R13(%r15)
    movq %r10, BUCKET_R10(%r15)
    movq %rbp, BUCKET_RBP(%r15)
    movsd %xmm0, BUCKET_XMM0(%r15)
    movsd %xmm1, BUCKET_XMM1(%r15)
    movsd %xmm2, BUCKET_XMM2(%r15)
    movsd %xmm3, BUCKET_XMM3(%r15)
    movsd %xmm4, BUCKET_XMM4(%r15)
    movsd %xmm5, BUCKET_XMM5(%r15)
    movsd %xmm6, BUCKET_XMM6(%r15)
    movsd %xmm7, BUCKET_XMM7(%r15)
    movsd %xmm8, BUCKET_XMM8(%r15)
    movsd %xmm9, BUCKET_XMM9(%r15)
    movsd %xmm10, BUCKET_XMM10(%r15)
    movsd %xmm11, BUCKET_XMM11(%r15)
    movsd %xmm12, BUCKET_XMM12(%r15)
    movsd %xmm13, BUCKET_XMM13(%r15)
    movsd %xmm14, BUCKET_XMM14(%r15)
    movsd %xmm15, BUCKET_XMM15(%r15)
    .endm

/* Puts the bucket r15 back on the free list. Uses r11. */
    .macro release_bucket
    movq DOM_GC_REGS_BUCKETS(%r14), %r11
    movq %r11, BUCKET_NEXT(%r15)
    movq %r15, DOM_GC_REGS_BUCKETS(%r14)
    .endm

/* The inverse of save_registers. rax leaves its word before the link enters it. */
    .macro restore_registers
    movq BUCKET_RAX(%r15), %rax
    release_bucket
    movq BUCKET_RBX(%r15), %rbx
    movq BUCKET_RDI(%r15), %rdi
    movq BUCKET_RSI(%r15), %rsi
    movq BUCKET_RDX(%r15), %rdx
    movq BUCKET_RCX(%r15), %rcx
    movq BUCKET_R8(%r15), %r8
    movq BUCKET_R9(%r15), %r9
    movq BUCKET_R12(%r15), %r12
    movq BUCKET_R13(%r15), %r13
    movq BUCKET_R10(%r15), %r10
    movq BUCKET_R11(%r15), %r11
    movq BUCKET_RBP(%r15), %rbp
    movsd BUCKET_XMM0(%r15), %xmm0
    movsd BUCKET_XMM1(%r15), %xmm1
    movsd BUCKET_XMM2(%r15), %xmm2
    movsd BUCKET_XMM3(%r15), %xmm3
    movsd BUCKET_XMM4(%r15), %xmm4
    movsd BUCKET_XMM5(%r15), %xmm5
    movsd BUCKET_XMM6(%r15), %xmm6
    movsd BUCKET_XMM7(%r15), %xmm7
    movsd BUCKET_XMM8(%r15), %xmm8
    movsd BUCKET_XMM9(%r15), %xmm9
    movsd BUCKET_XMM10(%r15), %xmm10
    movsd BUCKET_XMM11(%r15), %xmm11
    movsd BUCKET_XMM12(%r15), %xmm12
    movsd BUCKET_XMM13(%r15), %xmm13
    movsd BUCKET_XMM14(%r15), %xmm14
    movsd BUCKET_XMM15(%r15), %xmm15
    movq DOM_YOUNG_PTR(%r14), %r15
    .cfi_same_value r15
    .endm

/* --- collection and allocation ----------------------------------------------- */

/* young_ptr is already lowered. caml_garbage_collection finds the return address
 * in the frametables, makes room and lowers young_ptr again: when this returns the
 * block is allocated, and compiled code does not try again.
 *
 * gc_regs is zero again afterwards: an exception that leaves the collection is
 * then told from one that leaves a plain C call (caml_raise_exception). */
function caml_call_gc
    .cfi_signal_frame
.Lcall_gc:
    save_registers
    movq %r15, DOM_GC_REGS(%r14)
    fiber_to_c
    call *caml_garbage_collection@GOTPCREL(%rip)
    c_to_fiber
    movq DOM_GC_REGS(%r14), %r15
    movq $0, DOM_GC_REGS(%r14)
    restore_registers
    ret
end_function caml_call_gc

    .macro alloc_function name, bytes
function \name
    .if \bytes
    subq $\bytes, %r15
    .endif
    cmpq DOM_YOUNG_LIMIT(%r14), %r15
    jb .Lcall_gc /* our return address is the one in the frametable */
    ret
end_function \name
    .endm

alloc_function caml_alloc1, 16
alloc_function caml_alloc2, 24
alloc_function caml_alloc3, 32
alloc_function caml_allocN, 0 /* the caller has lowered young_ptr */

/* Called before a prologue when the frame might not fit:
 *
 *    |  caller       |
 *    |  ret. address | of the function that overflowed
 *    |  words needed |
 *    |  ret. address | <- rsp, CFA - 8                                         */
function caml_call_realloc_stack
    .cfi_signal_frame
    save_registers
    movq 8(%rsp), %rdi
    fiber_to_c
    call *caml_try_realloc_stack@GOTPCREL(%rip)
    c_to_fiber
    testl %eax, %eax
    jz .Lstack_overflow
    restore_registers
    ret
.Lstack_overflow: /* raise in the function that overflowed */
    SAVED_AT(R15, R14, DOM_YOUNG_PTR)
    release_bucket
    movq DOM_YOUNG_PTR(%r14), %r15
    .cfi_same_value r15
    addq $16, %rsp
    movq caml_exn_Stack_overflow@GOTPCREL(%rip), %rax
    jmp .Lraise_exn
end_function caml_call_realloc_stack

/* --- C calls --------------------------------------------------------------- */

/* rax = function; its arguments are where C wants them. */
function caml_c_call
    .cfi_signal_frame
.Lc_call:
    movq %r15, DOM_YOUNG_PTR(%r14)
    fiber_to_c
    call *%rax
.Lc_called:
    c_to_fiber
    movq DOM_YOUNG_PTR(%r14), %r15
    cmpq $0, DOM_ACTION_PENDING(%r14)
    jne 1f
    ret
1:  movq $-1, DOM_YOUNG_LIMIT(%r14) /* the next allocation or poll will act */
    ret
end_function caml_c_call

/* rax = function, [r13, r12) = words for its stack. rbx holds the link:
 *
 *    link | stack sp prev |
 *         | words         |
 *    rsp  |               |  multiple of 16                                    */
function caml_c_call_stack_args
    .cfi_signal_frame
    movq %r15, DOM_YOUNG_PTR(%r14)
    fiber_to_c
    movq %rsp, %rbx
    CFA_AT(RBX, C_LINK_SP, 8)
    subq %r13, %r12
    subq %r12, %rsp
    andq $-16, %rsp
    jmp 2f
1:  movq (%r13,%r12), %r10
    movq %r10, (%rsp,%r12)
2:  subq $8, %r12
    jae 1b
    call *%rax
    movq %rbx, %rsp
    jmp .Lc_called
end_function caml_c_call_stack_args

/* --- from C to OCaml ---------------------------------------------------------- */

    .macro push reg
    pushq %\reg
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \reg, 0
    .endm

    .macro pop reg
    popq %\reg
    .cfi_adjust_cfa_offset -8
    .cfi_restore \reg
    .endm

/* value caml_start_program(dom *)
 *
 *    C stack                                fiber
 *    CFA-8   ret. address                   |            | <- stack_info.sp
 *    CFA-56  rbx rbp r12 r13 r14 r15        | gc_regs    | header
 *            link.prev                      | C stack ------> link
 *            link.sp                        | handler    |
 *    CFA-80  link.stack <- c_stack          | exn_handler| <- rsp, trap frame
 */
#define START_FRAME (8 + 48 + C_LINK_SIZE)

function caml_start_program
    .cfi_signal_frame
    movq %rdi, %r10
    movq caml_program@GOTPCREL(%rip), %r11
.Lstart: /* r10 = dom, r11 = code, rax rcx rdi rsi = its arguments: rbx is C's until pushed */
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    movq %r10, %r14
    movq %r11, %r12
    movq %rcx, %rbx
    movq DOM_YOUNG_PTR(%r14), %r15
    pushq DOM_C_STACK(%r14)
    .cfi_adjust_cfa_offset 8
    pushq $0 /* sp and stack are set by fiber_to_c; until then the link */
    .cfi_adjust_cfa_offset 8
    pushq $0 /* belongs to no fiber */
    .cfi_adjust_cfa_offset 8
    movq %rsp, DOM_C_STACK(%r14)
    movq DOM_CURRENT_STACK(%r14), %r10
    movq STACK_SP(%r10), %r10
    subq $HEADER_SIZE, %r10
    movq DOM_EXN_HANDLER(%r14), %r11
    movq %r11, HEADER_EXN_HANDLER(%r10)
    leaq .Lstart_handler(%rip), %r11
    movq %r11, HEADER_PC(%r10)
    movq %rsp, HEADER_C_STACK(%r10)
    movq DOM_GC_REGS(%r14), %r11
    movq %r11, HEADER_SAVED_GC_REGS(%r10)
    movq $0, DOM_GC_REGS(%r14)
    movq %r10, DOM_EXN_HANDLER(%r14)
    movq %r10, %rsp
    CFA_AT(RSP, HEADER_C_STACK, START_FRAME)
    call *%r12
.Lstart_return:
    popq DOM_EXN_HANDLER(%r14)
    CFA_AT(RSP, HEADER_C_STACK - 8, START_FRAME)
    addq $8, %rsp
.Lstart_leave: /* the trap frame is gone, rax = result */
    CFA_AT(RSP, HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    movq (HEADER_SAVED_GC_REGS - TRAP_SIZE)(%rsp), %r11
    movq %r11, DOM_GC_REGS(%r14)
    leaq (HEADER_SIZE - TRAP_SIZE)(%rsp), %r10
    movq DOM_CURRENT_STACK(%r14), %r11
    movq %r10, STACK_SP(%r11)
    movq %r15, DOM_YOUNG_PTR(%r14)
    movq DOM_C_STACK(%r14), %rsp
    .cfi_def_cfa rsp, START_FRAME
    addq $C_LINK_PREV, %rsp
    .cfi_adjust_cfa_offset -C_LINK_PREV
    popq DOM_C_STACK(%r14)
    .cfi_adjust_cfa_offset -8
    .cfi_remember_state
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
    .cfi_restore_state
.Lstart_handler: /* rax = exception */
    CFA_AT(RSP, HEADER_C_STACK - TRAP_SIZE, START_FRAME)
    orq $2, %rax /* an exception result */
    jmp .Lstart_leave
end_function caml_start_program

/* value caml_callbackN_asm(dom *, value closure, value *args) */
function caml_callback_asm
    movq %rdi, %r10
    movq (%rdx), %rax
    movq %rsi, %rcx
    movq (%rsi), %r11
    jmp .Lstart
end_function caml_callback_asm

function caml_callback2_asm
    movq %rdi, %r10
    movq (%rdx), %rax
    movq 8(%rdx), %rcx
    movq %rsi, %rdi
    movq caml_apply2@GOTPCREL(%rip), %r11
    jmp .Lstart
end_function caml_callback2_asm

function caml_callback3_asm
    movq %rdi, %r10
    movq (%rdx), %rax
    movq 8(%rdx), %rcx
    movq 16(%rdx), %rdi
    movq caml_apply3@GOTPCREL(%rip), %r11
    jmp .Lstart
end_function caml_callback3_asm

/* --- exceptions ---------------------------------------------------------------- */

/* rax = exception. The handler gets it in rax, with SP above its trap frame. From
 * the moment SP is cut the caller to unwind to is the handler's function. The jump
 * is not a `ret`: nothing called the handler, and return predictors and shadow
 * stacks would say so. */
    .macro cut_to_handler
    movq DOM_EXN_HANDLER(%r14), %rsp
    .cfi_def_cfa rsp, 16
    popq DOM_EXN_HANDLER(%r14)
    .cfi_def_cfa_offset 8
    popq %r11
    .cfi_def_cfa_offset 0
    .cfi_register RA, r11
    jmp *%r11
    .endm

function caml_raise_exn
    .cfi_signal_frame
.Lraise_exn:
    cmpq $0, DOM_BACKTRACE_ACTIVE(%r14)
    jne .Lraise_traced
.Lraise_untraced:
    .cfi_remember_state
    cut_to_handler
    .cfi_restore_state
.Lraise_traced:
    movq $0, DOM_BACKTRACE_POS(%r14)
.Lreraise_traced: /* caml_stash_backtrace(exception, pc, sp, trap pointer) */
    movq %rax, %r12
    movq %rsp, %r13
    .cfi_def_cfa r13, 8
    movq %rax, %rdi
    movq (%rsp), %rsi
    leaq 8(%rsp), %rdx
    movq DOM_EXN_HANDLER(%r14), %rcx
    movq DOM_C_STACK(%r14), %rsp
    call *caml_stash_backtrace@GOTPCREL(%rip)
    movq %r12, %rax
    cut_to_handler
end_function caml_raise_exn

/* The same for an exception that goes on: its backtrace is kept and extended. */
function caml_reraise_exn
    cmpq $0, DOM_BACKTRACE_ACTIVE(%r14)
    je .Lraise_untraced
    jmp .Lreraise_traced
end_function caml_reraise_exn

/* void caml_raise_exception(dom *, value exception), from C; does not return.
 * C left the fiber at stack_info.sp, the return address of that call on top. */
function caml_raise_exception
    .cfi_signal_frame
    movq %rdi, %r14
    .cfi_undefined r14
    movq DOM_GC_REGS(%r14), %r10
    testq %r10, %r10
    jz 1f
    /* It leaves a collection: the bucket in use is free again. */
    movq DOM_GC_REGS_BUCKETS(%r14), %r11
    movq %r11, (BUCKET_NEXT - BUCKET_GC_REGS)(%r10)
    movq %r10, DOM_GC_REGS_BUCKETS(%r14)
    movq $0, DOM_GC_REGS(%r14)
1:  movq %rsi, %rax
    movq DOM_YOUNG_PTR(%r14), %r15
    .cfi_undefined r15
    movq DOM_CURRENT_STACK(%r14), %r10
    movq STACK_SP(%r10), %rsp
    .cfi_same_value r14
    .cfi_same_value r15
    jmp .Lraise_exn
end_function caml_raise_exception

function caml_ml_array_bound_error
    movq caml_array_bound_error_asm@GOTPCREL(%rip), %rax
    jmp .Lc_call
end_function caml_ml_array_bound_error

/* --- effects -------------------------------------------------------------------
 * A continuation holds, both as address + 1: [0] the fiber that performed, [8] the
 * last fiber of the chain that a resume brings back. Handlers run on the parent. */

/* rax = effect, rbx = continuation */
function caml_perform
    movq DOM_CURRENT_STACK(%r14), %rsi
    leaq 1(%rsi), %rdi
    movq %rdi, (%rbx)
.Lperform: /* rsi = current fiber, rdi = it + 1 = the last of the chain */
    movq %rdi, 8(%rbx)
    movq STACK_HANDLER(%rsi), %r11
    movq HANDLER_PARENT(%r11), %r10
    testq %r10, %r10
    jz .Lunhandled
    switch_fiber %rsi, %r10, %r12
    movq $0, HANDLER_PARENT(%r11) /* the performer is off the chain */
    movq HANDLER_EFFECT(%r11), %rsi
    jmp *caml_apply3@GOTPCREL(%rip) /* effect, continuation, last fiber */
.Lunhandled: /* back to the performer, and raise there */
    movq (%rbx), %r10
    decq %r10
    switch_fiber %rsi, %r10, %r12
    movq %rax, %rdi
    movq caml_raise_unhandled_effect@GOTPCREL(%rip), %rax
    jmp .Lc_call
end_function caml_perform

/* rax = effect, rbx = continuation, rdi = last fiber + 1: hang the current fiber
 * under the chain and go on to its parent. */
function caml_reperform
    movq DOM_CURRENT_STACK(%r14), %rsi
    movq (STACK_HANDLER - 1)(%rdi), %r10
    movq %rsi, HANDLER_PARENT(%r10)
    leaq 1(%rsi), %rdi
    jmp .Lperform
end_function caml_reperform

/* rax = fiber + 1, rbx = function, rdi = argument, rsi = last fiber + 1 */
function caml_resume
    movq %rax, %r10
    movq %rdi, %rax
    decq %r10
    jz .Lalready_resumed
    movq DOM_CURRENT_STACK(%r14), %rdi
    movq (STACK_HANDLER - 1)(%rsi), %r11
    movq %rdi, HANDLER_PARENT(%r11)
    switch_fiber %rdi, %r10, %r12
    jmp *(%rbx)
.Lalready_resumed:
    movq caml_raise_continuation_already_resumed@GOTPCREL(%rip), %rax
    jmp .Lc_call
end_function caml_resume

/* rax = new fiber + 1, rbx = function, rdi = argument. Calls it on the new fiber:
 *
 *    new fiber      | parent       | stack_handler (16-aligned)
 *                   | effect       |
 *                   | exn          |
 *                   | value        |
 *                   | (2 words)    | header
 *                   | handler      |
 *                   | exn. pointer | <- rsp, dom.exn_handler
 *
 * then frees the fiber and goes on, with its result or exception, to handle_value
 * or handle_exn on the parent. CFA: parent->sp + 8. */
#define CFA_PARENT(offset) CFA_AT_AT(RSP, (offset) + HANDLER_PARENT, STACK_SP, 8)

function caml_runstack
    .cfi_signal_frame
    decq %rax
    movq DOM_CURRENT_STACK(%r14), %rcx
    movq %rsp, STACK_SP(%rcx)
    movq DOM_EXN_HANDLER(%r14), %r10
    movq %r10, STACK_EXCEPTION(%rcx)
    movq STACK_HANDLER(%rax), %r11
    movq %rcx, HANDLER_PARENT(%r11)
    movq %rax, DOM_CURRENT_STACK(%r14)
    movq STACK_SP(%rax), %r11
    subq $HEADER_SIZE, %r11
    leaq .Lfiber_handler(%rip), %r10
    movq %r10, HEADER_PC(%r11)
    movq STACK_EXCEPTION(%rax), %r10
    movq %r10, HEADER_EXN_HANDLER(%r11)
    movq %r11, DOM_EXN_HANDLER(%r14)
    movq %r11, %rsp
    CFA_PARENT(HEADER_SIZE)
    movq %rdi, %rax
    call *(%rbx)
.Lrunstack_return:
    addq $TRAP_SIZE, %rsp
    CFA_PARENT(HEADER_SIZE - TRAP_SIZE)
    movq (HEADER_SIZE - TRAP_SIZE + HANDLER_VALUE)(%rsp), %rbx
.Lfiber_done: /* rax = value or exception, rbx = closure that wants it */
    movq (HEADER_SIZE - TRAP_SIZE + HANDLER_PARENT)(%rsp), %r10
    movq DOM_CURRENT_STACK(%r14), %rdi
    movq STACK_SP(%r10), %r13
    .cfi_remember_state
    .cfi_def_cfa r13, 8
    movq STACK_EXCEPTION(%r10), %r11
    movq %r11, DOM_EXN_HANDLER(%r14)
    movq %r10, DOM_CURRENT_STACK(%r14)
    movq %rax, %r12
    movq DOM_C_STACK(%r14), %rsp
    call *caml_free_stack@GOTPCREL(%rip)
    movq %r13, %rsp
    .cfi_def_cfa rsp, 8
    movq %r12, %rax
    jmp *(%rbx)
    .cfi_restore_state
.Lfiber_handler: /* the trap frame is gone, rax = exception */
    movq (HEADER_SIZE - TRAP_SIZE + HANDLER_EXN)(%rsp), %rbx
    jmp .Lfiber_done
end_function caml_runstack

label caml_system__code_end

/* Masks of the compiler's float negation and absolute value. */
    .section .rodata.cst16, "aM", %progbits, 16
    .balign 16
label caml_negf_mask
    .8byte 0x8000000000000000, 0
label caml_absf_mask
    .8byte 0x7fffffffffffffff, -1

system_frametable .Lstart_return, .Lrunstack_return
