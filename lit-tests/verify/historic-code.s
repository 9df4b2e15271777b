# Faults that really happened, one in each function: a descriptor that says one thing and code that does
# another. The comment above each function names the report.
# REQUIRES: cc-amd64
# RUN: as -o %t.o %s
# RUN: not ftdump --verify=alloc,frame,live %t.o | FileCheck %s
# RUN: ftdump --verify=alloc,frame,live --function='camlOk.*' %t.o | FileCheck --check-prefix=OK %s
# RUN: not ftdump --verify=abi %t.o | FileCheck --check-prefix=ABI %s
# OK: 0 wrong, 0 suspect

# The order is that of the functions; each fault is reported once, by the rule that is about it.
# CHECK: wrong   frame-size  camlF.wrapped+0xc
# CHECK-NEXT: the frame size is 16, the code has brought the stack pointer down by 65552 bytes
# CHECK: wrong   alloc-decrement  camlF.lengths+
# CHECK-NEXT: the 2 blocks take 40 bytes with their headers, the fast path takes 48
# CHECK: wrong   alloc-header  camlF.lengths+
# CHECK: wrong   alloc-header  camlF.order+
# CHECK-NEXT: block 0 has 2 fields by the descriptor, the code stores a header of 1 at young + 0
# CHECK: wrong   alloc-init  camlF.early+
# CHECK-NEXT: the next safepoint is reached with 0 headers and 1 fields of the new blocks not stored
# CHECK: wrong   alloc-branch  camlF.signed+
# CHECK-NEXT: the collector is called when young < (signed) limit
# CHECK: suspect live-missing  camlF.poll+
# CHECK: suspect live-missing  camlF.derived+
# CHECK-NEXT: points into a block crosses this safepoint unlisted and is dereferenced
# CHECK: wrong   live-init  camlF.branch+
# CHECK-NEXT: [0] is a root here, and some path from the entry has not written it
# ABI: wrong   abi-reserved  camlF.domain+
# ABI-NEXT: changes the domain state pointer
# CHECK: wrong   frame-return  camlF.left+
# CHECK-NEXT: with the stack pointer 16 bytes below where it entered
# CHECK: wrong   frame-retaddr  camlF.over+
# CHECK-NEXT: the collector reads the return address at [8], where on some path something else has been stored
# CHECK-NOT: wrong   frame-retaddr
# CHECK: frame-size {{.*}} 1{{$}}
# CHECK: the stack pointer cannot be followed to the call
# CHECK: frame-retaddr {{ *}}1  the frame size is wrong (see frame-size)
        .text
        .macro FUN name
        .globl \name
        .type \name, @function
\name:
        .endm
        .macro END name
        .size \name, .-\name
        .endm

# ocaml#10072: 16-bit frame sizes that wrap around
        FUN camlF.wrapped
        sub $65544, %rsp
        call camlOk.leaf
.Lwrapped:
        add $65544, %rsp
        ret
        END camlF.wrapped

# PR #8805: lengths that do not add up to what is taken
        FUN camlF.lengths
        sub $8, %rsp
0:      sub $48, %r15
        cmp (%r14), %r15
        jb 2f
1:      lea 8(%r15), %rax
        movq $2048, -8(%rax)
        mov %rbx, (%rax)
        mov %rbx, 8(%rax)
        lea 24(%rax), %rdi
        movq $2048, -8(%rdi)
        mov %rax, (%rdi)
        mov %rax, 8(%rdi)
        add $8, %rsp
        ret
2:      call caml_call_gc@PLT
.Llengths:
        jmp 1b
        END camlF.lengths

# lengths in the order of allocation instead of the order of addresses
        FUN camlF.order
        sub $8, %rsp
        sub $40, %r15
        cmp (%r14), %r15
        jb 2f
1:      lea 8(%r15), %rax
        movq $1024, -8(%rax)
        mov %rbx, (%rax)
        lea 16(%rax), %rdi
        movq $2048, -8(%rdi)
        mov %rax, (%rdi)
        mov %rax, 8(%rdi)
        add $8, %rsp
        ret
2:      call caml_call_gc@PLT
.Lorder:
        jmp 1b
        END camlF.order

# a safepoint before the last field is stored (b1aae66165)
        FUN camlF.early
        sub $8, %rsp
        sub $24, %r15
        cmp (%r14), %r15
        jb 2f
1:      lea 8(%r15), %rax
        movq $2048, -8(%rax)
        mov %rbx, (%rax)
        mov %rax, (%rsp)
        call camlOk.leaf
.Learly2:
        mov (%rsp), %rdi
        mov %rax, 8(%rdi)
        add $8, %rsp
        ret
2:      call caml_call_gc@PLT
.Learly:
        jmp 1b
        END camlF.early

# addresses compared as signed numbers
        FUN camlF.signed
        sub $8, %rsp
        sub $16, %r15
        cmp (%r14), %r15
        jl 2f
1:      lea 8(%r15), %rax
        movq $1024, -8(%rax)
        mov %rbx, (%rax)
        add $8, %rsp
        ret
2:      call caml_call_gc@PLT
.Lsigned:
        jmp 1b
        END camlF.signed

# ocaml-multicore#302: a poll that does not know the registers in use
        FUN camlF.poll
        sub $8, %rsp
        test $1, %al
        jne 3f
0:      cmp (%r14), %r15
        jbe 2f
1:      mov %rax, (%rsp)
        call camlOk.leaf
