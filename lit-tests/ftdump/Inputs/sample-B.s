# One module of OCaml 4.11 to 5.0 (the separator is __): a call, a raise, two combined blocks of
# which one is inlined code, a block without a place, a poll, a return to C.
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

    .data
    .balign 8
    .globl camlSample__frametable
    .type camlSample__frametable, %object
camlSample__frametable:
    .8byte 6
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
.Lplace1:
    PLACE_B .Lf, 0, 12, 3, 15
.Lplace2:
    PLACE_B .Lf, 2, 13, 4, 29
.Lplace3:
    PLACE_B .Lbuild, 1, 20, 10, 16
    PLACE_B .Lbuild, 0, 31, 2, 19
.Lplace4:
    PLACE_B .Lfun, 0, 5000, 70, 1000
    .balign 4
.Lf:
    NAME .Lfile, "Sample.f"
    .balign 4
.Lbuild:
    NAME .Lfile, "Sample.build"
    .balign 4
.Lfun:
    NAME .Lfile, "Sample.build.(fun)"
.Lfile:
    .asciz "sample.ml"
    .balign 8
    .size camlSample__frametable, . - camlSample__frametable
    .section .note.GNU-stack, "", %progbits
