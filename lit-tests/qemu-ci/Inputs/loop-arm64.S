# 4 + 2 x LOOPS instructions, the last one exit(0).
        .globl _start
_start: mov x1, #LOOPS
1:      subs x1, x1, #1
        b.ne 1b
        mov x0, #0
        mov x8, #93
        svc #0
