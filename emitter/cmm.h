/* cmm.h - Cmm as a tree: what the parser makes, the checker types, the
 * interpreter runs and the back end compiles.
 *
 * Glossary
 *   unit       one source file: phrases in order
 *   phrase     a function or a data block
 *   component  what one register holds: int, val (GC root), addr (derived
 *              pointer, never live over a safepoint), float (a double)
 *   type       a product of components; unit is the empty product
 *   never      type of an expression that does not return (exit, raise)
 *   chunk      how memory is read or written
 *   label      name of a catch handler; exit jumps to it
 *   dialect    the text of *.cmm tests; dcmm: what ocamlopt -dcmm prints;
 *              lossless: the dump that keeps everything (docs/cmm.md)
 *
 * Memory: everything hangs on the unit's arena and dies with cmm_unit_free.
 * A node is 40 bytes + 8 per child. Names are interned: compare pointers.
 *
 * Depth: trees may be CMM_MAX_DEPTH deep. Recursive passes are fine when run
 * inside cmm_with_stack, which gives CMM_STACK_BYTES of C stack.
 */
#ifndef FK_CMM_H
#define FK_CMM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CMM_MAX_DEPTH 250000
#define CMM_STACK_BYTES ((size_t)2 << 30) /* reserved, touched only when needed: 8 KiB a level */

/* --- types ------------------------------------------------------------------ */
typedef enum { CMM_INT, CMM_VAL, CMM_ADDR, CMM_FLOAT } cmm_component;

/* A product of up to CMM_MAX_COMPONENTS components: bits 0-3 the count, then 2
 * bits each, the first lowest.     31        6  4  3    0
 *                                  | ... c1 | c0 | count | */
typedef uint32_t cmm_type;
#define CMM_MAX_COMPONENTS 13
#define CMM_UNIT ((cmm_type)0)
#define CMM_NEVER ((cmm_type)0xffffffff)
#define CMM_TYPE1(c) ((cmm_type)(1u | (unsigned)(c) << 4))

static inline unsigned cmm_type_count(cmm_type t) { return t == CMM_NEVER ? 0 : t & 15; }
static inline cmm_component cmm_type_at(cmm_type t, unsigned i)
{
    return (cmm_component)(t >> (4 + 2 * i) & 3);
}
static inline bool cmm_is_float(cmm_type t) { return t == CMM_TYPE1(CMM_FLOAT); }
/* t with one more component (count must be below the maximum). */
static inline cmm_type cmm_type_add(cmm_type t, cmm_component c)
{
    unsigned n = t & 15;
    return (t & ~(cmm_type)15) | (n + 1) | (cmm_type)c << (4 + 2 * n);
}
/* "unit" "val" "int*float" "never"; the text lives in buf (>= 96 bytes). */
const char *cmm_type_name(cmm_type, char *buf);

/* --- memory chunks ------------------------------------------------------------
 *       id         dialect           dcmm, lossless    bytes signed float  value */
#define CMM_CHUNKS(X)                                                                  \
    X(BYTE_U,   "unsigned byte",  "unsigned int8",  1, 0, 0, CMM_INT)                  \
    X(BYTE_S,   "signed byte",    "signed int8",    1, 1, 0, CMM_INT)                  \
    X(HALF_U,   "unsigned half",  "unsigned int16", 2, 0, 0, CMM_INT)                  \
    X(HALF_S,   "signed half",    "signed int16",   2, 1, 0, CMM_INT)                  \
    X(INT32_U,  "unsigned int32", "unsigned int32", 4, 0, 0, CMM_INT)                  \
    X(INT32_S,  "signed int32",   "signed int32",   4, 1, 0, CMM_INT)                  \
    X(WORD_INT, "int",            "int",            8, 0, 0, CMM_INT)                  \
    X(WORD_VAL, "val",            "val",            8, 0, 0, CMM_VAL)                  \
    X(SINGLE,   "float32",        "float32",        4, 0, 1, CMM_FLOAT)                \
    X(DOUBLE,   "float64",        "float64",        8, 0, 1, CMM_FLOAT)                \
    X(INT64,    "int64",          "int64",          8, 0, 0, CMM_INT)
