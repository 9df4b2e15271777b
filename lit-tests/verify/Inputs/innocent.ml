(* What ocamlopt may do and ftdump --verify must not report. In each function some variable, handler
   or shared call looks like a fault to a checker that knows too little of the compiler. *)
external raw : (float[@unboxed]) -> (int64[@unboxed])
  = "caml_int64_of_float" "caml_int64_of_float_unboxed"
external word : string -> int -> int64 = "%caml_string_get64u"
external element : (int64, Bigarray.int64_elt, Bigarray.c_layout) Bigarray.Array1.t -> int -> int64
  = "%caml_ba_unsafe_ref_1"

let allocate () = ignore (Sys.opaque_identity (ref 1)) [@@inline never]
let safepoint () = allocate (); allocate () [@@inline never]
let same (x : int) = safepoint (); x [@@inline never]

(* A mutable integer begins with a value that is a root, and is none itself. *)
let copy_of_result (m : int) =
  let n = same m in
  let r = ref n in
  safepoint ();
  let x = (n, !r) in
  if fst x = 5 then r := 5;
  safepoint ();
  (n, !r)

let copy_of_argument (n : int) go =
  let r = ref n in
  while !go do safepoint (); r := same !r done;
  !r

type _ t = Int : int t | Text : string t

let copy_by_type : type a. a t -> a -> a * int = fun t x ->
  match t with
  | Int ->
    let r = ref (x : int) in
    safepoint ();
    ignore (same x);
    if !r > 5 then r := same 5;
    safepoint ();
    (x, !r)
  | Text -> safepoint (); (x, 1)

(* Words of memory that are no values: of a string, a bigarray, an array of integers, a C result. *)
let of_string s = let x = word s 0 in safepoint (); x
let of_bigarray a = let x = element a 0 in safepoint (); (x, x)
let of_array (a : int array) = let x = Array.unsafe_get a 3 in safepoint (); x
let of_c x = let y = raw x in safepoint (); y

(* Nothing raises in the body: the handler has descriptors, and is never entered. *)
let unused_handler (a : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array1.t) s =
  (try Bigarray.Array1.unsafe_set a 1 1. with Invalid_argument s -> print_endline s);
  safepoint ();
  let n = try s with Exit -> safepoint (); s ^ s in
  safepoint ();
  n

let unused_read (x : int) f =
  let y = try snd f with Exit -> !(fst f) in
  let a = Sys.opaque_identity [| 3; 4 |] in
  safepoint ();
  if Array.unsafe_get a 1 = y then x else x + y

(* A C function that is called in place may raise, to the compiler. *)
let c_may_raise x (y : string list) =
  let z = Sys.opaque_identity (x +. 1.) in
  safepoint ();
  let n = try Int64.to_int (Int64.bits_of_float z) with Exit -> List.length y in
  safepoint ();
  n

(* Without -g all failed bound checks share one call, in and out of handlers. *)
let rec shared_bound_error (a : int array) s n =
  let x = try a.(n) + (try a.(n + 1) with Not_found -> safepoint (); a.(n + 2)) with
    | Invalid_argument _ -> safepoint (); String.length s + a.(1)
  in
  if x > 5 then shared_bound_error a s (a.(x) + n) else (safepoint (); a.(n), s)

(* An integer takes over the register of the argument that it is a copy of. *)
let swap a i j = let t = a.(i) in a.(i) <- a.(j); a.(j) <- t

let rec quick cmp a lo hi =
  if lo < hi then begin
    let p = a.((lo + hi) / 2) in
    let i = ref lo and j = ref hi in
    while !i <= !j do
      while cmp a.(!i) p < 0 do incr i done;
      while cmp a.(!j) p > 0 do decr j done;
      if !i <= !j then (swap a !i !j; incr i; decr j)
    done;
    quick cmp a lo !j;
    quick cmp a !i hi
  end

(* One jump table behind the other, the second with an index that is constant and out of range. *)
let constant_index (n : int) s =
  let a = match n with 0 -> s | 1 -> "a" | 2 -> s ^ "b" | 3 -> "c" | 4 -> "d" | _ -> "e" in
  safepoint ();
  let t = a ^ s in
  let b = match 75 with
    | 0 -> safepoint (); 3
    | 1 -> allocate (); 5
    | 2 -> safepoint (); String.length s
    | 3 -> safepoint (); n
    | 4 -> allocate (); 11
    | _ -> 14
  in
  safepoint ();
  (t, b)

(* Lazy.force looks at an integer as a block, on a path that is not taken, and at a new block as at
   an integer. *)
let rec forced_argument (n : int) =
  safepoint ();
  if n = 5 then n else forced_argument (Lazy.force (lazy n))

let forced_result (n : int) s = Lazy.force (lazy (safepoint (); n + String.length s))

let forced_block (n : int) s =
  let x = Lazy.force (lazy (safepoint (); n + String.length s)) in
  for i = x to x do safepoint () done;
  let r = ref x in
  safepoint ();
  if fst (Sys.opaque_identity (x, s)) = 5 then r := same 5;
  safepoint ();
  (x, !r, forced_argument x, same (forced_result x s))

let rec result_of_forced (n : int) s : int =
  let r = ref n in
  for i = 61 downto 16 do r := n done;
  safepoint ();
  if String.length s > 3 then Lazy.force (lazy (safepoint (); 7))
  else result_of_forced (forced_result !r s) s

(* On a path that is not taken, "text" is handed over as an integer. *)
let [@inline never] takes_integer (n : int) m = safepoint (); if n > m then n else m
type payload = Number of int | Named of string * int
let dead_arm () = match Named ("text", 1) with Number n -> takes_integer n 1 | Named _ -> 2

(* What reads an array of any type puts a float in a block, on a path that others do not take. *)
let [@inline never] nth a i = Array.get a i
let of_any_array (a : int array) = takes_integer (nth a 1) 3

(* One branch returns a block, others integers: of what is handed over nothing is known. *)
type _ expr =
  | Const : 'a -> 'a expr
  | Add : int expr * int expr -> int expr
  | Pair : 'a expr * 'b expr -> ('a * 'b) expr

let rec eval : type a. a expr -> a = function
  | Const c -> c
  | Add (a, b) -> eval a + eval b
  | Pair (a, b) -> (eval a, eval b)

let evaluated e = takes_integer (eval e) 4

(* What writes to an array of any type reads a float, on a path that others do not take. *)
let [@inline never] put (a : 'a array) (x : 'a) = a.(0) <- x
let to_any_array (a : int array) (n : int) = safepoint (); put a n
let [@inline] put_here (a : 'a array) (x : 'a) = a.(0) <- x
let to_any_array_here (a : int array) (n : int) b =
  ignore (same n);
  let r = ref n in
  ignore (same 1);
  if b then r := same 3;
  put_here a !r;
  !r

let [@inline] first a = Array.unsafe_get a 0
let first_of_any_array (a : int array) b c =
  let r = ref (first a) in
  safepoint ();
  if b then r := c;
  !r

(* Two matches on one value share a load: in the arm that is not taken it gives a block. *)
type shared = Integer of int | Couple of (int * int)
let shared_load v b c = match v with
  | Couple _ -> (1, 3)
  | Integer n ->
    b := n > 4;
    let k = match v with Couple (x, _) -> x | Integer _ -> 3 in
    let r = ref n in
    while !b do ignore (Sys.opaque_identity (ref !r)); r := !c done;
    (!r, k)
