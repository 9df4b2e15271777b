/* stubs.h - what the stub files of all architectures share.
 *
 * Included with the constants of abi-gen in place (-include build/ARCH/abi-V.h).
 *
 * Two kinds of stack
 *   fiber   where OCaml code runs; a heap block with a stack_info at its low end
 *   C       where C code runs; dom.c_stack is the c_stack_link at its current end
 * A stub that goes from a fiber to the C stack leaves the fiber's SP in the link,
 * because caml_try_realloc_stack moves fibers and then corrects the link, the
 * fiber's own record and dom.exn_handler, but no register. So after each C call
 * SP comes from the link, and the trap pointer from the domain state.
 *
 * Unwinding
 *   Every instruction has a right rule for the CFA and the return address. While
 *   SP is on the C stack the CFA is computed through the link, while SP is on a
 *   fiber that C entered it is computed through the header. Functions that switch
 *   stacks are marked as signal frames: frames beyond them may lie at lower
 *   addresses, which debuggers otherwise take for a corrupt stack.
 */
#ifndef FK_STUBS_H
#define FK_STUBS_H

#ifndef DOM_YOUNG_LIMIT
#error "include the output of abi-gen first"
#endif

/* The number of domain-state fields, as the real stubs have it: tools tell the
 * OCaml version of the object by it. */
    .set domain_curr_field, DOM_SIZE / 8 - 63

/* DWARF: numbers of the expressions below. LEB2 is a number 0..8191 in two bytes. */
#define DW_CFA_expression 0x10
#define DW_CFA_def_cfa_expression 0x0f
#define DW_OP_deref 0x06
#define DW_OP_plus_uconst 0x23
#define DW_OP_breg 0x70
#define LEB2(n) (((n) & 0x7f) | 0x80), (((n) >> 7) & 0x7f)

/* CFA = *(reg + offset) + add */
#define CFA_AT(reg, offset, add)                                                          \
    .cfi_escape DW_CFA_def_cfa_expression, 7, DW_OP_breg + (reg), LEB2(offset),           \
        DW_OP_deref, DW_OP_plus_uconst, LEB2(add)
/* CFA = *(*(reg + offset) + offset2) + add */
#define CFA_AT_AT(reg, offset, offset2, add)                                              \
    .cfi_escape DW_CFA_def_cfa_expression, 11, DW_OP_breg + (reg), LEB2(offset),          \
        DW_OP_deref, DW_OP_plus_uconst, LEB2(offset2), DW_OP_deref, DW_OP_plus_uconst,    \
        LEB2(add)
/* The caller's `saved` lies at reg + offset. */
#define SAVED_AT(saved, reg, offset)                                                      \
    .cfi_escape DW_CFA_expression, saved, 3, DW_OP_breg + (reg), LEB2(offset)

/* Header that caml_start_program and caml_runstack put on a fiber (HEADER_SIZE
 * bytes, offsets from its trap frame). The first two words are a trap frame. */
#define HEADER_EXN_HANDLER 0 /* dom.exn_handler of the outer chunk */
#define HEADER_PC 8          /* handler inside the stub */
#define HEADER_C_STACK 16    /* the c_stack_link; for unwinding */
#define HEADER_SAVED_GC_REGS 24

    .macro function name, align=16
    .globl \name
    .type \name, STT_FUNC
    .balign \align
\name:
    .cfi_startproc
    .endm

    .macro end_function name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .macro label name
    .globl \name
\name:
    .endm

/* caml_system.frametable: two return addresses into C. frame_data 0xFFFF tells a
 * stack walker that a header, not an OCaml frame, lies here.
 *
 *   word   2
 *   word   return address   2 bytes 0xFFFF   2 bytes 0 (live)   pad to 8
 *   word   return address   2 bytes 0xFFFF   2 bytes 0          pad to 8        */
    .macro descriptor_return_to_c address
    .8byte \address
    .2byte 0xffff, 0
    .balign 8
    .endm

    .macro system_frametable start, runstack
    .data
    .balign 8
    .type caml_system.frametable, STT_OBJECT
    label caml_system.frametable
    .8byte 2
    descriptor_return_to_c \start
    descriptor_return_to_c \runstack
    .size caml_system.frametable, . - caml_system.frametable
    .section .note.GNU-stack, "", %progbits
    .endm

#endif
