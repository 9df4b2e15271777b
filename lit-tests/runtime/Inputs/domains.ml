let rec fib n = if n < 2 then 1 else fib (n-1) + fib (n-2)
let work i () = let l = ref [] in for k = 0 to 200000 do l := (string_of_int (k*i)) :: !l; if k mod 1000 = 0 then l := [] done; List.length !l + fib 20
let () =
  let ds = List.init 4 (fun i -> Domain.spawn (work i)) in
  List.iter (fun d -> Printf.printf "%d\n" (Domain.join d)) ds;
  let m = Mutex.create () and c = ref 0 and a = Atomic.make 0 in
  let ds = List.init 4 (fun _ -> Domain.spawn (fun () -> for _ = 1 to 10000 do Mutex.lock m; incr c; Mutex.unlock m; Atomic.incr a done)) in
  List.iter Domain.join ds; Printf.printf "%d %d\n" !c (Atomic.get a);
  (try Domain.join (Domain.spawn (fun () -> failwith "boom")) with Failure s -> print_endline s);
  for i = 1 to 50 do ignore (Domain.join (Domain.spawn (fun () -> List.init 1000 string_of_int))) done;
  let k = Domain.DLS.new_key (fun () -> ref 0) in
  Domain.DLS.get k := 5;
  Printf.printf "%d %d\n" !(Domain.DLS.get k) (Domain.join (Domain.spawn (fun () -> !(Domain.DLS.get k))));
  let cv = Condition.create () and flag = ref false in
  let d = Domain.spawn (fun () -> Mutex.lock m; while not !flag do Condition.wait cv m done; Mutex.unlock m; 9) in
  Mutex.lock m; flag := true; Condition.broadcast cv; Mutex.unlock m;
  Printf.printf "%d\n" (Domain.join d)
