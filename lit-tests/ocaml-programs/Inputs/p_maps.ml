(* Functors of the standard library, hash tables, sets of strings. *)
module M = Map.Make (String)
module S = Set.Make (Int)

let () =
  let m = ref M.empty in
  for i = 1 to 3000 do
    m := M.update (string_of_int (i mod 700)) (function None -> Some i | Some j -> Some (i + j)) !m
  done;
  Printf.printf "%d %d %d\n" (M.cardinal !m) (M.find "42" !m) (M.fold (fun _ v a -> a + v) !m 0);
  let s = S.of_list (List.init 1000 (fun i -> i * i mod 997)) in
  Printf.printf "%d %d %d\n" (S.cardinal s) (S.min_elt s) (S.max_elt s);
  Printf.printf "%d\n" (S.cardinal (S.inter s (S.map (fun x -> x + 1) s)));
  let h = Hashtbl.create 10 in
  for i = 0 to 9999 do Hashtbl.replace h (i * 17 mod 5003) i done;
  Printf.printf "%d %d %b\n" (Hashtbl.length h) (Hashtbl.find h 100) (Hashtbl.mem h 5003);
  let words = String.split_on_char ' ' "the quick brown fox jumps over the lazy dog the end" in
  let count = Hashtbl.create 16 in
  List.iter (fun w -> Hashtbl.replace count w (1 + try Hashtbl.find count w with Not_found -> 0)) words;
  List.iter (fun (w, n) -> Printf.printf "%s:%d " w n)
    (List.sort compare (Hashtbl.fold (fun w n l -> (w, n) :: l) count []));
  print_newline ()
