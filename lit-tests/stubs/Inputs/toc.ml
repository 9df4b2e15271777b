(* A fiber is resumed by a frame that has called nothing before, and outlives its
   first parent. On power the slot at 8(r1) of that frame was never written, and the
   real caml_runstack takes its own TOC from there when the fiber ends. The fiber's
   stack is large, so that freeing it calls free() through the PLT. *)
open Effect
open Effect.Deep
type _ Effect.t += Ask : int Effect.t
type stack
type last
external use : ('a, 'b) continuation -> stack = "caml_continuation_use_noexc" [@@noalloc]
external last : ('a, 'b) continuation -> last = "%field1"
external resume : stack -> (int -> int) -> int -> last -> int = "%resume"

let saved : (int, int) continuation option ref = ref None
let id x = x
let rec deep n = if n = 0 then 0 else 1 + deep (n - 1)
let () =
  let first =
    match_with (fun () -> let a = perform Ask in deep 100_000 + a) ()
      { retc = Fun.id; exnc = raise;
        effc = (fun (type a) (e : a Effect.t) -> match e with
          | Ask -> Some (fun (k : (a, int) continuation) -> saved := Some (Obj.magic k); 0)
          | _ -> None) } in
  ignore first;
  let k = Option.get !saved in
  let r =
    match_with (fun k -> let r = resume (use k) id 41 (last k) in 2 * Sys.opaque_identity r) k
      { retc = Fun.id; exnc = raise; effc = (fun _ -> None) } in
  Printf.printf "%d\n" r
