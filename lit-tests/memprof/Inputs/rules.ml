(* Rules that need threads, domains or control in the middle of things (docs/memprof.md, "Which test
   shows which rule"). What is printed is the same with every engine on every runtime. *)
module M = Gc.Memprof
let opaque = Sys.opaque_identity
let say fmt = Printf.printf (fmt ^^ "\n%!")
let attempt f = match f () with () -> "ok" | exception Failure m -> m | exception Exit -> "Exit" | exception e -> Printexc.to_string e
let full () = Gc.minor (); Gc.full_major (); Gc.full_major ()
let none = { M.null_tracker with alloc_minor = (fun _ -> None); alloc_major = (fun _ -> None) }

(* Follows blocks of one size only: everything else that runtimes allocate is noise. *)
let only size ?(alloc = fun _ -> Some ()) ?(promote = fun () -> Some ()) ?(dead = ignore) () =
  let pick i = if i.M.size = size then alloc i else None in
  { M.alloc_minor = pick; alloc_major = pick; promote; dealloc_minor = dead; dealloc_major = dead }
let start t = M.start ~sampling_rate:1. ~callstack_size:100 t
let[@inline never] array n = opaque (Array.make n (opaque 0))

(* 6, 88: the status is shared. *)
let stopped_elsewhere () =
  let p = start none in
  let child = Domain.join (Domain.spawn (fun () -> attempt M.stop)) in
  say "stopped elsewhere: child %s, parent %s, discard %s" child (attempt M.stop) (attempt (fun () -> M.discard p))

(* 11: two profiles in two domains. *)
let two_at_once () =
  let count () =
    let n = ref 0 in
    let p = start (only 7 ~alloc:(fun _ -> incr n; None) ()) in
    for _ = 1 to 10 do ignore (array 7) done;
    M.stop (); M.discard p;
    !n
  in
  let d = Domain.spawn count in
  let here = count () in
  say "two profiles at once: %d and %d" here (Domain.join d)

(* 25: what a callback starts is not suspended. *)
let started_inside () =
  let n = Atomic.make 0 and first = Atomic.make true in
  let p = start (only 7 ~alloc:(fun _ ->
      Atomic.incr n;
      if Atomic.exchange first false then begin
        ignore (array 7); (* not sampled: inside a callback *)
        Domain.join (Domain.spawn (fun () -> ignore (array 7)));
        Thread.join (Thread.create (fun () -> ignore (array 7)) ())
      end;
      None) ()) in
  ignore (array 7);
  M.stop (); M.discard p;
  say "started inside a callback: %d allocations" (Atomic.get n)

(* 26, 71: a thread's allocations are reported by that thread. *)
let by_the_thread () =
  let right = ref 0 and wrong = ref 0 in
  let who = ref (-1) in
  let p = start (only 9 ~alloc:(fun _ -> (if Thread.id (Thread.self ()) = !who then incr right else incr wrong); None) ()) in
  let t = Thread.create (fun () -> who := Thread.id (Thread.self ()); for _ = 1 to 5 do ignore (array 9) done) () in
  Thread.join t;
  M.stop (); M.discard p;
  say "by the thread itself: %d right, %d wrong" !right !wrong

(* 39, 43: the callstack is that of the allocation, whenever the callback runs. *)
let[@inline never] makes_bytes () = opaque (Bytes.create 80)
let callstack () =
  let found = ref "none" in
  let p = start (only 11 ~alloc:(fun i ->
      (match Printexc.backtrace_slots i.M.callstack with
       | Some s when Array.length s > 0 -> found := Option.value ~default:"?" (Printexc.Slot.name s.(0))
       | _ -> ());
      None) ()) in
  let b = makes_bytes () in
  ignore (opaque (ref b));
  M.stop (); M.discard p;
  say "callstack of a C allocation: %s" !found

(* 59: promoted while its own callback runs: reported after it. *)
let promoted_meanwhile () =
  let log = Buffer.create 10 in
  let b = ref Bytes.empty in
  let p = start (only 11 ~alloc:(fun _ -> Gc.minor (); Buffer.add_char log 'a'; Some ())
                   ~promote:(fun () -> Buffer.add_char log 'p'; Some ()) ~dead:(fun () -> Buffer.add_char log 'd') ()) in
  b := makes_bytes ();
  ignore (opaque (ref 0));
  M.stop ();
  b := Bytes.empty;
  full ();
  M.discard p;
  say "promoted meanwhile: %s" (Buffer.contents log)

(* 58, 104: a callback that blocks keeps its entry; other threads go on. *)
let blocked () =
  let go = Mutex.create () and log = Buffer.create 10 in
  let inside = Atomic.make false in
  let held = ref Bytes.empty in
  let p = start (only 11 ~alloc:(fun _ -> Atomic.set inside true; Mutex.lock go; Mutex.unlock go; Buffer.add_char log 'a'; Some ())
                   ~promote:(fun () -> Buffer.add_char log 'p'; Some ()) ()) in
  Mutex.lock go;
  let t = Thread.create (fun () -> held := makes_bytes (); ignore (opaque (ref 0))) () in
  while not (Atomic.get inside) do Thread.yield () done;
  Gc.minor ();
  Buffer.add_char log '-';
  Mutex.unlock go;
  Thread.join t;
  Gc.minor ();
  (try M.stop () with Failure _ -> ());
  M.discard p;
  say "a callback that blocks: %s" (Buffer.contents log)

(* 86: stop reports first; an exception there leaves the profile running. *)
let stop_reports () =
  let n = ref 0 in
  let p = start (only 11 ~alloc:(fun _ -> incr n; raise Exit) ()) in
  let b = makes_bytes () in
  let first = attempt M.stop in
  let discard = attempt (fun () -> M.discard p) in
  let second = attempt M.stop in
  ignore (opaque b);
  say "stop reports first: %s, %d; discard: %s; stop: %s; discard: %s" first !n discard second (attempt (fun () -> M.discard p))

(* 89, 94: what becomes of the rest of a combined allocation. *)
let restart what control =
  let log = Buffer.create 10 in
  let first = ref true and self = ref None and next = ref None in
  let t = only 3 ~alloc:(fun _ ->
      Buffer.add_char log 'a';
      if !first then begin
        first := false;
        M.stop ();
        control (Option.get !self);
        next := Some (start (only 3 ~alloc:(fun _ -> Buffer.add_char log 'A'; Some ()) ~dead:(fun () -> Buffer.add_char log 'D') ()))
      end;
      Some ()) ~dead:(fun () -> Buffer.add_char log 'd') () in
  self := Some (start t);
  let n = opaque 1 in
  ignore (opaque ((n, n, n), (n, n, n)));
  ignore (opaque (opaque n, n, n));
  M.stop ();
  full ();
  M.discard (Option.get !next);
  say "%s: %s" what (Buffer.contents log)

(* 92: after discard nothing is reported. *)
let silent_after_discard () =
  let n = ref 0 in
  let p = start (only 7 ~alloc:(fun _ -> Some ()) ~promote:(fun () -> incr n; Some ()) ~dead:(fun () -> incr n) ()) in
  let keep = List.init 10 (fun _ -> array 7) in
  M.stop (); M.discard p;
  Gc.minor ();
  ignore (opaque keep);
  full ();
  say "after discard: %d events" !n

(* 96: the rest stays pending after an exception. *)
let rest_stays () =
  let n = ref 0 in
  let p = start (only 7 ~alloc:(fun _ -> Some ()) ~dead:(fun () -> incr n; if !n = 3 then raise Exit) ()) in
  for _ = 1 to 8 do ignore (array 7) done;
  let r = attempt Gc.minor in
  Gc.minor ();
  M.stop (); M.discard p;
  say "an exception on the way: %s, %d deaths in the end" r !n

(* 101, 102: a thread that ends by Thread.Exit inside a callback. *)
let exit_inside () =
  let n = ref 0 in
  let other = ref 0 in
  let p = start (only 7 ~alloc:(fun _ -> incr n; if !n = 1 then Thread.exit () else incr other; None) ()) in
  let t = Thread.create (fun () -> ignore (array 7); other := 100) () in
  Thread.join t;
  ignore (array 7);
  M.stop (); M.discard p;
  say "Thread.exit in a callback: %d allocations, %d by others" !n !other

(* 107 to 110: a domain's blocks outlive it and are reported where they are adopted. *)
let adopted () =
  let here = (Domain.self () :> int) and there = ref 0 and mine = ref 0 in
  let at () = if (Domain.self () :> int) = here then incr mine else incr there in
  let p = start (only 7 ~dead:at ()) in
  let cell = Atomic.make [||] in
  for _ = 1 to 20 do
    Domain.join (Domain.spawn (fun () -> Atomic.set cell (array 7)));
    Atomic.set cell [||];
  done;
  full ();
  M.stop (); M.discard p;
  say "twenty domains: %d deaths" (!mine + !there)

(* 120: values that are reachable only through what callbacks returned stay. *)
let data_are_roots () =
  let good = ref 0 in
  let t = { M.null_tracker with
            alloc_minor = (fun i -> if i.M.size = 7 then Some (String.make 20 'x', ref i.M.size) else None);
            promote = (fun (s, r) -> if s = String.make 20 'x' && !r = 7 then incr good; Some (s, r));
            dealloc_major = (fun (s, r) -> if s = String.make 20 'x' && !r = 7 then incr good) } in
  let p = start t in
  let keep = ref (array 7) in
  full ();
  ignore (opaque !keep);
  keep := [||];
  M.stop ();
  full ();
  M.discard p;
  say "data kept: %d of 2" !good

let () =
  stopped_elsewhere (); two_at_once (); started_inside (); by_the_thread (); callstack (); promoted_meanwhile ();
  blocked (); stop_reports (); restart "stop and start inside" ignore; restart "stop, discard and start inside" M.discard;
  silent_after_discard (); rest_stays (); exit_inside (); adopted (); data_are_roots ()
