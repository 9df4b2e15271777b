(* Stack_overflow at several depths and places; Out_of_memory. *)
let p fmt = Printf.printf (fmt ^^ "%!")
let rec f n = 1 + Sys.opaque_identity (f (n + 1))
let rec g n = if n = 0 then f 0 else 1 + g (n - 1)
let rec build n = if n = 0 then [] else let t = build (n - 1) in n :: t
let rec h l = match l with [] -> raise Exit | x :: t -> (try x + h t with Not_found -> 0)
let over name k = match k () with n -> p "%s: %d\n" name n | exception Stack_overflow -> p
    "%s: overflow\n" name
let deepest = ref 0
let rec count n = deepest := n; 1 + Sys.opaque_identity (count (n + 1))
(* The logarithm, so that a frame more or less is the same. *)
let depth () = Float.to_int (Float.round (10. *. Float.log2 (float !deepest)))
let limit n = Gc.set { (Gc.get ()) with stack_limit = n }
let () =
  limit 200_000;
  for i = 1 to 5 do over "main" (fun () -> g (i * 1000)) done;
  over "list" (fun () -> List.length (build 1_000_000)); over "List.map"
      (fun () -> List.length (List.map succ (List.init 500_000 Fun.id)));
  over "append" (fun () -> List.length (List.init 400_000 Fun.id @ [1]));
      over "handlers" (fun () -> try h (List.init 10_000_000 Fun.id) with Exit -> 0);
  over "compare" (fun () -> let rec mk n acc = if n = 0 then acc else mk (n - 1) (Some (Obj.repr
      acc)) in
    let a = mk 1_000_000 None and b = mk 1_000_000 None in compare a b + Hashtbl.hash a);
  over "in a fiber" (fun () -> Effect.Deep.match_with f 0 { retc = Fun.id; exnc = raise;
      effc = fun _ -> None });
  over "caught in a fiber" (fun () -> Effect.Deep.match_with (fun () -> try f 0 with
      Stack_overflow -> 5) () { retc = Fun.id; exnc = raise; effc = fun _ -> None });
  over "callback" (fun () -> List.length (List.sort (fun _ _ -> f 0) [1; 2]));
  over "finally" (fun () -> Fun.protect ~finally:(fun () -> p "finally\n") (fun () -> f 0));
  over "domain" (fun () -> Domain.join (Domain.spawn (fun () -> f 0)));
  over "thread" (fun () -> let r = ref 0 in Thread.join (Thread.create (fun () -> over "in it"
      (fun () -> f 0); r := 3) ()); !r);
  limit 4_000_000; over "more" (fun () -> List.length (build 100_000)); limit 20_000;
      over "less" (fun () -> List.length (build 100_000));
  limit 4_000_000; over "again" (fun () -> List.length (build 100_000));
  let rec odd n = if n = 0 then 0 else 1 + (try even (n - 1) with Division_by_zero -> 1) and even
      n = if n = 0 then f 0 else 1 + odd (n - 1) in
  for i = 0 to 3 do over "trap" (fun () -> odd (5001 + i)) done;
  let mem name k = try ignore (Sys.opaque_identity (k ())); p "%s ok\n" name with e -> p "%s %s\n"
      name (Printexc.to_string e) in
  mem "bytes" (fun () -> Obj.repr (Bytes.create (1 lsl 52)));
      mem "bytes" (fun () -> Obj.repr (Bytes.create (-1))); mem "string"
      (fun () -> Obj.repr (String.make (1 lsl 55) 'x'));
  mem "array" (fun () -> Obj.repr (Array.make (1 lsl 50) 0));
      mem "array" (fun () -> Obj.repr (Array.make max_int 0));
      mem "matrix" (fun () -> Obj.repr (Array.make_matrix 2 (1 lsl 52) 0.));
  mem "floats" (fun () -> Obj.repr (Array.create_float (1 lsl 52)));
      mem "concat" (fun () -> let s = String.make 1000 'x' in Obj.repr (String.concat ""
      (List.init 10 (fun _ -> s))));
  mem "buffer" (fun () -> Obj.repr (Buffer.create max_int)); mem "bigarray"
      (fun () -> Obj.repr (Bigarray.Array1.create Char C_layout (1 lsl 60)));
  mem "bigarray" (fun () -> Obj.repr (Bigarray.Array2.create Float64 C_layout max_int max_int));
      mem "bigarray" (fun () -> Obj.repr (Bigarray.Array1.create Int C_layout (-1)));
  mem "weak" (fun () -> Obj.repr (Weak.create (Sys.max_array_length + 1) : int Weak.t));
      mem "hashtbl" (fun () -> Obj.repr (Hashtbl.create (-5)));
  mem "sub" (fun () -> Obj.repr (Bytes.extend (Bytes.create 3) max_int max_int));
      mem "after" (fun () -> Obj.repr (Array.make 100 0));
  List.iter (fun l -> limit l; over (string_of_int l) (fun () -> count 0); p "%d" (depth ());
      Domain.join (Domain.spawn (fun () -> over "" (fun () -> count 0))); p "%d\n" (depth ()))
    [5_000; 33_000; 100_000; 600_000; 1_100_000]
