(* A signal that every thread of the program blocks waits, whatever threads the runtime has. *)
let () =
  Thread.join (Thread.create ignore ());
  Sys.set_signal Sys.sigusr1 (Signal_handle (fun _ -> print_endline "usr1"));
  ignore (Thread.sigmask Unix.SIG_BLOCK [ Sys.sigusr1 ]);
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  Unix.sleepf 0.05;
  print_endline "blocked";
  ignore (Thread.sigmask Unix.SIG_UNBLOCK [ Sys.sigusr1 ]);
  Unix.sleepf 0.05;
  print_endline "after"
