/* parse_expr.c - expressions of the dialect and of both dump forms.
 *
 * Children are pushed on the parser's stack and moved into their node when it closes,
 * so a node is allocated once, with its exact size.
 */
#include <string.h>

#include "emitter/parse.h"

static cmm_expr *parse_paren(parser *p, uint32_t pos);

/* --- nodes ------------------------------------------------------------------------- */
void push(parser *p, cmm_expr *e) {
    p->stack = grow(p->stack, &p->cap_stack, p->nstack + 1, sizeof *p->stack);
    p->stack[p->nstack++] = e;
}

/* A node of everything pushed since mark. */
cmm_expr *close_node(parser *p, cmm_op kind, uint32_t pos, size_t mark) {
    size_t n = p->nstack - mark;
    cmm_expr *e = cmm_new_expr(p->unit, kind, pos, (uint32_t)n);
    if (n > 0) {
        memcpy(e->args, p->stack + mark, n * sizeof *e->args);
    }
    p->nstack = mark;
    p->fn->nexprs++;
    return e;
}

cmm_expr *leaf(parser *p, cmm_op kind, uint32_t pos) {
    return close_node(p, kind, pos, p->nstack);
}

static cmm_expr *int_node(parser *p, int64_t i, uint32_t pos) {
    cmm_expr *e = leaf(p, CMM_CONST_INT, pos);
    e->u.i = i;
    bool fits63 = i >= -((int64_t)1 << 62) && i < (int64_t)1 << 62;
    e->flags = fits63 ? 0 : CMM_NATINT;
    return e;
}

cmm_expr *binary(parser *p, cmm_op kind, uint32_t pos, cmm_expr *a, cmm_expr *b) {
    size_t mark = p->nstack;
    push(p, a);
    push(p, b);
    return close_node(p, kind, pos, mark);
}

cmm_expr *bad(parser *p, uint32_t pos) {
    cmm_expr *e = leaf(p, CMM_TUPLE, pos);
    e->flags = CMM_BAD;
    return e;
}

/* --- sequences ----------------------------------------------------------------------- */
static bool at_seq_word(const parser *p) {
    if (p->tok.kind != T_WORD) {
        return p->tok.kind == T_RPAREN || p->tok.kind == T_EOF;
    }
    bool and = p->mode == CMM_DIALECT && p->tok.kw == K_OP && p->tok.op == CMM_AND;
    return p->tok.kw == K_WITH || p->tok.kw == K_CASE || and;
}

/* In dumps `(12 ...` is the head of a handler, `(with` and `(case` are parts too. */
static bool at_part(const parser *p) {
    return is_dump(p) && (p->tok.kind == T_INT || at_kw(p, K_WITH) || at_kw(p, K_CASE));
}

/* One expression of a sequence pushed; false: what follows ends the sequence. */
static bool seq_element(parser *p) {
    if (p->tok.kind != T_LPAREN) {
        push(p, parse_expr(p));
        return true;
    }
    token tok = p->tok;
    const char *at = p->p;
    next(p);
    if (at_part(p)) {
        p->tok = tok;
        p->p = at;
        return false;
    }
    push(p, parse_paren(p, tok.pos));
    return true;
}

cmm_expr *parse_seq(parser *p) {
    size_t mark = p->nstack;
    uint32_t pos = p->tok.pos;
    while (!at_seq_word(p) && seq_element(p)) {
    }
    if (p->nstack == mark) {
        unexpected(p, "an expression");
    }
    if (p->nstack == mark + 1) {
        return p->stack[--p->nstack];
    }
    return close_node(p, CMM_SEQ, pos, mark);
}

/* Pushes expressions up to the ')' and takes it. */
void push_rest(parser *p) {
    while (p->tok.kind != T_RPAREN) {
        push(p, parse_expr(p));
    }
    next(p);
}

void close_paren(parser *p) {
    expect(p, T_RPAREN, "')'");
}

