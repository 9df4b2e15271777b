# Faults that really happened, on riscv64: Inputs/historic.inc.
# REQUIRES: cc-riscv64
# RUN: %cc_riscv64 -x assembler-with-cpp -I %S/Inputs -c -o %t.o %s
# RUN: not ftdump --verify=alloc,frame,live,abi --function='camlF.*' %t.o | FileCheck %s
# RUN: ftdump --verify=alloc,frame,live --function='camlOk.*' %t.o | FileCheck --check-prefix=OK %s
# OK: 0 wrong, 0 suspect
# CHECK: wrong   frame-size  camlF.wrapped+
# CHECK-NEXT: the frame size is 16, the code has brought the stack pointer down by 65552 bytes
# CHECK: wrong   alloc-decrement  camlF.lengths+
# CHECK-NEXT: the 2 blocks take 40 bytes with their headers, the fast path takes 48
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
# CHECK: wrong   abi-stack  camlF.branch+
# CHECK-NEXT: bytes of the stack, calls OCaml code and does not check that they are there
# CHECK: wrong   abi-reserved  camlF.domain+
# CHECK: wrong   frame-return  camlF.left+
# CHECK-NEXT: with the stack pointer 16 bytes below where it entered
# CHECK: wrong   abi-stack  camlF.little+
# CHECK-NEXT: the function takes 16 bytes of the stack: the check must ask for 328, it asks for 320
# CHECK: wrong   abi-poll  camlF.spin+
# CHECK: wrong   frame-retaddr  camlF.astray+
# CHECK-NEXT: the collector reads the return address at [8], where on some path nobody has stored it
# CHECK: wrong   frame-retaddr  camlF.over+
# CHECK-NEXT: where on some path something else has been stored
# CHECK: wrong   frame-retaddr  camlF.half+
# CHECK-NEXT: where on some path nobody has stored it
# CHECK: wrong   frame-retaddr  camlF.late+{{.*}}
# CHECK-NEXT: at [8], where on some path nobody has stored it
# CHECK: wrong   frame-retaddr  camlF.late+{{.*}}
# CHECK-NEXT: at [-8], where on some path nobody has stored it
# CHECK: wrong   frame-retaddr  camlF.grown+
# CHECK-NOT: wrong   frame-retaddr
# CHECK: frame-size {{.*}} 1{{$}}
# CHECK: the stack pointer cannot be followed to the call
#define A a0
#define B a1
#define P a2
        .set FRAME, 16
        .set SLOT, 0
        .set RA, 0
        .set RB, 1
        .macro ROOM
        addi sp, sp, -16
        .endm
        .macro KEEP
        sd ra, 8(sp)
        .endm
        .macro ASTRAY
        sd ra, 0(sp)
        .endm
        .macro LOSE
        sd A, 8(sp)
        .endm
        .macro LEAVE
        ld ra, 8(sp)
        addi sp, sp, 16
        ret
        .endm
        .macro RETURN
        ret
        .endm
        .macro PUT r
        sd \r, 0(sp)
        .endm
        .macro GET r
        ld \r, 0(sp)
        .endm
        .macro TAKE n
        addi s10, s10, -\n
        .endm
        .macro FULL l
        ld t0, 0(s11)
        bltu s10, t0, \l
        .endm
        .macro FULLS l
        ld t0, 0(s11)
        blt s10, t0, \l
        .endm
        .macro FULLP l
        ld t0, 0(s11)
        bleu s10, t0, \l
        .endm
        .macro NEW r, n
        addi \r, s10, \n
        .endm
        .macro HEAD r, n
        li t0, 1024*\n
        sd t0, -8(\r)
        .endm
        .macro FILL a, r, n
        sd \a, \n(\r)
        .endm
        .macro READ a, r
        ld \a, 0(\r)
        .endm
        .macro STEP r
        addi \r, \r, 16
        .endm
        .macro ODD r, l
        li t0, 1
        beq \r, t0, \l
        .endm
        .macro TO f
        call \f
        .endm
        .macro GO l
        j \l
        .endm
        .macro DOMAIN
        mv s11, a0
        .endm
        .macro DROP
        li t0, -65536
        add sp, sp, t0
        .endm
        .macro LIFT
        li t0, 65536
        add sp, sp, t0
        .endm
        .macro DROP16
        addi sp, sp, -16
        .endm
        .macro WILD
        sub sp, sp, a0
        .endm
        .macro GROW l
        ld t1, 40(s11)
        addi t1, t1, ASK
        bltu sp, t1, \l
        .endm
        .macro GROWN l
        li t1, 34
        addi sp, sp, -16
        sd t1, 0(sp)
        sd ra, 8(sp)
        call caml_call_realloc_stack
        ld ra, 8(sp)
        addi sp, sp, 16
        j \l
        .endm
#include "historic.inc"
