/* print.c - the lossless form. Whatever is printed here, the parser reads back to the
 * same tree: that is tested on every program of the suite.
 */
#include <ctype.h>
#include <string.h>

#include "emitter/cmm.h"

typedef struct {
    FILE *out;
    int column;
} printer;

enum { WIDTH = 78 };

static void put(printer *p, const char *s, size_t n) {
    fwrite(s, 1, n, p->out);
    p->column += (int)n;
}

static void puts_(printer *p, const char *s) {
    put(p, s, strlen(s));
}

static void line(printer *p, int indent) {
    int n = indent < 60 ? indent : 60; /* deep trees must not cost quadratic space */
    fprintf(p->out, "\n%*s", n, "");
    p->column = n;
}

/* Before a part: a space, or a new line when this one is long. */
static void gap(printer *p, int indent) {
    if (p->column > WIDTH - 16) {
        line(p, indent);
    } else {
        puts_(p, " ");
    }
}

static void escaped(printer *p, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 32 && c < 127 && c != '"' && c != '\\') {
            put(p, s + i, 1);
        } else {
            char esc[8];
            snprintf(esc, sizeof esc, "\\%03u", c);
            puts_(p, esc);
        }
    }
}

static void quote(printer *p, const char *s, size_t n) {
    puts_(p, "\"");
    escaped(p, s, n);
    puts_(p, "\"");
}

static void sym(printer *p, const cmm_sym *s) {
    quote(p, s->text, s->len);
}

/* Names of the dialect may repeat in a function; the number makes them unique. */
static void var(printer *p, const cmm_var *v) {
    size_t n = v->name->len;
    while (n > 0 && isdigit((unsigned char)v->name->text[n - 1])) {
        n--;
    }
    char buf[24];
    puts_(p, "\"");
    escaped(p, v->name->text, n > 0 && v->name->text[n - 1] == '/' ? n - 1 : v->name->len);
    snprintf(buf, sizeof buf, "/%u\"", v->id);
    puts_(p, buf);
}

static void number(printer *p, long long i) {
    char buf[24];
    snprintf(buf, sizeof buf, "%lld", i);
    puts_(p, buf);
}

static void bits64(printer *p, uint64_t bits) {
    char buf[24];
    snprintf(buf, sizeof buf, "0f%016llx", (unsigned long long)bits);
    puts_(p, buf);
}

static void type(printer *p, cmm_type t) {
    char buf[128];
    puts_(p, cmm_type_name(t, buf));
}

static void dbg(printer *p, const cmm_dbg *d) {
    for (uint32_t i = 0; d != NULL && i < d->count; i++) {
        const cmm_loc *l = &d->items[i];
        char buf[128];
        puts_(p, i == 0 ? "{" : ";");
        sym(p, l->file);
        snprintf(buf, sizeof buf, ":%d,%d-%d,%d,%d,%d,", l->line, l->start_char, l->end_char,
                 l->start_bol, l->end_bol, l->end_line);
        puts_(p, buf);
        if (l->scope != NULL) {
            sym(p, l->scope);
        } else {
            puts_(p, "\"\"");
        }
    }
    if (d != NULL) {
        puts_(p, "}");
    }
}

/* --- expressions --------------------------------------------------------------------- */
static void expr(printer *p, const cmm_expr *e, int indent);

static void rest(printer *p, const cmm_expr *e, uint32_t first, int indent) {
    for (uint32_t i = first; i < e->nargs; i++) {
        gap(p, indent + 2);
        expr(p, e->args[i], indent + 2);
    }
}

static void broken(printer *p, const cmm_expr *e, int indent) {
    line(p, indent + 2);
    expr(p, e, indent + 2);
}

static void head(printer *p, const char *name, const cmm_expr *e) {
    puts_(p, "(");
    puts_(p, name);
    dbg(p, e->dbg);
}

static void binding(printer *p, const cmm_expr *e, int indent) {
    head(p, cmm_ops[e->kind].name, e);
    puts_(p, " ");
    var(p, e->u.var);
    if (e->kind == CMM_LET_MUT) {
        puts_(p, " ");
        type(p, e->u.var->type);
    }
    gap(p, indent + 4);
    expr(p, e->args[0], indent + 4);
    if (e->nargs > 1) {
        broken(p, e->args[1], indent);
    }
    puts_(p, ")");
}

static void load(printer *p, const cmm_expr *e, int indent) {
    puts_(p, "(load");
    puts_(p, e->flags & CMM_MUTABLE ? "_mut" : "");
    puts_(p, e->flags & CMM_ATOMIC ? "_atomic " : " ");
    puts_(p, cmm_chunks[e->chunk].name);
    dbg(p, e->dbg);
    rest(p, e, 0, indent);
    puts_(p, ")");
}

