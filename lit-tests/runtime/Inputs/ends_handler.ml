(* The handler of uncaught exceptions raises as well. *)
let () = Printexc.set_uncaught_exception_handler (fun e bt -> print_endline ("handler " ^ Printexc.to_string e); Printf.printf "%d\n" (Printexc.raw_backtrace_length bt); failwith "again"); Printexc.record_backtrace true; let[@inline never] f () = raise Not_found in f (); ()
