external none : unit -> bool = "mutant_none"
external sp_outside : unit -> bool = "mutant_sp_outside"
external sp_unaligned : unit -> bool = "mutant_sp_unaligned"
external buckets : unit -> bool = "mutant_buckets"
external trap_elsewhere : unit -> bool = "mutant_trap_elsewhere"
external trap_downward : unit -> bool = "mutant_trap_downward"
external link_fiber : unit -> bool = "mutant_link_fiber"
external link_sp : unit -> bool = "mutant_link_sp"
external gc_point : unit -> unit = "mutant_gc_point"
external field : 'a -> unit = "mutant_field"
external header : 'a -> unit = "mutant_header"
external keep : 'a -> unit = "mutant_keep"
external use : unit -> int = "mutant_use"
external overrun : unit -> unit = "mutant_overrun"
external wild : unit -> int = "mutant_wild"

let old () = let l = [ string_of_int (Array.length Sys.argv) ] in Gc.full_major (); l

let () =
  let l = old () in
  try
    match Sys.argv.(1) with
    | "none" -> assert (none ()); Gc.full_major (); print_endline (List.hd l)
    | "sp-outside" -> ignore (sp_outside ())
    | "sp-unaligned" -> ignore (sp_unaligned ())
    | "buckets" -> ignore (buckets ())
    | "trap-elsewhere" -> ignore (trap_elsewhere ())
    | "trap-downward" -> ignore (trap_downward ())
    | "link-fiber" -> ignore (link_fiber ())
    | "link-sp" -> ignore (link_sp ())
    | "gc-point" -> gc_point ()
    | "field" -> field l; Gc.full_major (); ignore (Sys.opaque_identity l)
    | "header" -> header l; Gc.full_major (); ignore (Sys.opaque_identity l)
    | "stale" -> keep (Sys.opaque_identity (ref 1)); Gc.minor (); Gc.minor (); print_int (use ())
    | "moved" -> let r = Sys.opaque_identity (ref l) in keep r; Gc.minor (); print_int (use () + List.length !r)
    | "made-by-c" -> keep (string_of_int (List.length l)); Gc.minor (); print_int (use ())
    | "compacted" -> keep l; Gc.compact (); print_int (use () + List.length l)
    | "overrun" -> overrun ()
    | _ -> print_int (wild ())
  with Not_found -> print_endline "never"
