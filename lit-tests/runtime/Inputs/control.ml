(* Gc.get after Gc.set. *)
let p = Printf.printf
let show () =
  let g = Gc.get () in
  p "%d %d %d %d %d %d %d %d %d %d %d\n" g.minor_heap_size g.major_heap_increment g.space_overhead g.verbose
    g.max_overhead g.stack_limit g.allocation_policy g.window_size g.custom_major_ratio g.custom_minor_ratio
    g.custom_minor_max_size
let () =
  let g = Gc.get () in
  show ();
  Gc.set { g with custom_major_ratio = 50; custom_minor_ratio = 60; custom_minor_max_size = 70 };
  show ();
  Gc.set { g with max_overhead = 300; allocation_policy = 1; window_size = 4; major_heap_increment = 100 };
  show ();
  Gc.set { g with custom_major_ratio = 0; minor_heap_size = -5; stack_limit = 5000; space_overhead = 5 };
  show ()
