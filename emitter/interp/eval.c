/* eval.c - one function a form.
 *
 * Operands are evaluated right to left. The compiler may evaluate simple ones later
 * (docs/cmm.md, "Order"); that shows only when an operand assigns a variable that
 * another one reads, which is left undefined.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emitter/interp.h"
#include "emitter/interp/interp.h"

static status eval(frame *f, const cmm_expr *e, bool tail, value *out);

status stop(interp *in, const cmm_unit *u, uint32_t pos, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fflush(in->out);
    if (u != NULL && pos != UINT32_MAX) {
        uint32_t line, column;
        cmm_position(u, pos, &line, &column);
        fprintf(in->err, "%s:%u:%u: ", u->file, line, column);
    }
    vfprintf(in->err, format, ap);
    fputc('\n', in->err);
    va_end(ap);
    return STOPS;
}

static status fails(frame *f, const cmm_expr *e, const char *what) {
    return stop(f->in, f->in->units[f->unit], e->pos, "%s", what);
}

/* --- operands ------------------------------------------------------------------------- */
/* args[first..] into vals, the last first. */
static status operands(frame *f, const cmm_expr *e, uint32_t first, value *vals) {
    for (uint32_t i = e->nargs; i-- > first;) {
        status s = eval(f, e->args[i], false, &vals[i - first]);
        if (s != OK) {
            return s;
        }
    }
    return OK;
}

/* Values that live over calls; `held` counts them with the stack (too_deep). */
static value *hold(interp *in, size_t n) {
    value *v = calloc(n, sizeof *v);
    if (v == NULL) {
        abort();
    }
    in->held += n * sizeof *v;
    return v;
}

static void let_go(interp *in, value *v, size_t n) {
    in->held -= n * sizeof *v;
    free(v);
}

static value *scratch(frame *f, const cmm_expr *e) {
    return hold(f->in, (size_t)e->nargs + 1);
}

static void done_with(frame *f, const cmm_expr *e, value *vals) {
    let_go(f->in, vals, (size_t)e->nargs + 1);
}

static void travel(interp *in, const value *vals, size_t n) {
    if (n > in->cap_args) {
        in->cap_args = n;
        in->args = realloc(in->args, n * sizeof *in->args);
        if (in->args == NULL) {
            abort();
        }
    }
    if (n > 0) {
        memcpy(in->args, vals, n * sizeof *vals);
    }
    in->nargs = n;
}

static status raises(interp *in, uint64_t exception) {
    in->exception = exception;
    return RAISES;
}

/* A value that nobody looks at: loads and arithmetic are not even done (they may not trap
 * then), only the effects of what they are made of. */
static status effects(frame *f, const cmm_expr *e, value *out) {
    bool pure = e->kind == CMM_LOAD || (e->kind >= CMM_ADD && e->kind < CMM_NUM_OPS);
    if (!pure) {
        return eval(f, e, false, out);
    }
    for (uint32_t i = e->nargs; i-- > 0;) {
        status s = effects(f, e->args[i], out);
        if (s != OK) {
            return s;
        }
    }
    *out = (value){.n = 1};
    return OK;
}

/* --- atoms, variables ------------------------------------------------------------------- */
static status do_let(frame *f, const cmm_expr *e, bool tail, value *out) {
    value v;
    status s = e->u.var->uses == 0 ? effects(f, e->args[0], &v) : eval(f, e->args[0], false, &v);
    if (s != OK) {
        return s;
    }
    f->vars[e->u.var->id] = v;
    return eval(f, e->args[1], tail, out);
}

static status do_assign(frame *f, const cmm_expr *e, value *out) {
    value v;
    status s = eval(f, e->args[0], false, &v);
    if (s == OK) {
        f->vars[e->u.var->id] = v;
        *out = (value){.n = 0};
    }
    return s;
}

