(* Lists: the classics, with enough garbage to collect. *)
let rec merge a b =
  match a, b with
  | [], l | l, [] -> l
  | x :: xs, y :: ys -> if x <= y then x :: merge xs b else y :: merge a ys

let rec split = function
  | [] -> [], []
  | [ x ] -> [ x ], []
  | x :: y :: r -> let a, b = split r in x :: a, y :: b

let rec sort = function
  | ([] | [ _ ]) as l -> l
  | l -> let a, b = split l in merge (sort a) (sort b)

let rec permutations = function
  | [] -> [ [] ]
  | l -> List.concat_map (fun x -> List.map (fun p -> x :: p) (permutations (List.filter (( <> ) x) l))) l

let random = let s = ref 12345 in fun n -> s := (!s * 1103515245 + 12345) land 0x3fffffff; !s mod n

let () =
  let l = List.init 5000 (fun _ -> random 100000) in
  let s = sort l in
  Printf.printf "sorted %b %d %d\n" (s = List.sort compare l) (List.hd s) (List.nth s 4999);
  Printf.printf "perms %d %d\n" (List.length (permutations [ 1; 2; 3; 4; 5; 6 ]))
    (List.fold_left (fun a p -> a + (List.hd p * List.nth p 5)) 0 (permutations [ 1; 2; 3; 4; 5; 6 ]));
  let assoc = List.mapi (fun i x -> (i, string_of_int x)) [ 10; 20; 30 ] in
  print_endline (String.concat ";" (List.map (fun (i, s) -> Printf.sprintf "%d=%s" i s) assoc));
  let evens, odds = List.partition (fun x -> x land 1 = 0) l in
  Printf.printf "partition %d %d\n" (List.length evens) (List.length odds);
  Printf.printf "rev %d\n" (List.fold_right (fun x a -> (x + (31 * a)) land 0xffffff) (List.rev l) 7)
