(* Obj, comparison and hashing of odd values, Printexc, weak sets, text and channels. *)
let p fmt = Printf.printf (fmt ^^ "%!")
let try_ name f = try f () with e -> p "%s: %s\n" name (Printexc.to_string e)
type t = A | B of int | C of { mutable x : float; y : string } | D of t * t
exception E0 exception E1 of int exception E2 of string * float exception E3 of { a : int;
    b : char } exception E4 of t
let () =
  let open Obj in
  let blocks = [repr (B 1); repr (C { x = 1.; y = "" }); repr [|1.; 2.|]; repr "abc"; repr 1.5;
      repr (Some 1); repr (fun x -> x); repr 1L;
    repr (lazy (Sys.opaque_identity (p ""))); repr (ref 0); repr E0; repr (E1 2);
        repr (object method m = 1 end); repr (Array.make 300 0); repr [||];
        repr (Atomic.make 1)] in
  List.iter (fun o -> p "%b %d %d; " (is_block o) (tag o) (size o)) blocks; p "\n";
  p "%d %d %b %d\n" (tag (repr 1)) (tag (repr A)) (is_int (repr 'c')) (reachable_words (repr [1;
      2; 3]));
  let b = new_block 3 4 in for i = 0 to 3 do set_field b i (repr i) done;
      p "%d %d %d\n" (tag b) (size b) (obj (field b 3));
  let w = with_tag 7 b in p "%d %d %b\n" (tag w) (size w) (field w 2 == field b 2);
      let c = dup w in p "%d %b\n" (tag c) (c == w);
  let e = repr (E1 5) in p "%s %b\n" (Extension_constructor.name (Extension_constructor.of_val e))
      (Extension_constructor.id (Extension_constructor.of_val E0) > 0);
  List.iter (fun (n, f) -> try_ n (fun () -> ignore (f ()); p "%s ok\n" n)) ["dup atom",
      (fun () -> dup (repr [||]));
    "new_block", (fun () -> new_block 0 0); "string", (fun () -> new_block string_tag 0);
        "double", (fun () -> new_block double_tag 1);
    "custom", (fun () -> new_block custom_tag 2); "closure", (fun () -> new_block closure_tag 2);
    "of_val", (fun () -> Obj.repr (Extension_constructor.of_val 3));
        "with_tag", (fun () -> with_tag 252 (repr "x")); "infix",
        (fun () -> new_block infix_tag 1)];
  p "%d %d %d %d\n" first_non_constant_constructor_tag last_non_constant_constructor_tag
      no_scan_tag double_array_tag;
  let d = repr [|1.; 2.; 3.|] in set_double_field d 1 9.; p "%g %g\n" (double_field d 1)
      (Array.get (obj d : float array) 1);
  let eph = Ephemeron.create 2 in Ephemeron.set_key eph 0 (repr (ref 1));
      p "%d %b\n" (Ephemeron.length eph) (Ephemeron.check_key eph 1);
  List.iter (fun n -> try_ "eph" (fun () -> ignore (Ephemeron.create n); p "ok\n")) [0; -1;
      Ephemeron.max_ephe_length];
  try_ "key" (fun () -> Ephemeron.set_key eph 2 (repr 1)); try_ "blit"
      (fun () -> Ephemeron.blit_key eph 1 eph 0 2)
