(* lossless_dump.ml - ocamlopt 5.3 or 5.4 with a -dcmm that loses nothing.

   The ordinary native driver, run as bytecode against compiler-libs, with its printer of
   Cmm phrases exchanged: it keeps float bits, string escapes, C call flags, atomicity,
   code generation options and whole debug locations (docs/cmm.md, "The lossless form").
   Linked against another architecture's compiler-libs it gives that target's Cmm.

   CMM_DUMP names the file to write; what the driver says stays on stderr. Comments that
   start with a version hold what only that compiler has (cmm-dump opens them). *)
open Cmm
module V = Backend_var
module VP = Backend_var.With_provenance
let pr = Format.fprintf
let quote s =
  let b = Buffer.create 16 in
  String.iter (fun c ->
    if c >= ' ' && c <= '~' && c <> '"' && c <> '\\' then Buffer.add_char b c
    else Buffer.add_string b (Printf.sprintf "\\%03d" (Char.code c))) s;
  "\"" ^ Buffer.contents b ^ "\""
let bits f = Printf.sprintf "0f%016Lx" (Int64.bits_of_float f)
let dbg d =
  if d = [] then "" else
  "{" ^ String.concat ";" (List.map (fun (i : Debuginfo.item) ->
    Printf.sprintf "%s:%d,%d-%d,%d,%d,%d,%s" (quote i.dinfo_file) i.dinfo_line
      i.dinfo_char_start i.dinfo_char_end i.dinfo_start_bol i.dinfo_end_bol
      i.dinfo_end_line
      (quote (Debuginfo.Scoped_location.string_of_scopes i.dinfo_scopes))) d) ^ "}"
let mty t =
  if t = [||] then "unit" else
  String.concat "*" (Array.to_list (Array.map
    (function Val -> "val" | Addr -> "addr" | Int -> "int" | Float -> "float") t))
let xty = function XInt -> "int" | XInt32 -> "int32" | XInt64 -> "int64" | XFloat -> "float"
let op_name o =
  match o with
  | Cextcall (s, _, _, alloc) ->
    Printf.sprintf "extcall %s %s" (if alloc then "alloc" else "noalloc") (quote s)
  | Cload { memory_chunk; mutability; is_atomic } ->
    Printf.sprintf "load%s%s %s"
      (if mutability = Asttypes.Mutable then "_mut" else "")
      (if is_atomic then "_atomic" else "") (Printcmm.chunk memory_chunk)
  | o -> Printcmm.operation [] o
let rec e ppf = function
  | Cconst_int (n, _) -> pr ppf "%d" n
  | Cconst_natint (n, _) -> pr ppf "%nd" n
  | Cconst_float (f, _) -> pr ppf "%s" (bits f)
  | Cconst_symbol (s, _) -> pr ppf "%s" (quote s)
  | Cvar v -> pr ppf "%s" (id v)
  (*5.4 | Cvar_mut v -> pr ppf "%s" (id v) *)
  | Creturn_addr -> pr ppf "return_addr"
  | Clet (v, a, b) -> pr ppf "@[<2>(let %s@ %a@ %a)@]" (id (VP.var v)) e a e b
  | Clet_mut (v, t, a, b) ->
    pr ppf "@[<2>(let_mut %s %s@ %a@ %a)@]" (id (VP.var v)) (mty t) e a e b
  | Cphantom_let (_, _, b) -> e ppf b
  | Cassign (v, a) -> pr ppf "@[<2>(assign %s@ %a)@]" (id v) e a
  | Ctuple l -> pr ppf "[%a]" es l
  | Cop (o, l, d) ->
    pr ppf "@[<2>(%s%s%a" (op_name o) (dbg d) es l;
    (match o with
     | Capply t -> pr ppf "@ %s" (mty t)
     | Cextcall (_, t, xs, _) ->
       pr ppf "@ %s->%s" (String.concat "," (List.map xty xs)) (mty t)
     | _ -> ());
    pr ppf ")@]"
  | Csequence (a, b) -> pr ppf "@[<2>(seq@ %a@ %a)@]" e a e b
  | Cifthenelse (c, _, a, _, b, _) -> pr ppf "@[<2>(if@ %a@ %a@ %a)@]" e c e a e b
  | Cswitch (a, index, cases, _) ->
    pr ppf "@[<2>(switch %d@ %a" (Array.length index) e a;
    Array.iteri (fun i (c, _) ->
      pr ppf "@ (case";
      Array.iteri (fun j k -> if k = i then pr ppf " %d" j) index;
      pr ppf ":@ %a)" e c) cases;
    pr ppf ")@]"
  | Ccatch (r, hs, b) ->
    pr ppf "@[<2>(catch%s@ %a" (if r = Recursive then " rec" else "") e b;
    List.iter (fun (n, ids, h, _) ->
      pr ppf "@ (with (%d" n;
      List.iter (fun (v, t) -> pr ppf " %s %s" (id (VP.var v)) (mty t)) ids;
      pr ppf ")@ %a)" e h) hs;
    pr ppf ")@]"
  | Cexit (n, l) -> pr ppf "@[<2>(exit %d%a)@]" n es l
  | Ctrywith (a, v, b, _) ->
    pr ppf "@[<2>(try@ %a@ %s@ %a)@]" e a (id (VP.var v)) e b
