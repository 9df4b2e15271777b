(* Channels and files: errors, closed channels, long names, names with zeros, many of them. *)
(* channels, Sys *)
let p = Printf.printf
let t n f = p "%s: %s\n" n (try f () with e -> "EXN " ^ Printexc.to_string e)
let () =
  
  let f = Filename.temp_file "fk" ".txt" in
  let oc = open_out_bin f in
  for i = 0 to 70000 do output_string oc (string_of_int i ^ "\n") done;
  t "pos" (fun () -> string_of_int (pos_out oc));
  t "len" (fun () -> string_of_int (out_channel_length oc));
  seek_out oc 5; output_char oc 'X';
  t "pos" (fun () -> string_of_int (pos_out oc));
  output_binary_int oc (-5); output_byte oc 300; close_out oc;
  t "close2" (fun () -> close_out oc; "ok");
  t "write closed" (fun () -> output_char oc 'c'; flush oc; "ok");
  t "noerr" (fun () -> close_out_noerr oc; "ok");
  t "closed str" (fun () -> output_string oc "abc"; "ok");  t "closed seek" (fun () -> seek_out oc 0; "ok");
  t "closed len" (fun () -> string_of_int (out_channel_length oc));
  t "flush closed" (fun () -> flush oc; "ok");
  let ic = open_in_bin f in
  t "line" (fun () -> input_line ic);
  t "pos" (fun () -> string_of_int (pos_in ic)); seek_in ic 5;
  t "c" (fun () -> String.make 1 (input_char ic));
  t "bi" (fun () -> string_of_int (input_binary_int ic));
  t "b" (fun () -> string_of_int (input_byte ic));
  t "ris" (fun () -> really_input_string ic 10 |> String.escaped);
  t "ris2" (fun () -> really_input_string ic 10000000);
  t "neg" (fun () -> really_input_string ic (-1));
  t "inp" (fun () -> string_of_int (input ic (Bytes.create 3) 2 5));
  seek_in ic (in_channel_length ic);
  t "eof" (fun () -> input_line ic);
  t "eofc" (fun () -> String.make 1 (input_char ic));
  t "bi eof" (fun () -> string_of_int (input_binary_int ic));
  t "seek neg" (fun () -> seek_in ic (-5); "ok"); close_in ic;
  t "closed" (fun () -> input_line ic);
  t "closed len" (fun () -> string_of_int (in_channel_length ic));
  t "seek closed" (fun () -> seek_in ic 3; "ok");
  t "cl2" (fun () -> close_in ic; "ok");
  t "long line" (fun () -> let oc = open_out f in output_string oc (String.make 200000 'l'); output_string oc "\nend"; close_out oc; let ic = open_in f in let a = input_line ic in let b = input_line ic in close_in ic; Printf.sprintf "%d %s" (String.length a) b);
  t "append" (fun () -> let oc = open_out_gen [Open_append; Open_wronly; Open_text] 0 f in output_string oc "more";
  p "%d " (pos_out oc); close_out oc; let ic = open_in f in let n = in_channel_length ic in close_in ic; string_of_int n);
  
  t "nonexist" (fun () -> close_in (open_in "/nonexistent/x"); "ok");
  t "dir" (fun () -> let ic = open_in "/tmp" in let s = input_line ic in s);
  t "exists" (fun () -> string_of_bool (Sys.file_exists f));
  t "isdir" (fun () -> string_of_bool (Sys.is_directory f));
  t "isreg" (fun () -> string_of_bool (Sys.is_regular_file f));
  t "isdir2" (fun () -> string_of_bool (Sys.is_directory "/nonexistent"));
  t "rename" (fun () -> Sys.rename f (f ^ "2"); string_of_bool (Sys.file_exists f));
  t "remove" (fun () -> Sys.remove (f ^ "2"); "ok");
  t "remove2" (fun () -> try Sys.remove "/nonexistent/q"; "ok" with Sys_error s -> s);
  t "mkdir" (fun () -> Sys.mkdir f 0o755; Sys.mkdir (f ^ "/a") 0o700; String.concat "," (Array.to_list (Sys.readdir f)));
  t "mkdir2" (fun () -> try Sys.mkdir "/tmp" 0o755; "" with Sys_error s -> s);
  t "rmdir" (fun () -> Sys.rmdir (f ^ "/a"); Sys.rmdir f; "ok");
  t "chdir" (fun () -> Sys.chdir "/tmp"; Sys.getcwd ());
  t "chdir2" (fun () -> Sys.chdir "/nonexistent"; "");
  t "readdir" (fun () -> ignore (Sys.readdir "/nonexistent"); ""); 
  t "getenv" (fun () -> Sys.getenv "FK_NONE");
  t "putenv" (fun () -> "x") ;
  t "cmd" (fun () -> string_of_int (Sys.command "exit 3"));
  t "cmd2" (fun () -> string_of_int (Sys.command "true"));
  t "nul" (fun () -> close_in (open_in "a\000b"); "ok");
  t "nulcmd" (fun () -> string_of_int (Sys.command "a\000b"));
  t "nulrm" (fun () -> Sys.remove "a\000"; "");
  p "%d %b %s %d %s %b %d\n" Sys.word_size Sys.big_endian Sys.os_type Sys.int_size Sys.ocaml_version Sys.unix (Sys.max_string_length);
  p "%b %b\n" (Sys.time () >= 0.) (match Sys.backend_type with Native -> true | _ -> false);
  p "%s\n" (Sys.runtime_variant ());
  p "%s\n" (Sys.runtime_parameters () |> fun s -> String.sub s 0 2);
  t "sigs" (fun () -> Printf.sprintf "%d %d %d" Sys.sigint Sys.sigusr1 Sys.sigvtalrm);
  t "cb" (fun () -> Sys.signal 9 Sys.Signal_ignore |> ignore; "ok");
  t "cb" (fun () -> Sys.signal 1000 Sys.Signal_ignore |> ignore; "ok");
   set_binary_mode_out stdout true;
  p "%b %b\n" (Out_channel.is_binary_mode stdout) (Out_channel.is_buffered stderr); Out_channel.set_buffered stderr false;
  p "%b\n" (Out_channel.is_buffered stderr); Out_channel.set_buffered stderr true;
  t "isatty" (fun () -> string_of_bool (Out_channel.isatty stdout));
  t "dg" (fun () -> Digest.to_hex (Digest.file "/nonexistent"));
  t "dg" (fun () -> Digest.to_hex (Digest.substring "abcdef" 1 4));
  t "dg" (fun () -> Digest.to_hex (Digest.substring "abcdef" 3 4));
  t "b2" (fun () -> Digest.BLAKE256.to_hex (Digest.BLAKE256.string "abc"));
  t "b512" (fun () -> Digest.BLAKE512.to_hex (Digest.BLAKE512.string (String.make 1000 'q')));
  t "b128" (fun () -> Digest.BLAKE128.to_hex (Digest.BLAKE128.string ""));
  t "dgch" (fun () -> let f = Filename.temp_file "a" "b" in let oc = open_out f in output_string oc (String.make 100000 'd'); close_out oc; let ic = open_in f in let a = Digest.to_hex (Digest.channel ic 10) in let b = Digest.to_hex (Digest.channel ic (-1)) in close_in ic; let c = Digest.to_hex (Digest.BLAKE256.file f) in Sys.remove f; a ^ b ^ c); 
  prerr_endline "to stderr"; output stdout (Bytes.of_string "abcdef") 2 3;
  t "outbad" (fun () -> output stdout (Bytes.create 2) 1 5; "");
  t "subs" (fun () -> output_substring stdout "abc" 2 2; "");
  t "bigarr" (fun () -> let open Bigarray in let a = Array1.create char c_layout 5 in In_channel.really_input_bigarray (open_in "/dev/null") a 0 1 |> (function None -> "none" | Some () -> "some"));
  t "open huge" (fun () -> ignore (open_in (String.make 100000 'a')); "") ;
  t "many" (fun () -> let l = List.init 300 (fun i -> let oc = open_out "/dev/null" in output_char oc 'c'; oc) in let n = ref 0 in Gc.full_major (); flush_all (); List.iter (fun oc -> n := !n + pos_out oc; close_out oc) l; string_of_int !n);
  t "readdir" (fun () -> let d = Filename.temp_dir "fk" "d" in for i = 1 to 5000 do close_out (open_out (Filename.concat d (string_of_int i))) done; let a = Sys.readdir d in Array.iter (fun f -> Sys.remove (Filename.concat d f)) a; Sys.rmdir d; string_of_int (Array.length a));
  t "rename nul" (fun () -> Sys.rename "a" "b\000c"; ""); print_string "unflushed"
