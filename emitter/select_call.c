/* select_call.c - OCaml calls, C calls, parameters, returns, raise.
 *
 * Places of OCaml arguments (docs/abi.md): registers of each class in turn, then
 * 64 words of the domain state (extra_params), then outgoing stack words. The
 * callee moves the domain words out before anything can run that uses them.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/select.h"

enum { EXTRA_BASE = 1 << 28 }; /* place EXTRA_BASE + n: word n of extra_params */

/* --- the OCaml convention --------------------------------------------------------- */
/* Gives the n components their places; returns the number of outgoing stack words. */
static uint32_t ocaml_places(const sel *s, const uint8_t *comp, unsigned n, lin_place *place)
{
    unsigned ni = 0, nf = 0, extra = 0, stack = 0;
    for (unsigned k = 0; k < n; k++) {
        bool flt = comp[k] == CMM_FLOAT;
        int r = flt ? s->m->float_args[nf] : s->m->int_args[ni];
        if (s->t->c_rules.float_takes_int && flt && s->m->int_args[ni] < 0)
            r = -1; /* no integer position left to use up */
        if (r >= 0) {
            place[k] = r;
            nf += flt;
            ni += !flt || s->t->c_rules.float_takes_int;
        } else if (extra < MACHINE_EXTRA_PARAMS)
            place[k] = EXTRA_BASE + (lin_place)extra++;
        else
            place[k] = LIN_SLOT_BASE + (lin_place)stack++;
    }
    return stack;
}

static void result_places(const sel *s, cmm_type type, lin_place *place)
{
    unsigned ni = 0, nf = 0;
    for (unsigned k = 0; k < cmm_type_count(type); k++)
        place[k] =
            cmm_type_at(type, k) == CMM_FLOAT ? s->m->float_args[nf++] : s->m->int_args[ni++];
}

static lin_call *new_call(sel *s, unsigned nargs)
{
    lin_call *c = lin_alloc(s->f->arena, sizeof *c);
    c->arg = lin_alloc(s->f->arena, (nargs + 1) * sizeof *c->arg);
    return c;
}

/* --- parameters and returns ---------------------------------------------------------- */
static void load_parameter(sel *s, lin_vreg v, lin_place place, cmm_component c)
{
    bool extra = place >= EXTRA_BASE;
    lin_insn *i = sel_emit(s, extra ? LIN_LOADDOM : LIN_INCOMING, 1, 0);
    i->imm = extra ? s->m->off_extra_params + 8 * (int64_t)(place - EXTRA_BASE)
                   : place - LIN_SLOT_BASE;
    i->chunk = c == CMM_FLOAT ? CMM_DOUBLE : CMM_WORD_INT;
    lin_res(i, 0)->v = v;
}

/* No caller could push more, and ports reach them by one displacement. */
static void check_incoming(lin_function *f)
{
    uint64_t bytes = 8 * (uint64_t)f->nincoming;
    if (bytes >= LIN_FRAME_LIMIT)
        cmm_error(f->unit, f->source->pos,
                  "function %s takes %lu bytes of parameters on the stack; frames, the caller's "
                  "too, hold less than %d",
                  f->source->name->text, (unsigned long)bytes, LIN_FRAME_LIMIT);
}

static void place_parameters(sel *s, const uint8_t *comp)
{
    lin_place *place = lin_alloc(s->f->arena, (s->nparams + 1) * sizeof *place);
    s->f->nincoming = ocaml_places(s, comp, s->nparams, place);
    check_incoming(s->f);
    unsigned nregs = 0;
    for (unsigned k = 0; k < s->nparams; k++)
        nregs += lin_is_reg(place[k]);
    lin_insn *i = sel_emit(s, LIN_PARAMS, nregs, 0);
    i->u.call = new_call(s, nregs);
    for (unsigned k = 0, r = 0; k < s->nparams; k++)
        if (lin_is_reg(place[k])) {
            lin_res(i, r)->v = s->params[k];
            i->u.call->arg[r++] = place[k];
        }
    for (unsigned k = 0; k < s->nparams; k++)
        if (!lin_is_reg(place[k]))
            load_parameter(s, s->params[k], place[k], (cmm_component)comp[k]);
}

