(* Mapped files, two exceptions in one pass, and callbacks while the exception that ends the program is reported. *)
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

(* The real runtime runs what is pending while it raises: an exception that a later callback raises takes the
   place of the first one. Framekit's raises both, each at a safe point of its own. *)
exception First
exception Second
let superseded () =
  let promoted = ref 0 and died = ref 0 and caught = ref 0 in
  let note e = caught := 10 * !caught + (match e with First -> 1 | Second -> 2 | _ -> 3) in
  Gc.full_major (); (* no collection is due on the way *)
  let p = M.start ~sampling_rate:1.
      { M.null_tracker with
        alloc_minor = (fun i -> if i.M.size = 7 then Some () else None);
        promote = (fun () -> incr promoted; if !promoted = 2 then raise First; Some ());
        dealloc_minor = (fun () -> incr died; if !died = 3 then raise Second) } in
  let held = opaque (Array.init 3 (fun _ -> opaque (Array.make 7 0))) in
  for _ = 1 to 3 do ignore (opaque (Array.make 7 (opaque 0))) done;
  (* neither allocations nor polls between the two *)
  (try (try Gc.minor () with e -> note e; Gc.minor ()) with e -> note e);
  Gc.minor ();
  M.stop (); M.discard p;
  ignore (opaque held);
  let names = match !caught with 2 -> "second" | 12 -> "first second" | _ -> "others" in
  say "two exceptions in one pass: %s; %d promotions, %d deaths" names !promoted !died

let callbacks = ref 0
let alloc _ = incr callbacks; Some ()
let work () = for i = 1 to 100 do ignore (opaque (ref i)) done

let () =
  superseded ();
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
