(* Arithmetic at its edges: Int32, Int64, Nativeint, Float, Random's exact numbers. *)
let p = Printf.printf
let try_ f = try f () with e -> "!" ^ Printexc.to_string e
module type INT = sig
  type t
  val zero : t val one : t val minus_one : t val neg : t -> t val add : t -> t -> t val sub : t ->
      t -> t
  val mul : t -> t -> t val div : t -> t -> t val unsigned_div : t -> t -> t val rem : t -> t -> t
  val unsigned_rem : t -> t -> t val succ : t -> t val pred : t -> t val abs : t -> t val max_int
      : t
  val min_int : t val logand : t -> t -> t val logor : t -> t -> t val logxor : t -> t -> t val
      lognot : t -> t
  val shift_left : t -> int -> t val shift_right : t -> int -> t val shift_right_logical : t ->
      int -> t
  val of_int : int -> t val to_int : t -> int val unsigned_to_int : t -> int option val of_float :
      float -> t
  val to_float : t -> float val of_string : string -> t val of_string_opt : string -> t option
  val to_string : t -> string val compare : t -> t -> int val unsigned_compare : t -> t -> int
  val equal : t -> t -> bool val min : t -> t -> t val max : t -> t -> t
end
module Test (I : INT) = struct
  let values = I.[zero; one; minus_one; of_int 7; of_int (-7); max_int; min_int; succ min_int;
      pred max_int; of_int 0x5555]
  let s = I.to_string
  let run name bits =
    p "-- %s\n" name;
    List.iter (fun a -> p "%s: %s %s %s %s %s %d %s %h\n" (s a) (s (I.neg a)) (s (I.abs a)) (s
        (I.succ a)) (s (I.pred a))
      (s (I.lognot a)) (I.to_int a) (match I.unsigned_to_int a with Some i -> string_of_int i |
          None -> "-") (I.to_float a)) values;
    List.iter (fun a -> List.iter (fun b ->
      p "%s,%s: %s %s %s %s %s %s %s %s %s %s %d %d %b %s %s %d\n" (s a) (s b) (s (I.add a b)) (s
          (I.sub a b)) (s (I.mul a b))
        (try_ (fun () -> s (I.div a b))) (try_ (fun () -> s (I.rem a b))) (try_
            (fun () -> s (I.unsigned_div a b)))
        (try_ (fun () -> s (I.unsigned_rem a b))) (s (I.logand a b)) (s (I.logor a b)) (s
            (I.logxor a b))
        (I.compare a b) (I.unsigned_compare a b) (I.equal a b) (s (I.min a b)) (s (I.max a b))
            (compare a b)) values) values;
    List.iter (fun n -> List.iter (fun a -> p "%s/%d: %s %s %s\n" (s a) n (s (I.shift_left a n))
        (s (I.shift_right a n))
      (s (I.shift_right_logical a n))) values) [0; 1; 5; bits - 1];
    List.iter (fun f -> p "%h: %s\n" f (s (I.of_float f))) [0.; -0.; 0.9; -0.9; 1e9; -1e9;
        2147483647.; -2147483648.; 0x1p30];
    List.iter (fun t -> p "%S: %s %b\n" t (try_ (fun () -> s (I.of_string t))) (I.of_string_opt t
        = None))
      ["0"; "-0"; "+5"; "0x7fffffff"; "0xffffffff"; "0x80000000"; "0x100000000"; "0u2147483648";
          "0u4294967295"; "0u4294967296";
       "2147483647"; "2147483648"; "-2147483648"; "-2147483649"; "9223372036854775807";
           "9223372036854775808";
       "-9223372036854775808"; "0xffffffffffffffff"; "0x10000000000000000";
           "0u18446744073709551615"; "0u18446744073709551616";
       "0b101"; "0o777"; "0O17"; "0B1"; "1_0"; "_1"; ""; "-"; "+"; "0x"; "0b2"; "1e3"; " 1"; "1 ";
           "--1"; "-0x1"; "0xg"; "0u-1"; "-0u1";
       "4611686018427387904"; "-4611686018427387905"]
end
module T32 = Test (Int32) module T64 = Test (Int64) module TN = Test (Nativeint)
let () = T32.run "Int32" 32; T64.run "Int64" 64; TN.run "Nativeint" 64
let () =
  List.iter (fun t -> p "%S: %s\n" t (try_ (fun () -> string_of_int (int_of_string t))))
      ["4611686018427387903"; "4611686018427387904";
    "-4611686018427387904"; "-4611686018427387905"; "0x7fffffffffffffff"; "0x8000000000000000";
        "0u9223372036854775807"; "0u9223372036854775808"; ""; "-"; "0b"];
  p "%d %d %s %s\n" (min_int / -1) (min_int mod -1) (try_ (fun () -> string_of_int
      (Sys.opaque_identity 1 / Sys.opaque_identity 0)))
    (try_ (fun () -> string_of_int (Sys.opaque_identity 1 mod Sys.opaque_identity 0)));
  p "%ld %Ld %h %h\n" (Int32.bits_of_float 1.1) (Int64.bits_of_float (-0.)) (Int32.float_of_bits
      0x7f800001l) (Int64.float_of_bits 1L);
  p "%d %d\n" (Int32.hash 5l) (Int64.hash 5L)
(* Float *)
let fs = [0.; -0.; 0.5; -0.5; 1.5; -1.5; 2.5; 1e-310; 3.7; -3.7; 1e300; infinity; neg_infinity;
    nan; 0x1p52; 0x1.fffffffffffffp-1; 4.5; 1e22]
let () =
  let open Float in
  let un = ["round", round; "trunc", trunc; "ceil", ceil; "floor", floor; "succ", succ;
      "pred", pred; "abs", abs; "neg", neg; "sqrt", sqrt;
    "cbrt", cbrt; "exp2", exp2; "log2", log2; "log1p", log1p; "expm1", expm1; "erf", erf;
        "erfc", erfc] in
  (* not the last bits of what the C library rounds as it likes *)
  let exact = ["round"; "trunc"; "ceil"; "floor"; "succ"; "pred"; "abs"; "neg"; "sqrt"] in
  List.iter (fun (n, f) -> p "%s:" n; List.iter (fun x -> if List.mem n exact then p " %h" (f x)
      else p " %.9g" (f x)) fs; p "\n") un;
  List.iter (fun x -> p "%h: %s %b %b %b %s %d " x (match classify_float x with FP_normal -> "n" |
      FP_subnormal -> "s" | FP_zero -> "z"
    | FP_infinite -> "i" | FP_nan -> "N") (is_finite x) (is_nan x) (is_integer x) (to_string x)
        (Float.hash x);
    let m, e = frexp x and fr, i = modf x in p "%h %d %h %h %b %b\n" m e fr i (sign_bit x)
        (Float.equal x x)) fs;
  List.iter (fun x -> List.iter (fun y -> p "%h,%h: %h %h %h %h %h %d %h %h %s\n" x y (min x y)
      (max x y) (min_num x y) (max_num x y)
    (rem x y) (compare x y) (copy_sign x y) (next_after x y) (let a, b = min_max x y in to_string
        a ^ " " ^ to_string b)) fs) fs;
  p "%h %h %h %.9g\n" (fma 0x1.1p0 0x1.1p0 (-1.)) (ldexp 1.5 (-1074)) (ldexp 1. 2000) (hypot 3e200
      4e200);
  List.iter (fun s -> p "%S %s\n" s (match of_string_opt s with Some f -> Printf.sprintf "%h" f |
      None -> "-")) ["1"; "x"; "0x1p3"; "1e"; "-"; "inf"];
  let a = Float.Array.init 5 (fun i -> of_int (5 - i)) in
  Float.Array.sort compare a; Float.Array.stable_sort (fun a b -> compare b a) a;
      Float.Array.fill a 1 2 9.;
  Float.Array.blit a 0 a 1 3; Float.Array.iter (p "%h ") a; p "%s\n" (try_
      (fun () -> to_string (Float.Array.get a 5)));
  p "%s\n" (try_ (fun () -> Float.Array.fill a 3 3 0.; "")); p "%s\n" (try_
      (fun () -> Float.Array.blit a 3 a 0 3; ""));
  p "%d %b\n" (Hashtbl.hash a) (a = Float.Array.copy a)
(* Random *)
let () =
  let open Random in
  let show name st = let open State in
    p "%s: %d %d %d %d %d %ld %Ld %nd %h %b %d %d\n" name (bits st) (int st 10) (int st
        0x3fffffff) (full_int st max_int) (int_in_range st ~min:(-5) ~max:5)
      (int32 st 100l) (int64 st Int64.max_int) (nativeint st 1000n) (float st 3.) (bool st) (int
          st 1) (full_int st 1);
    p "  %ld %Ld %nd %ld %Ld %nd %d\n" (bits32 st) (bits64 st) (nativebits st) (int32_in_range st
        ~min:Int32.min_int ~max:Int32.max_int)
      (int64_in_range st ~min:Int64.min_int ~max:Int64.max_int) (nativeint_in_range st ~min:0n
          ~max:0n) (int_in_range st ~min:min_int ~max:max_int) in
  show "seed 0" (State.make [|0|]); show "empty" (State.make [||]);
      show "long" (State.make (Array.init 300 Fun.id)); show "neg" (State.make [|-1; min_int|]);
  init 42; show "init" (get_state ()); p "%d %d\n" (bits ()) (int 1000);
  full_init [|1; 2; 3|]; let st = split () in show "split" st; show "after" (get_state ());
  let c = State.copy st in p "%b %d %d\n" (State.bits c = State.bits st) (State.bits c)
      (State.bits st);
  let s = State.to_binary_string st in p "%S\n" s; show "binary" (State.of_binary_string s);
  show "marshalled" (Marshal.from_string (Marshal.to_string st []) 0);
  List.iter (fun f -> p "%s\n" (try_ (fun () -> ignore (f ()); "ok"))) [(fun () -> int 0);
      (fun () -> int (1 lsl 30)); (fun () -> full_int 0);
    (fun () -> Int32.to_int (int32 0l)); (fun () -> int_in_range ~min:3 ~max:2);
        (fun () -> State.bits (State.of_binary_string "lxm2:"));
        (fun () -> Int64.to_int (int64 (-1L)))];
  init 7; let d = Domain.spawn (fun () -> (bits (), bits ())) in let a, b = Domain.join d in p
      "%d %d %d\n" a b (bits ());
  Hashtbl.randomize (); let h = Hashtbl.create 8 in for i = 1 to 1000 do Hashtbl.add h
      (string_of_int i) i done;
  p "%d %d %b\n" (Hashtbl.fold (fun _ v a -> v + a) h 0) (Hashtbl.length h) (Hashtbl.is_randomized
      ());
  let h' = Hashtbl.copy h in Hashtbl.filter_map_inplace (fun _ v -> if v mod 2 = 0 then Some (v *
      2) else None) h';
  p "%d %d %d\n" (Hashtbl.fold (fun _ v a -> v + a) h' 0) (Hashtbl.length h') (Hashtbl.length
      (Hashtbl.rebuild ~random:false h))
