(* Modules: functors applied at run time, first-class modules, recursive modules, lazy values. *)
module type MONOID = sig type t val zero : t val add : t -> t -> t val show : t -> string end
module Fold (M : MONOID) = struct let sum l = M.show (List.fold_left M.add M.zero l) end
module Int_add = struct type t = int let zero = 0 let add = ( + ) let show = string_of_int end
module Str_cat = struct type t = string let zero = "" let add = ( ^ ) let show s = "\"" ^ s ^ "\"" end
module Pair (A : MONOID) (B : MONOID) = struct
  type t = A.t * B.t
  let zero = A.zero, B.zero
  let add (a, b) (c, d) = A.add a c, B.add b d
  let show (a, b) = A.show a ^ "," ^ B.show b
end
module P = Pair (Int_add) (Pair (Str_cat) (Int_add))
module F = Fold (P)

module rec Even : sig val test : int -> bool end = struct let test n = n = 0 || Odd.test (n - 1) end
and Odd : sig val test : int -> bool end = struct let test n = n <> 0 && Even.test (n - 1) end

let pick b : (module MONOID with type t = int) =
  if b then (module Int_add) else (module struct type t = int let zero = 1 let add = ( * ) let show = Printf.sprintf "%x" end)

type stream = Cons of int * stream Lazy.t
let rec zip_add (lazy (Cons (a, s))) (lazy (Cons (b, t))) = Cons (a + b, lazy (zip_add s t))
let tail (lazy (Cons (_, t))) = Lazy.force t
let rec fibs = lazy (Cons (1, lazy (Cons (1, lazy (zip_add fibs (lazy (tail fibs)))))))
let rec take n (lazy (Cons (x, t))) = if n = 0 then [] else x :: take (n - 1) t

let () =
  print_endline (F.sum [ 1, ("a", 10); 2, ("b", 20); 3, ("c", 30) ]);
  Printf.printf "%b %b\n" (Even.test 1000) (Odd.test 1000);
  List.iter (fun b -> let module M = (val pick b) in print_endline (M.show (List.fold_left M.add M.zero [ 2; 3; 5; 7 ]))) [ true; false ];
  let count = ref 0 in
  let l = lazy (incr count; !count * 10) in
  Printf.printf "%d %d %d\n" (Lazy.force l) (Lazy.force l) !count;
  print_endline (String.concat " " (List.map string_of_int (take 10 fibs)));
  let bad = lazy (failwith "lazy") in
  List.iter (fun _ -> try Lazy.force bad with Failure s -> print_endline s) [ 1; 2 ]
