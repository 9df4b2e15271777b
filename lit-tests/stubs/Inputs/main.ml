let suites = [ "alloc", Alloc.run; "exceptions", Exceptions.run; "callbacks", Callbacks.run; "args", Args.run;
    "deep", Deep.run; "fibers", Fibers.run; "parallel", Parallel.run; "interrupts", Interrupts.run;
    "threaded", Threaded.run ]

let () =
  let wanted = List.tl (Array.to_list Sys.argv) in
  List.iter (fun (name, run) ->
      if wanted = [] || List.mem name wanted then begin
        Report.name := name;
        run ()
      end) suites;
  Printf.printf "%d wrong\n" !Report.failed;
  exit (if !Report.failed = 0 then 0 else 1)
