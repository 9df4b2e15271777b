(* Printf, Format and Scanf: every conversion, boxes, tags, margins, what scanning refuses. *)
let p = Printf.printf
let try_ name f = try f () with e -> p "%s: %s\n%!" name (Printexc.to_string e)
let ints = [0; 1; -1; 42; -42; max_int; min_int]
let () =
  List.iter (fun i ->
    p "%d|%i|%u|%x|%X|%o|%5d|%-5d|%05d|%+d|% d|%#x|%#X|%#o|%#d\n" i i i i i i i i i i i i i i i)
        ints;
  List.iter (fun i -> let i = Int32.of_int i in
    p "%ld|%li|%lu|%lx|%lX|%lo|%12ld|%-12ld|%012ld|%+ld|% ld|%#lx\n" i i i i i i i i i i i i)
        ints;
  List.iter (fun i -> let n = Nativeint.of_int i and l = Int64.of_int i in
    p "%nd|%nu|%nx|%no|%Ld|%Lu|%Lx|%LX|%Lo|%22Ld|%-22Ld|%+Ld|%#Lx\n" n n n n l l l l l l l l l)
        ints;
  p "%Lx %Ld %nx %lx\n" Int64.min_int Int64.max_int Nativeint.min_int Int32.min_int;
  List.iter (fun f -> p
      "%f|%F|%e|%E|%g|%G|%h|%H|%.3f|%10.2f|%-10.2f|%+.1e|%010.3f|%#F|%.0f|%.15g\n"
    f f f f f f f f f f f f f f f f) [0.; -0.; 1.; -2.5; 1e23; 1e-7; nan; infinity; neg_infinity;
        0x1p-1074];
  p "%s|%10s|%-10s|%S|%c|%C|%B|%b|%%|%@|%a|%t\n" "s" "s" "s" "s\n\"\127\200" 'c' '\n' true false
    (fun oc -> Printf.fprintf oc "<%d>") 3 (fun oc -> output_string oc "t");
  p "%*d|%-*d|%.*f|%*.*f\n" 5 3 5 3 2 1.005 8 3 2.5;
  p "%s %s\n" (Printf.sprintf "%(%d %s%)" "%d-%s" 3 "x") (Printf.sprintf "%{%d%s%}" "%i%s");
  try_ "negative precision" (fun () -> p "%.*f\n" (-2) 1.5);
  try_ "negative width" (fun () -> p "%*d|\n" (-7) 3);
  try_ "huge width" (fun () -> p "%d\n" (String.length (Printf.sprintf "%*d" 100000 3)));
  let b = Buffer.create 3 in
  Printf.bprintf b "%d%s" 1 "x"; Printf.ikfprintf (fun _ -> p "ik\n") b "%d" 3;
  Printf.kbprintf (fun b -> p "kb %s\n" (Buffer.contents b)) b "%c" 'q';
  Printf.ksprintf (p "ks %s\n") "%d" 7;
  List.iter (fun s -> try_ s (fun () -> p "%s\n" (string_of_format (Scanf.format_from_string s
      "%d"))))
    ["%d"; "x%iy"; "%s"; "%d%d"; "%"; "%5d"; "%ld"; "%!"]

open Format
let () =
  let module F = Format in
  let tag_funs = { mark_open_stag = (function String_tag s -> "<" ^ s ^ ">" | _ -> "<?>");
    mark_close_stag = (function String_tag s -> "</" ^ s ^ ">" | _ -> "</?>");
    print_open_stag = (fun _ -> ()); print_close_stag = ignore } in
  for margin = 10 to 40 do
    if margin mod 6 = 4 then begin
      let b = Buffer.create 100 in
      let f = formatter_of_buffer b in
      pp_set_margin f margin;
      pp_set_formatter_stag_functions f tag_funs; pp_set_tags f true;
      fprintf f "@[<hov 2>let x =@ @{<b>f %d@}@ (fun y ->@ @[<v>y;@,z;@,@[<h>a@ b@ c@]@])@]@."
          margin;
      fprintf f "@[<hv 1>[%a]@]@." (pp_print_list ~pp_sep:(fun f () -> fprintf f ";@ ")
          pp_print_int)
        [1; 22; 333; 4444; 55555];
      fprintf f "@[<b 3>%a@]@." (pp_print_seq ~pp_sep:pp_print_space pp_print_string)
        (List.to_seq ["alpha"; "beta"; "gamma"; "delta"]);
      pp_open_tbox f (); pp_set_tab f (); fprintf f "one    "; pp_set_tab f (); fprintf f "two";
          pp_print_tab f ();
      fprintf f "three"; pp_close_tbox f (); pp_print_newline f ();
      fprintf f "%a %a %a@." (pp_print_option ~none:(fun f () -> fprintf f "-") pp_print_float)
          (Some 1.5)
        (pp_print_result ~ok:pp_print_int ~error:pp_print_string) (Error "e")
        (pp_print_either ~left:pp_print_int ~right:pp_print_bool) (Either.Right true);
      fprintf f "%a|%a@." pp_print_text "some words\nof text here" (pp_print_array
          ~pp_sep:pp_print_cut pp_print_char) [|'a'; 'b'|];
      pp_set_max_boxes f 3; pp_set_ellipsis_text f "...";
      fprintf f "@[1@[2@[3@[4@[5@]@]@]@]@]@.";
      p "margin %d, %d\n%s" (pp_get_margin f ()) (pp_get_max_indent f ()) (Buffer.contents b)
    end
  done;
  p "%s\n" (F.asprintf "@[<v 2>%s@,%a@]" "x" (fun f -> fprintf f "%05d") 3);
  p "%s\n" (F.asprintf "a%tb" (fun f -> pp_print_custom_break f ~fits:("(", 2, ")") ~breaks:("[",
      1, "]")));
  let out, flush = Stdlib.Buffer.create 3, fun () -> p "flushed\n" in
  let f = make_formatter (Buffer.add_substring out) flush in
  fprintf f "a@ b@?"; p "%S\n" (Buffer.contents out);
  try_ "margin" (fun () -> pp_set_geometry f ~max_indent:30 ~margin:20);
  p "%b\n" (pp_safe_set_geometry f ~max_indent:30 ~margin:20; check_geometry { max_indent = 30;
      margin = 20 });
  let sob = make_symbolic_output_buffer () in
  let f = formatter_of_symbolic_output_buffer sob in
  fprintf f "@[x@ y@\nz@]@.";
  List.iter (function
    | Output_flush -> p "flush " | Output_newline -> p "nl " | Output_string s -> p "%S " s
    | Output_spaces n -> p "sp%d " n | Output_indent n -> p "in%d " n)
        (flush_symbolic_output_buffer sob);
  p "\n"

