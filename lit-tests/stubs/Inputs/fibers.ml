open Effect
open Effect.Deep

let check = Report.check

type _ Effect.t += Get : int Effect.t | Put : int -> unit Effect.t | Yield : int -> unit Effect.t | Other : string -> string Effect.t

let with_state (init : int) f =
  let st = ref init in
  let r =
    match_with f ()
      { retc = Fun.id; exnc = raise;
        effc = (fun (type a) (e : a Effect.t) ->
          match e with
          | Get -> Some (fun (k : (a, _) continuation) -> continue k !st)
          | Put n -> Some (fun k -> st := n; continue k ())
          | _ -> None) }
  in
  (r, !st)

let state () =
  let rec count n = if n = 0 then perform Get else (perform (Put (perform Get + n)); count (n - 1)) in
  check "perform and continue" (with_state 0 (fun () -> count 2000) = (2001000, 2001000))

(* The inner handler does not know the effect: reperform, through ten of them. *)
let pass f = match_with f () { retc = Fun.id; exnc = raise; effc = (fun _ -> None) }

let reperform () =
  let rec layers n f = if n = 0 then f () else pass (fun () -> layers (n - 1) f) in
  let r = with_state 5 (fun () -> layers 10 (fun () -> let a = perform Get in perform (Put 7); a + perform Get)) in
  check "reperform" (r = (12, 7))

let garbage () = ignore (Sys.opaque_identity (List.init 300 string_of_int))

let generator () =
  let rec tree lo hi = if lo < hi then begin
      let m = (lo + hi) / 2 in
      tree lo m; garbage (); perform (Yield m); tree (m + 1) hi end in
  let out = ref [] in
  match_with (fun () -> tree 0 200) ()
    { retc = Fun.id; exnc = raise;
      effc = (fun (type a) (e : a Effect.t) ->
        match e with Yield n -> Some (fun (k : (a, _) continuation) -> out := n :: !out; continue k ()) | _ -> None) };
  check "generator" (List.rev !out = List.init 200 Fun.id)

let discontinue_ () =
  let trace = Buffer.create 10 in
  let r =
    match_with
      (fun () -> Fun.protect ~finally:(fun () -> Buffer.add_char trace 'f') (fun () -> perform (Yield 1); 1))
      ()
      { retc = Fun.id; exnc = (function Exit -> 2 | _ -> 3);
        effc = (fun (type a) (e : a Effect.t) ->
          match e with Yield _ -> Some (fun (k : (a, _) continuation) -> discontinue k Exit) | _ -> None) }
  in
  check "discontinue" (r = 2 && Buffer.contents trace = "f")

let unhandled () =
  let a = match perform Get with _ -> false | exception Unhandled Get -> true in
  let b = match pass (fun () -> perform (Other "x")) with _ -> false | exception Unhandled (Other "x") -> true in
  (* caught where it was performed, inside two fibers, and then life goes on *)
  let c = with_state 3 (fun () -> pass (fun () ->
      (try perform (Other "y") with Unhandled _ -> "caught") ^ string_of_int (perform Get))) in
  check "unhandled" (a && b && c = ("caught3", 3))

let twice () =
  let r =
    match_with (fun () -> perform (Yield 1)) ()
      { retc = (fun () -> 0); exnc = raise;
        effc = (fun (type a) (e : a Effect.t) -> match e with
          | Yield _ -> Some (fun (k : (a, _) continuation) ->
              ignore (continue k ());
              match continue k () with _ -> 1 | exception Continuation_already_resumed -> 2)
          | _ -> None) }
  in
  check "continuation used twice" (r = 2)

(* Many fibers alive at once, resumed in another order than created. *)
let churn () =
  let queue = Queue.create () and sum = ref 0 in
  let spawn f = match_with f ()
      { retc = Fun.id; exnc = raise;
        effc = (fun (type a) (e : a Effect.t) -> match e with
          | Yield n -> Some (fun (k : (a, _) continuation) -> sum := !sum + n; Queue.add (fun () -> continue k ()) queue)
          | _ -> None) } in
  for i = 1 to 500 do
    spawn (fun () -> for j = 1 to 5 do garbage (); perform (Yield (i * j)) done)
  done;
  while not (Queue.is_empty queue) do (Queue.pop queue) () done;
  check "500 fibers" (!sum = 15 * 500 * 501 / 2)

(* A fiber's stack grows while a handler below and a continuation wait. *)
let rec sum n = if n = 0 then perform Get else n + sum (n - 1)
let rec forever n = 1 + forever (n + 1)

let growth () =
  let a, _ = with_state 4 (fun () -> sum 50_000) in
  check "deep fiber" (a = 4 + (50_000 * 50_001 / 2));
  let b = with_state 1 (fun () -> match forever 0 with _ -> 0 | exception Stack_overflow -> perform Get) in
  check "overflow in a fiber" (b = (1, 1));
  let c = match with_state 1 (fun () -> forever 0) with _ -> 0 | exception Stack_overflow -> 1 in
  check "overflow through a fiber" (c = 1)

external call1 : ('a -> 'b) -> 'a -> 'b = "fk_call1"

(* C between two fibers: the effect does not cross it. *)
let c_between () =
  let r = with_state 9 (fun () ->
      let a = call1 (fun () -> try perform Get with Unhandled _ -> 100) () in
      let b, _ = call1 (fun n -> with_state n (fun () -> garbage (); perform Get)) 5 in
      a + b + perform Get) in
  check "C between fibers" (r = (114, 9))

let exceptions () =
  let rec layers n : unit = if n = 0 then raise Exit else pass (fun () -> layers (n - 1)) in
  let a = match layers 50 with () -> false | exception Exit -> true in
  let[@inline never] raiser () = pass (fun () -> ignore (int_of_string "no")) in
  let b = match raiser () with () -> false | exception Failure _ -> true in
  Printexc.record_backtrace true;
  let lines = (try layers 10; 0 with Exit -> List.length (String.split_on_char '\n' (Printexc.get_backtrace ()))) in
  Printexc.record_backtrace false;
  check "exceptions through fibers" (a && b);
  check (Printf.sprintf "backtrace over fibers, %d lines" lines) (lines >= 3)

let run () =
  state (); reperform (); generator (); discontinue_ (); unhandled (); twice (); churn (); growth ();
  c_between (); exceptions ()
