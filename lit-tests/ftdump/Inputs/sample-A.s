# One module of OCaml 4.05 to 4.10: a call in inlined code, a raise, an
# allocation (no sizes, no place), a return to C.
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
    .8byte 4
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
    .balign 8
    .size camlSample__frametable, . - camlSample__frametable
    .section .note.GNU-stack, "", %progbits
