# A module without any call: a table of no descriptor.
    .data
    .balign 8
    .globl camlEmpty.frametable
camlEmpty.frametable:
    .8byte 0
    .size camlEmpty.frametable, . - camlEmpty.frametable
    .section .note.GNU-stack, "", %progbits
