open Effect
type _ Effect.t += Ask : int -> int Effect.t
exception Stop of int
let work : (int -> int) ref = ref (fun _ -> 0)
let name = ref "none"