/* --- atoms --------------------------------------------------------------------------- */
static cmm_expr *var_node(parser *p, cmm_var *v, uint32_t pos) {
    cmm_expr *e = leaf(p, CMM_VAR, pos);
    e->u.var = v;
    v->uses++;
    return e;
}

static bool looks_like_variable(const cmm_sym *s) {
    size_t n = s->len;
    while (n > 0 && s->text[n - 1] >= '0' && s->text[n - 1] <= '9') {
        n--;
    }
    return n < s->len && n > 1 && s->text[n - 1] == '/';
}

/* In the lossless form variables are quoted like symbols; what is bound is a variable. */
static cmm_expr *string_node(parser *p) {
    uint32_t pos = p->tok.pos;
    cmm_sym *s = string_sym(p);
    if (p->mode == CMM_LOSSLESS && s->var != NULL) {
        return var_node(p, s->var, pos);
    }
    if (p->mode == CMM_LOSSLESS && looks_like_variable(s)) {
        not_bound(p, s, pos);
        return bad(p, pos);
    }
    cmm_expr *e = leaf(p, CMM_SYMBOL, pos);
    e->u.sym = s;
    return e;
}

/* 5.4 prints the read of a mutable variable x/1 as !x/1. */
static cmm_var *mutable_read(parser *p, const cmm_sym *s) {
    if (p->mode != CMM_DCMM || s->len < 2 || s->text[0] != '!') {
        return NULL;
    }
    return cmm_intern(p->unit, s->text + 1, s->len - 1)->var;
}

cmm_expr *exit_node(parser *p, cmm_sym *name, uint32_t label_pos, uint32_t pos, size_t mark) {
    cmm_handler *h = label(p, name, label_pos);
    cmm_expr *e = close_node(p, CMM_EXIT, pos, mark);
    e->u.handler = h;
    h->uses++;
    return e;
}

static cmm_expr *word_node(parser *p) {
    uint32_t pos = p->tok.pos;
    cmm_sym *s = p->tok.sym;
    if (p->tok.kw == K_RETURN_ADDR) {
        next(p);
        return leaf(p, CMM_RETURN_ADDR, pos);
    }
    if (p->tok.kw == K_EXIT && !is_dump(p)) { /* bare exit: to the handler without a label */
        next(p);
        return exit_node(p, cmm_intern(p->unit, "0", 1), pos, pos, p->nstack);
    }
    if (p->tok.kw != K_NAME || p->mode == CMM_LOSSLESS) {
        unexpected(p, "an expression");
    }
    next(p);
    if (s->var != NULL) {
        return var_node(p, s->var, pos);
    }
    cmm_var *v = mutable_read(p, s);
    if (v != NULL) {
        cmm_expr *e = var_node(p, v, pos);
        e->flags |= CMM_MUT_READ;
        return e;
    }
    not_bound(p, s, pos);
    return bad(p, pos);
}

static cmm_expr *tuple(parser *p) {
    uint32_t pos = p->tok.pos;
    size_t mark = p->nstack;
    next(p);
    while (is_dump(p) && p->tok.kind != T_RBRACKET) {
        push(p, parse_expr(p));
    }
    expect(p, T_RBRACKET, "']'");
    return close_node(p, CMM_TUPLE, pos, mark);
}

cmm_expr *parse_expr(parser *p) {
    uint32_t pos = p->tok.pos;
    cmm_expr *e;
    switch (p->tok.kind) {
    case T_INT:
        e = int_node(p, p->tok.u.i, pos);
        next(p);
        return e;
    case T_FLOAT:
        if (p->tok.end - pos == 10 && p->start[pos + 1] == 'f') {
            fail_at(p, pos, "0f needs 16 hex digits here");
        }
        e = leaf(p, CMM_CONST_FLOAT, pos);
        e->u.bits = p->tok.u.bits;
        next(p);
        return e;
    case T_STRING:
        return string_node(p);
    case T_WORD:
        return word_node(p);
    case T_LBRACKET:
        return tuple(p);
    case T_LPAREN:
        next(p);
        return parse_paren(p, pos);
    default:
        unexpected(p, "an expression");
    }
}