/* INT64 (5.4's dumps) is WORD_INT without a barrier before the store. */
typedef enum {
#define CMM_X(id, a, b, bytes, sgn, flt, val) CMM_##id,
    CMM_CHUNKS(CMM_X)
#undef CMM_X
    CMM_NUM_CHUNKS
} cmm_chunk;

typedef struct {
    const char *dialect, *name;
    uint8_t bytes;
    bool is_signed, is_float;
    cmm_component value;
} cmm_chunk_info;
extern const cmm_chunk_info cmm_chunks[CMM_NUM_CHUNKS];

/* --- forms and operators --------------------------------------------------------
 * One table for parser, printer, checker, interpreter and selection.
 * arguments: one letter each: w a word (int, val or addr), f a float; NULL: the
 * form has its own rule. result: i v a f, u unit, n never; 0: own rule.
 * A class groups what selection treats alike; cond is the condition of a compare.
 *
 *   id          dialect        dump             arguments result class  cond */
#define CMM_FORMS(X)                                                                   \
    X(CONST_INT,  NULL,          NULL,            NULL, 'i', FORM, NONE)               \
    X(CONST_FLOAT,NULL,          NULL,            NULL, 'f', FORM, NONE)               \
    X(SYMBOL,     NULL,          NULL,            NULL, 'i', FORM, NONE)               \
    X(VAR,        NULL,          NULL,            NULL,  0,  FORM, NONE)               \
    X(TUPLE,      NULL,          NULL,            NULL,  0,  FORM, NONE)               \
    X(LET,        "let",         "let",           NULL,  0,  FORM, NONE)               \
    X(LET_MUT,    "letmut",      "let_mut",       NULL,  0,  FORM, NONE)               \
    X(ASSIGN,     "assign",      "assign",        NULL, 'u', FORM, NONE)               \
    X(SEQ,        "seq",         "seq",           NULL,  0,  FORM, NONE)               \
    X(IF,         "if",          "if",            NULL,  0,  FORM, NONE)               \
    X(SWITCH,     "switch",      "switch",        NULL,  0,  FORM, NONE)               \
    X(CATCH,      "catch",       "catch",         NULL,  0,  FORM, NONE)               \
    X(EXIT,       "exit",        "exit",          NULL, 'n', FORM, NONE)               \
    X(TRY,        "try",         "try",           NULL,  0,  FORM, NONE)               \
    X(APP,        "app",         "app",           NULL,  0,  FORM, NONE)               \
    X(EXTCALL,    "extcall",     "extcall",       NULL,  0,  FORM, NONE)               \
    X(LOAD,       "load",        "load",          "w",   0,  FORM, NONE)               \
    X(STORE,      "store",       "store",         NULL, 'u', FORM, NONE)               \
    X(ALLOC,      "alloc",       "alloc",         NULL, 'v', FORM, NONE)               \
    X(RAISE,      "raise_regular","raise",        "w",  'n', FORM, NONE)               \
    X(RERAISE,    "raise_reraise","reraise",      "w",  'n', FORM, NONE)               \
    X(RAISE_NOTRACE,"raise_notrace","raise_notrace","w",'n', FORM, NONE)               \
    X(CHECKBOUND, "checkbound",  "checkbound",    "ww", 'u', FORM, NONE)               \
    X(OPAQUE,     NULL,          "opaque",        NULL,  0,  FORM, NONE)               \
    X(DLS_GET,    NULL,          "dls_get",       "w",  'v', FORM, NONE)               \
    X(POLL,       NULL,          "poll",          "",   'u', FORM, NONE)               \
    X(RETURN_ADDR,NULL,          NULL,            NULL, 'i', FORM, NONE)

