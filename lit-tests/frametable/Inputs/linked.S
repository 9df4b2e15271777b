/* A whole program: the table of gen-c, an empty one, one of the stubs (T20: no pad before other
   data), and the array. */
#include "gen-c.S"
        .globl  caml_startup.frametable
        .balign 8
caml_startup.frametable:
        .8byte  0
        .globl  caml_system.frametable
caml_system.frametable:
        .8byte  1
        .8byte  .Ls0
        .2byte  0xFFFF, 0
        .size   caml_system.frametable, . - caml_system.frametable
        .4byte  0x12345678
        .balign 8
        .globl  caml_frametable
caml_frametable:
        .8byte  caml_startup.frametable, caml_system.frametable, camlT.frametable, 0
        .text
        .globl  external
        .type   external, STT_FUNC
external:
        CALL
.Ls0:   .8byte  0
        .size   external, . - external
        .globl  _start
_start: .8byte  0
        .section .note.GNU-stack,"",%progbits
