# One module of OxCaml from 2023-03: relative return addresses, long frames.
    .include "portable.inc"
    .include "sample.inc"
    SAMPLE_CODE __
    .section .rodata
    SAMPLE_TABLE __, 6
# the long form: its mark, then everything in 32 bits
    .4byte .Lcall - .
    .2byte 0x7fff, 0
    .4byte 70000 + 1, 2, 8, 69000
    .4byte .Lplace1 - .
    .balign 8
    .4byte .Lraise - .
    .2byte 32 + 1, 0
    .balign 4
    .4byte .Lplace2 - .
    .balign 8
# register 1 and slot 0, wosize 2 and 4
    .4byte .Lalloc - .
    .2byte 16 + 3, 2, 0, 3
    .byte 2, 1, 3
    .balign 4
    .4byte .Lplace3 - ., .Lplace4 - .
    .balign 8
# wosize 1, debuginfo for none
    .4byte .Lbare - .
    .2byte 16 + 2, 0
    .byte 1, 0
    .balign 8
    .4byte .Lpoll - .
    .2byte 16 + 2, 0
    .byte 0
    .balign 8
    .4byte .Lc - .
    .2byte 0xffff, 0
    .balign 8
    SAMPLE_PLACES_C
.Lfile:
    .asciz "sample.ml"
    SAMPLE_END __
