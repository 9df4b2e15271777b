(* Strings, UTF, Buffer, Seq, Map, channels, Filename, Digest, Sys. *)
let p fmt = Printf.printf (fmt ^^ "%!")
let try_ name f = try f () with e -> p "%s: %s\n" name (Printexc.to_string e)
let () =
  let s = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xab\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80z" in
  let i = ref 0 in while !i < String.length s do let d = String.get_utf_8_uchar s !i in
    p "%d:%b %d %x; " !i (Uchar.utf_decode_is_valid d) (Uchar.utf_decode_length d) (Uchar.to_int
        (Uchar.utf_decode_uchar d)); i := !i + Uchar.utf_decode_length d done; p "\n";
  p "%b %b %b\n" (String.is_valid_utf_8 s) (String.is_valid_utf_8 "h\xc3\xa9")
      (String.is_valid_utf_16le "a\000\x3d\xd8\x2b\xdc");
  let d = String.get_utf_16be_uchar "\xd8\x3d\xdc\x2b" 0 in p "%x %d\n" (Uchar.to_int
      (Uchar.utf_decode_uchar d)) (Uchar.utf_decode_length d);
  let b = Buffer.create 1 in List.iter (fun u -> let u = Uchar.of_int u in Buffer.add_utf_8_uchar
      b u; Buffer.add_utf_16le_uchar b u; Buffer.add_utf_16be_uchar b u) [0x41; 0xe9; 0x20ac;
      0x1f42b; 0xffff];
  p "%S\n" (Buffer.contents b); let by = Bytes.make 8 '.' in
  List.iter (fun (o, u) -> p "%d " (Bytes.set_utf_8_uchar by o (Uchar.of_int u))) [0, 0x41;
      6, 0x20ac; 2, 0x1f42b; 7, 0x7f]; p "%d %S\n" (Bytes.set_utf_16le_uchar by 0 (Uchar.of_int
      0x1f42b)) (Bytes.to_string by);
  List.iter (fun (n, f) -> try_ n (fun () -> p "%s %s\n" n (f ()))) [
    "uchar", (fun () -> string_of_int (Uchar.to_int (Uchar.of_int 0xd800)));
        "succ", (fun () -> string_of_int (Uchar.to_int (Uchar.succ Uchar.max)));
        "get", (fun () -> String.make 1 "abc".[Sys.opaque_identity 3]);
    "sub", (fun () -> String.sub "abc" 2 2); "int32", (fun () -> Int32.to_string
        (String.get_int32_le "abc" 0)); "int64", (fun () -> Int64.to_string (String.get_int64_be
        "abcdefghi" 2)); "u16", (fun () -> string_of_int (String.get_uint16_be "\xff\xfe" 0));
    "i8", (fun () -> string_of_int (String.get_int8 "\xff" 0));
        "i16", (fun () -> string_of_int (Bytes.get_int16_le (Bytes.of_string "a\x80") 0));
        "set", (fun () -> let b = Bytes.make 9 'x' in Bytes.set_int64_le b 1 0x0102030405060708L;
        Bytes.set_uint16_be b 0 0x12345; Bytes.to_string b |> String.escaped);
    "set", (fun () -> Bytes.set_int32_be (Bytes.create 3) 0 1l; "");
        "index", (fun () -> string_of_int (String.index "abc" 'z'));
        "rindex", (fun () -> string_of_int (String.rindex_from "abca" 2 'a'));
        "index_from", (fun () -> string_of_int (String.index_from "abc" 4 'a'));
    "concat", (fun () -> String.concat ", " ["a"; ""; "b"]); "split",
        (fun () -> String.concat "|" (String.split_on_char ',' ",a,,b,"));
        "trim", (fun () -> String.trim " \t\n x y \r"); "escaped",
        (fun () -> String.escaped "\000\t\"\\\xff\127é"); "cat", (fun () -> String.cat "a" "b");
    "blit", (fun () -> let b = Bytes.of_string "abcdef" in Bytes.blit b 0 b 2 4;
        Bytes.to_string b); "blit", (fun () -> Bytes.blit_string "abc" 0 (Bytes.create 2) 0 3;
        ""); "extend", (fun () -> string_of_int (Bytes.length (Bytes.extend (Bytes.create 5) (-2)
        (-1)))); "fill", (fun () -> Bytes.fill (Bytes.create 2) 1 2 'x'; "");
    "buffer", (fun () -> let b = Buffer.create 0 in Buffer.add_string b "hello $(x) ${y} $z \\$";
        let c = Buffer.create 1 in Buffer.add_substitute c String.uppercase_ascii (Buffer.contents
        b); Buffer.truncate c 20; Buffer.contents c); "sub", (fun () -> Buffer.sub b 30 100);
        "nth", (fun () -> String.make 1 (Buffer.nth b 1000));
        "truncate", (fun () -> Buffer.truncate b (-1); "");
    "substitute", (fun () -> let c = Buffer.create 1 in Buffer.add_substitute c Fun.id "$(x";
        Buffer.contents c); "hash", (fun () -> Printf.sprintf "%d %d" (String.hash "abc")
        (String.seeded_hash 5 "abc")); "prefix", (fun () -> Printf.sprintf "%b %b"
        (String.starts_with ~prefix:"ab" "abc") (String.ends_with ~suffix:"" "abc"));
    "digest", (fun () -> Digest.to_hex (Digest.string "abc") ^ " " ^ Digest.BLAKE256.(to_hex
        (string "abc")) ^ " " ^ Digest.BLAKE512.(to_hex (substring "xabcx" 1 3)) ^ " " ^
        Digest.BLAKE128.(to_hex (bytes (Bytes.make 300 'q'))));
        "digest", (fun () -> Digest.from_hex "zz"); "digest",
        (fun () -> Digest.substring "abc" 2 5); "of_hex", (fun () -> String.escaped
        (Digest.MD5.of_hex "000102030405060708090a0b0c0d0e0f"))];
  let module M = Map.Make (Int) in let m = ref M.empty in for i = 0 to 20_000 do m := M.add (i *
      7919 mod 20_011) i !m done;
  p "%d %d %s\n" (M.cardinal !m) (M.fold (fun k v a -> (a * 31 + k * v) land 0xffffff) !m 0)
      (match M.split 5000 !m with l, Some v, r -> Printf.sprintf "%d %d %d" (M.cardinal l) v
      (M.cardinal r) | _ -> "none");
  let u = M.union (fun k a b -> if k mod 2 = 0 then Some (a + b) else None) !m (M.filter
      (fun k _ -> k mod 3 = 0) !m) in p "%d %d %b\n" (M.cardinal u) (Hashtbl.hash u) (M.equal ( =
      ) u (M.of_seq (Seq.map Fun.id (M.to_seq u))));
  let module S = Set.Make (String) in let s = S.of_list (List.init 3000 string_of_int) in p
      "%d %s %s\n" (S.cardinal (S.diff s (S.map (fun x -> x ^ "0") s))) (S.min_elt s)
      (S.find_first (fun x -> x > "5") s);
  let q = Seq.(take 10 (map (fun (a, b) -> a * b) (zip (ints 1) (iterate
      (fun x -> x * 3 mod 17) 1)))) in p "%s\n" (String.concat "," (List.map string_of_int
      (List.of_seq q)));
  let once = Seq.once (List.to_seq [1; 2]) in ignore (List.of_seq once);
      try_ "once" (fun () -> ignore (List.of_seq once)); let memo = Seq.memoize (Seq.init 3
      (fun i -> p "m%d " i; i)) in p "%d %d\n" (Seq.length memo) (Seq.fold_left ( + ) 0 memo);
  let a, b = Seq.partition_map (fun i -> if i mod 2 = 0 then Either.Left i else Either.Right
      (string_of_int i)) (Seq.init 9 Fun.id) in p "%d %s\n" (Seq.fold_left ( + ) 0 a)
      (String.concat "" (List.of_seq b)); try_ "take" (fun () -> ignore (Seq.take (-1) Seq.empty
      ()));
  p "%s %b %s\n" (Option.fold ~none:"n" ~some:string_of_int (Option.bind (Some 3)
      (fun x -> Some (x + 1)))) (Result.is_error (Result.map_error succ (Error 1))) (try
      Option.get None with Invalid_argument s -> s); try_ "get_ok"
      (fun () -> Result.get_ok (Error 1));
  let d = Dynarray.create () in for i = 1 to 1000 do Dynarray.add_last d (float i) done;
      Dynarray.truncate d 500; p "%g %d\n" (Dynarray.fold_left ( +. ) 0. d) (Dynarray.length d);
      try_ "dynarray" (fun () -> ignore (Dynarray.get d 500));
      try_ "iter" (fun () -> Dynarray.iter (fun _ -> Dynarray.add_last d 1.) d);
  List.iter (fun f -> p "%S %S %S %S %b %b\n" (Filename.basename f) (Filename.dirname f)
      (Filename.extension f) (Filename.remove_extension f) (Filename.is_relative f)
      (Filename.is_implicit f)) ["/a/b.c.d"; "a"; ""; "/"; "a/"; "./x."; "..//y"; ".bashrc";
      "a/.b.c"]; try_ "chop" (fun () -> p "%s %s\n" (Filename.chop_suffix "x.ml" ".ml")
      (Filename.chop_extension "x")); p "%s %s %s\n" (Filename.concat "a" "b") (Filename.quote
      "it's") (Filename.quote_command "cmd" ~stdin:"i" ~stdout:"o" ["a b"; "$c"])
