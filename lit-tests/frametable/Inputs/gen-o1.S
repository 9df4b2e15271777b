/* O1: as B, and a long form behind the marker 0x7FFF. */
#include "code.S"
        .data
        .8byte  0
        .balign 8
        .globl  camlT__frametable
camlT__frametable:
        .8byte  3
        .8byte  .Lr3
        .2byte  32 | 1, 2, 8, 24
        .balign 4
        .4byte  .Lone - .
        .balign 8
        .8byte  .Lr2
        .2byte  0x7FFF
        .balign 4
        .4byte  1048576 | 3, 3, 16, 1048568, 9
        .byte   2, 4, 0
        .balign 4
        .4byte  .Lone - ., 0
        .balign 8
        .8byte  .Lr0
        .2byte  0xFFFF, 0
        .balign 8
.Lone:  .4byte  (.Lname1 - .) + (60 << 26 & 0xFFFFFFFF)
        .4byte  7 << 12 | 3 << 4
.Lfile: .asciz  "t.ml"
        .balign 4
.Lname1:
        .4byte  .Lfile - .
        .asciz  "T.f"
        .balign 8
        .size   camlT__frametable, . - camlT__frametable
