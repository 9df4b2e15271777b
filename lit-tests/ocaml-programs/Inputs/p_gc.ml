(* The collector's own features on code with live blocks: weak, ephemerons, finalisers, signals of memory. *)
let () =
  let w = Weak.create 10 in
  let keep = ref [] in
  for i = 0 to 9 do let r = ref i in if i land 1 = 0 then keep := r :: !keep; Weak.set w i (Some r) done;
  Gc.full_major ();
  let alive = List.filter (fun i -> Weak.check w i) (List.init 10 Fun.id) in
  Printf.printf "%d %d\n" (List.length (List.filter (fun i -> i land 1 = 0) alive)) (List.fold_left (fun s r -> s + !r) 0 !keep);
  let fin = ref 0 in
  for _ = 1 to 100 do Gc.finalise (fun _ -> incr fin) (ref 0) done;
  Gc.full_major (); Gc.full_major ();
  Printf.printf "%b\n" (!fin >= 90);
  let a = Array.make 100 [] in
  for i = 0 to 50000 do let k = i mod 100 in a.(k) <- i :: (match a.(k) with x :: y :: z :: _ -> [ x; y; z ] | l -> l) done;
  Printf.printf "%d\n" (Array.fold_left (fun s l -> List.fold_left ( + ) s l) 0 a);
  Gc.compact ();
  let big = List.init 50 (fun i -> Bytes.make (i * 1000) 'x') in
  Printf.printf "%d\n" (List.fold_left (fun s b -> s + Bytes.length b) 0 big);
  let before = Gc.minor_words () in
  let l = Sys.opaque_identity (List.init 100 (fun i -> float i)) in
  Printf.printf "%b %d\n" (Gc.minor_words () -. before >= 500.) (List.length l)