#define CMM_OPERATORS(X)                                                               \
    X(ADD,   "+",     "+",     "ww", 'i', ARITH, NONE)                                 \
    X(SUB,   "-",     "-",     "ww", 'i', ARITH, NONE)                                 \
    X(MUL,   "*",     "*",     "ww", 'i', ARITH, NONE)                                 \
    X(MULH,  "mulh",  "*h",    "ww", 'i', ARITH, NONE)                                 \
    X(DIV,   "/",     "/",     "ww", 'i', ARITH, NONE)                                 \
    X(MOD,   "mod",   "mod",   "ww", 'i', ARITH, NONE)                                 \
    X(AND,   "and",   "and",   "ww", 'i', ARITH, NONE)                                 \
    X(OR,    "or",    "or",    "ww", 'i', ARITH, NONE)                                 \
    X(XOR,   "xor",   "xor",   "ww", 'i', ARITH, NONE)                                 \
    X(LSL,   "<<",    "<<",    "ww", 'i', ARITH, NONE)                                 \
    X(LSR,   ">>u",   ">>u",   "ww", 'i', ARITH, NONE)                                 \
    X(ASR,   ">>s",   ">>s",   "ww", 'i', ARITH, NONE)                                 \
    X(ADDA,  "+a",    "+a",    "ww", 'a', ARITH, NONE)                                 \
    X(ADDV,  "+v",    "+v",    "ww", 'v', ARITH, NONE)                                 \
    X(EQ,    "==",    "==",    "ww", 'i', COMPARE, EQ)                                 \
    X(NE,    "!=",    "!=",    "ww", 'i', COMPARE, NE)                                 \
    X(LT,    "<",     "<",     "ww", 'i', COMPARE, LT)                                 \
    X(LE,    "<=",    "<=",    "ww", 'i', COMPARE, LE)                                 \
    X(GT,    ">",     ">",     "ww", 'i', COMPARE, GT)                                 \
    X(GE,    ">=",    ">=",    "ww", 'i', COMPARE, GE)                                 \
    X(EQA,   "==a",   "==a",   "ww", 'i', COMPARE_U, EQ)                               \
    X(NEA,   "!=a",   "!=a",   "ww", 'i', COMPARE_U, NE)                               \
    X(LTA,   "<a",    "<a",    "ww", 'i', COMPARE_U, LT)                               \
    X(LEA,   "<=a",   "<=a",   "ww", 'i', COMPARE_U, LE)                               \
    X(GTA,   ">a",    ">a",    "ww", 'i', COMPARE_U, GT)                               \
    X(GEA,   ">=a",   ">=a",   "ww", 'i', COMPARE_U, GE)                               \
    X(NEGF,  "-f",    "~f",    "f",  'f', FLOAT, NONE)                                 \
    X(ABSF,  "absf",  "absf",  "f",  'f', FLOAT, NONE)                                 \
    X(ADDF,  "+f",    "+f",    "ff", 'f', FLOAT, NONE)                                 \
    X(SUBF,  "-f",    "-f",    "ff", 'f', FLOAT, NONE)                                 \
    X(MULF,  "*f",    "*f",    "ff", 'f', FLOAT, NONE)                                 \
    X(DIVF,  "/f",    "/f",    "ff", 'f', FLOAT, NONE)                                 \
    X(EQF,   "==f",   "==f",   "ff", 'i', COMPARE_F, EQ)                               \
    X(NEF,   "!=f",   "!=f",   "ff", 'i', COMPARE_F, NE)                               \
    X(LTF,   "<f",    "<f",    "ff", 'i', COMPARE_F, LT)                               \
    X(LEF,   "<=f",   "<=f",   "ff", 'i', COMPARE_F, LE)                               \
    X(GTF,   ">f",    ">f",    "ff", 'i', COMPARE_F, GT)                               \
    X(GEF,   ">=f",   ">=f",   "ff", 'i', COMPARE_F, GE)                               \
    X(NLTF,  "!<f",   "!<f",   "ff", 'i', COMPARE_F, NLT)                              \
    X(NLEF,  "!<=f",  "!<=f",  "ff", 'i', COMPARE_F, NLE)                              \
    X(NGTF,  "!>f",   "!>f",   "ff", 'i', COMPARE_F, NGT)                              \
    X(NGEF,  "!>=f",  "!>=f",  "ff", 'i', COMPARE_F, NGE)                              \
    X(FLOATOFINT, "floatofint", "floatofint", "w", 'f', CONVERT, NONE)                 \
    X(INTOFFLOAT, "intoffloat", "intoffloat", "f", 'i', CONVERT, NONE)

