# One module of OCaml 4.05 to 4.10: a call in inlined code, a raise, an
# allocation (no sizes, no place), a return to C.
    .include "portable.inc"
    .include "sample.inc"
    SAMPLE_CODE __
    .data
    SAMPLE_TABLE __, 4
# call, two slots; the debuginfo is a pointer
    .8byte .Lcall
    .2byte 32 + 1, 2, 8, 16
    .balign 8
    .8byte .Lplace1
    .8byte .Lraise
    .2byte 32 + 1, 0
    .balign 8
    .8byte .Lplace2
# allocation: register 1 and slot 0
    .8byte .Lalloc
    .2byte 16, 2, 0, 3
    .balign 8
    .8byte .Lc
    .2byte 0xffff, 0
    .balign 8
.Lplace1:
    PLACE_B .Lfile, 0, 12, 3, 15
    .8byte .Lplace3
.Lplace2:
    PLACE_B .Lfile, 1, 13, 4, 29
    .8byte 0
.Lplace3:
    PLACE_B .Lfile, 0, 31, 2, 19
    .8byte 0
.Lfile:
    .asciz "sample.ml"
    SAMPLE_END __