static status do_tuple(frame *f, const cmm_expr *e, value *out) {
    value *vals = scratch(f, e);
    status s = operands(f, e, 0, vals);
    *out = (value){.n = 0};
    for (uint32_t i = 0; s == OK && i < e->nargs; i++) {
        for (unsigned k = 0; k < vals[i].n; k++) {
            out->w[out->n++] = vals[i].w[k];
        }
    }
    done_with(f, e, vals);
    return s;
}

/* --- control -------------------------------------------------------------------------------- */
static status do_seq(frame *f, const cmm_expr *e, bool tail, value *out) {
    for (uint32_t i = 0; i + 1 < e->nargs; i++) {
        status s = effects(f, e->args[i], out);
        if (s != OK) {
            return s;
        }
    }
    return eval(f, e->args[e->nargs - 1], tail, out);
}

static status do_if(frame *f, const cmm_expr *e, bool tail, value *out) {
    value c;
    status s = eval(f, e->args[0], false, &c);
    return s != OK ? s : eval(f, e->args[c.w[0] != 0 ? 1 : 2], tail, out);
}

static status do_switch(frame *f, const cmm_expr *e, bool tail, value *out) {
    value c;
    status s = eval(f, e->args[0], false, &c);
    if (s != OK) {
        return s;
    }
    if (c.w[0] >= e->u.sw->size) {
        return fails(f, e, "switch: out of the table");
    }
    return eval(f, e->args[1 + e->u.sw->index[c.w[0]]], tail, out);
}

/* Leaving the body (and every try in it) by exit ends up here; the loop makes
 * recursive handlers. */
static status do_catch(frame *f, const cmm_expr *e, bool tail, value *out) {
    status s = eval(f, e->args[0], tail, out);
    while (s == EXITS && f->in->handler->owner == e) {
        const cmm_handler *h = f->in->handler;
        for (uint32_t i = 0; i < h->nparams; i++) {
            f->vars[h->params[i]->id] = f->in->args[i];
        }
        s = eval(f, e->args[1 + h->index], tail, out);
    }
    return s;
}

static status do_exit(frame *f, const cmm_expr *e) {
    value *vals = scratch(f, e);
    status s = operands(f, e, 0, vals);
    if (s == OK) {
        travel(f->in, vals, e->nargs);
        f->in->handler = e->u.handler;
        s = EXITS;
    }
    done_with(f, e, vals);
    return s;
}

static status do_try(frame *f, const cmm_expr *e, bool tail, value *out) {
    status s = eval(f, e->args[0], false, out);
    if (s != RAISES) {
        return s;
    }
    f->vars[e->u.var->id] = one(f->in->exception);
    return eval(f, e->args[1], tail, out);
}

/* --- calls ------------------------------------------------------------------------------------ */
static linked *function_at(frame *f, uint64_t address) {
    uint64_t index = (address - (uint64_t)(uintptr_t)f->in->code) / 16;
    return index < f->in->nfunctions ? f->in->functions[index] : NULL;
}

static size_t unit_index(const interp *in, const cmm_unit *u) {
    size_t i = 0;
    while (i < in->nunits && in->units[i] != u) {
        i++;
    }
    return i;
}

/* Arguments are in in->args. A tail call comes back as TAIL and goes on here. */
static status call(interp *in, linked *callee, value *out) {
    for (;;) {
        const cmm_function *fn = callee->fn;
        frame f = {in, fn, unit_index(in, callee->unit), NULL};
        f.vars = hold(in, (size_t)fn->nvars + 1);
        for (uint32_t i = 0; i < fn->nparams; i++) {
            f.vars[fn->params[i]->id] = in->args[i];
        }
        status s = eval(&f, fn->body, true, out);
        let_go(in, f.vars, (size_t)fn->nvars + 1);
        if (s != TAIL) {
            return s;
        }
        callee = in->callee;
    }
}

