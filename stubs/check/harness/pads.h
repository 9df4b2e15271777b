/* pads.h - every place a stub can leave to. Each is a few instructions that
 * keep all registers in sc_block and wake the harness; PAD(name) is expanded to
 * code by ARCH.S and to an event number by harness.h, in the same order. */
/* C functions of the runtime */
PAD(caml_garbage_collection)
PAD(caml_try_realloc_stack)
PAD(caml_stash_backtrace)
PAD(caml_array_bound_error_asm)
PAD(caml_array_bound_error)
PAD(caml_free_stack)
PAD(caml_raise_unhandled_effect)
PAD(caml_raise_continuation_already_resumed)
/* OCaml functions */
PAD(caml_program)
PAD(caml_apply2)
PAD(caml_apply3)
/* places of the harness: return addresses, handlers, code of closures */
PAD(sc_ocaml_return)
PAD(sc_outer_return)
PAD(sc_handler)
PAD(sc_outer_handler)
PAD(sc_c_return)
PAD(sc_c_function)
PAD(sc_closure_code)
PAD(sc_handle_value)
PAD(sc_handle_exn)
PAD(sc_unknown)