let () =
  let f = "text_more.tmp" in
  Out_channel.with_open_bin f (fun oc -> Out_channel.output_string oc "one\ntwo\r\n\nlast";
      Out_channel.seek oc 1L; Out_channel.output_char oc 'N';
      p "%Ld %Ld\n" (Out_channel.pos oc) (Out_channel.length oc));
  In_channel.with_open_text f (fun ic -> let l = In_channel.input_line ic in p "%s %s "
      (Option.get l) (String.escaped (In_channel.input_all ic));
      p "%b %b %S\n" (In_channel.input_char ic = None) (In_channel.input_line ic = None)
      (In_channel.input_all ic); In_channel.seek ic 2L; let s = In_channel.really_input_string ic
      4 in p "%S %b\n" (Option.get s) (In_channel.really_input_string ic 100 = None));
  p "%s\n" (String.concat "|" (In_channel.with_open_bin f In_channel.input_lines));
      p "%d\n" (In_channel.with_open_bin f (In_channel.fold_lines
      (fun n l -> n + String.length l) 0));
  let a = Bigarray.Array1.create Char C_layout 8 in In_channel.with_open_bin f
      (fun ic -> let n = In_channel.input_bigarray ic a 2 5 in p "%d %c\n" n a.{3};
      p "%b\n" (In_channel.really_input_bigarray ic a 0 8 <> None);
      try_ "bounds" (fun () -> ignore (In_channel.input_bigarray ic a 6 5)));
  let oc = Out_channel.open_gen [Open_append; Open_wronly] 0 f in Out_channel.output_bigarray oc a
      0 3; Out_channel.output_byte oc 300; p "%b\n" (Out_channel.is_buffered oc);
      Out_channel.set_buffered oc false; Out_channel.output_string oc "!"; close_out oc;
      try_ "closed" (fun () -> output_char oc 'x'; flush oc);
      try_ "closed" (fun () -> p "%d\n" (pos_out oc)); close_out oc; close_out_noerr oc;
  let ic = open_in f in p "%d %d\n" (in_channel_length ic) (pos_in ic); close_in ic;
      try_ "closed" (fun () -> ignore (input_char ic)); try_ "closed"
      (fun () -> ignore (in_channel_length ic)); try_ "eof" (fun () -> ignore (really_input_string
      (open_in "/dev/null") 1)); try_ "excl" (fun () -> ignore (open_out_gen [Open_creat;
      Open_excl; Open_wronly] 0o600 f));
  try_ "no file" (fun () -> ignore (open_in "/nonexistent/x"));
      try_ "dir" (fun () -> ignore (input_char (open_in ".")));
      try_ "input" (fun () -> ignore (input stdin (Bytes.create 3) 2 2));
      try_ "remove" (fun () -> Sys.remove f; Sys.remove f); try_ "rename"
      (fun () -> Sys.rename "nope" "x"); try_ "readdir" (fun () -> ignore (Sys.readdir "nope"));
      try_ "mkdir" (fun () -> Sys.mkdir "." 0o700); try_ "rmdir" (fun () -> Sys.rmdir "nope");
      try_ "chdir" (fun () -> Sys.chdir "nope"); try_ "is_dir"
      (fun () -> p "%b %b\n" (Sys.is_directory ".") (Sys.is_directory "nope"));
  try_ "getenv" (fun () -> p "%s %b\n" (Option.value ~default:"-" (Sys.getenv_opt "NO_SUCH_VAR"))
      (Sys.getenv "PATH" <> "")); try_ "getenv" (fun () -> ignore (Sys.getenv "NO_SUCH_VAR"));
      p "%d %d %d\n" (Sys.command "exit 3") (Sys.command "kill -9 $$") (Sys.command "true");
      try_ "signal" (fun () -> ignore (Sys.signal Sys.sigkill Signal_ignore));
      try_ "signal" (fun () -> ignore (Sys.signal 1000 Signal_default));
  p "%s %d %b %s %d %b %s %s\n" Sys.os_type Sys.word_size Sys.big_endian (String.sub
      Sys.ocaml_version 0 3) Sys.int_size Sys.unix (match Sys.backend_type with Native -> "native"
      | _ -> "other") (Sys.runtime_variant () |> fun _ -> "") ;
  p "%b %b %d\n" (Sys.time () >= 0.) (Sys.file_exists "/") (Array.length Sys.argv);
      p "%d %d\n" Sys.max_array_length Sys.max_string_length
