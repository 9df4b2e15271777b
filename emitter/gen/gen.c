/* cmm-gen - random Cmm programs for comparing the interpreter with the back ends.
 *
 *   cmm-gen --seed=N [--count=K] [--size=S]
 *
 * Prints one lossless unit, camlGenN, with the programs of seeds N .. N+K-1: each has a few
 * functions of its own and prints its seed, four results and what is left of its table. A
 * program is the same wherever its seed stands, so a difference is run again by itself.
 *
 * Programs end, never fault and have one meaning: divisors are odd and positive, shift
 * counts below 64, addresses inside their table, loops counted, callees earlier ones, and
 * the cost of everything is bounded before it is written. Operands never assign variables
 * (their order of reading is not defined).
 *
 * Types: int; float; list: 1, or a block {tagged int, list}; box: a boxed float.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { INT, FLOAT, LIST, BOX, TYPES } type;

enum { MAX_PARAMS = 14, MAX_VARS = 200, MAX_FUNCTIONS = 5, COST_LIMIT = 40000, TABLE_WORDS = 16 };

typedef struct {
    type result, params[MAX_PARAMS];
    int nparams;
    long cost;
} function;

typedef struct {
    type t;
    int id;
    bool is_mutable;
} variable;

typedef struct {
    int id, nparams;
    type params[3];
} label;

typedef struct {
    FILE *out;
    uint64_t state, seed;
    int size;
    function fns[MAX_FUNCTIONS];
    int nfns;            /* callable ones: all before the one being written */
    variable vars[MAX_VARS];
    int nvars, next_var;
    label labels[20];
    int nlabels, next_label;
    long cost, multiplier;
    int loops;
} gen;

