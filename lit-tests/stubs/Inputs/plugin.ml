(* Loaded at run time: on power it has a TOC of its own, and it reaches every stub
   through a PLT. *)
open Effect
open Effect.Deep

let garbage n = List.init n (fun i -> (i, string_of_int i))
let rec deep n = if n = 0 then Effect.perform (Plugin_api.Ask 1) else 1 + deep (n - 1)

let twice n =
  match_with (fun () -> let a = perform (Plugin_api.Ask n) in List.length (garbage 100) + a) ()
    { retc = (fun r -> r * 2);
      exnc = (function Exit -> -1 | e -> raise e);
      effc = (fun (type a) (e : a Effect.t) -> match e with
        | Plugin_api.Ask 0 -> Some (fun (k : (a, _) continuation) -> discontinue k Exit)
        | _ -> None) }

let () =
  Plugin_api.name := "plugin";
  Plugin_api.work := fun n ->
    let kept = garbage n in
    let a = twice n in
    let b = (try ignore (int_of_string "x"); 0 with Failure _ -> 1) in
    let c = (try ignore ([| 1 |].(Sys.opaque_identity n)); 0 with Invalid_argument _ -> 1) in
    let d = deep 30_000 in
    if List.exists (fun (i, s) -> int_of_string s <> i) kept then 0
    else raise (Plugin_api.Stop (a + b + c + d + twice 0))
