(* Work for the recorder: `record` allocates in every way and keeps some of it;
   `record wait FILE` allocates until FILE exists; `record domains` does it in
   several domains and threads of control. Prints what it computed. *)
let opaque = Sys.opaque_identity
let kept : Obj.t list ref = ref []
let keep x = kept := Obj.repr x :: !kept

let rec build n = if n = 0 then [] else (let rest = build (n - 1) in (n, opaque n) :: rest)
let sum l = List.fold_left (fun a (x, _) -> a + x) 0 l
let arrays () = List.iter (fun n -> keep (Array.make n (opaque 1))) [ 1; 20; 256; 257; 5000 ]
let payload () = keep (Bigarray.Array1.create Bigarray.char Bigarray.c_layout 10_000)
let copies () = keep (Marshal.from_string (Marshal.to_string (build 50) []) 0 : (int * int) list)
let garbage () = for i = 1 to 5_000 do ignore (opaque (i, (i, Some i))) done

let work () =
  let total = ref 0 in
  for _ = 1 to 5 do total := !total + sum (build 100) done;
  arrays (); payload (); copies (); garbage ();
  Gc.full_major ();
  keep (build 10);
  !total

let rec wait file n =
  garbage ();
  if n > 0 && not (Sys.file_exists file) then wait file (n - 1)

let domains () =
  let run () = for _ = 1 to 4 do ignore (opaque (build 200)); garbage () done in
  let all = List.init 3 (fun _ -> Domain.spawn run) in
  run ();
  List.iter Domain.join all

let () =
  (match Sys.argv with
   | [| _; "wait"; file |] -> wait file 2_000_000
   | [| _; "domains" |] -> domains ()
   | _ -> ());
  Printf.printf "total %d\n" (work ())
