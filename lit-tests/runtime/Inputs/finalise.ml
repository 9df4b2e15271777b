(* Finalisers, weak pointers and ephemerons over minor, major and compacting collections. *)
let order = ref []
let note s = order := s :: !order
let flush_notes what =
  Printf.printf "%s: %s\n" what (String.concat " " (List.sort compare !order));
  order := []

let [@inline never] make_garbage () =
  for i = 1 to 5 do Gc.finalise (fun r -> note (Printf.sprintf "f%d" !r)) (ref i) done;
  for i = 1 to 5 do Gc.finalise_last (fun () -> note (Printf.sprintf "l%d" i)) (ref i) done

let resurrected = ref None
let [@inline never] make_phoenix () =
  Gc.finalise (fun r -> resurrected := Some r; note "phoenix") (ref [ 1; 2; 3 ])

let [@inline never] weak_part () =
  let w = Weak.create 20 in
  let kept = List.init 10 (fun i -> ref i) in
  List.iteri (fun i r -> Weak.set w (2 * i) (Some r); Weak.set w (2 * i + 1) (Some (ref (100 + i)))) kept;
  Gc.full_major ();
  let alive = List.filter (Weak.check w) (List.init 20 Fun.id) in
  Printf.printf "alive %s of %d\n" (String.concat "," (List.map string_of_int alive)) (List.length kept);
  let sum = ref 0 in
  for i = 0 to 19 do match Weak.get_copy w i with Some r -> sum := !sum + !r | None -> () done;
  Gc.compact ();
  List.iter (fun r -> sum := !sum + !r) kept;
  Printf.printf "sum %d\n" !sum

module K = Ephemeron.K1.Make (struct type t = string ref let equal = ( == ) let hash r = Hashtbl.hash !r end)

let [@inline never] ephemeron_part () =
  let t = K.create 8 in
  let keys = List.init 6 (fun i -> ref (string_of_int i)) in
  List.iter (fun k -> K.add t k (k, !k ^ "data")) keys;
  for i = 0 to 9 do let k = ref (string_of_int (50 + i)) in K.add t k (k, "gone") done;
  Gc.full_major (); Gc.full_major ();
  K.clean t;
  let found = List.filter_map (fun k -> Option.map snd (K.find_opt t k)) keys in
  Printf.printf "%d %s\n" (K.length t) (String.concat " " found)

module H = Weak.Make (struct type t = string let equal = String.equal let hash = Hashtbl.hash end)

let [@inline never] hashset_part () =
  let h = H.create 7 in
  let kept = List.init 5 (fun i -> H.merge h ("k" ^ string_of_int i)) in
  for i = 0 to 99 do ignore (H.merge h ("t" ^ string_of_int i)) done;
  Gc.full_major ();
  Printf.printf "%b %d\n" (List.for_all (H.mem h) kept) (H.count h)

let () =
  make_garbage ();
  Gc.full_major (); Gc.full_major ();
  flush_notes "garbage";
  make_phoenix ();
  Gc.full_major ();
  flush_notes "phoenix";
  (match !resurrected with Some r -> Printf.printf "%d\n" (List.length !r) | None -> print_endline "lost");
  weak_part ();
  ephemeron_part ();
  hashset_part ();
  let big = Array.init 1000 (fun i -> Bytes.make i 'b') in
  Gc.finalise (fun a -> note (string_of_int (Array.length a))) big;
  let n = Array.fold_left (fun n b -> n + Bytes.length b) 0 big in
  Gc.full_major ();
  flush_notes "big";
  Printf.printf "%d\n" n;
  let ba = List.init 100 (fun _ -> Bigarray.(Array1.create float64 c_layout 1000)) in
  List.iteri (fun i a -> a.{i} <- float i) ba;
  Gc.compact ();
  Printf.printf "%g\n" (List.fold_left (fun s a -> s +. Bigarray.Array1.(get a 7)) 0. ba);
  let s = Gc.quick_stat () in
  Printf.printf "%b\n" (s.Gc.minor_words > 0.)
