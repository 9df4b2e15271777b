(* Backtraces: file and line of every frame, through inlined calls, re-raise and a collection. *)
exception Here of int
let[@inline never] bottom n = if n > 2 then raise (Here n) else n
let[@inline] middle n = 1 + bottom (n + 1)
let[@inline never] top n = let l = List.init n string_of_int in let r = middle n in r + List.length l
let[@inline never] again n = try top n with Here k when k < 0 -> 0
let[@inline never] reraise n = try top n with e -> Gc.minor (); raise e
(* Not a leaf: ocamlopt's arm64 code does not save the return address of a leaf that only checks
   bounds, and its backtrace then repeats one frame for ever. cmmc saves it. *)
let[@inline never] in_array a i = a.(i) + bottom 1
let[@inline never] callback f = 1 + List.fold_left (fun s x -> s + f x) 0 [ 1; 2; 5 ]

let show name f =
  match f () with
  | n -> Printf.printf "%s: %d\n" name n
  | exception e ->
    let bt = Printexc.get_raw_backtrace () in
    Printf.printf "%s: %s\n%s" name (Printexc.to_string e) (Printexc.raw_backtrace_to_string bt)

let () =
  Printexc.record_backtrace true;
  show "top" (fun () -> top 5); show "again" (fun () -> again 6); show "reraise" (fun () -> reraise 7);
  show "array" (fun () -> in_array [| 1; 2 |] (Sys.opaque_identity 2));
  show "callback" (fun () -> callback (fun x -> bottom x));
  show "fine" (fun () -> top 1);
  let stack = Printexc.get_callstack 3 in
  Printf.printf "%d slots\n" (Printexc.raw_backtrace_length stack);
  print_string (Printexc.raw_backtrace_to_string stack);
  (* samples of every allocated word: their call stacks name the allocation *)
  let seen = Hashtbl.create 10 in
  let track (i : Gc.Memprof.allocation) =
    (match Printexc.backtrace_slots i.callstack with
     | Some a -> Array.iter (fun s -> match Printexc.Slot.location s with
         | Some l when Filename.basename l.filename = "p_backtrace.ml" -> Hashtbl.replace seen (l.line_number, l.start_char) ()
         | _ -> ()) a
     | None -> ()); None in
  let t = Gc.Memprof.start ~sampling_rate:1. { Gc.Memprof.null_tracker with alloc_minor = track; alloc_major = track } in
  ignore (Sys.opaque_identity (ref (Sys.opaque_identity 1), ref (Sys.opaque_identity 2)));
  ignore (Sys.opaque_identity (List.init 3 (fun i -> float i)));
  Gc.Memprof.stop (); Gc.Memprof.discard t;
  List.iter (fun (l, c) -> Printf.printf "%d:%d " l c) (List.sort compare (Hashtbl.fold (fun k () l -> k :: l) seen []));
  print_newline ()
