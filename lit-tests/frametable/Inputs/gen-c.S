/* Layout C, 5.2-5.4: descriptors as B, two packings of locations. */
#include "code.S"
        .data
        .8byte  0
        .balign 8
        .globl  camlT.frametable
camlT.frametable:
        .8byte  5
        .8byte  .Lr4
        .2byte  0, 0
        .balign 8
        .8byte  .Lr3
        .2byte  32 | 1, 2, 8, 24
        .balign 4
        .4byte  .Lchain - .
        .balign 8
        .8byte  .Lr2
        .2byte  16 | 2, 1, 1
        .byte   0
        .balign 8
        .8byte  .Lr1
        .2byte  16 | 3, 3, 0, 3, 7
        .byte   3, 1, 255, 0
        .balign 4
        .4byte  .Lone - .
        .4byte  0
        .4byte  .Lchain - .
        .balign 8
        .8byte  .Lr0
        .2byte  0xFFFF, 0
        .balign 8
.Lone:  /* line 7 to 9, columns 3 and 5, end offset 105: bol delta 100; raise */
        .4byte  (.Lname1 - .) + (100 << 26 & 0xFFFFFFFF) + 2
        .4byte  7 << 19 | 2 << 16 | 3 << 10 | 5 << 3 | 100 >> 6
.Lchain: /* line 430 to 469 (more than 7 lines: wide), inlined in line 12 */
        .4byte  (.Lname2 - .) + (39 << 26 & 0xFFFFFFFF) + 1
        .4byte  1 << 31 | 430 << 12 | 39 >> 6
        .4byte  (.Lname1 - .)
        .4byte  12 << 19 | 1 << 10 | 63 << 3
.Lfile: .asciz  "t.ml"
.Lfile2: .asciz "lib/u.ml"
        .balign 4
.Lname1:
        .4byte  .Lfile - .
        .asciz  "T.(fun)"
        .balign 4
.Lname2:
        .4byte  .Lfile2 - .
        .2byte  0, 3
        .4byte  1124
        .asciz  "U.b"
        .balign 8
        .size   camlT.frametable, . - camlT.frametable
