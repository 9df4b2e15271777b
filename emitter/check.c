/* check.c - gives every expression its type and refuses what has none.
 *
 * int, val and addr are all words: an operator takes any of them and its result says
 * which it is. Where branches meet, the component that promises most to the GC wins:
 * int < val < addr. In tail position branches may differ (each returns by itself); the
 * node then has the type of the first branch that returns.
 */
#include <string.h>

#include "emitter/unit.h"

typedef struct {
    cmm_unit *unit;
    cmm_function *fn;
} checker;

static cmm_type check(checker *c, cmm_expr *e, bool tail);

static void expected(checker *c, const cmm_expr *e, const char *what) {
    char name[128];
    cmm_error(c->unit, e->pos, "this is %s where %s is needed", cmm_type_name(e->type, name), what);
}

/* --- classes of types ------------------------------------------------------------------ */
static bool is_word(cmm_type t) {
    return t == CMM_NEVER || (cmm_type_count(t) == 1 && cmm_type_at(t, 0) != CMM_FLOAT);
}

static bool is_float(cmm_type t) {
    return t == CMM_NEVER || cmm_is_float(t);
}

static bool same_registers(cmm_type a, cmm_type b) {
    if (a == CMM_NEVER || b == CMM_NEVER) {
        return true;
    }
    bool same = cmm_type_count(a) == cmm_type_count(b);
    for (unsigned i = 0; same && i < cmm_type_count(a); i++) {
        same = (cmm_type_at(a, i) == CMM_FLOAT) == (cmm_type_at(b, i) == CMM_FLOAT);
    }
    return same;
}

/* The type that covers both; they have the same registers. */
static cmm_type join(cmm_type a, cmm_type b) {
    if (a == CMM_NEVER || b == CMM_NEVER) {
        return a == CMM_NEVER ? b : a;
    }
    cmm_type t = CMM_UNIT;
    for (unsigned i = 0; i < cmm_type_count(a); i++) {
        cmm_component x = cmm_type_at(a, i), y = cmm_type_at(b, i);
        t = cmm_type_add(t, x == CMM_FLOAT || x > y ? x : y);
    }
    return t;
}

static void join_branch(checker *c, cmm_type *all, const cmm_expr *branch, bool tail) {
    char a[128], b[128];
    if (same_registers(*all, branch->type)) {
        *all = join(*all, branch->type);
    } else if (!tail) {
        cmm_error(c->unit, branch->pos, "this branch is %s, an earlier one %s",
                  cmm_type_name(branch->type, a), cmm_type_name(*all, b));
    }
}

/* --- arguments ---------------------------------------------------------------------------- */
static void word(checker *c, cmm_expr *e) {
    if (!is_word(check(c, e, false))) {
        expected(c, e, "a word (int, val or addr)");
    }
}

static void real(checker *c, cmm_expr *e) {
    if (!is_float(check(c, e, false))) {
        expected(c, e, "a float");
    }
}

static void operands(checker *c, cmm_expr *e) {
    const char *kinds = cmm_ops[e->kind].args;
    for (uint32_t i = 0; i < e->nargs; i++) {
        (kinds[i] == 'f' ? real : word)(c, e->args[i]);
    }
}

static cmm_type result_type(char letter) {
    switch (letter) {
    case 'i':
        return CMM_TYPE1(CMM_INT);
    case 'v':
        return CMM_TYPE1(CMM_VAL);
    case 'a':
        return CMM_TYPE1(CMM_ADDR);
    case 'f':
        return CMM_TYPE1(CMM_FLOAT);
    case 'n':
        return CMM_NEVER;
    default:
        return CMM_UNIT;
    }
}

/* All components of the arguments from `first` on, counted. */
static uint32_t components(const cmm_expr *e, uint32_t first) {
    uint32_t n = 0;
    for (uint32_t i = first; i < e->nargs; i++) {
        n += cmm_type_count(e->args[i]->type);
    }
    return n;
}

static bool any_never(const cmm_expr *e) {
    for (uint32_t i = 0; i < e->nargs; i++) {
        if (e->args[i]->type == CMM_NEVER) {
            return true;
        }
    }
    return false;
}

static void check_args(checker *c, cmm_expr *e) {
    for (uint32_t i = 0; i < e->nargs; i++) {
        check(c, e->args[i], false);
    }
}

/* --- variables ------------------------------------------------------------------------------ */
static cmm_type check_let(checker *c, cmm_expr *e, bool tail) {
    cmm_var *v = e->u.var;
    cmm_type t = check(c, e->args[0], false);
    if (e->kind == CMM_LET) {
        v->type = t;
    } else if (!same_registers(v->type, t)) {
        char wanted[128];
        expected(c, e->args[0], cmm_type_name(v->type, wanted));
    }
    return check(c, e->args[1], tail);
}

