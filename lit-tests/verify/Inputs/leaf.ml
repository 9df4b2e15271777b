let [@inline never] get (a : int array) i = a.(i)
let [@inline never] middle a i = 1 + get a i
let [@inline never] outer a i = 1 + middle a i
let () =
  Printexc.record_backtrace true;
  try print_int (outer [|1;2;3|] 7) with Invalid_argument _ ->
    let s = Printexc.get_backtrace () in
    let n = List.length (String.split_on_char '\n' s) in
    print_string (if n > 12 then String.sub s 0 400 ^ "..." else s);
    Printf.printf "%d lines\n" n
