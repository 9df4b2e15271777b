(* Large matches on integers, constructors, characters and polymorphic variants. *)
type op = Nop | Push of int | Pop | Add | Sub | Mul | Div | Dup | Swap | Over | Rot | Jmp of int | Jz of int | Load of string | Store of string | Call of op array | Ret | Print | Halt

let run code =
  let out = Buffer.create 80 in
  let vars = Hashtbl.create 8 in
  let rec go code pc stack steps =
    if steps > 20000 then Buffer.add_string out "limit" else
    if pc >= Array.length code then () else
    let next s = go code (pc + 1) s (steps + 1) in
    match code.(pc), stack with
    | Nop, s -> next s
    | Push n, s -> next (n :: s)
    | Pop, _ :: s -> next s
    | Add, a :: b :: s -> next (a + b :: s)
    | Sub, a :: b :: s -> next (b - a :: s)
    | Mul, a :: b :: s -> next (a * b :: s)
    | Div, a :: b :: s -> next (b / a :: s)
    | Dup, a :: s -> next (a :: a :: s)
    | Swap, a :: b :: s -> next (b :: a :: s)
    | Over, a :: b :: s -> next (b :: a :: b :: s)
    | Rot, a :: b :: c :: s -> next (c :: a :: b :: s)
    | Jmp n, s -> go code n s (steps + 1)
    | Jz n, a :: s -> if a = 0 then go code n s (steps + 1) else next s
    | Load x, s -> next (Hashtbl.find vars x :: s)
    | Store x, a :: s -> Hashtbl.replace vars x a; next s
    | Call c, s -> go c 0 s (steps + 1); next s
    | Print, a :: s -> Buffer.add_string out (string_of_int a); Buffer.add_char out ' '; next s
    | (Ret | Halt), _ -> ()
    | _, _ -> Buffer.add_string out "underflow"
  in
  go code 0 [] 0; Buffer.contents out

let days m leap = match m with 1 | 3 | 5 | 7 | 8 | 10 | 12 -> 31 | 4 | 6 | 9 | 11 -> 30 | 2 -> if leap then 29 else 28 | _ -> invalid_arg "month"
let classify c = match c with
  | 'a' | 'e' | 'i' | 'o' | 'u' -> `Vowel | 'a' .. 'z' -> `Consonant | '0' .. '9' -> `Digit (Char.code c - 48)
  | ' ' | '\t' | '\n' -> `Space | '+' | '-' | '*' | '/' -> `Op c | _ -> `Other
let big = function
  | 0 -> "zero" | 1 -> "one" | 2 -> "two" | 3 -> "three" | 4 -> "four" | 5 -> "five" | 6 -> "six" | 7 -> "seven" | 8 -> "eight" | 9 -> "nine"
  | 100 -> "hundred" | 101 -> "101" | 102 -> "102" | 103 -> "103" | 1000 -> "thousand" | 1000000 -> "million" | -1 -> "minus one" | _ -> "many"

let () =
  print_endline (run [| Push 10; Store "n"; Push 1; Store "f"; Load "n"; Jz 15; Load "f"; Load "n"; Mul; Store "f"; Load "n"; Push 1; Sub; Store "n"; Jmp 4; Load "f"; Print; Halt |]);
  print_endline (run [| Push 1; Push 2; Push 3; Rot; Print; Print; Print; Pop |]);
  print_endline (run [| Jmp 0 |]);
  print_endline (run [| Push 7; Dup; Over; Swap; Nop; Div; Print; Call [| Push 1; Print; Ret |]; Print |]);
  Printf.printf "%d\n" (List.fold_left (fun s m -> s + days m (m mod 2 = 0)) 0 [ 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 11; 12 ]);
  String.iter (fun c -> print_string (match classify c with `Vowel -> "v" | `Consonant -> "c" | `Digit d -> string_of_int (d + 1) | `Space -> "_" | `Op o -> String.make 2 o | `Other -> "?")) "hello w0rld 9 + 3 !";
  print_newline ();
  print_endline (String.concat "," (List.map big [ 0; 5; 9; 10; 100; 103; 104; 1000; 1000000; -1; -2; max_int ]));
  (try ignore (days (Sys.opaque_identity 13) false) with Invalid_argument s -> print_endline s)