/* --- variables --------------------------------------------------------------------------- */
cmm_sym *var_name(parser *p) {
    if (p->mode == CMM_LOSSLESS) {
        return string_sym(p);
    }
    if (p->tok.kind != T_WORD || (!is_dump(p) && p->tok.kw != K_NAME)) {
        unexpected(p, "a variable");
    }
    cmm_sym *s = p->tok.sym;
    next(p);
    return s;
}

/* NAME [:] [type] value; pushes the value and binds the name after it. */
static void let_one(parser *p, bool is_mut) {
    uint32_t pos = p->tok.pos;
    cmm_sym *name = var_name(p);
    cmm_type type = CMM_NEVER;
    if (is_mut) {
        if (p->tok.kind == T_COLON) {
            next(p);
        }
        type = parse_type(p);
    }
    push(p, parse_expr(p));
    bind(p, name, pos, type, is_mut);
    if (++p->depth > p->max_depth) {
        fail_at(p, pos, "more than %u levels of nesting", p->max_depth);
    }
}

static bool at_let_group(const parser *p) {
    return p->tok.kind == T_LPAREN;
}

static cmm_expr *parse_let(parser *p, uint32_t pos, bool is_mut) {
    size_t mark = p->nstack, first = p->ntrail;
    uint32_t depth = p->depth;
    if (at_let_group(p)) {
        next(p);
        do {
            let_one(p, is_mut);
        } while (p->tok.kind != T_RPAREN);
        next(p);
    } else {
        let_one(p, is_mut);
    }
    cmm_expr *body = parse_seq(p);
    close_paren(p);
    for (size_t i = p->ntrail - first; i-- > 0;) {
        cmm_var *v = p->trail[first + i];
        body = binary(p, is_mut ? CMM_LET_MUT : CMM_LET, i == 0 ? pos : v->pos, p->stack[mark + i],
                      body);
        body->u.var = v;
    }
    p->nstack = mark;
    p->depth = depth;
    unbind_to(p, first);
    return body;
}

/* (let? VAR PHANTOM body): only the body is code. */
static void skip_phantom(parser *p) {
    int open = 0;
    do {
        open += p->tok.kind == T_LPAREN || p->tok.kind == T_LBRACKET;
        open -= p->tok.kind == T_RPAREN || p->tok.kind == T_RBRACKET;
        if (p->tok.kind == T_EOF) {
            unexpected(p, "the end of a phantom let");
        }
        next(p);
    } while (open > 0);
}

static cmm_expr *parse_phantom(parser *p) {
    if (!at_let_group(p)) {
        next(p);
    }
    skip_phantom(p);
    cmm_expr *e = parse_seq(p);
    close_paren(p);
    return e;
}

static cmm_expr *parse_assign(parser *p, uint32_t pos) {
    uint32_t at = p->tok.pos;
    cmm_sym *name = var_name(p);
    size_t mark = p->nstack;
    push(p, parse_expr(p));
    close_paren(p);
    cmm_expr *e = close_node(p, CMM_ASSIGN, pos, mark);
    e->u.var = name->var;
    if (name->var == NULL) {
        not_bound(p, name, at);
        return bad(p, pos);
    }
    return e;
}

/* --- memory ------------------------------------------------------------------------------- */
static cmm_chunk chunk_of_bytes(parser *p, bool is_signed) {
    static const struct {
        uint8_t kw, u, s;
    } sizes[] = {{K_BYTE, CMM_BYTE_U, CMM_BYTE_S},
                 {K_HALF, CMM_HALF_U, CMM_HALF_S},
                 {K_INT32, CMM_INT32_U, CMM_INT32_S}};
    for (size_t i = 0; i < 3; i++) {
        if (at_kw(p, (keyword)sizes[i].kw)) {
            return is_signed ? sizes[i].s : sizes[i].u;
        }
    }
    unexpected(p, "a size");
}

