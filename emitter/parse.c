/* parse.c - phrases, names and scopes. Expressions are in parse_expr.c.
 *
 * One error ends a phrase: the parser jumps out and goes on at the next line that
 * starts with `(function` or `(data`, so that one run shows an error for each bad phrase.
 * What can be said without losing the thread (an unbound name, a wrong count) does not end
 * it; a name is called unbound once in a function.
 */
#include "emitter/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- errors ---------------------------------------------------------------------- */
_Noreturn void fail_at(parser *p, uint32_t pos, const char *format, ...) {
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    cmm_error(p->unit, pos, "%s", text);
    longjmp(p->fail, 1);
}

static void token_text(const parser *p, char *buf, size_t size) {
    const token *t = &p->tok;
    size_t n = t->end - t->pos;
    if (t->kind == T_EOF) {
        snprintf(buf, size, "the end of the file");
    } else {
        snprintf(buf, size, "'%.*s'%s", (int)(n > 40 ? 40 : n), p->start + t->pos,
                 n > 40 ? "..." : "");
    }
}

_Noreturn void unexpected(parser *p, const char *wanted) {
    char found[64];
    token_text(p, found, sizeof found);
    uint32_t line, column;
    bool lost = p->tok.kind == T_EOF ||
                (p->tok.kind == T_WORD && (p->tok.kw == K_FUNCTION || p->tok.kw == K_DATA));
    if (lost && p->phrase_pos != p->tok.pos) {
        cmm_position(p->unit, p->phrase_pos, &line, &column);
        fail_at(p, p->tok.pos,
                "found %s where %s should be: is a ')' missing in the phrase of line %u?", found,
                wanted, line);
    }
    fail_at(p, p->tok.pos, "found %s where %s should be", found, wanted);
}

void expect(parser *p, token_kind kind, const char *wanted) {
    if (p->tok.kind != kind) {
        unexpected(p, wanted);
    }
    next(p);
}

/* --- names ------------------------------------------------------------------------ */
cmm_sym *string_sym(parser *p) {
    if (p->tok.kind != T_STRING) {
        unexpected(p, "a symbol in quotes");
    }
    const token *t = &p->tok;
    if (t->len == 0) {
        fail_at(p, t->pos, "a symbol may not be empty");
    }
    if (memchr(t->str, 0, t->len) != NULL || memchr(t->str, '\n', t->len) != NULL) {
        fail_at(p, t->pos, "a symbol may not hold a zero byte or a new line");
    }
    cmm_sym *s = cmm_intern(p->unit, t->str, t->len);
    next(p);
    return s;
}

cmm_var *bind(parser *p, cmm_sym *name, uint32_t pos, cmm_type type, bool is_mutable) {
    cmm_var *v = cmm_alloc(p->unit, sizeof *v);
    *v = (cmm_var){.name = name,
                   .type = type,
                   .id = p->fn->nvars++,
                   .pos = pos,
                   .is_mutable = is_mutable,
                   .outer = name->var};
    name->var = v;
    p->trail = grow(p->trail, &p->cap_trail, p->ntrail + 1, sizeof *p->trail);
    p->trail[p->ntrail++] = v;
    p->vars = grow(p->vars, &p->cap_vars, p->fn->nvars, sizeof *p->vars);
    p->vars[v->id] = v;
    return v;
}

void unbind_to(parser *p, size_t mark) {
    while (p->ntrail > mark) {
        cmm_var *v = p->trail[--p->ntrail];
        v->name->var = v->outer;
    }
}

void not_bound(parser *p, const cmm_sym *name, uint32_t pos) {
    for (size_t i = 0; i < p->nunbound; i++) {
        if (p->unbound[i] == name) {
            return;
        }
    }
    cmm_error(p->unit, pos, "variable '%s' is not bound here", name->text);
    if (p->nunbound < CMM_MAX_DIAGS) {
        p->unbound[p->nunbound++] = name;
    }
}

