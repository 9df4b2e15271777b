(* Closures: currying at every arity, partial application, mutual recursion with environments. *)
let compose f g x = f (g x)
let rec iterate n f = if n = 0 then Fun.id else compose f (iterate (n - 1) f)
let add7 a b c d e f g = a + (2 * b) + (3 * c) + (4 * d) + (5 * e) + (6 * f) + (7 * g)

let counter () =
  let n = ref 0 in
  (fun () -> incr n; !n), (fun () -> n := 0)

let make_parity k =
  let rec even n = if n = 0 then k else odd (n - 1) and odd n = if n = 0 then -k else even (n - 1) in
  even, odd

let apply_all fs x = List.map (fun f -> f x) fs
let tupled (a, b, c) = (a * 100) + (b * 10) + c

let () =
  Printf.printf "%d\n" (iterate 100 (fun x -> (x * 3) + 1) 1 land 0xffffff);
  let p1 = add7 1 in
  let p3 = p1 2 3 in
  let p5 = p3 4 5 in
  let p6 = p5 6 in
  Printf.printf "%d %d %d %d\n" (p1 1 1 1 1 1 1) (p3 1 1 1 1) (p5 1 1) (p6 7);
  let next, reset = counter () in
  let a = next () in
  let b = next () in
  reset ();
  Printf.printf "%d %d %d\n" a b (next ());
  let even, odd = make_parity 5 in
  Printf.printf "%d %d\n" (even 1001) (odd 1001);
  print_endline (String.concat " " (List.map string_of_int (apply_all [ succ; pred; ( * ) 2; ( - ) 10; (fun x -> x) ] 7)));
  let f = Sys.opaque_identity tupled in
  Printf.printf "%d\n" (List.fold_left (fun acc t -> acc + f t) 0 [ 1, 2, 3; 4, 5, 6 ]);
  let k = List.fold_left (fun k i -> fun x -> k (x + i)) (fun x -> x) (List.init 1000 Fun.id) in
  Printf.printf "%d\n" (k 0)
