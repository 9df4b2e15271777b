(* Lazy, Atomic, Mutex, Condition, Semaphore, DLS, Effect, threads: what they answer and refuse.
    *)
let p fmt = Printf.printf (fmt ^^ "%!")
let try_ name f = try f () with e -> p "%s: %s\n" name (Printexc.to_string e)
exception Boom of int
(* Lazy *)
let () =
  let n = ref 0 in
  let l = lazy (incr n; raise (Boom !n)) in
  for _ = 1 to 3 do try_ "lazy" (fun () -> Lazy.force l) done;
  p "%b %d\n" (Lazy.is_val l) !n;
  let rec l = lazy (Lazy.force l + 1) in
  try_ "recursive" (fun () -> p "%d\n" (Lazy.force l)); try_ "recursive"
      (fun () -> p "%d\n" (Lazy.force l));
  let rec a = lazy (Lazy.force b) and b = lazy (Lazy.force a : int) in try_ "mutual"
      (fun () -> p "%d\n" (Lazy.force a));
  p "%b %b %d %.1f\n" (Lazy.is_val (Lazy.from_val 3)) (Lazy.is_val (lazy (Sys.opaque_identity 3)))
      (Lazy.force (Lazy.map succ (lazy 3)))
    (Lazy.force (Lazy.from_val 1.5));
  p "%d %d\n" (Lazy.force (Lazy.map_val succ (Lazy.from_val 4))) (Lazy.force_val (lazy (Lazy.force
      (lazy 9))));
  let l = lazy (lazy 5) in ignore (Lazy.force l); Gc.full_major ();
      p "%d\n" (Lazy.force (Lazy.force l));
  let ll = List.init 1000 (fun i -> lazy (if i mod 7 = 0 then raise (Boom i) else float i)) in
  let force l = try Lazy.force l with Boom i -> -. float i in
  let s1 = List.fold_left (fun a l -> a +. force l) 0. ll in Gc.compact ();
  p "%g %g\n" s1 (List.fold_left (fun a l -> a +. force l) 0. ll);
  (* another domain forces: Undefined *)
  let go = Atomic.make 0 in
  let l = lazy (Atomic.set go 1; while Atomic.get go < 2 do Domain.cpu_relax () done; 5) in
  let d = Domain.spawn (fun () -> Lazy.force l) in
  while Atomic.get go < 1 do Domain.cpu_relax () done;
  try_ "racy" (fun () -> p "%d\n" (Lazy.force l)); p "%b\n" (Lazy.is_val l); Atomic.set go 2;
      let r = Domain.join d in p "%d %d\n" r (Lazy.force l);
  try_ "thread" (fun () -> let r = ref None in
    let stage = Atomic.make 0 in
    let await n = while Atomic.get stage < n do Thread.yield () done in
    let l = lazy (Atomic.set stage 1; await 2; 6) in
    let t = Thread.create (fun () -> r := Some (Lazy.force l)) () in await 1;
    (try p "%d\n" (Lazy.force l) with Lazy.Undefined -> p "undefined\n");
    Atomic.set stage 2; Thread.join t;
        p "%d\n" (Option.get !r))
(* Atomic *)
let () =
  let a = Atomic.make 0 and c = Atomic.make [] and x = Atomic.make_contended 1. in
  let ds = List.init 8 (fun k -> Domain.spawn (fun () ->
    for i = 1 to 2000 do Atomic.incr a; if i land 1 = 0 then Atomic.decr a;
        ignore (Atomic.fetch_and_add a 2);
      let rec push () = let old = Atomic.get c in if not (Atomic.compare_and_set c old ((k, i) ::
          old)) then push () in
      if i mod 100 = 0 then push () done)) in
  List.iter Domain.join ds;
  p "%d %d %d\n" (Atomic.get a) (List.length (Atomic.get c)) (List.fold_left
      (fun s (k, i) -> s + k * i) 0 (Atomic.get c));
  p "%g %g %b\n" (Atomic.exchange x 2.) (Atomic.get x) (Atomic.compare_and_set x 2. 3.)
(* Mutex, Condition, Semaphore *)
let () =
  let m = Mutex.create () in
  try_ "unlock" (fun () -> Mutex.unlock m); Mutex.lock m; try_ "lock twice"
      (fun () -> Mutex.lock m);
  p "%b\n" (Mutex.try_lock m); Domain.join (Domain.spawn (fun () -> p "%b\n" (Mutex.try_lock m);
      try_ "of another" (fun () -> Mutex.unlock m)));
  Mutex.unlock m; try_ "unlock twice" (fun () -> Mutex.unlock m);
  try_ "protect" (fun () -> Mutex.protect m (fun () -> raise (Boom 1)));
      p "%b\n" (Mutex.try_lock m); Mutex.unlock m;
  let c = Condition.create () in
  let n = ref 0 and go = ref false in
  let work () = Mutex.lock m; incr n; while not !go do Condition.wait c m done; decr n;
      Mutex.unlock m in
  let ds = List.init 4 (fun _ -> Domain.spawn work) and ts = List.init 4
      (fun _ -> Thread.create work ()) in
  let rec wait () = Mutex.lock m; let k = !n in Mutex.unlock m; if k < 8 then (Thread.yield ();
      wait ()) in wait ();
  Mutex.lock m; go := true; Condition.broadcast c; Mutex.unlock m; List.iter Domain.join ds;
      List.iter Thread.join ts; p "all %d\n" !n;
  let s = Semaphore.Counting.make 2 in
  Semaphore.Counting.acquire s; p "%b %b %d\n" (Semaphore.Counting.try_acquire s)
      (Semaphore.Counting.try_acquire s) (Semaphore.Counting.get_value s);
  try_ "semaphore" (fun () -> ignore (Semaphore.Counting.make (-1)));
  let b = Semaphore.Binary.make false in
  let d = Domain.spawn (fun () -> Semaphore.Binary.acquire b; 4) in Semaphore.Binary.release b;
      Semaphore.Binary.release b; p "%d\n" (Domain.join d);
  let s = Semaphore.Counting.make max_int in try_ "overflow" (fun () -> Semaphore.Counting.release
      s)
