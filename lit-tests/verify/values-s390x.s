# Inputs/values.inc for s390x.
# REQUIRES: cc-s390x
# RUN: %cc_s390x -x assembler-with-cpp -I %S/Inputs -c -o %t.o %s
# RUN: not ftdump --verify=frame,live %t.o \
# RUN:   | FileCheck --implicit-check-not='{{^(wrong|suspect)}}' -DSLOT=0 %S/Inputs/values.inc
# RUN: not ftdump --verify=abi %t.o | FileCheck --check-prefix=ABI %S/Inputs/values.inc
# RUN: not ftdump --verify=calls %t.o \
# RUN:   | FileCheck --implicit-check-not='{{^(wrong|suspect)}}' --check-prefix=CALLS %S/Inputs/values.inc
#include "s390x.inc"
#include "values.inc"