typedef enum {
#define CMM_X(id, dialect, dump, args, result, cls, cond) CMM_##id,
    CMM_FORMS(CMM_X) CMM_OPERATORS(CMM_X)
#undef CMM_X
    CMM_NUM_OPS
} cmm_op;

typedef enum {
    CMM_CLASS_FORM, CMM_CLASS_ARITH, CMM_CLASS_COMPARE, CMM_CLASS_COMPARE_U,
    CMM_CLASS_FLOAT, CMM_CLASS_COMPARE_F, CMM_CLASS_CONVERT
} cmm_class;

/* NLT ... NGE: the negation of LT ..., true when unordered. */
typedef enum {
    CMM_COND_NONE, CMM_COND_EQ, CMM_COND_NE, CMM_COND_LT, CMM_COND_LE, CMM_COND_GT, CMM_COND_GE,
    CMM_COND_NLT, CMM_COND_NLE, CMM_COND_NGT, CMM_COND_NGE
} cmm_cond;

typedef struct {
    const char *dialect, *name, *args; /* name: in dumps */
    char result;
    cmm_class cls;
    cmm_cond cond;
    const char *id; /* "ADD" */
} cmm_op_info;
extern const cmm_op_info cmm_ops[CMM_NUM_OPS];

/* --- names, variables, labels, locations ------------------------------------------ */
/* An interned string: symbol, file, function or variable name. */
typedef struct cmm_sym {
    const char *text; /* NUL after len bytes; no NUL inside */
    uint32_t len, hash;
    uint32_t number;        /* dense, from 0, in order of first appearance in the unit */
    uint32_t def_pos;       /* where the unit defines it; UINT32_MAX: not */
    struct cmm_function *function; /* NULL: not a function of this unit */
    bool is_global, is_data; /* data item "global"; defined by a data item */
    struct cmm_sym *next;   /* hash chain */
    struct cmm_var *var;    /* parser: what the name means here */
    struct cmm_handler *handler; /* parser: the label of this function */
} cmm_sym;

/* Bound by parameter, let, let_mut, handler parameter or try. */
typedef struct cmm_var {
    cmm_sym *name;     /* as written: "x", "x/12" */
    cmm_type type;     /* declared, or of the bound expression (set by the checker) */
    uint32_t id;       /* dense within the function, from 0 */
    uint32_t pos;
    uint32_t uses;     /* reads (set by the parser) */
    bool is_mutable;   /* let_mut */
    struct cmm_var *outer; /* parser: what the name meant outside */
    void *aux;         /* the back end's own */
} cmm_var;

/* One handler of a catch. Its body is args[1 + index] of the catch node. */
typedef struct cmm_handler {
    cmm_sym *name;     /* label as written; NULL: made by the parser (while) */
    uint32_t id;       /* dense within the function, from 0 */
    uint32_t pos;
    uint32_t uses;     /* exits that target it */
    uint32_t nparams;
    cmm_var **params;
    struct cmm_expr *owner; /* the catch node */
    uint32_t index;    /* position in the group */
    bool in_scope;     /* parser and checker */
    void *aux;         /* the back end's own */
} cmm_handler;

/* One level of a debug location; fields as OCaml's debuginfo has them. */
typedef struct {
    cmm_sym *file;
    int32_t line, start_char, end_char; /* columns from the start of `line` */
    int32_t start_bol, end_bol;         /* offsets of the line starts; -1: unknown */
    int32_t end_line;                   /* -1: unknown (dialect, dcmm) */
    cmm_sym *scope;                     /* "Mod.fn"; NULL: unknown */
} cmm_loc;

/* A location with its inlining stack: items[0] is the outermost call site,
 * the last item the innermost place. (Frame tables list innermost first.)
 * Equal texts in one unit share one object. */
typedef struct cmm_dbg {
    uint32_t count;
    cmm_loc items[];
} cmm_dbg;