/* The label of that name in this function, made when first seen. */
cmm_handler *label(parser *p, cmm_sym *name, uint32_t pos) {
    cmm_handler *h = name != NULL ? name->handler : NULL;
    if (h != NULL) {
        return h;
    }
    h = cmm_alloc(p->unit, sizeof *h);
    *h = (cmm_handler){.name = name, .id = p->fn->nhandlers++, .pos = pos};
    if (name != NULL) {
        name->handler = h;
    }
    p->handlers = grow(p->handlers, &p->cap_handlers, p->fn->nhandlers, sizeof *p->handlers);
    p->handlers[h->id] = h;
    return h;
}

/* --- types ------------------------------------------------------------------------- */
static bool component_of(const char *s, size_t n, cmm_component *out) {
    static const char *const names[] = {"int", "val", "addr", "float"};
    for (size_t i = 0; i < 4; i++) {
        if (strlen(names[i]) == n && memcmp(names[i], s, n) == 0) {
            *out = (cmm_component)i;
            return true;
        }
    }
    return false;
}

bool type_of_text(const char *s, size_t len, cmm_type *out) {
    cmm_type t = CMM_UNIT;
    if (len == 4 && memcmp(s, "unit", 4) == 0) {
        *out = t;
        return true;
    }
    for (const char *end = s + len;; s++) {
        const char *star = memchr(s, '*', (size_t)(end - s));
        size_t n = (size_t)((star != NULL ? star : end) - s);
        cmm_component c;
        if (!component_of(s, n, &c) || cmm_type_count(t) == CMM_MAX_COMPONENTS) {
            return false;
        }
        t = cmm_type_add(t, c);
        if (star == NULL) {
            *out = t;
            return true;
        }
        s = star;
    }
}

bool at_type(const parser *p) {
    cmm_type t;
    return p->tok.kind == T_WORD && type_of_text(p->tok.str, p->tok.len, &t);
}

cmm_type parse_type(parser *p) {
    cmm_type t;
    if (p->tok.kind != T_WORD || !type_of_text(p->tok.str, p->tok.len, &t)) {
        unexpected(p, "a type");
    }
    next(p);
    /* the dialect's `int * float`: components are words, the star an operator */
    while (p->mode == CMM_DIALECT && p->tok.kind == T_WORD && p->tok.kw == K_OP &&
           p->tok.op == CMM_MUL) {
        uint32_t pos = p->tok.pos;
        next(p);
        cmm_component c;
        if (p->tok.kind != T_WORD || !component_of(p->tok.str, p->tok.len, &c) || t == CMM_UNIT) {
            unexpected(p, "a component type");
        }
        if (cmm_type_count(t) == CMM_MAX_COMPONENTS) {
            fail_at(p, pos, "a type has at most %d components", CMM_MAX_COMPONENTS);
        }
        t = cmm_type_add(t, c);
        next(p);
    }
    return t;
}

/* --- parameters ---------------------------------------------------------------------- */
static cmm_sym *param_name(parser *p) {
    if (p->mode == CMM_LOSSLESS) {
        return string_sym(p);
    }
    if (p->tok.kind != T_WORD || (p->mode == CMM_DIALECT && p->tok.kw != K_NAME)) {
        unexpected(p, "a parameter");
    }
    cmm_sym *s = p->tok.sym;
    next(p);
    return s;
}

cmm_var **parse_params(parser *p, uint32_t *count) {
    size_t first = p->ntrail;
    uint32_t first_id = p->fn->nvars;
    while (p->tok.kind != T_RPAREN) {
        uint32_t pos = p->tok.pos;
        cmm_sym *name = param_name(p);
        if (name->var != NULL && name->var->id >= first_id) {
            cmm_error(p->unit, pos, "parameter '%s' is there twice", name->text);
        }
        if (p->mode != CMM_LOSSLESS) {
            expect(p, T_COLON, "':'");
        }
        bind(p, name, pos, parse_type(p), false);
    }
    next(p);
    size_t n = p->ntrail - first;
    cmm_var **params = cmm_alloc(p->unit, n * sizeof *params);
    if (n > 0) {
        memcpy(params, p->trail + first, n * sizeof *params);
    }
    *count = (uint32_t)n;
    return params;
}

