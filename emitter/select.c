/* select.c - Cmm to blocks: control, bindings, joins.
 *
 * Destination driven: an expression is told which vreg its value should end up in,
 * so that joins and assignments need no copies. A vreg given as destination is
 * written by the last instruction only: the expression may still read it.
 */
#include <string.h>

#include "emitter/select.h"

const lin_function *sel_function(sel *s)
{
    return s->f;
}

lin_block *sel_block(sel *s)
{
    lin_block *b = lin_new_block(s->f);
    b->handler = s->handler;
    b->trap_depth = s->trap_depth;
    if (s->trap_depth > s->f->max_trap_depth)
        s->f->max_trap_depth = s->trap_depth;
    return b;
}

void sel_at(sel *s, lin_block *b)
{
    s->b = b;
    s->handler = b->handler;
    s->trap_depth = b->trap_depth;
}

lin_insn *sel_put(sel *s, lin_insn *i)
{
    i->dbg = s->dbg;
    if (s->b)
        lin_append(s->b, i);
    return i;
}

lin_insn *sel_emit(sel *s, lin_op op, unsigned nres, unsigned nargs)
{
    return sel_put(s, lin_new_insn(s->f, op, nres, nargs));
}

void sel_finish(sel *s, lin_insn *term, unsigned n, lin_block *const *succ)
{
    (void)term;
    if (s->b)
        lin_set_succs(s->f, s->b, n, succ);
    s->b = NULL;
}

void sel_jump(sel *s, lin_block *to)
{
    if (s->b)
        sel_finish(s, sel_emit(s, LIN_JUMP, 0, 0), 1, &to);
}

lin_vreg sel_result(sel *s, lin_insn *i, cmm_component c, lin_vreg into)
{
    lin_vreg v = into ? into : lin_new_vreg(s->f, c);
    lin_res(i, 0)->v = v;
    return v;
}

lin_vreg sel_target(sel *s, const cmm_expr *e, lin_vreg into)
{
    cmm_component c = cmm_type_count(e->type) ? cmm_type_at(e->type, 0) : CMM_INT;
    return into ? into : lin_new_vreg(s->f, c);
}

lin_insn *sel_move(sel *s, lin_vreg to, lin_vreg from)
{
    lin_insn *i = sel_emit(s, LIN_MOVE, 1, 1);
    lin_res(i, 0)->v = to;
    lin_arg(i, 0)->v = from;
    return i;
}

lin_vreg sel_int(sel *s, int64_t n, lin_vreg into)
{
    lin_insn *i = sel_emit(s, LIN_CONST, 1, 0);
    i->imm = n;
    return sel_result(s, i, CMM_INT, into);
}

binding *sel_binding(sel *s, const cmm_var *v)
{
    return &s->vars[v->id];
}

lin_vreg sel_word(sel *s, const cmm_expr *e, lin_vreg into)
{
    val d = {.n = 1, .v = {into}};
    sel_expr(s, e, &d);
    return d.v[0] ? d.v[0] : sel_target(s, e, 0); /* not reached: any vreg will do */
}

/* --- destinations ----------------------------------------------------------------- */
/* Gives every component of `d` a vreg, so that several arms can write them. */
static void fix_destination(sel *s, const cmm_expr *e, val *d)
{
    if (e->type == CMM_NEVER)
        return;
    d->n = cmm_type_count(e->type);
    for (unsigned i = 0; i < d->n; i++)
        if (!d->v[i])
            d->v[i] = lin_new_vreg(s->f, cmm_type_at(e->type, i));
}

static void arm(sel *s, const cmm_expr *e, const val *d, lin_block *join)
{
    val mine = *d;
    sel_expr(s, e, &mine);
    sel_jump(s, join);
}

/* to[k] := from[k] at the same time. Through fresh vregs; the allocator renames
 * where a source dies, so this costs nothing. */
void sel_parallel(sel *s, unsigned n, const lin_vreg *to, const lin_vreg *from)
{
    if (n == 1) {
        sel_move(s, to[0], from[0]);
        return;
    }
    lin_vreg *t = lin_alloc(s->f->arena, (n + 1) * sizeof *t);
    for (unsigned k = 0; k < n; k++) {
        t[k] = lin_new_vreg(s->f, (cmm_component)s->f->v[to[k]].component);
        sel_move(s, t[k], from[k]);
    }
    for (unsigned k = 0; k < n; k++)
        sel_move(s, to[k], t[k]);
}

