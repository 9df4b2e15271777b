(* Arrays: generic, of floats, of arrays; Bigarray; sorting; bounds. *)
let matmul a b n =
  let c = Array.make_matrix n n 0 in
  for i = 0 to n - 1 do for j = 0 to n - 1 do
    let s = ref 0 in
    for k = 0 to n - 1 do s := !s + (a.(i).(k) * b.(k).(j)) done;
    c.(i).(j) <- !s
  done done; c

let poly_swap a i j = let t = a.(i) in a.(i) <- a.(j); a.(j) <- t

let rec quick cmp a lo hi =
  if lo < hi then begin
    let p = a.((lo + hi) / 2) in
    let i = ref lo and j = ref hi in
    while !i <= !j do
      while cmp a.(!i) p < 0 do incr i done;
      while cmp a.(!j) p > 0 do decr j done;
      if !i <= !j then (poly_swap a !i !j; incr i; decr j)
    done;
    quick cmp a lo !j; quick cmp a !i hi
  end

let sieve n =
  let a = Array.make (n + 1) true in
  let rec go i = if i * i <= n then ((if a.(i) then let rec m j = if j <= n then (a.(j) <- false; m (j + i)) in m (i * i)); go (i + 1)) in
  go 2; Array.fold_left (fun c b -> if b then c + 1 else c) (-2) a

let () =
  let a = Array.init 20 (fun i -> Array.init 20 (fun j -> (i * j) - (i + j))) in
  let c = matmul a a 20 in
  Printf.printf "%d %d\n" c.(3).(4) (Array.fold_left (fun s r -> Array.fold_left ( + ) s r) 0 c);
  let ints = Array.init 3000 (fun i -> i * 7919 mod 3001) in
  quick compare ints 0 2999;
  let strs = Array.init 500 (fun i -> string_of_int (i * 7919 mod 503)) in
  quick compare strs 0 499;
  let floats = Array.init 1000 (fun i -> sin (float i)) in
  quick compare floats 0 999;
  Printf.printf "%d %d %s %s %b\n" ints.(0) ints.(2999) strs.(0) strs.(499) (floats.(0) <= floats.(1));
  Printf.printf "%d\n" (sieve 10000);
  let b = Bigarray.Array1.create Bigarray.float64 Bigarray.c_layout 100 in
  for i = 0 to 99 do b.{i} <- float i /. 8. done;
  let i32 = Bigarray.Array2.create Bigarray.int32 Bigarray.fortran_layout 5 5 in
  for i = 1 to 5 do for j = 1 to 5 do i32.{i, j} <- Int32.of_int ((i * 100000) - j) done done;
  let u8 = Bigarray.Array1.create Bigarray.int8_unsigned Bigarray.c_layout 4 in
  u8.{0} <- 300; u8.{1} <- -1;
  Printf.printf "%g %ld %d %d\n" b.{77} i32.{5, 3} u8.{0} u8.{1};
  (try b.{Sys.opaque_identity 100} <- 1. with Invalid_argument s -> print_endline s);
  let d = Array.concat [ [| 1; 2 |]; Array.sub ints 10 3; Array.make 2 9 ] in
  Array.blit d 0 d 1 4;
  print_endline (String.concat " " (Array.to_list (Array.map string_of_int d)));
  let e : float array = Array.append [| 1.; 2. |] (Array.make 3 0.5) in
  Array.fill e 0 1 7.; Printf.printf "%g\n" (Array.fold_left ( *. ) 1. e)
