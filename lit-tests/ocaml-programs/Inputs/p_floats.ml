(* Floats: unboxed locals, float arrays and records, comparisons, conversions, printing. *)
type v = { mutable x : float; mutable y : float; mutable z : float }
type mixed = { name : string; weight : float }

let dot a b = (a.x *. b.x) +. (a.y *. b.y) +. (a.z *. b.z)

let step p v dt =
  p.x <- p.x +. (v.x *. dt);
  p.y <- p.y +. (v.y *. dt);
  p.z <- p.z +. (v.z *. dt)

let simpson f a b n =
  let h = (b -. a) /. float n in
  let s = ref (f a +. f b) in
  for i = 1 to n - 1 do
    s := !s +. ((if i land 1 = 1 then 4. else 2.) *. f (a +. (float i *. h)))
  done;
  !s *. h /. 3.

let mandel cx cy =
  let rec go x y n = if n = 100 || (x *. x) +. (y *. y) > 4. then n else go ((x *. x) -. (y *. y) +. cx) ((2. *. x *. y) +. cy) (n + 1) in
  go 0. 0. 0

let () =
  let p = { x = 0.; y = 0.5; z = -1. } and v = { x = 1.; y = 0.25; z = 0.125 } in
  for _ = 1 to 64 do step p v 0.25 done;
  Printf.printf "%g %g %g %g\n" p.x p.y p.z (dot p v);
  Printf.printf "%.6f %.6f\n" (simpson (fun x -> x *. x) 0. 3. 100) (simpson sin 0. 3.14159265358979 200);
  let a = Array.init 100 (fun i -> float (i * i) /. 4.) in
  Printf.printf "%g %g\n" (Array.fold_left ( +. ) 0. a) (Array.fold_left Float.max neg_infinity a);
  let rows = List.init 8 (fun j -> String.concat "" (List.init 24 (fun i ->
    let n = mandel ((float i /. 12.) -. 1.5) ((float j /. 4.) -. 1.) in if n = 100 then "#" else if n > 5 then "+" else "."))) in
  List.iter print_endline rows;
  let specials = [ 0.; -0.; 1.; nan; infinity; neg_infinity; 1e-310; max_float ] in
  List.iter (fun f -> Printf.printf "%h %b %b %d %s\n" f (f < 1.) (f >= f) (compare f nan) (Int64.to_string (Int64.bits_of_float (if f <> f then 0. else f)))) specials;
  Printf.printf "%d %d %d\n" (truncate 2.9) (truncate (-2.9)) (int_of_float 1e15);
  let m = [ { name = "a"; weight = 1.5 }; { name = "b"; weight = 2.25 } ] in
  Printf.printf "%s %g\n" (String.concat "" (List.map (fun m -> m.name) m)) (List.fold_left (fun s m -> s +. m.weight) 0. m);
  Printf.printf "%s %s\n" (string_of_float (sqrt 2.)) (Printf.sprintf "%.3e" (Float.of_int (Sys.opaque_identity max_int)))