static cmm_chunk parse_chunk(parser *p) {
    static const struct {
        uint8_t kw, chunk;
    } words[] = {{K_INT, CMM_WORD_INT}, {K_VAL, CMM_WORD_VAL},   {K_ADDR, CMM_WORD_VAL},
                 {K_FLOAT, CMM_DOUBLE}, {K_FLOAT32, CMM_SINGLE}, {K_FLOAT64, CMM_DOUBLE},
                 {K_INT64, CMM_INT64}};
    cmm_chunk c = CMM_NUM_CHUNKS;
    if (at_kw(p, K_SIGNED) || at_kw(p, K_UNSIGNED)) {
        bool is_signed = at_kw(p, K_SIGNED);
        next(p);
        c = chunk_of_bytes(p, is_signed);
    }
    for (size_t i = 0; c == CMM_NUM_CHUNKS && i < sizeof words / sizeof *words; i++) {
        c = at_kw(p, (keyword)words[i].kw) ? words[i].chunk : c;
    }
    if (c == CMM_NUM_CHUNKS) {
        unexpected(p, "a memory chunk");
    }
    next(p);
    return c;
}

/* `(heap-init)` or `(root-init)`, glued to the chunk. */
static uint16_t store_kind(parser *p) {
    static const char heap[] = "(heap-init)", root[] = "(root-init)";
    const char *s = p->start + p->tok.pos;
    uint16_t kind = strncmp(s, heap, sizeof heap - 1) == 0   ? CMM_INIT_HEAP
                    : strncmp(s, root, sizeof root - 1) == 0 ? CMM_INIT_ROOT
                                                             : 0;
    if (kind != 0) {
        next(p);
        next(p);
        next(p);
    }
    return kind;
}

cmm_expr *wrong_count(parser *p, cmm_expr *e, const char *name, size_t wanted) {
    if (e->nargs == wanted) {
        return e;
    }
    cmm_error(p->unit, e->pos, "'%s' takes %zu argument%s, not %u", name, wanted,
              wanted == 1 ? "" : "s", e->nargs);
    return bad(p, e->pos);
}

static cmm_expr *parse_access(parser *p, uint32_t pos, cmm_op op, uint16_t flags) {
    size_t mark = p->nstack;
    cmm_chunk chunk = parse_chunk(p);
    flags |= op == CMM_STORE ? store_kind(p) : 0;
    const cmm_dbg *dbg = parse_dbg(p);
    push_rest(p);
    cmm_expr *e = close_node(p, op, pos, mark);
    e->chunk = (uint8_t)chunk;
    e->flags = flags;
    e->dbg = dbg;
    return wrong_count(p, e, cmm_ops[op].name, op == CMM_STORE ? 2 : 1);
}

/* base + 8 * index; a constant index is folded, 0 leaves the base alone. */
static cmm_expr *element(parser *p, uint32_t pos, cmm_expr *base, cmm_expr *index) {
    if (index->kind == CMM_CONST_INT) {
        int64_t offset = (int64_t)((uint64_t)index->u.i << 3);
        return offset == 0 ? base : binary(p, CMM_ADDA, pos, base, int_node(p, offset, index->pos));
    }
    cmm_expr *scaled = binary(p, CMM_LSL, index->pos, index, int_node(p, 3, index->pos));
    return binary(p, CMM_ADDA, pos, base, scaled);
}

static cmm_expr *parse_array(parser *p, uint32_t pos, cmm_chunk chunk, bool set) {
    size_t mark = p->nstack;
    cmm_expr *base = parse_expr(p), *index = parse_expr(p);
    push(p, element(p, pos, base, index));
    if (set) {
        push(p, parse_expr(p));
    }
    close_paren(p);
    cmm_expr *e = close_node(p, set ? CMM_STORE : CMM_LOAD, pos, mark);
    e->chunk = (uint8_t)chunk;
    e->flags = set ? 0 : CMM_MUTABLE;
    return e;
}

