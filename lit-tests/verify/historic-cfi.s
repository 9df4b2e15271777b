# Faults that really happened, seeded one a function: each is reported, by the rule that is about it.
# REQUIRES: cc-amd64
# RUN: as --gdwarf-5 -o %t.o %s 2>/dev/null || as -o %t.o %s
# RUN: not ftdump --verify=calls,cfi,debug %t.o | FileCheck %s
# RUN: not ftdump --verify=calls,cfi,debug %t.o | FileCheck --check-prefix=COUNT %s
#
# A frame of 65,560 bytes in a field of 16 bits (ocaml#10072):
# CHECK-DAG: the descriptor's frame is 24 bytes, the row's 65560 (CFA = SP +65560
# The CFA follows another register than the stack pointer (ocaml#13595):
# CHECK-DAG: the CFA is DWARF register 3 +24, which is not the stack pointer; the descriptor's frame is 24 bytes
# An out-of-line call of the collector inside a try (docs/findings.md):
# CHECK-DAG: the descriptor's frame is 40 bytes, the row's 24 (CFA = SP +24 {{.*}}; the code agrees with the descriptor
# A call without a descriptor (wasmtime#13461):
# CHECK-DAG: the call at camlFault.missing_4+0x4 goes to camlFault.leaf_9, but no descriptor has its return address
# A descriptor at a C function that is called in place:
# CHECK-DAG: the call goes to caml_string_equal, a C function called in place
# The flags do not fit the entry that is called:
# CHECK-DAG: the descriptor has no allocation flag, the call before it goes to caml_call_gc
# CHECK-DAG: the descriptor has the allocation flag, the call before it goes to camlFault.leaf_9
# A location of another place:
# CHECK-DAG: the descriptor's location is fault.ml:70, the line table has fault.ml:71
# COUNT: 8 wrong, 0 suspect
        .file 1 "fault.ml"
        .macro FUNCTION name
        .globl camlFault.\name
        .type camlFault.\name, @function
camlFault.\name:
        .cfi_startproc
        .endm
        .macro END name
        .cfi_endproc
        .size camlFault.\name, .-camlFault.\name
        .endm
        .macro ENTER n
        subq $\n, %rsp
        .cfi_adjust_cfa_offset \n
        .endm
        .macro LEAVE n
        addq $\n, %rsp
        .cfi_adjust_cfa_offset -\n
        ret
        .endm

        .text
        FUNCTION leaf_9
        ret
        END leaf_9

        FUNCTION wrapped_1
        ENTER 65552
        call camlFault.leaf_9
.L1:    LEAVE 65552
        END wrapped_1

        FUNCTION register_2
        ENTER 16
        .cfi_def_cfa_register 3
        call camlFault.leaf_9
.L2:    .cfi_def_cfa_register 7
        LEAVE 16
        END register_2

        FUNCTION try_3
        ENTER 16
        leaq .Lhandler(%rip), %r11
        pushq %r11
        .cfi_adjust_cfa_offset 8
        pushq 48(%r14)
        .cfi_adjust_cfa_offset 8
        movq %rsp, 48(%r14)
        subq $16, %r15
        cmpq (%r14), %r15
        jb .Lgc
.Lresume:
        popq 48(%r14)
        .cfi_adjust_cfa_offset -8
        addq $8, %rsp
        .cfi_adjust_cfa_offset -8
.Lhandler:
        LEAVE 16
        .cfi_adjust_cfa_offset 16
.Lgc:   call caml_call_gc
.L3:    jmp .Lresume
        END try_3

        FUNCTION missing_4
        ENTER 16
        call camlFault.leaf_9
        call camlFault.leaf_9
.L4:    LEAVE 16
        END missing_4

        FUNCTION noalloc_5
        ENTER 16
        call caml_string_equal
.L5:    LEAVE 16
        END noalloc_5

        FUNCTION flags_6
        ENTER 16
        call caml_call_gc
.L6:    call camlFault.leaf_9
.L7:    LEAVE 16
        END flags_6

        FUNCTION where_7
        .loc 1 70
        ENTER 16
        .loc 1 71
        call camlFault.leaf_9
.L8:    .loc 1 72
        LEAVE 16
        END where_7

        .data
        .globl camlFault.frametable
        .balign 8
camlFault.frametable:
        .quad 8
        .macro DESCRIPTOR label, data
        .quad \label
        .word \data, 0
        .balign 8
        .endm
        .macro ALLOCATES label, data
        .quad \label
        .word \data, 0
        .byte 1, 0
        .balign 8
        .endm
        DESCRIPTOR .L1, 24
        DESCRIPTOR .L2, 24
        ALLOCATES .L3, 42
        DESCRIPTOR .L4, 24
        DESCRIPTOR .L5, 24
        DESCRIPTOR .L6, 24
        ALLOCATES .L7, 26
        .quad .L8
        .word 25, 0
        .balign 4
        .long .Lrecord - .
        .balign 8
.Lrecord:
        .long .Lname - .Lrecord
        .long 70 << 19
        .balign 4
.Lname: .long .Lfile - .Lname
        .asciz "Fault.where"
        .balign 4
.Lfile: .asciz "fault.ml"
        .balign 8
        .size camlFault.frametable, .-camlFault.frametable
