(* Effects, exceptions, closures, callbacks from C: frames of every kind below a collection. *)
open Effect
open Effect.Deep

type _ Effect.t += Ask : string -> string Effect.t | Emit : string -> unit Effect.t

let collect f =
  let out = ref [] in
  match_with f ()
    { retc = (fun x -> (x, List.rev !out)); exnc = raise;
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Emit s -> Some (fun (k : (a, _) continuation) -> out := (s ^ "!") :: !out; continue k ())
        | _ -> None }

let answer f =
  let n = ref 0 in
  match_with f ()
    { retc = Fun.id; exnc = raise;
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Ask q -> Some (fun (k : (a, _) continuation) -> incr n; continue k (Printf.sprintf "%s%d" q !n))
        | _ -> None }

let [@inline never] talk name =
  let greeting = "hello " ^ name in
  let a = perform (Ask greeting) in
  perform (Emit a);
  let b = perform (Ask (a ^ "?")) in
  perform (Emit (b ^ greeting));
  (greeting, a, b)

exception Found of string * int list

let [@inline never] hunt l key =
  let trail = ref [] in
  try
    List.iter (fun (k, v) ->
      trail := String.length k :: !trail;
      if k = key then raise (Found (v ^ "=" ^ k, !trail))) l;
    "none of " ^ key
  with Found (s, t) -> s ^ String.concat "." (List.map string_of_int t)

let compose fs = List.fold_left (fun f g x -> g (f x)) Fun.id fs

let [@inline never] many a b c d e f g h i j k =
  let l = [ a; b; c; d; e; f; g; h; i; j; k ] in
  let m = List.map (fun s -> s ^ a ^ k) l in
  String.concat "" (List.rev_append m l) ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j

let rec protect n f =
  if n = 0 then f ()
  else Fun.protect ~finally:(fun () -> print_string (string_of_int n)) (fun () -> protect (n - 1) f ^ string_of_int n)

let () =
  let (g, a, b), out = answer (fun () -> collect (fun () -> talk "ann")) in
  print_endline (String.concat "," (g :: a :: b :: out));
  let (_, out) = answer (fun () -> collect (fun () -> ignore (talk "bob"); talk "cy")) in
  print_endline (String.concat "," out);
  let l = List.map (fun k -> (k, k ^ k)) [ "x"; "yy"; "zzz"; "w" ] in
  print_endline (hunt l "zzz");
  print_endline (hunt l "v");
  print_endline (compose (List.init 5 (fun i s -> s ^ string_of_int i)) "f");
  print_endline (many "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k");
  print_endline (try protect 3 (fun () -> "in") with Failure s -> s);
  print_endline (try protect 2 (fun () -> failwith "out") with Failure s -> s);
  Gc.finalise (fun r -> print_endline ("final " ^ !r)) (ref (String.make 3 'z'));
  Gc.full_major ();
  let d = Domain.spawn (fun () -> let s = "dom" ^ string_of_int (String.length g) in s ^ s) in
  let mine = List.init 4 (fun i -> g ^ string_of_int i) in
  print_endline (Domain.join d ^ String.concat "" mine)
