(* Backtraces: inlined frames, slots without a place, call stacks. *)
(* backtraces *)
exception E of int
let[@inline] inl1 x = if x > 3 then raise (E x) else x
let[@inline] inl2 x = inl1 (x + 1) + 1
let[@inline never] f x = inl2 x + 1
let[@inline never] g x = 1 + f (x * 2)
let[@inline never] h x = try g x with Not_found -> 0
let () =
  Printexc.record_backtrace true;
  (try ignore (h 3) with E _ -> Printexc.print_backtrace stdout);
  (try ignore (h 3) with E _ as e -> let bt = Printexc.get_raw_backtrace () in (try Printexc.raise_with_backtrace e bt with E _ -> print_string (Printexc.get_backtrace ())));
  (try (try ignore (h 3) with e -> raise e) with E _ -> print_string (Printexc.get_backtrace ()));
  (try (try ignore (h 3) with e -> raise_notrace e) with E _ -> print_string (Printexc.get_backtrace ()));
  (try (try ignore (h 3) with e -> raise Not_found) with Not_found -> print_string (Printexc.get_backtrace ()));
  (try ignore (List.map (fun x -> if x = 2 then failwith "two" else x) [1;2;3]) with Failure _ -> print_string (Printexc.get_backtrace ()));
  (try ignore (Array.get [|1|] (Sys.opaque_identity 5)) with Invalid_argument _ -> print_string (Printexc.get_backtrace ()));
  (try ignore (1 / Sys.opaque_identity 0) with Division_by_zero -> print_string (Printexc.get_backtrace ()));
  (try ignore (int_of_string "z") with Failure _ -> print_string (Printexc.get_backtrace ()));
  (try ignore (List.sort (fun _ _ -> raise Exit) [3;2;1;4;5]) with Exit -> print_string (Printexc.get_backtrace ()));
  let[@inline never] rec deep n = if n = 0 then Printexc.get_callstack 7 else let r = deep (n-1) in ignore (Sys.opaque_identity n); r in
  print_string (Printexc.raw_backtrace_to_string (deep 20));
  print_string (Printexc.raw_backtrace_to_string (Printexc.get_callstack 0));
  print_string (Printexc.raw_backtrace_to_string (Printexc.get_callstack (-1)));
  Printf.printf "%d\n" (Printexc.raw_backtrace_length (deep 3));
  (try ignore (h 3) with E _ -> let bt = Printexc.get_raw_backtrace () in
    (match Printexc.backtrace_slots bt with None -> print_endline "none" | Some s -> Array.iteri (fun i s ->
      Printf.printf "%b %b %s %s\n" (Printexc.Slot.is_raise s) (Printexc.Slot.is_inline s) (match Printexc.Slot.name s with Some n -> n | None -> "-")
       (match Printexc.Slot.location s with None -> "-" | Some l -> Printf.sprintf "%s:%d:%d-%d %d %d" l.filename l.line_number l.start_char l.end_char l.end_line l.end_col)) s);
    Printf.printf "%b\n" (Printexc.get_raw_backtrace () = bt);
    for i = 0 to Printexc.raw_backtrace_length bt - 1 do
      let s = ref (Some (Printexc.get_raw_backtrace_slot bt i)) in
      while !s <> None do (match !s with Some r -> (match Printexc.Slot.format i (Printexc.convert_raw_backtrace_slot r) with Some x -> print_endline x | None -> ()); s := Printexc.get_raw_backtrace_next_slot r | None -> ()) done done);
  Printexc.record_backtrace false; (try ignore (h 3) with E _ -> print_string (Printexc.get_backtrace ())); Printf.printf "%b\n" (Printexc.backtrace_status ());
  Printexc.record_backtrace true;
  let open Effect in let open Effect.Deep in
  let module M = struct type _ Effect.t += Ask : int Effect.t end in
  (try match_with (fun () -> let x = perform M.Ask in ignore (h x)) () { retc = Fun.id; exnc = raise; effc = (fun (type a) (e : a Effect.t) -> match e with M.Ask -> Some (fun (k : (a, _) continuation) -> print_string (Printexc.raw_backtrace_to_string (get_callstack k 10)); continue k 3) | _ -> None) } with E _ -> print_string (Printexc.get_backtrace ()));
  (try match_with (fun () -> let x = perform M.Ask in ignore (h x)) () { retc = Fun.id; exnc = raise; effc = (fun (type a) (e : a Effect.t) -> match e with M.Ask -> Some (fun (k : (a, _) continuation) -> discontinue k Exit) | _ -> None) } with Exit -> print_string (Printexc.get_backtrace ()));
  (try ignore (perform M.Ask) with Unhandled _ as e -> print_endline (Printexc.to_string e); print_string (Printexc.get_backtrace ()));
  let d = Domain.spawn (fun () -> Printexc.record_backtrace true; h 3) in
  (try ignore (Domain.join d) with E _ -> print_string (Printexc.get_backtrace ()))
let[@inline never] f x = if x > 3 then raise Exit else x
let[@inline never] h x = try f x + 1 with Not_found -> 0
let () = Printexc.record_backtrace true;
  (try ignore (h 5) with Exit -> let bt = Printexc.get_raw_backtrace () in
  Printf.printf "%d\n" (Printexc.raw_backtrace_length bt);
  (match Printexc.backtrace_slots bt with None -> print_endline "noslots" | Some a -> Array.iter (fun s -> Printf.printf "%b %s\n" (Printexc.Slot.is_raise s) (match Printexc.Slot.format 1 s with None -> "none" | Some s -> s)) a);
  for i = 0 to Printexc.raw_backtrace_length bt - 1 do let s = Printexc.convert_raw_backtrace_slot (Printexc.get_raw_backtrace_slot bt i) in  Printf.printf "%b %s\n" (Printexc.Slot.is_raise s) (match Printexc.Slot.format 1 s with None -> "none" | Some s -> s) done;
  Printexc.print_backtrace stdout; print_string (Printexc.get_backtrace ()));
  print_string (Printexc.raw_backtrace_to_string (Printexc.get_callstack 10));
  ignore (h 6)
