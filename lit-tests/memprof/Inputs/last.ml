(* Mapped files, and callbacks while the exception that ends the program is reported. *)
module M = Gc.Memprof
let opaque = Sys.opaque_identity
let say fmt = Printf.printf (fmt ^^ "\n%!")

let mapped () =
  let name = Filename.temp_file "mapped" "" in
  let fd = Unix.openfile name [ Unix.O_RDWR ] 0o600 in
  let seen = ref [] in
  let alloc where i = if (Obj.magic i.M.source : int) > 2 then seen := (where, i.M.size, i.M.n_samples) :: !seen; None in
  let p = M.start ~sampling_rate:1. { M.null_tracker with alloc_minor = alloc "nursery"; alloc_major = alloc "major heap" } in
  let map n = opaque (Unix.map_file fd Bigarray.char Bigarray.c_layout true [| n |]) in
  let a = map 1000 and b = map 100_001 in
  ignore (opaque (ref 0));
  M.stop (); M.discard p;
  ignore (opaque (a, b));
  Unix.close fd; Sys.remove name;
  List.iter (fun (where, size, n) -> say "mapped, %s: %d words, %d samples" where size n) (List.rev !seen)

let callbacks = ref 0
let alloc _ = incr callbacks; Some ()
let work () = for i = 1 to 100 do ignore (opaque (ref i)) done

let () =
  mapped ();
  Printexc.set_uncaught_exception_handler (fun e _ ->
    callbacks := 0;
    work ();
    Gc.full_major ();
    say "reporting %s: %d callbacks" (Printexc.to_string e) !callbacks);
  ignore (M.start ~sampling_rate:1.
    { M.alloc_minor = alloc; alloc_major = alloc; promote = alloc; dealloc_minor = (fun () -> incr callbacks); dealloc_major = (fun () -> incr callbacks) });
  work ();
  say "before: %s callbacks" (if !callbacks >= 100 then "100" else "no");
  raise Exit
