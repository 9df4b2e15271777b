let name = ref ""
let failed = ref 0

let check what ok =
  if not ok then incr failed;
  Printf.printf "%s: %s: %s\n%!" !name what (if ok then "ok" else "WRONG")
