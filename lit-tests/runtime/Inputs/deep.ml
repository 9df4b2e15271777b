(* Ten million frames, or DEPTH: growth of the stack, collections over it, exceptions and effects from its end. *)
exception Bottom of string

let depth = match Sys.getenv_opt "DEPTH" with Some s -> int_of_string s | None -> 10_000_000

let rec count n = if n = 0 then 0 else 1 + count (n - 1)
let rec build n = if n = 0 then [] else let rest = build (n - 1) in n :: rest
let rec hold n (s : string) =
  if n = 0 then (Gc.minor (); Gc.full_major (); String.length s)
  else
    let k = hold (n - 1) s in
    k + (String.length s land 1)
let rec throw n = if n = 0 then raise (Bottom (string_of_int (count 1000))) else 1 + throw (n - 1)
let rec traps n = if n = 0 then failwith "bottom" else try traps (n - 1) + 1 with Not_found -> 0

type _ Effect.t += Up : int -> int Effect.t
let rec performing n = if n = 0 then Effect.perform (Up 3) else 1 + performing (n - 1)

let () =
  Printf.printf "%d\n%!" (count depth);
  let l = build depth in
  Printf.printf "%d %d\n%!" (List.length l) (List.hd l);
  Printf.printf "%d\n%!" (hold (depth / 10) (String.make 5 'x'));
  (try ignore (throw depth) with Bottom s -> Printf.printf "bottom %s\n%!" s);
  (try ignore (traps (depth / 10)) with Failure s -> Printf.printf "%s\n%!" s);
  let open Effect.Deep in
  let r = match_with performing (depth / 10)
      { retc = Fun.id; exnc = raise;
        effc = fun (type a) (e : a Effect.t) -> match e with
          | Up n -> Some (fun (k : (a, _) continuation) -> Gc.full_major (); continue k (n * 2))
          | _ -> None } in
  Printf.printf "%d\n%!" r;
  let d = Domain.spawn (fun () -> count depth) in
  Printf.printf "%d\n" (Domain.join d)
