(* Work for extensions_stubs.c: `allocate n` makes n pairs; `profile` is Gc.Memprof itself. *)
module M = Gc.Memprof
external test : (int -> unit) -> (bool -> int) -> unit = "extensions_test"
let allocate n = for i = 1 to n do ignore (Sys.opaque_identity (i, i)) done

let pairs = ref 0
let alloc i = if i.M.size = 2 then incr pairs; Some ()
let tracker = { M.null_tracker with alloc_minor = alloc; promote = (fun () -> Some ()) }

(* Starts it; or ends it and says how many pairs it saw. *)
let profile on =
  if on then begin pairs := 0; ignore (M.start ~sampling_rate:1. tracker) end else M.stop ();
  !pairs

let () = test allocate profile; print_endline "done"
