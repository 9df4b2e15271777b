(* Mutual recursion: a recursive-descent parser and an interpreter of a small language. *)
type token = Int of int | Id of string | Op of char | End
type stmt = Assign of string * expr | While of expr * stmt list | Print of expr
and expr = Lit of int | Var of string | Bin of char * expr * expr

let tokens s =
  let n = String.length s in
  let rec go i acc =
    if i >= n then List.rev (End :: acc)
    else match s.[i] with
      | ' ' | '\n' -> go (i + 1) acc
      | '0' .. '9' -> let j = ref i in while !j < n && s.[!j] >= '0' && s.[!j] <= '9' do incr j done; go !j (Int (int_of_string (String.sub s i (!j - i))) :: acc)
      | 'a' .. 'z' -> let j = ref i in while !j < n && s.[!j] >= 'a' && s.[!j] <= 'z' do incr j done; go !j (Id (String.sub s i (!j - i)) :: acc)
      | c -> go (i + 1) (Op c :: acc)
  in go 0 []

let rec expr ts = let l, ts = sum ts in match ts with Op '<' :: ts -> let r, ts = sum ts in Bin ('<', l, r), ts | _ -> l, ts
and sum ts = let l, ts = term ts in sum_rest l ts
and sum_rest l = function Op ('+' | '-' as c) :: ts -> let r, ts = term ts in sum_rest (Bin (c, l, r)) ts | ts -> l, ts
and term ts = let l, ts = atom ts in term_rest l ts
and term_rest l = function Op ('*' | '/' | '%' as c) :: ts -> let r, ts = atom ts in term_rest (Bin (c, l, r)) ts | ts -> l, ts
and atom = function
  | Int n :: ts -> Lit n, ts
  | Id s :: ts -> Var s, ts
  | Op '(' :: ts -> (match expr ts with e, Op ')' :: ts -> e, ts | _ -> failwith "paren")
  | _ -> failwith "atom"
let rec block acc = function
  | (End | Op '}') :: ts -> List.rev acc, ts
  | Id "print" :: ts -> let e, ts = expr ts in block (Print e :: acc) (semi ts)
  | Id "while" :: ts -> (match expr ts with e, Op '{' :: ts -> let b, ts = block [] ts in block (While (e, b) :: acc) ts | _ -> failwith "while")
  | Id s :: Op '=' :: ts -> let e, ts = expr ts in block (Assign (s, e) :: acc) (semi ts)
  | _ -> failwith "statement"
and semi = function Op ';' :: ts -> ts | _ -> failwith "semicolon"

let env = Hashtbl.create 10
let rec eval = function
  | Lit n -> n
  | Var s -> (try Hashtbl.find env s with Not_found -> failwith ("unbound " ^ s))
  | Bin (c, a, b) ->
    let x = eval a in
    let y = eval b in
    (match c with '+' -> x + y | '-' -> x - y | '*' -> x * y | '/' -> x / y | '%' -> x mod y | '<' -> Bool.to_int (x < y) | _ -> assert false)
let rec exec = function
  | Assign (s, e) -> Hashtbl.replace env s (eval e)
  | Print e -> Printf.printf "%d " (eval e)
  | While (c, b) as w -> if eval c <> 0 then (List.iter exec b; exec w)
let run s = (try List.iter exec (fst (block [] (tokens s))) with Failure m -> print_string m | Division_by_zero -> print_string "division"); print_newline ()

let () =
  run "i = 0; s = 0; while i < 1000 { s = s + i * i % 7; i = i + 1; } print s;";
  run "a = 1; b = 1; n = 0; while n < 30 { print a; t = a + b; a = b; b = t; n = n + 1; }";
  run "print (1 + 2) * (3 - 4) / 0;"; run "print x;"; run "print 1 +;"; run "while 1 print"