/* --- randomness (splitmix64) ------------------------------------------------------- */
static uint64_t next(gen *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int pick(gen *g, int n) { return (int)(next(g) % (uint64_t)n); }
static bool chance(gen *g, int percent) { return pick(g, 100) < percent; }

static void put(gen *g, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vfprintf(g->out, format, ap);
    va_end(ap);
    g->cost += g->multiplier;
}

/* --- names -------------------------------------------------------------------------- */
static const char *const type_names[TYPES] = {"int", "float", "val", "val"};

static int declare(gen *g, type t, bool is_mutable)
{
    int id = g->next_var++;
    if (g->nvars < MAX_VARS) {
        g->vars[g->nvars++] = (variable){t, id, is_mutable};
    }
    return id;
}

/* A variable of that type in scope, NULL: none. */
static const variable *choose(gen *g, type t, bool is_mutable)
{
    int tries = g->nvars;
    for (int k = 0; k < tries && g->nvars > 0; k++) {
        const variable *v = &g->vars[pick(g, g->nvars)];
        if (v->t == t && (v->is_mutable || !is_mutable)) {
            return v;
        }
    }
    return NULL;
}

static type any_type(gen *g)
{
    static const type weights[] = {INT, INT, INT, FLOAT, FLOAT, LIST, LIST, BOX};
    return weights[pick(g, 8)];
}

/* --- expressions ---------------------------------------------------------------------- */
/* stmt: assignments are allowed here. no_mul: not a product. */
static void expr(gen *g, type t, int depth, bool stmt);
static void body(gen *g, type t, int depth);
static void statement(gen *g, int depth);

static int64_t edge_int(gen *g)
{
    static const int64_t edges[] = {0, 1, -1, 2, 7, 8, 63, 64, 127, 128, 255, 256, -128, -256, 4095,
                                    4096, 32767, 32768, -32769, 65535, 65536, 0x7fffffff,
                                    0x80000000, -0x80000000LL, -0x80000001LL, 0xffffffff,
                                    0x100000000, INT64_MAX, INT64_MIN};
    int n = (int)(sizeof edges / sizeof *edges);
    int k = pick(g, n + 6);
    return k < n ? edges[k] : k < n + 4 ? pick(g, 1000) - 500 : (int64_t)next(g);
}

static void operands(gen *g, const char *op, type t, int depth)
{
    put(g, "(%s ", op);
    expr(g, t, depth, false);
    put(g, " ");
    expr(g, t, depth, false);
    put(g, ")");
}

static void arith(gen *g, int depth)
{
    static const char *const ops[] = {"+", "-", "*", "*h", "and", "or", "xor", "+", "-"};
    operands(g, ops[pick(g, 9)], INT, depth);
}

static void shift(gen *g, int depth)
{
    static const char *const ops[] = {"<<", ">>u", ">>s"};
    put(g, "(%s ", ops[pick(g, 3)]);
    expr(g, INT, depth, false);
    if (chance(g, 60)) {
        put(g, " %d)", pick(g, 64));
    } else {
        put(g, " (and ");
        expr(g, INT, depth, false);
        put(g, " 63))");
    }
}

static void divide(gen *g, int depth)
{
    put(g, chance(g, 50) ? "(/ " : "(mod ");
    expr(g, INT, depth, false);
    if (chance(g, 50)) {
        put(g, " %d)", pick(g, 2) ? 1 + pick(g, 2000) : -2 - pick(g, 100));
    } else {
        put(g, " (or (and ");
        expr(g, INT, depth, false);
        put(g, " 1023) 1))");
    }
}

static void compare(gen *g, int depth)
{
    static const char *const words[] = {
        "==", "!=", "<", "<=", ">", ">=", "==a", "!=a", "<a", "<=a", ">a", ">=a"};
    static const char *const floats[] = {"==f", "!=f", "<f",   "<=f", ">f",
                                         ">=f", "!<f", "!<=f", "!>f", "!>=f"};
    if (chance(g, 70)) {
        operands(g, words[pick(g, 12)], INT, depth);
    } else {
        operands(g, floats[pick(g, 10)], FLOAT, depth);
    }
}

static void address(gen *g, int bytes, int depth)
{
    int limit = TABLE_WORDS * 8 / bytes;
    if (chance(g, 50)) {
        put(g, "(+a \"g%" PRIu64 "_t\" %d)", g->seed, pick(g, limit) * bytes);
        return;
    }
    int log = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    put(g, "(+a \"g%" PRIu64 "_t\" (<< (and ", g->seed);
    expr(g, INT, depth, false);
    put(g, " %d) %d))", limit - 1, log);
}

static const struct {
    const char *name;
    int bytes;
} chunks[] = {{"unsigned int8", 1}, {"signed int8", 1}, {"unsigned int16", 2}, {"signed int16", 2},
              {"unsigned int32", 4}, {"signed int32", 4}, {"int", 8}, {"int", 8}};

static void load(gen *g, int depth)
{
    int k = pick(g, 8);
    put(g, "(load_mut %s ", chunks[k].name);
    address(g, chunks[k].bytes, depth);
    put(g, ")");
}

/* A bounded float becomes an int, any other a constant. */
static void int_of_float(gen *g, int depth)
{
    int id = g->next_var++;
    put(g, "(let \"v/%d\" ", id);
    expr(g, FLOAT, depth, false);
    put(g, " (if (<f (absf \"v/%d\") 0f430c6bf526340000) (intoffloat \"v/%d\") %d))", id, id,
        pick(g, 9));
}

static void head_of_list(gen *g, int depth)
{
    int id = g->next_var++;
    put(g, "(let \"v/%d\" ", id);
    expr(g, LIST, depth, false);
    put(g, " (if (== \"v/%d\" 1) %d (load_mut int \"v/%d\")))", id, pick(g, 9), id);
}

static void tail_of_list(gen *g, int depth)
{
    int id = g->next_var++;
    put(g, "(let \"v/%d\" ", id);
    expr(g, LIST, depth, false);
    put(g, " (if (== \"v/%d\" 1) 1 (load_mut val (+a \"v/%d\" 8))))", id, id);
}

static void c_call(gen *g, int depth)
{
    put(g, "(extcall noalloc \"cmm_sum_ints\"");
    for (int i = 0; i < 10; i++) {
        put(g, " ");
        expr(g, INT, i % 3 == 0 ? depth : 0, false);
    }
    put(g, " int,int,int,int,int,int,int,int,int,int->int)");
}

static void int_expr(gen *g, int depth)
{
    switch (pick(g, 12)) {
    case 0: case 1: case 2: arith(g, depth); return;
    case 3: shift(g, depth); return;
    case 4: divide(g, depth); return;
    case 5: compare(g, depth); return;
    case 6: case 7: load(g, depth); return;
    case 8: int_of_float(g, depth); return;
    case 9: head_of_list(g, depth); return;
    case 10:
        if (chance(g, 30)) {
            c_call(g, depth);
        } else {
            put(g, "(opaque ");
            expr(g, INT, depth, false);
            put(g, ")");
        }
        return;
    default: arith(g, depth);
    }
}

static void float_const(gen *g) {
    double d = (pick(g, 4001) - 2000) / 4.0;
    uint64_t b;
    memcpy(&b, &d, sizeof b);
    put(g, "0f%016" PRIx64, b);
}

/* An operand of a sum: sometimes a product, which most ports fuse with it. */
static void addend(gen *g, int depth)
{
    const variable *v = choose(g, FLOAT, false);
    if (chance(g, 30)) {
        operands(g, "*f", FLOAT, depth);
    } else if (v != NULL && chance(g, 60)) {
        put(g, "\"v/%d\"", v->id);
    } else if (chance(g, 50)) {
        put(g, "(floatofint (and ");
        expr(g, INT, depth, false);
        put(g, " 4095))");
    } else {
        float_const(g);
    }
}

static void sum(gen *g, int depth)
{
    bool negated = chance(g, 20);
    put(g, "%s(%s ", negated ? "(~f " : "", chance(g, 50) ? "+f" : "-f");
    addend(g, depth);
    put(g, " ");
    addend(g, depth);
    put(g, negated ? "))" : ")");
}

static void float_expr(gen *g, int depth)
{
    switch (pick(g, 7)) {
    case 0: case 1: sum(g, depth); return;
    case 2: operands(g, "*f", FLOAT, depth); return;
    case 3: operands(g, "/f", FLOAT, depth); return;
    case 4:
        put(g, chance(g, 50) ? "(absf " : "(~f ");
        addend(g, depth);
        put(g, ")");
        return;
    case 5:
        put(g, "(load_mut float64 ");
        expr(g, BOX, depth, false);
        put(g, ")");
        return;
    default:
        put(g, "(floatofint ");
        expr(g, INT, depth, false);
        put(g, ")");
    }
}

static void list_expr(gen *g, int depth)
{
    if (chance(g, 30)) {
        tail_of_list(g, depth);
        return;
    }
    put(g, "(alloc 2048 (or (<< ");
    expr(g, INT, depth, false);
    put(g, " 1) 1) ");
    expr(g, LIST, depth, false);
    put(g, ")");
}

static void leaf(gen *g, type t)
{
    const variable *v = choose(g, t, false);
    if (v != NULL && chance(g, 75)) {
        put(g, "\"v/%d\"", v->id);
    } else if (t == INT) {
        put(g, "%" PRId64, edge_int(g));
    } else if (t == FLOAT) {
        float_const(g);
    } else if (t == LIST) {
        put(g, "1");
    } else {
        put(g, "(alloc 1277 ");
        float_const(g);
        put(g, ")");
    }
}

/* --- control ---------------------------------------------------------------------------- */
static void conditional(gen *g, type t, int depth, bool stmt)
{
    put(g, "(if ");
    expr(g, INT, depth, false);
    put(g, " ");
    expr(g, t, depth, stmt);
    put(g, " ");
    expr(g, t, depth, stmt);
    put(g, ")");
}

static void switch_(gen *g, type t, int depth, bool stmt)
{
    int size = 2 << pick(g, 3), arms = 1 + pick(g, size);
    put(g, "(switch %d (and ", size);
    expr(g, INT, depth, false);
    put(g, " %d)", size - 1);
    for (int a = 0; a < arms; a++) {
        put(g, "\n (case");
        for (int k = a; k < size; k += arms) {
            put(g, " %d", k);
        }
        put(g, ": ");
        expr(g, t, depth - 1, stmt);
        put(g, ")");
    }
    put(g, ")");
}

static void let(gen *g, type t, int depth, bool stmt)
{
    type vt = any_type(g);
    int mark = g->nvars;
    bool mut = stmt && chance(g, 40);
    int id = g->next_var++;
    put(g, mut ? "(let_mut \"v/%d\" %s " : "(let \"v/%d\" ", id, type_names[vt]);
    expr(g, vt, depth, false);
    if (g->nvars < MAX_VARS) {
        g->vars[g->nvars++] = (variable){vt, id, mut};
    }
    put(g, "\n ");
    expr(g, t, depth, stmt);
    put(g, ")");
    g->nvars = mark;
}

/* (catch body (with (L params) handler)): the body may exit, the handler may not. */
static void catch_(gen *g, type t, int depth, bool stmt)
{
    label l = {g->next_label++, pick(g, 4), {INT}};
    for (int i = 0; i < l.nparams; i++) {
        l.params[i] = any_type(g);
    }
    put(g, "(catch ");
    if (g->nlabels < 20) {
        g->labels[g->nlabels++] = l;
        expr(g, t, depth, stmt);
        g->nlabels--;
    } else {
        expr(g, t, depth, stmt);
    }
    put(g, "\n (with (%d", l.id);
    int mark = g->nvars;
    for (int i = 0; i < l.nparams; i++) {
        put(g, " \"v/%d\" %s", declare(g, l.params[i], false), type_names[l.params[i]]);
    }
    put(g, ") ");
    expr(g, t, depth, stmt);
    put(g, "))");
    g->nvars = mark;
}

static void exit_(gen *g, int depth)
{
    const label l = g->labels[pick(g, g->nlabels)];
    put(g, "(exit %d", l.id);
    for (int i = 0; i < l.nparams; i++) {
        put(g, " ");
        expr(g, l.params[i], depth, false);
    }
    put(g, ")");
}

static void raise(gen *g, int depth)
{
    static const char *const kinds[] = {"raise", "reraise", "raise_notrace"};
    put(g, "(%s ", kinds[pick(g, 3)]);
    expr(g, LIST, depth, false);
    put(g, ")");
}

static void try_(gen *g, type t, int depth, bool stmt)
{
    int id = g->next_var++;
    put(g, "(try ");
    expr(g, t, depth, stmt);
    put(g, "\n \"v/%d\" ", id);
    if (chance(g, 10)) {
        put(g, "(reraise \"v/%d\")", id);
    } else {
        expr(g, t, depth, stmt);
    }
    put(g, ")");
}

/* Leaves: exit when there is a label, raise, or a bound error. */
static void leave(gen *g, type t, int depth)
{
    put(g, "(if (== (and ");
    expr(g, INT, depth, false);
    put(g, " 7) %d) ", pick(g, 8));
    if (g->nlabels > 0 && chance(g, 70)) {
        exit_(g, depth);
    } else if (chance(g, 60)) {
        raise(g, depth);
    } else {
        put(g, "(seq (checkbound %d (and ", 1 + pick(g, 20));
        expr(g, INT, depth, false);
        put(g, " 15)) ");
        leaf(g, t);
        put(g, ")");
    }
    put(g, " ");
    expr(g, t, depth, false);
    put(g, ")");
}

static bool call(gen *g, type t, int depth)
{
    for (int k = 0; k < 4 && g->nfns > 0; k++) {
        int f = pick(g, g->nfns);
        const function *fn = &g->fns[f];
        if (fn->result != t || g->cost + g->multiplier * fn->cost > COST_LIMIT) {
            continue;
        }
        g->cost += g->multiplier * fn->cost;
        put(g, chance(g, 25) ? "(app (opaque \"g%" PRIu64 "_f%d\")" : "(app \"g%" PRIu64 "_f%d\"",
            g->seed, f);
        for (int i = 0; i < fn->nparams; i++) {
            put(g, " ");
            expr(g, fn->params[i], i < 4 ? depth - 1 : 0, false);
        }
        put(g, " %s)", type_names[t]);
        return true;
    }
    return false;
}

static void sequence(gen *g, type t, int depth, bool stmt)
{
    put(g, "(seq ");
    if (stmt) {
        statement(g, depth);
    } else {
        put(g, "(store int ");
        address(g, 8, depth);
        put(g, " ");
        expr(g, INT, depth, false);
        put(g, ")");
    }
    put(g, "\n ");
    expr(g, t, depth, stmt);
    put(g, ")");
}

static void expr(gen *g, type t, int depth, bool stmt)
{
    if (depth <= 0 || g->cost > COST_LIMIT) {
        leaf(g, t);
        return;
    }
    int d = depth - 1;
    switch (pick(g, 16)) {
    case 0: conditional(g, t, d, stmt); return;
    case 1: switch_(g, t, d, stmt); return;
    case 2: case 3: let(g, t, d, stmt); return;
    case 4: catch_(g, t, d, stmt); return;
    case 5: try_(g, t, d, stmt); return;
    case 6: leave(g, t, d); return;
    case 7: case 8:
        if (call(g, t, d)) {
            return;
        }
        break;
    case 9: case 10: sequence(g, t, d, stmt); return;
    case 11: leaf(g, t); return;
    default: break;
    }
    switch (t) {
    case INT: int_expr(g, d); return;
    case FLOAT: float_expr(g, d); return;
    case LIST: list_expr(g, d); return;
    default:
        put(g, "(alloc 1277 ");
        expr(g, FLOAT, d, false);
        put(g, ")");
    }
}

/* --- statements ----------------------------------------------------------------------------- */
static void store(gen *g, int depth)
{
    int k = pick(g, 8);
    put(g, "(store %s ", chunks[k].name);
    address(g, chunks[k].bytes, depth);
    put(g, " ");
    expr(g, INT, depth, false);
    put(g, ")");
}

/* (catch (catch rec (exit loop)
 *         with loop: if i < n then body; i := i + 1; exit loop else exit out)
 *  with out) */
static void loop(gen *g, int depth)
{
    int n = 1 + pick(g, 5), again = g->next_label++, out = g->next_label++, id = g->next_var++;
    int mark = g->nvars;
    put(g,
        "(let_mut \"v/%d\" int 0 (catch (catch rec (exit %d) (with (%d)\n (if (< \"v/%d\" %d) "
        "(seq ",
        id, again, again, id, n);
    if (g->nvars < MAX_VARS) {
        g->vars[g->nvars++] = (variable){INT, id, false};
    }
    g->multiplier *= n;
    g->loops++;
    statement(g, depth);
    put(g, " ");
    statement(g, depth);
    g->loops--;
    g->multiplier /= n;
    g->nvars = mark;
    put(g, " (assign \"v/%d\" (+ \"v/%d\" 1)) (exit %d)) (exit %d)))) (with (%d) [])))", id, id,
        again, out, out);
}

static void statement(gen *g, int depth)
{
    type t = any_type(g);
    const variable *v = choose(g, t, true);
    switch (pick(g, 8)) {
    case 0: case 1: case 2:
        if (v != NULL) {
            put(g, "(assign \"v/%d\" ", v->id);
            expr(g, t, depth, false);
            put(g, ")");
            return;
        }
        store(g, depth);
        return;
    case 3:
        if (g->loops < 2 && depth > 0 && g->cost < COST_LIMIT / 2) {
            loop(g, depth - 1);
            return;
        }
        store(g, depth);
        return;
    case 4:
        put(g, "(if ");
        expr(g, INT, depth, false);
        put(g, " ");
        statement(g, depth - 1);
        put(g, " [])");
        return;
    case 5:
        put(g, chance(g, 50) ? "(poll)" : "(extcall alloc \"cmm_gc\" 1 int->unit)");
        g->cost += 20 * g->multiplier;
        return;
    default: store(g, depth);
    }
}

static void body(gen *g, type t, int depth)
{
    int n = pick(g, 4);
    put(g, "(seq ");
    for (int i = 0; i < n; i++) {
        statement(g, depth - 1);
        put(g, "\n ");
    }
    expr(g, t, depth, true);
    put(g, ")");
}

/* --- programs --------------------------------------------------------------------------------- */
static void write_function(gen *g, int index, type result, int nparams)
{
    function *f = &g->fns[index];
    f->result = result;
    f->nparams = nparams;
    g->nfns = index;
    g->nvars = g->nlabels = g->loops = 0;
    g->next_var = g->next_label = 1;
    g->cost = 0;
    g->multiplier = 1;
    put(g, "(function \"g%" PRIu64 "_f%d\" (", g->seed, index);
    for (int i = 0; i < nparams; i++) {
        f->params[i] = any_type(g);
        put(g, "%s\"v/%d\" %s", i > 0 ? " " : "", declare(g, f->params[i], false),
            type_names[f->params[i]]);
    }
    put(g, chance(g, 50) ? ") () poll_default\n " : ") (reduce_code_size) poll_default\n ");
    /* a body of mutable variables to play with */
    type kinds[] = {INT, FLOAT, LIST};
    int muts = pick(g, 4);
    for (int i = 0; i < muts; i++) {
        type t = kinds[pick(g, 3)];
        int id = g->next_var++;
        put(g, "(let_mut \"v/%d\" %s ", id, type_names[t]);
        expr(g, t, 1, false);
        put(g, "\n ");
        g->vars[g->nvars++] = (variable){t, id, true};
    }
    body(g, result, g->size);
    for (int i = 0; i < muts; i++) {
        put(g, ")");
    }
    put(g, ")\n\n");
    f->cost = g->cost;
}

static void write_argument(gen *g, type t)
{
    if (t == INT) {
        put(g, " %" PRId64, edge_int(g));
    } else if (t == FLOAT) {
        put(g, " ");
        float_const(g);
    } else if (t == LIST) {
        put(g, chance(g, 30) ? " 1" : " (alloc 2048 %d 1)", 2 * pick(g, 1000) + 1);
    } else {
        put(g, " (alloc 1277 ");
        float_const(g);
        put(g, ")");
    }
}

/* The program's own entry: the last function, an int of four parameters at least, called four
 * times; what it raises becomes -777. */
static void write_program(gen *g, uint64_t seed)
{
    g->seed = seed;
    g->state = seed * 0x2545f4914f6cdd1du + 1;
    int n = 1 + pick(g, MAX_FUNCTIONS);
    put(g, "(data \"g%" PRIu64 "_t\":", seed);
    for (int i = 0; i < TABLE_WORDS; i++) {
        put(g, " int %" PRId64, edge_int(g));
    }
    put(g, ")\n");
    for (int i = 0; i < n; i++) {
        bool last = i == n - 1;
        int nparams = chance(g, 20) ? pick(g, MAX_PARAMS + 1) : pick(g, 5);
        write_function(g, i, last ? INT : any_type(g), nparams);
    }
    put(g, "(function \"g%" PRIu64 "_run\" () (reduce_code_size) poll_default (seq\n"
        " (extcall noalloc \"cmm_print_int\" %" PRIu64 " int->unit)\n", seed, seed);
    for (int k = 0; k < 4; k++) {
        put(g, " (extcall noalloc \"cmm_print_int\" (try (app \"g%" PRIu64 "_f%d\"", seed, n - 1);
        for (int i = 0; i < g->fns[n - 1].nparams; i++) {
            write_argument(g, g->fns[n - 1].params[i]);
        }
        put(g, " int) \"v/0\" -777) int->unit)\n");
    }
    put(g, " (extcall noalloc \"cmm_print_int\" ");
    for (int i = 0; i < TABLE_WORDS - 1; i++) {
        put(g, "(xor ");
    }
    for (int i = 0; i < TABLE_WORDS; i++) {
        put(g, "(* %d (load_mut int (+a \"g%" PRIu64 "_t\" %d)))%s ", 2 * i + 1, seed, 8 * i,
            i > 0 ? ")" : "");
    }
    put(g, "int->unit) 1))\n\n");
}

static void write_unit(gen *g, uint64_t seed, uint64_t count)
{
    fprintf(g->out,
            "; cmm lossless 1\n; cmm-gen --seed=%" PRIu64 " --count=%" PRIu64 " --size=%d\n", seed,
            count, g->size);
    for (uint64_t i = 0; i < count; i++) {
        write_program(g, seed + i);
    }
    char unit[40];
    snprintf(unit, sizeof unit, "camlGen%" PRIu64, seed);
    fprintf(g->out, "(function \"%s.entry\" () (reduce_code_size) poll_default (seq\n", unit);
    fprintf(g->out, " (extcall noalloc \"caml_register_named_value\" \"%s.n\" \"%s.b\" ->unit)\n",
            unit, unit);
    for (uint64_t i = 0; i < count; i++) {
        fprintf(g->out, " (app \"g%" PRIu64 "_run\" int)\n", seed + i);
    }
    fprintf(g->out,
            " 1))\n(data int 768 global \"%s\" \"%s\": global \"%s.gc_roots\" \"%s.gc_roots\": int "
            "0)\n",
            unit, unit, unit, unit);
    fprintf(g->out, "(data int 2816 \"%s.b\": addr \"caml_exn_Invalid_argument\" addr \"%s.t\")\n",
            unit, unit);
    fprintf(g->out, "(data int 4092 \"%s.t\": string \"index out of bounds\" skip 4 byte 4)\n",
            unit);
    fprintf(g->out,
            "(data int 5116 \"%s.n\": string \"Pervasives.array_bound_error\" skip 3 byte 3)\n",
            unit);
}

int main(int argc, char **argv)
{
    static gen g;
    uint64_t seed = 1, count = 1;
    g.out = stdout;
    g.size = 5;
    for (int i = 1; i < argc; i++) {
        bool help = strcmp(argv[i], "--help") == 0;
        if (sscanf(argv[i], "--seed=%" SCNu64, &seed) != 1 &&
            sscanf(argv[i], "--count=%" SCNu64, &count) != 1 &&
            sscanf(argv[i], "--size=%d", &g.size) != 1) {
            fprintf(help ? stdout : stderr, "usage: cmm-gen [--seed=N] [--count=K] [--size=S]\n");
            return help ? 0 : 3;
        }
    }
    write_unit(&g, seed, count);
    return ferror(stdout) ? 1 : 0;
}