let () =
  let rec cyc = D (B 1, cyc) in let f x = x and g x = x + 1 in let pa = (g : int -> int) in
  let cmp n a b = p "%s:" n; List.iter (fun (o, h) -> p " %s=%s" o (try h () with e ->
      Printexc.to_string e))
    ["compare", (fun () -> string_of_int (compare a b)); "eq", (fun () -> string_of_bool (a = b));
        "lt", (fun () -> string_of_bool (a < b)); "hash", (fun () -> string_of_int (Hashtbl.hash
        b))]; p "\n" in

  cmp "cycle depth" (D (B 1, B 2)) cyc; cmp "const" A (B 1); cmp "string" (C { x = nan;
      y = "" }) (C { x = nan; y = "a" });
  p "%s\n" (try string_of_int (compare f f) with e -> Printexc.to_string e);
      p "%s\n" (try string_of_bool (pa = g) with e -> Printexc.to_string e);
  p "%s\n" (try string_of_bool ((1, f) = (2, f)) with e -> Printexc.to_string e);
      p "%s\n" (try string_of_bool ((1, f) = (1, f)) with e -> Printexc.to_string e);
  p "%s\n" (try string_of_int (compare (Obj.repr f) (Obj.repr 1)) with e -> Printexc.to_string e);
  p "%s\n" (try string_of_int (compare (Obj.repr "a") (Obj.repr f)) with e -> Printexc.to_string
      e);
  p "%s\n" (try string_of_int (compare (Obj.repr stdout) (Obj.repr stderr)) with e ->
      Printexc.to_string e);
  p "%b %b\n" (stdout = stdout) (try stdin = stdin && compare stdout stderr <> 0 with _ -> false);
  p "%s\n" (try string_of_int (compare (Obj.new_block Obj.abstract_tag 1) (Obj.new_block
      Obj.abstract_tag 1)) with e -> Printexc.to_string e);
  p "%d %d %d %d\n" (compare (Obj.repr 1) (Obj.repr 1L)) (compare (Obj.repr 1.5) (Obj.repr "x"))
      (compare (Obj.repr (Some 1)) (Obj.repr 1)) (compare (Obj.repr [|1.|]) (Obj.repr [|1.;
      2.|]));
  p "%d %d %b %b\n" (compare nan nan) (compare [nan] [nan]) ([nan] = [nan]) ([|nan|] == [|nan|]);
  p "%s\n" (try string_of_int (compare (lazy 1) (lazy 2)) with e -> Printexc.to_string e);
  let o = object method x = 1 end and o2 = object method x = 2 end in p "%b %b %d\n" (o = o) (o =
      o2) (abs (compare o o2));
  p "%d\n" (Hashtbl.hash_param 5 10 [1; 2; 3; 4; 5; 6]);
  let h = Hashtbl.create 2 in List.iter (fun e -> Hashtbl.replace h e ()) [E0; E1 1; E1 2;
      E2 ("a", 1.)]; p "%d %b\n" (Hashtbl.length h) (Hashtbl.mem h (E1 2))
let () =
  let s = Printexc.to_string in
  List.iter (fun e -> p "%s\n" (s e)) [E0; E1 (-3); E2 ("a\n", 1e10); E3 { a = 1; b = 'x' }; E4 A;
      E4 (B 1); Not_found; Failure "x"; Invalid_argument "y\""; Match_failure ("f.ml", 1, 2);
    Assert_failure ("g.ml", 3, 4); Undefined_recursive_module ("h.ml", 5, 6); Out_of_memory;
        Stack_overflow; Sys_error "s"; End_of_file; Division_by_zero; Exit; Sys_blocked_io;
    Effect.Unhandled (Obj.magic 0) |> (fun _ -> Exit); Fun.Finally_raised (E1 1); Queue.Empty;
        Stack.Empty; Lazy.Undefined; Arg.Bad "b"; Scanf.Scan_failure "q";
        Unix.Unix_error (Unix.ENOENT, "open", "f"); Dynarray.(try ignore (pop_last (create ()));
        Exit with e -> e)];
  Printexc.register_printer (function E1 n -> Some (Printf.sprintf "one %d" n) | _ -> None);
  Printexc.register_printer (function E1 0 -> Some "zero" | E0 -> failwith "printer" | _ -> None);
  p "%s %s %s %s\n" (s (E1 0)) (s (E1 1)) (s E0) (Printexc.to_string_default (E1 1));
  p "%s %s\n" (Printexc.exn_slot_name (E1 1)) (Printexc.exn_slot_name Not_found);
  p "%b\n" (try Printexc.print (fun () -> raise (E1 1)) () with E1 1 -> true);
  Printexc.record_backtrace true;
  let[@inline never] f n = if n = 0 then raise (E1 9) else 1 + Sys.opaque_identity (n - n) in
  let bt = try ignore (f 0); None with E1 _ -> Some (Printexc.get_raw_backtrace ()) in
  (try Printexc.raise_with_backtrace (E2 ("w", 2.)) (Option.get bt) with e -> p "%s\n%s" (s e)
      (Printexc.get_backtrace ()));
  (match Printexc.backtrace_slots (Option.get bt) with Some a -> Array.iteri
      (fun i sl -> p "%s %b %b %s\n" (match Printexc.Slot.format i sl with Some s -> s | None ->
      "-")
     (Printexc.Slot.is_raise sl) (Printexc.Slot.is_inline sl) (match Printexc.Slot.location sl
         with Some l -> Printf.sprintf "%s:%d:%d-%d" l.filename l.line_number l.start_char
         l.end_char | None -> "-")) a | None -> p "none\n");
  p "%d %s" (Printexc.raw_backtrace_length (Option.get bt)) (Printexc.raw_backtrace_to_string
      (Printexc.get_callstack 3));
  try_ "finally" (fun () -> Fun.protect ~finally:(fun () -> failwith "in finally") ignore);
  p "%b\n" (Printexc.backtrace_status ())