and es ppf l = List.iter (fun x -> pr ppf "@ %a" e x) l
and id v = quote (Ident.unique_toplevel_name v)
let item ppf = function
  | Cstring s -> pr ppf "string %s" (quote s)
  | Csingle f -> pr ppf "single 0f%08lx" (Int32.bits_of_float f)
  | Cdouble f -> pr ppf "double %s" (bits f)
  | Cdefine_symbol s -> pr ppf "%s:" (quote s)
  | Cglobal_symbol s -> pr ppf "global %s" (quote s)
  | Csymbol_address s -> pr ppf "addr %s" (quote s)
  | Cint8 n -> pr ppf "byte %d" n
  | Cint16 n -> pr ppf "int16 %d" n
  | Cint32 n -> pr ppf "int32 %nd" n
  | Cint n -> pr ppf "int %nd" n
  | Cskip n -> pr ppf "skip %d" n
  | Calign n -> pr ppf "align %d" n
let phrase ppf = function
  | Cdata l -> pr ppf "@[<1>(data%a)@]"
      (fun ppf -> List.iter (fun i -> pr ppf "@ %a" item i)) l
  | Cfunction f ->
    pr ppf "@[<1>(function%s %s (%s) (%s) %s@ %a)@]@." (dbg f.fun_dbg)
      (quote f.fun_name)
      (String.concat " " (List.map (fun (v, t) -> id (VP.var v) ^ " " ^ mty t) f.fun_args))
      (String.concat " " (List.map
        (function Reduce_code_size -> "reduce_code_size" | No_CSE -> "no_cse")
        f.fun_codegen_options))
      (match f.fun_poll with Lambda.Error_poll -> "poll_error" | _ -> "poll_default")
      e f.fun_body

(* The driver hands its own formatter to the printer; phrases go to the file instead. *)
let out =
  match Sys.getenv_opt "CMM_DUMP" with
  | None -> prerr_endline "lossless_dump: CMM_DUMP is not set"; exit 2
  | Some file ->
    let c = open_out_bin file in
    output_string c "; cmm lossless 1\n";
    let f = Format.formatter_of_out_channel c in
    Format.pp_set_max_indent f 60;
    at_exit (fun () -> Format.pp_print_flush f (); close_out c);
    f
let to_file _ p = Format.fprintf out "%a@." phrase p

module type P = module type of Printcmm
let () =
  let block = Obj.repr (module Printcmm : P) in
  let stock = Obj.repr Printcmm.phrase in
  let found = ref false in
  for i = 0 to Obj.size block - 1 do
    if Obj.field block i == stock then begin
      Obj.set_field block i (Obj.repr to_file);
      found := true
    end
  done;
  if not !found then (prerr_endline "lossless_dump: another compiler"; exit 2);
  exit (Optmaindriver.main Sys.argv Format.err_formatter)
