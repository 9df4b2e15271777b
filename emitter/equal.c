/* equal.c - are two units the same? For the test that printing loses nothing. */
#include <string.h>

#include "emitter/cmm.h"

static bool sym_equal(const cmm_sym *a, const cmm_sym *b) {
    return a == b ||
           (a != NULL && b != NULL && a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
}

/* An unknown scope is printed as "". */
static bool scope_equal(const cmm_sym *a, const cmm_sym *b) {
    bool none_a = a == NULL || a->len == 0, none_b = b == NULL || b->len == 0;
    return none_a || none_b ? none_a == none_b : sym_equal(a, b);
}

static bool loc_equal(const cmm_loc *a, const cmm_loc *b) {
    return sym_equal(a->file, b->file) && scope_equal(a->scope, b->scope) && a->line == b->line &&
           a->start_char == b->start_char && a->end_char == b->end_char &&
           a->start_bol == b->start_bol && a->end_bol == b->end_bol && a->end_line == b->end_line;
}

static bool dbg_equal(const cmm_dbg *a, const cmm_dbg *b) {
    if (a == NULL || b == NULL) {
        return a == b;
    }
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        same = loc_equal(&a->items[i], &b->items[i]);
    }
    return same;
}

static bool vars_equal(cmm_var *const *a, cmm_var *const *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (a[i]->id != b[i]->id || a[i]->type != b[i]->type) {
            return false;
        }
    }
    return true;
}

static bool catch_equal(const cmm_catch *a, const cmm_catch *b) {
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        const cmm_handler *x = a->handlers[i], *y = b->handlers[i];
        same = x->nparams == y->nparams && vars_equal(x->params, y->params, x->nparams);
    }
    return same;
}

static bool ext_equal(const cmm_extcall *a, const cmm_extcall *b) {
    return sym_equal(a->name, b->name) && a->alloc == b->alloc && a->ntypes == b->ntypes &&
           memcmp(a->types, b->types, a->ntypes) == 0;
}

static bool switch_equal(const cmm_switch *a, const cmm_switch *b) {
    return a->size == b->size && memcmp(a->index, b->index, a->size * sizeof a->index[0]) == 0;
}

/* What hangs on the node itself; labels match by owner and place, not by number. */
static bool own_equal(const cmm_expr *a, const cmm_expr *b) {
    switch (a->kind) {
    case CMM_CONST_INT:
        return a->u.i == b->u.i;
    case CMM_CONST_FLOAT:
        return a->u.bits == b->u.bits;
    case CMM_SYMBOL:
        return sym_equal(a->u.sym, b->u.sym);
    case CMM_VAR:
    case CMM_LET:
    case CMM_ASSIGN:
    case CMM_TRY:
        return vars_equal(&a->u.var, &b->u.var, 1);
    case CMM_LET_MUT:
        return vars_equal(&a->u.var, &b->u.var, 1);
    case CMM_SWITCH:
        return switch_equal(a->u.sw, b->u.sw);
    case CMM_CATCH:
        return catch_equal(a->u.ctch, b->u.ctch);
    case CMM_EXIT:
        return a->u.handler->index == b->u.handler->index &&
               a->u.handler->nparams == b->u.handler->nparams;
    case CMM_EXTCALL:
        return ext_equal(a->u.ext, b->u.ext) && a->type == b->type;
    case CMM_APP:
        return a->type == b->type;
    default:
        return true;
    }
}

static bool expr_equal(const cmm_expr *a, const cmm_expr *b) {
    const uint16_t made = CMM_FROM_WHILE | CMM_MUT_READ;
    if (a->kind != b->kind || a->nargs != b->nargs || a->chunk != b->chunk ||
        (a->flags & ~made) != (b->flags & ~made) || !dbg_equal(a->dbg, b->dbg) ||
        !own_equal(a, b)) {
        return false;
    }
    for (uint32_t i = 0; i < a->nargs; i++) {
        if (!expr_equal(a->args[i], b->args[i])) {
            return false;
        }
    }
    return true;
}

static bool function_equal(const cmm_function *a, const cmm_function *b) {
    return sym_equal(a->name, b->name) && a->flags == b->flags && dbg_equal(a->dbg, b->dbg) &&
           a->nparams == b->nparams && a->nvars == b->nvars && a->nhandlers == b->nhandlers &&
           vars_equal(a->params, b->params, a->nparams) && expr_equal(a->body, b->body);
}

static bool item_equal(const cmm_item *a, const cmm_item *b) {
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case CMM_ITEM_DEFINE:
    case CMM_ITEM_GLOBAL:
    case CMM_ITEM_ADDR:
        return sym_equal(a->u.sym, b->u.sym);
    case CMM_ITEM_STRING:
        return a->len == b->len && memcmp(a->u.str, b->u.str, a->len) == 0;
    default:
        return a->u.i == b->u.i;
    }
}

static bool data_equal(const cmm_phrase *a, const cmm_phrase *b) {
    bool same = a->nitems == b->nitems;
    for (uint32_t i = 0; same && i < a->nitems; i++) {
        same = item_equal(&a->items[i], &b->items[i]);
    }
    return same;
}

bool cmm_unit_equal(const cmm_unit *a, const cmm_unit *b) {
    bool same = a->nphrases == b->nphrases;
    for (uint32_t i = 0; same && i < a->nphrases; i++) {
        const cmm_phrase *x = &a->phrases[i], *y = &b->phrases[i];
        same = (x->function == NULL) == (y->function == NULL) &&
               (x->function != NULL ? function_equal(x->function, y->function) : data_equal(x, y));
    }
    return same;
}