/* --- expressions ---------------------------------------------------------------------
 * kind          args                                  u
 * CONST_INT     -                                     i       64 bits
 * CONST_FLOAT   -                                     bits    IEEE double
 * SYMBOL        -                                     sym     address of a symbol
 * VAR           -                                     var
 * TUPLE         elements; none: the unit value
 * LET, LET_MUT  value, body                           var
 * ASSIGN        value                                 var
 * SEQ           two or more, value of the last
 * IF            condition (0 is false), then, else
 * SWITCH        scrutinee, arms (at least one)        sw
 * CATCH         body, handler bodies                  ctch
 * EXIT          arguments                             handler
 * TRY           body, handler                         var     the exception
 * APP           callee, arguments                     -       node type: as written
 * EXTCALL       arguments                             ext     node type: as written
 * LOAD          address                               -       chunk, flags
 * STORE         address, value                        -       chunk, flags
 * ALLOC         header (a constant), fields           -       dbg: of this block
 * CHECKBOUND    size, index: raises unless index <u size
 * others        operands in order
 */
enum {
    CMM_MUTABLE = 1 << 0,   /* LOAD may be affected by stores (dialect: always) */
    CMM_ATOMIC = 1 << 1,    /* LOAD */
    CMM_INIT_HEAP = 1 << 2, /* STORE initialises a fresh heap block: no barrier */
    CMM_INIT_ROOT = 1 << 3, /* STORE initialises static data: no barrier */
    CMM_RECURSIVE = 1 << 4, /* CATCH rec */
    CMM_NATINT = 1 << 5,    /* CONST_INT outside OCaml's 63-bit int */
    CMM_MUT_READ = 1 << 6,  /* VAR: 5.4's read of a mutable variable, an effect */
    CMM_FROM_WHILE = 1 << 7, /* CATCH made by the parser */
};

typedef enum { CMM_XINT, CMM_XINT32, CMM_XINT64, CMM_XFLOAT } cmm_xtype;

typedef struct {
    cmm_sym *name;
    bool alloc;        /* may call the GC, raise, run callbacks */
    uint32_t ntypes;   /* C argument types; 0: every argument is an int */
    uint8_t types[];   /* cmm_xtype */
} cmm_extcall;

typedef struct {
    uint32_t size;     /* table size */
    uint32_t index[];  /* position -> arm number from 0 */
} cmm_switch;

typedef struct {
    uint32_t count;
    cmm_handler *handlers[];
} cmm_catch;

typedef struct cmm_expr {
    uint8_t kind;      /* cmm_op */
    uint8_t chunk;     /* cmm_chunk */
    uint16_t flags;
    uint32_t pos;      /* byte offset in the source */
    uint32_t nargs;
    cmm_type type;     /* set by the checker */
    const cmm_dbg *dbg; /* NULL: none */
    union {
        int64_t i;
        uint64_t bits;
        cmm_sym *sym;
        cmm_var *var;
        cmm_switch *sw;
        cmm_catch *ctch;
        cmm_handler *handler;
        cmm_extcall *ext;
    } u;
    struct cmm_expr *args[];
} cmm_expr;

/* --- phrases --------------------------------------------------------------------------- */
enum {
    CMM_REDUCE_CODE_SIZE = 1 << 0, /* allocate out of line */
    CMM_NO_CSE = 1 << 1,
    CMM_POLL_ERROR = 1 << 2, /* [@poll error]: a poll or call here is an error */
};

typedef struct cmm_function {
    cmm_sym *name;
    uint32_t pos, end_pos;
    uint32_t flags;
    uint32_t order;    /* number of the function within the unit */
    const cmm_dbg *dbg;
    uint32_t nparams;
    cmm_var **params;
    uint32_t nvars, nhandlers, nexprs; /* bounds of the dense numbers */
    uint32_t depth;    /* of the body */
    cmm_var **vars;    /* by id */
    cmm_expr *body;
    void *aux;         /* the back end's own */
} cmm_function;