/* --- operators, alloc ------------------------------------------------------------------------ */
static cmm_expr *parse_op(parser *p, uint32_t pos, cmm_op op) {
    size_t mark = p->nstack;
    const cmm_dbg *dbg = parse_dbg(p);
    push_rest(p);
    cmm_expr *e = close_node(p, op, pos, mark);
    e->dbg = dbg;
    const char *args = cmm_ops[op].args;
    const char *name = is_dump(p) ? cmm_ops[op].name : cmm_ops[op].dialect;
    return wrong_count(p, e, name, args != NULL ? strlen(args) : 1);
}

/* The dialect's -f negates one argument and subtracts two. */
static cmm_expr *parse_minus_f(parser *p, uint32_t pos) {
    size_t mark = p->nstack;
    const cmm_dbg *dbg = parse_dbg(p);
    push_rest(p);
    cmm_expr *e = close_node(p, p->nstack - mark == 1 ? CMM_NEGF : CMM_SUBF, pos, mark);
    e->dbg = dbg;
    return e->nargs == 1 ? e : wrong_count(p, e, "-f", 2);
}

static cmm_expr *parse_alloc(parser *p, uint32_t pos) {
    size_t mark = p->nstack;
    const cmm_dbg *dbg = parse_dbg(p);
    push_rest(p);
    cmm_expr *e = close_node(p, CMM_ALLOC, pos, mark);
    e->dbg = dbg;
    return e;
}

/* --- calls ------------------------------------------------------------------------------------ */
static cmm_expr *parse_app(parser *p, uint32_t pos) {
    size_t mark = p->nstack;
    const cmm_dbg *dbg = parse_dbg(p);
    push(p, parse_expr(p));
    while (!at_type(p)) {
        if (p->tok.kind == T_RPAREN) {
            unexpected(p, "the type of the call's result");
        }
        push(p, parse_expr(p));
    }
    cmm_type type = parse_type(p);
    close_paren(p);
    cmm_expr *e = close_node(p, CMM_APP, pos, mark);
    e->type = type;
    e->dbg = dbg;
    return e;
}

/* C primitives that never allocate, for dcmm text, which does not say. Sorted. */
static const char *const noalloc[] = {
    "acos",
    "asin",
    "atan",
    "atan2",
    "caml_acosh_float",
    "caml_asinh_float",
    "caml_atanh_float",
    "caml_atomic_cas",
    "caml_atomic_exchange",
    "caml_atomic_fetch_add",
    "caml_blit_bytes",
    "caml_blit_string",
    "caml_bswap16_direct",
    "caml_bytes_compare",
    "caml_bytes_equal",
    "caml_bytes_greaterequal",
    "caml_bytes_greaterthan",
    "caml_bytes_lessequal",
    "caml_bytes_lessthan",
    "caml_bytes_notequal",
    "caml_cbrt",
    "caml_classify_float_unboxed",
    "caml_continuation_use_and_update_handler_noexc",
    "caml_continuation_use_noexc",
    "caml_copysign",
    "caml_domain_dls_compare_and_set",
    "caml_domain_dls_set",
    "caml_double_of_float16",
    "caml_erf",
    "caml_erfc",
    "caml_exp2",
    "caml_expm1",
    "caml_fill_bytes",
    "caml_float16_of_double",
    "caml_floatarray_blit",
    "caml_fma",
    "caml_fresh_oo_id",
    "caml_get_public_method",
    "caml_hash",
    "caml_hypot",
    "caml_initialize",
    "caml_int32_bits_of_float_unboxed",
    "caml_int32_direct_bswap",
    "caml_int32_float_of_bits_unboxed",
    "caml_int32_of_float_unboxed",
    "caml_int32_to_float_unboxed",
    "caml_int64_bits_of_float_unboxed",
    "caml_int64_direct_bswap",
    "caml_int64_float_of_bits_unboxed",
    "caml_int64_of_float_unboxed",
    "caml_int64_to_float_unboxed",
    "caml_lazy_reset_to_lazy",
    "caml_lazy_update_to_forcing",
    "caml_lazy_update_to_forward",
    "caml_ldexp_float_unboxed",
    "caml_log1p",
    "caml_log2",
    "caml_lxm_next_unboxed",
    "caml_ml_domain_id",
    "caml_ml_domain_index",
    "caml_ml_runtime_events_are_active",
    "caml_modify",
    "caml_nativeint_direct_bswap",
    "caml_nativeint_of_float_unboxed",
    "caml_nativeint_to_float_unboxed",
    "caml_nextafter",
    "caml_obj_tag",
    "caml_recommended_domain_count",
    "caml_restore_raw_backtrace",
    "caml_round",
    "caml_set_oo_id",
    "caml_signbit",
    "caml_string_compare",
    "caml_string_equal",
    "caml_string_greaterequal",
    "caml_string_greaterthan",
    "caml_string_hash",
    "caml_string_lessequal",
    "caml_string_lessthan",
    "caml_string_notequal",
    "caml_sys_time_unboxed",
    "caml_thread_id",
    "caml_thread_self",
    "caml_trunc",
    "caml_unix_gettimeofday_unboxed",
    "caml_unix_time_unboxed",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "floor",
    "fmod",
    "log",
    "log10",
    "pow",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
};