/* --- leaves -------------------------------------------------------------------------- */
static void sel_var(sel *s, const cmm_expr *e, val *d)
{
    binding *b = sel_binding(s, e->u.var);
    if (b->alias) {
        sel_expr(s, b->alias, d);
        return;
    }
    d->n = b->n;
    for (unsigned i = 0; i < b->n; i++) {
        if (!d->v[i] && !e->u.var->is_mutable)
            d->v[i] = b->v[i];
        else if (d->v[i] != b->v[i]) {
            if (!d->v[i])
                d->v[i] = lin_new_vreg(s->f, (cmm_component)s->f->v[b->v[i]].component);
            sel_move(s, d->v[i], b->v[i]);
        }
    }
}

static void sel_constant(sel *s, const cmm_expr *e, val *d)
{
    static const lin_op ops[] = {
        [CMM_CONST_INT] = LIN_CONST, [CMM_CONST_FLOAT] = LIN_FCONST, [CMM_SYMBOL] = LIN_SYMBOL,
    };
    lin_insn *i = sel_emit(s, ops[e->kind], 1, 0);
    if (e->kind == CMM_SYMBOL)
        i->sym = e->u.sym;
    else
        i->imm = e->u.i;
    d->n = 1;
    d->v[0] = sel_result(s, i, e->kind == CMM_CONST_FLOAT ? CMM_FLOAT : CMM_INT, d->v[0]);
}

static void sel_tuple(sel *s, const cmm_expr *e, val *d)
{
    val got = {.n = 0};
    lin_vreg parts[CMM_MAX_COMPONENTS];
    unsigned n = 0;
    for (uint32_t k = e->nargs; k-- > 0;) {
        val one = {.n = 0};
        sel_expr(s, e->args[k], &one);
        for (unsigned j = one.n; j-- > 0 && n < CMM_MAX_COMPONENTS;)
            parts[n++] = one.v[j];
    }
    for (unsigned k = 0; k < n; k++)
        got.v[k] = parts[n - 1 - k];
    got.n = n;
    if (n && d->v[0])
        sel_parallel(s, n, d->v, got.v);
    else
        *d = got;
    d->n = n;
}

/* --- bindings -------------------------------------------------------------------------- */
static bool is_constant(const cmm_expr *e)
{
    return e->kind == CMM_CONST_INT || e->kind == CMM_CONST_FLOAT || e->kind == CMM_SYMBOL;
}

static void bind(sel *s, const cmm_var *var, const val *d)
{
    binding *b = sel_binding(s, var);
    b->alias = NULL;
    b->n = d->n;
    b->v = lin_alloc(s->f->arena, d->n * sizeof *b->v);
    if (d->n)
        memcpy(b->v, d->v, d->n * sizeof *b->v);
}

static void bind_let(sel *s, const cmm_expr *e)
{
    const cmm_expr *value = e->args[0];
    while (value->kind == CMM_VAR && sel_binding(s, value->u.var)->alias)
        value = sel_binding(s, value->u.var)->alias;
    if (e->kind == CMM_LET && is_constant(value)) {
        *sel_binding(s, e->u.var) = (binding){.alias = value};
        return;
    }
    val d = {.n = 0};
    if (e->kind == CMM_LET_MUT)
        for (unsigned i = 0; i < cmm_type_count(e->u.var->type); i++)
            d.v[i] = lin_new_vreg(s->f, cmm_type_at(e->u.var->type, i));
    sel_expr(s, value, &d);
    for (unsigned i = 0; i < d.n && s->b; i++)
        if (s->f->v[d.v[i]].pos == 0)
            s->f->v[d.v[i]].pos = e->u.var->pos;
    bind(s, e->u.var, &d);
}

static void sel_assign(sel *s, const cmm_expr *e)
{
    binding *b = sel_binding(s, e->u.var);
    val d = {.n = b->n};
    for (unsigned i = 0; i < b->n; i++)
        d.v[i] = b->v[i];
    sel_expr(s, e->args[0], &d);
}