void sel_parameters(sel *s)
{
    unsigned n = 0;
    for (uint32_t p = 0; p < s->source->nparams; p++)
        n += cmm_type_count(s->source->params[p]->type);
    s->params = lin_alloc(s->f->arena, (n + 1) * sizeof *s->params);
    uint8_t *comp = lin_alloc(s->f->arena, n + 1);
    for (uint32_t p = 0; p < s->source->nparams; p++) {
        const cmm_var *var = s->source->params[p];
        binding *b = sel_binding(s, var);
        b->n = cmm_type_count(var->type);
        b->v = s->params + s->nparams;
        for (unsigned k = 0; k < b->n; k++) {
            comp[s->nparams] = (uint8_t)cmm_type_at(var->type, k);
            s->params[s->nparams] = lin_new_vreg(s->f, (cmm_component)comp[s->nparams]);
            s->f->v[s->params[s->nparams++]].pos = var->pos;
        }
    }
    place_parameters(s, comp);
    s->self = sel_block(s);
    sel_jump(s, s->self);
    sel_at(s, s->self);
}

void sel_return(sel *s, const val *d)
{
    lin_insn *i = sel_emit(s, LIN_RETURN, 0, d->n);
    i->u.call = new_call(s, d->n);
    unsigned ni = 0, nf = 0;
    for (unsigned k = 0; k < d->n; k++) {
        bool flt = s->f->v[d->v[k]].component == CMM_FLOAT;
        lin_arg(i, k)->v = d->v[k];
        i->u.call->arg[k] = flt ? s->m->float_args[nf++] : s->m->int_args[ni++];
    }
    sel_finish(s, i, 0, NULL);
}

/* --- OCaml calls -------------------------------------------------------------------------- */
typedef struct {
    unsigned n;
    lin_vreg *v;
    uint8_t *comp;
    lin_place *place;
    uint32_t stack;
} arguments;

static void eval_simple(sel *s, const cmm_expr *e, unsigned first, arguments *a, lin_vreg *callee)
{
    sel_opn *o = lin_alloc(s->f->arena, e->nargs * sizeof *o);
    sel_args(s, e->args + first, e->nargs - first, o);
    for (unsigned k = 0; k < e->nargs - first; k++) {
        lin_vreg v = sel_operand(s, o[k]);
        if (first + k == 0) {
            *callee = v;
            continue;
        }
        a->comp[a->n] = (uint8_t)cmm_type_at(e->args[first + k]->type, 0);
        a->v[a->n++] = v;
    }
}

/* Some argument has no or several components: strictly right to left. */
static void eval_general(sel *s, const cmm_expr *e, unsigned first, arguments *a, lin_vreg *callee)
{
    unsigned at = a->n;
    for (uint32_t k = e->nargs; k-- > first;) {
        val d = {.n = 0};
        sel_expr(s, e->args[k], &d);
        if (k == 0) {
            *callee = d.v[0];
            break;
        }
        at -= cmm_type_count(e->args[k]->type);
        for (unsigned j = 0; j < d.n; j++) {
            a->v[at + j] = d.v[j];
            a->comp[at + j] = (uint8_t)cmm_type_at(e->args[k]->type, j);
        }
    }
}

/* Evaluates callee (unless it is a symbol) and arguments; false: not reached. */
static bool eval_call(sel *s, const cmm_expr *e, arguments *a, lin_vreg *callee)
{
    unsigned first = e->args[0]->kind == CMM_SYMBOL, n = 0;
    bool simple = true;
    for (uint32_t k = 1; k < e->nargs; k++) {
        n += cmm_type_count(e->args[k]->type);
        simple &= cmm_type_count(e->args[k]->type) == 1;
    }
    *a = (arguments){.n = 0};
    a->v = lin_alloc(s->f->arena, (n + 1) * sizeof *a->v);
    a->comp = lin_alloc(s->f->arena, n + 1);
    a->place = lin_alloc(s->f->arena, (n + 1) * sizeof *a->place);
    *callee = 0;
    if (simple)
        eval_simple(s, e, first, a, callee);
    else {
        a->n = n;
        eval_general(s, e, first, a, callee);
    }
    a->stack = ocaml_places(s, a->comp, a->n, a->place);
    return s->b != NULL;
}

