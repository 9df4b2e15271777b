(* Strings and bytes: unaligned access, comparisons, matching, buffers, Scanf and Printf. *)
let rot13 = String.map (function
  | 'a' .. 'm' | 'A' .. 'M' as c -> Char.chr (Char.code c + 13)
  | 'n' .. 'z' | 'N' .. 'Z' as c -> Char.chr (Char.code c - 13)
  | c -> c)

let keyword = function
  | "let" -> 1 | "in" -> 2 | "match" -> 3 | "with" -> 4 | "function" -> 5 | "begin" -> 6 | "end" -> 7
  | "a rather long keyword" -> 8 | "" -> 9 | "rec" -> 10 | "and" -> 11 | "type" -> 12 | _ -> 0

let palindrome s = let n = String.length s in let rec go i = i >= n / 2 || (s.[i] = s.[n - 1 - i] && go (i + 1)) in go 0

let () =
  print_endline (rot13 (rot13 "Hello, World") ^ " " ^ rot13 "Hello, World");
  print_endline (String.concat "," (List.map (fun s -> string_of_int (keyword s))
    [ "let"; "in"; "match"; "with"; "function"; "begin"; "end"; "a rather long keyword"; ""; "rec"; "and"; "type"; "lets"; "i" ]));
  Printf.printf "%b %b\n" (palindrome "amanaplanacanalpanama") (palindrome "ocaml");
  let b = Bytes.make 32 '\000' in
  Bytes.set_int16_le b 1 0x1234; Bytes.set_int32_be b 5 0x789abcdel; Bytes.set_int64_le b 11 0x0123456789abcdefL; Bytes.set_uint16_be b 21 65534;
  Printf.printf "%x %lx %Lx %d %d\n" (Bytes.get_uint16_be b 1) (Bytes.get_int32_le b 5) (Bytes.get_int64_be b 11) (Bytes.get_int16_be b 21) (Bytes.get_int8 b 13);
  print_endline (String.escaped (Bytes.to_string b));
  let buf = Buffer.create 10 in
  for i = 1 to 200 do Buffer.add_string buf (string_of_int i); if i mod 50 = 0 then Buffer.add_char buf '\n' done;
  Printf.printf "%d %d\n" (Buffer.length buf) (Hashtbl.hash (Buffer.contents buf));
  Printf.printf "%d %d %d\n" (compare "abc" "abd") (compare "abcdefgh" "abcdefg") (compare "" "a");
  Scanf.sscanf "12 0x1f hello 3.5" "%d %i %s %f" (fun a b c d -> Printf.printf "%d %d %s %g\n" a b c d);
  Printf.printf "%5d|%-5s|%05.1f|%c|%S\n" 42 "ab" 3.14159 'z' "q\"\n";
  (try ignore (String.get "abc" (Sys.opaque_identity 3)) with Invalid_argument s -> print_endline s);
  print_endline (String.uppercase_ascii (String.sub "substring" 3 6));
  Printf.printf "%b %b %s\n" (String.starts_with ~prefix:"ab" "abc") (String.equal "x" "y") (String.trim "  t  ")
