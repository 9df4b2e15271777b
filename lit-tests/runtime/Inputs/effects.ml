open Effect
open Effect.Deep
type _ Effect.t += Yield : int -> unit Effect.t | Ask : int Effect.t
let run f = let out = ref [] in
  match_with f () { retc = (fun x -> List.rev !out, x); exnc = raise;
    effc = fun (type a) (e : a Effect.t) -> match e with
     | Yield n -> Some (fun (k : (a,_) continuation) -> out := n :: !out; continue k ())
     | Ask -> Some (fun (k : (a,_) continuation) -> continue k 7)
     | _ -> None }
let rec deep n = if n = 0 then 0 else 1 + deep (n-1)
exception E of int
let rec gen n = if n > 0 then (perform (Yield n); ignore (Array.make 100 (string_of_int n)); gen (n-1))
let () =
  let l, x = run (fun () -> gen 1000; perform Ask) in
  Printf.printf "%d %d %d\n" (List.length l) x (List.fold_left (+) 0 l);
  Printf.printf "%d\n" (deep 10_000_000);
  (* nested handlers with reperform *)
  let r = match_with (fun () -> fst (run (fun () -> gen 50; ignore (perform (Ask)); 3))) ()
    { retc = List.length; exnc = (fun _ -> -1); effc = fun (type a) (e : a Effect.t) -> match e with
      | Yield _ -> Some (fun (k : (a,_) continuation) -> continue k ()) | _ -> None } in
  Printf.printf "%d\n" r;
  (try run (fun () -> raise (E 3)) |> ignore with E n -> Printf.printf "E %d\n" n);
  (try perform Ask |> ignore with Effect.Unhandled _ -> print_endline "unhandled");
  let rec inf n = 1 + inf (n+1) in
  (try ignore (inf 0) with Stack_overflow -> print_endline "so");
  (try ignore (inf 0) with Stack_overflow -> print_endline "so2");
  (* generators *)
  let saved : (unit, int) continuation list ref = ref [] in
  let start () = match_with (fun () -> perform (Yield 1); perform (Yield 2); 5) ()
    { retc = (fun x -> x); exnc = raise; effc = fun (type a) (e : a Effect.t) -> match e with
      | Yield n -> Some (fun (k : (a,int) continuation) -> saved := k :: !saved; n) | _ -> None } in
  for i = 0 to 10000 do ignore (start ()) done;
  Gc.full_major ();
  let rs = List.map (fun k -> continue k ()) !saved in
  Printf.printf "%d %d\n" (List.length rs) (List.fold_left (+) 0 rs);
  (try continue (List.hd !saved) () |> ignore; continue (List.hd !saved) () |> ignore with Effect.Continuation_already_resumed -> print_endline "resumed");
  let sum = ref 0 in
  for i = 1 to 100000 do try if i mod 3 = 0 then raise (E i) with E n -> sum := !sum + n done;
  Printf.printf "%d\n" !sum
