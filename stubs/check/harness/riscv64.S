/* riscv64.S - load every register and jump; keep every register and wake up.
 * t0 carries the event's number, t1 the block's address: neither is allocatable.
 * No relaxation: gp must not be needed to find the block. */
        .option norelax
        .macro  block
        lla     t1, sc_block
        .endm
#define HOST_FRAME 240
        .text
/* int sc_resume(void): run from sc_block until a pad is reached; its number. */
        .globl  sc_resume
sc_resume:
        addi    sp, sp, -HOST_FRAME
        sd      ra, 0(sp)
        sd      gp, 8(sp)
        sd      tp, 16(sp)
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11
        sd      s\n, 24+8*\n(sp)
        fsd     fs\n, 120+8*\n(sp)
        .endr
        block
        sd      sp, 544(t1)
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        fld     f\n, 256+8*\n(t1)
        .endr
        .irp n,1,2,3,4,5,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ld      x\n, 8*\n(t1)
        .endr
        ld      t1, 512(t1)
        jr      t1

sc_dump:
        block
        .irp n,1,2,3,4,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        sd      x\n, 8*\n(t1)
        .endr
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        fsd     f\n, 256+8*\n(t1)
        .endr
        ld      sp, 544(t1)
        ld      ra, 0(sp)
        ld      gp, 8(sp)
        ld      tp, 16(sp)
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11
        ld      s\n, 24+8*\n(sp)
        fld     fs\n, 120+8*\n(sp)
        .endr
        addi    sp, sp, HOST_FRAME
        mv      a0, t0
        ret

        .set    sc_id, 0
        .macro  pad name
        .globl  \name
        .type   \name, @function
        .p2align 3
\name:  li      t0, sc_id
        j       sc_dump
        .set    sc_id, sc_id+1
        .endm
#define PAD(name) pad name;
#include "pads.h"

        .bss
        .balign 16
        .globl  sc_block
sc_block: .zero 560
        .section .note.GNU-stack,"",@progbits