static bool is_noalloc(const char *name) {
    size_t lo = 0, hi = sizeof noalloc / sizeof *noalloc;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = strcmp(name, noalloc[mid]);
        if (c == 0) {
            return true;
        }
        lo = c > 0 ? mid + 1 : lo;
        hi = c > 0 ? hi : mid;
    }
    return false;
}

/* int,float->val */
typedef struct {
    uint8_t *types;
    uint32_t count;
    cmm_type result;
} signature;

static void add_xtype(parser *p, signature *g, const char *s, size_t n) {
    static const char *const names[] = {"int", "int32", "int64", "float"};
    size_t i = 0;
    while (i < 4 && !(strlen(names[i]) == n && memcmp(names[i], s, n) == 0)) {
        i++;
    }
    if (i == 4) {
        fail_at(p, p->tok.pos, "'%.*s' is not the type of a C argument", (int)(n > 40 ? 40 : n), s);
    }
    g->types[g->count++] = (uint8_t)i;
}

static void arg_types(parser *p, signature *g, const char *s, const char *end) {
    size_t commas = 0;
    for (const char *c = s; c < end; c++) {
        commas += *c == ',';
    }
    g->types = cmm_alloc(p->unit, commas + 1);
    while (s < end) {
        const char *comma = memchr(s, ',', (size_t)(end - s));
        const char *stop = comma != NULL ? comma : end;
        add_xtype(p, g, s, (size_t)(stop - s));
        s = stop + (comma != NULL);
    }
}

static void parse_arrow(parser *p, signature *g) {
    const char *s = p->tok.str, *end = s + p->tok.len;
    const char *arrow = memmem(s, (size_t)(end - s), "->", 2);
    if (arrow == NULL || !type_of_text(arrow + 2, (size_t)(end - arrow - 2), &g->result)) {
        unexpected(p, "the types of the C call");
    }
    arg_types(p, g, s, arrow);
    next(p);
}

/* Variables of dcmm may hold "->" too, but always a '/'. */
static bool at_signature(const parser *p) {
    if (p->mode == CMM_DIALECT) {
        return at_type(p);
    }
    return p->tok.kind == T_WORD && memmem(p->tok.str, p->tok.len, "->", 2) != NULL &&
           memchr(p->tok.str, '/', p->tok.len) == NULL;
}

static void parse_signature(parser *p, signature *g) {
    if (p->mode == CMM_DIALECT) {
        g->result = parse_type(p);
    } else {
        parse_arrow(p, g);
    }
}

static bool alloc_flag(parser *p) {
    if (p->mode != CMM_LOSSLESS) {
        return false;
    }
    bool alloc = p->tok.kind == T_WORD && p->tok.kw == K_ALLOC;
    if (!alloc && (p->tok.kind != T_WORD || strcmp(p->tok.sym->text, "noalloc") != 0)) {
        unexpected(p, "alloc or noalloc");
    }
    next(p);
    return alloc;
}

