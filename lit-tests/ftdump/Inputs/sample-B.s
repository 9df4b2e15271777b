# One module of OCaml 4.11 to 5.0 (the separator is __): a call, a raise, two combined blocks of
# which one is inlined code, a block without a place, a poll, a return to C.
    .include "portable.inc"
    .include "sample.inc"
    SAMPLE_CODE __
    .data
    SAMPLE_TABLE __, 6
# call, two slots
    .8byte .Lcall
    .2byte 32 + 1, 2, 8, 16
    .balign 4
    .4byte .Lplace1 - .
    .balign 8
    SAMPLE_REST_B
    SAMPLE_PLACES_B
.Lfile:
    .asciz "sample.ml"
    SAMPLE_END __
