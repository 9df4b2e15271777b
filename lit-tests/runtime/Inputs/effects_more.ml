(* Effects: deep and shallow, discontinued, unhandled, resumed twice, on other domains. *)
open Effect
let p fmt = Printf.printf (fmt ^^ "%!")
type _ Effect.t += Ask : int -> int t | Tell : string -> unit t | Never : unit t | Poly : 'a -> 'a
    t
exception Boom of int
let try_ name f = try f () with e -> p "%s: %s\n" name (Printexc.to_string e)
module M = struct type _ Effect.t += Inner : string * float -> unit t end
let () =
  try_ "unhandled" (fun () -> perform Never); try_ "unhandled"
      (fun () -> p "%d\n" (perform (Ask 3)));
  try_ "unhandled" (fun () -> perform (Tell "x\n")); try_ "unhandled"
      (fun () -> perform (M.Inner ("a", 1.5)));
  try_ "unhandled" (fun () -> ignore (perform (Poly [1])));
  try_ "unhandled" (fun () -> ignore (perform (Poly (1, 2.))))
open Deep
let () =
  let handle f = match_with f () { retc = (fun x -> p "ret %d\n" x; x);
      exnc = (fun e -> p "exn %s\n" (Printexc.to_string e); -1);
    effc = fun (type a) (e : a t) -> match e with
      | Ask n when n < 0 -> Some (fun (k : (a, _) continuation) -> discontinue k (Boom n))
      | Ask n -> Some (fun (k : (a, _) continuation) -> let r = continue k (n * 2) in p
          "after %d\n" n; r)
      | Tell s -> Some (fun (k : (a, _) continuation) -> p "tell %s\n" s; continue k ())
      | _ -> None } in
  p "%d\n" (handle (fun () -> let x = perform (Ask 3) in perform (Tell "hi");
      x + perform (Ask 4)));
  p "%d\n" (handle (fun () -> perform (Ask (-3))));
  p "%d\n" (handle (fun () -> try perform (Ask (-4)) with Boom n -> n * 10));
  p "%d\n" (handle (fun () -> Fun.protect ~finally:(fun () -> p "finally\n")
      (fun () -> perform (Ask (-5)))));
  p "%d\n" (handle (fun () -> try perform Never; 0 with Unhandled e -> p "%s\n"
      (Printexc.to_string (Unhandled e)); 1));
  p "%d\n" (handle (fun () -> handle (fun () -> perform (Ask 1) + handle
      (fun () -> raise Exit))));
  (* twice *)
  let saved = ref None in
  let r = match_with (fun () -> perform (Ask 1)) () { retc = Fun.id; exnc = raise;
    effc = fun (type a) (e : a t) -> match e with Ask _ -> Some
        (fun (k : (a, _) continuation) -> saved := Some (Obj.magic k);
        continue k 7) | _ -> None } in
  p "%d\n" r;
  let k : (int, int) continuation = Option.get !saved in
  try_ "twice" (fun () -> p "%d\n" (continue k 1)); try_ "twice"
      (fun () -> p "%d\n" (discontinue k Exit));
  (* resumed on another domain, from a thread *)
  let take f = match_with f () { retc = (fun x -> Either.Left x); exnc = raise;
      effc = fun (type a) (e : a t) -> match e with
    | Ask _ -> Some (fun (k : (a, _) continuation) -> Either.Right (Obj.magic k : (int, (int,
        Obj.t) Either.t) continuation)) | _ -> None } in
  (match take (fun () -> let l = List.init 100 string_of_int in let x = perform (Ask 1) in
      Gc.full_major (); x + List.length l + perform (Ask 2)) with
   | Right k -> Gc.compact ();
     (match Obj.magic (Domain.join (Domain.spawn (fun () -> continue k 10))) with
      | Either.Right k2 -> let r = ref 0 in
        Thread.join (Thread.create (fun () -> match continue (Obj.magic k2 : (int, (int, Obj.t)
            Either.t) continuation) 100 with Left x -> r := x | _ -> ()) ()); p "%d\n" !r
      | Either.Left x -> p "early %d\n" x)
   | Either.Left _ -> p "?\n");
  (* dropped continuations are collected, their finalisers run, no exception handler runs *)
  let fins = ref 0 in
  for i = 1 to 100 do
    ignore (take (fun () -> let r = ref i in Gc.finalise (fun _ -> incr fins) r;
      let x = (try perform (Ask i) with _ -> p "never\n"; 0) in x + !r))
  done;
  Gc.full_major (); Gc.full_major (); p "%d\n" !fins;
  (* try_with, backtrace of discontinue_with_backtrace *)
  Printexc.record_backtrace true;
  let bt = try raise (Boom 77) with _ -> Printexc.get_raw_backtrace () in
  (try try_with (fun () -> perform Never) () { effc = fun (type a) (e : a t) -> match e with
    | Never -> Some (fun (k : (a, _) continuation) -> discontinue_with_backtrace k (Boom 78) bt) |
        _ -> None }
   with e -> p "%s\n%s" (Printexc.to_string e) (Printexc.get_backtrace ()));
  (match take (fun () -> perform (Ask 1)) with
   | Right k -> p "callstack %s" (Printexc.raw_backtrace_to_string (get_callstack k 10));
       ignore (continue k 1)
   | _ -> ());
  (* in an effect handler with C in between *)
  try_ "over C" (fun () -> match_with (fun () -> ignore (List.sort
      (fun a b -> perform (Ask 1)) [1; 2]);
    let h = Hashtbl.create 3 in Hashtbl.add h 1 1; p "%d\n" (perform (Ask 4))) () { retc = Fun.id;
        exnc = raise; effc = fun (type a) (e : a t) -> match e with
    | Ask n -> Some (fun (k : (a, _) continuation) -> continue k n) | _ -> None });
  (* deep nesting *)
  let rec nest n = if n = 0 then perform (Tell "deep"); if n = 0 then 0 else 1 + try_with nest (n
      - 1) { effc = fun (type a) (e : a t) -> None } in
  p "%d\n" (try_with nest 1000 { effc = fun (type a) (e : a t) -> match e with Tell s -> Some
      (fun (k : (a, _) continuation) -> p "%s\n" s; continue k ()) | _ -> None })