static void store(printer *p, const cmm_expr *e, int indent) {
    puts_(p, "(store ");
    puts_(p, cmm_chunks[e->chunk].name);
    puts_(p, e->flags & CMM_INIT_HEAP   ? "(heap-init)"
             : e->flags & CMM_INIT_ROOT ? "(root-init)"
                                        : "");
    dbg(p, e->dbg);
    rest(p, e, 0, indent);
    puts_(p, ")");
}

static void extcall(printer *p, const cmm_expr *e, int indent) {
    static const char *const names[] = {"int", "int32", "int64", "float"};
    const cmm_extcall *x = e->u.ext;
    puts_(p, x->alloc ? "(extcall alloc " : "(extcall noalloc ");
    sym(p, x->name);
    dbg(p, e->dbg);
    rest(p, e, 0, indent);
    gap(p, indent + 2);
    for (uint32_t i = 0; i < x->ntypes; i++) {
        puts_(p, i > 0 ? "," : "");
        puts_(p, names[x->types[i]]);
    }
    puts_(p, "->");
    type(p, e->type);
    puts_(p, ")");
}

static void app(printer *p, const cmm_expr *e, int indent) {
    head(p, "app", e);
    rest(p, e, 0, indent);
    gap(p, indent + 2);
    type(p, e->type);
    puts_(p, ")");
}

static void arms(printer *p, const cmm_expr *e, int indent) {
    const cmm_switch *sw = e->u.sw;
    puts_(p, "(switch ");
    number(p, sw->size);
    gap(p, indent + 2);
    expr(p, e->args[0], indent + 2);
    for (uint32_t arm = 0; arm + 1 < e->nargs; arm++) {
        line(p, indent + 2);
        puts_(p, "(case");
        for (uint32_t i = 0; i < sw->size; i++) {
            if (sw->index[i] == arm) {
                gap(p, indent + 4);
                number(p, i);
            }
        }
        puts_(p, ":");
        gap(p, indent + 4);
        expr(p, e->args[1 + arm], indent + 4);
        puts_(p, ")");
    }
    puts_(p, ")");
}

static void catch_(printer *p, const cmm_expr *e, int indent) {
    puts_(p, e->flags & CMM_RECURSIVE ? "(catch rec" : "(catch");
    broken(p, e->args[0], indent);
    for (uint32_t i = 0; i < e->u.ctch->count; i++) {
        const cmm_handler *h = e->u.ctch->handlers[i];
        line(p, indent + 1);
        puts_(p, "(with (");
        number(p, h->id);
        for (uint32_t k = 0; k < h->nparams; k++) {
            puts_(p, " ");
            var(p, h->params[k]);
            puts_(p, " ");
            type(p, h->params[k]->type);
        }
        puts_(p, ")");
        broken(p, e->args[1 + i], indent + 1);
        puts_(p, ")");
    }
    puts_(p, ")");
}

static void try_(printer *p, const cmm_expr *e, int indent) {
    puts_(p, "(try");
    broken(p, e->args[0], indent);
    line(p, indent + 1);
    var(p, e->u.var);
    broken(p, e->args[1], indent);
    puts_(p, ")");
}

static void seq(printer *p, const cmm_expr *e, int indent) {
    puts_(p, "(seq");
    for (uint32_t i = 0; i < e->nargs; i++) {
        broken(p, e->args[i], indent);
    }
    puts_(p, ")");
}

static void if_(printer *p, const cmm_expr *e, int indent) {
    puts_(p, "(if ");
    expr(p, e->args[0], indent + 4);
    broken(p, e->args[1], indent);
    broken(p, e->args[2], indent);
    puts_(p, ")");
}

static void exit_(printer *p, const cmm_expr *e, int indent) {
    puts_(p, "(exit ");
    number(p, e->u.handler->id);
    rest(p, e, 0, indent);
    puts_(p, ")");
}

static void tuple(printer *p, const cmm_expr *e, int indent) {
    puts_(p, "[");
    for (uint32_t i = 0; i < e->nargs; i++) {
        if (i > 0) {
            gap(p, indent + 1);
        }
        expr(p, e->args[i], indent + 1);
    }
    puts_(p, "]");
}

