(* Bigarrays of every kind: access, views, comparison, hashing, Marshal. *)
(* bigarray *)
open Bigarray
let p = Printf.printf
let t n f = p "%s: %s\n" n (try f () with e -> "EXN " ^ Printexc.to_string e)
let kinds f = f "f32" (Obj.magic float32); f "f64" (Obj.magic float64)
let () =
  t "create neg" (fun () -> ignore (Array1.create int c_layout (-1)); "");
  t "create huge" (fun () -> ignore (Array1.create int c_layout max_int); "");
  t "oob" (fun () -> let a = Array1.create int c_layout 3 in string_of_int a.{3});
  t "oob f" (fun () -> let a = Array1.create int fortran_layout 3 in string_of_int a.{0});
  t "oob2" (fun () -> let a = Array2.create int c_layout 3 3 in a.{1,3} <- 3; "");
  t "oob3" (fun () -> let a = Array3.create int c_layout 3 3 3 in a.{1,2,3} <- 3; "");
  t "gen" (fun () -> let a = Genarray.create float64 c_layout [|2;3;4;5|] in Genarray.fill a 1.5; Genarray.set a [|1;2;3;4|] 2.5; Printf.sprintf "%g %g %d %d" (Genarray.get a [|1;2;3;4|]) (Genarray.get a [|0;0;0;0|]) (Genarray.num_dims a) (Genarray.nth_dim a 2));
  t "gen bad" (fun () -> ignore (Genarray.nth_dim (Genarray.create int c_layout [|2|]) 1); "");
  t "gen bad2" (fun () -> ignore (Genarray.get (Genarray.create int c_layout [|2;2|]) [|1|]); "");
  t "17 dims" (fun () -> ignore (Genarray.create int c_layout (Array.make 17 1)); "");
  t "0 dims" (fun () -> let a = Genarray.create int c_layout [||] in Genarray.set a [||] 3; string_of_int (Genarray.get a [||]));
  t "kinds" (fun () -> let c k conv n = let a = Array1.create k c_layout 2 in Array1.fill a n; a.{1} <- n; conv a.{0} ^ "," ^ conv a.{1} ^ "," ^ string_of_int (kind_size_in_bytes k) ^ "," ^ string_of_int (Array1.size_in_bytes a) in String.concat ";" [c float32 string_of_float 1.1; c float64 string_of_float 1.1; c int8_signed string_of_int 200; c int8_unsigned string_of_int (-1); c int16_signed string_of_int 40000; c int16_unsigned string_of_int (-1); c int32 Int32.to_string (-5l); c int64 Int64.to_string (-6L); c int string_of_int max_int; c nativeint Nativeint.to_string (-7n); c char (String.make 1) 'q'; c complex32 (fun c -> string_of_float c.Complex.im) Complex.i; c complex64 (fun c -> string_of_float c.Complex.re) {Complex.re = 0.1; im = 0.2}; c float16 string_of_float 1.1; c float16 string_of_float 70000.; c float16 string_of_float 1e-8; c float16 string_of_float nan]);
  t "sub" (fun () -> let a = Array1.init int c_layout 10 Fun.id in let b = Array1.sub a 3 4 in b.{0} <- 100; Printf.sprintf "%d %d" a.{3} (Array1.dim b));
  t "sub bad" (fun () -> ignore (Array1.sub (Array1.create int c_layout 3) 2 2); "");
  t "blit" (fun () -> let a = Array1.init int c_layout 10 Fun.id in Array1.blit (Array1.sub a 0 5) (Array1.sub a 2 5); string_of_int a.{6});
  t "blit bad" (fun () -> Array1.blit (Array1.create int c_layout 3) (Array1.create int c_layout 4); "");
  t "slice" (fun () -> let a = Array2.init int c_layout 3 4 (fun i j -> i * 10 + j) in let s = Array2.slice_left a 2 in s.{3} <- 99; string_of_int a.{2,3});
  t "slice f" (fun () -> let a = Array2.init int fortran_layout 3 4 (fun i j -> i * 10 + j) in let s = Array2.slice_right a 2 in string_of_int s.{3});
  t "slice bad" (fun () -> ignore (Array2.slice_left (Array2.create int c_layout 2 2) 5); "");
  t "reshape" (fun () -> let a = Array1.init int c_layout 12 Fun.id in let b = reshape_2 (genarray_of_array1 a) 3 4 in string_of_int b.{2,1});
  t "reshape bad" (fun () -> ignore (reshape_1 (genarray_of_array1 (Array1.create int c_layout 12)) 13); "");
  t "layout" (fun () -> let a = Array2.init int c_layout 2 3 (fun i j -> i * 10 + j) in let b = Array2.change_layout a fortran_layout in Printf.sprintf "%d %d %d" b.{3,2} (Array2.dim1 b) (Array2.dim2 b));
  t "cmp" (fun () -> let a = Array1.init int c_layout 3 Fun.id and b = Array1.init int c_layout 3 Fun.id in let x = compare a b in b.{2} <- 5; Printf.sprintf "%d %d %b" x (compare a b) (a = b));
  t "cmp f" (fun () -> let a = Array1.init float64 c_layout 3 float and b = Array1.init float64 c_layout 3 float in b.{1} <- nan; a.{1} <- nan; Printf.sprintf "%d %b" (compare a b) (a = b));
  t "cmp dims" (fun () -> string_of_int (compare (Array1.create int c_layout 3) (Array1.create int c_layout 4)));
  t "cmp kinds" (fun () -> string_of_int (compare (Obj.repr (Array1.create int c_layout 3)) (Obj.repr (Array1.create char c_layout 3))));
  let h k conv = Hashtbl.hash (Array1.init k c_layout 100 conv) in
  p "hash %d %d %d %d %d %d %d %d %d\n" (h int Fun.id) (h float64 float) (h float32 float) (h int32 Int32.of_int) (h int64 Int64.of_int) (h char (fun i -> Char.chr i)) (h int16_signed Fun.id) (h nativeint Nativeint.of_int) (h complex64 (fun i -> {Complex.re = float i; im = 0.}));
  p "hash %d %d\n" (Hashtbl.hash (Array2.init int8_unsigned c_layout 5 5 ( + ))) (Hashtbl.hash (Array1.create int c_layout 0));
  p "hash f16 %d\n" (h float16 float);
  t "gc" (fun () -> for i = 1 to 2000 do ignore (Sys.opaque_identity (Array1.create float64 c_layout 100000)) done; "ok");
  t "huge total" (fun () -> for i = 1 to 3000 do let a = Array1.create char c_layout 1_000_000 in a.{0} <- 'x' done; "ok");
  t "map" (fun () -> let f = Filename.temp_file "b" "m" in let fd = Unix.openfile f [Unix.O_RDWR] 0 in let m = array1_of_genarray (Unix.map_file fd int c_layout true [|10|]) in m.{5} <- 42; let m2 = array1_of_genarray (Unix.map_file fd int c_layout false [|-1|]) in let r = Printf.sprintf "%d %d" m2.{5} (Array1.dim m2) in Unix.close fd; Sys.remove f; r)
