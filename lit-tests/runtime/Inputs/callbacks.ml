(* Exceptions, effects and collections through C frames: functions of the runtime that call
   back (Gc.finalise, Lazy from Marshal, signals, at_exit, Printexc, compare on custom blocks,
   Domain hooks), nested in each other. *)
open Effect
open Effect.Deep

exception Deep of int * string
type _ Effect.t += Ask : int Effect.t

let trace = Buffer.create 100
let say fmt = Printf.ksprintf (fun s -> Buffer.add_string trace s; Buffer.add_char trace '\n') fmt

(* the callback of a finaliser runs below C; it nests another one of its own *)
let rec nest n =
  let r = ref (String.make 3 (Char.chr (97 + n))) in
  Gc.finalise (fun r ->
    say "final %d %s" n !r;
    if n < 4 then nest (n + 1)) r

let handled f =
  match_with f ()
    { retc = string_of_int; exnc = (fun e -> "exn " ^ Printexc.to_string e);
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Ask -> Some (fun (k : (a, _) continuation) -> continue k 41)
        | _ -> None }

let raise_in_finaliser n =
  let r = ref n in
  Gc.finalise (fun r -> raise (Deep (!r, string_of_int !r))) r

let rec collect_until_raise k =
  match Gc.full_major () with
  | () -> if k > 0 then collect_until_raise (k - 1) else "no exception"
  | exception Deep (n, s) -> Printf.sprintf "Deep %d %s" n s

let perform_in_finaliser () =
  let r = ref 5 in
  Gc.finalise (fun _ ->
    match perform Ask with
    | n -> say "answered %d" n
    | exception Effect.Unhandled _ -> say "unhandled below C") r

let () =
  nest 0;
  for _ = 1 to 8 do Gc.full_major () done;
  say "%s" (handled (fun () -> raise_in_finaliser 7; int_of_string (collect_until_raise 3)));
  raise_in_finaliser 9;
  say "%s" (collect_until_raise 3);
  say "%s" (handled (fun () -> perform_in_finaliser (); Gc.full_major (); 1 + perform Ask));
  (* a handler installed below C catches what is performed below C *)
  let r = ref 1 in
  Gc.finalise (fun _ -> say "inner %s" (handled (fun () -> 1 + perform Ask))) r;
  Gc.full_major ();
  (* exceptions cross many frames and traps after a callback *)
  let rec down n = if n = 0 then (ignore (collect_until_raise 0); raise (Deep (n, "bottom")))
    else try down (n - 1) with Deep (k, s) when k = n -> say "never %s" s; 0 in
  (match down 1000 with
   | n -> say "%d" n
   | exception Deep (n, s) -> say "Deep %d %s" n s);
  (* primitives raise by themselves *)
  List.iter (fun f -> match f () with
      | s -> say "%s" s
      | exception e -> say "%s" (Printexc.to_string e))
    [ (fun () -> string_of_int (compare (fun x -> x) (fun y -> y + 1)));
      (fun () -> String.sub "abc" 2 5);
      (fun () -> (Marshal.from_string "nonsense" 0 : string));
      (fun () -> Bytes.to_string (Bytes.create max_int));
      (fun () -> string_of_int (Array.length (Array.make (-1) 'x')));
      (fun () -> string_of_int (Hashtbl.find (Hashtbl.create 3) 'x'));
      (fun () -> string_of_int (1 / int_of_string "0"));
      (fun () -> Marshal.to_string (fun x -> x) []);
      (fun () -> input_line (open_in "/nonexistent/file"));
      (fun () -> string_of_float (float_of_string "1.x")) ];
  Printexc.register_printer (function Deep (n, s) -> Some (Printf.sprintf "<%d,%s>" n s) | _ -> None);
  say "%s" (Printexc.to_string (Deep (3, "x")));
  at_exit (fun () ->
    (try raise (Deep (1, "exit")) with Deep _ -> say "at exit");
    print_string (Buffer.contents trace));
  Printexc.set_uncaught_exception_handler (fun e _ -> say "uncaught %s" (Printexc.to_string e));
  raise (Deep (4, "end"))
