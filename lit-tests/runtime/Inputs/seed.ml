type t = { a : int; b : string; c : int list }
let [@inline never] mk i = { a = i; b = string_of_int i; c = [i; i+1; i+2] }
let [@inline never] f x y z = let r = mk x in let s = mk y in let q = [z; r.a] in
  String.length r.b + String.length s.b + List.length q + List.length r.c + s.a
let [@inline never] g n = let p = (n, float n *. 1.5, string_of_int n) in
  let v = f n (n+1) (n+2) in let l = List.map (fun x -> (x, p)) [1;2;v] in
  List.fold_left (fun a (x, (k,fl,s)) -> a + x + k + int_of_float fl + String.length s) 0 l
let rec loop n acc = if n = 0 then acc else loop (n-1) (acc + g n)
type tr = N | T of tr * int * tr
let rec tree d = if d = 0 then N else T (tree (d-1), d, tree (d-1))
let rec sum t = match t with N -> 0 | T (l,x,r) -> let a = sum l in let b = ref (sum r) in a + x + !b
let () = Printf.printf "%d %d\n" (loop 20 0) (sum (tree 5));
  let h = Hashtbl.create 3 in for i = 0 to 30 do Hashtbl.add h (string_of_int i) (mk i) done;
  Printf.printf "%d\n" (Hashtbl.fold (fun k v a -> a + String.length k + v.a + List.length v.c) h 0);
  print_endline (String.concat "," (List.map (fun (a,b) -> a ^ string_of_int b) (List.init 10 (fun i -> (string_of_int i, i*i)))))
