let check = Report.check

exception Tick

let timer s = ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = s })

let until_signal body =
  let r = ref 0 in
  (try
     timer 0.01;
     while true do
       body ();
       incr r
     done
   with Tick -> ());
  !r > 0

let run () =
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> raise Tick));
  let ok = ref true in
  for _ = 1 to 5 do
    if not (until_signal (fun () -> ignore (Sys.opaque_identity (ref 1)))) then ok := false
  done;
  check "signal at an allocation" !ok;
  let x = ref 0 in
  check "signal at a poll" (until_signal (fun () -> x := Sys.opaque_identity (!x + 1)));
  check "signal in a C call" (match timer 0.01; Unix.sleepf 5. with () -> false | exception Tick -> true);
  let count = ref 0 in
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> incr count; ignore (Sys.opaque_identity (List.init 1000 string_of_int))));
  for _ = 1 to 5 do
    let before = !count in
    timer 0.002;
    while !count = before do ignore (Sys.opaque_identity (string_of_int !count)) done
  done;
  check "handlers that allocate" (!count = 5);
  Sys.set_signal Sys.sigalrm Sys.Signal_ignore
