# 4 + 2 x LOOPS instructions, the last one exit(0).
        .globl _start
_start: li a1, LOOPS
1:      addi a1, a1, -1
        bnez a1, 1b
        li a0, 0
        li a7, 93
        ecall
