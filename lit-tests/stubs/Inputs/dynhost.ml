open Effect.Deep

let () =
  Dynlink.loadfile Sys.argv.(1);
  let r =
    match_with (fun () -> try !Plugin_api.work 50 with Plugin_api.Stop n -> n) ()
      { retc = Fun.id; exnc = raise;
        effc = (fun (type a) (e : a Effect.t) -> match e with
          | Plugin_api.Ask n -> Some (fun (k : (a, _) continuation) -> Gc.minor (); continue k (n + 1))
          | _ -> None) } in
  let d = Domain.spawn (fun () ->
      match_with (fun () -> try !Plugin_api.work 7 with Plugin_api.Stop n -> n) ()
      { retc = Fun.id; exnc = raise;
        effc = (fun (type a) (e : a Effect.t) -> match e with
          | Plugin_api.Ask n -> Some (fun (k : (a, _) continuation) -> continue k n)
          | _ -> None) }) in
  Printf.printf "%s %d %d\n" !Plugin_api.name r (Domain.join d)
