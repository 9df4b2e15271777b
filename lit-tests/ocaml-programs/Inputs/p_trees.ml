(* Red-black trees and an expression evaluator: deep pattern matching. *)
type color = R | B
type 'a t = E | T of color * 'a t * 'a * 'a t

let balance = function
  | B, T (R, T (R, a, x, b), y, c), z, d
  | B, T (R, a, x, T (R, b, y, c)), z, d
  | B, a, x, T (R, T (R, b, y, c), z, d)
  | B, a, x, T (R, b, y, T (R, c, z, d)) -> T (R, T (B, a, x, b), y, T (B, c, z, d))
  | c, a, x, b -> T (c, a, x, b)

let insert x t =
  let rec ins = function
    | E -> T (R, E, x, E)
    | T (c, a, y, b) as s ->
      if x < y then balance (c, ins a, y, b) else if x > y then balance (c, a, y, ins b) else s
  in
  match ins t with T (_, a, y, b) -> T (B, a, y, b) | E -> assert false

let rec mem x = function E -> false | T (_, a, y, b) -> if x < y then mem x a else if x > y then mem x b else true
let rec depth = function E -> 0 | T (_, a, _, b) -> 1 + max (depth a) (depth b)
let rec size = function E -> 0 | T (_, a, _, b) -> size a + 1 + size b

type expr = Num of int | Add of expr * expr | Mul of expr * expr | Neg of expr | Var of string | Let of string * expr * expr

let rec eval env = function
  | Num n -> n
  | Add (a, b) -> eval env a + eval env b
  | Mul (a, b) -> eval env a * eval env b
  | Neg a -> -eval env a
  | Var s -> List.assoc s env
  | Let (s, a, b) -> eval ((s, eval env a) :: env) b

let rec simplify = function
  | Add (Num 0, e) | Add (e, Num 0) -> simplify e
  | Mul (Num 1, e) | Mul (e, Num 1) -> simplify e
  | Mul (Num 0, _) | Mul (_, Num 0) -> Num 0
  | Add (a, b) -> Add (simplify a, simplify b)
  | Mul (a, b) -> Mul (simplify a, simplify b)
  | Neg (Neg e) -> simplify e
  | Neg e -> Neg (simplify e)
  | Let (s, a, b) -> Let (s, simplify a, simplify b)
  | (Num _ | Var _) as e -> e

let rec show = function
  | Num n -> string_of_int n
  | Add (a, b) -> "(" ^ show a ^ "+" ^ show b ^ ")"
  | Mul (a, b) -> show a ^ "*" ^ show b
  | Neg e -> "-" ^ show e
  | Var s -> s
  | Let (s, a, b) -> "let " ^ s ^ "=" ^ show a ^ " in " ^ show b

let () =
  let t = ref E in
  for i = 0 to 20000 do t := insert (i * 7919 mod 20011) !t done;
  Printf.printf "size %d depth %d mem %b %b\n" (size !t) (depth !t) (mem 77 !t) (mem 20012 !t);
  let e = Let ("x", Add (Num 3, Num 0), Add (Mul (Var "x", Num 1), Neg (Neg (Mul (Num 5, Var "x"))))) in
  Printf.printf "%s -> %s = %d\n" (show e) (show (simplify e)) (eval [] (simplify e))
