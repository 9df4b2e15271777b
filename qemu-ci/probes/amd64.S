/* probe_instructions(rdi = 64 words of scratch): switches the stack, saves and
 * restores integer and SSE registers, calls through a register and memory. */
        .text
        .globl  probe_instructions
probe_instructions:
        movq    %rsp, (%rdi)
        leaq    256(%rdi), %rsp
        pushq   $0x5eed
        movq    $1, %rax
        cvtsi2sdq %rax, %xmm15
        movsd   %xmm15, 8(%rdi)
        pxor    %xmm15, %xmm15
        movsd   8(%rdi), %xmm15
        cvttsd2si %xmm15, %rcx
        leaq    1f(%rip), %rdx
        movq    %rdx, 16(%rdi)
        call    *%rdx
        call    *16(%rdi)
        cmpq    $3, %rcx
        jne     2f
        popq    %rax
        movq    (%rdi), %rsp
        ret
1:      addq    %rax, %rcx
        ret
2:      xorl    %eax, %eax
        movq    (%rdi), %rsp
        ret
        .section .note.GNU-stack,"",%progbits
