(* Bigarrays from damaged bytes: an exception, whatever the sizes in them say. *)
open Bigarray

(* Offsets in a marshalled Array1: the block's size on 64 bits, dimensions, kind, first size. *)
let size, dims, kind, first = 20 + 1 + 10 + 4, 43, 47, 51

let read change =
  let b = Marshal.to_bytes (Array1.init char c_layout 100 Char.chr) [] in
  change b;
  match (Marshal.from_bytes b 0 : (char, int8_unsigned_elt, c_layout) Array1.t) with
  | a -> Printf.sprintf "read %d" (Array1.dim a)
  | exception e -> Printexc.to_string e

let () =
  List.iter
    (fun (name, change) -> Printf.printf "%s: %s\n" name (read change))
    [
      ("whole", ignore);
      ("block too small", fun b -> Bytes.set_int64_be b size 8L);
      ("block too large", fun b -> Bytes.set_int64_be b size 48L);
      ("16 dimensions", fun b -> Bytes.set_int32_be b dims 16l);
      ("17 dimensions", fun b -> Bytes.set_int32_be b dims 17l);
      ("no such kind", fun b -> Bytes.set_int32_be b kind 14l);
      ("owned data", fun b -> Bytes.set_int32_be b kind 0x20cl);
      ("longer", fun b -> Bytes.set_int16_be b first 101);
      ("much longer", fun b -> Bytes.set_uint16_be b first 0xfffe);
      ("wide size", fun b -> Bytes.set_uint16_be b first 0xffff);
    ]
