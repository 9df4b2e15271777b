(* random FIRST LAST: programs made of everything that goes through a stub, in random
   order and nesting. Each seed gives one number, the same on every architecture and
   with any right stubs. *)
open Effect
open Effect.Deep

external call1 : ('a -> 'b) -> 'a -> 'b = "fk_call1"
external call2 : ('a -> 'b -> 'c) -> 'a -> 'b -> 'c = "fk_call2"
external call3 : ('a -> 'b -> 'c -> 'd) -> 'a -> 'b -> 'c -> 'd = "fk_call3"

external ints20 :
  int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int ->
  int -> int -> int -> int -> int -> int -> int = "fk_no_bytecode" "fk_ints20"

exception E of int
type _ Effect.t += Get : int -> int Effect.t | Put : string -> unit Effect.t | Park : int Effect.t

let state = ref 0

let rand n =
  state := (!state * 25214903917 + 11) land 0xffffffffffff;
  (!state lsr 17) mod n

let sum = ref 0
let add n = sum := ((!sum * 31) + n) land 0xffffffff

(* Continuations that wait to be resumed by anybody. *)
let parked : (int, int) continuation Queue.t = Queue.create ()
let budget = ref 0
let list n = List.init n (fun i -> (i, string_of_int i, float_of_int i))
let weigh l = List.fold_left (fun a (i, s, f) -> a + i + int_of_string s + int_of_float f) 0 l

let rec nest n f = if n = 0 then f () else 1 + nest (n - 1) f
let rec nest_try n f = if n = 0 then f () else try 1 + nest_try (n - 1) f with Exit -> 0

let rec go depth =
  decr budget;
  if depth = 0 || !budget <= 0 then rand 1000
  else
    let d = depth - 1 in
    match rand 20 with
    | 0 | 1 -> let l = list (rand 200) in let r = go d in r + weigh l
    | 2 -> (try go d with E n -> n + 1)
    | 3 -> if rand 6 = 0 then raise (E (rand 100)) else 1 + go d
    | 4 -> let a = go d in let b = go d in add a; a - b
    | 5 | 6 -> handled d
    | 7 -> perform (Get (rand 50)) + go d
    | 8 -> perform (Put (string_of_int (rand 50))); go d
    | 9 -> call1 (fun x -> x + go d) (rand 10)
    | 10 -> call2 (fun x y -> x + String.length y + go d) (rand 10) "abc"
    | 11 -> call3 (fun x y z -> x + y + z + go d) (rand 10) (rand 10) (rand 10)
    | 12 -> nest (rand 3000) (fun () -> go d)
    | 13 -> nest_try (rand 300) (fun () -> go d)
    | 14 -> if rand 10 = 0 then Gc.full_major () else Gc.minor (); go d
    | 15 -> (match [| 1; 2 |].(rand 4) with n -> n + go d | exception Invalid_argument _ -> go d)
    | 16 ->
      let n = rand 100 in
      ints20 n (n+1) (n+2) (n+3) (n+4) (n+5) (n+6) (n+7) (n+8) (n+9) (n+10) (n+11) (n+12) (n+13)
        (n+14) (n+15) (n+16) (n+17) (n+18) (n+19) + go d
    | 17 -> perform Park + go d
    | 18 -> if Queue.is_empty parked then go d else let k = Queue.pop parked in finish k (rand 3)
    | _ -> (try go d with Unhandled _ -> rand 10)

and finish k how =
  match how with 0 -> discontinue k (E (rand 10)) | 1 -> continue k (rand 10) | _ -> 1 + continue k (rand 10)

and handled d =
  let knows_get = rand 2 = 0 and knows_put = rand 2 = 0 and knows_park = rand 2 = 0 in
  let result = rand 3 in
  match_with (fun () -> let kept = list 20 in let r = go d in r + weigh kept) ()
    { retc = (fun r -> if result = 0 then r else r + go 1);
      exnc = (function E n when result > 0 -> n | e -> raise e);
      effc = (fun (type a) (e : a Effect.t) ->
        match e with
        | Get n when knows_get -> Some (fun (k : (a, int) continuation) -> ignore (list 30); finish k (n mod 3))
        | Put s when knows_put -> Some (fun (k : (a, int) continuation) -> add (int_of_string s); continue k ())
        | Park when knows_park -> Some (fun (k : (a, int) continuation) -> Queue.add k parked; rand 100)
        | _ -> None) }

(* Answers everything, so that few programs end at their first effect. *)
let answered f =
  match_with f ()
    { retc = Fun.id; exnc = raise;
      effc = (fun (type a) (e : a Effect.t) ->
        match e with
        | Get n -> Some (fun (k : (a, int) continuation) -> continue k (n + 1))
        | Put s -> Some (fun (k : (a, int) continuation) -> add (int_of_string s); continue k ())
        | Park -> Some (fun (k : (a, int) continuation) -> continue k 7)
        | _ -> None) }

let program seed =
  state := seed;
  sum := seed;
  budget := 0;
  Queue.clear parked;
  for _ = 1 to 40 do
    budget := 300;
    add (try answered (fun () -> go 60) with E n -> n | Unhandled _ -> -1 | Invalid_argument _ -> -2)
  done;
  !sum

let () =
  for seed = int_of_string Sys.argv.(1) to int_of_string Sys.argv.(2) do
    Printf.printf "%d %d\n%!" seed (program seed)
  done
