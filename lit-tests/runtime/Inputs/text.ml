(* Numbers from text and to text: what C's library decides, and what OCaml does around it. *)
(* formats *)
let () =
  let p = Printf.printf in
  p "[%5d][%-5d][%05d][%+d][% d][%x][%#x][%X][%o][%#o][%u]\n" 42 42 42 42 42 255 255 255 8 8 (-1);
  p "[%#d][%#i][%*d][%-*d]\n" 1234567 1234567 8 3 8 3;
  p "[%ld][%lx][%lu][%nd][%nx][%Ld][%Lx][%Lu][%Lo]\n" (-1l) (-1l) (-1l) (-1n) (-1n) (-1L) (-1L) (-1L) (-1L);
  p "[%5ld][%-8lx|][%08Lx][%+Ld][% nd]\n" 7l 255l 255L 9L 4n;
  List.iter (fun f -> p "[%f][%e][%g][%F][%h][%H][%.3f][%10.2e][%-12g|][%+.1f][%E][%G][%#F][%.0f][%.20g][%012.3f][% f]\n" f f f f f f f f f f f f f f f f f)
   [0.; -0.; 1.; -1.5; nan; -.nan; infinity; neg_infinity; 1e100; 1e-100; 4.94e-324; max_float; 0.1; 123456789.123; 1e22; 1e15; 5e-5];
  List.iter (fun f -> p "[%.0h][%.1h][%.3h][%20h][%-20h|][%+h][%.15H][% h]\n" f f f f f f f f) [0.; 1.; 1.999; -3.14159; 1e-310; max_float; infinity; nan; 0x1.88p0; 0x1.78p0; 0x1.fffp3];
  p "%s|%10s|%-10s|%S|%c|%C|%B|%b|%%|%!%@\n" "a" "b" "c" "q\n\"\x01" 'x' '\'' true false;
  p "%a %t\n" (fun oc x -> output_string oc x) "A" (fun oc -> output_char oc 'T');
  print_endline (Printf.sprintf "%(%d%)" "%d!" 3);
  print_endline (Format.sprintf "@[<hov 2>%s@ %s@ %s@]" (String.make 40 'a') (String.make 40 'b') (String.make 40 'c'));
  Format.printf "@[<v 2>{@,%a@]@,}@." (Format.pp_print_list ~pp_sep:(fun f () -> Format.fprintf f ";@,") Format.pp_print_float) [1.;2.5;nan];
  Format.printf "%a@." Format.(pp_print_option pp_print_int) (Some 3);
  Format.printf "@[%d@;<1 2>%s@\n%5.2f@]@?\n" 1 "x" 2.;
  (try Scanf.sscanf "12 abc 3.5 0x1F 'c' \"str\\n\" true" " %d %s %f %i %C %S %B" (fun a b c d e f g -> p "%d %s %f %d %c %s %b\n" a b c d e f g) with e -> print_endline (Printexc.to_string e));
  (try Scanf.sscanf "zz" "%d" (fun _ -> ()) with e -> print_endline (Printexc.to_string e));
  (try Scanf.sscanf "99999999999999999999" "%d" (fun _ -> ()) with e -> print_endline (Printexc.to_string e));
  (try Scanf.sscanf "-9223372036854775808 1e3 0b11" "%Ld %g %i" (fun a b c -> p "%Ld %g %d\n" a b c) with e -> print_endline (Printexc.to_string e));
  Scanf.sscanf "a,b,,c" "%[^,],%[^,],%[^,],%s" (fun a b c d -> p "<%s><%s><%s><%s>\n" a b c d);
  Scanf.sscanf "x=10;y=20" "x=%d;y=%n%l%d" (fun a n l b -> p "%d %d %d %d\n" a n l b);
  List.iter (fun x -> p "%s %s %s %s\n" (string_of_float x) (Float.to_string x) (Printf.sprintf "%.17g" x) (Printf.sprintf "%.12g" x)) [1.; 1.5; 1e16; 123456789012.; 1234567890123.; -0.; nan; 1e300; 0.1 +. 0.2];
  ()
let () = List.iter (fun s -> Printf.printf "%S %s\n" s (try Printf.sprintf "%h" (float_of_string s) with e -> "fail")) ["nan"; "inf"; "-infinity"; "1e400"; "0x"; ""; "."; "1."; ".5"; "1_0.5_"; "0x1p-1080"; "0x1.fffffffffffff8p0"; "0x1.00000000000008p0";"0x1.00000000000018p0"; "1e"; "+1"; "--1"; " 1"; "1 "; "0b1"; "0x1p"; "0x.8"; "0x123456789abcdef01234"; "_1"; "4.9e-324"; "2e-324"; "0xp1"; "NaN"; "INF"; "1_"; "0x1p99999999999999999999";"-0x1p-99999999999999999999"; "0x."; "0x_1"; "_"; "0x1_p_3"; "nan(12)"; "NAN()"; "1\0002"; "\0001"; "0x1.p"; "0x1p+"; "0x1p-"; "0x1pz"; "-"; "+"; "\t1"; "0x 1"; "+0x1"; "-0x1p2"; "0X1P2"; "infin"; "1d"; "1f"; "0x1.8p2f"; "1e5_"; "1e_5"; "1__0"; "-_1"; "0_x1"; "0x1p1.5"; "+nan"; "-nan"; "i_nf"; "0xinf"; "0xnan"; "0x-1";"0x+1"]
let () = List.iter (fun s -> Printf.printf "%S %s\n" s (try Printf.sprintf "%h" (float_of_string s) with e -> "fail")) [" 0x1"; "\n0x2"; "\t-0x1"; " -1"; "\x0b1"; " nan"; "_ 1"; " _1"; "\000"; ""];
  let t n f = Printf.printf "%s: %s\n" n (try f () with e -> Printexc.to_string e) in
  List.iter (fun f -> List.iter (fun s -> t "h" (fun () -> s f)) [Printf.sprintf "%h"; Printf.sprintf "%+h"; Printf.sprintf "% h"; Printf.sprintf "%H"; Printf.sprintf "%+H"; Printf.sprintf "%.3h"; Printf.sprintf "%012h"; Printf.sprintf "%-12h|"; Printf.sprintf "%.70h"; Printf.sprintf "%.14h"; Printf.sprintf "%.13h"]) [nan; -. nan; infinity; neg_infinity; 0.; -0.; 1.; -1.5; 1e-320; 0x1.ffffffp0];
  t "create" (fun () -> string_of_int (Array.length (Array.create_float (-1))));
  t "create" (fun () -> string_of_int (Float.Array.length (Float.Array.create (-1))));
  t "create" (fun () -> string_of_int (Float.Array.length (Float.Array.make (-1) 0.)));
  t "create" (fun () -> string_of_int (Float.Array.length (Float.Array.create (1 lsl 53))))
