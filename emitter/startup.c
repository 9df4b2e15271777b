/* startup.c - the start-up unit as lossless Cmm text.
 *
 *   caml_program          calls every unit's entry, counting in caml_globals_inited
 *   caml_globals          X.gc_roots of every unit, 0
 *   caml_code_segments    code_begin, code_end of the start-up unit and of every unit, 0
 *   caml_data_segments    the same for data
 *   caml_frametable       X.frametable of start-up, runtime stubs and every unit, 0
 *   caml_globals_map      empty (only natdynlink looks)
 *   caml_exn_*            the predefined exceptions
 *   generic functions     caml_applyN, caml_curryN..., caml_tuplifyN, caml_sendN
 *
 * Closures (words):   arity 1        arity n > 1 or tupled
 *                 0   code           caml_curryN or caml_tuplifyN
 *                 1   closinfo       closinfo = arity << 56 | start of environment << 1 | 1
 *                 2   environment    direct code
 *                 3                  environment
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/cmmc.h"

static long long closinfo(int arity, int env) {
    return (long long)((unsigned long long)(unsigned char)arity << 56 | (unsigned)env << 1 | 1);
}

/* "a1/1" val ... as parameters or, without types, as arguments */
static void names(FILE *out, int first, int last, bool types) {
    for (int i = first; i <= last; i++) {
        fprintf(out, types ? " \"a%d/%d\" val" : " \"a%d/%d\"", i, i);
    }
}

static void open_function(FILE *out, const char *name) {
    fprintf(out, "(function \"%s\" (", name);
}

/* Calls closure "c/0" with a1..an: directly when its arity is n, else one by one. */
static void apply_body(FILE *out, int n) {
    if (n == 1) {
        fputs("(app (load_mut int \"c/0\") \"a1/1\" \"c/0\" val)", out);
        return;
    }
    fprintf(out,
            "(if (== (>>s (load_mut int (+a \"c/0\" 8)) 56) %d)\n"
            "  (app (load_mut int (+a \"c/0\" 16))",
            n);
    names(out, 1, n, false);
    fputs(" \"c/0\" val)\n ", out);
    for (int i = 1; i < n; i++) {
        const int c = i == 1 ? 0 : 1000 + i - 1;
        fprintf(out, " (let \"c/%d\" (app (load_mut int \"c/%d\") \"a%d/%d\" \"c/%d\" val)",
                1000 + i, c, i, i, c);
    }
    const int c = 1000 + n - 1;
    fprintf(out, " (app (load_mut int \"c/%d\") \"a%d/%d\" \"c/%d\" val)", c, n, n, c);
    for (int i = 0; i < n; i++) {
        fputs(")", out);
    }
}

static void apply(FILE *out, int n) {
    char name[40];
    snprintf(name, sizeof name, "caml_apply%d", n);
    open_function(out, name);
    names(out, 1, n, true);
    fputs(" \"c/0\" val) () poll_default\n ", out);
    apply_body(out, n);
    fputs(")\n\n", out);
}

static void tuplify(FILE *out, int n) {
    fprintf(out,
            "(function \"caml_tuplify%d\" (\"t/0\" val \"c/1\" val) () poll_default\n"
            " (app (load_mut int (+a \"c/1\" 16))",
            n);
    for (int i = 0; i < n; i++) {
        fprintf(out, i == 0 ? " (load_mut val \"t/0\")" : " (load_mut val (+a \"t/0\" %d))", 8 * i);
    }
    fputs(" \"c/1\" val))\n\n", out);
}

/* --- currying -------------------------------------------------------------------------------
 * Stage k holds k arguments, the newest in its own block and the older ones along the chain.
 *   long block (5 fields)                    short block (4 fields)
 *   0 caml_curryN_k                          0 caml_curryN_k
 *   1 closinfo: arity N - k, env 3           1 closinfo: arity 1, env 2
 *   2 caml_curryN_k_app                      2 argument k
 *   3 argument k                             3 block of stage k - 1, or the closure
 *   4 block of stage k - 1, or the closure
 * A block is long when N - k > 1 and N <= 15.                                              */
enum { MAX_APP = 15 };

static bool is_long(int n, int k) {
    return n - k > 1 && n <= MAX_APP;
}

/* The function that takes argument k + 1 and makes the block of stage k + 1. */
static void curry_stage(FILE *out, int n, int k) {
    char name[64];
    snprintf(name, sizeof name, k == 0 ? "caml_curry%d" : "caml_curry%d_%d", n, k);
    open_function(out, name);
    fputs("\"a/0\" val \"c/1\" val) () poll_default\n ", out);
    if (is_long(n, k + 1)) {
        fprintf(
            out,
            "(alloc 5367 \"caml_curry%d_%d\" %lld \"caml_curry%d_%d_app\" \"a/0\" \"c/1\"))\n\n", n,
            k + 1, closinfo(n - k - 1, 3), n, k + 1);
    } else {
        fprintf(out, "(alloc 4343 \"caml_curry%d_%d\" %lld \"a/0\" \"c/1\"))\n\n", n, k + 1,
                closinfo(1, 2));
    }
}

