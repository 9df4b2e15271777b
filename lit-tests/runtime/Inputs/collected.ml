(* What a full collection must find dead, and what not, while other domains and threads run. *)
let p fmt = Printf.printf (fmt ^^ "%!")
let weak v = let w = Weak.create 1 in Weak.set w 0 (Some v); w
let alive w = Weak.check w 0
let[@inline never] dropped n = List.init n (fun i -> weak (ref i))
let[@inline never] held n = List.init n (fun i -> let r = ref i in r, weak r)
(* Closures of one block: the second is an address inside it. *)
let[@inline never] twins n =
  let rec even i = if i = 0 then n else odd (i - 1) and odd i = if i = 0 then -n else even (i - 1)
      in
  even, odd
let[@inline never] inside n = List.init n (fun i -> let e, o = twins i in e, weak o, weak e)
let[@inline never] inside_dropped n = List.init n (fun i -> weak (snd (twins i)))
let[@inline never] ephemerons n = List.init n (fun i -> let k = ref i in
    let e = Ephemeron.K1.make k (ref (i + 1)) in k, e)
let count f l = List.length (List.filter f l)
let cycle k =
  let d = dropped 100 and h = held 100 and i = inside 100 and id = inside_dropped 100 and e =
      ephemerons 100 in
  let fins = ref 0 in
  for _ = 1 to 50 do Gc.finalise (fun _ -> incr fins) (ref 0) done;
  let lasts = ref 0 in
  for _ = 1 to 50 do Gc.finalise_last (fun () -> incr lasts) (ref 0) done;
  Gc.full_major ();
  p "%s: %d %d %d %d %d %d %d, %d\n" k (count alive d) (count (fun (_, w) -> alive w) h)
    (count (fun (_, w, v) -> alive w && alive v) i) (count alive id)
    (count (fun (k, e) -> Ephemeron.K1.query e k <> None) e) !fins !lasts
    (List.fold_left (fun a (r, _) -> a + !r) 0 h + List.fold_left
        (fun a (e, _, _) -> a + e 2) 0 i)
let with_domains n spin f =
  let stop = Atomic.make false and up = Atomic.make 0 in
  let ds = List.init n (fun _ -> Domain.spawn (fun () -> Atomic.incr up; spin stop)) in
  while Atomic.get up < n do Domain.cpu_relax () done;
  f (); Atomic.set stop true; List.iter Domain.join ds
let polling stop = while not (Atomic.get stop) do Domain.cpu_relax () done
let allocating stop =
  let l = ref [] in
  while not (Atomic.get stop) do l := Sys.opaque_identity (List.init 100 (fun i -> ref i)) done;
      ignore !l
let waiting stop = while not (Atomic.get stop) do Unix.sleepf 0.001 done
(* Enough for several to mark, in pieces that can be shared. *)
let big = Array.init 5000 (fun i -> Array.init 40 (fun j -> ref (i * j)))
let sum () = Array.fold_left (Array.fold_left (fun a r -> a + !r)) 0 big
let () =
  for i = 1 to 3 do cycle (Printf.sprintf "alone %d" i) done;
  List.iter (fun (name, spin) -> for n = 1 to 4 do
      with_domains n spin (fun () -> for i = 1 to 3 do cycle (Printf.sprintf "%d %s, %d" n name i)
          done) done)
    ["polling", polling; "allocating", allocating; "waiting", waiting];
  let stop = Atomic.make false in
  let t = Thread.create allocating stop in
  for i = 1 to 3 do cycle (Printf.sprintf "a thread, %d" i) done; Atomic.set stop true;
      Thread.join t;
  (* what another domain made, and left when it ended *)
  let l = Domain.join (Domain.spawn (fun () -> held 100 @ held 100)) in Gc.full_major ();
  p "%d\n" (count (fun (_, w) -> alive w) l);
  let l = Domain.join (Domain.spawn (fun () -> List.map snd (held 100))) in Gc.full_major ();
      p "%d\n" (count alive l);
  p "%d\n" (sum ())
