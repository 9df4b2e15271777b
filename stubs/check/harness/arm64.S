/* arm64.S - load every register and jump; keep every register and wake up.
 * x16 and x17 carry the block's address and the event's number: a veneer may
 * destroy them anyway, so nothing is lost. */
        .macro  block
        adrp    x16, sc_block
        add     x16, x16, :lo12:sc_block
        .endm
        .text
/* int sc_resume(void): run from sc_block until a pad is reached; its number. */
        .globl  sc_resume
sc_resume:
        stp     x29, x30, [sp, -160]!
        stp     x19, x20, [sp, 16]
        stp     x21, x22, [sp, 32]
        stp     x23, x24, [sp, 48]
        stp     x25, x26, [sp, 64]
        stp     x27, x28, [sp, 80]
        stp     d8, d9, [sp, 96]
        stp     d10, d11, [sp, 112]
        stp     d12, d13, [sp, 128]
        stp     d14, d15, [sp, 144]
        block
        mov     x17, sp
        str     x17, [x16, 544]
        ldr     x17, [x16, 536]
        msr     nzcv, x17
        ldr     x17, [x16, 248]
        mov     sp, x17
        .irp n,0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30
        ldr     d\n, [x16, 256+8*\n]
        .endr
        .irp n,1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31
        ldr     d\n, [x16, 256+8*\n]
        .endr
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,18,19,20,21,22,23,24,25,26,27,28,29,30
        ldr     x\n, [x16, 8*\n]
        .endr
        ldr     x17, [x16, 512]
        ldr     x16, [x16, 128]
        br      x17

sc_dump:
        block
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,21,22,23,24,25,26,27,28,29,30
        str     x\n, [x16, 8*\n]
        .endr
        mov     x0, sp
        str     x0, [x16, 248]
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        str     d\n, [x16, 256+8*\n]
        .endr
        .irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        str     d\n, [x16, 256+8*\n]
        .endr
        mov     x0, x17
        ldr     x17, [x16, 544]
        mov     sp, x17
        ldp     x19, x20, [sp, 16]
        ldp     x21, x22, [sp, 32]
        ldp     x23, x24, [sp, 48]
        ldp     x25, x26, [sp, 64]
        ldp     x27, x28, [sp, 80]
        ldp     d8, d9, [sp, 96]
        ldp     d10, d11, [sp, 112]
        ldp     d12, d13, [sp, 128]
        ldp     d14, d15, [sp, 144]
        ldp     x29, x30, [sp], 160
        ret

        .set    sc_id, 0
        .macro  pad name
        .globl  \name
        .type   \name, %function
        .p2align 3
\name:  mov     x17, #sc_id
        b       sc_dump
        .set    sc_id, sc_id+1
        .endm
#define PAD(name) pad name;
#include "pads.h"

        .bss
        .balign 16
        .globl  sc_block
sc_block: .zero 560
        .section .note.GNU-stack,"",%progbits
