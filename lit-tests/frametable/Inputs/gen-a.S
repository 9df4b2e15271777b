/* Layout A, 4.05-4.10: an absolute pointer to the debuginfo, records linked by pointers. */
#include "code.S"
        .data
        .8byte  0
        .balign 8
        .globl  camlT__frametable
camlT__frametable:
        .8byte  5
        .8byte  .Lr4
        .2byte  0, 0
        .balign 8
        .8byte  .Lr3
        .2byte  32 | 1, 2, 8, 24
        .balign 8
        .8byte  .Lchain
        .8byte  .Lr2
        .2byte  16, 1, 1
        .balign 8
        .8byte  .Lr1
        .2byte  16 | 1, 0
        .balign 8
        .8byte  .Lone
        .8byte  .Lr0
        .2byte  0xFFFF, 0
        .balign 8
.Lone:  .4byte  (.Lfile - .) + (1000 << 26 & 0xFFFFFFFF) + 1
        .4byte  7 << 12 | 3 << 4 | 1000 >> 6
        .8byte  .Lend
.Lchain:
        .4byte  (.Lfile2 - .) + (12 << 26)
        .4byte  1 << 12 | 2 << 4
        .8byte  .Lend
.Lend:  /* shared by both */
        .4byte  (.Lfile - .) + (9 << 26)
        .4byte  1048575 << 12 | 255 << 4
        .8byte  0
.Lfile: .asciz  "t.ml"
        .balign 8
.Lfile2: .asciz "lib/u.ml"
        .balign 8
        .size   camlT__frametable, . - camlT__frametable