open Shallow
let () =
  let rec run : type a. (a, unit) continuation -> a -> int -> unit = fun k v n ->
    continue_with k v { retc = (fun () -> p "done %d\n" n); exnc =
        (fun e -> p "exn %s %d\n" (Printexc.to_string e) n);
      effc = fun (type b) (e : b t) -> match e with
        | Ask i -> Some (fun (k : (b, _) continuation) -> run k (i + n) (n + 1))
        | Tell s -> Some (fun (k : (b, _) continuation) -> discontinue_with k Exit { retc =
            (fun () -> p "caught\n"); exnc = (fun e -> p "%s\n" (Printexc.to_string e));
            effc = fun _ -> None })
        | _ -> None } in
  run (fiber (fun () -> p "%d\n" (perform (Ask 1) + perform (Ask 2) + perform (Ask 3)))) () 0;
  run (fiber (fun () -> perform (Tell "x"))) () 0;
  run (fiber (fun () -> try perform (Tell "x") with Exit -> p "mine\n"; perform Never)) () 0;
  run (fiber (fun () -> perform Never)) () 0;
  run (fiber (fun () -> raise Not_found)) () 0;
  let k = fiber (fun () -> 1) in
  let h = { retc = (fun x -> p "ret %d\n" x); exnc = raise; effc = fun _ -> None } in
  continue_with k () h; try_ "twice" (fun () -> continue_with k () h);
  let rec sum n acc k = if n = 0 then acc else sum (n - 1) (acc + n) k in
  p "%d\n" (sum 10 0 k);
  perform (Tell "the end")
