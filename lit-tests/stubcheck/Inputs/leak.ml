(* A memprof callback raises at each sampled allocation: an exception that leaves a
   collection. Prints the growth of resident memory over 100,000 of them, in MB. *)
exception Stop

let resident () =
  let ic = open_in "/proc/self/statm" in
  let line = input_line ic in
  close_in ic;
  Scanf.sscanf line "%d %d" (fun _ pages -> pages * 4)

let armed = ref false
let tracker =
  { Gc.Memprof.null_tracker with alloc_minor = (fun _ -> if !armed then raise Stop else None) }

let[@inline never] alloc x = Sys.opaque_identity (Some x)

let () =
  ignore (Gc.Memprof.start ~sampling_rate:1.0 ~callstack_size:0 tracker);
  let before = resident () and raised = ref 0 in
  for i = 1 to 100_000 do
    armed := true;
    (try ignore (alloc i) with Stop -> incr raised);
    armed := false
  done;
  Gc.Memprof.stop ();
  Printf.printf "%d raised, %s\n" !raised
    (if resident () - before > 15_000 then "memory grows" else "memory stays")
