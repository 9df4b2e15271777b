(* Marshal, byte by byte (marshal.ml has the round trips). *)
(* marshal *)
let p = Printf.printf
let t n f = p "%s: %s\n" n (try f () with e -> "EXN " ^ Printexc.to_string e)
let hex s = Digest.to_hex (Digest.string s) ^ " " ^ string_of_int (String.length s)
type r = { mutable a : int; b : float; c : r option }
let rt v = let s = Marshal.to_string v [] in (hex s) ^ string_of_bool (compare (Marshal.from_string s 0) v = 0)
let () =
  t "int" (fun () -> rt 5);
  t "ints" (fun () -> rt [0;63;64;-1;127;128;-128;-129;32767;32768;-32768;-32769;0x3fffffff;0x40000000;0x7fffffff;0x80000000;max_int;min_int]);
  t "str" (fun () -> rt ["";"a";String.make 31 'x';String.make 32 'y';String.make 255 'z';String.make 256 'w';String.make 70000 'v']);
  t "flt" (fun () -> rt [1.;-0.;infinity;nan]);
  t "fa" (fun () -> rt (Array.init 10 float));
  t "fa2" (fun () -> rt (Array.init 300 float));
  t "i64" (fun () -> rt (1L, -1l, 5n, 0x7fffffffffffn, Int64.min_int));
  t "tuple" (fun () -> rt (1, "a", [|1;2|], Some (None, `X 3)));
  t "share" (fun () -> let s = "shared" in let x = Marshal.from_string (Marshal.to_string (s, s) []) 0 in string_of_bool (fst x == snd x));
  t "noshare" (fun () -> let s = "shared" in let x = Marshal.from_string (Marshal.to_string (s, s) [No_sharing]) 0 in string_of_bool (fst x == snd x));
  t "cyc" (fun () -> let rec l = 1 :: 2 :: l in let s = Marshal.to_string l [] in let (m : int list) = Marshal.from_string s 0 in hex s ^ string_of_int (List.nth m 101));
  t "deep" (fun () -> let l = List.init 1000000 Fun.id in let s = Marshal.to_string l [] in hex s ^ string_of_bool ((Marshal.from_string s 0 : int list) = l));
  t "fun" (fun () -> Marshal.to_string (fun x -> x + 1) [] |> hex);
  t "abs" (fun () -> hex (Marshal.to_string stdout []));
  t "abs2" (fun () -> hex (Marshal.to_string (Mutex.create ()) []));
  t "weak" (fun () -> hex (Marshal.to_string (Weak.create 3) []));
  t "cont" (fun () -> hex (Marshal.to_string (lazy (print_string "x")) []));
  t "lazyv" (fun () -> hex (Marshal.to_string (Lazy.from_val 3) []));
  t "obj" (fun () -> hex (Marshal.to_string (object val x = 1 end) [])) ;
  t "exn" (fun () -> rt (Invalid_argument "x"));
  t "exn nf" (fun () -> match Marshal.from_string (Marshal.to_string Not_found []) 0 with Not_found -> "same" | _ -> "different");
  t "trunc" (fun () -> let s = Marshal.to_string [1;2;3] [] in ignore (Marshal.from_string (String.sub s 0 (String.length s - 1)) 0 : int list); "ok");
  t "bad magic" (fun () -> Marshal.from_string (String.make 40 'a') 0);
  t "short" (fun () -> Marshal.from_string "abc" 0);
  t "neg" (fun () -> Marshal.from_string (String.make 40 'a') (-1));
  t "off" (fun () -> Marshal.from_bytes (Bytes.create 40) 30);
  t "size" (fun () -> let s = Marshal.to_bytes [1;2;3] [] in Printf.sprintf "%d %d %d" (Marshal.total_size s 0) (Marshal.data_size s 0) Marshal.header_size);
  t "tobuf" (fun () -> let b = Bytes.create 100 in string_of_int (Marshal.to_buffer b 0 100 [1;2;3] []));
  t "tobuf small" (fun () -> string_of_int (Marshal.to_buffer (Bytes.create 10) 0 10 [1;2;3;4;5;6;7;8;9;10] []));
  t "tobuf bad" (fun () -> string_of_int (Marshal.to_buffer (Bytes.create 10) 5 10 [] []));
  t "chan" (fun () -> let f = Filename.temp_file "m" "n" in let oc = open_out_bin f in Marshal.to_channel oc (List.init 50000 string_of_int) []; Marshal.to_channel oc 3.5 []; output_value oc "third"; close_out oc; let ic = open_in_bin f in let (l : string list) = Marshal.from_channel ic in let (x : float) = input_value ic in let (s : string) = input_value ic in let e = (try (input_value ic : string) with End_of_file -> "eof") in close_in ic; Sys.remove f; Printf.sprintf "%d %g %s %s" (List.length l) x s e);
  t "compat32" (fun () -> hex (Marshal.to_string [1; max_int] [Compat_32]));
  t "compat32 ok" (fun () -> hex (Marshal.to_string [1; 0x3fffffff] [Compat_32]));
  t "big" (fun () -> rt (Bigarray.Array1.init Bigarray.float64 Bigarray.c_layout 10 float));
  t "big2" (fun () -> rt (Bigarray.Array2.init Bigarray.int32 Bigarray.fortran_layout 3 4 (fun i j -> Int32.of_int (i * j))));
  t "big16" (fun () -> rt (Bigarray.Array1.init Bigarray.int16_signed Bigarray.c_layout 10 Fun.id));
  t "bigint" (fun () -> rt (Bigarray.Array1.init Bigarray.int Bigarray.c_layout 10 Fun.id));
  t "bignat" (fun () -> rt (Bigarray.Array1.init Bigarray.nativeint Bigarray.c_layout 10 Nativeint.of_int));
  t "bigc" (fun () -> rt (Bigarray.Array1.init Bigarray.complex32 Bigarray.c_layout 10 (fun i -> {Complex.re = float i; im = 1.})));
  t "ht" (fun () -> let h = Hashtbl.create 10 in for i = 0 to 100 do Hashtbl.add h i (string_of_int i) done; let h' : (int, string) Hashtbl.t = Marshal.from_string (Marshal.to_string h []) 0 in Hashtbl.find h' 50);
  t "map" (fun () -> let module M = Map.Make (String) in let m = M.of_list (List.init 1000 (fun i -> string_of_int i, i)) in hex (Marshal.to_string m []));
  t "wide" (fun () -> rt (Array.init 1000000 (fun i -> if i mod 2 = 0 then Some i else None)));
  t "f32" (fun () -> rt (Float.Array.init 5 float));
  t "empty" (fun () -> rt [||]);
  t "seed" (fun () -> rt (Random.State.make [|1;2|]));
  t "atom" (fun () -> rt (Atomic.make 3 |> Atomic.get));
  t "garbage" (fun () -> let n = ref 0 in for i = 0 to 2000 do let s = Bytes.of_string (Marshal.to_string (List.init 20 (fun i -> (i, string_of_int i, float i))) []) in Bytes.set_uint8 s (16 + (i * 7919) mod (Bytes.length s - 16)) (i land 255); incr n done; string_of_int !n)
