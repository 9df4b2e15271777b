/* O3: packed, by increasing address; deltas are differences of return addresses. */
#include "code.S"
        .section .rodata
        .balign 8
        .globl  camlT__frametable
        .type   camlT__frametable, STT_OBJECT
camlT__frametable:
        .8byte  5
        .byte   0                       /* the first is escaped: return to C */
        .4byte  .Lr0 - .
        .2byte  0xFFFF, 0
        .byte   LEN                     /* call, frame 48, slots 0 and 40 */
        .byte   48 / 16 << 2 | 1, 0x21
        .4byte  .Lrecord - .
        .byte   LEN | 0x80, 0           /* a padded delta; frame 16, registers 0 and 7, two blocks */
        .byte   16 / 16 << 2 | 3, 0x81, 2, 0x3F, 0
        .4byte  .Lrecord - ., 0
        .byte   0                       /* escaped, long */
        .4byte  .Lr3 - .
        .2byte  0x7FFF, 0
        .4byte  65536, 2, 32768, 5
        .byte   LEN, 1008 / 16 << 2     /* frame 1008: 126 bits */
        .space  15
        .byte   0x20
.Lrecord:
        .4byte  0x11223344, 0x55667788
        .size   camlT__frametable, . - camlT__frametable
