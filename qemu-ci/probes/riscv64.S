/* probe_instructions(a0 = 64 words of scratch): switches the stack, saves and
 * restores float registers, barriers, atomics, compressed code, calls through a
 * register. */
        .text
        .globl  probe_instructions
        .type   probe_instructions, @function
probe_instructions:
        sd      ra, 0(a0)
        sd      sp, 8(a0)
        addi    sp, a0, 256
        li      a1, 1
        fcvt.d.l fs11, a1
        fsd     fs11, 16(a0)
        fmv.d.x ft11, zero
        fld     ft11, 16(a0)
        fcvt.l.d a2, ft11
        lla     a3, 1f
        jalr    a3
        addi    a4, a0, 24
        amoadd.d a5, a2, (a4)
        fence   rw, rw
        ld      a5, 24(a0)
        ld      sp, 8(a0)
        ld      ra, 0(a0)
        li      a6, 2
        li      a0, 0
        bne     a5, a6, 2f
        li      a0, 0x5eed
        ret
1:      .option push
        .option rvc
        c.addi  a2, 1
        .option pop
        ret
2:      ret
        .section .note.GNU-stack,"",%progbits
