(* An at_exit function that raises after one that exits. *)
let () = at_exit (fun () -> print_endline "x"; failwith "in at_exit"); at_exit (fun () -> print_endline "y"; exit 4); print_endline "z"; raise Exit