module H = Weak.Make (struct type t = string ref let equal a b = !a = !b let hash a = Hashtbl.hash
    !a end)
let () =
  let h = H.create 4 in let keep = List.init 500 (fun i -> ref (string_of_int i)) in
  List.iter (H.add h) keep; List.iter (fun i -> ignore (H.merge h (ref (string_of_int i)))) [1; 2;
      600; 601];
  p "%b %b %b %d\n" (H.mem h (ref "3")) (H.find h (ref "4") == List.nth keep 4) (H.find_opt h (ref
      "x") = None) (List.length (H.find_all h (ref "5")));
  Gc.full_major (); p "%d %b\n" (H.count h) (H.mem h (ref "600")); H.remove h (ref "7");
      p "%d %d\n" (H.count h) (H.fold (fun s a -> a + int_of_string !s) h 0);
  let l, c, s, mn, md, mx = H.stats h in p "%d %d %d %d %d %d\n" l c s mn md mx; H.clear h;
      p "%d %d\n" (H.count h) (List.length keep);
  let w = Weak.create 3 in Weak.set w 0 (Some (ref 1)); Weak.fill w 1 2 (Some (List.hd keep |> fun
      _ -> ref 2)); Gc.full_major (); p "%b %b\n" (Weak.check w 0) (Weak.check w 2);
  List.iter (fun f -> try_ "weak" (fun () -> f (); p "ok\n")) [(fun () -> Weak.set w 3 None);
      (fun () -> ignore (Weak.get w (-1))); (fun () -> Weak.fill w 2 2 None);
      (fun () -> Weak.blit w 0 w 2 2);
    (fun () -> ignore (Weak.create (-1) : int Weak.t)); (fun () -> ignore (Weak.get_copy w 5));
        (fun () -> ignore (Weak.check w 9))];
  let module E = Ephemeron.K1 in let k = ref 1 in let e = E.make k (ref 5) in Gc.full_major ();
      p "%b\n" (E.query e k <> None);
  let module B = Ephemeron.K1.Bucket in let b = B.make () in B.add b k 1; B.add b (ref 2) 2;
      p "%d %b\n" (B.length b) (B.find b k = Some 1); B.remove b k; p "%b\n" (B.find b k = None);
  let module T = Ephemeron.K2.Make (struct type t = int ref let equal = (==) let hash r = !r end)
      (struct type t = int ref let equal = (==) let hash r = !r end) in
  let t = T.create 3 in T.add t (k, k) "kk"; T.add t (k, ref 2) "dead"; Gc.full_major ();
      T.clean t; p "%d %s\n" (T.length t) (T.find t (k, k)); ignore !k
let () = List.iter (fun t -> List.iter (fun n -> Printf.printf "%d/%d:%s%! " t n (try let b =
    Obj.new_block t n in Printf.sprintf "%d %d" (Obj.tag b) (Obj.size b) ^ (if n > 0 then (match t
    with 247 when n > 1 -> Printf.sprintf " %d" (Obj.obj (Obj.field b 1)) | _ when t = 252 ->
    Printf.sprintf " %d" (String.length (Obj.obj b)) | _ when t < 247 -> Printf.sprintf " %B"
    (Obj.field b 0 == Obj.repr 0) | _ -> "") else "") with Invalid_argument s -> s)) [0; 1; 2; 3;
    300]; print_newline ()) [0; 5; 243; 244; 246; 247; 248; 250; 251; 252; 253; 254; 255]
let () = List.iter (fun t -> Printf.printf "%d:%s%!\n" t (try let b = Obj.with_tag t (Obj.repr (1,
    2)) in Printf.sprintf "%d %d" (Obj.tag b) (Obj.size b) with Invalid_argument s -> s)) [0; 5;
    247; 248; 250; 251; 252; 255]