/* --- functions ------------------------------------------------------------------------- */
/* dcmm prints the name without quotes: everything up to the parameter list. */
static cmm_sym *raw_function_name(parser *p) {
    const char *s = p->start + p->tok.pos, *e = memchr(s, '(', (size_t)(p->end - s));
    if (e == NULL || p->tok.kind != T_WORD) {
        unexpected(p, "a function name");
    }
    while (e > s && isspace((unsigned char)e[-1])) {
        e--;
    }
    if (e - s > 4096) {
        unexpected(p, "a function name");
    }
    cmm_sym *name = cmm_intern(p->unit, s, (size_t)(e - s));
    p->p = e;
    next(p);
    return name;
}

static cmm_sym *function_name(parser *p) {
    if (p->mode == CMM_DCMM) {
        return raw_function_name(p);
    }
    if (p->mode == CMM_DIALECT && p->tok.kind == T_WORD && p->tok.kw == K_NAME) {
        cmm_sym *s = p->tok.sym;
        next(p);
        return s;
    }
    return string_sym(p);
}

static void lossless_options(parser *p, cmm_function *f) {
    static const struct {
        const char *name;
        uint32_t flag;
    } words[] = {{"reduce_code_size", CMM_REDUCE_CODE_SIZE},
                 {"no_cse", CMM_NO_CSE},
                 {"poll_error", CMM_POLL_ERROR},
                 {"poll_default", 0}};
    bool inside = true;
    expect(p, T_LPAREN, "'(' of the options");
    for (;;) {
        if (inside && p->tok.kind == T_RPAREN) {
            inside = false;
            next(p);
        }
        size_t i = 0;
        while (i < 4 && (p->tok.kind != T_WORD || strcmp(p->tok.sym->text, words[i].name) != 0)) {
            i++;
        }
        if (i == 4 || (i >= 2) == inside) {
            unexpected(p, inside ? "an option of the function" : "poll_default or poll_error");
        }
        f->flags |= words[i].flag;
        next(p);
        if (i >= 2) {
            return;
        }
    }
}

static bool ends_with(const cmm_sym *s, const char *suffix) {
    size_t n = strlen(suffix);
    return s->len >= n && memcmp(s->text + s->len - n, suffix, n) == 0;
}

/* What -dcmm does not say: all dialect functions, and unit entries, save space. */
static void default_options(parser *p, cmm_function *f) {
    bool entry = ends_with(f->name, ".entry") || strcmp(f->name->text, "caml_program") == 0;
    if (p->mode == CMM_DIALECT || entry) {
        f->flags |= CMM_REDUCE_CODE_SIZE;
    }
}

static void reset_function(parser *p) {
    unbind_to(p, 0);
    p->nstack = 0;
    p->ngroup = 0;
    p->nunbound = 0;
    p->depth = 0;
    if (p->fn != NULL) {
        for (uint32_t i = 0; i < p->fn->nhandlers; i++) {
            if (p->handlers[i]->name != NULL) {
                p->handlers[i]->name->handler = NULL;
            }
        }
    }
    p->fn = NULL;
}

static void define(parser *p, cmm_sym *name, uint32_t pos) {
    if (name->def_pos == UINT32_MAX) {
        name->def_pos = pos;
        return;
    }
    uint32_t line, column;
    cmm_position(p->unit, name->def_pos, &line, &column);
    cmm_error(p->unit, pos, "symbol '%s' is already defined at line %u", name->text, line);
}

static void finish_function(parser *p, cmm_function *f) {
    f->vars = cmm_alloc(p->unit, f->nvars * sizeof *f->vars);
    if (f->nvars > 0) {
        memcpy(f->vars, p->vars, f->nvars * sizeof *f->vars);
    }
    for (uint32_t i = 0; i < f->nhandlers; i++) {
        const cmm_handler *h = p->handlers[i];
        if (h->owner == NULL) {
            cmm_error(p->unit, h->pos, "label '%s' is not defined in this function", h->name->text);
        }
    }
    f->end_pos = p->tok.pos;
}