/* Opens lets for "x1/.." ... "xk/..", the collected arguments, and "f/0", the closure;
 * "c/k" is the block of stage k. Returns how many parentheses to close. */
static int collect(FILE *out, int n, int k) {
    int open = 0;
    for (int s = k; s >= 1; s--, open += 2) {
        int arg = is_long(n, s) ? 24 : 16;
        char next[32];
        snprintf(next, sizeof next, s == 1 ? "f/0" : "c/%d", s - 1);
        fprintf(out,
                "(let \"x/%d\" (load_mut val (+a \"c/%d\" %d))\n "
                "(let \"%s\" (load_mut val (+a \"c/%d\" %d))\n ",
                100 + s, s, arg, next, s, arg + 8);
    }
    return open;
}

static void call_direct(FILE *out, int n, int k) {
    int open = collect(out, n, k);
    fputs("(app (load_mut int (+a \"f/0\" 16))", out);
    for (int i = 1; i <= k; i++) {
        fprintf(out, " \"x/%d\"", 100 + i);
    }
    names(out, k + 1, n, false);
    fputs(" \"f/0\" val)", out);
    while (open-- > 0) {
        fputs(")", out);
    }
    fputs(")\n\n", out);
}

/* caml_curryN_k_app and, for the last stage, caml_curryN_(N-1): the rest at once. */
static void curry_call(FILE *out, int n, int k, const char *suffix) {
    fprintf(out, "(function \"caml_curry%d_%d%s\" (", n, k, suffix);
    names(out, k + 1, n, true);
    fprintf(out, " \"c/%d\" val) () poll_default\n ", k);
    call_direct(out, n, k);
}

static void curry(FILE *out, int n) {
    for (int k = 0; k < n - 1; k++) {
        curry_stage(out, n, k);
        if (k > 0 && is_long(n, k)) {
            curry_call(out, n, k, "_app");
        }
    }
    curry_call(out, n, n - 1, "");
}

/* --- methods ------------------------------------------------------------------------------------
 * meths: word 0 the number of methods (tagged), word 1 the mask, then closure and tag in
 * turns, sorted by tag. cache[0]: offset of the last hit. */
static const char find_method[] =
    "(let \"meths/1001\" (load_mut val \"a1/1\")\n"
    " (let \"cached/1002\" (and (load_mut int \"cache/1000\") (load_mut int (+a \"meths/1001\" "
    "8)))\n"
    " (let \"pos/1003\"\n"
    "  (if (!= (load_mut int (+a (+a \"cached/1002\" \"meths/1001\") 23)) \"tag/999\")\n"
    "   (let_mut \"lo/1004\" int 3\n"
    "   (let_mut \"hi/1005\" int (load_mut int \"meths/1001\")\n"
    "   (seq\n"
    "    (catch (catch rec (exit 1)\n"
    "      (with (1)\n"
    "       (if (< \"lo/1004\" \"hi/1005\")\n"
    "        (seq\n"
    "         (let \"mid/1006\" (or (>>u (+ \"lo/1004\" \"hi/1005\") 1) 1)\n"
    "          (if (< \"tag/999\" (load_mut int (+a \"meths/1001\" (<< \"mid/1006\" 3))))\n"
    "           (assign \"hi/1005\" (- \"mid/1006\" 2))\n"
    "           (assign \"lo/1004\" \"mid/1006\")))\n"
    "         (exit 1))\n"
    "        (exit 2))))\n"
    "     (with (2) []))\n"
    "    (let \"new/1007\" (- (<< \"lo/1004\" 3) 23)\n"
    "     (seq (store int \"cache/1000\" \"new/1007\") \"new/1007\")))))\n"
    "   \"cached/1002\")\n"
    " (let \"c/0\" (load_mut val (+a (+a \"pos/1003\" \"meths/1001\") 15))\n ";

/* caml_sendN(object, tag, cache, N arguments) */
static void send(FILE *out, int n) {
    char name[40];
    snprintf(name, sizeof name, "caml_send%d", n);
    open_function(out, name);
    fputs("\"a1/1\" val \"tag/999\" int \"cache/1000\" int", out);
    names(out, 2, n + 1, true);
    fprintf(out, ") () poll_default\n %s", find_method);
    apply_body(out, n + 1);
    fputs("))))\n)\n\n", out);
}

/* --- which ones ------------------------------------------------------------------------------- */
static const struct {
    const char *prefix;
    void (*make)(FILE *, int);
    int min;
} generics[] = {{"caml_apply", apply, 2},
                {"caml_curry", curry, 2},
                {"caml_tuplify", tuplify, 2},
                {"caml_send", send, 0}};

static void make_generic(FILE *out, const char *name) {
    for (size_t i = 0; i < sizeof generics / sizeof *generics; i++) {
        size_t n = strlen(generics[i].prefix);
        char *end;
        if (strncmp(name, generics[i].prefix, n) == 0 && name[n] >= '0' && name[n] <= '9') {
            long count = strtol(name + n, &end, 10);
            if (*end == 0 && count >= generics[i].min && count < 500) {
                generics[i].make(out, (int)count);
            }
        }
    }
}