static void store_extras(sel *s, const arguments *a)
{
    for (unsigned k = 0; k < a->n; k++)
        if (a->place[k] >= EXTRA_BASE) {
            lin_insn *i = sel_emit(s, LIN_STOREDOM, 0, 1);
            i->imm = s->m->off_extra_params + 8 * (int64_t)(a->place[k] - EXTRA_BASE);
            i->chunk = a->comp[k] == CMM_FLOAT ? CMM_DOUBLE : CMM_WORD_INT;
            lin_arg(i, 0)->v = a->v[k];
        }
}

/* Outgoing stack words, `words` of them, for arguments with slot places. */
static void push_stack_args(sel *s, uint32_t words, unsigned n, const lin_vreg *v,
                            const lin_place *place)
{
    if (!words)
        return;
    uint32_t bytes = (8 * words + 15) & ~15u;
    sel_emit(s, LIN_PUSHAREA, 0, 0)->imm = bytes;
    for (unsigned k = 0; k < n; k++)
        if (lin_is_slot(place[k]) && place[k] < EXTRA_BASE) {
            lin_insn *i = sel_emit(s, LIN_STOREARG, 0, 1);
            i->imm = 8 * (int64_t)(place[k] - LIN_SLOT_BASE);
            lin_arg(i, 0)->v = v[k];
        }
    if (bytes > s->f->max_outgoing)
        s->f->max_outgoing = bytes;
}

static lin_insn *new_call_insn(sel *s, lin_op op, unsigned nres, unsigned n, const lin_vreg *v,
                               const lin_place *place, lin_vreg callee)
{
    unsigned nregs = 0;
    for (unsigned k = 0; k < n; k++)
        nregs += lin_is_reg(place[k]);
    lin_insn *i = sel_emit(s, op, nres, nregs + (callee != 0));
    i->u.call = new_call(s, nregs + 1);
    nregs = 0;
    for (unsigned k = 0; k < n; k++)
        if (lin_is_reg(place[k])) {
            lin_arg(i, nregs)->v = v[k];
            i->u.call->arg[nregs++] = place[k];
        }
    if (callee) {
        lin_arg(i, nregs)->v = callee;
        i->u.call->arg[nregs] = LIN_NONE;
    }
    return i;
}

static lin_insn *call_insn(sel *s, lin_op op, const cmm_expr *e, const arguments *a,
                           lin_vreg callee)
{
    store_extras(s, a);
    push_stack_args(s, a->stack, a->n, a->v, a->place);
    unsigned nres = op == LIN_CALL ? cmm_type_count(e->type) : 0;
    lin_insn *i = new_call_insn(s, op, nres, a->n, a->v, a->place, callee);
    if (!callee)
        i->sym = e->args[0]->u.sym;
    i->u.call->stack_words = a->stack;
    i->dbg = e->dbg; /* its descriptor has no location unless the node itself has one */
    return i;
}

void sel_apply(sel *s, const cmm_expr *e, val *d)
{
    arguments a;
    lin_vreg callee;
    if (!eval_call(s, e, &a, &callee))
        return;
    lin_insn *i = call_insn(s, LIN_CALL, e, &a, callee);
    s->f->calls_ocaml = true;
    result_places(s, e->type, i->u.call->result);
    i->u.call->fixed_results = true;
    d->n = i->nres;
    for (unsigned k = 0; k < i->nres; k++)
        d->v[k] = lin_res(i, k)->v =
            d->v[k] ? d->v[k] : lin_new_vreg(s->f, cmm_type_at(e->type, k));
    if (e->type == CMM_NEVER)
        sel_finish(s, sel_emit(s, LIN_RETURN, 0, 0), 0, NULL);
}

static bool calls_itself(const sel *s, const cmm_expr *e, const arguments *a)
{
    if (e->args[0]->kind != CMM_SYMBOL || e->args[0]->u.sym != s->source->name ||
        a->n != s->nparams)
        return false;
    for (unsigned k = 0; k < a->n; k++)
        if ((s->f->v[s->params[k]].component == CMM_FLOAT) != (a->comp[k] == CMM_FLOAT))
            return false;
    return true;
}

static void jump_to_self(sel *s, const arguments *a)
{
    if (a->n)
        sel_parallel(s, a->n, s->params, a->v);
    sel_jump(s, s->self);
}