static cmm_expr *parse_extcall(parser *p, uint32_t pos) {
    size_t mark = p->nstack;
    bool alloc = alloc_flag(p);
    cmm_sym *name = string_sym(p);
    const cmm_dbg *dbg = parse_dbg(p);
    while (!at_signature(p)) {
        if (p->tok.kind == T_RPAREN) {
            unexpected(p, "the type of the call's result");
        }
        push(p, parse_expr(p));
    }
    signature g = {.count = 0};
    parse_signature(p, &g);
    close_paren(p);
    cmm_expr *e = close_node(p, CMM_EXTCALL, pos, mark);
    cmm_extcall *x = cmm_alloc(p->unit, sizeof *x + g.count);
    x->name = name;
    x->alloc = p->mode == CMM_DCMM ? !is_noalloc(name->text) : alloc;
    x->ntypes = g.count;
    if (g.count > 0) {
        memcpy(x->types, g.types, g.count);
    }
    e->u.ext = x;
    e->type = g.result;
    e->dbg = dbg;
    return e;
}

/* --- what follows a parenthesis --------------------------------------------------------------- */
static cmm_expr *parse_form(parser *p, uint32_t pos) {
    if (p->tok.kind != T_WORD) {
        unexpected(p, "an operator");
    }
    uint8_t kw = p->tok.kw, op = p->tok.op;
    if (kw == K_NAME) {
        fail_at(p, p->tok.pos, "unknown operator '%s'", p->tok.sym->text);
    }
    if (kw < K_OP || kw > K_VAL) {
        unexpected(p, "an operator");
    }
    next(p);
    switch (kw) {
    case K_OP:
        return parse_op(p, pos, (cmm_op)op);
    case K_LET:
        return parse_let(p, pos, false);
    case K_LET_MUT:
        return parse_let(p, pos, true);
    case K_PHANTOM:
        return parse_phantom(p);
    case K_ASSIGN:
        return parse_assign(p, pos);
    case K_SEQ:
        return parse_seq_form(p);
    case K_IF:
        return parse_if(p, pos);
    case K_SWITCH:
        return parse_switch(p, pos);
    case K_WHILE:
        return parse_while(p, pos);
    case K_CATCH:
        return parse_catch(p, pos);
    case K_EXIT:
        return parse_exit(p, pos);
    case K_TRY:
        return parse_try(p, pos);
    case K_APP:
        return parse_app(p, pos);
    case K_EXTCALL:
        return parse_extcall(p, pos);
    case K_LOAD:
        return parse_access(p, pos, CMM_LOAD, 0);
    case K_LOAD_MUT:
        return parse_access(p, pos, CMM_LOAD, CMM_MUTABLE);
    case K_LOAD_ATOMIC:
        return parse_access(p, pos, CMM_LOAD, CMM_ATOMIC);
    case K_LOAD_MUT_ATOMIC:
        return parse_access(p, pos, CMM_LOAD, CMM_MUTABLE | CMM_ATOMIC);
    case K_STORE:
        return parse_access(p, pos, CMM_STORE, 0);
    case K_ALLOC:
        return parse_alloc(p, pos);
    case K_MINUS_F:
        return parse_minus_f(p, pos);
    case K_AREF:
        return parse_array(p, pos, (cmm_chunk)op, false);
    case K_ASET:
        return parse_array(p, pos, (cmm_chunk)op, true);
    default:
        return parse_array(p, pos, CMM_WORD_VAL, false); /* (val base index) */
    }
}

static cmm_expr *parse_paren(parser *p, uint32_t pos) {
    if (++p->depth > p->max_depth) {
        fail_at(p, pos, "more than %u levels of nesting", p->max_depth);
    }
    cmm_expr *e = parse_form(p, pos);
    if (p->depth > p->fn->depth) {
        p->fn->depth = p->depth;
    }
    p->depth--;
    return e;
}
