(* Exceptions: arguments, re-raise, nesting, finalisers, in loops and over allocations. *)
exception Found of int * string
exception Empty
exception Nested of exn

let find p l = try List.iteri (fun i x -> if p x then raise (Found (i, string_of_int x))) l; None with Found (i, s) -> Some (i, s)
let protect f = try Ok (f ()) with Empty -> Error "empty" | Failure s -> Error s | Nested e -> Error (Printexc.to_string e)

let rec deep n = if n = 0 then raise Empty else 1 + (try deep (n - 1) with Not_found -> 0)

let loop n =
  let hits = ref 0 in
  for i = 1 to n do
    try
      if i mod 3 = 0 then raise Exit;
      if i mod 5 = 0 then failwith (string_of_int i);
      incr hits
    with Exit -> hits := !hits + 10 | Failure s -> hits := !hits + String.length s
  done;
  !hits

let rec count_down n acc = try if n = 0 then raise (Found (acc, "x")) else count_down (n - 1) (acc + 1) with Found (a, s) when a > 100000 -> -String.length s

let () =
  (match find (fun x -> x > 10) [ 1; 5; 12; 20 ] with Some (i, s) -> Printf.printf "%d %s\n" i s | None -> print_endline "none");
  List.iter
    (fun f -> print_endline (match protect f with Ok n -> string_of_int n | Error e -> "error " ^ e))
    [ (fun () -> 1); (fun () -> raise Empty); (fun () -> failwith "boom"); (fun () -> raise (Nested (Invalid_argument "in")));
      (fun () -> deep 1000); (fun () -> int_of_string "12x") ];
  Printf.printf "%d\n" (loop 1000);
  (try ignore (count_down 1000 0) with Found (n, s) -> Printf.printf "found %d %s\n" n s);
  (try ignore (Array.get [| 1; 2 |] (Sys.opaque_identity 2)) with Invalid_argument s -> print_endline s);
  (try ignore (1 / Sys.opaque_identity 0) with Division_by_zero -> print_endline "division");
  (try Fun.protect ~finally:(fun () -> print_endline "finally") (fun () -> raise Not_found) with Not_found -> print_endline "not found");
  let r = try ignore (List.hd (Sys.opaque_identity [])); "" with Failure s -> s in
  print_endline r;
  match Sys.opaque_identity 3 with
  | n when n > 5 -> ()
  | _ -> (try assert (Sys.opaque_identity false) with Assert_failure (f, l, c) -> Printf.printf "%s %d %d\n" (Filename.basename f) l c)
