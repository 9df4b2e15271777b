(* A program without module Effect, which names the exceptions: the end comes at once. *)
external perform : 'a -> 'b = "%perform"
let () = print_string "buffered "; at_exit (fun () -> print_endline "at exit");
    perform (Obj.magic (1, 2))
