/* parse.h - lexer and parser, between their files only. */
#ifndef FK_EMITTER_PARSE_H
#define FK_EMITTER_PARSE_H

#include <setjmp.h>

#include "emitter/unit.h"

/* T_WORD is an identifier, keyword or operator; numbers, strings and locations
 * have kinds of their own. */
typedef enum {
    T_EOF, T_LPAREN, T_RPAREN, T_LBRACKET, T_RBRACKET, T_COLON,
    T_INT, T_FLOAT, T_STRING, T_WORD, T_LOC
} token_kind;

/* What a keyword does. K_NAME: an ordinary name. */
typedef enum {
    K_NAME, K_OP, K_LET, K_LET_MUT, K_PHANTOM, K_ASSIGN, K_SEQ, K_IF, K_SWITCH, K_WHILE, K_CATCH,
    K_EXIT, K_TRY, K_APP, K_EXTCALL, K_LOAD, K_LOAD_MUT, K_LOAD_ATOMIC, K_LOAD_MUT_ATOMIC, K_STORE,
    K_ALLOC, K_MINUS_F, K_AREF, K_ASET, K_VAL, K_FUNCTION, K_DATA, K_WITH, K_AND, K_CASE, K_REC,
    K_RETURN_ADDR, K_CMM,
    /* words that are types, chunks or data items too */
    K_INT, K_ADDR, K_FLOAT, K_UNIT, K_BYTE, K_HALF, K_INT32, K_SIGNED, K_UNSIGNED, K_FLOAT32,
    K_FLOAT64, K_GLOBAL, K_STRING, K_SKIP, K_ALIGN, K_SINGLE, K_DOUBLE, K_INT64
} keyword;

typedef struct {
    const char *name;
    uint8_t kw, op; /* keyword, cmm_op or chunk */
} keyword_def;

typedef struct {
    token_kind kind;
    uint32_t pos, end;
    uint32_t len;      /* T_STRING, T_LOC */
    uint8_t kw, op;    /* T_WORD */
    const char *str;   /* T_STRING: bytes; T_LOC: text inside the braces; T_WORD: text */
    cmm_sym *sym;      /* T_WORD, interned */
    union {
        int64_t i;
        uint64_t bits;
    } u;
} token;

typedef struct dbg_entry {
    struct dbg_entry *next;
    const char *text;
    uint32_t len, hash;
    cmm_dbg *dbg;
} dbg_entry;

typedef struct parser {
    cmm_unit *unit;
    cmm_mode mode;
    const char *p, *end, *start; /* next byte, end and start of the text */
    token tok;                   /* the current token */
    const keyword_def *keywords; /* sym->number < nkeywords: keywords[number] */
    uint32_t nkeywords;
    const char *word_class;      /* per byte, see lex.c */
    uint32_t phrase_pos;
    uint32_t depth, max_depth;
    jmp_buf fail;                /* end of a phrase that cannot be read */

    cmm_expr **stack;            /* finished children of open nodes */
    size_t nstack, cap_stack;
    cmm_var **trail;             /* bindings in force, oldest first */
    size_t ntrail, cap_trail;
    cmm_function *fn;
    cmm_var **vars;              /* of fn */
    size_t cap_vars;
    cmm_handler **handlers;      /* of fn */
    size_t cap_handlers;
    cmm_handler **group;         /* handlers of open catches */
    size_t ngroup, cap_group;
    const cmm_sym *unbound[CMM_MAX_DIAGS]; /* names of fn that an error was about */
    size_t nunbound;
    size_t cap_phrases;
    cmm_item *items;
    size_t nitems, cap_items;
    dbg_entry **dbgs;            /* hash table of location texts */
    uint32_t ndbgs, dbgs_size;
} parser;

/* lex.c */
void lex_init(parser *);
void next(parser *);
/* dcmm: the bytes of a data string; current token is the word `string`. words is the
 * number of words of the block it is in, 0: unknown (then up to the next quote). */
void next_raw_string(parser *, uint64_t words);

/* parse.c */
_Noreturn void fail_at(parser *, uint32_t pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void unexpected(parser *, const char *wanted);
void *grow(void *array, size_t *cap, size_t need, size_t elem);
void expect(parser *, token_kind, const char *wanted);
cmm_sym *string_sym(parser *);           /* current T_STRING as a name; advances */
cmm_var *bind(parser *, cmm_sym *, uint32_t pos, cmm_type, bool is_mutable);
void unbind_to(parser *, size_t trail_mark);
void not_bound(parser *, const cmm_sym *, uint32_t pos); /* an error, once a function */
cmm_handler *label(parser *, cmm_sym *, uint32_t pos);
bool at_type(const parser *);
cmm_type parse_type(parser *);
bool type_of_text(const char *s, size_t len, cmm_type *out);
cmm_var **parse_params(parser *, uint32_t *count); /* up to and with the ')' */
static inline bool is_dump(const parser *p) { return p->mode != CMM_DIALECT; }
static inline bool at_kw(const parser *p, keyword k)
{
    return p->tok.kind == T_WORD && p->tok.kw == k;
}

/* parse_expr.c */
cmm_expr *parse_expr(parser *);
cmm_expr *parse_seq(parser *); /* expr+ up to ')' or a word that ends a sequence */

void push(parser *, cmm_expr *);         /* a finished child */
cmm_expr *close_node(parser *, cmm_op, uint32_t pos, size_t mark); /* of what was pushed since */
cmm_expr *leaf(parser *, cmm_op, uint32_t pos);
cmm_expr *binary(parser *, cmm_op, uint32_t pos, cmm_expr *, cmm_expr *);
cmm_expr *bad(parser *, uint32_t pos);
cmm_expr *wrong_count(parser *, cmm_expr *, const char *name, size_t wanted);
cmm_expr *exit_node(parser *, cmm_sym *name, uint32_t label_pos, uint32_t pos, size_t mark);
void push_rest(parser *);                /* expressions up to the ')', and that */
void close_paren(parser *);
cmm_sym *var_name(parser *);

/* parse_control.c: after the keyword */
cmm_expr *parse_if(parser *, uint32_t pos);
cmm_expr *parse_seq_form(parser *);
cmm_expr *parse_switch(parser *, uint32_t pos);
cmm_expr *parse_catch(parser *, uint32_t pos);
cmm_expr *parse_exit(parser *, uint32_t pos);
cmm_expr *parse_try(parser *, uint32_t pos);
cmm_expr *parse_while(parser *, uint32_t pos);

/* parse_data.c */
void parse_data(parser *, cmm_phrase *); /* after `(data` or `(`, up to the ')' */

/* parse_loc.c */
const cmm_dbg *parse_dbg(parser *); /* current T_LOC, or none: NULL */

#endif
