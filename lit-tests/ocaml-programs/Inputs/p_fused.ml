(* Products in sums: every back end but amd64's rounds some of them once, and which shows. *)
let sums a b c d =
  [ a *. b +. c; c +. a *. b; a *. b -. c; c -. a *. b; a *. b +. c *. d; a *. b -. c *. d; (a *. b +. c) -. c *. d ]

let negated a b c =
  [ -.(a *. b); -.(a *. b +. c); -.(c +. a *. b); -.(a *. b -. c); -.(c -. a *. b); -.(a *. b) -. c; c -. -.(a *. b); (-.a *. b) +. c ]

(* a product that has a name is rounded *)
let named a b c =
  let p = a *. b in
  [ p +. c; p -. c; c -. p; -.p ]

(* the same loads and products again, with an allocation and a store between them *)
let again (r : float ref) a b =
  let x = (a *. b) +. !r in
  let boxed = ref ((a *. b) +. !r) in
  r := !r +. 1.;
  [ x; !boxed; (a *. b) +. !r; a *. b ]

let horner cs x = Array.fold_left (fun s c -> (s *. x) +. c) 0. cs

let () =
  let u = ldexp 1. (-30) in
  let inputs = List.map Sys.opaque_identity [ 1. +. u; 1. -. u; -1.; 0.; -0.; 3.; infinity; 1e300; 1e-300 ] in
  let print name l = Printf.printf "%s %s\n" name (String.concat " " (List.map (fun f -> if f <> f then "nan" else Printf.sprintf "%h" f) l)) in
  List.iter (fun a -> List.iter (fun b -> List.iter (fun c ->
    print "sums" (sums a b c (1. -. u));
    print "negated" (negated a b c);
    print "named" (named a b c);
    print "again" (again (ref c) a b)) inputs) inputs) inputs;
  print "horner" [ horner [| 1. /. 3.; 0.1; -7.; 1e-9; 3. |] 1.7; horner (Array.init 40 (fun i -> 1. /. float (i + 1))) 0.9 ]
