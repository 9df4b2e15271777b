(* Objects: inheritance, late binding, cached method calls, functional update, virtual methods. *)
class virtual shape name = object (self)
  method name : string = name
  method virtual area : float
  method describe = Printf.sprintf "%s %.2f" self#name self#area
end
class circle r = object inherit shape "circle" val mutable radius = r method area = 3.14159 *. radius *. radius method scale k = radius <- radius *. k end
class rect w h = object inherit shape "rect" as super method area = w *. h method! describe = "<" ^ super#describe ^ ">" end
class counter = object (self : 'self)
  val n = 0
  method get = n
  method incr = {< n = n + 1 >}
  method twice = self#incr#incr
end
class ['a] stack = object
  val mutable l : 'a list = []
  method push x = l <- x :: l
  method pop = match l with [] -> raise Not_found | x :: r -> l <- r; x
  method size = List.length l
end

let () =
  let shapes = [ (new circle 1. :> shape); (new rect 2. 3. :> shape); (let c = new circle 2. in c#scale 0.5; (c :> shape)) ] in
  for _ = 1 to 3 do List.iter (fun s -> print_string (s#describe ^ "; ")) shapes done;
  print_newline ();
  let c = new counter in
  Printf.printf "%d %d\n" c#get c#twice#twice#incr#get;
  let s = new stack in
  for i = 1 to 1000 do s#push (i * 3) done;
  let t = ref 0 in
  for _ = 1 to 500 do t := !t + s#pop done;
  Printf.printf "%d %d\n" !t s#size;
  let o = object method x = 10 method add y = y + 1 method mul y z = y * z end in
  let call (o : < x : int; add : int -> int; mul : int -> int -> int >) = o#add (o#mul o#x 4) in
  Printf.printf "%d\n" (call o);
  (try ignore ((new stack)#pop + 1) with Not_found -> print_endline "empty")
