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

let () =
  match Sys.argv.(1) with
  | "order" -> order ()
  | "race" -> race ()
  | "deadlock" -> deadlock ()
  | _ -> queue ()
