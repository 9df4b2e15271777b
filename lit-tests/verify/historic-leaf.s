# ocaml#11436: a function whose only call is a failed bound check does not store its return address.
# REQUIRES: cc-arm64
# RUN: %as_arm64 -o %t.o %s
# RUN: not ftdump --verify=cfi %t.o | FileCheck %s
# The rows may be in .debug_frame as well:
# RUN: sed '1i .cfi_sections .debug_frame' %s | %as_arm64 -o %t.debug.o - \
# RUN:   && not ftdump --verify=cfi %t.debug.o | FileCheck %s
# The code says the same, and says it itself where no row does:
# RUN: not ftdump --verify=frame,cfi %t.o | FileCheck --check-prefixes=CHECK,ONCE %s
# RUN: ftdump --verify=frame %t.o | FileCheck --check-prefix=ONCE %s
# RUN: sed 's/\.cfi_.*//' %s | %as_arm64 -o %t.bare.o - \
# RUN:   && not ftdump --verify=frame %t.bare.o | FileCheck --check-prefix=BARE %s
# CHECK: wrong   cfi-return  camlLeaf.get_1+0x14
# CHECK-NEXT: no rule says where the return address is (it is still in its register), the collector reads it at CFA-8
# CHECK: 1 wrong, 0 suspect
# ONCE: frame-retaddr {{ *1 +0 +0 +1$}}
# ONCE: frame-retaddr {{.*}} only a backtrace comes here, and the row says so too (see cfi-return)
# BARE: wrong   frame-retaddr  camlLeaf.get_1+0x14
# BARE-NEXT: the collector reads the return address at [-8], where on some path nobody has stored it
# BARE: 1 wrong, 0 suspect
        .text
        .globl camlLeaf.get_1
        .type camlLeaf.get_1, @function
camlLeaf.get_1:
        .cfi_startproc
        ldr x2, [x0, #-8]
        cmp x1, x2, lsr #9
        b.cs .Lbound
        ret
.Lbound:
        bl caml_ml_array_bound_error
.L1:    .cfi_endproc
        .size camlLeaf.get_1, .-camlLeaf.get_1

        .globl camlLeaf.kept_2
        .type camlLeaf.kept_2, @function
camlLeaf.kept_2:
        .cfi_startproc
        sub sp, sp, #16
        .cfi_adjust_cfa_offset 16
        str x30, [sp, #8]
        .cfi_offset 30, -8
        bl caml_ml_array_bound_error
.L2:    .cfi_endproc
        .size camlLeaf.kept_2, .-camlLeaf.kept_2
        .data
        .globl camlLeaf.frametable
        .balign 8
camlLeaf.frametable:
        .quad 2
        .quad .L1
        .hword 0, 0
        .balign 8
        .quad .L2
        .hword 16, 0
        .balign 8
        .size camlLeaf.frametable, .-camlLeaf.frametable
