/* probe_instructions(x0 = 64 words of scratch): switches the stack, saves and
 * restores pairs and float registers, barriers, hints, calls through a register. */
        .text
        .globl  probe_instructions
        .type   probe_instructions, %function
probe_instructions:
        hint    #34                     /* bti c */
        mov     x9, sp
        stp     x9, x30, [x0]
        add     sp, x0, #256
        mov     x1, #1
        scvtf   d15, x1
        stp     d15, d15, [x0, #16]
        fmov    d15, xzr
        ldp     d15, d14, [x0, #16]
        fcvtzs  x2, d15
        stp     x2, x1, [sp, #-16]!
        ldp     x3, x4, [sp], #16
        add     x2, x3, x4
        adr     x5, 1f
        blr     x5
        add     x6, x0, #40
        stlr    x2, [x6]
        ldar    x7, [x6]
        dmb     ish
        ldp     x9, x30, [x0]
        mov     sp, x9
        mov     x0, #0x5eed
        cmp     x7, #3
        csel    x0, x0, xzr, eq
        ret
1:      add     x2, x2, #1
        ret
        .section .note.GNU-stack,"",%progbits
