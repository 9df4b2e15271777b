/* O2: return addresses relative to themselves; negative offsets. */
#include "code.S"
        .section .rodata
        .balign 8
        .globl  camlT__frametable
        .type   camlT__frametable, STT_OBJECT
camlT__frametable:
        .8byte  3
        .4byte  .Lr3 - .
        .2byte  32 | 1, 2, 8, 0xFFF8
        .balign 4
        .4byte  .Lone - .
        .balign 8, 0
        .4byte  .Lr2 - .
        .2byte  0x7FFF, 0
        .4byte  1048576 | 3, 3, 16, 1048568, 9
        .byte   2, 4, 0
        .balign 4, 0
        .4byte  .Lone - ., 0
        .balign 8, 0
        .4byte  .Lr0 - .
        .2byte  0xFFFF, 0
        .balign 8, 0
.Lone:  .4byte  (.Lname1 - .) + (100 << 26 & 0xFFFFFFFF)
        .4byte  7 << 19 | 2 << 16 | 3 << 10 | 5 << 3 | 100 >> 6
.Lfile: .asciz  "t.ml"
        .balign 4, 0
.Lname1:
        .4byte  .Lfile - .
        .asciz  "T.f"
        .balign 8, 0
        .size   camlT__frametable, . - camlT__frametable