/* Parameters that the callee would find on the stack rule a tail call out. */
static bool fits_registers(sel *s, const cmm_expr *e)
{
    unsigned n = 0;
    for (uint32_t k = 1; k < e->nargs; k++)
        n += cmm_type_count(e->args[k]->type);
    uint8_t *comp = lin_alloc(s->f->arena, n + 1);
    lin_place *place = lin_alloc(s->f->arena, (n + 1) * sizeof *place);
    n = 0;
    for (uint32_t k = 1; k < e->nargs; k++)
        for (unsigned j = 0; j < cmm_type_count(e->args[k]->type); j++)
            comp[n++] = (uint8_t)cmm_type_at(e->args[k]->type, j);
    return ocaml_places(s, comp, n, place) == 0;
}

bool sel_tail_apply(sel *s, const cmm_expr *e)
{
    bool self = e->args[0]->kind == CMM_SYMBOL && e->args[0]->u.sym == s->source->name;
    if (s->trap_depth > 0 || (!self && !fits_registers(s, e)))
        return false;
    arguments a;
    lin_vreg callee;
    if (self && !fits_registers(s, e)) {
        unsigned n = 0;
        for (uint32_t k = 1; k < e->nargs; k++)
            n += cmm_type_count(e->args[k]->type);
        if (n != s->nparams)
            return false;
    }
    if (!eval_call(s, e, &a, &callee))
        return true;
    if (calls_itself(s, e, &a))
        jump_to_self(s, &a);
    else
        sel_finish(s, call_insn(s, LIN_TAILCALL, e, &a, callee), 0, NULL);
    return true;
}

/* --- C calls ---------------------------------------------------------------------------------- */
/* Outgoing words start after the port's home area; a place of LIN_SLOT_BASE + n is
 * word n of the whole area. */
static uint32_t c_places(const sel *s, const uint8_t *comp, unsigned n, lin_place *place)
{
    const target_c_rules *rules = &s->t->c_rules;
    unsigned ni = 0, nf = 0, stack = 0;
    for (unsigned k = 0; k < n; k++) {
        int r;
        if (comp[k] == CMM_FLOAT) {
            r = s->m->c_float_args[nf];
            if (r >= 0)
                nf++, ni += rules->float_takes_int;
            else if (rules->float_in_int && s->m->c_int_args[ni] >= 0)
                r = s->m->c_int_args[ni++];
        } else {
            unsigned at = ni;
            r = at < 16 ? s->m->c_int_args[at] : -1;
            ni += r >= 0;
        }
        if (r >= 0)
            place[k] = r;
        else
            place[k] = LIN_SLOT_BASE + (lin_place)(rules->home_words ? k : stack), stack++;
    }
    if (!stack)
        return 0;
    return rules->home_words ? n : stack;
}

static unsigned c_components(const cmm_expr *e, uint8_t *comp)
{
    unsigned n = 0;
    for (uint32_t k = 0; k < e->nargs; k++)
        for (unsigned j = 0; j < cmm_type_count(e->args[k]->type); j++) {
            bool declared = e->u.ext->ntypes > k;
            bool flt = declared ? e->u.ext->types[k] == CMM_XFLOAT
                                : cmm_type_at(e->args[k]->type, j) == CMM_FLOAT;
            comp[n++] = flt ? CMM_FLOAT : CMM_INT;
        }
    return n;
}

typedef struct {
    const char *name;
    lin_op op;
    int imm;
} inline_c;

static const inline_c inlines[] = {
    {"sqrt", LIN_FSQRT, 0},
    {"caml_bswap16_direct", LIN_BSWAP, 16},
    {"caml_int32_direct_bswap", LIN_BSWAP, 32},
    {"caml_int64_direct_bswap", LIN_BSWAP, 64},
    {"caml_nativeint_direct_bswap", LIN_BSWAP, 64},
};

static const inline_c *find_inline(const sel *s, const cmm_expr *e)
{
    if (e->u.ext->alloc || e->nargs != 1 || cmm_type_count(e->args[0]->type) != 1 ||
        cmm_type_count(e->type) != 1)
        return NULL;
    for (size_t k = 0; k < sizeof inlines / sizeof *inlines; k++)
        if (strcmp(inlines[k].name, e->u.ext->name->text) == 0)
            return (inlines[k].op == LIN_FSQRT ? s->t->has_sqrt : s->t->has_bswap) ? &inlines[k]
                                                                                   : NULL;
    return NULL;
}

