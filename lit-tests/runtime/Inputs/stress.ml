(* stress SEED SECONDS|Nr [DOMAINS]: domains that come and go do random work on
   private and shared data, and check it. "5r" is five rounds instead of a time.

   A round spawns DOMAINS domains (default 5) at random moments of the life of the
   others. A task is drawn from the table at the end; each knows its result in
   another way than it computes it. The main domain does tasks too. *)
open Effect
open Effect.Deep

let wrong fmt = Printf.ksprintf (fun s -> Printf.printf "WRONG: %s\n%!" s; exit 1) fmt
let check name ok = if not ok then wrong "%s" name

(* --- a domain's own state ------------------------------------------------------- *)

type state = {
  rng : Random.State.t;
  map : (int, string) Hashtbl.t;       (* long-lived: key -> text of the key *)
  mutable finals : int;                (* finalisers to come *)
  finalised : int Atomic.t;
}

let int st n = Random.State.int st.rng n

(* --- shared ------------------------------------------------------------------------ *)

let slots = Array.init 64 (fun i -> Atomic.make (i, string_of_int i)) (* pairs n, text of n *)
let lock = Mutex.create ()
let ledger = Hashtbl.create 64 (* account -> amount; the sum stays 0 *)
let mailbox = Queue.create () and mail = Condition.create ()
let tasks_done = Atomic.make 0

(* --- tasks ----------------------------------------------------------------------------- *)

type tree = Leaf | Node of tree * int * tree
let rec build lo hi =
  if lo >= hi then Leaf
  else let m = (lo + hi) / 2 in Node (build lo m, m, build (m + 1) hi)
let rec sum = function Leaf -> 0 | Node (l, n, r) -> sum l + n + sum r

let trees st =
  let n = 1 + int st 3000 in
  check "tree" (sum (build 0 n) = n * (n - 1) / 2)

let lists st =
  let n = int st 2000 in
  let l = List.init n (fun i -> string_of_int (i * 7)) in
  let l = List.rev_map int_of_string (List.sort compare l) in
  check "list" (List.fold_left ( + ) 0 l = 7 * (n * (n - 1) / 2))

let table st =
  for _ = 1 to 200 do
    let k = int st 500 in
    match Hashtbl.find_opt st.map k with
    | Some s -> check "table" (s = string_of_int k); if int st 2 = 0 then Hashtbl.remove st.map k
    | None -> Hashtbl.replace st.map k (string_of_int k)
  done

let big st = (* major heap, write barrier *)
  let n = 300 + int st 20000 in
  let a = Array.make n None in
  for _ = 1 to 500 do
    let i = int st n in a.(i) <- Some (ref i)
  done;
  Array.iteri (fun i -> function Some r -> check "big" (!r = i) | None -> ()) a;
  let s = Bytes.make (n + 1) 'x' in
  check "bytes" (Bytes.length s = n + 1 && Bytes.get s n = 'x')

(* In compiled code: ThreadSanitizer does not see the Atomic.get that makes the text
   ours, so a primitive of the runtime must not be what reads it. *)
let number s = String.fold_left (fun n c -> (10 * n) + Char.code c - 48) 0 s

let shared st =
  for _ = 1 to 50 do
    let s = slots.(int st 64) in
    let (n, text) as old = Atomic.get s in
    check "slot" (number text = n);
    let n = int st 1_000_000 in
    ignore (Atomic.compare_and_set s old (n, string_of_int n))
  done

let transfer st =
  let move account amount =
    Hashtbl.replace ledger account (amount + Option.value ~default:0 (Hashtbl.find_opt ledger account)) in
  Mutex.protect lock (fun () ->
      let amount = int st 1000 in
      move (int st 50) amount;
      move (int st 50) (-amount);
      check "ledger" (Hashtbl.fold (fun _ n s -> s + n) ledger 0 = 0))

type _ Effect.t += Ask : int -> string Effect.t | Pause : unit Effect.t

let effects st = (* suspended fibers, resumed in another order *)
  let queue = Queue.create () and total = ref 0 in
  let fiber n () =
    for i = 1 to n do
      total := !total + int_of_string (perform (Ask i));
      if i land 3 = 0 then perform Pause
    done
  in
  let run f =
    match_with f () {
      retc = Fun.id; exnc = raise;
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Ask i -> Some (fun (k : (a, _) continuation) -> continue k (string_of_int i))
        | Pause -> Some (fun (k : (a, _) continuation) -> Queue.add (fun () -> continue k ()) queue)
        | _ -> None }
  in
  let sizes = List.init (1 + int st 20) (fun _ -> int st 40) in
  List.iter (fun n -> run (fiber n)) sizes;
  while not (Queue.is_empty queue) do
    if int st 3 = 0 then Queue.add (Queue.pop queue) queue;
    (Queue.pop queue) ()
  done;
  check "effects" (!total = List.fold_left (fun s n -> s + n * (n + 1) / 2) 0 sizes);
  match run (fun () -> perform Pause; raise Exit) with
  | () -> (match (Queue.pop queue) () with () -> wrong "exit" | exception Exit -> ())
  | exception Exit -> wrong "early exit"

let dropped st = (* continuations that nobody resumes *)
  for i = 1 to 1 + int st 20 do
    match_with (fun () -> let r = ref i in perform Pause; incr r) () {
      retc = Fun.id; exnc = raise;
      effc = fun (type a) (e : a Effect.t) -> match e with
        | Pause -> Some (fun (k : (a, _) continuation) -> ignore (Sys.opaque_identity k)) | _ -> None }
  done

let weak st =
  let n = 1 + int st 100 in
  let kept = Array.init n (fun i -> ref i) and w = Weak.create (2 * n) in
  Array.iteri (fun i r -> Weak.set w i (Some r); Weak.set w (n + i) (Some (ref i))) kept;
  let e = Ephemeron.K1.make kept.(0) (string_of_int n) in
  if int st 10 = 0 then Gc.full_major () else Gc.minor ();
  for i = 0 to n - 1 do
    (match Weak.get w i with Some r -> check "weak kept" (r == kept.(i) && !r = i) | None -> wrong "weak lost");
    match Weak.get w (n + i) with Some r -> check "weak value" (!r = i) | None -> ()
  done;
  check "ephemeron" (Ephemeron.K1.query e kept.(0) = Some (string_of_int n));
  ignore (Sys.opaque_identity kept)

let finalisers st =
  let count = st.finalised in
  for i = 1 to 20 do
    let r = ref i in
    if int st 2 = 0 then Gc.finalise (fun r -> if !r = i then Atomic.incr count else wrong "finalise") r
    else Gc.finalise_last (fun () -> Atomic.incr count) r
  done;
  st.finals <- st.finals + 20;
  check "too many finalisers" (Atomic.get count <= st.finals)

let rec deep n = if n = 0 then 0 else 1 + deep (n - 1)
let recursion st =
  let n = int st 200_000 in
  check "deep" (deep n = n);
  check "exceptions" (match List.iter (fun i -> if i = n then raise Not_found) [ 1; 2; n; 3 ] with
    | () -> false | exception Not_found -> true)

let threads st =
  let total = ref 0 and m = Mutex.create () in
  let worker k () =
    for i = 1 to 50 do
      let s = String.length (string_of_int (i * 1000)) in
      Mutex.protect m (fun () -> total := !total + (s * k));
      if i land 7 = 0 then Thread.yield ()
    done
  in
  let ts = List.init (1 + int st 4) (fun k -> Thread.create (worker (k + 1)) ()) in
  List.iter Thread.join ts;
  let one = List.fold_left (fun s i -> s + String.length (string_of_int (i * 1000))) 0 (List.init 50 succ) in
  let n = List.length ts in
  check "threads" (!total = one * (n * (n + 1) / 2))

let post st =
  let n = int st 1000 in
  Mutex.protect lock (fun () -> Queue.add (n, string_of_int n) mailbox; Condition.signal mail);
  Mutex.protect lock (fun () ->
      while Queue.is_empty mailbox do Condition.wait mail lock done;
      let n, s = Queue.pop mailbox in
      check "mail" (int_of_string s = n))

let text st =
  let b = Buffer.create 16 and n = int st 300 in
  for i = 0 to n do Printf.bprintf b "%d;%.1f|" i (float i) done;
  let parts = String.split_on_char '|' (Buffer.contents b) in
  check "text" (List.length parts = n + 2);
  let v = (n, Buffer.contents b, [| Some 1.5; None |]) in
  check "marshal" (Marshal.from_string (Marshal.to_string v []) 0 = v)

let collect st =
  match int st 40 with
  | 0 -> Gc.compact ()
  | 1 -> Gc.full_major ()
  | 2 -> ignore (Gc.quick_stat ())
  | 3 -> Gc.set { (Gc.get ()) with minor_heap_size = 4096 lsl int st 6 }
  | _ -> Gc.minor ()

let table_of_tasks = [| trees; lists; table; big; shared; transfer; effects; dropped; weak;
                        finalisers; recursion; threads; post; text; collect |]

(* --- life ---------------------------------------------------------------------------------- *)

let state seed = { rng = Random.State.make [| seed |]; map = Hashtbl.create 16;
                   finals = 0; finalised = Atomic.make 0 }

let tasks st n =
  for _ = 1 to n do
    table_of_tasks.(int st (Array.length table_of_tasks)) st;
    Atomic.incr tasks_done
  done

let life seed () =
  let st = state seed in
  let n = 1 + int st 40 in
  tasks st n;
  if int st 4 = 0 then check "child" (Domain.join (Domain.spawn (fun () -> trees (state (seed + 1)); seed)) = seed);
  if int st 8 = 0 then raise (Failure (string_of_int seed)) else seed

let round st domains =
  let started = List.init domains (fun _ ->
      let seed = int st 1_000_000_000 in
      if int st 3 = 0 then tasks st 1;
      seed, Domain.spawn (life seed))
  in
  tasks st 3;
  List.iter (fun (seed, d) ->
      match Domain.join d with
      | n -> check "result" (n = seed)
      | exception Failure s -> check "exception" (s = string_of_int seed))
    started

let () =
  let arg i default = if Array.length Sys.argv > i then Sys.argv.(i) else default in
  let seed = int_of_string (arg 1 "1") and limit = arg 2 "5r" and domains = int_of_string (arg 3 "5") in
  let st = state seed and start = Unix.gettimeofday () and rounds = ref 0 in
  let more = match Scanf.sscanf_opt limit "%dr%!" Fun.id with
    | Some n -> fun () -> !rounds < n
    | None -> let s = float_of_string limit in fun () -> Unix.gettimeofday () -. start < s
  in
  while more () do round st domains; incr rounds done;
  Array.iter (fun s -> let n, text = Atomic.get s in check "slot at the end" (number text = n)) slots;
  check "ledger at the end" (Hashtbl.fold (fun _ n s -> s + n) ledger 0 = 0);
  Printf.printf "seed %d: %d rounds, %d tasks: right\n" seed !rounds (Atomic.get tasks_done)
