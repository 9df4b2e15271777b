(* Channels that are closed, unbuffered, or full. *)
let try_ name f = try f () with e -> Printf.printf "%s: %s\n%!" name (Printexc.to_string e)
let go n unbuf = let oc = open_out "clo.tmp" in if unbuf then Out_channel.set_buffered oc false;
    output_string oc (String.make n 'x'); close_out oc;
  let pos () = try_ "pos" (fun () -> Printf.printf "%d\n" (pos_out oc)) in
  pos (); try_ "out" (fun () -> output_char oc 'x'; print_endline "ok"); pos ();
      try_ "out" (fun () -> output_char oc 'x';print_endline "ok"); pos ();
      try_ "str" (fun () -> output_string oc "abc";print_endline "ok"); pos ();
  try_ "byte" (fun () -> output_byte oc 3;print_endline "ok");
      try_ "int" (fun () -> output_binary_int oc 3;print_endline "ok"); pos ();
      try_ "empty" (fun () -> output_string oc ""; print_endline "ok");
      try_ "flush" (fun () -> flush oc; print_endline "ok"); try_ "seek" (fun () -> seek_out oc 1;
      print_endline "ok"); pos ();
  try_ "len" (fun () -> Printf.printf "%d\n" (out_channel_length oc));
      try_ "close" (fun () -> close_out oc; print_endline "ok");
      try_ "bin" (fun () -> set_binary_mode_out oc true; print_endline "ok");
      try_ "fd" (fun () -> ignore (Unix.descr_of_out_channel oc); print_endline "ok");
      try_ "buf" (fun () -> Out_channel.set_buffered oc true; Out_channel.set_buffered oc false;
      print_endline "ok");
  try_ "marshal" (fun () -> output_value oc 3;print_endline "ok")
let gi n = let oc = open_out "clo.tmp" in output_string oc (String.make n 'x'); close_out oc;
    let ic = open_in "clo.tmp" in ignore (input_char ic); let pos () = try_ "ipos"
    (fun () -> Printf.printf "%d\n" (pos_in ic)) in
  close_in ic; pos (); List.iter (fun (s, f) -> try_ s (fun () -> f (); print_endline "ok");
      pos ()) ["char", (fun () -> ignore (input_char ic)); "byte",
      (fun () -> ignore (input_byte ic)); "line", (fun () -> ignore (input_line ic));
      "seek", (fun () -> seek_in ic 2); "seek", (fun () -> seek_in ic (n - 1));
      "char", (fun () -> ignore (input_char ic)); "in", (fun () -> ignore (input ic (Bytes.create
      3) 0 3)); "in0", (fun () -> ignore (input ic (Bytes.create 3) 0 0));
      "int", (fun () -> ignore (input_binary_int ic)); "val", (fun () -> ignore (input_value ic));
      "len", (fun () -> ignore (in_channel_length ic)); "close", (fun () -> close_in ic);
      "fd", (fun () -> ignore (Unix.descr_of_in_channel ic))]
let () = go 5 false; go 5 true; go 0 false; go 70000 false; gi 10; gi 70000
let () = let oc = open_out "clo.tmp" in Out_channel.set_buffered oc false; output_value oc [1; 2;
    3]; Printf.printf "%d\n" (Unix.stat "clo.tmp").st_size; output_binary_int oc 3;
    Printf.printf "%d\n" (Unix.stat "clo.tmp").st_size; close_out oc;
  try_ "fun" (fun () -> output_value oc (fun x -> x)); let oc = open_out "/dev/full" in
      output_string oc "x"; try_ "full" (fun () -> close_out oc);
      try_ "full" (fun () -> close_out oc);  try_ "full" (fun () -> output_string oc "y";
      print_endline "ok"); let oc = open_out "/dev/full" in output_string oc "x";
      close_out_noerr oc; try_ "full" (fun () -> flush oc; print_endline "ok");
      let oc = open_out "/dev/full" in output_string oc "x"; try_ "full" (fun () -> flush oc);
      try_ "full" (fun () -> output_string oc (String.make 70000 'q'));
      Printf.printf "%d\n" (pos_out oc); close_out_noerr oc