typedef enum {
    CMM_ITEM_DEFINE,   /* sym: */
    CMM_ITEM_GLOBAL,   /* sym */
    CMM_ITEM_BYTE, CMM_ITEM_HALF, CMM_ITEM_INT32, CMM_ITEM_INT, /* i */
    CMM_ITEM_SINGLE,   /* bits (low 32) */
    CMM_ITEM_DOUBLE,   /* bits */
    CMM_ITEM_ADDR,     /* sym: 8-byte address */
    CMM_ITEM_STRING,   /* str, len: bytes, any value, no terminator */
    CMM_ITEM_SKIP,     /* i >= 0 zero bytes */
    CMM_ITEM_ALIGN,    /* i: a power of two */
    CMM_NUM_ITEMS
} cmm_item_kind;

typedef struct {
    uint8_t kind;
    uint32_t pos;
    uint32_t len;
    union {
        int64_t i;
        uint64_t bits;
        cmm_sym *sym;
        const char *str;
    } u;
} cmm_item;

typedef struct {
    cmm_function *function; /* NULL: data */
    cmm_item *items;
    uint32_t nitems;
    uint32_t pos;
} cmm_phrase;

typedef enum { CMM_AUTO, CMM_DIALECT, CMM_DCMM, CMM_LOSSLESS } cmm_mode;

/* --- diagnostics ------------------------------------------------------------------------ */
typedef struct {
    uint32_t pos;
    const char *message;
} cmm_diag;

#define CMM_MAX_DIAGS 100 /* one more says that there were more */

typedef struct cmm_unit {
    const char *file;      /* as named by the user */
    const char *text;      /* the source, `length` bytes and a NUL */
    size_t length;
    size_t text_room;      /* pages that the text is in; 0: it is in the arena */
    cmm_mode mode;         /* never CMM_AUTO once parsed */
    cmm_sym *unit_symbol;  /* "camlFoo": prefix of frametable, code_begin, ... */
    cmm_phrase *phrases;
    uint32_t nphrases;
    uint32_t nfunctions, nsyms;
    cmm_diag *diags;
    uint32_t ndiags;
    struct cmm_arena *arena;
    struct cmm_sym **table; /* hash table of symbols */
    uint32_t table_size;
} cmm_unit;

/* Reads and parses. Never NULL: what is wrong is in diags (ndiags == 0: fine).
 * unit_symbol: NULL: taken from the text (S of function "S.entry", caml_startup for
 * caml_program), else "caml" + the capitalized base name of the file. */
cmm_unit *cmm_parse_file(const char *path, cmm_mode mode, const char *unit_symbol);
cmm_unit *cmm_parse_text(const char *name, const char *text, size_t length, cmm_mode mode,
                         const char *unit_symbol);
/* Types every expression; false when there are errors (also earlier ones). */
bool cmm_check(cmm_unit *);
void cmm_unit_free(cmm_unit *);

/* Adds an error at pos (a byte offset); any pass may. */
void cmm_error(cmm_unit *, uint32_t pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* FILE:LINE:COL: error: ... with the line and a caret, in source order. */
void cmm_print_diags(const cmm_unit *, FILE *);
/* Line and column, both from 1. */
void cmm_position(const cmm_unit *, uint32_t pos, uint32_t *line, uint32_t *column);

/* Prints the lossless form; parsing it gives the same tree. */
void cmm_print_unit(const cmm_unit *, FILE *);
void cmm_print_function(const cmm_function *, FILE *);
void cmm_print_expr(const cmm_expr *, FILE *);
/* True when both have the same trees (names of made variables and positions aside). */
bool cmm_unit_equal(const cmm_unit *, const cmm_unit *);

/* --- memory, names, stack ------------------------------------------------------------------- */
/* Zeroed, 8-aligned, lives as long as the unit. Aborts the process when memory is out. */
void *cmm_alloc(cmm_unit *, size_t bytes);
cmm_sym *cmm_intern(cmm_unit *, const char *text, size_t len);
cmm_expr *cmm_new_expr(cmm_unit *, cmm_op, uint32_t pos, uint32_t nargs);
cmm_var *cmm_new_var(cmm_unit *, cmm_function *, const char *name, cmm_type);

/* Runs fn(arg) with CMM_STACK_BYTES of stack; false: no stack to be had. */
bool cmm_with_stack(void (*fn)(void *), void *arg);

#endif
