(* One failed bound check inside of a try, one outside: without -g they may share a call. *)
let [@inline never] stop () = ignore (Sys.opaque_identity (ref 1))

let [@inline never] get (a : int array) i j =
  let x = try stop (); a.(i) with Not_found -> 3 in
  stop ();
  x + a.(j)

let [@inline never] middle a i j = 1 + get a i j
let [@inline never] outer a i j = 1 + middle a i j

let () =
  Printexc.record_backtrace true;
  (try ignore (outer [| 1; 2; 3 |] 1 5) with Invalid_argument s -> print_endline s);
  Printexc.print_backtrace stdout
