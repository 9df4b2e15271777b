(* Effects: generators, state, schedulers; continuations that are resumed and discontinued. *)
open Effect
open Effect.Deep
type _ Effect.t += Get : int t | Put : int -> unit t | Yield : int -> unit t | Fork : (unit -> unit) -> unit t | Pause : unit t

let with_state init f =
  match_with f () {
    retc = (fun x -> fun (s : int) -> x, s);
    exnc = raise;
    effc = (fun (type a) (e : a Effect.t) -> match e with
      | Get -> Some (fun (k : (a, _) continuation) -> fun (s : int) -> continue k s s)
      | Put n -> Some (fun (k : (a, _) continuation) -> fun (_ : int) -> continue k () n)
      | _ -> None) } init

let generate f =
  let out = ref [] in
  try_with f () { effc = (fun (type a) (e : a Effect.t) -> match e with
    | Yield n -> Some (fun (k : (a, _) continuation) -> out := n :: !out; continue k ())
    | _ -> None) };
  List.rev !out

let schedule main =
  let q = Queue.create () in
  let next () = if not (Queue.is_empty q) then (Queue.pop q) () in
  let rec spawn f = match_with f () {
    retc = (fun () -> next ()); exnc = (fun e -> print_string (Printexc.to_string e ^ " "); next ());
    effc = (fun (type a) (e : a Effect.t) -> match e with
      | Fork g -> Some (fun (k : (a, _) continuation) -> Queue.push (fun () -> continue k ()) q; spawn g)
      | Pause -> Some (fun (k : (a, _) continuation) -> Queue.push (fun () -> continue k ()) q; next ())
      | _ -> None) } in
  spawn main

let rec deep_yield n = if n > 0 then (deep_yield (n - 1); if n mod 1000 = 0 then perform (Yield n))

let () =
  let r, s = with_state 10 (fun () -> for i = 1 to 1000 do perform (Put (perform Get + i)) done; perform Get * 2) in
  Printf.printf "%d %d\n" r s;
  print_endline (String.concat " " (List.map string_of_int (generate (fun () -> for i = 1 to 10 do perform (Yield (i * i)) done))));
  print_endline (String.concat " " (List.map string_of_int (generate (fun () -> deep_yield 5000))));
  schedule (fun () ->
    for i = 1 to 3 do
      perform (Fork (fun () -> for j = 1 to 3 do Printf.printf "%d.%d " i j; perform Pause done; if i = 2 then failwith "two"))
    done);
  print_newline ();
  let r = try match_with (fun () -> try perform Pause; 1 with Exit -> 2) () { retc = Fun.id; exnc = raise;
    effc = (fun (type a) (e : a Effect.t) -> match e with Pause -> Some (fun (k : (a, _) continuation) -> discontinue k Exit) | _ -> None) } with Not_found -> 3 in
  Printf.printf "%d\n" r;
  (try perform Pause with Unhandled _ -> print_endline "unhandled")
