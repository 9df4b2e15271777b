(* Where the real engine is wrong: `defects NAME` prints what this program's engine does. The tests
   run it with both. *)
module M = Gc.Memprof
let opaque = Sys.opaque_identity
let say fmt = Printf.printf (fmt ^^ "\n%!")
let none = { M.null_tracker with alloc_minor = (fun _ -> None); alloc_major = (fun _ -> None) }
let[@inline never] array n = opaque (Array.make n (opaque 0))

(* A profile whose only domain has ended without a stop. *)
let undiscardable () =
  let p = Domain.join (Domain.spawn (fun () -> M.start ~sampling_rate:1. none)) in
  say "discard after the last domain: %s" (match M.discard p with () -> "ok" | exception Failure m -> m)

(* Callstack limits beyond a C int. *)
let depth () =
  let seen = ref 0 in
  let rec deep n = if n = 0 then (ignore (array 7); 0) else 1 + deep (n - 1) in
  let p = M.start ~sampling_rate:1. ~callstack_size:((1 lsl 32) + 3)
      { none with alloc_minor = (fun i -> if i.M.size = 7 then seen := Printexc.raw_backtrace_length i.M.callstack; None) } in
  ignore (opaque (deep 30));
  M.stop (); M.discard p;
  say "callstack of 30 calls and a limit of 2^32 + 3: %s" (if !seen > 30 then "whole" else string_of_int !seen)

let resident () =
  let ic = open_in "/proc/self/statm" in
  let pages = Scanf.sscanf (input_line ic) "%d %d" (fun _ r -> r) in
  close_in ic;
  pages * 4096

(* Samples of C code whose callback never runs: each has a callstack. *)
let leak () =
  let round () =
    let p = ref None in
    let first i = if i.M.source = M.Marshal then (try M.stop () with Failure _ -> ()); None in
    let pending = { M.null_tracker with alloc_minor = first; alloc_major = first } in
    let s = Marshal.to_string (Array.init 20_000 (fun i -> (i, i))) [] in
    let rec deep n = if n = 0 then (p := Some (M.start ~sampling_rate:1. pending); ignore (opaque (Marshal.from_string s 0 : (int * int) array)); 0)
      else 1 + deep (n - 1) in
    ignore (opaque (deep 100));
    (try M.stop () with Failure _ -> ());
    (match !p with Some p -> M.discard p | None -> ())
  in
  round (); round (); round ();
  let before = resident () in
  for _ = 1 to 10 do round () done;
  let grown = (resident () - before) / (1 lsl 20) in
  say "ten rounds of samples that are dropped: %s" (if grown < 80 then "no growth" else "leaked")

(* stop, discard and an exception in one callback, with a large table. *)
let overrun () =
  let n = ref 0 in
  let self = ref None in
  self := Some (M.start ~sampling_rate:1. ~callstack_size:0
      { M.null_tracker with alloc_minor = (fun _ -> Some ());
        dealloc_minor = (fun () ->
          incr n;
          if !n = 190_000 then begin M.stop (); M.discard (Option.get !self); raise Exit end) });
  (try
     for i = 1 to 190_000 do ignore (opaque (ref i)) done;
     Gc.full_major ();
     say "not reached"
   with Exit -> ());
  Gc.full_major ();
  ignore (opaque (Array.init 1000 (fun i -> ref i)));
  say "stop, discard and raise: survived"