static cmm_type check_assign(checker *c, cmm_expr *e) {
    const cmm_var *v = e->u.var;
    cmm_type t = check(c, e->args[0], false);
    char wanted[128];
    if (!v->is_mutable) {
        cmm_error(c->unit, e->pos, "'%s' cannot be assigned: only letmut variables can",
                  v->name->text);
    } else if (!same_registers(v->type, t)) {
        expected(c, e->args[0], cmm_type_name(v->type, wanted));
    }
    return CMM_UNIT;
}

static cmm_type check_tuple(checker *c, cmm_expr *e) {
    if (e->flags & CMM_BAD) {
        return CMM_NEVER;
    }
    cmm_type t = CMM_UNIT;
    check_args(c, e);
    if (any_never(e)) {
        return CMM_NEVER;
    }
    if (components(e, 0) > CMM_MAX_COMPONENTS) {
        cmm_error(c->unit, e->pos, "a tuple has at most %d components", CMM_MAX_COMPONENTS);
        return CMM_NEVER;
    }
    for (uint32_t i = 0; i < e->nargs; i++) {
        for (unsigned k = 0; k < cmm_type_count(e->args[i]->type); k++) {
            t = cmm_type_add(t, cmm_type_at(e->args[i]->type, k));
        }
    }
    return t;
}

/* --- control ---------------------------------------------------------------------------------- */
static cmm_type check_seq(checker *c, cmm_expr *e, bool tail) {
    for (uint32_t i = 0; i + 1 < e->nargs; i++) {
        check(c, e->args[i], false);
    }
    return check(c, e->args[e->nargs - 1], tail);
}

/* if and switch: args[0] decides, the others are branches. */
static cmm_type check_branches(checker *c, cmm_expr *e, bool tail) {
    cmm_type t = CMM_NEVER;
    word(c, e->args[0]);
    for (uint32_t i = 1; i < e->nargs; i++) {
        check(c, e->args[i], tail);
        join_branch(c, &t, e->args[i], tail);
    }
    return t;
}

static void set_scope(cmm_catch *g, bool on) {
    for (uint32_t i = 0; i < g->count; i++) {
        g->handlers[i]->in_scope = on;
    }
}

static cmm_type check_catch(checker *c, cmm_expr *e, bool tail) {
    cmm_catch *g = e->u.ctch;
    set_scope(g, true);
    cmm_type t = check(c, e->args[0], tail);
    set_scope(g, (e->flags & CMM_RECURSIVE) != 0);
    for (uint32_t i = 0; i < g->count; i++) {
        check(c, e->args[1 + i], tail);
        join_branch(c, &t, e->args[1 + i], tail);
    }
    set_scope(g, false);
    return t;
}

static void check_exit_arg(checker *c, const cmm_expr *arg, const cmm_var *param) {
    char wanted[128];
    if (!same_registers(arg->type, param->type)) {
        expected(c, arg, cmm_type_name(param->type, wanted));
    } else if (arg->type == CMM_TYPE1(CMM_ADDR)) {
        cmm_error(c->unit, arg->pos, "a derived pointer (addr) may not be passed to exit");
    }
}

static cmm_type check_exit(checker *c, cmm_expr *e) {
    const cmm_handler *h = e->u.handler;
    const char *name = h->name != NULL ? h->name->text : "?";
    check_args(c, e);
    if (!h->in_scope && h->owner != NULL) {
        cmm_error(c->unit, e->pos, "label '%s' is not in scope here", name);
    }
    if (h->owner == NULL) {
        return CMM_NEVER; /* the parser said so already */
    }
    if (e->nargs != h->nparams) {
        cmm_error(c->unit, e->pos, "label '%s' takes %u argument%s, not %u", name, h->nparams,
                  h->nparams == 1 ? "" : "s", e->nargs);
        return CMM_NEVER;
    }
    for (uint32_t i = 0; i < e->nargs; i++) {
        check_exit_arg(c, e->args[i], h->params[i]);
    }
    return CMM_NEVER;
}

static cmm_type check_try(checker *c, cmm_expr *e, bool tail) {
    cmm_type t = check(c, e->args[0], false);
    check(c, e->args[1], tail);
    join_branch(c, &t, e->args[1], tail);
    return t;
}

/* --- calls and memory ------------------------------------------------------------------------- */
static cmm_type check_app(checker *c, cmm_expr *e) {
    check_args(c, e);
    if (!is_word(e->args[0]->type)) {
        expected(c, e->args[0], "a function");
    }
    return e->type;
}

/* Float arguments of a C call without types (dialect): their types come from here. */
static void infer_c_types(checker *c, cmm_expr *e) {
    bool floats = false;
    for (uint32_t i = 0; i < e->nargs; i++) {
        floats |= cmm_is_float(e->args[i]->type);
    }
    if (!floats) {
        return;
    }
    cmm_extcall *x = cmm_alloc(c->unit, sizeof *x + e->nargs), *old = e->u.ext;
    *x = *old;
    x->ntypes = e->nargs;
    for (uint32_t i = 0; i < e->nargs; i++) {
        x->types[i] = cmm_is_float(e->args[i]->type) ? CMM_XFLOAT : CMM_XINT;
    }
    e->u.ext = x;
}

