(* System threads of one domain: each has its fibers, C stack link and save areas;
   switches happen at polls, in collections and in blocking C calls. *)
let check = Report.check

exception Mine of int

let rec deep n = if n = 0 then raise (Mine 7) else 1 + deep (n - 1)

let worker seed =
  let sum = ref 0 in
  for i = 1 to 60 do
    let l = List.init 200 (fun j -> string_of_int (i + j + seed)) in
    if i mod 7 = 0 then Thread.yield ();
    if i mod 20 = 0 then Thread.delay 0.001;
    (try ignore (deep 500) with Mine n -> sum := !sum + n);
    let r, _ = Fibers.with_state i (fun () -> Fibers.pass (fun () -> Effect.perform Fibers.Get)) in
    sum := !sum + r;
    List.iteri (fun j s -> if int_of_string s <> i + j + seed then sum := -1_000_000) l
  done;
  !sum

let run () =
  let results = Array.make 4 0 in
  let threads = List.init 4 (fun i -> Thread.create (fun () -> results.(i) <- worker i) ()) in
  List.iter Thread.join threads;
  check "threads" (Array.for_all (( = ) ((7 * 60) + (60 * 61 / 2))) results);
  let m = Mutex.create () and c = Condition.create () and turn = ref 0 in
  let player me =
    for _ = 1 to 50 do
      Mutex.lock m;
      while !turn mod 2 <> me do Condition.wait c m done;
      incr turn;
      ignore (Sys.opaque_identity (Bytes.create 1000));
      Condition.broadcast c;
      Mutex.unlock m
    done in
  let ts = List.init 2 (fun i -> Thread.create player i) in
  List.iter Thread.join ts;
  check "two threads take turns" (!turn = 100);
  let t = Thread.create (fun () -> match Deep.forever 0 with _ -> () | exception Stack_overflow -> turn := 1) () in
  Thread.join t;
  check "overflow in a thread" (!turn = 1)
