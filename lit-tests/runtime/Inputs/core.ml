module M = Map.Make(Int)
module SS = Set.Make(String)
let rec build d = if d = 0 then [] else (d, string_of_int d) :: build (d-1)
type tree = Leaf | Node of tree * int * tree
let rec mk d = if d = 0 then Leaf else Node (mk (d-1), d, mk (d-1))
let rec count = function Leaf -> 1 | Node (l,_,r) -> count l + count r
let () =
  let l = build 10000 in
  Printf.printf "%d\n" (List.fold_left (fun a (x,s) -> a + x + String.length s) 0 l);
  let m = List.fold_left (fun m (k,v) -> M.add k v m) M.empty l in
  Printf.printf "%d %s\n" (M.cardinal m) (M.find 500 m);
  let h = Hashtbl.create 10 in
  for i = 0 to 100000 do Hashtbl.replace h (string_of_int (i mod 5000)) (float i) done;
  Printf.printf "%d %f\n" (Hashtbl.length h) (Hashtbl.find h "77");
  Hashtbl.iter (fun k v -> if v > 99990. then Printf.printf "%s=%.2f;" k v) h; print_newline ();
  for i = 1 to 20 do Printf.printf "%d " (count (mk 16)) done; print_newline ();
  let s = SS.of_list (List.map snd l) in
  Printf.printf "%d %s %s\n" (SS.cardinal s) (SS.min_elt s) (SS.max_elt s);
  let a = Array.init 1000 (fun i -> float i *. 1.5) in
  Array.sort (fun a b -> compare b a) a;
  Printf.printf "%g %g\n" a.(0) a.(999);
  let b = Buffer.create 10 in
  for i = 0 to 1000 do Buffer.add_string b (Printf.sprintf "%03x," i) done;
  print_string (Digest.to_hex (Digest.string (Buffer.contents b)));
  print_newline ();
  (try ignore (List.find (fun x -> fst x = -1) l) with Not_found -> print_endline "nf");
  (try ignore (a.(1000)) with Invalid_argument s -> print_endline s);
  (try failwith "x" with Failure s -> print_endline s);
  Format.printf "@[<v>%a@]@." (Format.pp_print_list Format.pp_print_int) [1;2;3];
  let q = Queue.create () in
  for i = 0 to 100 do Queue.add i q done;
  Printf.printf "%d\n" (Queue.fold (+) 0 q);
  let lz = lazy (print_endline "forced"; 42) in
  Printf.printf "%d %d\n" (Lazy.force lz) (Lazy.force lz);
  Random.init 42;
  for i = 0 to 5 do Printf.printf "%d " (Random.int 1000) done;
  Printf.printf "%f\n" (Random.float 1.0);
  List.iter (fun x -> Printf.printf "%d " (Hashtbl.hash x)) [0;1;-1;max_int;min_int];
  Printf.printf "%d %d %d %d %d %d\n" (Hashtbl.hash "abc") (Hashtbl.hash "abcde") (Hashtbl.hash 1.5) (Hashtbl.hash [1;2;3]) (Hashtbl.hash (1,"a",[|1.0;2.0|])) (Hashtbl.hash (Some 3L, 4l, 5n));
  Printf.printf "%d %x %X %o %u %i %d\n" 42 255 (-1) 8 (-1) (-5) min_int;
  Printf.printf "%ld %Ld %nd %lx %Lx\n" 1l 2L 3n (-1l) (-1L);
  Printf.printf "%h %H %e %F %.3g %s\n" 1.5 (-2.0) 12345.678 1e10 3.14159 (string_of_float 1e100);
  Printf.printf "%d %d %d\n" (compare [1;2] [1;3]) (compare "a" "b") (compare nan 1.0);
  Printf.printf "%b %b\n" (nan = nan) (compare nan nan = 0);
  Printf.printf "%d %Ld %f\n" (int_of_string "0x1F") (Int64.of_string "-9223372036854775808") (float_of_string "1_000.5");
  (try ignore (int_of_string "99999999999999999999") with Failure s -> print_endline s)
