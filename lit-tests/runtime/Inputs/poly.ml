(* Polymorphic comparison and hashing, of every kind of value. *)
(* compare, equality, hash *)
type t = A | B of int | C of float * t | D of { x : int; y : float } | E of t array
exception X of int
let c name f = Printf.printf "%s: %s\n" name (try f () with e -> "EXN " ^ Printexc.to_string e)
let cmp a b = Printf.sprintf "%d %d %b %b %b %b %b %b" (compare a b) (compare b a) (a = b) (a < b) (a <= b) (a > b) (a >= b) (a <> b)
let f0 = fun x -> x + 1
let () =
  c "A B" (fun () -> cmp A (B 1));
  c "B B" (fun () -> cmp (B 1) (B 2));
  c "C" (fun () -> cmp (C (nan, A)) (C (nan, A)));
  c "C0" (fun () -> cmp (C (0., A)) (C (-0., A)));
  c "D" (fun () -> cmp (D {x=1;y=2.}) (D {x=1;y=3.}));
  c "E" (fun () -> cmp (E [|A;B 1|]) (E [|A|]));
  c "fl arr" (fun () -> cmp [|1.;nan|] [|1.;2.|]);
  c "fl arr2" (fun () -> cmp [|1.|] [|1.;2.|]);
  c "fl arr3" (fun () -> cmp [|5.|] [|1.;2.|]);
  c "empty" (fun () -> cmp [||] [||]);
  c "int32" (fun () -> cmp 1l (-1l));
  c "int64" (fun () -> cmp Int64.min_int Int64.max_int);
  c "nat" (fun () -> cmp 3n 3n);
  c "fun" (fun () -> cmp f0 f0);
  c "fun2" (fun () -> cmp f0 (fun x -> x));
  c "fun in" (fun () -> cmp (1, f0) (2, f0));
  c "fun in2" (fun () -> cmp (1, f0) (1, f0)); 
  c "int vs block" (fun () -> cmp (Obj.repr 1) (Obj.repr f0));
  c "int vs custom" (fun () -> cmp (Obj.repr 1) (Obj.repr 1L));
  c "float vs int" (fun () -> cmp (Obj.repr 1) (Obj.repr 1.));
  c "string vs float" (fun () -> cmp (Obj.repr "a") (Obj.repr 1.));
  c "obj" (fun () -> let o = object method m = 1 end in cmp o o);
  c "obj2" (fun () -> let o = object method m = 1 end and p = object method m = 2 end in Printf.sprintf "%b %d" (o = p) (compare o p));
  c "lazy" (fun () -> let l = lazy (1 + Random.int 1) in ignore (Lazy.force l); cmp l (lazy 1));
  c "lazy unforced" (fun () -> let r = ref 1 in cmp (lazy (incr r; !r)) (lazy (incr r; !r)));
  c "exn" (fun () -> Printf.sprintf "%b %b" (X 1 = X 1) (Not_found = Not_found));
  c "out_channel" (fun () -> cmp stdout stderr);
  c "oc same" (fun () -> cmp stdout stdout);
  c "abstract" (fun () -> let w = Weak.create 1 in cmp w w);
  c "abstract2" (fun () -> cmp (Mutex.create ()) (Mutex.create ()));
  c "cyc phys" (fun () -> let rec l = 1 :: l in Printf.sprintf "%d" (compare l l));
  c "deep" (fun () -> let a = List.init 1_000_000 Fun.id in let b = List.init 1_000_000 Fun.id in cmp a b);
  c "deepleft" (fun () -> let rec mk n acc = if n = 0 then acc else mk (n-1) (C (float n, acc)) in cmp (mk 300000 A) (mk 300000 A));
  let h x = Printf.sprintf "%d %d %d" (Hashtbl.hash x) (Hashtbl.hash_param 2 5 x) (Hashtbl.hash_param 100 100 x) in
  c "h" (fun () -> h A);
  c "h" (fun () -> h (B 3));
  c "h" (fun () -> h (C (nan, A)));
  c "h" (fun () -> h (C (-0., A)));
  c "h" (fun () -> h [|1.;2.;3.|]);
  c "h" (fun () -> h (List.init 100 string_of_int));
  c "h" (fun () -> h 1L);
  c "h" (fun () -> h Int64.min_int);
  c "h" (fun () -> h 1l);
  c "h" (fun () -> h (-1l));
  c "h" (fun () -> h 1n);
  c "h" (fun () -> h min_int);
  c "h" (fun () -> h (Some (Some (Some "x"))));
  c "h" (fun () -> h (lazy 3));
  c "h obj" (fun () -> let o = object method m = 1 end in string_of_bool (Hashtbl.hash o = Hashtbl.hash o));
  c "h exn" (fun () -> ignore (Hashtbl.hash (X 1)); "ok");
  c "h exn2" (fun () -> h (Invalid_argument "x"));
  c "h poly" (fun () -> h `Foo);
  c "h poly" (fun () -> h (`Bar 1));
  c "h" (fun () -> h stdout |> fun _ -> "");
  c "h inf" (fun () -> h infinity ^ h neg_infinity ^ h 4.9e-324);
  c "h cyc" (fun () -> let rec l = 1 :: 2 :: l in h l);
  c "forward" (fun () -> h (Obj.repr (lazy (print_string ""; "a"))) |> fun _ -> "");
  c "caml_float" (fun () -> Printf.sprintf "%d %d %d" (Float.compare nan 1.) (Float.compare 1. nan) (Float.compare nan nan));
  c "fhash" (fun () -> Printf.sprintf "%d %d %d %d" (Float.hash 1.) (Int.hash 5) (Int64.hash 5L) (Int32.hash 5l));
  c "bighash" (fun () -> let t = Hashtbl.create ~random:false 1 in for i = 0 to 1000 do Hashtbl.add t (i * 7919, string_of_int i) i done; String.concat "," (List.filteri (fun i _ -> i < 20) (Hashtbl.fold (fun _ v a -> string_of_int v :: a) t [])));
  c "stats" (fun () -> let t = Hashtbl.create 1 in for i = 0 to 10000 do Hashtbl.replace t (float i) i done; let s = Hashtbl.stats t in Printf.sprintf "%d %d %d" s.num_bindings s.num_buckets s.max_bucket_length)