/* --- control ----------------------------------------------------------------------------- */
static void sel_if(sel *s, const cmm_expr *e, val *d)
{
    fix_destination(s, e, d);
    lin_block *yes = sel_block(s), *no = sel_block(s), *join = sel_block(s);
    sel_condition(s, e->args[0], yes, no);
    sel_at(s, yes);
    arm(s, e->args[1], d, join);
    sel_at(s, no);
    arm(s, e->args[2], d, join);
    sel_at(s, join);
    if (e->type == CMM_NEVER)
        s->b = NULL;
}

/* Few entries: compare. Arms are given as blocks. */
static void small_switch(sel *s, const cmm_expr *e, lin_vreg v, lin_block **arms)
{
    const cmm_switch *sw = e->u.sw;
    uint32_t k = 0;
    while (k + 1 < sw->size) {
        uint32_t end = k + 1;
        while (end < sw->size && sw->index[end] == sw->index[k])
            end++;
        if (end == sw->size)
            break;
        lin_block *rest = sel_block(s);
        sel_branch_const(s, v, LIN_LT, end, arms[sw->index[k]], rest);
        sel_at(s, rest);
        k = end;
    }
    sel_jump(s, arms[sw->index[k]]);
}

static void jump_table(sel *s, const cmm_expr *e, lin_vreg v, lin_block **arms)
{
    lin_insn *i = sel_emit(s, LIN_SWITCH, 0, 1);
    lin_arg(i, 0)->v = v;
    i->imm = e->u.sw->size;
    i->u.table = e->u.sw->index;
    sel_finish(s, i, e->nargs - 1, arms);
}

static unsigned switch_runs(const cmm_switch *sw)
{
    unsigned n = 1;
    for (uint32_t k = 1; k < sw->size; k++)
        n += sw->index[k] != sw->index[k - 1];
    return n;
}

static lin_block **switch_dispatch(sel *s, const cmm_expr *e)
{
    lin_vreg v = sel_word(s, e->args[0], 0);
    lin_block **arms = lin_alloc(s->f->arena, e->nargs * sizeof *arms);
    for (uint32_t k = 0; k + 1 < e->nargs; k++)
        arms[k] = sel_block(s);
    if (switch_runs(e->u.sw) <= 3)
        small_switch(s, e, v, arms);
    else
        jump_table(s, e, v, arms);
    return arms;
}

static void sel_switch(sel *s, const cmm_expr *e, val *d)
{
    fix_destination(s, e, d);
    lin_block *join = sel_block(s);
    lin_block **arms = switch_dispatch(s, e);
    for (uint32_t k = 0; k + 1 < e->nargs; k++) {
        sel_at(s, arms[k]);
        arm(s, e->args[1 + k], d, join);
    }
    sel_at(s, join);
    if (e->type == CMM_NEVER)
        s->b = NULL;
}

static void open_handlers(sel *s, const cmm_expr *e)
{
    for (uint32_t k = 0; k < e->u.ctch->count; k++) {
        const cmm_handler *h = e->u.ctch->handlers[k];
        handler_info *hi = &s->handlers[h->id];
        *hi = (handler_info){sel_block(s), 0, NULL, s->handler, s->trap_depth, false};
        uint32_t n = 0;
        for (uint32_t p = 0; p < h->nparams; p++)
            n += cmm_type_count(h->params[p]->type);
        hi->v = lin_alloc(s->f->arena, n * sizeof *hi->v);
        for (uint32_t p = 0; p < h->nparams; p++) {
            val d = {.n = cmm_type_count(h->params[p]->type)};
            for (unsigned i = 0; i < d.n; i++)
                d.v[i] = hi->v[hi->n++] = lin_new_vreg(s->f, cmm_type_at(h->params[p]->type, i));
            bind(s, h->params[p], &d);
        }
    }
}

static void mark_inside(sel *s, const cmm_expr *e, bool inside)
{
    if (e->flags & CMM_RECURSIVE)
        for (uint32_t k = 0; k < e->u.ctch->count; k++)
            s->handlers[e->u.ctch->handlers[k]->id].inside = inside;
}

