# Faults that really happened, on s390x: Inputs/historic.inc.
# REQUIRES: cc-s390x
# RUN: %cc_s390x -x assembler-with-cpp -I %S/Inputs -c -o %t.o %s
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
#define A %r2
#define B %r3
#define P %r4
        .set FRAME, 16
        .set SLOT, 0
        .set RA, 0
        .set RB, 1
        .macro ROOM
        lay %r15, -16(%r15)
        .endm
        .macro KEEP
        stg %r14, 8(%r15)
        .endm
        .macro ASTRAY
        stg %r14, 0(%r15)
        .endm
        .macro LOSE
        stg A, 8(%r15)
        .endm
        .macro LEAVE
        lg %r14, 8(%r15)
        la %r15, 16(%r15)
        br %r14
        .endm
        .macro RETURN
        br %r14
        .endm
        .macro PUT r
        stg \r, 0(%r15)
        .endm
        .macro GET r
        lg \r, 0(%r15)
        .endm
        .macro TAKE n
        lay %r11, -\n(%r11)
        .endm
        .macro FULL l
        clg %r11, 0(%r10)
        jgl \l
        .endm
        .macro FULLS l
        cg %r11, 0(%r10)
        jgl \l
        .endm
        .macro FULLP l
        clg %r11, 0(%r10)
        jgle \l
        .endm
        .macro NEW r, n
        la \r, \n(%r11)
        .endm
        .macro HEAD r, n
        lghi %r1, 1024*\n
        stg %r1, -8(\r)
        .endm
        .macro FILL a, r, n
        stg \a, \n(\r)
        .endm
        .macro READ a, r
        lg \a, 0(\r)
        .endm
        .macro STEP r
        la \r, 16(\r)
        .endm
        .macro ODD r, l
        cghi \r, 1
        jge \l
        .endm
        .macro TO f
        brasl %r14, \f@PLT
        .endm
        .macro GO l
        jg \l
        .endm
        .macro DOMAIN
        lgr %r10, %r2
        .endm
        .macro DROP
        lay %r15, -65536(%r15)
        .endm
        .macro LIFT
        lay %r15, 65536(%r15)
        .endm
        .macro DROP16
        lay %r15, -16(%r15)
        .endm
        .macro WILD
        sgr %r15, %r2
        .endm
        .macro GROW l
        lay %r1, -ASK(%r15)
        clg %r1, 40(%r10)
        jgl \l
        .endm
        .macro GROWN l
        lay %r15, -8(%r15)
        stg %r14, 0(%r15)
        lgfi %r12, 34
        brasl %r14, caml_call_realloc_stack@PLT
        lg %r14, 0(%r15)
        la %r15, 8(%r15)
        jg \l
        .endm
#include "historic.inc"
