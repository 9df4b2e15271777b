(* Exceptions that leave a collection (here from memprof's callback) must not lose the
   save area that caml_call_gc had taken. *)
external used : unit -> int = "fk_used"
external buckets : unit -> int = "fk_buckets"

exception Enough

let armed = ref false
let raised = ref 0

let alloc _ = if !armed then (armed := false; raise Enough) else None

let round () =
  for _ = 1 to 20_000 do
    try armed := true; ignore (Sys.opaque_identity (ref 1)); armed := false
    with Enough -> incr raised
  done

let () =
  let tracker = { Gc.Memprof.null_tracker with alloc_minor = alloc } in
  let (_ : Gc.Memprof.t) = Gc.Memprof.start ~sampling_rate:0.5 ~callstack_size:1 tracker in
  round ();
  let before = used () and first = !raised in
  round (); round ();
  let more = used () - before and n = !raised - first in
  Gc.Memprof.stop ();
  Printf.printf "%d exceptions, %s\n" (n / 10_000 * 10_000)
    (if buckets () > 10 then "the list grows" else if more > n then "save areas lost" else "nothing lost")