.Lpoll2:
        mov (%rsp), %rax
        mov (%rax), %rbx
        cmp $1, %rbx
        jne 0b
3:      add $8, %rsp
        ret
2:      call caml_call_gc@PLT
.Lpoll:
        jmp 1b
        END camlF.poll

# ocaml#14010: an address inside a block lives across an allocation
        FUN camlF.derived
        sub $8, %rsp
        cmp (%r14), %r15
        jbe 4f
3:      add $16, %rax
        sub $16, %r15
        cmp (%r14), %r15
        jb 2f
1:      lea 8(%r15), %rdi
        movq $1024, -8(%rdi)
        mov %rbx, (%rdi)
        mov (%rax), %rax
        add $8, %rsp
        ret
2:      call caml_call_gc@PLT
.Lderived:
        jmp 1b
4:      call caml_call_gc@PLT
.Lderived0:
        jmp 3b
        END camlF.derived

# a slot that is written in one branch only (go#29362)
        FUN camlF.branch
        sub $8, %rsp
        cmp $1, %rax
        je 1f
        mov %rax, (%rsp)
1:      call camlOk.leaf
.Lbranch:
        add $8, %rsp
        ret
        END camlF.branch

# a register with a fixed use (oxcaml, jdk: riscv's gp)
        FUN camlF.domain
        sub $8, %rsp
        call camlOk.leaf
.Ldomain:
        mov %rax, %r14
        add $8, %rsp
        ret
        END camlF.domain

        FUN camlF.left
        sub $24, %rsp
        call camlOk.leaf
.Lleft:
        add $8, %rsp
        ret
        END camlF.left

# perry#7394: a stack adjustment that nobody follows is not "ok"
        FUN camlF.unknown
        sub %rax, %rsp
        call camlOk.leaf
.Lunknown:
        ret
        END camlF.unknown

        FUN camlF.over
        sub $8, %rsp
        movq $63, 8(%rsp)
        call camlOk.leaf
.Lover:
        add $8, %rsp
        ret
        END camlF.over

# at a handler the return address is still there
        FUN camlOk.handler
        sub $8, %rsp
        lea 1f(%rip), %r11
        push %r11
        push 48(%r14)
        mov %rsp, 48(%r14)
        call camlOk.leaf
.Lbody: pop 48(%r14)
        add $16, %rsp
        ret
1:      call camlOk.leaf
.Lhandler:
        add $8, %rsp
        ret
        END camlOk.handler

        FUN camlOk.leaf
        ret
        END camlOk.leaf
        FUN camlOk.calls
        sub $8, %rsp
        mov %rax, (%rsp)
        call camlOk.leaf
.Lok:
        mov (%rsp), %rax
        add $8, %rsp
        ret
        END camlOk.calls

# the address of a constant is no root, whatever is done with it
        FUN camlOk.constant
        sub $8, %rsp
        mov camlOther.1@GOTPCREL(%rip), %rax
        mov %rax, (%rsp)
        test $1, %al
        jne 1f
        movzbq -8(%rax), %rbx
1:      call camlOk.leaf
.Lconstant:
        mov (%rsp), %rax
        mov (%rax), %rax
        add $8, %rsp
        ret
        END camlOk.constant

# and it may take over the register of an argument that is one
        FUN camlOk.argument
        sub $8, %rsp
0:      mov (%rbx), %rdi
        cmp $1, %rdi
        je 3f
        lea camlOk.frametable(%rip), %rbx
        sub $16, %r15
        cmp (%r14), %r15
        jb 2f
1:      lea 8(%r15), %rax
        movq $1024, -8(%rax)
        movq $1, (%rax)
        jmp 0b
2:      call caml_call_gc@PLT
.Largument:
        jmp 1b
3:      add $8, %rsp
        ret
        END camlOk.argument

        .data
        .macro POINT label frame live:vararg
        .balign 8
        .quad \label
        .word \frame
        .endm
        .globl camlF.frametable
        .balign 8
camlF.frametable:
        .quad 15
        POINT .Lwrapped, 16
        .word 0
        POINT .Llengths, 16+2
        .word 0
        .byte 2, 1, 0
        POINT .Lorder, 16+2
        .word 0
        .byte 2, 1, 0
        POINT .Learly2, 16
        .word 1, 0
        POINT .Learly, 16+2
        .word 0
        .byte 1, 1
        POINT .Lsigned, 16+2
        .word 0
        .byte 1, 0
        POINT .Lpoll2, 16
        .word 1, 0
        POINT .Lpoll, 16+2
        .word 0
        .byte 0
        POINT .Lderived, 16+2
        .word 1, 3
        .byte 1, 0
        POINT .Lderived0, 16+2
        .word 2, 1, 3
        .byte 0
        POINT .Lbranch, 16
        .word 1, 0
        POINT .Ldomain, 16
        .word 0
        POINT .Lleft, 32
        .word 0
        POINT .Lunknown, 16
        .word 0
        POINT .Lover, 16
        .word 0
        .balign 8
        .size camlF.frametable, .-camlF.frametable

        .globl camlOk.frametable
        .balign 8
camlOk.frametable:
        .quad 5
        POINT .Lbody, 32
        .word 0
        POINT .Lhandler, 16
        .word 0
        POINT .Lok, 16
        .word 1, 0
        POINT .Lconstant, 16
        .word 0
        POINT .Largument, 16+2
        .word 0
        .byte 1, 0
        .balign 8
        .size camlOk.frametable, .-camlOk.frametable
        .section .note.GNU-stack,"",@progbits
