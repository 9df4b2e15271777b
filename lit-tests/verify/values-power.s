# Inputs/values.inc for power.
# REQUIRES: cc-power
# RUN: %cc_power -x assembler-with-cpp -I %S/Inputs -c -o %t.o %s
# RUN: not ftdump --verify=frame,live %t.o \
# RUN:   | FileCheck --implicit-check-not='{{^(wrong|suspect)}}' -DSLOT=32 %S/Inputs/values.inc
# RUN: not ftdump --verify=abi %t.o | FileCheck --check-prefix=ABI %S/Inputs/values.inc
# RUN: not ftdump --verify=calls %t.o \
# RUN:   | FileCheck --implicit-check-not='{{^(wrong|suspect)}}' --check-prefix=CALLS %S/Inputs/values.inc
#include "power.inc"
#include "values.inc"
