/* s390x.S - load every register and jump; keep every register and wake up.
 * r0 carries the event's number, r1 the block's address: both are scratch
 * wherever a stub may leave. */
#define HOST_FRAME 224
        .macro  each_float op, offset, base
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        \op     %f\n, \offset+8*\n(\base)
        .endr
        .endm
        .text
/* int sc_resume(void): run from sc_block until a pad is reached; its number. */
        .globl  sc_resume
        .type   sc_resume, @function
sc_resume:
        stmg    %r6, %r15, 48(%r15)
        aghi    %r15, -HOST_FRAME
        .irp n,8,9,10,11,12,13,14,15
        std     %f\n, 160+8*(\n-8)(%r15)
        .endr
        larl    %r1, sc_block
        stg     %r15, 544(%r1)
        each_float ld, 256, %r1
        lmg     %r2, %r15, 16(%r1)
        lg      %r0, 0(%r1)
        lg      %r1, 512(%r1)
        br      %r1

sc_dump:
        larl    %r1, sc_block
        stmg    %r2, %r15, 16(%r1)
        each_float std, 256, %r1
        lg      %r15, 544(%r1)
        .irp n,8,9,10,11,12,13,14,15
        ld      %f\n, 160+8*(\n-8)(%r15)
        .endr
        lmg     %r6, %r15, 48+HOST_FRAME(%r15)
        lgr     %r2, %r0
        br      %r14

        .set    sc_id, 0
        .macro  pad name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:  lghi    %r0, sc_id
        jg      sc_dump
        .set    sc_id, sc_id+1
        .endm
#define PAD(name) pad name;
#include "pads.h"

        .bss
        .balign 16
        .globl  sc_block
sc_block: .zero 560
        .section .note.GNU-stack,"",@progbits
