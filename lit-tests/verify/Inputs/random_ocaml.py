"""Random OCaml programs: well typed, meant to be compiled and never to be run.

Every function has random parameters (up to more than any architecture has registers) and a random
body: closures, handlers, loops over mutable variables of every representation, matches with and
without jump tables, unboxed numbers, and calls that collect between them. program(seed) gives the
same text each time."""
import random
import re

PRELUDE = """\
type record = { a : int; mutable b : int; mutable s : string; f : float }
type point = { mutable x : float; y : float }
type sum = N | M | P of int | Q of string * int
type tag = [ `A | `B of int | `C of string ]
type ints = int list
type pair = int * string
type words = int array
type floats = float array
type cell = int ref
type table = (int64, Bigarray.int64_elt, Bigarray.c_layout) Bigarray.Array1.t
type _ kind = Int : int kind | Text : string kind
exception E of int
exception F
class counter n = object val mutable k = n method get = k method add i = k <- k + i end
let shared = ref "shared"
let opaque x = Sys.opaque_identity x
let collect () = ignore (opaque (ref 1)) [@@inline never]
let twice () = collect (); collect () [@@inline never]
let pick c a b = if c then a else b [@@inline never]
let by_kind : type k. k kind -> k -> int = fun kind v -> match kind with
  | Int -> twice (); Hashtbl.hash v
  | Text -> twice (); String.length v
"""

# @type is an expression of that type. What is bound in a form is bound by Binder's methods.
FORMS = {
    "int": """@int + @int|@int * @int|@int / (1 + @int)|@int mod 7|@int land @int|@int lsl 3
        String.length @string|@words.(@int)|@words.(1)|Array.unsafe_get @words 1|! @cell|@record.a
        @record.b|Char.code (@string.[@int])|fst @pair|int_of_float @float|Int64.to_int @int64
        List.length @ints|match @ints with [] -> @int \\| u :: _ -> u|Bytes.length @bytes
        Char.code @char|match @tag with `A -> 2 \\| `B u -> u \\| `C s -> String.length s
        compare @string @string|compare @int @int|raise (E @int)|raise_notrace F|by_kind Text @string
        @counter#get|Hashtbl.hash @string|List.fold_left ( + ) @int @ints
        Int32.to_int @int32|Nativeint.to_int @nativeint|failwith @string
        match @string with "one" -> @int \\| "two" -> 2 \\| "more than eight" -> 3 \\| _ -> @int""",
    "float": """@float +. @float|@float *. @float|@float /. @float|float @int|@floats.(@int)
        @record.f|sqrt @float|Int64.float_of_bits @int64|sin @float|@point.x|@point.y
        Float.abs @float|float_of_string @string|Int64.to_float @int64|Float.of_int @int""",
    "int64": """Int64.add @int64 @int64|Int64.of_int @int|Int64.bits_of_float @float
        String.get_int64_le @string @int|Int64.neg @int64|Int64.div @int64 @int64
        Bigarray.Array1.get @table @int|Int64.shift_right @int64 @int|Int64.mul @int64 @int64
        Int64.of_string @string|Bigarray.Array1.unsafe_get @table @int""",
    "nativeint": """Nativeint.add @nativeint @nativeint|Nativeint.of_int @int
        Nativeint.shift_left @nativeint 3|Nativeint.logxor @nativeint @nativeint""",
    "int32": """Int32.add @int32 @int32|Int32.of_int @int|String.get_int32_le @string @int
        Int32.div @int32 @int32""",
    "string": """@string ^ @string|string_of_int @int|snd @pair|@record.s|Bytes.to_string @bytes
        ! shared|String.make 3 @char|String.concat @string [@string; @string]
        Printf.sprintf "%d %s" @int @string""",
    "ints": "@int :: @ints|List.map (fun u -> u + @int) @ints|Array.to_list @words|List.rev @ints",
    "words": """let w = @words in w.(@int) <- @int; w|Array.make 5 @int|[\\|@int; @int\\|]
        Array.map (fun u -> u + @int) @words|Array.append @words @words""",
    "floats": """let w = @floats in w.(@int) <- @float; w|[\\|@float; @float\\|]|Array.make 3 @float
        Array.map (fun u -> u *. @float) @floats""",
    "bool": """(@int : int) < @int|@string = @string|@float < @float|not @bool|@bool && @bool
        @bool \\|\\| @bool|@int64 > @int64|@sum == N|@char = @char|@ints = @ints|@pair < @pair
        @tag == `A|Array.length @floats > @int|@nativeint <> @nativeint|List.mem @int @ints""",
    "cell": "ref @int|let w = @cell in w := @int; w|let w = @cell in incr w; w",
    "pair": "(@int, @string)|(let u, s = @pair in (u + 1, s))|List.nth [@pair; @pair] @int",
    "record": """{ a = @int; b = @int; s = @string; f = @float }|let w = @record in w.b <- @int; w
        let w = @record in w.s <- @string; w|{ @record with a = @int }""",
    "point": "{ x = @float; y = @float }|let w = @point in w.x <- @float; w",
    "sum": "P @int|Q (@string, @int)",
    "char": "Char.chr @int|@string.[@int]|Bytes.get @bytes @int",
    "bytes": "Bytes.of_string @string|let w = @bytes in Bytes.set w @int @char; w",
    "tag": "`B @int|`C @string",
    "table": """let w = @table in w.{@int} <- @int64; w
        Bigarray.Array1.sub @table @int @int""",
    "counter": "new counter @int|let w = @counter in w#add @int; w",
}
LITERALS = {
    "int": "%d", "float": "%d.5", "int64": "%dL", "nativeint": "%dn", "int32": "%dl",
    "string": '"s%d"', "ints": "[]|[1; %d]", "words": "[\\|1; 2; %d\\|]", "floats": "[\\|1.; %d.\\|]",
    "bool": "true|false", "cell": "ref %d", "pair": '(1, "x")',
    "record": '{ a = 1; b = %d; s = "x"; f = 1. }', "point": "{ x = 1.; y = %d. }",
    "sum": 'N|M|P 1|Q ("a", %d)', "char": "'c'|'\\n'", "bytes": "Bytes.make 4 'x'",
    "tag": '`A|`B %d|`C "c"', "counter": "new counter %d",
    "table": "Bigarray.Array1.create Bigarray.int64 Bigarray.c_layout %d",
}
ANY = """if @bool then @= else @=|twice (); @=|try @= with E _ -> @= \\| F -> @=|opaque @=
    try @= with Not_found -> @=|pick @bool @= @=|collect (); @=|shared := @string; @=
    try @= with e -> twice (); raise e|Fun.protect ~finally:(fun () -> collect ()) (fun () -> @=)
    Lazy.force (lazy @=)|snd (@int, @=)|List.hd [@=; @=]|Option.get (if @bool then Some @= else None)"""


