# Stack checks and polls: functions that ask for enough, too little or nothing, and loops with and without a poll.
# REQUIRES: cc-amd64
# RUN: as -o %t.o %s
# RUN: not ftdump --verify=abi %t.o | FileCheck %s
# CHECK: wrong   abi-stack  camlF.none+
# CHECK-NEXT: the function takes 16 bytes of the stack, calls OCaml code and does not check that they are there
# CHECK: wrong   abi-stack  camlF.little+
# CHECK-NEXT: the function takes 32 bytes of the stack: the check must ask for 344, it asks for 336
# CHECK: wrong   abi-poll  camlF.spin+
# CHECK-NEXT: can go round without an allocation or a poll
# CHECK: abi-stack 3 2 0 0{{$}}
# CHECK: abi-poll 4 1 0 0{{$}}
        .text
        .macro FUN name
        .globl \name
        .type \name, @function
\name:
        .endm
        .macro END name
        .size \name, .-\name
        .endm
        .macro GROW k, words
        lea -\k(%rsp), %r10
        cmp 40(%r14), %r10
        jb 8f
7:
        .endm
        .macro GROWN words
8:      push $\words
        call caml_call_realloc_stack@PLT
        pop %r10
        jmp 7b
        .endm

        FUN camlOk.enough
        GROW 328, 34
        sub $8, %rsp
        call camlOk.enough
.Lenough:
        add $8, %rsp
        ret
        GROWN 34
        END camlOk.enough

        FUN camlF.none
        sub $8, %rsp
        call camlOk.enough
.Lnone: add $8, %rsp
        ret
        END camlF.none

        FUN camlF.little
        GROW 336, 35
        sub $24, %rsp
        call camlOk.enough
.Llittle:
        add $24, %rsp
        ret
        GROWN 35
        END camlF.little

# a loop that polls each time
        FUN camlOk.polls
        sub $8, %rsp
1:      sub $2, %rax
        cmp (%r14), %r15
        jbe 2f
3:      cmp $1, %rax
        jne 1b
        add $8, %rsp
        ret
2:      call caml_call_gc@PLT
.Lpolls:
        jmp 3b
        END camlOk.polls

# the poll is on one way only
        FUN camlF.spin
        sub $8, %rsp
1:      sub $2, %rax
        test $2, %al
        jne 1b
        cmp (%r14), %r15
        jbe 2f
3:      cmp $1, %rax
        jne 1b
        add $8, %rsp
        ret
2:      call caml_call_gc@PLT
.Lspin:
        jmp 3b
        END camlF.spin

        .data
        .macro POINT label frame
        .balign 8
        .quad \label
        .word \frame, 0
        .endm
        .globl camlF.frametable
        .balign 8
camlF.frametable:
        .quad 5
        POINT .Lenough, 16
        POINT .Lnone, 16
        POINT .Llittle, 32
        POINT .Lpolls, 16+2
        .byte 0
        POINT .Lspin, 16+2
        .byte 0
        .balign 8
        .size camlF.frametable, .-camlF.frametable
        .section .note.GNU-stack,"",@progbits
