# One module of OxCaml from 2022-08: as B, and a frame that needs the long form.
    .include "portable.inc"
    .include "sample.inc"
    SAMPLE_CODE __
    .data
    SAMPLE_TABLE __, 6
# the long form: its mark, then everything in 32 bits
    .8byte .Lcall
    .2byte 0x7fff
    .balign 4
    .4byte 70000 + 1, 2, 8, 69000
    .balign 4
    .4byte .Lplace1 - .
    .balign 8
    SAMPLE_REST_B
    SAMPLE_PLACES_B
.Lfile:
    .asciz "sample.ml"
    SAMPLE_END __
