# 4 + 2 x LOOPS instructions, the last one exit(0).
        .abiversion 2
        .globl _start
_start: li 4, LOOPS
1:      addic. 4, 4, -1
        bne 1b
        li 3, 0
        li 0, 1
        sc