/* In tail position d is NULL and nothing joins. */
static void sel_catch(sel *s, const cmm_expr *e, val *d)
{
    lin_block *join = NULL;
    if (d) {
        fix_destination(s, e, d);
        join = sel_block(s);
    }
    open_handlers(s, e);
    if (d)
        arm(s, e->args[0], d, join);
    else
        sel_tail(s, e->args[0]);
    mark_inside(s, e, true);
    for (uint32_t k = 0; k < e->u.ctch->count; k++) {
        sel_at(s, s->handlers[e->u.ctch->handlers[k]->id].block);
        if (d)
            arm(s, e->args[1 + k], d, join);
        else
            sel_tail(s, e->args[1 + k]);
    }
    mark_inside(s, e, false);
    if (!d)
        return;
    sel_at(s, join);
    if (e->type == CMM_NEVER)
        s->b = NULL;
}

static void pop_traps(sel *s, const handler_info *h)
{
    if (s->trap_depth == h->trap_depth)
        return;
    for (uint32_t d = s->trap_depth; d > h->trap_depth; d--)
        sel_emit(s, LIN_POPTRAP, 0, 0);
    s->handler = h->outer;
    s->trap_depth = h->trap_depth;
    lin_block *outside = sel_block(s);
    sel_jump(s, outside);
    s->b = outside;
}

static bool single_components(const cmm_expr *e)
{
    for (uint32_t k = 0; k < e->nargs; k++)
        if (cmm_type_count(e->args[k]->type) != 1)
            return false;
    return true;
}

static void sel_exit(sel *s, const cmm_expr *e)
{
    handler_info *h = &s->handlers[e->u.handler->id];
    sel_opn *o = lin_alloc(s->f->arena, (e->nargs + 1) * sizeof *o);
    lin_vreg *from = lin_alloc(s->f->arena, (h->n + 1) * sizeof *from);
    if (h->n == e->nargs &&
        single_components(e)) { /* one component each: operands may be deferred */
        sel_args(s, e->args, e->nargs, o);
        if (h->n == 1 && s->b && o[0].e) {
            val d = {.n = 1, .v = {h->v[0]}};
            sel_expr(s, o[0].e, &d);
        } else {
            for (uint32_t k = 0; k < h->n; k++)
                from[k] = sel_operand(s, o[k]);
            if (h->n && s->b)
                sel_parallel(s, h->n, h->v, from);
        }
    } else {
        uint32_t n = h->n;
        for (uint32_t k = e->nargs; k-- > 0;) {
            val one = {.n = 0};
            sel_expr(s, e->args[k], &one);
            for (unsigned j = one.n; j-- > 0 && n > 0;)
                from[--n] = one.v[j];
        }
        if (h->n && s->b)
            sel_parallel(s, h->n, h->v, from);
    }
    if (!s->b)
        return;
    pop_traps(s, h);
    if (h->inside)
        s->b->back_to = h->block;
    sel_jump(s, h->block);
}

static void sel_try(sel *s, const cmm_expr *e, val *d)
{
    lin_block *outer = s->handler, *join = NULL;
    uint32_t depth = s->trap_depth; /* an exit in the body leaves others behind */
    if (d) {
        fix_destination(s, e, d);
        join = sel_block(s);
    }
    val scratch = {.n = 0};
    val *body = d ? d : &scratch;
    if (!d)
        fix_destination(s, e->args[0], body);
    lin_block *handler = sel_block(s);
    handler->is_handler = true;
    sel_emit(s, LIN_PUSHTRAP, 0, 0)->u.target = handler;
    s->handler = handler;
    s->trap_depth++;
    lin_block *inside = sel_block(s);
    inside->alloc_continues = true;
    sel_jump(s, inside);
    sel_at(s, inside);
    sel_expr(s, e->args[0], body);
    sel_emit(s, LIN_POPTRAP, 0, 0);
    s->handler = outer;
    s->trap_depth = depth;
    lin_block *after = sel_block(s);
    sel_jump(s, after);
    bool falls = e->args[0]->type != CMM_NEVER;
    sel_at(s, after);
    if (d)
        sel_jump(s, join);
    else if (falls)
        sel_return(s, body);
    sel_at(s, handler);
    val exn = {.n = 1};
    exn.v[0] = sel_result(s, sel_emit(s, LIN_HANDLER, 1, 0), CMM_VAL, 0);
    bind(s, e->u.var, &exn);
    if (!d) {
        sel_tail(s, e->args[1]);
        return;
    }
    arm(s, e->args[1], d, join);
    sel_at(s, join);
    if (e->type == CMM_NEVER)
        s->b = NULL;
}

