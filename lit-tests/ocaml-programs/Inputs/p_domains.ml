(* Domains: parallel work, atomics, mutexes, domain-local state. *)
(* Every minor collection stops all domains: less work with a tiny nursery. *)
let rounds = if (Gc.get ()).minor_heap_size < 1000 then 200 else 20000

let work seed =
  let rec go i acc = if i = 0 then acc else go (i - 1) (List.rev_append [ i; seed ] (List.filteri (fun k _ -> k < 5) acc)) in
  List.fold_left ( + ) 0 (go rounds [])

let () =
  let ds = List.init 3 (fun i -> Domain.spawn (fun () -> work i)) in
  print_endline (String.concat " " (List.map (fun d -> string_of_int (Domain.join d)) ds));
  let a = Atomic.make 0 in
  let ds = List.init 3 (fun _ -> Domain.spawn (fun () -> for _ = 1 to 1000 do Atomic.incr a done)) in
  List.iter Domain.join ds;
  Printf.printf "%d\n" (Atomic.get a);
  let m = Mutex.create () and c = ref 0 in
  let ds = List.init 2 (fun _ -> Domain.spawn (fun () -> for _ = 1 to 500 do Mutex.lock m; c := !c + 1; Mutex.unlock m done)) in
  List.iter Domain.join ds;
  Printf.printf "%d\n" !c;
  let key = Domain.DLS.new_key (fun () -> 42) in
  Domain.DLS.set key 7;
  let other = Domain.join (Domain.spawn (fun () -> Domain.DLS.get key)) in
  Printf.printf "%d %d\n" (Domain.DLS.get key) other;
  let b = Atomic.make [] in
  let rec push x = let l = Atomic.get b in if not (Atomic.compare_and_set b l (x :: l)) then push x in
  let ds = List.init 2 (fun i -> Domain.spawn (fun () -> for k = 1 to 300 do push ((i * 1000) + k) done)) in
  List.iter Domain.join ds;
  Printf.printf "%d %d\n" (List.length (Atomic.get b)) (List.fold_left ( + ) 0 (Atomic.get b));
  match Domain.join (Domain.spawn (fun () -> if Atomic.get a > 0 then failwith "in domain" else 0)) with
  | n -> Printf.printf "%d\n" n
  | exception Failure s -> print_endline s
