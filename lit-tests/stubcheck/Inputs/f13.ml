(* Fourteen floats in registers over an allocation, copied from one array to another
 * and compared with what they were. Needs the runtime only, no standard library. *)
type channel
external ( + ) : int -> int -> int = "%addint"
external ( = ) : int -> int -> bool = "%equal"
external ( <> ) : float -> float -> bool = "%notequal"
external ( /. ) : float -> float -> float = "%divfloat"
external float : int -> float = "%floatofint"
external get : float array -> int -> float = "%array_unsafe_get"
external set : float array -> int -> float -> unit = "%array_unsafe_set"
type 'a ref = { mutable contents : 'a }
external ref : 'a -> 'a ref = "%makemutable"
external ( ! ) : 'a ref -> 'a = "%field0"
external ( := ) : 'a ref -> 'a -> unit = "%setfield0"
external opaque : 'a -> 'a = "%opaque"
external length : string -> int = "%string_length"
external stdout : int -> channel = "caml_ml_open_descriptor_out"
external output : channel -> string -> int -> int -> unit = "caml_ml_output"
external flush : channel -> unit = "caml_ml_flush"
external format_float : string -> float -> string = "caml_format_float"
external format_int : string -> int -> string = "caml_format_int"

let out = stdout 1
let say s = output out s 0 (length s)

let[@inline never] copy src dst n =
  let a = get src 0 and b = get src 1 and c = get src 2 and d = get src 3 and e = get src 4
  and f = get src 5 and g = get src 6 and h = get src 7 and i = get src 8 and j = get src 9
  and k = get src 10 and l = get src 11 and m = get src 12 and o = get src 13 in
  let block = opaque (n, n) in
  set dst 0 a; set dst 1 b; set dst 2 c; set dst 3 d; set dst 4 e; set dst 5 f; set dst 6 g;
  set dst 7 h; set dst 8 i; set dst 9 j; set dst 10 k; set dst 11 l; set dst 12 m; set dst 13 o;
  block

let report n was is =
  say "copy "; say (format_int "%d" n); say ": "; say (format_float "%.17g" was);
  say " became "; say (format_float "%.17g" is); say "\n"

let () =
  let src = [| 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0. |] in
  let dst = [| 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0.; 0. |] in
  let wrong = ref 0 in
  for i = 0 to 13 do set src i (float (i + 1) /. 3.) done;
  for n = 1 to 100000 do
    let _ = copy src dst n in
    for i = 0 to 13 do
      if get dst i <> get src i then begin
        wrong := !wrong + 1;
        if !wrong = 1 then report n (get src i) (get dst i)
      end
    done
  done;
  say (format_int "%d" !wrong); say " of 1400000 floats are wrong\n";
  flush out