(* Domain *)
let () =
  let k = Domain.DLS.new_key ~split_from_parent:(fun l -> "split" :: l) (fun () -> ["new"]) in
  let later = Domain.DLS.new_key (fun () -> raise (Boom 5)) in
  Domain.DLS.set k ["main"];
  let d = Domain.spawn (fun () -> let a = Domain.DLS.get k in Domain.DLS.set k ["child"];
      Domain.at_exit (fun () -> p "exit %s\n" (String.concat "," (Domain.DLS.get k)));
    Domain.at_exit (fun () -> p "exit first\n"); a) in
  p "%s " (String.concat "," (Domain.join d)); p "%s\n" (String.concat "," (Domain.DLS.get k));
  try_ "dls" (fun () -> Domain.DLS.get later); try_ "dls" (fun () -> Domain.DLS.get later);
  let d = Domain.spawn (fun () -> raise (Boom 6)) in try_ "join" (fun () -> Domain.join d);
      try_ "again" (fun () -> Domain.join d);
  let d = Domain.spawn (fun () -> Domain.at_exit (fun () -> raise (Boom 7));
      1) in try_ "at_exit" (fun () -> p "%d\n" (Domain.join d));
  let d = Domain.spawn (fun () -> Domain.at_exit (fun () -> raise (Boom 8));
      raise (Boom 9)) in try_ "both" (fun () -> p "%d\n" (Domain.join d));
  p "%b %b %d\n" (Domain.is_main_domain ()) (Domain.join (Domain.spawn Domain.is_main_domain))
      (Domain.self () :> int);
  let d = Domain.spawn (fun () -> ignore (Thread.create (fun () -> Thread.delay 0.2;
      p "thread of a domain\n") ()); 3) in p "%d\n" (Domain.join d);
  let d = Domain.spawn (fun () -> Thread.exit ()) in try_ "Thread.exit" (fun () -> Domain.join d;
      p "joined\n");
  try_ "too many" (fun () -> let m = Mutex.create () in Mutex.lock m;
    let rec go acc = match Domain.spawn (fun () -> Mutex.lock m;
        Mutex.unlock m) with d -> go (d :: acc) | exception e -> Mutex.unlock m;
        List.iter Domain.join acc;
      p "%d %s\n" (List.length acc) (Printexc.to_string e) in go [])
(* Thread *)
let () =
  let t = Thread.create (fun () -> Thread.exit ()) () in Thread.join t; p "joined\n";
  let t = Thread.create (fun () -> raise Thread.Exit) () in Thread.join t;
  Thread.set_uncaught_exception_handler (fun e -> p "handler %s\n" (Printexc.to_string e));
  Thread.join (Thread.create (fun () -> raise (Boom 10)) ());
  Thread.set_uncaught_exception_handler (fun e -> raise (Boom 12));
  Thread.join (Thread.create (fun () -> raise (Boom 11)) ());
  Thread.set_uncaught_exception_handler Thread.default_uncaught_exception_handler;
  Thread.join (Thread.create (fun () -> Fun.protect ~finally:(fun () -> raise (Boom 13)) ignore)
      ());
  let c = Event.new_channel () in
  let t = Thread.create (fun () -> Event.sync (Event.send c 5)) () in
  p "%d\n" (Event.sync (Event.choose [Event.wrap (Event.receive c) succ;
      Event.guard (fun () -> Event.receive (Event.new_channel ()))])); Thread.join t;
  p "%b %b\n" (Event.poll (Event.receive c) = (None : int option)) (Event.poll (Event.always 3) =
      Some 3);
  let got = ref [] in
  let t = Thread.create (fun () -> for _ = 1 to 3 do got := Event.sync (Event.receive c) :: !got
      done) () in
  for i = 1 to 3 do Event.sync (Event.wrap_abort (Event.send c i) (fun () -> p "aborted\n")) done;
      Thread.join t;
  p "%s\n" (String.concat "," (List.map string_of_int !got));
  let tl = Thread.create (fun () -> Thread.id (Thread.self ())) () in Thread.join tl;
      p "%d\n" (Thread.id (Thread.self ()))