module Bytes_of_them = struct
let hex s = String.concat "" (List.map (fun c -> Printf.sprintf "%02x" (Char.code c)) (List.of_seq (String.to_seq s)))
let m n v = Printf.printf "%s %s\n" n (hex (Marshal.to_string v []))
let () = m "f64" (Array1.init float64 c_layout 2 float);
  m "c" (Array1.init char c_layout 3 (fun i -> Char.chr (65+i)));
  m "i" (Array1.init int c_layout 2 Fun.id);
  m "ibig" (Array1.init int c_layout 2 (fun i -> 0x123456789a));
  m "nat" (Array1.init nativeint c_layout 1 Nativeint.of_int);
  m "natbig" (Array1.init nativeint c_layout 1 (fun _ -> 0x123456789an));
  m "i2f" (Array2.init int32 fortran_layout 2 1 (fun i j -> 7l));
  m "i64" (Array1.init int64 c_layout 1 Int64.of_int);  m "s16" (Array1.init int16_signed c_layout 2 Fun.id);
  m "f16" (Array1.init float16 c_layout 2 float);
  m "c32" (Array1.init complex32 c_layout 1 (fun _ -> Complex.one));
  m "big" (Array1.create char c_layout 0);
  m "dim70000" (Array2.create char c_layout 0 70000);
  m "0d" (Genarray.init int c_layout [||] (fun _ -> 5));
  m "imin" (Array1.init int c_layout 2 (fun _ -> -5));
  m "i31" (Array1.init int c_layout 1 (fun _ -> 0x80000000));
  m "i31-" (Array1.init int c_layout 1 (fun _ -> -0x80000001));
  m "i31x" (Array1.init int c_layout 1 (fun _ -> 0x7fffffff));  m "dimbig" (Array2.create char c_layout 0 0x100000000)
