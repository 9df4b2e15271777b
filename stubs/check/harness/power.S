/* power.S - load every register and jump; keep every register and wake up.
 * r11 carries the event's number, ctr keeps r12 for a moment: both are scratch
 * wherever a stub may leave. The harness is linked below 2 GiB, so addresses
 * are two immediates and need no TOC. */
        .abiversion 2
        .macro  block
        lis     12, sc_block@ha
        addi    12, 12, sc_block@l
        .endm
#define HOST_FRAME 384
        .text
/* int sc_resume(void): run from sc_block until a pad is reached; its number. */
        .globl  sc_resume
        .type   sc_resume, @function
sc_resume:
        mflr    0
        std     0, 16(1)
        mfcr    0
        std     0, 8(1)
        stdu    1, -HOST_FRAME(1)
        std     2, 24(1)
        std     13, 32(1)
        .irp n,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        std     \n, 40+8*(\n-14)(1)
        stfd    \n, 184+8*(\n-14)(1)
        .endr
        block
        std     1, 544(12)
        ld      0, 536(12)
        mtcrf   0xff, 0
        ld      0, 512(12)
        mtctr   0
        ld      0, 520(12)
        mtlr    0
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        lfd     \n, 256+8*\n(12)
        .endr
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ld      \n, 8*\n(12)
        .endr
        ld      12, 96(12)
        bctr
        .size   sc_resume, .-sc_resume

sc_dump:
        mtctr   12
        block
        .irp n,0,1,2,3,4,5,6,7,8,9,10,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        std     \n, 8*\n(12)
        .endr
        mfctr   0
        std     0, 96(12)
        mflr    0
        std     0, 520(12)
        mfcr    0
        std     0, 536(12)
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        stfd    \n, 256+8*\n(12)
        .endr
        ld      1, 544(12)
        ld      2, 24(1)
        ld      13, 32(1)
        .irp n,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ld      \n, 40+8*(\n-14)(1)
        lfd     \n, 184+8*(\n-14)(1)
        .endr
        mr      3, 11
        addi    1, 1, HOST_FRAME
        ld      0, 8(1)
        mtcrf   0xff, 0
        ld      0, 16(1)
        mtlr    0
        blr

        .set    sc_id, 0
        .macro  pad name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:  li      11, sc_id
        b       sc_dump
        .size   \name, .-\name
        .set    sc_id, sc_id+1
        .endm
#define PAD(name) pad name;
#include "pads.h"

        .bss
        .balign 16
        .globl  sc_block
sc_block: .zero 560
        .section .note.GNU-stack,"",@progbits
