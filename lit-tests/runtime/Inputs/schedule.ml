(* What a scheduler decides: the order of steps, a race and a deadlock. *)
let join_all = List.iter Domain.join

(* Domains with two threads each write their names into one buffer. *)
let order () =
  let names = Buffer.create 1000 and lock = Mutex.create () in
  let body who () =
    for i = 1 to 30 do
      ignore (Sys.opaque_identity (string_of_int i));
      Mutex.lock lock;
      Buffer.add_char names who;
      Mutex.unlock lock
    done
  in
  let both who () =
    let t = Thread.create (body who) () in
    body (Char.uppercase_ascii who) ();
    Thread.join t
  in
  join_all (List.map (fun who -> Domain.spawn (both who)) [ 'a'; 'b'; 'c' ]);
  print_endline (Buffer.contents names)

(* Check, then act: between the two another domain may act. *)
let race () =
  let balance = ref 100 in
  let withdraw purpose () =
    ignore (Sys.opaque_identity (List.init 60 string_of_int));
    if !balance >= 100 then begin
      let receipt = Printf.sprintf "%s: %d" purpose 100 in
      balance := !balance - String.length receipt - 90
    end
  in
  join_all [ Domain.spawn (withdraw "rent"); Domain.spawn (withdraw "food") ];
  print_endline (if !balance < 0 then "overdrawn" else "fine")

let deadlock () =
  let a = Mutex.create () and b = Mutex.create () in
  let take first second () =
    for i = 1 to 10 do
      Mutex.protect first (fun () ->
          ignore (Sys.opaque_identity (string_of_int i));
          Mutex.protect second (fun () -> ()))
    done
  in
  join_all [ Domain.spawn (take a b); Domain.spawn (take b a) ];
  print_endline "fine"

(* A condition wakes one waiter, chosen by the seed; a queue hands numbers over. *)
let queue () =
  let m = Mutex.create () and c = Condition.create () and q = Queue.create () in
  let sums = Array.make 3 0 in
  let rec consumer i () =
    let n = Mutex.protect m (fun () ->
        while Queue.is_empty q do Condition.wait c m done;
        Queue.pop q)
    in
    sums.(i) <- sums.(i) + n;
    if n > 0 then consumer i ()
  in
  let consumers = List.init 3 (fun i -> Domain.spawn (consumer i)) in
  for n = 1 to 50 do
    Mutex.protect m (fun () -> Queue.add n q; Condition.signal c)
  done;
  Mutex.protect m (fun () -> for _ = 1 to 3 do Queue.add 0 q done; Condition.broadcast c);
  join_all consumers;
  Printf.printf "%d %d %d = %d\n" sums.(0) sums.(1) sums.(2) (Array.fold_left ( + ) 0 sums)

(* A child has the thread that forked, and goes on with the numbers that the parent goes on with. *)
let fork more =
  let names = Bytes.make 100_000 'm' and length = Atomic.make 0 and stop = Atomic.make false in
  let step who =
    let letter = (Sys.opaque_identity (String.make 1 who)).[0] in
    let at = Atomic.fetch_and_add length 1 in
    if at < Bytes.length names then Bytes.set names at letter in
  let contents () = Bytes.sub_string names 0 (min (Atomic.get length) (Bytes.length names)) in
  let rec endless who () = if not (Atomic.get stop) then (step who; Thread.yield (); endless who ()) in
  let steps who () = for _ = 1 to 20 do step who; Thread.yield () done in
  let others = List.map (fun who -> Thread.create (endless who) ()) [ 'a'; 'b' ] in
  steps 'm' ();
  let show who = print_endline (who ^ contents ()) in
  match Unix.fork () with
  | 0 ->
    Atomic.set length 0;
    let t = if more then Some (Thread.create (steps 'x') ()) else None in
    steps 'c' ();
    Option.iter Thread.join t;
    Gc.full_major ();
    show "child "
  | pid ->
    let before = contents () in
    let ended = snd (Unix.waitpid [] pid) = Unix.WEXITED 0 in
    Atomic.set stop true;
    List.iter Thread.join others;
    print_endline ("parent " ^ before ^ string_of_bool ended)

let () =
  match Sys.argv.(1) with
  | "fork" -> fork false
  | "fork-more" -> fork true
  | "order" -> order ()
  | "race" -> race ()
  | "deadlock" -> deadlock ()
  | _ -> queue ()
