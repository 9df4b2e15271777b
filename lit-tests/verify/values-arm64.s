# Inputs/values.inc for arm64.
# REQUIRES: cc-arm64
# RUN: %cc_arm64 -x assembler-with-cpp -I %S/Inputs -c -o %t.o %s
# RUN: not ftdump --verify=frame,live %t.o \
# RUN:   | FileCheck --implicit-check-not='{{^(wrong|suspect)}}' -DSLOT=0 %S/Inputs/values.inc
# RUN: not ftdump --verify=abi %t.o | FileCheck --check-prefix=ABI %S/Inputs/values.inc
# RUN: not ftdump --verify=calls %t.o \
# RUN:   | FileCheck --implicit-check-not='{{^(wrong|suspect)}}' --check-prefix=CALLS %S/Inputs/values.inc
#include "arm64.inc"
#include "values.inc"
