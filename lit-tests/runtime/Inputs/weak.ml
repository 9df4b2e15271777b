let () =
  let w = Weak.create 10 in
  for i = 0 to 9 do Weak.set w i (Some (ref i)) done;
  let keep = ref [] in for i = 0 to 4 do keep := Weak.get w i :: !keep done;
  Gc.full_major ();
  for i = 0 to 9 do print_string (if Weak.check w i then "1" else "0") done; print_newline ();
  ignore (Sys.opaque_identity !keep);
  let fin = ref 0 in
  for i = 1 to 100 do Gc.finalise (fun r -> fin := !fin + !r) (ref i) done;
  for i = 1 to 100 do Gc.finalise_last (fun () -> incr fin) (ref i) done;
  Gc.full_major (); Printf.printf "%d\n" !fin;
  let e = Ephemeron.K1.make (ref 1) "data" in
  Gc.full_major (); Printf.printf "%b\n" (Ephemeron.K1.query e (ref 1) = None);
  let big = Array.init 100000 (fun i -> Some i) in
  Gc.compact ();
  Printf.printf "%d\n" (Array.fold_left (fun a -> function Some i -> a + i | None -> a) 0 big);
  let got = ref 0 in
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> incr got));
  Sys.set_signal Sys.sigint (Sys.Signal_handle (fun _ -> raise Exit));
  Printf.printf "%s\n" (Printexc.to_string (Failure "a"));
  Printexc.record_backtrace true;
  (try failwith "bt" with Failure _ -> print_string (Printexc.get_backtrace ()));
  Printf.printf "%d\n" (Obj.reachable_words (Obj.repr [1;2;3;4]));
  let module O = struct class c = object val mutable x = 0 method incr = x <- x + 1 method get = x end end in
  let o = new O.c in o#incr; o#incr; Printf.printf "%d\n" o#get;
  let s = Stack.create () in Stack.push 1 s; Printf.printf "%d\n" (Stack.pop s);
  let f = Float.Array.make 3 1.5 in Float.Array.set f 1 2.; Printf.printf "%f\n" (Float.Array.fold_left (+.) 0. f);
  let st = Gc.stat () in Printf.printf "%b\n" (st.Gc.live_words > 0);
  Printf.printf "%b\n" (Sys.file_exists "/"); 
  let oc = open_out "rt_tmp_x" in output_string oc "line1\nline2"; close_out oc;
  let ic = open_in "rt_tmp_x" in Printf.printf "%s|" (input_line ic); Printf.printf "%s|" (input_line ic);
  (try ignore (input_line ic) with End_of_file -> print_endline "eof"); close_in ic; Sys.remove "rt_tmp_x";
  (try ignore (open_in "/nonexist") with Sys_error s -> print_endline s);
  let sc = Scanf.sscanf "12 abc 3.5" "%d %s %f" (fun a b c -> Printf.sprintf "%d-%s-%f" a b c) in print_endline sc;
  let seq = Seq.take 5 (Seq.ints 3) in Seq.iter (Printf.printf "%d ") seq; print_newline ();
  let ba = Bigarray.Array1.create Bigarray.int32 Bigarray.c_layout 10 in
  Bigarray.Array1.fill ba 3l; Printf.printf "%ld\n" ba.{4}
