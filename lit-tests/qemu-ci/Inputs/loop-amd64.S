# 4 + 2 x LOOPS instructions, the last one exit(0).
        .globl _start
_start: mov $LOOPS, %ecx
1:      dec %ecx
        jnz 1b
        xor %edi, %edi
        mov $60, %eax
        syscall
