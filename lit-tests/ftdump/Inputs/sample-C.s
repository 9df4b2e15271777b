# One module of OCaml 5.2 to 5.4: a call, a raise, two combined blocks of
# which one is inlined code, a block without a place, a poll, a return to C.
    .include "portable.inc"
    .include "sample.inc"
    SAMPLE_CODE .
    .data
    SAMPLE_TABLE ., 6
# call, two slots
    .8byte .Lcall
    .2byte 32 + 1, 2, 8, 16
    .balign 4
    .4byte .Lplace1 - .
    .balign 8
    .8byte .Lraise
    .2byte 32 + 1, 0
    .balign 4
    .4byte .Lplace2 - .
    .balign 8
# register 1 and slot 0, wosize 2 and 4
    .8byte .Lalloc
    .2byte 16 + 3, 2, 0, 3
    .byte 2, 1, 3
    .balign 4
    .4byte .Lplace3 - ., .Lplace4 - .
    .balign 8
# wosize 1, debuginfo for none
    .8byte .Lbare
    .2byte 16 + 2, 0
    .byte 1, 0
    .balign 8
    .8byte .Lpoll
    .2byte 16 + 2, 0
    .byte 0
    .balign 8
    .8byte .Lc
    .2byte 0xffff, 0
    .balign 8
    SAMPLE_PLACES_C
.Lfile:
    .asciz "sample.ml"
    SAMPLE_END .
