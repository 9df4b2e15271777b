(* Deep recursion: the stack grows while blocks are alive in the frames; stack overflow is caught. *)
let rec build n = if n = 0 then [] else let x = string_of_int n in let r = build (n - 1) in x :: r
let rec sum_f n = if n = 0 then 0. else let a = float n in a +. sum_f (n - 1)
let rec many a b c d e f g h i j k l n = if n = 0 then a + b + c + d + e + f + g + h + i + j + k + l else 1 + many b c d e f g h i j k l a (n - 1)
let rec forever n = 1 + forever (n + 1)
let rec with_try n = if n = 0 then raise Not_found else try 1 + with_try (n - 1) with Exit -> 0

type t = Leaf | Node of t * int * t
let rec chain n = if n = 0 then Leaf else Node (Leaf, n, chain (n - 1))
let rec depth = function Leaf -> 0 | Node (l, _, r) -> 1 + max (depth l) (depth r)

(* Every minor collection scans the whole stack: shallower with a tiny nursery. *)
let k = if (Gc.get ()).minor_heap_size < 1000 then 50 else 1

let () =
  let l = build (200000 / k) in
  Printf.printf "%d %s\n" (List.length l) (List.nth l ((200000 / k) - 1));
  Printf.printf "%.0f\n" (sum_f (100000 / k));
  Printf.printf "%d\n" (many 1 2 3 4 5 6 7 8 9 10 11 12 50000);
  Printf.printf "%d\n" (depth (chain (100000 / k)));
  (try ignore (with_try (20000 / k)) with Not_found -> print_endline "not found");
  Printf.printf "%d\n" (List.fold_right (fun s a -> a + String.length s) l 0);
  (try ignore (forever (Sys.opaque_identity 0)) with Stack_overflow -> print_endline "overflow")