/* --- expressions --------------------------------------------------------------------------- */
static void sel_opaque(sel *s, const cmm_expr *e, val *d)
{
    lin_vreg a = sel_word(s, e->args[0], 0);
    lin_insn *i = sel_emit(s, LIN_OPAQUE, 1, 1);
    lin_arg(i, 0)->v = a;
    d->n = 1;
    d->v[0] = lin_res(i, 0)->v = sel_target(s, e, d->v[0]);
}

static void sel_dls(sel *s, const cmm_expr *e, val *d)
{
    val ignored = {.n = 0};
    if (e->nargs)
        sel_expr(s, e->args[0], &ignored);
    lin_insn *i = sel_emit(s, LIN_LOADDOM, 1, 0);
    i->imm = s->m->off_dls_root;
    d->n = 1;
    d->v[0] = sel_result(s, i, CMM_VAL, d->v[0]);
}

static void one(val *d, lin_vreg v)
{
    d->n = 1;
    d->v[0] = v;
}

static void sel_form(sel *s, const cmm_expr *e, val *d)
{
    val ignored = {.n = 0};
    switch (e->kind) {
    case CMM_CONST_INT: case CMM_CONST_FLOAT: case CMM_SYMBOL: sel_constant(s, e, d); return;
    case CMM_VAR: sel_var(s, e, d); return;
    case CMM_TUPLE: sel_tuple(s, e, d); return;
    case CMM_LET: case CMM_LET_MUT: bind_let(s, e); sel_expr(s, e->args[1], d); return;
    case CMM_ASSIGN: sel_assign(s, e); return;
    case CMM_SEQ:
        for (uint32_t k = 0; k + 1 < e->nargs; k++) {
            ignored = (val){.n = 0};
            sel_expr(s, e->args[k], &ignored);
        }
        sel_expr(s, e->args[e->nargs - 1], d);
        return;
    case CMM_IF: sel_if(s, e, d); return;
    case CMM_SWITCH: sel_switch(s, e, d); return;
    case CMM_CATCH: sel_catch(s, e, d); return;
    case CMM_EXIT: sel_exit(s, e); return;
    case CMM_TRY: sel_try(s, e, d); return;
    case CMM_APP: sel_apply(s, e, d); return;
    case CMM_EXTCALL: sel_extcall(s, e, d); return;
    case CMM_LOAD: one(d, sel_load(s, e, d->v[0])); return;
    case CMM_STORE: sel_store(s, e); return;
    case CMM_ALLOC: one(d, sel_alloc(s, e, d->v[0])); return;
    case CMM_RAISE: case CMM_RERAISE: case CMM_RAISE_NOTRACE: sel_raise(s, e); return;
    case CMM_CHECKBOUND: sel_checkbound(s, e); return;
    case CMM_OPAQUE: sel_opaque(s, e, d); return;
    case CMM_DLS_GET: sel_dls(s, e, d); return;
    case CMM_POLL: sel_emit(s, LIN_POLL, 0, 0); return;
    default: cmm_error(s->unit, e->pos, "%s cannot be compiled", cmm_ops[e->kind].id); return;
    }
}

/* Code that is not reached is not selected: its variables may have no vregs. */
void sel_expr(sel *s, const cmm_expr *e, val *d)
{
    if (!s->b)
        return;
    const cmm_dbg *outer = s->dbg;
    if (e->dbg)
        s->dbg = e->dbg;
    if (cmm_ops[e->kind].cls == CMM_CLASS_FORM)
        sel_form(s, e, d);
    else
        one(d, sel_operator(s, e, d->v[0]));
    s->dbg = outer;
}

/* --- tail position ---------------------------------------------------------------------------- */
static void tail_value(sel *s, const cmm_expr *e)
{
    val d = {.n = 0};
    sel_expr(s, e, &d);
    if (s->b)
        sel_return(s, &d);
}

static void tail_if(sel *s, const cmm_expr *e)
{
    lin_block *yes = sel_block(s), *no = sel_block(s);
    sel_condition(s, e->args[0], yes, no);
    sel_at(s, yes);
    sel_tail(s, e->args[1]);
    sel_at(s, no);
    sel_tail(s, e->args[2]);
}