static void sel_inline(sel *s, const cmm_expr *e, const inline_c *c, val *d)
{
    lin_vreg a = sel_word(s, e->args[0], 0);
    lin_insn *i = sel_emit(s, c->op, 1, 1);
    i->imm = c->imm;
    lin_arg(i, 0)->v = a;
    d->n = 1;
    d->v[0] = lin_res(i, 0)->v = sel_target(s, e, d->v[0]);
}

static unsigned eval_c_args(sel *s, const cmm_expr *e, lin_vreg *v)
{
    sel_opn *o = lin_alloc(s->f->arena, (e->nargs + 1) * sizeof *o);
    unsigned n = 0;
    for (uint32_t k = 0; k < e->nargs; k++)
        if (cmm_type_count(e->args[k]->type) != 1) { /* strictly right to left */
            unsigned total = 0, at;
            for (uint32_t j = 0; j < e->nargs; j++)
                total += cmm_type_count(e->args[j]->type);
            at = total;
            for (uint32_t j = e->nargs; j-- > 0;) {
                val d = {.n = 0};
                sel_expr(s, e->args[j], &d);
                at -= cmm_type_count(e->args[j]->type);
                for (unsigned p = 0; p < d.n; p++)
                    v[at + p] = d.v[p];
            }
            return total;
        }
    sel_args(s, e->args, e->nargs, o);
    for (uint32_t k = 0; k < e->nargs; k++)
        v[n++] = sel_operand(s, o[k]);
    return n;
}

void sel_extcall(sel *s, const cmm_expr *e, val *d)
{
    const inline_c *c = find_inline(s, e);
    if (c) {
        sel_inline(s, e, c, d);
        return;
    }
    unsigned total = 0;
    for (uint32_t k = 0; k < e->nargs; k++)
        total += cmm_type_count(e->args[k]->type);
    uint8_t *comp = lin_alloc(s->f->arena, total + 1);
    lin_vreg *v = lin_alloc(s->f->arena, (total + 1) * sizeof *v);
    unsigned n = eval_c_args(s, e, v);
    if (!s->b)
        return;
    c_components(e, comp);
    unsigned nres = cmm_type_count(e->type);
    lin_place *place = lin_alloc(s->f->arena, (n + 1) * sizeof *place);
    uint32_t words = c_places(s, comp, n, place);
    bool direct = !e->u.ext->alloc && words == 0;
    push_stack_args(s, words, n, v, place);
    lin_insn *i = new_call_insn(s, direct ? LIN_CCALL : LIN_EXTCALL, nres, n, v, place, 0);
    lin_call *call = i->u.call;
    i->sym = e->u.ext->name;
    i->dbg = e->dbg;
    call->stack_words = words;
    unsigned ni = 0, nf = 0;
    d->n = nres;
    for (unsigned k = 0; k < nres; k++) {
        bool flt = cmm_type_at(e->type, k) == CMM_FLOAT;
        call->result[k] = flt ? s->m->c_float_args[nf++] : s->m->int_args[ni++];
        d->v[k] = lin_res(i, k)->v =
            d->v[k] ? d->v[k] : lin_new_vreg(s->f, cmm_type_at(e->type, k));
    }
    call->fixed_results = true;
    if (e->type == CMM_NEVER)
        sel_finish(s, sel_emit(s, LIN_RETURN, 0, 0), 0, NULL);
}

/* --- raise ------------------------------------------------------------------------------------ */
void sel_raise(sel *s, const cmm_expr *e)
{
    lin_vreg v = sel_word(s, e->args[0], 0);
    if (!s->b)
        return;
    lin_insn *i = sel_emit(s, LIN_RAISE, 0, 1);
    i->cc = e->kind == CMM_RAISE ? LIN_RAISE_REGULAR
          : e->kind == CMM_RERAISE ? LIN_RAISE_RERAISE : LIN_RAISE_NOTRACE;
    lin_arg(i, 0)->v = v;
    i->dbg = e->dbg;
    i->u.call = new_call(s, 1);
    i->u.call->arg[0] = s->m->int_args[0];
    s->b->is_cold = true;
    sel_finish(s, i, 0, NULL);
}