static bool listed(const char *const *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* --- data ------------------------------------------------------------------------------------- */
static void string_block(FILE *out, const char *symbol, const char *text) {
    size_t len = strlen(text), words = len / 8 + 1, pad = words * 8 - 1 - len;
    fprintf(out, "(data int %zu \"%s\": string \"%s\" skip %zu byte %zu)\n",
            words << 10 | 0x300 | 252, symbol, text, pad, pad);
}

static void exceptions(FILE *out) {
    static const char *const list[] = {
        "Out_of_memory",  "Sys_error",        "Failure",        "Invalid_argument",
        "End_of_file",    "Division_by_zero", "Not_found",      "Match_failure",
        "Stack_overflow", "Sys_blocked_io",   "Assert_failure", "Undefined_recursive_module"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char symbol[64];
        snprintf(symbol, sizeof symbol, "caml_startup.%zu", i + 1);
        fprintf(out, "(data int %d global \"caml_exn_%s\" \"caml_exn_%s\": addr \"%s\" int %zd)\n",
                2 << 10 | 0x300 | 248, list[i], list[i], symbol, -2 * (ssize_t)i - 1);
        string_block(out, symbol, list[i]);
    }
}

static void quoted(FILE *out, const char *s) {
    for (; *s != 0; s++) {
        unsigned char c = (unsigned char)*s;
        fprintf(out, c >= 32 && c < 127 && c != '"' && c != '\\' ? "%c" : "\\%03u", c);
    }
}

static void symbol(FILE *out, const char *unit, const char *suffix) {
    fputs("\n addr \"", out);
    quoted(out, unit);
    fprintf(out, "%s\"", suffix);
}

static void open_table(FILE *out, const char *name) {
    fprintf(out, "(data global \"%s\" \"%s\":", name, name);
}

static void close_table(FILE *out) {
    fputs("\n int 0)\n", out);
}

static void globals(FILE *out, const cmmc_startup_unit *units, size_t n) {
    open_table(out, "caml_globals");
    for (size_t i = 0; i < n; i++) {
        if (units[i].roots) {
            symbol(out, units[i].symbol, ".gc_roots");
        }
    }
    close_table(out);
}

/* Pairs of addresses for the start-up unit and all others. */
static void segments(FILE *out, const char *name, const cmmc_startup_unit *units, size_t n,
                     const char *begin, const char *end) {
    open_table(out, name);
    symbol(out, "caml_startup", begin);
    symbol(out, "caml_startup", end);
    for (size_t i = 0; i < n; i++) {
        symbol(out, units[i].symbol, begin);
        symbol(out, units[i].symbol, end);
    }
    close_table(out);
}

static void frametables(FILE *out, const cmmc_startup_unit *units, size_t n) {
    open_table(out, "caml_frametable");
    symbol(out, "caml_startup", ".frametable");
    symbol(out, "caml_system", ".frametable");
    for (size_t i = 0; i < n; i++) {
        symbol(out, units[i].symbol, ".frametable");
    }
    close_table(out);
}

/* The count is an index into caml_globals, so a unit without roots is not counted. */
static void program(FILE *out, const cmmc_startup_unit *units, size_t n) {
    fputs("(function \"caml_program\" () (reduce_code_size) poll_default\n (seq\n", out);
    for (size_t i = 0; i < n; i++) {
        if (units[i].entry) {
            fputs("  (app \"", out);
            quoted(out, units[i].symbol);
            fputs(".entry\" unit)\n", out);
        }
        if (units[i].roots) {
            fputs("  (store int \"caml_globals_inited\""
                  " (+ (load_mut int \"caml_globals_inited\") 1))\n",
                  out);
        }
    }
    fputs("  1))\n\n", out);
}

void cmmc_startup_text(const cmmc_startup_unit *units, size_t nunits, const char *const *needed,
                       size_t nneeded, const cmmc_options *options, FILE *out) {
    (void)options; /* the unit is the same for every target and version */
    fputs("; cmm lossless 1\n", out);
    program(out, units, nunits);
    fputs("(data global \"caml_startup.gc_roots\" \"caml_startup.gc_roots\": int 0)\n", out);
    apply(out, 2);
    apply(out, 3);
    for (size_t i = 0; i < nneeded; i++) {
        bool made = strcmp(needed[i], "caml_apply2") == 0 ||
                    strcmp(needed[i], "caml_apply3") == 0 ||
                    (strncmp(needed[i], "caml_", 5) == 0 && listed(needed, i, needed[i]));
        if (!made) {
            make_generic(out, needed[i]);
        }
    }
    exceptions(out);
    globals(out, units, nunits);
    segments(out, "caml_code_segments", units, nunits, ".code_begin", ".code_end");
    segments(out, "caml_data_segments", units, nunits, ".data_begin", ".data_end");
    frametables(out, units, nunits);
    fputs("(data global \"caml_globals_map\" \"caml_globals_map\": int 0)\n", out);
}