/* Arguments are matched component by component, as registers are. */
static bool regroup(interp *in, const cmm_function *fn, const value *vals, size_t n) {
    value *flat = calloc(n * CMM_MAX_COMPONENTS + 1, sizeof *flat);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < vals[i].n; k++) {
            flat[count++] = one(vals[i].w[k]);
        }
    }
    value *grouped = calloc(fn->nparams + 1, sizeof *grouped);
    size_t at = 0;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        grouped[i].n = cmm_type_count(fn->params[i]->type);
        for (unsigned k = 0; k < grouped[i].n && at < count; k++) {
            grouped[i].w[k] = flat[at++].w[0];
        }
    }
    travel(in, grouped, fn->nparams);
    size_t wanted = 0;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        wanted += grouped[i].n;
    }
    free(grouped);
    free(flat);
    return wanted <= count; /* closed functions get an environment they do not look at */
}

static status do_app(frame *f, const cmm_expr *e, bool tail, value *out) {
    value *vals = scratch(f, e);
    status s = operands(f, e, 0, vals);
    linked *callee = s == OK ? function_at(f, vals[0].w[0]) : NULL;
    if (s == OK && (callee == NULL || callee->fn == NULL)) {
        s = stop(f->in, f->in->units[f->unit], e->pos, "call of %s",
                 callee != NULL ? callee->name : "something that is no function");
    } else if (s == OK && !regroup(f->in, callee->fn, vals + 1, e->nargs - 1)) {
        s = fails(f, e, "call with too few arguments");
    }
    done_with(f, e, vals);
    if (s != OK) {
        return s;
    }
    if (tail) {
        f->in->callee = callee;
        return TAIL;
    }
    s = call(f->in, callee, out);
    if (s == OK && out->n != cmm_type_count(e->type)) {
        return fails(f, e, "the function has another result than the call says");
    }
    return s;
}

static status do_extcall(frame *f, const cmm_expr *e, value *out) {
    value *vals = scratch(f, e);
    status s = operands(f, e, 0, vals);
    const cmm_extcall *x = e->u.ext;
    for (uint32_t i = 0; i < x->ntypes && i < e->nargs; i++) {
        if (x->types[i] == CMM_XINT32) {
            vals[i].w[0] = (uint64_t)(int64_t)(int32_t)vals[i].w[0];
        }
    }
    if (s == OK && !call_external(f->in, x, vals, e->nargs, e->type, out)) {
        s = stop(f->in, f->in->units[f->unit], e->pos, "unknown C function '%s'", x->name->text);
    }
    done_with(f, e, vals);
    return s;
}

/* --- memory ----------------------------------------------------------------------------------- */
static status do_load(frame *f, const cmm_expr *e, value *out) {
    value a;
    status s = eval(f, e->args[0], false, &a);
    uint64_t w = 0;
    if (s == OK && !load_memory(f->in, a.w[0], (cmm_chunk)e->chunk, &w)) {
        return fails(f, e, "load from outside of memory");
    }
    *out = one(w);
    return s;
}

static status do_store(frame *f, const cmm_expr *e, value *out) {
    value vals[2];
    status s = operands(f, e, 0, vals);
    if (s == OK && !store_memory(f->in, vals[0].w[0], (cmm_chunk)e->chunk, vals[1].w[0])) {
        return fails(f, e, "store outside of memory");
    }
    *out = (value){.n = 0};
    return s;
}

static status do_alloc(frame *f, const cmm_expr *e, value *out) {
    value *vals = scratch(f, e);
    status s = operands(f, e, 1, vals);
    uint64_t at = 0, header = (uint64_t)e->args[0]->u.i;
    if (s == OK && !allocate(f->in, (unsigned)(header >> 10) + 1, &at)) {
        s = fails(f, e, "memory is full");
    }
    if (s == OK) {
        store_memory(f->in, at, CMM_WORD_INT, header);
        *out = one(at + 8);
        for (uint32_t i = 0; i + 1 < e->nargs; i++) {
            for (unsigned k = 0; k < vals[i].n; k++) {
                store_memory(f->in, at += 8, CMM_WORD_INT, vals[i].w[k]);
            }
        }
    }
    done_with(f, e, vals);
    return s;
}

