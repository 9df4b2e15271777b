(* What the profiler costs: prints "workload rate nanoseconds", the best of several rounds of
   CPU time. The same program is linked with the real engine and with framekit's. *)
module M = Gc.Memprof
let opaque = Sys.opaque_identity

let rec cons n = if n > 0 then begin ignore (opaque [ n ]); cons (n - 1) end

(* Search trees with strings as keys, in no order: more than ten nanoseconds per block. *)
module Tree = Map.Make (String)
let tree_size = 2000
let keys = Array.init tree_size (fun i -> Printf.sprintf "key number %d" (i * 7919 land 0xFFFF))
let trees n =
  for _ = 1 to n do
    let t = ref Tree.empty in
    Array.iteri (fun i k -> t := Tree.add k i !t) keys;
    ignore (opaque !t)
  done
let tree_blocks = (let before = Gc.minor_words () in trees 1; int_of_float (Gc.minor_words () -. before) / 6)

let silent = { M.null_tracker with alloc_minor = (fun _ -> None); alloc_major = (fun _ -> None) }
let following =
  { M.alloc_minor = (fun _ -> Some ()); alloc_major = (fun _ -> Some ()); promote = (fun () -> Some ());
    dealloc_minor = ignore; dealloc_major = ignore }

let time f = let t = Sys.time () in f (); Sys.time () -. t

let best rounds f =
  let b = ref infinity in
  for _ = 1 to rounds do b := min !b (time f) done;
  !b

let profiled rate callstack_size tracker f =
  if rate = 0. then f () else begin
    let t = M.start ~sampling_rate:rate ~callstack_size tracker in
    f ();
    M.stop ();
    M.discard t
  end

let say name rate blocks s = Printf.printf "%s %g %.4f\n%!" name rate (s *. 1e9 /. float blocks)

let loops () =
  List.iter (fun (rate, n) ->
    let run depth tracker = best 25 (fun () -> profiled rate depth tracker (fun () -> cons n)) in
    say "cons" rate n (run 0 silent);
    if rate > 0. then say "cons-stack" rate n (run max_int following))
    [ 0., 5_000_000; 1e-4, 5_000_000; 1e-3, 3_000_000; 1e-2, 1_000_000; 1e-1, 150_000 ]

let median a = Array.sort compare a; a.(Array.length a / 2)

(* Side by side in pairs of few milliseconds, in both orders: what disturbs the machine disturbs both. *)
let tree_loop () =
  let few = 9 in
  let off () = time (fun () -> trees few) and on () = time (fun () -> profiled 1e-4 max_int following (fun () -> trees few)) in
  let pairs = Array.init 500 (fun i ->
    if i land 1 = 0 then let a = off () in a, on () else let b = on () in off (), b) in
  say "tree" 0. (few * tree_blocks) (median (Array.map fst pairs));
  say "tree-ratio" 1e-4 1_000_000_000 (median (Array.map (fun (a, b) -> b /. a) pairs))

(* A major cycle over a million blocks, tracked and not; a minor collection with a million old entries. *)
let cycle () =
  let n = 1_000_000 in
  let data = Array.make n [||] in
  let fill () = for i = 0 to n - 1 do data.(i) <- [| i |] done in
  let major () = best 15 (fun () -> Gc.major ()) in
  let minor () = best 5 (fun () -> for _ = 1 to 1000 do Gc.minor () done) in
  let t = M.start ~sampling_rate:1. ~callstack_size:0 following in
  fill ();
  M.stop ();
  Gc.full_major (); Gc.full_major ();
  let tracked = major () and tracked_minor = minor () in
  M.discard t;
  Gc.full_major (); Gc.full_major ();
  say "cycle-entry" 1. n (tracked -. major ());
  say "minor-with-old" 1. 1000 (tracked_minor -. minor ());
  ignore (opaque data)

let resident () =
  let ic = open_in "/proc/self/status" in
  let rec find () = match input_line ic with
    | l when String.length l > 6 && String.sub l 0 6 = "VmRSS:" -> Scanf.sscanf l "VmRSS: %d" (fun k -> k * 1024)
    | _ -> find () in
  let r = find () in
  close_in ic; r

(* Bytes of the process per entry: the same blocks are made without and with the profiler. *)
let memory () =
  let n = 2_000_000 in
  let make () = Array.init n (fun i -> ref i) in
  let grow f = Gc.compact (); let a = resident () in let d = f () in Gc.compact (); let b = resident () in ignore (opaque d); b - a in
  let bare = grow make in
  let tracked = grow (fun () ->
    let t = M.start ~sampling_rate:1. ~callstack_size:0 following in
    let d = make () in
    M.stop ();
    (d, t)) in
  say "bytes-per-entry" 1. 1_000_000_000 (float (tracked - bare) /. float n)

let () =
  match Sys.argv.(1) with
  | "loops" -> loops () | "tree" -> tree_loop () | "cycle" -> cycle () | "memory" -> memory ()
  | w -> prerr_endline ("unknown workload " ^ w); exit 3
