external misuse : int -> unit = "example_misuse"

let () = misuse (int_of_string Sys.argv.(1))
let () = print_endline "back"