static status do_checkbound(frame *f, const cmm_expr *e, value *out) {
    value vals[2];
    status s = operands(f, e, 0, vals);
    *out = (value){.n = 0};
    /* the exception's identity is the runtime's affair: any value will do */
    return s != OK ? s : vals[1].w[0] < vals[0].w[0] ? OK : raises(f->in, 1);
}

static status do_raise(frame *f, const cmm_expr *e) {
    value v;
    status s = eval(f, e->args[0], false, &v);
    return s != OK ? s : raises(f->in, v.w[0]);
}

/* The product that is rounded together with the sum `e`: its operand's number, -1: none. */
static int fused_product(const machine *m, const cmm_expr *e) {
    if (!(m->fuses & FUSE_SUMS) || (e->kind != CMM_ADDF && e->kind != CMM_SUBF)) {
        return -1;
    }
    if (e->args[1]->kind == CMM_MULF && m->fuses & FUSE_REVERSE) {
        return 1;
    }
    if (e->args[0]->kind == CMM_MULF) {
        return 0;
    }
    return e->kind == CMM_ADDF && e->args[1]->kind == CMM_MULF ? 1 : -1;
}

/* sign * (a * b + c) or so, rounded once. */
static status do_fused(frame *f, const cmm_expr *e, int k, double sign, value *out) {
    value ab[2], c;
    status s = OK;
    for (int i = 1; s == OK && i >= 0; i--) {
        s = i == k ? operands(f, e->args[i], 0, ab) : eval(f, e->args[i], false, &c);
    }
    if (s == OK) {
        double of_product = e->kind == CMM_SUBF && k == 1 ? -sign : sign;
        double of_other = e->kind == CMM_SUBF && k == 0 ? -sign : sign;
        *out = one(bits_of(fma(of_product * double_of(ab[0].w[0]), double_of(ab[1].w[0]),
                               of_other * double_of(c.w[0]))));
    }
    return s;
}

static status do_operator(frame *f, const cmm_expr *e, value *out) {
    bool negated = e->kind == CMM_NEGF && f->in->m->fuses & FUSE_NEGATED &&
                   fused_product(f->in->m, e->args[0]) == 0;
    const cmm_expr *sum = negated ? e->args[0] : e;
    int k = fused_product(f->in->m, sum);
    if (k >= 0) {
        return do_fused(f, sum, k, negated ? -1.0 : 1.0, out);
    }
    value vals[2] = {{.n = 0}, {.n = 0}};
    status s = operands(f, e, 0, vals);
    if (s != OK) {
        return s;
    }
    uint64_t w;
    if (!apply_operator(f->in->m, (cmm_op)e->kind, vals[0].w[0], vals[1].w[0], &w)) {
        return fails(f, e, "division traps or is undefined here");
    }
    *out = one(w);
    return OK;
}

/* --- everything ------------------------------------------------------------------------------- */
/* Of stack and held values: some 400,000 calls of small functions. */
enum { MAX_DEEP_MIB = 768 };

static status too_deep(frame *f, const cmm_expr *e) {
    char here;
    size_t used = (size_t)(f->in->stack_base - &here) + f->in->held;
    if (used <= (size_t)MAX_DEEP_MIB << 20) {
        return OK;
    }
    return stop(f->in, f->in->units[f->unit], e->pos,
                "stack overflow: calls are nested too deeply for the interpreter (%d MiB)",
                MAX_DEEP_MIB);
}

