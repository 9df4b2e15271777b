let check = Report.check

let rec sum n = if n = 0 then 0 else n + sum (n - 1)

(* Floats and pointers live in registers and slots when the stack moves. *)
let rec mixed n (x : float) s = if n = 0 then x +. float_of_string s else 1. +. mixed (n - 1) (x +. 0.5) s
let rec forever n = 1 + forever (n + 1)

(* Handlers on a stack that moves. *)
let rec handlers n = if n = 0 then raise Not_found else try 1 + handlers (n - 1) with Exit -> 0

let rec alloc_deep n = if n = 0 then [] else (n, string_of_int n) :: alloc_deep (n - 1)

(* Arguments in all registers at the moment the stack is grown. *)
let rec wide a b c d e f g h (x : float) (y : float) n =
  if n = 0 then a + b + c + d + e + f + g + h + int_of_float (x +. y)
  else 1 + wide b c d e f g h a y x (n - 1)

(* The stub raises in the function whose frame did not fit: its callers are seen. *)
let backtrace () =
  Printexc.record_backtrace true;
  let text = match forever 0 with _ -> "" | exception Stack_overflow -> Printexc.get_backtrace () in
  Printexc.record_backtrace false;
  let callers = List.filter (String.starts_with ~prefix:"Called from Deep.forever") (String.split_on_char '\n' text) in
  check "backtrace of an overflow" (List.length callers > 1000)

let overflow () =
  let n = ref 0 in
  for _ = 1 to 3 do
    match forever 0 with _ -> () | exception Stack_overflow -> incr n
  done;
  check "Stack_overflow" (!n = 3);
  check "after it" (sum 1000 = 500500 && List.length (alloc_deep 2000) = 2000)

let run () =
  check "deep recursion" (sum 300_000 = 300_000 * 300_001 / 2);
  check "floats" (mixed 50_000 1. "2.5" = 75_003.5);
  check "handlers" (match handlers 20_000 with _ -> false | exception Not_found -> true);
  check "allocation" (List.fold_left (fun a (n, s) -> if int_of_string s = n then a + 1 else a) 0 (alloc_deep 20_000) = 20_000);
  check "all argument registers" (wide 1 2 3 4 5 6 7 8 1.25 2.75 40_000 = 40_040);
  overflow ();
  backtrace ()
