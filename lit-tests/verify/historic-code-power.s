# Faults that really happened, on power: Inputs/historic.inc.
# REQUIRES: cc-power
# RUN: %cc_power -x assembler-with-cpp -I %S/Inputs -c -o %t.o %s
# RUN: not ftdump --verify=alloc,frame,live,abi --function='camlF.*' %t.o | FileCheck %s
# RUN: ftdump --verify=alloc,frame,live --function='camlOk.*' %t.o | FileCheck --check-prefix=OK %s
# OK: 0 wrong, 0 suspect
# CHECK: wrong   frame-size  camlF.wrapped+
# CHECK-NEXT: the frame size is 48, the code has brought the stack pointer down by 65584 bytes
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
# CHECK-NEXT: the function takes 48 bytes of the stack: the check must ask for 360, it asks for 352
# CHECK: wrong   abi-poll  camlF.spin+
# CHECK: wrong   frame-retaddr  camlF.astray+
# CHECK-NEXT: the collector reads the return address at [64], where on some path nobody has stored it
# CHECK: wrong   frame-retaddr  camlF.over+
# CHECK-NEXT: where on some path something else has been stored
# CHECK: wrong   frame-retaddr  camlF.half+
# CHECK-NEXT: where on some path nobody has stored it
# CHECK: wrong   frame-retaddr  camlF.late+{{.*}}
# CHECK-NEXT: at [64], where on some path nobody has stored it
# CHECK: wrong   frame-retaddr  camlF.late+{{.*}}
# CHECK-NEXT: at [16], where on some path nobody has stored it
# CHECK: wrong   frame-retaddr  camlF.grown+
# CHECK-NOT: wrong   frame-retaddr
# CHECK: frame-size {{.*}} 1{{$}}
# CHECK: the stack pointer cannot be followed to the call
# CHECK: frame-retaddr {{ *}}1  the frame size is wrong (see frame-size)
#include "power.inc"
#include "historic.inc"
