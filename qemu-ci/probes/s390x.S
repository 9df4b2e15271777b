/* probe_instructions(r2 = 64 words of scratch): switches the stack, saves and
 * restores ranges and float registers, compares storage, calls through a register. */
        .text
        .globl  probe_instructions
        .type   probe_instructions, @function
probe_instructions:
        stmg    %r6, %r15, 0(%r2)
        lay     %r15, 256(%r2)
        lghi    %r3, 1
        cdgbr   %f15, %r3
        stdy    %f15, 96(%r2)
        lzdr    %f15
        ld      %f15, 96(%r2)
        cgdbr   %r4, 5, %f15
        larl    %r5, 1f
        basr    %r14, %r5
        mvghi   104(%r2), 2
        cghsi   104(%r2), 2
        jne     2f
        mvc     112(8,%r2), 104(%r2)
        lg      %r1, 112(%r2)
        ltgr    %r1, %r1
        je      2f
        cgr     %r1, %r4
        lmg     %r6, %r15, 0(%r2)
        jne     3f
        llilf   %r2, 0x5eed
        br      %r14
1:      aghi    %r4, 1
        br      %r14
2:      lmg     %r6, %r15, 0(%r2)
3:      lghi    %r2, 0
        br      %r14
        .section .note.GNU-stack,"",%progbits