static void check_c_arg(checker *c, const cmm_expr *arg, bool wants_float) {
    if (wants_float && !is_float(arg->type)) {
        expected(c, arg, "a float");
    } else if (!wants_float && !is_word(arg->type)) {
        expected(c, arg, "a word (int, val or addr)");
    }
}

static cmm_type check_extcall(checker *c, cmm_expr *e) {
    check_args(c, e);
    const cmm_extcall *x = e->u.ext;
    if (x->ntypes == 0) {
        infer_c_types(c, e);
        x = e->u.ext;
    }
    if (x->ntypes != 0 && x->ntypes != e->nargs) {
        cmm_error(c->unit, e->pos, "'%s' has %u argument type%s and %u argument%s", x->name->text,
                  x->ntypes, x->ntypes == 1 ? "" : "s", e->nargs, e->nargs == 1 ? "" : "s");
        return e->type;
    }
    for (uint32_t i = 0; i < e->nargs; i++) {
        check_c_arg(c, e->args[i], x->ntypes != 0 && x->types[i] == CMM_XFLOAT);
    }
    if (cmm_type_count(e->type) > 1) {
        cmm_error(c->unit, e->pos, "a C function has at most one result");
    }
    return e->type;
}

static cmm_type check_store(checker *c, cmm_expr *e) {
    word(c, e->args[0]);
    (cmm_chunks[e->chunk].is_float ? real : word)(c, e->args[1]);
    return CMM_UNIT;
}

#define MAX_ALLOC 256 /* Max_young_wosize */

static cmm_type check_alloc(checker *c, cmm_expr *e) {
    check_args(c, e);
    cmm_type t = CMM_TYPE1(CMM_VAL);
    if (e->nargs == 0 || e->args[0]->kind != CMM_CONST_INT) {
        cmm_error(c->unit, e->pos, "alloc starts with a header, an integer literal");
        return t;
    }
    if (any_never(e)) {
        return t;
    }
    uint32_t fields = components(e, 1);
    uint64_t header = (uint64_t)e->args[0]->u.i;
    if (fields == 0 || fields > MAX_ALLOC) {
        cmm_error(c->unit, e->pos, "a block of %u words: 1 to %d fit the minor heap", fields,
                  MAX_ALLOC);
    } else if (header >> 10 != fields) {
        cmm_error(c->unit, e->args[0]->pos, "this header says %llu words, the block has %u",
                  (unsigned long long)(header >> 10), fields);
    } else if ((header & 0x300) != 0) {
        cmm_error(c->unit, e->args[0]->pos, "the header of a new block has no colour bits");
    }
    return t;
}

static cmm_type check_opaque(checker *c, cmm_expr *e) {
    cmm_type t = check(c, e->args[0], false);
    if (cmm_type_count(t) > 1) {
        expected(c, e->args[0], "one component");
    }
    return t;
}

/* --- everything ------------------------------------------------------------------------------- */
static cmm_type type_of(checker *c, cmm_expr *e, bool tail) {
    switch (e->kind) {
    case CMM_CONST_INT:
    case CMM_SYMBOL:
    case CMM_RETURN_ADDR:
        return CMM_TYPE1(CMM_INT);
    case CMM_CONST_FLOAT:
        return CMM_TYPE1(CMM_FLOAT);
    case CMM_VAR:
        return e->u.var->type;
    case CMM_TUPLE:
        return check_tuple(c, e);
    case CMM_LET:
    case CMM_LET_MUT:
        return check_let(c, e, tail);
    case CMM_ASSIGN:
        return check_assign(c, e);
    case CMM_SEQ:
        return check_seq(c, e, tail);
    case CMM_IF:
    case CMM_SWITCH:
        return check_branches(c, e, tail);
    case CMM_CATCH:
        return check_catch(c, e, tail);
    case CMM_EXIT:
        return check_exit(c, e);
    case CMM_TRY:
        return check_try(c, e, tail);
    case CMM_APP:
        return check_app(c, e);
    case CMM_EXTCALL:
        return check_extcall(c, e);
    case CMM_STORE:
        return check_store(c, e);
    case CMM_ALLOC:
        return check_alloc(c, e);
    case CMM_OPAQUE:
        return check_opaque(c, e);
    case CMM_LOAD:
        word(c, e->args[0]);
        return CMM_TYPE1(cmm_chunks[e->chunk].value);
    default:
        operands(c, e);
        return result_type(cmm_ops[e->kind].result);
    }
}

static cmm_type check(checker *c, cmm_expr *e, bool tail) {
    return e->type = type_of(c, e, tail);
}

bool cmm_check(cmm_unit *u) {
    for (uint32_t i = 0; i < u->nphrases; i++) {
        checker c = {u, u->phrases[i].function};
        if (c.fn != NULL) {
            check(&c, c.fn->body, true);
        }
    }
    return u->ndiags == 0;
}
