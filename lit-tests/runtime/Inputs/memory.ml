(* big: blocks that C allocates; small: blocks that survive a minor collection; stack: frames *)
let rec grow l = grow (Bytes.create 10_000_000 :: l)
let rec cells n l = if n = 0 then l else cells (n - 1) (n :: l)
let rec more l = more (cells 100_000 [] :: l)
let rec deep n = if n = 0 then 0 else 1 + deep (n - 1)
let say f = match f () with
  | s -> print_endline s
  | exception Out_of_memory -> print_endline "Out_of_memory"
  | exception Stack_overflow -> print_endline "Stack_overflow"
  | exception Invalid_argument s -> print_endline s
let () =
  match Sys.argv.(1) with
  | "big" -> say (fun () -> grow []); say (fun () -> string_of_int (List.length (cells 1000 [])))
  | "small" -> say (fun () -> more [])
  | "stack" -> say (fun () -> string_of_int (deep max_int)); say (fun () -> string_of_int (deep 1000))
  | _ ->
    say (fun () -> string_of_int (Array.length (Array.make max_int 0)));
    say (fun () -> string_of_int (Array.length (Array.make Sys.max_array_length 0)));
    say (fun () -> string_of_int (Bytes.length (Bytes.create max_int)));
    say (fun () -> string_of_int (Bytes.length (Bytes.create Sys.max_string_length)));
    say (fun () -> string_of_int (Array.length (Array.init (-1) Fun.id)));
    say (fun () -> string_of_int (Bigarray.Array1.dim (Bigarray.(Array1.create float64 c_layout max_int))));
    say (fun () -> string_of_int (Bigarray.Array1.dim (Bigarray.(Array1.create float64 c_layout (1 lsl 58)))));
    say (fun () -> string_of_int (String.length (String.concat "" (List.init 3 (fun _ -> String.make 3 'x')))));
    say (fun () -> string_of_int (Weak.length (Weak.create max_int)));
    say (fun () -> string_of_int (Weak.length (Weak.create (Sys.max_array_length - 1))))
