/* parse_control.c - if, switch, catch, exit, try, while. */
#include <string.h>

#include "emitter/parse.h"

cmm_expr *parse_if(parser *p, uint32_t pos) {
    size_t mark = p->nstack;
    push_rest(p);
    return wrong_count(p, close_node(p, CMM_IF, pos, mark), "if", 3);
}

cmm_expr *parse_seq_form(parser *p) {
    cmm_expr *e = parse_seq(p);
    close_paren(p);
    return e;
}

static cmm_sym *label_name(parser *p) {
    if (is_dump(p) ? p->tok.kind != T_INT : p->tok.kind != T_WORD || p->tok.kw != K_NAME) {
        unexpected(p, "a label");
    }
    cmm_sym *s = cmm_intern(p->unit, p->start + p->tok.pos, p->tok.end - p->tok.pos);
    next(p);
    return s;
}

cmm_expr *parse_exit(parser *p, uint32_t pos) {
    uint32_t at = p->tok.pos;
    size_t mark = p->nstack;
    cmm_sym *name = label_name(p);
    push_rest(p);
    return exit_node(p, name, at, pos, mark);
}

cmm_expr *parse_try(parser *p, uint32_t pos) {
    size_t mark = p->nstack, first = p->ntrail;
    if (p->mode == CMM_LOSSLESS) {
        push(p, parse_expr(p));
    } else {
        push(p, parse_seq(p));
        if (!at_kw(p, K_WITH)) {
            unexpected(p, "'with'");
        }
        next(p);
    }
    uint32_t at = p->tok.pos;
    cmm_sym *name = var_name(p);
    cmm_var *v = bind(p, name, at, CMM_TYPE1(CMM_VAL), false);
    push(p, parse_seq(p));
    close_paren(p);
    unbind_to(p, first);
    cmm_expr *e = close_node(p, CMM_TRY, pos, mark);
    e->u.var = v;
    return e;
}

/* --- switch ----------------------------------------------------------------------------------- */
#define MAX_SWITCH 1000000

typedef struct {
    uint32_t *arm; /* position -> arm + 1, 0: not named */
    size_t cap, size;
} cases;

/* In the arena, not malloc'ed: an error jumps over everything between. */
static void reserve_cases(parser *p, cases *c, size_t n) {
    if (n > c->cap) {
        size_t cap = n < 8 ? 8 : n * 2;
        uint32_t *arm = cmm_alloc(p->unit, cap * sizeof *arm);
        if (c->size > 0) {
            memcpy(arm, c->arm, c->size * sizeof *arm);
        }
        c->arm = arm;
        c->cap = cap;
    }
    c->size = n > c->size ? n : c->size;
}

static void add_case(parser *p, cases *c, int64_t size, uint32_t arm) {
    if (p->tok.kind != T_INT) {
        unexpected(p, "a case number");
    }
    int64_t k = p->tok.u.i;
    if (k < 0 || (size >= 0 ? k >= size : k >= MAX_SWITCH)) {
        cmm_error(p->unit, p->tok.pos, "case %lld is outside the table", (long long)k);
    } else {
        reserve_cases(p, c, (size_t)k + 1);
        if (c->arm[k] != 0) {
            cmm_error(p->unit, p->tok.pos, "case %lld is there twice", (long long)k);
        }
        c->arm[k] = arm + 1;
    }
    next(p);
}

/* `case 1: case 2:` (dialect, dcmm) or `(case 1 2:` (lossless). */
static void arm_heads(parser *p, cases *c, int64_t size, uint32_t arm) {
    do {
        if (!at_kw(p, K_CASE)) {
            unexpected(p, "'case'");
        }
        next(p);
        do {
            add_case(p, c, size, arm);
        } while (p->mode == CMM_LOSSLESS && p->tok.kind == T_INT);
        expect(p, T_COLON, "':'");
    } while (p->mode != CMM_LOSSLESS && at_kw(p, K_CASE));
}

static void parse_arms(parser *p, cases *c, int64_t size) {
    for (uint32_t arm = 0; p->tok.kind != T_RPAREN; arm++) {
        bool paren = p->mode == CMM_LOSSLESS;
        if (paren) {
            expect(p, T_LPAREN, "'(' of an arm");
        }
        arm_heads(p, c, size, arm);
        push(p, parse_seq(p));
        if (paren) {
            close_paren(p);
        }
    }
    next(p);
}

cmm_expr *parse_switch(parser *p, uint32_t pos) {
    size_t mark = p->nstack;
    int64_t size = -1; /* dcmm: the highest case + 1 */
    if (p->mode != CMM_DCMM) {
        size = p->tok.u.i;
        if (p->tok.kind != T_INT || size < 1 || size > MAX_SWITCH) {
            unexpected(p, "the size of the table (1 to 1000000)");
        }
        next(p);
    }
    push(p, parse_expr(p));
    cases c = {NULL, 0, 0};
    parse_arms(p, &c, size);
    size_t n = size >= 0 ? (size_t)size : c.size;
    cmm_expr *e = close_node(p, CMM_SWITCH, pos, mark);
    cmm_switch *sw = cmm_alloc(p->unit, sizeof *sw + n * sizeof sw->index[0]);
    sw->size = (uint32_t)n;
    for (size_t i = 0; i < c.size; i++) {
        sw->index[i] = c.arm[i] > 0 ? c.arm[i] - 1 : 0; /* not named: the first arm */
    }
    e->u.sw = sw;
    if (e->nargs < 2) {
        cmm_error(p->unit, pos, "a switch needs at least one case");
        return bad(p, pos);
    }
    return e;
}

