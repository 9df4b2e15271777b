let m = Mutex.create () and c = Condition.create ()
let total = ref 0
let worker n () = for i = 1 to 2000 do Mutex.lock m; total := !total + String.length (string_of_int (n * i)); Mutex.unlock m; if i mod 100 = 0 then Thread.yield () done
let () =
  let ts = List.init 5 (fun n -> Thread.create (worker n) ()) in
  List.iter Thread.join ts;
  Printf.printf "%d\n" !total;
  let q = Queue.create () in
  let prod = Thread.create (fun () -> for i = 1 to 100 do Mutex.lock m; Queue.add i q; Condition.signal c; Mutex.unlock m done) () in
  let sum = ref 0 and n = ref 0 in
  while !n < 100 do Mutex.lock m; while Queue.is_empty q do Condition.wait c m done; sum := !sum + Queue.pop q; incr n; Mutex.unlock m done;
  Thread.join prod; Printf.printf "%d\n" !sum;
  (* a computing thread gives way *)
  let stop = ref false in
  let t = Thread.create (fun () -> Thread.delay 0.01; stop := true) () in
  let k = ref 0 in while not !stop do incr k; ignore (Sys.opaque_identity (ref !k)) done;
  Thread.join t; print_endline "preempted";
  let d = Domain.spawn (fun () -> let r = ref 0 in let ts = List.init 3 (fun i -> Thread.create (fun () -> r := !r + i) ()) in List.iter Thread.join ts; !r) in
  Printf.printf "%d\n" (Domain.join d);
  Printf.printf "%b\n" (Thread.id (Thread.self ()) >= 0)