static void tail_switch(sel *s, const cmm_expr *e)
{
    lin_block **arms = switch_dispatch(s, e);
    for (uint32_t k = 0; k + 1 < e->nargs; k++) {
        sel_at(s, arms[k]);
        sel_tail(s, e->args[1 + k]);
    }
}

static void tail_form(sel *s, const cmm_expr *e)
{
    val ignored = {.n = 0};
    switch (e->kind) {
    case CMM_LET: case CMM_LET_MUT: bind_let(s, e); sel_tail(s, e->args[1]); return;
    case CMM_SEQ:
        for (uint32_t k = 0; k + 1 < e->nargs; k++) {
            ignored = (val){.n = 0};
            sel_expr(s, e->args[k], &ignored);
        }
        sel_tail(s, e->args[e->nargs - 1]);
        return;
    case CMM_IF: tail_if(s, e); return;
    case CMM_SWITCH: tail_switch(s, e); return;
    case CMM_CATCH: sel_catch(s, e, NULL); return;
    case CMM_TRY: sel_try(s, e, NULL); return;
    case CMM_APP:
        if (sel_tail_apply(s, e))
            return;
        tail_value(s, e);
        return;
    default: tail_value(s, e); return;
    }
}

void sel_tail(sel *s, const cmm_expr *e)
{
    if (!s->b)
        return;
    const cmm_dbg *outer = s->dbg;
    if (e->dbg)
        s->dbg = e->dbg;
    tail_form(s, e);
    s->dbg = outer;
}

/* --- functions -------------------------------------------------------------------------------- */
static void note_definitions(lin_function *f, uint8_t *defs, lin_insn *i)
{
    bool constant = i->op == LIN_CONST || i->op == LIN_FCONST || i->op == LIN_SYMBOL;
    for (unsigned k = 0; k < i->nres; k++) {
        lin_vreg v = lin_res(i, k)->v;
        if (defs[v] < 2 && ++defs[v] == 2)
            f->v[v].flags |= LIN_V_MULTI;
        if (constant)
            f->v[v].remat = i;
    }
}

/* What later passes ask of all instructions: which vregs have several definitions, which
 * with one are constants and made again where they are needed, and what kills. */
static void survey(lin_function *f)
{
    uint8_t *defs = lin_scratch(f, f->nv + 1, 1);
    for (uint32_t b = 0; b < f->nblocks; b++)
        for (lin_insn *i = f->blocks[b]->first; i; i = i->next) {
            note_definitions(f, defs, i);
            f->blocks[b]->has_kill |= (lin_flags(i) & LIN_KILLS) != 0;
        }
    for (lin_vreg v = 1; v < f->nv; v++)
        if (f->v[v].remat && !(f->v[v].flags & LIN_V_MULTI))
            f->v[v].flags |= LIN_V_REMAT;
}

lin_function *lin_select(cmm_unit *unit, const cmm_function *source, const cmmc_options *options,
                         const target *t, struct lin_arena *arena, struct lin_arena *scratch)
{
    lin_function *f = lin_alloc(arena, sizeof *f);
    *f = (lin_function){.unit = unit, .source = source, .target = t, .options = options,
                        .arena = arena, .scratch = scratch, .nv = 1,
                        .small = (source->flags & CMM_REDUCE_CODE_SIZE) != 0};
    sel s = {.unit = unit, .source = source, .f = f, .options = options, .t = t,
             .m = machine_get(t, options->version)};
    s.vars = lin_scratch(f, source->nvars + 1, sizeof *s.vars);
    s.handlers = lin_scratch(f, source->nhandlers + 1, sizeof *s.handlers);
    sel_at(&s, sel_block(&s));
    s.dbg = source->dbg;
    sel_parameters(&s);
    sel_tail(&s, source->body);
    for (uint32_t b = 0; b < f->nblocks; b++) /* code that is never reached */
        if (!f->blocks[b]->last || !(lin_flags(f->blocks[b]->last) & LIN_TERM)) {
            sel_at(&s, f->blocks[b]);
            lin_append(s.b, lin_new_insn(f, LIN_RETURN, 0, 0));
        }
    survey(f);
    lin_order(f);
    return f;
}
