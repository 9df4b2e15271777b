# 4 + 2 x LOOPS instructions, the last one exit(0).
        .globl _start
_start: lghi %r4, LOOPS
1:      aghi %r4, -1
        jne 1b
        lghi %r2, 0
        lghi %r1, 1
        svc 0
