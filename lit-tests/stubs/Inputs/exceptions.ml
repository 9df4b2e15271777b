let check = Report.check

exception A of int
exception B of string

let[@inline never] thrower n = if n = 0 then raise (A 42) else 1 + Sys.opaque_identity 0
let rec deep n = if n = 0 then thrower 0 else 1 + deep (n - 1)

let catching () =
  let ok = ref true in
  for n = 0 to 300 do
    (match deep n with _ -> ok := false | exception A 42 -> () | exception _ -> ok := false)
  done;
  check "raise through frames" !ok

let nested () =
  let r =
    try
      try (try deep 3 with B _ -> 0) with A n -> (try raise (B "x") with B "x" -> n + deep 2)
    with A n -> n * 2
  in
  check "nested handlers" (r = 84)

let from_c () =
  let ok = ref true in
  for _ = 1 to 1000 do
    (match int_of_string "nope" with _ -> ok := false | exception Failure _ -> ());
    (match Hashtbl.find (Hashtbl.create 1) 3 with (_ : int) -> ok := false | exception Not_found -> ());
    (match String.sub "abc" 2 (Sys.opaque_identity 5) with
    | (_ : string) -> ok := false
    | exception Invalid_argument _ -> ())
  done;
  check "raise from C" !ok

let[@inline never] get a i = a.(i)
let[@inline never] div a b = a / b

let bounds () =
  let ok = ref true in
  for i = -3 to 13 do
    match get [| 0; 1; 2; 3; 4; 5; 6; 7; 8; 9 |] i with
    | v -> if v <> i then ok := false
    | exception Invalid_argument m -> if (i >= 0 && i < 10) || m <> "index out of bounds" then ok := false
  done;
  (match div 3 (Sys.opaque_identity 0) with _ -> ok := false | exception Division_by_zero -> ());
  check "bounds and division" !ok

let lines () = List.length (String.split_on_char '\n' (Printexc.get_backtrace ()))

(* Tail-recursion-free frames, so that the backtrace has one entry per level. *)
let backtraces () =
  Printexc.record_backtrace true;
  let a = (try ignore (deep 5); 0 with A _ -> lines ()) in
  let[@inline never] again () = try ignore (deep 5); 0 with A n -> raise (A n) in
  let b = (try again () with A _ -> lines ()) in
  let[@inline never] reraise () = try ignore (deep 5); 0 with A _ as e -> raise e in
  let c = (try reraise () with A _ -> lines ()) in
  let d = (try raise_notrace (A 1) with A _ -> 0) in
  let e = (try ignore (get [| 1 |] 7); 0 with Invalid_argument _ -> lines ()) in
  let f = (try ignore (int_of_string "x"); 0 with Failure _ -> lines ()) in
  let text = (try ignore (deep 2); "" with A _ -> Printexc.get_backtrace ()) in
  Printexc.record_backtrace false;
  let g = (try ignore (deep 5); 0 with A _ -> 1) in
  Printf.printf "backtrace lines: %d %d %d %d %d %d %d\n" a b c d e f g;
  print_string text;
  check "backtrace" (a > 6 && c > a && b < a && String.length text > 20)

let finally () =
  let trace = Buffer.create 100 in
  (try
     Fun.protect
       ~finally:(fun () -> Buffer.add_string trace "f")
       (fun () -> Buffer.add_string trace "b"; ignore (deep 2))
   with A _ -> Buffer.add_string trace "h");
  check "Fun.protect" (Buffer.contents trace = "bfh")

let run () = catching (); nested (); from_c (); bounds (); backtraces (); finally ()