static void parse_function(parser *p, cmm_phrase *phrase) {
    cmm_unit *u = p->unit;
    cmm_function *f = cmm_alloc(u, sizeof *f);
    p->fn = f;
    next(p);
    f->dbg = parse_dbg(p);
    f->pos = p->tok.pos;
    f->name = function_name(p);
    define(p, f->name, f->pos);
    expect(p, T_LPAREN, "'(' of the parameters");
    f->params = parse_params(p, &f->nparams);
    if (p->mode == CMM_LOSSLESS) {
        lossless_options(p, f);
    } else {
        default_options(p, f);
    }
    f->body = parse_seq(p);
    finish_function(p, f);
    f->order = u->nfunctions++;
    f->name->function = f;
    phrase->function = f;
}

/* --- phrases ------------------------------------------------------------------------------ */
static cmm_phrase *new_phrase(parser *p) {
    cmm_unit *u = p->unit;
    u->phrases = grow(u->phrases, &p->cap_phrases, u->nphrases + 1, sizeof *u->phrases);
    cmm_phrase *ph = &u->phrases[u->nphrases];
    *ph = (cmm_phrase){.pos = p->tok.pos};
    return ph;
}

static void parse_phrase(parser *p) {
    cmm_phrase *ph = new_phrase(p);
    p->phrase_pos = p->tok.pos;
    expect(p, T_LPAREN, "'(' of a phrase");
    if (at_kw(p, K_FUNCTION)) {
        parse_function(p, ph);
    } else {
        if (at_kw(p, K_DATA)) {
            next(p);
        }
        parse_data(p, ph);
        for (uint32_t i = 0; i < ph->nitems; i++) {
            const cmm_item *it = &ph->items[i];
            if (it->kind == CMM_ITEM_DEFINE) {
                define(p, it->u.sym, it->pos);
                it->u.sym->is_data = true;
            } else if (it->kind == CMM_ITEM_GLOBAL) {
                it->u.sym->is_global = true;
            }
        }
    }
    reset_function(p);
    if (p->tok.kind != T_RPAREN) {
        unexpected(p, "')'");
    }
    p->unit->nphrases++;
    next(p);
}

static bool starts_phrase(const parser *p, const char *s) {
    static const char *const words[] = {"(function", "(data"};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(words[i]);
        bool there = (size_t)(p->end - s) > n && memcmp(s, words[i], n) == 0;
        if (there && !isalnum((unsigned char)s[n])) {
            return true;
        }
    }
    return false;
}

/* Goes to the next line that starts a phrase and is after the phrase's first. Other lines
 * that start with '(' may be in the middle of what could not be read. */
static void resync(parser *p) {
    const char *s = p->p > p->start ? p->p - 1 : p->p;
    while (s > p->start && s[-1] != '\n') {
        s--;
    }
    if (s <= p->start + p->phrase_pos) {
        s = p->start + p->phrase_pos + 1;
    }
    while (s < p->end && !(s[0] == '(' && s[-1] == '\n' && starts_phrase(p, s))) {
        s++;
    }
    p->p = s < p->end ? s : p->end;
    p->phrase_pos = (uint32_t)(p->p - p->start);
}

static void parse_phrases(parser *p) {
    p->phrase_pos = 0;
    if (setjmp(p->fail) != 0) {
        reset_function(p);
        resync(p);
        if (p->unit->ndiags > CMM_MAX_DIAGS) {
            return;
        }
    }
    /* a second error in the lexer here comes back to setjmp, further on in the text */
    next(p);
    for (;;) {
        if (p->tok.kind == T_EOF) {
            return;
        }
        if (at_kw(p, K_CMM)) {
            next(p);
            continue;
        }
        parse_phrase(p);
    }
}

/* --- modes and units ------------------------------------------------------------------------ */
static const char *find(const char *s, const char *end, const char *what) {
    size_t n = strlen(what);
    return (size_t)(end - s) < n ? NULL : memmem(s, (size_t)(end - s), what, n);
}

/* What follows the words of the comment that names the lossless form; NULL: not there. */
static const char *lossless_version(const char *s, const char *end) {
    static const char header[] = "; cmm lossless";
    size_t n = sizeof header - 1;
    while (s < end && isspace((unsigned char)*s)) {
        s++;
    }
    return (size_t)(end - s) >= n && memcmp(s, header, n) == 0 ? s + n : NULL;
}

