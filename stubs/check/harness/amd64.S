/* amd64.S - load every register and jump; keep every register and wake up. */
#define B(off) sc_block+(off)(%rip)

        .text
/* int sc_resume(void): run from sc_block until a pad is reached; its number. */
        .globl  sc_resume
sc_resume:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        mov     %rsp, sc_host_sp(%rip)
        pushq   B(536)
        popfq
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movsd   B(256+8*\n), %xmm\n
        .endr
        mov     B(0), %rax
        mov     B(8), %rcx
        mov     B(16), %rdx
        mov     B(24), %rbx
        mov     B(32), %rsp
        mov     B(40), %rbp
        mov     B(48), %rsi
        mov     B(56), %rdi
        .irp n,8,9,10,11,12,13,14,15
        mov     B(8*\n), %r\n
        .endr
        jmp     *B(512)

sc_dump:
        mov     %rax, B(0)
        mov     %rcx, B(8)
        mov     %rdx, B(16)
        mov     %rbx, B(24)
        mov     %rsp, B(32)
        mov     %rbp, B(40)
        mov     %rsi, B(48)
        mov     %rdi, B(56)
        .irp n,8,9,10,11,12,13,14,15
        mov     %r\n, B(8*\n)
        .endr
        .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movsd   %xmm\n, B(256+8*\n)
        .endr
        cld
        mov     sc_host_sp(%rip), %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        mov     sc_event(%rip), %eax
        ret

        .set    sc_id, 0
        .macro  pad name
        .globl  \name
        .p2align 4
\name:  movl    $sc_id, sc_event(%rip)
        jmp     sc_dump
        .set    sc_id, sc_id+1
        .endm
#define PAD(name) pad name;
#include "pads.h"

        .bss
        .balign 16
        .globl  sc_block
sc_block: .zero 560
sc_host_sp: .zero 8
sc_event: .zero 8
        .section .note.GNU-stack,"",@progbits
