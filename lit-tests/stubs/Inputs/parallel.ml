let check = Report.check

let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let work seed =
  let h = Hashtbl.create 10 in
  for i = 1 to 2_000 do
    Hashtbl.replace h (string_of_int (i * seed)) (List.init 10 (fun j -> i + j))
  done;
  Hashtbl.fold (fun _ l a -> List.fold_left ( + ) a l) h 0

let expected = work 1

let run () =
  let d1 = Domain.spawn (fun () -> work 3) and d2 = Domain.spawn (fun () -> work 5) in
  let own = work 7 in
  check "two domains" (Domain.join d1 = expected && Domain.join d2 = expected && own = expected);
  let d = Domain.spawn (fun () -> if fib 15 = 610 then raise Not_found) in
  check "exception in a domain" (match Domain.join d with () -> false | exception Not_found -> true);
  let n = Atomic.make 0 in
  let ds = List.init 2 (fun _ -> Domain.spawn (fun () ->
      for i = 1 to 2_000 do Atomic.incr n; if i mod 500 = 0 then Gc.minor () done)) in
  List.iter Domain.join ds;
  check "atomics" (Atomic.get n = 4_000);
  let d = Domain.spawn (fun () -> Fibers.state (); Deep.overflow (); true) in
  check "fibers and overflow in a domain" (Domain.join d)
