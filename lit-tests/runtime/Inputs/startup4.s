# What the start-up unit of OCaml 4 gives a runtime; its list of tables names OCaml 4's own.
    .data
    .balign 8
    .globl caml_frametable, caml_globals, caml_program, caml_code_segments, caml_data_segments
    .globl caml_globals_map, caml_apply2, caml_apply3
    .globl caml_exn_Out_of_memory, caml_exn_Sys_error, caml_exn_Failure, caml_exn_Invalid_argument
    .globl caml_exn_End_of_file, caml_exn_Division_by_zero, caml_exn_Not_found, caml_exn_Match_failure
    .globl caml_exn_Stack_overflow, caml_exn_Sys_blocked_io, caml_exn_Assert_failure
    .globl caml_exn_Undefined_recursive_module
caml_frametable:
    .quad caml_system__frametable
caml_globals:
caml_program:
caml_code_segments:
caml_data_segments:
caml_globals_map:
caml_apply2:
caml_apply3:
caml_exn_Out_of_memory:
caml_exn_Sys_error:
caml_exn_Failure:
caml_exn_Invalid_argument:
caml_exn_End_of_file:
caml_exn_Division_by_zero:
caml_exn_Not_found:
caml_exn_Match_failure:
caml_exn_Stack_overflow:
caml_exn_Sys_blocked_io:
caml_exn_Assert_failure:
caml_exn_Undefined_recursive_module:
    .quad 0
    .section .note.GNU-stack,"",%progbits
