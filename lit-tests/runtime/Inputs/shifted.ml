let[@inline never] make n = Sys.opaque_identity (Some n)
let[@inline never] twice n =
  let a = make n in
  let b = make (n + 1) in
  (a, b)
let () = match twice 3 with
  | Some a, Some b -> print_int (a + b)
  | _ -> ()
