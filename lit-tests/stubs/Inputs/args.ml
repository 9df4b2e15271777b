let check = Report.check

external ints20 :
  int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int ->
  int -> int -> int -> int -> int -> int -> int = "fk_no_bytecode" "fk_ints20"

external ints20_noalloc :
  int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int ->
  int -> int -> int -> int -> int -> int -> int = "fk_no_bytecode" "fk_ints20" [@@noalloc]

external floats20 :
  float -> float -> float -> float -> float -> float -> float -> float -> float -> float -> float ->
  float -> float -> float -> float -> float -> float -> float -> float -> float -> float
  = "fk_no_bytecode" "fk_floats20" [@@noalloc] [@@unboxed]

external mixed :
  int -> (float[@unboxed]) -> int -> (float[@unboxed]) -> int -> (float[@unboxed]) -> int ->
  (float[@unboxed]) -> int -> (float[@unboxed]) -> int -> (float[@unboxed]) -> int ->
  (float[@unboxed]) -> int -> (float[@unboxed]) -> int -> (float[@unboxed]) -> int -> int * float
  = "fk_no_bytecode" "fk_mixed"

external callback_with_stack_args :
  (int -> int -> int -> int) -> int -> int -> int -> int -> int -> int -> int -> int -> int -> int
  = "fk_no_bytecode" "fk_callback_with_stack_args"

(* Alone in their functions: ocamlopt 5.3 for s390x keeps values in r7, r8 and r9 over
   a noalloc call, and then loads the call's own r7, r8 and r9. *)
let[@inline never] ints_noalloc n =
  ints20_noalloc n (n+1) (n+2) (n+3) (n+4) (n+5) (n+6) (n+7) (n+8) (n+9) (n+10) (n+11) (n+12) (n+13)
    (n+14) (n+15) (n+16) (n+17) (n+18) (n+19)

let[@inline never] floats_noalloc f =
  floats20 f (f+.1.) (f+.2.) (f+.3.) (f+.4.) (f+.5.) (f+.6.) (f+.7.) (f+.8.) (f+.9.) (f+.10.) (f+.11.)
    (f+.12.) (f+.13.) (f+.14.) (f+.15.) (f+.16.) (f+.17.) (f+.18.) (f+.19.)

let c_calls () =
  let ok = ref true in
  for n = 1 to 500 do
    let f = float_of_int n in
    let want = (210 * n) + 2660 in
    let a = ints20 n (n+1) (n+2) (n+3) (n+4) (n+5) (n+6) (n+7) (n+8) (n+9) (n+10) (n+11) (n+12) (n+13)
        (n+14) (n+15) (n+16) (n+17) (n+18) (n+19) in
    let b = ints_noalloc n and c = floats_noalloc f in
    if a <> want || b <> want || c <> float_of_int want then ok := false;
    let i, d = mixed n f (n+1) (f+.1.) (n+2) (f+.2.) (n+3) (f+.3.) (n+4) (f+.4.) (n+5) (f+.5.) (n+6)
        (f+.6.) (n+7) (f+.7.) (n+8) (f+.8.) (n+9) in
    if i <> (55 * n) + 330 || d <> (45. *. f) +. 240. then ok := false
  done;
  check "C calls with stack arguments" !ok;
  let garbage = ref [] in
  let f a b c = garbage := List.init 200 string_of_int; a + b + c in
  check "callback under stack arguments" (callback_with_stack_args f 1 2 3 4 5 6 7 8 9 = 240 + 45)

(* 90 arguments: registers, 64 words of extra_params, and the stack. *)
let[@inline never] many a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6
    c7 c8 c9 d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 g0
    g1 g2 g3 g4 g5 g6 g7 g8 g9 h0 h1 h2 h3 h4 h5 h6 h7 h8 h9 i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 =
  let r = ref 0 and k = ref 0 in
  let add s = incr k; r := !r + (!k * int_of_string s) in
  List.iter add [ a0; a1; a2; a3; a4; a5; a6; a7; a8; a9; b0; b1; b2; b3; b4; b5; b6; b7; b8; b9; c0; c1;
    c2; c3; c4; c5; c6; c7; c8; c9; d0; d1; d2; d3; d4; d5; d6; d7; d8; d9; e0; e1; e2; e3; e4; e5; e6;
    e7; e8; e9; f0; f1; f2; f3; f4; f5; f6; f7; f8; f9; g0; g1; g2; g3; g4; g5; g6; g7; g8; g9; h0; h1;
    h2; h3; h4; h5; h6; h7; h8; h9; i0; i1; i2; i3; i4; i5; i6; i7; i8; i9 ];
  !r

let arguments () =
  let s = string_of_int in
  let ok = ref true in
  for n = 0 to 60 do
    let r = many (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n)
        (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n)
        (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n)
        (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n)
        (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n)
        (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) (s n) in
    if r <> n * 4095 then ok := false
  done;
  check "ninety arguments" !ok

let[@inline never] floats a b c d e f g h i j k l m n o p q r =
  a +. (2. *. b) +. (3. *. c) +. (4. *. d) +. (5. *. e) +. (6. *. f) +. (7. *. g) +. (8. *. h)
  +. (9. *. i) +. (10. *. j) +. (11. *. k) +. (12. *. l) +. (13. *. m) +. (14. *. n) +. (15. *. o)
  +. (16. *. p) +. (17. *. q) +. (18. *. r)

let float_arguments () =
  let ok = ref true in
  for n = 1 to 1000 do
    let f = float_of_int n in
    if floats f f f f f f f f f f f f f f f f f f <> 171. *. f then ok := false;
    if Float.abs (-.f) <> f || Float.neg f +. f <> 0. then ok := false
  done;
  check "float arguments" !ok

let run () = c_calls (); arguments (); float_arguments ()
