(* Ends of a program, each in a child: exit codes, at_exit's order, what is said of exceptions. *)
exception Boom of int
let p fmt = Printf.printf (fmt ^^ "%!")
let child name f =
  flush_all ();
  match Unix.fork () with
  | 0 -> f (); exit 0
  | pid -> (match snd (Unix.waitpid [] pid) with
      | WEXITED n -> p "== %s: exit %d\n" name n; Printf.eprintf "== %s\n%!" name
      | WSIGNALED n -> p "== %s: signal %d\n" name n; Printf.eprintf "== %s\n%!" name
      | WSTOPPED _ -> p "stopped\n")
let rec deep n = if n = 0 then raise (Boom 0) else 1 + deep (n - 1)
let () =
  child "plain" ignore;
  child "exit 3" (fun () -> exit 3);
  child "exit 256" (fun () -> exit 256);
  child "exit -1" (fun () -> exit (-1));
  child "raise" (fun () -> raise (Boom 1));
  child "Stdlib.Exit" (fun () -> raise Exit);
  child "deep raise" (fun () -> ignore (deep 2000));
  child "backtrace" (fun () -> Printexc.record_backtrace true; ignore (deep 3));
  child "reraised" (fun () -> Printexc.record_backtrace true;
      try ignore (deep 1) with e -> Printexc.raise_with_backtrace (Boom 4)
      (Printexc.get_raw_backtrace ()));
  child "finally" (fun () -> Printexc.record_backtrace true; Fun.protect ~finally:(fun () -> p
      "finally\n"; raise (Boom 5)) (fun () -> raise (Boom 6)));
  child "assert" (fun () -> assert (Sys.opaque_identity false));
  child "match" (fun () -> match Sys.opaque_identity 1 with 2 -> ());
  child "at_exit" (fun () -> at_exit (fun () -> p "first\n"); at_exit (fun () -> p "second\n";
      at_exit (fun () -> p "inner\n")); p "body\n");
  child "at_exit exit" (fun () -> at_exit (fun () -> p "one\n"); at_exit (fun () -> p "two\n";
      exit 7); exit 5);
  child "at_exit raises" (fun () -> at_exit (fun () -> p "one\n");
      at_exit (fun () -> raise (Boom 7)); p "body\n");
  child "both raise" (fun () -> at_exit (fun () -> p "one\n"); at_exit (fun () -> raise (Boom 8));
      raise (Boom 9));
  child "handler" (fun () -> Printexc.set_uncaught_exception_handler
      (fun e bt -> p "handler %s %d\n" (Printexc.to_string e) (Printexc.raw_backtrace_length bt));
      at_exit (fun () -> p "at exit\n"); raise (Boom 10));
  child "handler raises" (fun () -> Printexc.set_uncaught_exception_handler
      (fun e _ -> raise (Boom 11)); raise (Boom 12));
  child "handler exits" (fun () -> Printexc.set_uncaught_exception_handler (fun e _ -> exit 13);
      at_exit (fun () -> p "bye\n"); raise (Boom 14));
  child "printer raises" (fun () -> Printexc.register_printer
      (function Boom _ -> raise Not_found | _ -> None); raise (Boom 15));
  child "printer" (fun () -> Printexc.register_printer (function Boom n -> Some ("boom " ^
      string_of_int n) | _ -> None); raise (Boom 16));
  child "unhandled" (fun () -> ignore (Effect.perform (Obj.magic (Boom 17))));
  child "stdout closed" (fun () -> print_string "lost?"; Unix.close Unix.stdout);
  child "stdout closed early" (fun () -> print_string "kept\n"; close_out stdout;
      try print_string "x"; flush stdout with Sys_error s -> prerr_endline s);
  child "do_at_exit" (fun () -> at_exit (fun () -> p "once\n"); Stdlib.do_at_exit ();
      Stdlib.do_at_exit ());
  child "_exit" (fun () -> at_exit (fun () -> p "never\n"); print_string "unflushed";
      Unix._exit 4);
  child "SIGTERM" (fun () -> Unix.kill (Unix.getpid ()) Sys.sigterm; Unix.sleepf 60.);
  child "handled" (fun () -> Sys.set_signal Sys.sigterm (Signal_handle
      (fun n -> p "signal %d\n" n; exit 9)); Unix.kill (Unix.getpid ()) Sys.sigterm;
      Unix.sleepf 60.);
  child "signal raises" (fun () -> Sys.catch_break true; (try Unix.kill (Unix.getpid ())
      Sys.sigint; Unix.sleepf 60.; p "?\n" with Sys.Break -> p "break\n");
      Unix.kill (Unix.getpid ()) Sys.sigint; Unix.sleepf 60.);
  child "ignored" (fun () -> Sys.set_signal Sys.sigterm Signal_ignore;
      Unix.kill (Unix.getpid ()) Sys.sigterm; p "lives\n");
  child "abort" (fun () -> Unix.kill (Unix.getpid ()) Sys.sigabrt);
  child "invalid_arg in finaliser" (fun () -> Gc.finalise (fun _ -> raise (Boom 18)) (ref 1);
      Gc.full_major (); p "not here\n");
  child "finaliser exits" (fun () -> Gc.finalise (fun _ -> exit 19) (ref 1); Gc.full_major ();
      p "not here\n");
  child "overflow" (fun () -> let rec f n = 1 + f (n + 1) in Gc.set { (Gc.get ()) with stack_limit
      = 100_000 }; p "%d\n" (f 0));
  child "thread's exit" (fun () -> let t = Thread.create (fun () -> at_exit
      (fun () -> p "from a thread\n"); exit 21) () in Thread.join t; Thread.delay 60.; p "?\n");
  child "thread raises" (fun () -> Thread.join (Thread.create
      (fun () -> Printexc.record_backtrace true; ignore (deep 2)) ()); p "goes on\n");
  child "thread at the end" (fun () -> ignore (Thread.create (fun () -> Thread.delay 60.;
      p "?\n") ()); at_exit (fun () -> p "end\n"));
  child "Thread.exit in main" (fun () -> at_exit (fun () -> p "main's at_exit\n");
      ignore (Thread.create (fun () -> Thread.delay 0.2; p "other\n") ());
      (Thread.exit [@alert "-deprecated"]) ());
  child "domain's exit" (fun () -> at_exit (fun () -> p "main's\n");
      Domain.join (Domain.spawn (fun () -> Domain.at_exit (fun () -> p "domain's\n"); exit 22));
      p "?\n");
  child "domain raises" (fun () -> ignore (Domain.spawn (fun () -> raise (Boom 23)));
      Unix.sleepf 0.02; p "main goes on\n");
  child "domain joined" (fun () -> Domain.join (Domain.spawn (fun () -> raise (Boom 24))));
  child "domain runs on" (fun () -> ignore (Domain.spawn (fun () -> Unix.sleepf 0.05;
      p "still here\n")); p "main is done\n");
  child "out of memory" (fun () -> ignore (Sys.opaque_identity (Bytes.create (1 lsl 50))));
  child "too long" (fun () -> try ignore (Bytes.create Sys.max_string_length) with e -> p "%s\n"
      (Printexc.to_string e));
  child "array" (fun () -> List.iter (fun n -> try ignore (Sys.opaque_identity (Array.make n 0));
      p "made\n" with e -> p "%s\n" (Printexc.to_string e)) [-1; Sys.max_array_length + 1;
      Sys.max_array_length; 1 lsl 45]);
  child "float array" (fun () -> List.iter (fun n -> try ignore (Sys.opaque_identity (Array.make n
      0.)); p "made\n" with e -> p "%s\n" (Printexc.to_string e)) [-1;
      Sys.max_floatarray_length + 1; 1 lsl 45])