/* --- catch ------------------------------------------------------------------------------------ */
static cmm_handler *define_label(parser *p, cmm_sym *name, uint32_t pos) {
    cmm_handler *h = label(p, name, pos);
    if (h->index != 0) {
        cmm_error(p->unit, pos, "label '%s' is bound twice in this function",
                  name != NULL ? name->text : "");
    }
    h->index = 1; /* bound; close_catch sets the place in the group */
    h->pos = pos;
    return h;
}

/* The head of a handler: label and parameters. In the dialect both may be missing. */
static cmm_handler *handler_head(parser *p) {
    uint32_t pos = p->tok.pos;
    cmm_handler *h;
    if (p->tok.kind == T_LPAREN) {
        token tok = p->tok;
        const char *at = p->p;
        next(p);
        if (is_dump(p) || (p->tok.kind == T_WORD && p->tok.kw == K_NAME)) {
            pos = p->tok.pos;
            h = define_label(p, label_name(p), pos);
            h->params = parse_params(p, &h->nparams);
            return h;
        }
        p->tok = tok;
        p->p = at;
    } else if (is_dump(p)) {
        unexpected(p, "'(' and a label");
    }
    return define_label(p, cmm_intern(p->unit, "0", 1), pos);
}

/* Pushes its body and, on the group stack, the handler. */
static void parse_handler(parser *p) {
    size_t first = p->ntrail;
    cmm_handler *h = handler_head(p);
    p->group = grow(p->group, &p->cap_group, p->ngroup + 1, sizeof *p->group);
    p->group[p->ngroup++] = h;
    push(p, parse_seq(p));
    unbind_to(p, first);
}

/* (with (N params) body) ... */
static void lossless_handlers(parser *p) {
    while (p->tok.kind == T_LPAREN) {
        next(p);
        if (!at_kw(p, K_WITH)) {
            unexpected(p, "'with'");
        }
        next(p);
        parse_handler(p);
        close_paren(p);
    }
}

/* with handler {and handler}; dcmm has nothing between handlers. */
static void plain_handlers(parser *p) {
    if (!at_kw(p, K_WITH)) {
        unexpected(p, "'with'");
    }
    do {
        next(p);
        parse_handler(p);
        while (p->mode == CMM_DCMM && p->tok.kind == T_LPAREN) {
            parse_handler(p);
        }
    } while (p->tok.kind == T_WORD);
}

static cmm_expr *close_catch(parser *p, uint32_t pos, size_t mark, cmm_handler **hs, uint32_t n) {
    cmm_expr *e = close_node(p, CMM_CATCH, pos, mark);
    cmm_catch *c = cmm_alloc(p->unit, sizeof *c + n * sizeof c->handlers[0]);
    c->count = n;
    for (uint32_t i = 0; i < n; i++) {
        c->handlers[i] = hs[i];
        hs[i]->owner = e;
        hs[i]->index = i;
    }
    e->u.ctch = c;
    return e;
}

cmm_expr *parse_catch(parser *p, uint32_t pos) {
    size_t mark = p->nstack;
    bool rec = !is_dump(p) || at_kw(p, K_REC);
    if (at_kw(p, K_REC)) {
        next(p);
    }
    push(p, p->mode == CMM_LOSSLESS ? parse_expr(p) : parse_seq(p));
    size_t first = p->ngroup;
    if (p->mode == CMM_LOSSLESS) {
        lossless_handlers(p);
    } else {
        plain_handlers(p);
    }
    close_paren(p);
    if (p->ngroup == first) {
        fail_at(p, pos, "a catch needs a handler");
    }
    cmm_expr *e = close_catch(p, pos, mark, p->group + first, (uint32_t)(p->ngroup - first));
    p->ngroup = first;
    e->flags = rec ? CMM_RECURSIVE : 0;
    return e;
}

/* --- while ------------------------------------------------------------------------------------ */
static cmm_expr *jump(parser *p, cmm_handler *h, uint32_t pos) {
    cmm_expr *e = leaf(p, CMM_EXIT, pos);
    e->u.handler = h;
    h->uses++;
    return e;
}

/* (catch  (catch rec (exit loop) with (loop) (if c body (exit out)) (exit loop))
 *   with (out) [])                      the back jump is the last thing of the loop */
cmm_expr *parse_while(parser *p, uint32_t pos) {
    size_t mark = p->nstack;
    cmm_handler *out = label(p, NULL, pos), *loop = label(p, NULL, pos);
    cmm_expr *cond = parse_expr(p), *body = parse_seq(p);
    close_paren(p);
    if (cond->kind != CMM_CONST_INT || cond->u.i == 0) {
        size_t m = p->nstack;
        push(p, cond);
        push(p, body);
        push(p, jump(p, out, pos));
        body = close_node(p, CMM_IF, cond->pos, m);
    }
    push(p, jump(p, loop, pos));
    push(p, binary(p, CMM_SEQ, pos, body, jump(p, loop, pos)));
    cmm_expr *inner = close_catch(p, pos, mark, &loop, 1);
    inner->flags = CMM_RECURSIVE | CMM_FROM_WHILE;
    push(p, inner);
    push(p, leaf(p, CMM_TUPLE, pos));
    cmm_expr *e = close_catch(p, pos, mark, &out, 1);
    e->flags = CMM_FROM_WHILE;
    return e;
}