static status eval(frame *f, const cmm_expr *e, bool tail, value *out) {
    switch (e->kind) {
    case CMM_CONST_INT:
        *out = one((uint64_t)e->u.i);
        return OK;
    case CMM_CONST_FLOAT:
        *out = one(e->u.bits);
        return OK;
    case CMM_SYMBOL:
        *out = one(symbol_of(f->in, f->unit, e->u.sym)->address);
        return OK;
    case CMM_RETURN_ADDR:
        *out = one(0);
        return OK;
    case CMM_VAR:
        *out = f->vars[e->u.var->id];
        return OK;
    case CMM_TUPLE:
        return do_tuple(f, e, out);
    case CMM_LET:
    case CMM_LET_MUT:
        return do_let(f, e, tail, out);
    case CMM_ASSIGN:
        return do_assign(f, e, out);
    case CMM_SEQ:
        return do_seq(f, e, tail, out);
    case CMM_IF:
        return do_if(f, e, tail, out);
    case CMM_SWITCH:
        return do_switch(f, e, tail, out);
    case CMM_CATCH:
        return do_catch(f, e, tail, out);
    case CMM_EXIT:
        return do_exit(f, e);
    case CMM_TRY:
        return do_try(f, e, tail, out);
    case CMM_APP:
        return too_deep(f, e) == OK ? do_app(f, e, tail, out) : STOPS;
    case CMM_EXTCALL:
        return do_extcall(f, e, out);
    case CMM_LOAD:
        return do_load(f, e, out);
    case CMM_STORE:
        return do_store(f, e, out);
    case CMM_ALLOC:
        return do_alloc(f, e, out);
    case CMM_RAISE:
    case CMM_RERAISE:
    case CMM_RAISE_NOTRACE:
        return do_raise(f, e);
    case CMM_CHECKBOUND:
        return do_checkbound(f, e, out);
    case CMM_OPAQUE:
        return eval(f, e->args[0], false, out);
    case CMM_POLL:
        *out = (value){.n = 0};
        return OK;
    case CMM_DLS_GET:
        *out = one(1);
        return eval(f, e->args[0], false, &(value){.n = 0});
    default:
        return do_operator(f, e, out);
    }
}

/* --- programs --------------------------------------------------------------------------------- */
static bool run_function(interp *in, linked *l) {
    value result;
    in->nargs = 0;
    status s = call(in, l, &result);
    if (s == RAISES) {
        stop(in, NULL, UINT32_MAX, "uncaught exception %llu", (unsigned long long)in->exception);
    }
    return s == OK;
}

static bool is_entry(const linked *l, const char *entry) {
    size_t n = strlen(l->name);
    return l->fn != NULL && (entry != NULL ? strcmp(l->name, entry) == 0
                                           : n > 6 && strcmp(l->name + n - 6, ".entry") == 0);
}

static bool takes_nothing(interp *in, const linked *s) {
    if (s->fn->nparams > 0) {
        stop(in, NULL, UINT32_MAX, "%s takes parameters: no function to start with",
             s->name);
    }
    return s->fn->nparams == 0;
}

bool cmm_interpret(cmm_unit *const *units, size_t nunits, const char *target, const char *entry,
                   FILE *out, FILE *err) {
    char here;
    interp in = {.m = machine_by_name(target),
                 .units = units,
                 .nunits = nunits,
                 .out = out,
                 .err = err,
                 .stack_base = &here};
    bool ok = in.m != NULL && link_units(&in);
    size_t found = 0;
    for (size_t i = 0; ok && i < in.nsymbols; i++) {
        if (is_entry(&in.symbols[i], entry)) {
            found++;
            ok = takes_nothing(&in, &in.symbols[i]) && run_function(&in, &in.symbols[i]);
        }
    }
    if (ok && found == 0) {
        stop(&in, NULL, UINT32_MAX, "no function to run%s%s", entry != NULL ? ": " : "",
             entry != NULL ? entry : " (none is named *.entry)");
    }
    fflush(out);
    unlink_units(&in);
    return ok && found > 0;
}