module More = struct
type t = A | B of int | C of float * t | D of { x : int; y : float } | E of t array
let vals = [Obj.repr (B 3); Obj.repr (C (1., A)); Obj.repr [1;2;3;4;5;6;7;8;9;10;11;12]; Obj.repr (List.init 30 string_of_int); Obj.repr [|1.;2.;3.;4.;5.|]; Obj.repr (Array.init 20 (fun i -> (i, string_of_int i)));
 Obj.repr (E [|E [|E [|A;B 1|]|];B 7|]); Obj.repr (1L,2L,3l,4n); Obj.repr [[[1]];[[2];[3;4]]]; Obj.repr (Array.init 300 Fun.id); Obj.repr (List.init 300 Fun.id); Obj.repr (let rec l = 1 :: 2 :: l in l); Obj.repr (Some (lazy 3), `B 3, "x", 2.); Obj.repr (fun x -> x) |> (fun _ -> Obj.repr 1);
 Obj.repr (Array.init 300 (fun i -> Some i)); Obj.repr [|[|1.;2.|];[|3.;4.;5.|]|]; Obj.repr (Bytes.create 0, "", [||]); Obj.repr (Weak.create 2 |> ignore; 1, 2) ; Obj.repr (object method a = 1 end |> ignore; 3)]
let () = List.iter (fun v -> List.iter (fun m -> List.iter (fun t -> Printf.printf "%d " (Hashtbl.hash_param m t v)) [0;1;2;3;5;10;30;100;256;300;-1;max_int]) [0;1;2;3;4;5;10;20;100;1000;-1]; print_newline ()) vals;
 Printf.printf "%d %d\n" (Hashtbl.seeded_hash_param 10 100 (-1) "x") (Hashtbl.seeded_hash_param 10 100 max_int [1.;2.]);
 let l = [Obj.repr (Weak.create 3); Obj.repr (1, Weak.create 2, 3); Obj.repr (Obj.new_block 251 3); Obj.repr (Obj.with_tag 250 (Obj.repr (ref 5)), 2)] in
 List.iter (fun v -> Printf.printf "%d " (Hashtbl.hash v)) l
end

(* A closure's hash depends on where the program lies; recomputed from its fields. *)
let mask = 0xffffffff
let rotl x n = ((x lsl n) lor (x lsr (32 - n))) land mask
let mix h d =
  let h = h lxor (rotl (d * 0xcc9e2d51 land mask) 15 * 0x1b873593 land mask) in
  ((rotl h 13 * 5) + 0xe6546b64) land mask
let final h =
  let h = (h lxor (h lsr 16)) * 0x85ebca6b land mask in
  let h = (h lxor (h lsr 13)) * 0xc2b2ae35 land mask in
  (h lxor (h lsr 16)) land 0x3fffffff
let word h n = mix h (Nativeint.to_int (Nativeint.logand (Nativeint.logxor n (Nativeint.shift_right n 32)) 0xffffffffn))
let closure (v : Obj.t) =
  word (word (mix 0 ((Obj.size v lsl 10) lor 247)) (Obj.raw_field v 0)) (Obj.raw_field v 1)
let () =
  print_endline (if final (closure (Obj.repr f0)) = Hashtbl.hash f0 then "closure" else "CLOSURE")
