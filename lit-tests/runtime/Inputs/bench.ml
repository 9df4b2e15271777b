(* bench WORK DOMAINS SIZE: the same work in each domain; runtime/bench measures it.
   bench minor SURVIVORS: microseconds of a minor collection that finds so many words. *)
type tree = Leaf | Node of tree * tree
let rec build d = if d = 0 then Leaf else Node (build (d - 1), build (d - 1))
let rec count = function Leaf -> 1 | Node (l, r) -> count l + count r

let trees n =
  let long = build n and total = ref 0 in
  for _ = 1 to 20 do
    total := !total + count (build (n - 2));
    for _ = 1 to 64 do total := !total + count (build (n - 8)) done
  done;
  !total + count long

let lists n =
  let total = ref 0 in
  for round = 1 to 20 do
    let l = List.init n (fun i -> (i * 7919 * round) mod 100003) in
    let l = List.sort compare (List.rev_map (fun x -> x + 1) (List.filter (fun x -> x land 3 > 0) l)) in
    total := !total + List.fold_left (fun a (x, y) -> a + (x lxor y)) 0 (List.combine l (List.map succ l))
  done;
  !total

module M = Map.Make (Int)
let maps n =
  let total = ref 0 and h = Hashtbl.create 16 in
  for round = 1 to 4 do
    let m = ref M.empty in
    for i = 1 to n do m := M.add ((i * 7919 * round) mod 100003) (string_of_int i) !m done;
    M.iter (fun k s -> Hashtbl.replace h (k land 1023) (String.length s)) !m;
    total := !total + M.fold (fun k s a -> a + k + String.length s) (M.map (fun s -> s ^ "x") !m) 0
  done;
  !total + Hashtbl.length h

(* tables for start-up to read *)
let linked () =
  Format.printf "%d" (Scanf.scanf "%d" Fun.id);
  ignore (Random.State.make_self_init (), Marshal.to_string 1 [], Digest.string "", Filename.temp_file, Arg.parse);
  ignore (Ephemeron.K1.make, Weak.create, Queue.create, Stack.create, Seq.empty, Printexc.to_string, Bigarray.int)

let minor survivors =
  let kept = ref [] and best = ref infinity in
  for _ = 1 to 30 do
    kept := [];
    Gc.full_major ();
    for _ = 1 to survivors / 3 do kept := Sys.opaque_identity 1 :: !kept done;
    while Gc.get_minor_free () > 1000 do ignore (Sys.opaque_identity (ref 0)) done;
    let before = Unix.gettimeofday () in
    Gc.minor ();
    best := min !best (Unix.gettimeofday () -. before);
    ignore (Sys.opaque_identity !kept)
  done;
  Printf.printf "%.0f\n" (!best *. 1e6)

let () =
  match Sys.argv with
  | [| _ |] -> ()
  | [| _; "linked" |] -> linked ()
  | [| _; "minor"; survivors |] -> minor (int_of_string survivors)
  | _ ->
    let work = List.assoc Sys.argv.(1) [ "trees", trees; "lists", lists; "maps", maps ] in
    let domains = int_of_string Sys.argv.(2) and n = int_of_string Sys.argv.(3) in
    let others = List.init (domains - 1) (fun _ -> Domain.spawn (fun () -> work n)) in
    let mine = work n in
    Printf.printf "%d\n" (List.fold_left (fun a d -> a + Domain.join d) mine others)
