(* Order of finalisers, and what may have one. *)
(* finalisers *)
let log = Buffer.create 10
let mk s = let r = ref s in Gc.finalise (fun r -> Buffer.add_string log ("f" ^ !r ^ ";")) r; Gc.finalise_last (fun () -> Buffer.add_string log ("l" ^ s ^ ";")) r; r
let saved = ref None
let () =
  let[@inline never] f () = ignore (Sys.opaque_identity (mk "a")); ignore (Sys.opaque_identity (mk "b")); ignore (Sys.opaque_identity (mk "c")) in f ();
  Gc.full_major (); Gc.full_major (); print_endline (Buffer.contents log); Buffer.clear log;
  let[@inline never] g () = let r = ref "z" in Gc.finalise (fun r -> saved := Some r; Buffer.add_string log "res;") r; ignore (Sys.opaque_identity r) in g ();
  Gc.full_major (); Gc.full_major (); print_endline (Buffer.contents log ^ (match !saved with Some r -> !r | None -> "none")); Buffer.clear log;
  saved := None; Gc.full_major (); print_endline (Buffer.contents log);
  (* several finalisers on one value *)
  let[@inline never] h () = let r = ref "m" in for i = 1 to 4 do Gc.finalise (fun _ -> Buffer.add_string log (string_of_int i)) r done; for i = 1 to 4 do Gc.finalise_last (fun _ -> Buffer.add_string log ("L" ^ string_of_int i)) r done; ignore (Sys.opaque_identity r) in h ();
  Gc.full_major (); Gc.full_major (); print_endline (Buffer.contents log); Buffer.clear log;
  (* finaliser raising *)
  let[@inline never] k () = let r = ref "m" in Gc.finalise (fun _ -> failwith "fin") r; ignore (Sys.opaque_identity r) in k ();
  (try Gc.full_major (); print_endline "no exn" with Failure s -> print_endline ("raised " ^ s));
  (try Gc.full_major (); print_endline "no exn" with Failure s -> print_endline ("raised " ^ s));
  (* errors *)
  (try Gc.finalise (fun _ -> ()) 3 with e -> print_endline (Printexc.to_string e));
  (try Gc.finalise (fun _ -> ()) "static" ; print_endline "ok static" with e -> print_endline (Printexc.to_string e));
  (try Gc.finalise_last (fun _ -> ()) 3 with e -> print_endline (Printexc.to_string e));
  (try Gc.finalise (fun _ -> ()) (Sys.opaque_identity (Obj.magic 1.5)); print_endline "ok fl" with e -> print_endline (Printexc.to_string e));
  (try Gc.finalise (fun _ -> ()) (lazy (print_endline "")); print_endline "ok lazy" with e -> print_endline (Printexc.to_string e));
  (* graph of finalised *)
  let[@inline never] m () = let a = (ref 1, "A") in let b = (a, "B") in let c = (b, "C") in
    Gc.finalise (fun (_, s) -> Buffer.add_string log s) a; Gc.finalise (fun (_, s) -> Buffer.add_string log s) b; Gc.finalise (fun (_, s) -> Buffer.add_string log s) c; ignore (Sys.opaque_identity c) in m ();
  for _ = 1 to 4 do Gc.full_major (); print_endline (Buffer.contents log) done; Buffer.clear log;
  (* finalisers allocating much *)
  let n = ref 0 in
  let[@inline never] q () = for i = 1 to 1000 do let r = ref i in Gc.finalise (fun r -> ignore (Sys.opaque_identity (List.init 100 Fun.id)); incr n; if !r mod 100 = 0 then Gc.minor ()) r done in q ();
  Gc.full_major (); Gc.full_major (); Gc.full_major (); Printf.printf "%d\n" !n;
  (* finalise in domain, then domain ends *)
  let dl = Atomic.make 0 in
  Domain.join (Domain.spawn (fun () -> let[@inline never] f () = for _ = 1 to 10 do let r = ref 0 in Gc.finalise (fun _ -> Atomic.incr dl) r; Gc.finalise_last (fun _ -> Atomic.incr dl) r done in f ()));
  (* the domain may end later than join returns *)
  for _ = 1 to 2000 do if Atomic.get dl < 20 then Gc.full_major () done;
  Printf.printf "%d\n" (Atomic.get dl);
  Gc.finalise_release ();
  at_exit (fun () -> print_endline "exit1"); at_exit (fun () -> print_endline "exit2")
let log = Buffer.create 10
let add s () = Buffer.add_string log (s ^ ";")
let flush s = print_endline (s ^ ": " ^ Buffer.contents log); Buffer.clear log
let[@inline never] mk l = List.map (fun s -> let r = ref s in Gc.finalise_last (add ("l" ^ s)) r; Gc.finalise (fun r -> add ("f" ^ !r) ()) r; r) l
let[@inline never] mkl l = List.map (fun s -> let r = ref s in Gc.finalise_last (add ("l" ^ s)) r; r) l
let () =
  ignore (Sys.opaque_identity (mkl ["a";"b";"c";"d"])); Gc.minor (); flush "minor last";
  let k = mkl ["a";"b";"c";"d"] in Gc.minor (); flush "kept"; ignore (Sys.opaque_identity k);
  Gc.full_major (); flush "major last";
  List.iter (fun tag -> let b = Obj.new_block tag 2 in
    Printf.printf "%d:%s%s " tag (try Gc.finalise ignore b; "ok" with Invalid_argument s -> s) (try Gc.finalise_last ignore b; "ok" with Invalid_argument s -> s)) [0;1;244;246;250];
  print_newline ();
  let t n v = Printf.printf "%s:%s %s\n" n (try Gc.finalise ignore v; "ok" with Invalid_argument s -> s) (try Gc.finalise_last ignore v; "ok" with Invalid_argument s -> s) in
  t "int" (Obj.repr 1);
  t "float" (Obj.repr (Sys.opaque_identity (1.5 +. Sys.opaque_identity 1.)));
  t "str" (Obj.repr (Bytes.create 3));
  t "static str" (Obj.repr "abc");
  t "static float" (Obj.repr 3.5);
  t "lazy" (Obj.repr (lazy (print_string "")));
  t "floatarr" (Obj.repr (Array.make 3 1.));
  t "closure" (Obj.repr (fun x -> x));
  t "atom" (Obj.repr [||]);
  t "custom" (Obj.repr (Sys.opaque_identity 1L));
  t "cont" (Obj.repr stdout)