/* False (and an error): the form is a version of its own. */
static bool version_ok(cmm_unit *u) {
    const char *end = u->text + u->length, *v = lossless_version(u->text, end);
    if (v == NULL) {
        return true;
    }
    while (v < end && *v == ' ') {
        v++;
    }
    size_t n = 0;
    while (v + n < end && !isspace((unsigned char)v[n])) {
        n++;
    }
    if (n == 1 && *v == '1') {
        return true;
    }
    cmm_error(u, (uint32_t)(v - u->text),
              "version '%.*s' of the lossless form: this cmmc reads version 1",
              (int)(n > 40 ? 40 : n), v);
    return false;
}

/* Dumps start with "cmm:" or, ours, with a comment that names the form. The lossless
 * one quotes function names. */
static cmm_mode detect_mode(const char *text, size_t length) {
    const char *s = text, *end = text + length;
    while (s < end && isspace((unsigned char)*s)) {
        s++;
    }
    if (lossless_version(text, end) != NULL) {
        return CMM_LOSSLESS;
    }
    if (end - s < 4 || memcmp(s, "cmm:", 4) != 0) {
        return CMM_DIALECT;
    }
    const char *f = find(s, end, "\n(function");
    if (f == NULL) {
        return CMM_LOSSLESS;
    }
    f += strlen("\n(function");
    bool brace = f < end && *f == '{';
    while (f < end && *f != '"' && *f != '}' && *f != ' ') {
        f++;
    }
    f += f < end && (!brace || *f == '}');
    while (f < end && *f == ' ') {
        f++;
    }
    return f < end && *f == '"' ? CMM_LOSSLESS : CMM_DCMM;
}

static cmm_sym *symbol_of_file(cmm_unit *u) {
    const char *base = strrchr(u->file, '/');
    base = base != NULL ? base + 1 : u->file;
    const char *dot = strchr(base, '.');
    size_t n = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base);
    char name[300] = "caml";
    n = n > 250 ? 250 : n;
    memcpy(name + 4, base, n);
    name[4] = (char)toupper((unsigned char)name[4]);
    return cmm_intern(u, name, n + 4);
}

/* caml_startup for the start-up unit, else S of a function S.entry. */
static cmm_sym *symbol_of_text(cmm_unit *u) {
    for (uint32_t i = 0; i < u->nphrases; i++) {
        const cmm_function *f = u->phrases[i].function;
        if (f != NULL && strcmp(f->name->text, "caml_program") == 0) {
            return cmm_intern(u, "caml_startup", 12);
        }
        if (f != NULL && f->name->len > 6 && ends_with(f->name, ".entry")) {
            return cmm_intern(u, f->name->text, f->name->len - 6);
        }
    }
    return symbol_of_file(u);
}

static void release(parser *p) {
    for (uint32_t i = 0; i < p->dbgs_size; i++) {
        for (dbg_entry *e = p->dbgs[i], *rest; e != NULL; e = rest) {
            rest = e->next;
            free(e);
        }
    }
    free(p->dbgs);
    free(p->stack);
    free(p->trail);
    free(p->vars);
    free(p->handlers);
    free(p->group);
    free(p->items);
}

void cmm_parse_unit(cmm_unit *u, cmm_mode mode, const char *unit_symbol) {
    if (!cmm_length_ok(u)) {
        return;
    }
    u->mode = mode != CMM_AUTO ? mode : detect_mode(u->text, u->length);
    if (u->mode == CMM_LOSSLESS && !version_ok(u)) {
        return;
    }
    parser *p = calloc(1, sizeof *p);
    if (p == NULL) {
        abort();
    }
    p->unit = u;
    p->mode = u->mode;
    p->p = p->start = u->text;
    p->end = u->text + u->length;
    p->max_depth = CMM_MAX_DEPTH;
    lex_init(p);
    parse_phrases(p);
    release(p);
    free(p);
    u->unit_symbol =
        unit_symbol != NULL ? cmm_intern(u, unit_symbol, strlen(unit_symbol)) : symbol_of_text(u);
}

cmm_unit *cmm_parse_text(const char *name, const char *text, size_t length, cmm_mode mode,
                         const char *unit_symbol) {
    cmm_unit *u = cmm_new_unit(name);
    cmm_keep_text(u, text, length);
    cmm_parse_unit(u, mode, unit_symbol);
    return u;
}