open Scanf
let scan s fmt k = try_ s (fun () -> sscanf s fmt k)
let () =
  scan "12 -0x1f 0o17 0b11 077" "%d %i %i %i %i%!" (p "%d %d %d %d %d\n");
  scan "ff 17 4294967295" "%x %o %u" (p "%d %d %d\n");
  scan "1l 2" "%ldl %Ld" (p "%ld %Ld\n");
  scan "2147483648" "%ld" (p "%ld\n"); scan "9223372036854775808" "%Ld" (p "%Ld\n");
  scan "4611686018427387904" "%d" (p "%d\n"); scan "-4611686018427387904" "%d" (p "%d\n");
  scan "1.5e3 -.5 0x1.8p1 nan infinity" "%f %f %h %F" (fun a b c _ -> p "%g %g %g\n" a b c);
  scan "1.5e3 3. 0x1.8p1" "%f %F %h" (p "%g %g %g\n");
  scan "nan" "%f" (p "%f\n"); scan "1e999" "%g" (p "%g\n"); scan "1_000" "%d" (p "%d\n");
  scan "abc def" "%3s%c%[d-f]" (p "%s|%c|%s\n"); scan "\"a\\n\\065\\x41\\u{e9}\\\n  b\" 'x' '\\''"
      "%S %C %C" (p "%S %C %C\n");
  scan "true false" "%B %b" (p "%b %b\n"); scan "maybe" "%B" (p "%b\n");
  scan "key=val;rest" "%s@=%s@;%n" (p "%s %s %d\n");
  scan "12abc" "%2d%0c%s" (fun a _ s -> p "%d %s\n" a s);
  scan "a b\n c" "%s %l%s %N%n" (fun a l b n m -> p "%s %d %s %d %d\n" a l b n m);
  scan "x" "%d" (p "%d\n"); scan "" "%d" (p "%d\n"); scan "" "%s" (p "%S\n");
      scan "" "%c" (p "%C\n");
  scan "\"abc" "%S" (p "%S\n"); scan "'ab'" "%C" (p "%C\n"); scan "\"\\400\"" "%S" (p "%S\n");
  scan "5 x" "%d y" (p "%d\n"); scan "12 rest" "%d%!" (p "%d\n");
      scan "123456" "%3d%3d" (p "%d %d\n");
  scan "]-^" "%[]^-]" (p "%s\n"); scan "abc" "%[^b]" (p "%s\n"); scan "%@" "%%%@" ();
  scan "17 skip 18" "%d %_s %d" (p "%d %d\n");
  scan "\"%d-%s\" 7 s" "%{%d %s%}" (fun f -> p "%s\n" (string_of_format f));
  p "%d %S\n" (sscanf_opt "7" "%d" Fun.id |> Option.get) (unescaped "a\\tb");
  p "%b\n" (sscanf_opt "z" "%d" Fun.id = None);
  try_ "unescaped" (fun () -> p "%s\n" (unescaped "\\q"));
  let ib = Scanning.from_string "1 2 3 four" in
  (try while true do bscanf ib " %d" (p "<%d>") done with Scan_failure s -> p "%s\n" s |
      End_of_file -> p "eof\n");
  p "%b %s\n" (Scanning.end_of_input ib) (Scanning.name_of_input ib);
  let n = ref 0 in
  let ib = Scanning.from_function (fun () -> incr n; if !n > 5 then raise End_of_file else
      Char.chr (47 + !n)) in
  bscanf ib "%d" (p "%d\n");
  kscanf (Scanning.from_string "q") (fun _ e -> p "handler %s\n" (Printexc.to_string e)) "%d" (p
      "%d\n")
