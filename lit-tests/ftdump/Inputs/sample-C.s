# One module of OCaml 5.2 to 5.4: a call, a raise, two combined blocks of
# which one is inlined code, a block without a place, a poll, a return to C.
    .include "portable.inc"
    .text
    .globl camlSample.code_begin
camlSample.code_begin:
FN camlSample.f_1
    FN_CALL camlOther.g_2
.Lcall:
    FN_CALL caml_raise_exn
.Lraise:
    FN_RETURN
FN_END camlSample.f_1
FN camlSample.build_2
    FN_CALL caml_call_gc
.Lalloc:
    FN_CALL caml_call_gc
.Lbare:
    FN_CALL caml_call_gc
.Lpoll:
    FN_RETURN
FN_END camlSample.build_2
FN caml_start_program
    FN_CALL camlSample.f_1
.Lc:
    FN_RETURN
FN_END caml_start_program
    .globl camlSample.code_end
camlSample.code_end:

    .data
    .balign 8
    .globl camlSample.frametable
    .type camlSample.frametable, %object
camlSample.frametable:
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
    PLACE_C .Lf, 0, 12, 0, 3, 15, 0
.Lplace2:
    PLACE_C .Lf, 2, 13, 1, 4, 9, 20
.Lplace3:
    PLACE_C .Lbuild, 1, 20, 0, 10, 16, 0
    PLACE_C .Lbuild, 0, 31, 0, 2, 19, 0
.Lplace4:
    WIDE_C .Lwide, 0, 5000, 40
    .balign 4
.Lf:
    NAME .Lfile, "Sample.f"
    .balign 4
.Lbuild:
    NAME .Lfile, "Sample.build"
    .balign 4
.Lwide:
    NAME_WIDE .Lfile, 70, 130, 1500, "Sample.build.(fun)"
.Lfile:
    .asciz "sample.ml"
    .balign 8
    .size camlSample.frametable, . - camlSample.frametable
    .section .note.GNU-stack, "", %progbits
