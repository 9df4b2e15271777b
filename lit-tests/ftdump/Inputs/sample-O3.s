# One module of OxCaml's packed form of 2026: nothing is aligned, addresses
# are distances and grow. The debuginfo layout is not established.
    .include "portable.inc"
    .include "sample.inc"
    SAMPLE_CODE __
    .section .rodata
    SAMPLE_TABLE __, 6
# escaped, as the first of a table must be
    .byte 0
    .4byte .Lcall - .
    .2byte 32 + 1, 2, 8, 16
    .4byte .Lplace1 - .
# distance (ULEB128: one byte here); size / 16, flags; slots as bits
    .byte .Lraise - .Lcall
    .byte (2 << 2) + 1, 0
    .4byte .Lplace2 - .
# registers as bits, count, lengths as nibbles, slots
    .byte .Lalloc - .Lraise
    .byte (1 << 2) + 3, 2, 2, 0x31, 1
    .4byte .Lplace1 - ., .Lplace2 - .
    .byte .Lbare - .Lalloc
    .byte (1 << 2) + 2, 0, 1, 0, 0
    .byte .Lpoll - .Lbare
    .byte (1 << 2) + 2, 0, 0, 0
# escaped: the return to C
    .byte 0
    .4byte .Lc - .
    .2byte 0xffff, 0
    .balign 4
.Lplace1:
    .4byte 0x11112222, 0x33334444
.Lplace2:
    .4byte 0x55556666, 0x77778888
    SAMPLE_END __
