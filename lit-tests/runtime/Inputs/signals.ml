(* Signals run their OCaml handlers at polls: in loops, in allocating code, in other domains. *)
exception Interrupted of int

let count = ref 0
let spin_until cond = while not (cond ()) do ignore (Sys.opaque_identity (ref 0)) done
let rec quiet n acc = if n = 0 then acc else quiet (n - 1) ((acc * 7) lxor n)

let () =
  let me = Unix.getpid () in
  Sys.set_signal Sys.sigusr1 (Sys.Signal_handle (fun _ -> incr count));
  for _ = 1 to 50 do
    let before = !count in
    Unix.kill me Sys.sigusr1;
    spin_until (fun () -> !count > before)
  done;
  Printf.printf "handled %d\n" !count;
  (* a handler that raises leaves a loop that does not allocate *)
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun s -> raise (Interrupted s)));
  let caught = ref 0 in
  for _ = 1 to 5 do
    ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0.005 });
    try
      while true do ignore (Sys.opaque_identity (quiet 1000 1)) done
    with Interrupted s -> if s = Sys.sigalrm then incr caught
  done;
  Printf.printf "left %d loops\n" !caught;
  (* a handler allocates, collects and uses what it captured *)
  let log = Buffer.create 10 in
  let words = List.init 5 string_of_int in
  Sys.set_signal Sys.sigusr2 (Sys.Signal_handle (fun _ ->
    Gc.minor ();
    Buffer.add_string log (String.concat "" (List.rev words))));
  for i = 1 to 4 do
    let n = i * Buffer.length log in
    Unix.kill me Sys.sigusr2;
    spin_until (fun () -> Buffer.length log >= 5 * i);
    Printf.printf "%d %s\n" (n >= 0 |> Bool.to_int) (Buffer.contents log)
  done;
  (* blocked signals wait *)
  ignore (Unix.sigprocmask Unix.SIG_BLOCK [ Sys.sigusr1 ]);
  let before = !count in
  Unix.kill me Sys.sigusr1;
  ignore (Sys.opaque_identity (quiet 100000 1));
  Printf.printf "blocked %b\n" (!count = before);
  ignore (Unix.sigprocmask Unix.SIG_UNBLOCK [ Sys.sigusr1 ]);
  spin_until (fun () -> !count > before);
  Printf.printf "then %d\n" (!count - before);
  (* interrupted system calls; on a busy machine the first alarm may come before the call *)
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> incr count));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.2; it_value = 0.01 });
  (match Unix.select [] [] [] 5. with
   | _ -> print_endline "slept"
   | exception Unix.Unix_error (Unix.EINTR, _, _) -> print_endline "EINTR");
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0. });
  (* while a domain works *)
  let stop = Atomic.make false and turns = Atomic.make 0 in
  let d = Domain.spawn (fun () ->
    while not (Atomic.get stop) do
      ignore (Sys.opaque_identity (string_of_int (Atomic.fetch_and_add turns 1)))
    done;
    Atomic.get turns > 0) in
  spin_until (fun () -> Atomic.get turns > 0);
  let before = !count in
  Unix.kill me Sys.sigusr1;
  spin_until (fun () -> !count > before);
  Atomic.set stop true;
  Printf.printf "domain %b\n" (Domain.join d);
  Sys.set_signal Sys.sigterm Sys.Signal_ignore;
  Unix.kill me Sys.sigterm;
  print_endline "ignored"