static void expr(printer *p, const cmm_expr *e, int indent) {
    switch (e->kind) {
    case CMM_CONST_INT:
        number(p, e->u.i);
        return;
    case CMM_CONST_FLOAT:
        bits64(p, e->u.bits);
        return;
    case CMM_SYMBOL:
        sym(p, e->u.sym);
        return;
    case CMM_VAR:
        var(p, e->u.var);
        return;
    case CMM_RETURN_ADDR:
        puts_(p, "return_addr");
        return;
    case CMM_TUPLE:
        tuple(p, e, indent);
        return;
    case CMM_LET:
    case CMM_LET_MUT:
    case CMM_ASSIGN:
        binding(p, e, indent);
        return;
    case CMM_SEQ:
        seq(p, e, indent);
        return;
    case CMM_IF:
        if_(p, e, indent);
        return;
    case CMM_SWITCH:
        arms(p, e, indent);
        return;
    case CMM_CATCH:
        catch_(p, e, indent);
        return;
    case CMM_EXIT:
        exit_(p, e, indent);
        return;
    case CMM_TRY:
        try_(p, e, indent);
        return;
    case CMM_APP:
        app(p, e, indent);
        return;
    case CMM_EXTCALL:
        extcall(p, e, indent);
        return;
    case CMM_LOAD:
        load(p, e, indent);
        return;
    case CMM_STORE:
        store(p, e, indent);
        return;
    default:
        head(p, cmm_ops[e->kind].name, e);
        rest(p, e, 0, indent);
        puts_(p, ")");
    }
}

void cmm_print_expr(const cmm_expr *e, FILE *out) {
    printer p = {out, 0};
    expr(&p, e, 0);
}

/* --- phrases ----------------------------------------------------------------------------- */
void cmm_print_function(const cmm_function *f, FILE *out) {
    printer p = {out, 0};
    puts_(&p, "(function");
    dbg(&p, f->dbg);
    puts_(&p, " ");
    sym(&p, f->name);
    puts_(&p, " (");
    for (uint32_t i = 0; i < f->nparams; i++) {
        if (i > 0) {
            gap(&p, 4);
        }
        var(&p, f->params[i]);
        puts_(&p, " ");
        type(&p, f->params[i]->type);
    }
    puts_(&p, ") (");
    puts_(&p, f->flags & CMM_REDUCE_CODE_SIZE ? "reduce_code_size" : "");
    puts_(&p, (f->flags & CMM_REDUCE_CODE_SIZE) && (f->flags & CMM_NO_CSE) ? " " : "");
    puts_(&p, f->flags & CMM_NO_CSE ? "no_cse" : "");
    puts_(&p, f->flags & CMM_POLL_ERROR ? ") poll_error" : ") poll_default");
    broken(&p, f->body, -1);
    puts_(&p, ")\n\n");
}

static void item(printer *p, const cmm_item *it) {
    static const char *const words[CMM_NUM_ITEMS] = {
        [CMM_ITEM_GLOBAL] = "global ", [CMM_ITEM_BYTE] = "byte ",   [CMM_ITEM_HALF] = "int16 ",
        [CMM_ITEM_INT32] = "int32 ",   [CMM_ITEM_INT] = "int ",     [CMM_ITEM_SINGLE] = "single ",
        [CMM_ITEM_DOUBLE] = "double ", [CMM_ITEM_ADDR] = "addr ",   [CMM_ITEM_STRING] = "string ",
        [CMM_ITEM_SKIP] = "skip ",     [CMM_ITEM_ALIGN] = "align ",
    };
    char buf[24];
    if (it->kind == CMM_ITEM_DEFINE) {
        sym(p, it->u.sym);
        puts_(p, ":");
        return;
    }
    puts_(p, words[it->kind]);
    switch (it->kind) {
    case CMM_ITEM_GLOBAL:
    case CMM_ITEM_ADDR:
        sym(p, it->u.sym);
        return;
    case CMM_ITEM_STRING:
        quote(p, it->u.str, it->len);
        return;
    case CMM_ITEM_DOUBLE:
        bits64(p, it->u.bits);
        return;
    case CMM_ITEM_SINGLE:
        snprintf(buf, sizeof buf, "0f%08x", (unsigned)it->u.bits);
        puts_(p, buf);
        return;
    default:
        number(p, it->u.i);
    }
}

static void data(const cmm_phrase *ph, FILE *out) {
    printer p = {out, 0};
    puts_(&p, "(data");
    for (uint32_t i = 0; i < ph->nitems; i++) {
        gap(&p, 1);
        item(&p, &ph->items[i]);
    }
    puts_(&p, ")\n");
}

void cmm_print_unit(const cmm_unit *u, FILE *out) {
    fputs("; cmm lossless 1\n", out);
    for (uint32_t i = 0; i < u->nphrases; i++) {
        if (u->phrases[i].function != NULL) {
            cmm_print_function(u->phrases[i].function, out);
        } else {
            data(&u->phrases[i], out);
        }
    }
}
