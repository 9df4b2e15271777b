(* Maps, sets, buffers, formats, objects, lazy values: few allocations of many kinds. *)
module M = Map.Make (String)
module S = Set.Make (Int)

let words = [ "ship"; "oar"; "mast"; "sail"; "keel"; "oar"; "rope"; "mast" ]
let tally = List.fold_left (fun m w -> M.update w (function None -> Some 1 | Some n -> Some (n + 1)) m) M.empty

let show m =
  let b = Buffer.create 4 in
  M.iter (fun k n -> Buffer.add_string b (Printf.sprintf "%s=%d;" k n)) m;
  Buffer.contents b

type shape = Circle of float | Box of { w : float; h : float } | Group of shape list

let rec area = function
  | Circle r -> 3.14 *. r *. r
  | Box { w; h } -> w *. h
  | Group l -> List.fold_left (fun a s -> a +. area s) 0. l

let rec scale k = function
  | Circle r -> Circle (r *. k)
  | Box { w; h } -> Box { w = w *. k; h = h *. k }
  | Group l -> Group (List.map (scale k) l)

class counter start = object (self)
  val mutable log = []
  val mutable n = start
  method step k = n <- n + k; log <- (k, n) :: log; self
  method show = String.concat "," (List.rev_map (fun (k, n) -> Printf.sprintf "%d:%d" k n) log)
end

let [@inline never] pair a b = (a, b)
let [@inline never] six a b c d e f =
  let x = pair a b in
  let y = pair c d in
  let z = pair e f in
  let t = [| x; y; z |] in
  let u = Array.map (fun (p, q) -> p ^ q) t in
  String.concat "-" (Array.to_list u) ^ fst x ^ snd y ^ fst z

let () =
  print_endline (show (tally words));
  let s = List.fold_left (fun s x -> S.add (x * x mod 17) s) S.empty [ 3; 1; 4; 1; 5; 9; 2; 6 ] in
  print_endline (String.concat " " (List.map string_of_int (S.elements (S.union s (S.of_list [ 20; 21 ])))));
  Printf.printf "%.3f\n" (area (scale 2. (Group [ Circle 1.; Box { w = 2.; h = 3. }; Group [ Circle 0.5 ] ])));
  print_endline ((((new counter 3)#step 4)#step 5)#show);
  print_endline (six "a" "b" "c" "d" "e" "f");
  let l = lazy (List.init 5 (fun i -> (i, string_of_int (i * i)))) in
  Format.printf "@[<h>%a@]@." (Format.pp_print_list (fun f (i, s) -> Format.fprintf f "(%d %s)" i s)) (Lazy.force l);
  let a = Array.init 9 (fun i -> (i * 7 mod 9, string_of_int i)) in
  Array.sort compare a;
  Array.iter (fun (i, s) -> Printf.printf "%d%s " i s) a;
  print_newline ();
  let q = Queue.create () in
  List.iter (fun w -> Queue.add (String.uppercase_ascii w) q) words;
  print_endline (Queue.fold (fun a w -> a ^ w) "" q);
  print_endline (String.concat "|" (List.sort_uniq compare words))