let h n a = Printf.printf "h %s %d\n" n (Hashtbl.hash a)
let () = h "c0" (Array1.create char c_layout 0);
  h "c1 A" (Array1.init char c_layout 1 (fun _ -> 'A'));
  h "c3" (Array1.init char c_layout 3 (fun i -> Char.chr (65+i)));
  h "c4" (Array1.init char c_layout 4 (fun i -> Char.chr (65+i)));
  h "c5" (Array1.init char c_layout 5 (fun i -> Char.chr (65+i)));
 h "c256" (Array1.init char c_layout 256 (fun i -> Char.chr (i land 255)));
  h "c257" (Array1.init char c_layout 257 (fun i -> Char.chr (i land 255)));
  h "c300" (Array1.init char c_layout 300 (fun i -> Char.chr (i land 255)));
  h "c300b" (Array1.init char c_layout 300 (fun i -> if i > 256 then 'x' else Char.chr (i land 255))); 
 h "u8 0" (Array1.create int8_unsigned c_layout 0);
  h "d2" (Array2.create int8_unsigned c_layout 0 5);
  h "0d" (Genarray.init int8_unsigned c_layout [||] (fun _ -> 5));
  h "f" (Array1.create int8_unsigned fortran_layout 0);
 h "i1" (Array1.init int c_layout 1 (fun _ -> 5));
  h "i1b" (Array1.init int c_layout 1 (fun _ -> 0x123456789a));
  h "i1-" (Array1.init int c_layout 1 (fun _ -> -5));
  h "i32" (Array1.init int32 c_layout 1 (fun _ -> 5l));
  h "i64" (Array1.init int64 c_layout 1 (fun _ -> 5L));
  h "nat" (Array1.init nativeint c_layout 1 (fun _ -> 5n));  h "s16_1" (Array1.init int16_signed c_layout 1 (fun _ -> 5));
  h "s16_2" (Array1.init int16_signed c_layout 2 (fun _ -> 5));
  h "s16_3" (Array1.init int16_signed c_layout 3 (fun _ -> 5));h "f64" (Array1.init float64 c_layout 1 (fun _ -> 1.5));
  h "f32" (Array1.init float32 c_layout 1 (fun _ -> 1.5));
  h "f16" (Array1.init float16 c_layout 1 (fun _ -> 1.5));
  h "c64" (Array1.init complex64 c_layout 1 (fun _ -> Complex.one));
  h "c32" (Array1.init complex32 c_layout 1 (fun _ -> Complex.one));
  h "f64nan" (Array1.init float64 c_layout 1 (fun _ -> -. nan));
  h "f16nan" (Array1.init float16 c_layout 1 (fun _ -> nan));
  h "f16inf" (Array1.init float16 c_layout 1 (fun _ -> infinity)); h "f16-0" (Array1.init float16 c_layout 1 (fun _ -> -0.));
 List.iter (fun n -> Printf.printf "%d: %d %d %d %d %d %d %d %d\n" n (Hashtbl.hash (Array1.init int32 c_layout n (fun i -> if i = n-1 then 9l else 5l))) (Hashtbl.hash (Array1.init int64 c_layout n (fun i -> if i = n-1 then 9L else 5L)))  (Hashtbl.hash (Array1.init float64 c_layout n (fun i -> if i = n-1 then 9. else 5.))) (Hashtbl.hash (Array1.init float32 c_layout n (fun i -> if i = n-1 then 9. else 5.))) (Hashtbl.hash (Array1.init int16_signed c_layout n (fun i -> if i = n-1 then 9 else 5))) (Hashtbl.hash (Array1.init complex64 c_layout n (fun i -> if i = n-1 then Complex.zero else Complex.one))) (Hashtbl.hash (Array1.init float16 c_layout n (fun i -> if i = n-1 then 9. else 5.))) (Hashtbl.hash (Array1.init complex32 c_layout n (fun i -> if i = n-1 then Complex.zero else Complex.one)))) [15;16;17;31;32;33;63;64;65;127;128;129]
let c n a b = Printf.printf "%s %d %d %b\n" n (compare a b) (compare b a) (a = b)
let () = c "dim" (Array2.create char c_layout 0 5) (Array2.create char c_layout 1 0);
  c "nd" (genarray_of_array1 (Array1.create char c_layout 3)) (genarray_of_array2 (Array2.create char c_layout 1 1));
  c "lay" (Obj.repr (Array1.create char c_layout 1)) (Obj.repr (Array1.create char fortran_layout 1));
  c "kind" (Obj.repr (Array1.create float32 c_layout 1)) (Obj.repr (Array1.create float64 c_layout 1)); 
 let f k x y = c "f" (Array1.init k c_layout 1 (fun _ -> x)) (Array1.init k c_layout 1 (fun _ -> y)) in f float16 1. 2.;
  f float16 (-1.) 2.;
  f float16 nan nan;
  f float16 nan 1.;
  f float16 0. (-0.);
  f float32 nan 1.;
  f float64 nan 1.;
  f float64 nan nan;
  f complex64 Complex.one Complex.i;
  f complex64 {Complex.re = nan; im = 0.} Complex.i;
  f complex32 Complex.one Complex.i;
  f complex64 {Complex.re = -1.; im = 0.} {Complex.re = -2.; im = 0.};
  f complex64 {Complex.re = 1.; im = -1.} {Complex.re = 1.; im = 1.}
end
let hex s = String.concat "" (List.map (fun c -> Printf.sprintf "%02x" (Char.code c)) (List.of_seq (String.to_seq s)))
let () = List.iter (fun x -> Printf.printf "%x: int %c nat %c\n" x (hex (Marshal.to_string (Array1.init int c_layout 1 (fun _ -> x)) [])).[107] (hex (Marshal.to_string (Array1.init nativeint c_layout 1 (fun _ -> Nativeint.of_int x)) [])).[107]) [0x3fffffff; 0x40000000; -0x40000000; -0x40000001; 0x7ffffffe; 0x7fffffff; 0x80000000; -0x80000000; -0x7fffffff; -0x80000001];
 List.iter (fun n -> Printf.printf "%d: %d %d\n" n (Hashtbl.hash (Array1.init int c_layout n (fun i -> i))) (Hashtbl.hash (Array1.init nativeint c_layout n (fun i -> Nativeint.of_int i)))) [30;31;32;33;63;64;65;66]
