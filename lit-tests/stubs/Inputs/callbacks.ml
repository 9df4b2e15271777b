let check = Report.check

external call1 : ('a -> 'b) -> 'a -> 'b = "fk_call1"
external call2 : ('a -> 'b -> 'c) -> 'a -> 'b -> 'c = "fk_call2"
external call3 : ('a -> 'b -> 'c -> 'd) -> 'a -> 'b -> 'c -> 'd = "fk_call3"
external call_n : ('a -> 'b -> 'c -> 'd -> 'e -> 'f) -> 'a -> 'b -> 'c -> 'd -> 'e -> 'f = "fk_call5_byte" "fk_call5"
external caught : ('a -> 'b) -> 'a -> bool = "fk_caught"
external rooted : (int -> int list) -> int -> int = "fk_rooted"
external callee_saved : (unit -> unit) -> bool = "fk_callee_saved"

exception Up of int

let rec nest n acc = if n = 0 then acc else call1 (fun a -> nest (n - 1) (a + 1)) acc
let rec nest3 n = if n = 0 then raise (Up 7) else 1 + call3 (fun a b c -> ignore (a + b + c); nest3 (n - 1)) 1 2 3

let garbage () = ignore (Sys.opaque_identity (List.init 500 (fun i -> (i, string_of_int i))))

let run () =
  check "callback" (call1 succ 41 = 42);
  check "callback2" (call2 (fun a b -> (a * 10) + b) 4 2 = 42);
  check "callback3" (call3 (fun a b c -> (a * 100) + (b * 10) + c) 1 2 3 = 123);
  check "callback, 5 arguments" (call_n (fun a b c d e -> [ a; b; c; d; e ]) 1 2 3 4 5 = [ 1; 2; 3; 4; 5 ]);
  check "partial application" (call2 (fun a -> garbage (); fun b -> a ^ b) "x" "y" = "xy");
  check "nested callbacks" (nest 200 0 = 200);
  check "exception through callbacks" (match nest3 100 with _ -> false | exception Up 7 -> true);
  check "exception result" (caught (fun () -> raise Not_found) () && not (caught (fun () -> 3) ()));
  check "collections inside" (call3 (fun a b c -> Gc.full_major (); garbage (); a ^ b ^ c) "a" "b" "c" = "abc");
  check "C roots" (rooted (fun n -> garbage (); List.init n Fun.id) 300 = 300);
  let saved = ref true in
  for _ = 1 to 50 do
    if not (callee_saved garbage) then saved := false;
    if not (callee_saved (fun () -> garbage (); raise Exit)) then saved := false
  done;
  check "C's registers" !saved
