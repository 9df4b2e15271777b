# A finding shows itself: verdict, rule, place, both views, code, descriptor; a
# baseline silences it; JSON has it too.
# REQUIRES: cc-amd64
# RUN: as -o %t.o %s
# RUN: not ftdump --verify=structure,calls %t.o | FileCheck %s
# RUN: echo 'call-before camlFault.f_1+0x1' > %t.baseline
# RUN: ftdump --verify=structure,calls --baseline=%t.baseline %t.o \
# RUN:   | FileCheck --check-prefix=BASE %s
# RUN: (echo '# known'; not ftdump --verify=structure,calls %t.o | sed -n 's/^wrong.*/&  # as it was shown/p') > %t.baseline
# RUN: ftdump --verify=structure,calls --baseline=%t.baseline %t.o \
# RUN:   | FileCheck --check-prefix=BASE %s
# RUN: not ftdump --verify=structure,calls --output-style=json %t.o \
# RUN:   | FileCheck --check-prefix=JSON %s
# RUN: not ftdump --verify=structure,calls --module=Nobody %t.o 2>&1 \
# RUN:   | FileCheck --check-prefix=MODULE %s
# RUN: not ftdump --verify=structure,calls --function='f_1' %t.o 2>&1 \
# RUN:   | FileCheck --check-prefix=FUNCTION %s
# RUN: not ftdump --verify=structure,calls --function='*f_1' %t.o 2>&1 | FileCheck %s
# CHECK: wrong   call-before  camlFault.f_1+0x1
# CHECK-NEXT: no call instruction of amd64 ends at 0x{{[0-9a-f]+}}, so nothing returns there
# CHECK: call, frame 8, 0 roots, 0 blocks
# CHECK: 1 wrong, 0 suspect
# BASE: 0 wrong, 0 suspect, 1 in the baseline
# JSON: "rule":"call-before"
# MODULE: no module matches --module
# FUNCTION: no descriptor matches --module and --function
        .text
        .globl camlFault.f_1
        .type camlFault.f_1, @function
camlFault.f_1:
        nop
.L1:    ret
        .size camlFault.f_1, .-camlFault.f_1
        .data
        .globl camlFault.frametable
        .balign 8
camlFault.frametable:
        .quad 1
        .quad .L1
        .word 8, 0
        .balign 8
        .size camlFault.frametable, .-camlFault.frametable
