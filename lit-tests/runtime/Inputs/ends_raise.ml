(* at_exit, printers, an exception that nobody handles. *)
(* uncaught with at_exit, printers *)
exception My of int * string * float
exception Two of { a : int }
let () = Printexc.register_printer (function Two _ -> Some "TWO!" | _ -> None);
  at_exit (fun () -> print_endline "at exit 1"); at_exit (fun () -> print_endline "at exit 2"; try raise (Two {a=1}) with e -> print_endline (Printexc.to_string e));
  List.iter (fun e -> print_endline (Printexc.to_string e); print_endline (Printexc.to_string_default e)) [My (1, "a\n", 2.5); Two {a=1}; Failure "x"; Invalid_argument "y"; Sys_error "z"; Match_failure ("f", 1, 2); Assert_failure ("g", 3, 4); Undefined_recursive_module ("h", 5, 6); Out_of_memory; Stack_overflow; End_of_file; Division_by_zero; Not_found; Exit; Sys_blocked_io];
  print_string "no newline"; flush stdout;
  Printexc.record_backtrace true;
  raise (My (1, "q\"", nan))
