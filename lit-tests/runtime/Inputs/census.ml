external census : unit -> unit = "example_census"
let work n = List.fold_left (fun a s -> a + String.length s) 0 (List.init n string_of_int)
let keep = ref []
let report () = census (); print_endline "done"
let () =
  Callback.register "work" work;
  keep := List.init 200 string_of_int;
  report ();
  print_int (List.length !keep)
