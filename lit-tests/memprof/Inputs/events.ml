(* Scenarios for Gc.Memprof at rate 1, where every event is determined. Each
   prints what happened; the same program runs with the real engine and with
   framekit's, and the outputs are compared. *)
module M = Gc.Memprof

let say fmt = Printf.printf (fmt ^^ "\n")
let source = function M.Normal -> "normal" | M.Marshal -> "marshal" | M.Custom -> "custom" | _ -> "other"

(* Events are kept as ints and printed after the run: printing allocates. *)
let log = Array.make 100_000 (0, 0, 0)
let used = ref 0
let note kind a b = if !used < Array.length log then begin log.(!used) <- (kind, a, b); incr used end
let names = [| "alloc_minor"; "alloc_major"; "promote"; "dealloc_minor"; "dealloc_major"; "user" |]
let flush what =
  let n = !used in
  used := 0;
  say "%s: %d events" what n;
  for i = 0 to min n 60 - 1 do
    let k, a, b = log.(i) in
    say "  %s %d %d" names.(k) a b
  done

let tracker =
  { M.alloc_minor = (fun i -> note 0 i.M.size i.M.n_samples; Some i.M.size);
    alloc_major = (fun i -> note 1 i.M.size i.M.n_samples; Some (i.M.size + 1000));
    promote = (fun s -> note 2 s 0; Some (s + 100));
    dealloc_minor = (fun s -> note 3 s 0);
    dealloc_major = (fun s -> note 4 s 0) }

let message f = try f (); say "no exception" with Failure m -> say "Failure %s" m | Invalid_argument m -> say "Invalid_argument %s" m | e -> say "other %s" (Printexc.to_string e)

(* Deaths in the nursery are reported first: runtimes differ in whether callbacks
   run between the minor and the major part of a full collection. *)
let full () = Gc.minor (); Gc.full_major (); Gc.full_major ()
let keep : Obj.t list ref = ref []
let[@inline never] hold x = keep := [Obj.repr x]
let opaque = Sys.opaque_identity

(* start, run, stop, collect, discard *)
let profile ?(rate = 1.) ?(callstack_size = 0) ?(tracker = tracker) what f =
  Gc.full_major ();
  used := 0;
  let t = M.start ~sampling_rate:rate ~callstack_size tracker in
  (try f () with e -> note 5 1 0; ignore e);
  (try M.stop () with Failure _ -> note 5 2 0);
  keep := [];
  full ();
  (try M.discard t with Failure _ -> note 5 3 0);
  flush what

let arguments () =
  List.iter (fun r -> message (fun () -> ignore (M.start ~sampling_rate:r tracker))) [ -0.1; 1.1; nan; infinity ];
  message (fun () -> ignore (M.start ~sampling_rate:0.5 ~callstack_size:(-1) tracker));
  message (fun () -> M.stop ());
  let t = M.start ~sampling_rate:0. tracker in
  message (fun () -> ignore (M.start ~sampling_rate:0.5 tracker));
  message (fun () -> M.discard t);
  message (fun () -> M.stop ());
  message (fun () -> M.stop ());
  message (fun () -> M.discard t);
  message (fun () -> M.discard t);
  let t = M.start ~sampling_rate:(-0.) tracker in
  M.stop ();
  M.discard t

let comballoc () =
  profile "comballoc" (fun () ->
      let n = opaque 3 in
      hold (n, (n, n, (n, n, n, n)));
      ignore (opaque (n, (n, n))))

let sizes () =
  profile "sizes" (fun () ->
      List.iter (fun n -> ignore (opaque (Array.make n 0))) [ 1; 2; 255; 256; 257; 1000 ];
      ignore (opaque (Bytes.create 100));
      ignore (opaque (Array.make 0 0)))

let marshal () =
  let s = Marshal.to_string [ (1, "abc"); (2, "defg") ] [] in
  let big = Marshal.to_string (Array.init 600 (fun i -> (i, i))) [] in
  profile "marshal" (fun () -> ignore (opaque (Marshal.from_string s 0 : (int * string) list)));
  profile "marshal big" (fun () -> ignore (opaque (Marshal.from_string big 0 : (int * int) array)))

let custom () =
  profile "custom" (fun () -> ignore (opaque (Bigarray.Array1.create Bigarray.char Bigarray.c_layout 1000)));
  profile "custom large" (fun () -> ignore (opaque (Bigarray.Array1.create Bigarray.char Bigarray.c_layout 100000)))

let callstacks () =
  List.iter
    (fun size ->
      let depths = ref [] in
      let t = { M.null_tracker with alloc_minor = (fun i -> depths := Printexc.raw_backtrace_length i.M.callstack :: !depths; None) } in
      let rec deep n = if n = 0 then Some (opaque 1) else (let r = deep (n - 1) in ignore (opaque r); r) in
      ignore (M.start ~sampling_rate:1. ~callstack_size:size t);
      ignore (opaque (deep 20));
      M.stop ();
      say "callstack %d: %s" size (String.concat " " (List.map string_of_int !depths)))
    [ 0; 1; 5; 1000 ]

let locations () =
  let out = ref [] in
  let t = { M.null_tracker with alloc_minor = (fun i -> out := i.M.callstack :: !out; None) } in
  let n = opaque 2 in
  ignore (M.start ~sampling_rate:1. ~callstack_size:3 t);
  let a = (n,
    (n, n),
    Some n) in
  M.stop ();
  ignore (opaque a);
  List.iter
    (fun c ->
      match Printexc.backtrace_slots c with
      | None -> say "no slots"
      | Some s -> Array.iter (fun x -> match Printexc.Slot.location x with
          | Some l -> say "  %d %d-%d" l.Printexc.line_number l.start_char l.end_char | None -> say "  none") s)
    (List.rev !out)

let none_deletes () =
  profile "alloc none" ~tracker:{ tracker with alloc_minor = (fun i -> note 0 i.M.size 0; None) } (fun () ->
      hold (ref (opaque 1)); Gc.minor ());
  profile "promote none" ~tracker:{ tracker with promote = (fun s -> note 2 s 0; None) } (fun () ->
      hold (ref (opaque 1)); Gc.minor ())

exception Stop

let raising () =
  let nth = ref 0 in
  profile "raise in alloc" ~tracker:{ tracker with alloc_minor = (fun i -> incr nth; note 0 i.M.size 0; if !nth = 2 then raise Stop; Some i.M.size) }
    (fun () -> let n = opaque 1 in hold (n, (n, n, (n, n, n, n))));
  nth := 0;
  profile "raise in promote" ~tracker:{ tracker with promote = (fun s -> incr nth; note 2 s 0; if !nth = 2 then raise Stop; Some s) }
    (fun () -> hold [| ref (opaque 1); ref 2; ref 3; ref 4 |]; (try Gc.minor () with Stop -> note 5 9 0); (try ignore (opaque (ref 1)) with Stop -> note 5 8 0));
  nth := 0;
  profile "raise in dealloc" ~tracker:{ tracker with dealloc_minor = (fun s -> incr nth; note 3 s 0; if !nth = 1 then raise Stop) }
    (fun () ->
      for i = 1 to 4 do ignore (opaque (ref i)) done;
      for _ = 1 to 6 do (try Gc.minor () with Stop -> note 5 7 0) done)

let control_inside () =
  let first = ref true in
  profile "stop inside" ~tracker:{ tracker with alloc_minor = (fun i -> note 0 i.M.size 0; if !first then (first := false; M.stop ()); Some i.M.size) }
    (fun () -> let n = opaque 1 in hold (n, (n, n, (n, n, n, n))));
  let first = ref true and inner = ref None in
  profile "restart inside" ~tracker:{ tracker with alloc_minor = (fun i -> note 0 i.M.size 0;
        if !first then (first := false; M.stop (); inner := Some (M.start ~sampling_rate:1. { tracker with alloc_minor = (fun i -> note 0 (i.M.size + 10000) 0; Some 77) })); Some i.M.size) }
    (fun () -> let n = opaque 1 in hold (n, (n, n, (n, n, n, n))); ignore (opaque (ref n)));
  (match !inner with Some t -> M.discard t | None -> ());
  let first = ref true and self = ref None in
  used := 0;
  self := Some (M.start ~sampling_rate:1. { tracker with alloc_minor = (fun i -> note 0 i.M.size 0;
        if !first then (first := false; M.stop (); (match !self with Some t -> M.discard t | None -> note 5 4 0)); Some i.M.size) });
  let n = opaque 1 in
  hold (n, (n, n, (n, n, n, n)));
  keep := [];
  full ();
  flush "first word after start is sampled by the callback itself"

let effects () =
  let open struct type _ Effect.t += E : unit Effect.t end in
  let r = ref "none" in
  let t = M.start ~sampling_rate:1. { M.null_tracker with alloc_minor = (fun _ -> (try Effect.perform E with Effect.Unhandled _ -> r := "unhandled"); None) } in
  Effect.Deep.match_with (fun () -> ignore (opaque (ref (opaque 1)))) ()
    { retc = (fun () -> ()); exnc = raise; effc = (fun (type a) (e : a Effect.t) -> match e with E -> Some (fun (k : (a, _) Effect.Deep.continuation) -> r := "handled"; Effect.Deep.continue k ()) | _ -> None) };
  M.stop (); M.discard t;
  say "effect in callback: %s" !r

let two_profiles () =
  let t1 = M.start ~sampling_rate:1. tracker in
  hold (ref (opaque 1));
  M.stop ();
  let t2 = M.start ~sampling_rate:1. { tracker with dealloc_major = (fun s -> note 4 (s + 5000) 0); promote = (fun s -> note 2 (s + 5000) 0; Some s) } in
  let k = !keep in
  hold (ref (opaque 2), k);
  M.stop ();
  keep := [];
  full ();
  flush "two profiles";
  M.discard t1; M.discard t2

let domains () =
  let t = M.start ~sampling_rate:1. { tracker with alloc_minor = (fun i -> if i.M.size = 7 then note 0 7 i.M.n_samples; if i.M.size = 7 then Some 7 else None);
      alloc_major = (fun _ -> None) } in
  let cell = Atomic.make (Obj.repr 0) in
  let d = Domain.spawn (fun () -> Atomic.set cell (Obj.repr (Array.make 7 (opaque 0)))) in
  Domain.join d;
  M.stop ();
  Atomic.set cell (Obj.repr 0);
  full ();
  flush "a dead domain's block";
  M.discard t

let counts () =
  List.iter (fun rate ->
    let n = ref 0 in
    let t = M.start ~sampling_rate:rate ~callstack_size:0 { M.null_tracker with alloc_minor = (fun i -> n := !n + i.M.n_samples; None); alloc_major = (fun i -> n := !n + i.M.n_samples; None) } in
    for i = 1 to 100_000 do ignore (opaque (i, i, i)); if i land 63 = 0 then ignore (opaque (Array.make 300 i)) done;
    M.stop (); M.discard t;
    let words = 100_000. *. 4. +. 1562. *. 301. in
    let expect = rate *. words and sd = sqrt (rate *. (1. -. rate) *. words) in
    say "rate %g: %s" rate (if abs_float (float !n -. expect) <= 7. *. sd +. 0.5 then "as expected" else Printf.sprintf "%d samples, expected %.0f" !n expect))
    [ 0.; 1e-300; 1e-30; 1e-9; 1e-4; 0.01; 0.42; 0.9; 1. ]

let () =
  arguments (); comballoc (); sizes (); marshal (); custom (); callstacks (); locations (); none_deletes (); raising ();
  control_inside (); effects (); two_profiles (); domains (); counts ()
