(* Boxed integers: int32, int64, nativeint, in loops, comparisons, divisions, shifts. *)
let lcg s = Int64.(add (mul s 6364136223846793005L) 1442695040888963407L)
let fnv s = String.fold_left (fun h c -> Int32.mul (Int32.logxor h (Int32.of_int (Char.code c))) 16777619l) (-2128831035l) s
let mulmod a b m = let rec go a b r = if b = 0L then r else go Int64.(rem (add a a) m) (Int64.shift_right_logical b 1) (if Int64.logand b 1L = 1L then Int64.(rem (add r a) m) else r) in go a b 0L
let powmod a e m = let rec go a e r = if e = 0L then r else go (mulmod a a m) (Int64.shift_right e 1) (if Int64.logand e 1L = 1L then mulmod r a m else r) in go a e 1L

let () =
  let s = ref 1L in
  for _ = 1 to 1000 do s := lcg !s done;
  Printf.printf "%Ld %Lx\n" !s (Int64.shift_right_logical !s 7);
  Printf.printf "%ld %lu\n" (fnv "hello world") (fnv "");
  Printf.printf "%Ld\n" (powmod 3L 1000000006L 1000000007L);
  let l = [ 0L; 1L; -1L; Int64.max_int; Int64.min_int; 123456789012345L ] in
  List.iter (fun a -> List.iter (fun b ->
    let d = try Int64.to_string (Int64.div a b) ^ "," ^ Int64.to_string (Int64.rem a b) with Division_by_zero -> "/0" in
    Printf.printf "%s %d %b; " d (compare a b) (a < b)) l; print_newline ()) l;
  let l = [ 0l; 1l; -1l; Int32.max_int; Int32.min_int; 12345l ] in
  List.iter (fun a -> List.iter (fun b ->
    let d = try Int32.to_string (Int32.div a b) ^ "," ^ Int32.to_string (Int32.rem a b) with Division_by_zero -> "/0" in
    Printf.printf "%s %ld %ld; " d (Int32.add a b) (Int32.mul a b)) l; print_newline ()) l;
  Printf.printf "%nd %nx\n" (Nativeint.mul 123456789n 987654321n) (Nativeint.lognot 0xffn);
  Printf.printf "%Ld %ld %g\n" (Int64.of_float 1e18) (Int32.of_float (-7.9)) (Int64.to_float Int64.min_int);
  Printf.printf "%Lx %lx\n" (Int64.logor (Int64.shift_left 0xabcdL 40) 0xffL) (Int32.shift_right 0x80000000l 4);
  Printf.printf "%Ld\n" (Int64.of_string "0x7fffffffffffffff");
  let ints = [ 0; 1; -1; max_int; min_int; 1 lsl 40 ] in
  List.iter (fun a -> List.iter (fun b -> Printf.printf "%s " (try string_of_int (a / b + a mod b) with Division_by_zero -> "/0")) ints; print_newline ()) ints;
  List.iter (fun a -> Printf.printf "%d %d %d %d\n" (a / 7) (a mod 7) (a / -8) (a mod 10)) ints
