(* Work for extensions_stubs.c: `allocate n` makes n pairs. *)
external test : (int -> unit) -> unit = "extensions_test"
let allocate n = for i = 1 to n do ignore (Sys.opaque_identity (i, i)) done
let () = test allocate; print_endline "done"
