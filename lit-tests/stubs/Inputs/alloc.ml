(* Allocation of every shape, with collections between: what caml_call_gc saves
   and restores is visible in the sums. *)
let check = Report.check

let rec build n acc = if n = 0 then acc else build (n - 1) (n :: acc)

let lists () =
  let total = ref 0 in
  for i = 1 to 300 do
    let l = build 1000 [] in
    total := !total + List.fold_left ( + ) 0 (List.rev_map (fun x -> x + i) l)
  done;
  check "lists" (!total = (300 * 500500) + (1000 * 300 * 301 / 2))

(* Many values live in registers over one allocation: ten integers, ten floats. *)
let[@inline never] live a b c d e f g h i j x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 =
  let p = ref a in
  let q = (b, c) in
  let r = [| d; e; f |] in
  let y0 = x0 +. 1. and y1 = x1 +. 2. and y2 = x2 +. 3. and y3 = x3 +. 4. in
  let y4 = x4 +. 5. and y5 = x5 +. 6. and y6 = x6 +. 7. and y7 = x7 +. 8. in
  let y8 = x8 +. 9. and y9 = x9 +. 10. in
  let s = Sys.opaque_identity (ref g) in
  let t = Sys.opaque_identity (h, i, j) in
  let h', i', j' = t in
  ( !p + fst q + snd q + r.(0) + r.(1) + r.(2) + !s + h' + i' + j',
    y0 +. y1 +. y2 +. y3 +. y4 +. y5 +. y6 +. y7 +. y8 +. y9 )

let registers () =
  let ok = ref true in
  for n = 1 to 20_000 do
    let f = float_of_int n in
    let a, b =
      live n (n + 1) (n + 2) (n + 3) (n + 4) (n + 5) (n + 6) (n + 7) (n + 8) (n + 9) f (f +. 1.)
        (f +. 2.) (f +. 3.) (f +. 4.) (f +. 5.) (f +. 6.) (f +. 7.) (f +. 8.) (f +. 9.)
    in
    if a <> (10 * n) + 45 || b <> (10. *. f) +. 45. +. 55. then ok := false
  done;
  check "registers over an allocation" !ok

(* Twenty strings and floats kept by hand through one loop, so that most registers
   hold pointers when the collector moves what they point to. *)
let[@inline never] pointers n =
  let s i = string_of_int (n + i) in
  let a = s 0 and b = s 1 and c = s 2 and d = s 3 and e = s 4 and f = s 5 and g = s 6 in
  let h = s 7 and i = s 8 and j = s 9 and k = s 10 and l = s 11 and m = s 12 in
  let x = ref [] in
  for q = 1 to 10 do
    x := (a, b, c, d, e, f, g, h, i, j, k, l, m, q) :: !x
  done;
  List.fold_left
    (fun acc (a, b, c, d, e, f, g, h, i, j, k, l, m, q) ->
      acc + q
      + List.fold_left (fun acc s -> acc + int_of_string s) 0 [ a; b; c; d; e; f; g; h; i; j; k; l; m ])
    0 !x

let moving () =
  let ok = ref true in
  for n = 1 to 500 do
    if pointers n <> 55 + (10 * ((13 * n) + 78)) then ok := false
  done;
  check "pointers move and registers follow" !ok

let blocks () =
  let ok = ref true in
  for size = 0 to 600 do
    let a = Array.make size (Some size) in
    let b = Bytes.make size 'x' in
    let c = Array.init size (fun i -> float_of_int i) in
    if Array.exists (fun x -> x <> Some size) a then ok := false;
    if Bytes.exists (fun x -> x <> 'x') b then ok := false;
    Array.iteri (fun i x -> if x <> float_of_int i then ok := false) c
  done;
  check "blocks of 0 to 600 words" !ok

let tables () =
  let h = Hashtbl.create 1 in
  for i = 1 to 20_000 do
    Hashtbl.replace h (string_of_int (i mod 5000)) (i, float_of_int i)
  done;
  let n = Hashtbl.fold (fun k (i, f) n -> if float_of_int i = f && int_of_string k = i mod 5000 then n + 1 else n) h 0 in
  check "hash table of strings" (n = 5000)

let compaction () =
  let keep = Array.init 2000 (fun i -> Array.make (i mod 37) i) in
  Gc.compact ();
  Gc.full_major ();
  let ok = ref true in
  Array.iteri (fun i a -> if Array.length a <> i mod 37 || Array.exists (( <> ) i) a then ok := false) keep;
  check "Gc.compact" !ok

let finalisers () =
  let n = ref 0 in
  for i = 1 to 1000 do
    Gc.finalise (fun r -> n := !n + !r - i + 1) (ref i)
  done;
  Gc.full_major ();
  Gc.full_major ();
  check "finalisers" (!n = 1000)

(* Memprof's callbacks run inside caml_call_gc, and may raise out of it. *)
exception Enough

let memprof () =
  let samples = ref 0 and raised = ref 0 in
  let alloc _ =
    incr samples;
    if !samples mod 100 = 0 then raise Enough else None
  in
  let tracker = { Gc.Memprof.null_tracker with alloc_minor = alloc } in
  let (_ : Gc.Memprof.t) = Gc.Memprof.start ~sampling_rate:0.01 ~callstack_size:10 tracker in
  for _ = 1 to 300 do
    try ignore (Sys.opaque_identity (build 300 [])) with Enough -> incr raised
  done;
  Gc.Memprof.stop ();
  check "exceptions out of a collection" (!raised > 5 && !samples >= 100 * !raised)

let run () =
  lists (); registers (); moving (); blocks (); tables (); compaction (); finalisers (); memprof ()
