# One module of OxCaml's packed form of 2026: nothing is aligned, addresses
# are distances and grow. The debuginfo layout is not established.
    .include "portable.inc"
    .text
    .globl camlSample__code_begin
camlSample__code_begin:
FN camlSample__f_1
    FN_CALL camlOther__g_2
.Lcall:
    FN_CALL caml_raise_exn
.Lraise:
    FN_RETURN
FN_END camlSample__f_1
FN camlSample__build_2
    FN_CALL caml_call_gc
.Lalloc:
    FN_CALL caml_call_gc
.Lbare:
    FN_CALL caml_call_gc
.Lpoll:
    FN_RETURN
FN_END camlSample__build_2
FN caml_start_program
    FN_CALL camlSample__f_1
.Lc:
    FN_RETURN
FN_END caml_start_program
    .globl camlSample__code_end
camlSample__code_end:

    .section .rodata
    .balign 8
    .globl camlSample__frametable
    .type camlSample__frametable, %object
camlSample__frametable:
    .8byte 6
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
    .balign 8
    .size camlSample__frametable, . - camlSample__frametable
    .section .note.GNU-stack, "", %progbits