def split(text):
    parts = re.split(r"(?<!\\)\||\n", text)
    return [p.strip().replace("\\|", "|") for p in parts]


FORMS = {t: split(text) for t, text in FORMS.items()}
LITERALS = {t: split(text) for t, text in LITERALS.items()}
ANY = split(ANY)
TYPES = list(FORMS)
PARAMETERS = [0, 1, 2, 3, 3, 4, 5, 8, 14, 18]


class Writer:
    """Of expressions: t is a type, env what is bound as (text, type), d how deep they may be."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0
        self.functions = []  # name, types of the parameters, type

    def fresh(self):
        self.names += 1
        return "v%d" % self.names

    def literal(self, t):
        text = self.random.choice(LITERALS[t])
        return "(%s)" % (text % self.random.randrange(100) if "%d" in text else text)

    def leaf(self, t, env):
        bound = [v for v, u in env if u == t]
        return self.random.choice(bound) if bound and self.random.random() < 0.85 else (
            self.literal(t))

    def fill(self, form, t, env, d):
        return "(%s)" % re.sub(r"@(=|[a-z0-9]+)", lambda m: self.expression(
            t if m[1] == "=" else m[1], env, d - 1), form)

    def expression(self, t, env, d):
        if d <= 0:
            return self.leaf(t, env)
        k = self.random.random()
        if k < 0.4:
            return self.fill(self.random.choice(FORMS[t]), t, env, d)
        if k < 0.65:
            return self.fill(self.random.choice(ANY), t, env, d)
        return self.random.choice(BINDERS)(self, t, env, d - 1)

    # --- forms that bind something ----------------------------------------------------------------

    def let(self, t, env, d):
        """No cells: ocamlopt 5.4 stops at `[let v = ref 0 in 1l]` with a fatal error."""
        u, v = self.random.choice([u for u in TYPES if u != "cell"]), self.fresh()
        return "(let %s : %s = %s in %s)" % (
            v, u, self.expression(u, env, d), self.expression(t, env + [(v, u)], d))

    def closure(self, t, env, d):
        u, v = self.random.choice(TYPES), self.fresh()
        return "((opaque (fun (%s : %s) -> %s)) %s)" % (
            v, u, self.expression(t, env + [(v, u)], d), self.expression(u, env, d))

    def recursive(self, t, env, d):
        u, v, f = self.random.choice(TYPES), self.fresh(), self.fresh()
        body = self.expression(t, env + [(v, u)], d)
        return "(let rec %s (%s : %s) : %s = if %s then %s else %s %s in %s %s)" % (
            f, v, u, t, self.expression("bool", env + [(v, u)], d), body, f,
            self.expression(u, env + [(v, u)], d), f, self.expression(u, env, d))

    def mutable(self, t, env, d):
        u, v = self.random.choice(TYPES), self.fresh()
        inner = env + [("!" + v, u)]
        write = self.random.choice(["%s := %s", "twice (); %s := %s", "ignore (opaque !%s); %s"])
        write %= (v, self.expression(u, inner, d)) if ":=" in write else (
            v, "%s := %s" % (v, self.expression(u, env, d)))
        b, i, j = self.expression("bool", inner, d), self.leaf("int", env), self.leaf("int", env)
        loop = self.random.choice([
            "while %s do %s done" % (b, write), "for i = %s to %s do %s done" % (i, j, write),
            "for i = %s downto %s do %s done" % (i, j, write), "if %s then (%s)" % (b, write),
            "(try while true do %s; if %s then raise F done with F -> ())" % (write, b)])
        return "(let %s = ref %s in %s; twice (); %s)" % (
            v, self.expression(u, env, d), loop, self.expression(t, inner, d))

    def call(self, t, env, d):
        known = [f for f in self.functions if f[2] == t]
        if not known:
            return self.let(t, env, d)
        name, types, _ = self.random.choice(known)
        return "(%s %s)" % (name, " ".join(self.expression(u, env, d - 1) for u in types))

    def match_sum(self, t, env, d):
        u, s = self.fresh(), self.fresh()
        arms = self.expression(t, env, d), self.expression(t, env, d), u, self.expression(
            t, env + [(u, "int")], d), s, u, self.expression(t, env + [(u, "int"), (s, "string")], d)
        return "(match %s with N -> %s | M -> %s | P %s -> %s | Q (%s, %s) -> %s)" % (
            (self.expression("sum", env, d),) + arms)

    def match_int(self, t, env, d):
        arms = "".join("%d -> %s | " % (i, self.expression(t, env, d - 1))
                       for i in range(self.random.choice([2, 3, 6, 9])))
        return "(match %s with %s_ -> %s)" % (
            self.expression("int", env, d), arms, self.expression(t, env, d))

    def function(self, name):
        types = [self.random.choice(TYPES) for _ in range(self.random.choice(PARAMETERS))]
        t, env = self.random.choice(TYPES), [(self.fresh(), u) for u in types]
        before = self.functions
        self.functions = before + [(name, types or ["unit"], t)]
        if not types:
            self.functions = before
        text = "let rec %s %s : %s = %s%s\n" % (
            name, " ".join("(%s : %s)" % p for p in env) or "()", t,
            self.expression(t, env, self.random.choice([3, 4, 5, 6])),
            self.random.choice(["", "", " [@@inline never]"]))
        return text


BINDERS = [Writer.let, Writer.closure, Writer.recursive, Writer.mutable, Writer.mutable,
           Writer.call, Writer.match_sum, Writer.match_int]


def program(seed, functions=40):
    w = Writer(seed)
    return PRELUDE + "".join(w.function("f%d" % k) for k in range(functions))