(* Blocks of other domains that live on are not dead (ocaml/ocaml #14057). *)
let declared_dead () =
  let wrong = Atomic.make 0 in
  let size = 2_000 in
  let p = M.start ~sampling_rate:1. ~callstack_size:0
      { M.alloc_minor = (fun i -> if i.M.size = 6 then Some () else None); alloc_major = (fun _ -> None);
        promote = (fun () -> Some ()); dealloc_minor = (fun () -> Atomic.incr wrong); dealloc_major = ignore } in
  let block i = (i, i, i, i, i, i) in
  let all = Array.init 4 (fun _ -> Array.make size (block 0)) in
  let turn = Atomic.make 0 in
  let worker k () =
    for _ = 1 to 10 do
      let mine = all.((k + 1) land 3) in (* kept alive by an array of the major heap *)
      for i = 0 to size - 1 do mine.(i) <- block (opaque i) done;
      Atomic.incr turn;
      Gc.minor ()
    done
  in
  let ds = List.init 3 (fun k -> Domain.spawn (worker k)) in
  worker 3 ();
  List.iter Domain.join ds;
  Gc.minor ();
  M.stop ();
  M.discard p;
  ignore (opaque all);
  (* `mine` is overwritten only by its own domain, after a minor collection at least *)
  say "live blocks declared dead: %s" (if Atomic.get wrong = 0 then "none" else "some")

external quarantine_begin : unit -> unit = "quarantine_begin" [@@noalloc]
external quarantine_pieces : unit -> int = "quarantine_pieces" [@@noalloc]
external quarantine_broken : unit -> bool = "quarantine_broken" [@@noalloc]

(* A child of fork, while another thread is in a callback: that thread is gone and what the engine had
   of it is freed, its entry is not. When the entries before it go, it moves, and the real engine writes
   where it is now into the freed thread. *)
let forked () =
  let inside = Atomic.make false and go = Atomic.make false in
  let report i =
    if i.M.size = 11 then begin Atomic.set inside true; while not (Atomic.get go) do Thread.yield () done end;
    if i.M.size = 13 then Some () else None in
  let p = M.start ~sampling_rate:1. ~callstack_size:0 { M.null_tracker with alloc_minor = report } in
  let earlier = ref (List.init 100 (fun _ -> array 13)) in
  let t = Thread.create (fun () -> ignore (opaque (Bytes.create 80)); ignore (opaque (ref 0))) () in
  while not (Atomic.get inside) do Thread.yield () done;
  quarantine_begin ();
  match Unix.fork () with
  | 0 ->
    let freed = quarantine_pieces () in
    earlier := [];
    for i = 1 to 1000 do ignore (opaque (ref i)) done;
    Gc.full_major ();
    M.stop (); M.discard p;
    Gc.full_major ();
    say "fork while a thread is in a callback: %s"
      (if freed = 0 then "nothing was freed"
       else if quarantine_broken () then "freed memory was written"
       else "memory is whole");
    Unix._exit 0
  | child ->
    Atomic.set go true;
    Thread.join t;
    match Unix.waitpid [] child with
    | _, Unix.WEXITED 0 -> M.stop (); M.discard p
    | _ -> say "fork while a thread is in a callback: the child died"

(* A profile that ends in another domain leaves the trigger behind. The real engine looks at the profile for each
   block of the combined allocation that meets it, and a collection for the first one's callstack lets go of it. *)
let stale () =
  let round fill =
    for _ = 1 to fill do ignore (opaque (ref 0)) done;
    let ended = Atomic.make false and over = Atomic.make false in
    let p = M.start ~sampling_rate:1. none in
    let d = Domain.spawn (fun () ->
      M.stop (); M.discard p;
      Atomic.set ended true;
      while not (Atomic.get over) do Domain.cpu_relax () done) in
    while not (Atomic.get ended) do Domain.cpu_relax () done;
    for n = 1 to 3 do ignore (opaque (n, (n, n), (n, n, n), (n, n))) done;
    Atomic.set over true;
    Domain.join d in
  let rec deep n = if n = 0 then (for i = 1 to 110 do round (20 * i) done; 0) else 1 + deep (n - 1) in
  Gc.set { (Gc.get ()) with minor_heap_size = 4096 };
  ignore (opaque (deep 150));
  say "a stale trigger and a collection: survived"

let () =
  match Sys.argv.(1) with
  | "undiscardable" -> undiscardable () | "depth" -> depth () | "leak" -> leak () | "overrun" -> overrun ()
  | "declared-dead" -> declared_dead () | "forked" -> forked () | "stale" -> stale ()
  | w -> prerr_endline ("unknown: " ^ w); exit 3
