/* Layout B, 4.11-5.1. Descriptors in the order in which compilers leave them: not by address. */
#include "code.S"
        .data
        .8byte  0
        .balign 8
        .globl  camlT__frametable
camlT__frametable:
        .8byte  5
        /* the last call of g: no debuginfo, no root, frame size 0 (T2) */
        .8byte  .Lr4
        .2byte  0, 0
        .balign 8
        /* a call with two roots and a chain of two frames */
        .8byte  .Lr3
        .2byte  32 | 1, 2
        .2byte  8, 24
        .balign 4
        .4byte  .Lchain - .
        .balign 8
        /* a poll: ALLOC without DEBUG, count 0 (T3) */
        .8byte  .Lr2
        .2byte  16 | 2, 1, 1
        .byte   0
        .balign 8
        /* three allocations of 2, 256 and 1 words, the second without a location (T3) */
        .8byte  .Lr1
        .2byte  16 | 3, 3, 0, 3, 7
        .byte   3, 1, 255, 0
        .balign 4
        .4byte  .Lone - .
        .4byte  0
        .4byte  .Lchain - .
        .balign 8
        /* the return to C: its bits look like DEBUG and ALLOC (T4) */
        .8byte  .Lr0
        .2byte  0xFFFF, 0
        .balign 8
.Lone:  /* line 7, 3-1000, raise */
        .4byte  (.Lname1 - .) + (1000 << 26 & 0xFFFFFFFF) + 2
        .4byte  7 << 12 | 3 << 4 | 1000 >> 6
.Lchain: /* b inlined in c */
        .4byte  (.Lname2 - .) + (12 << 26) + 1
        .4byte  1 << 12 | 2 << 4
        .4byte  (.Lname1 - .) + (9 << 26)
        .4byte  1048575 << 12 | 255 << 4
.Lfile: .asciz  "t.ml"
.Lfile2: .asciz "lib/u.ml"
        .balign 4
.Lname1:
        .4byte  .Lfile - .
        .asciz  "T.(fun)"
        .balign 4
.Lname2:
        .4byte  .Lfile2 - .
        .asciz  "U.b"
        .balign 8
        .size   camlT__frametable, . - camlT__frametable
