type t = A | B of int * string | C of t list | D of float array
let () =
  let v = [A; B (1,"x"); C [A; B (-5, String.make 300 'y'); D [|1.5;2.5|]]; B (max_int, ""); B (1 lsl 30, "q"); B(200,"");B(70000,"")] in
  let s = Marshal.to_string v [] in
  print_endline (Digest.to_hex (Digest.string s)); Printf.printf "%d\n" (String.length s);
  assert (Marshal.from_string s 0 = v);
  let x = [|1;2;3|] in let sh = (x, x, 3L, 4l, 5n, 1.5, [||], [|A|]) in
  let s = Marshal.to_string sh [] in print_endline (String.escaped s);
  let (a,b,c,d,e,f,g,h) = (Marshal.from_string s 0 : int array * int array * int64 * int32 * nativeint * float * int array * t array) in
  Printf.printf "%b %Ld %ld %nd %f\n" (a == b) c d e f;
  print_endline (String.escaped (Marshal.to_string sh [Marshal.No_sharing]));
  print_endline (Digest.to_hex (Digest.string (Marshal.to_string (Array.init 5000 (fun i -> (i, float i))) [])));
  (try ignore (Marshal.to_string (fun x -> x) []) with Invalid_argument s -> print_endline s);
  let oc = open_out_bin "mm" in output_value oc v; output_value oc sh; close_out oc;
  let ic = open_in_bin "mm" in let v' : t list = input_value ic in Printf.printf "%b\n" (v = v'); ignore (input_value ic : Obj.t);
  (try ignore (input_value ic : int) with End_of_file -> print_endline "EOF"); close_in ic; Sys.remove "mm";
  (try ignore (Marshal.from_string (String.make 40 'x') 0 : int) with Failure s -> print_endline s);
  let l = lazy (1+1) in ignore (Lazy.force l); print_endline (String.escaped (Marshal.to_string l []));
  raise (Failure "end")
