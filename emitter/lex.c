/* lex.c - bytes to tokens, for the dialect and for the two dump forms.
 *
 * The dialect has comments and operators without white space around them; dumps
 * have neither: `(*` multiplies there, and names may hold any operator character
 * (docs/cmm.md, "Lexical rules").
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/parse.h"

#define OPS(X) CMM_OPERATORS(X)
#define DIALECT_OP(id, dialect, dump, args, result, cls, cond)                                     \
    {dialect, CMM_##id == CMM_NEGF || CMM_##id == CMM_SUBF ? K_MINUS_F : K_OP, CMM_##id},
#define DUMP_OP(id, dialect, dump, args, result, cls, cond) {dump, K_OP, CMM_##id},

static const keyword_def dialect_words[] = {
    OPS(DIALECT_OP){"checkbound", K_OP, CMM_CHECKBOUND},
    {"raise_regular", K_OP, CMM_RAISE},
    {"raise_reraise", K_OP, CMM_RERAISE},
    {"raise_notrace", K_OP, CMM_RAISE_NOTRACE},
    {"let", K_LET, 0},
    {"letmut", K_LET_MUT, 0},
    {"assign", K_ASSIGN, 0},
    {"seq", K_SEQ, 0},
    {"if", K_IF, 0},
    {"switch", K_SWITCH, 0},
    {"while", K_WHILE, 0},
    {"catch", K_CATCH, 0},
    {"exit", K_EXIT, 0},
    {"try", K_TRY, 0},
    {"app", K_APP, 0},
    {"extcall", K_EXTCALL, 0},
    {"load", K_LOAD_MUT, 0},
    {"store", K_STORE, 0},
    {"alloc", K_ALLOC, 0},
    {"addraref", K_AREF, CMM_WORD_VAL},
    {"intaref", K_AREF, CMM_WORD_INT},
    {"floataref", K_AREF, CMM_DOUBLE},
    {"addraset", K_ASET, CMM_WORD_VAL},
    {"intaset", K_ASET, CMM_WORD_INT},
    {"floataset", K_ASET, CMM_DOUBLE},
    {"val", K_VAL, 0},
    {"function", K_FUNCTION, 0},
    {"data", K_DATA, 0},
    {"with", K_WITH, 0},
    {"case", K_CASE, 0},
    {"int", K_INT, 0},
    {"addr", K_ADDR, 0},
    {"float", K_FLOAT, 0},
    {"unit", K_UNIT, 0},
    {"byte", K_BYTE, 0},
    {"half", K_HALF, 0},
    {"int32", K_INT32, 0},
    {"signed", K_SIGNED, 0},
    {"unsigned", K_UNSIGNED, 0},
    {"float32", K_FLOAT32, 0},
    {"float64", K_FLOAT64, 0},
    {"global", K_GLOBAL, 0},
    {"string", K_STRING, 0},
    {"skip", K_SKIP, 0},
    {"align", K_ALIGN, 0},
    {"proj", K_CMM, 0},
};

static const keyword_def dump_words[] = {
    OPS(DUMP_OP){"checkbound", K_OP, CMM_CHECKBOUND},
    {"raise", K_OP, CMM_RAISE},
    {"reraise", K_OP, CMM_RERAISE},
    {"raise_notrace", K_OP, CMM_RAISE_NOTRACE},
    {"opaque", K_OP, CMM_OPAQUE},
    {"dls_get", K_OP, CMM_DLS_GET},
    {"poll", K_OP, CMM_POLL},
    {"let", K_LET, 0},
    {"let_mut", K_LET_MUT, 0},
    {"let?", K_PHANTOM, 0},
    {"assign", K_ASSIGN, 0},
    {"seq", K_SEQ, 0},
    {"if", K_IF, 0},
    {"switch", K_SWITCH, 0},
    {"catch", K_CATCH, 0},
    {"exit", K_EXIT, 0},
    {"try", K_TRY, 0},
    {"app", K_APP, 0},
    {"extcall", K_EXTCALL, 0},
    {"load", K_LOAD, 0},
    {"load_mut", K_LOAD_MUT, 0},
    {"load_atomic", K_LOAD_ATOMIC, 0},
    {"load_mut_atomic", K_LOAD_MUT_ATOMIC, 0},
    {"store", K_STORE, 0},
    {"alloc", K_ALLOC, 0},
    {"return_addr", K_RETURN_ADDR, 0},
    {"function", K_FUNCTION, 0},
    {"data", K_DATA, 0},
    {"with", K_WITH, 0},
    {"rec", K_REC, 0},
    {"case", K_CASE, 0},
    {"int", K_INT, 0},
    {"addr", K_ADDR, 0},
    {"val", K_VAL, 0},
    {"float", K_FLOAT, 0},
    {"unit", K_UNIT, 0},
    {"byte", K_BYTE, 0},
    {"int16", K_HALF, 0},
    {"int8", K_BYTE, 0},
    {"int32", K_INT32, 0},
    {"int64", K_INT64, 0},
    {"signed", K_SIGNED, 0},
    {"unsigned", K_UNSIGNED, 0},
    {"float32", K_FLOAT32, 0},
    {"float64", K_FLOAT64, 0},
    {"global", K_GLOBAL, 0},
    {"string", K_STRING, 0},
    {"skip", K_SKIP, 0},
    {"align", K_ALIGN, 0},
    {"single", K_SINGLE, 0},
    {"double", K_DOUBLE, 0},
    {"cmm:", K_CMM, 0},
};

/* --- byte classes -------------------------------------------------------------- */
enum {
    LETTER = 1, /* starts a dialect identifier */
    INNER = 2,  /* continues one */
    DIGIT = 4,
    BLANK = 8,
    DELIM = 16, /* ends a word of a dump */
    PUNCT = 32, /* of dialect operators */
    ALONE = 64, /* starts a token that is the same in all forms */
};
static unsigned char classes[256];

static void init_classes(void) {
    for (int c = 0; c < 256; c++) {
        unsigned char k = 0;
        bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool latin1 = c >= 192 && c != 215 && c != 247; /* ISO 8859-1 letters */
        k |= alpha || (latin1 && c >= 223) ? LETTER : 0;
        k |= alpha || latin1 || (c >= '0' && c <= '9') || c == '_' || c == '\'' ? INNER : 0;
        k |= c >= '0' && c <= '9' ? DIGIT : 0;
        k |= c == ' ' || c == '\t' || c == '\f' || c == '\n' || c == '\r' ? BLANK : 0;
        k |= (k & BLANK) || (c != 0 && strchr("()[]{\"", c)) ? DELIM : 0;
        k |= c != 0 && strchr("+-*/<>=!", c) ? PUNCT : 0;
        k |= c != 0 && strchr("()[]\"{", c) ? ALONE : 0;
        classes[c] = k;
    }
}

static inline unsigned cls(const char *p) {
    return classes[(unsigned char)*p];
}
static inline uint32_t offset(const parser *p, const char *at) {
    return (uint32_t)(at - p->start);
}

void lex_init(parser *p) {
    init_classes();
    bool dialect = p->mode == CMM_DIALECT;
    p->keywords = dialect ? dialect_words : dump_words;
    p->nkeywords = dialect ? sizeof dialect_words / sizeof *dialect_words
                           : sizeof dump_words / sizeof *dump_words;
    /* Two operators may share a spelling (-f): then the first number of the name counts,
     * and the table must stay dense, so a filler takes the second number. */
    for (uint32_t i = 0; i < p->nkeywords; i++) {
        const char *name = p->keywords[i].name;
        cmm_sym *s = cmm_intern(p->unit, name, strlen(name));
        if (s->number != i) {
            char filler[24];
            int n = snprintf(filler, sizeof filler, "%s (again)", name);
            cmm_intern(p->unit, filler, (size_t)n);
        }
    }
}

static void finish(parser *p, token_kind kind, const char *end) {
    p->tok.kind = kind;
    p->tok.end = offset(p, end);
    p->p = end;
}

/* --- numbers --------------------------------------------------------------------- */
static int digit_value(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* A number that fits without looking: up to 18 decimal digits after a minus or not. */
static bool short_decimal(const char *s, const char *end, int64_t *out) {
    const char *d = s + (*s == '-');
    if (end - d > 18 || d == end) {
        return false;
    }
    int64_t v = 0;
    for (; d < end; d++) {
        if (!(cls(d) & DIGIT)) {
            return false;
        }
        v = 10 * v + (*d - '0');
    }
    *out = *s == '-' ? -v : v;
    return true;
}

/* Digits at s in `base` into *v; *over when they need more than 64 bits. */
static const char *scan_digits(const char *s, unsigned base, uint64_t *v, bool *over) {
    *v = 0;
    *over = false;
    for (int d; (d = digit_value(*s)) < (int)base; s++) {
        *over |= __builtin_mul_overflow(*v, (uint64_t)base, v);
        *over |= __builtin_add_overflow(*v, (uint64_t)d, v);
    }
    return s;
}

/* A dump's integer: decimal, 64 bits. */
static bool dump_int(const char *s, const char *end, int64_t *out) {
    bool neg = *s == '-', over;
    uint64_t v;
    if (scan_digits(s + neg, 10, &v, &over) != end || over) {
        return false;
    }
    *out = (int64_t)(neg ? 0 - v : v);
    return v <= (uint64_t)INT64_MAX + neg;
}

/* The dialect's integer: 63 bits. Prefixed literals may fill 63 bits and wrap. */
static void dialect_int(parser *p, const char *s, const char *end) {
    if (short_decimal(s, end, &p->tok.u.i)) {
        finish(p, T_INT, end);
        return;
    }
    bool neg = *s == '-', over;
    const char *d = s + neg;
    unsigned base = 10;
    if (d[0] == '0' && d + 1 < end && !(cls(d + 1) & DIGIT)) {
        base = d[1] == 'x' ? 16 : d[1] == 'o' ? 8 : 2;
        d += 2;
    }
    uint64_t v;
    scan_digits(d, base, &v, &over);
    uint64_t limit = base != 10 ? UINT64_MAX >> 1 : ((uint64_t)1 << 62) - !neg;
    if (over || v > limit) {
        fail_at(p, p->tok.pos, "integer literal does not fit 63 bits");
    }
    v = (uint64_t)((int64_t)(v << 1) >> 1); /* 63 bits, sign-extended */
    p->tok.u.i = (int64_t)(neg ? 0 - v : v);
    finish(p, T_INT, end);
}

static const char *skip_prefixed(const char *s) {
    unsigned base = s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : s[1] == 'b' ? 2 : 0;
    const char *e = s + 2;
    while (base != 0 && digit_value(*e) < (int)base) {
        e++;
    }
    return *s == '0' && base != 0 && e > s + 2 ? e : NULL;
}

static void to_double(parser *p, const char *s, const char *end) {
    char buf[512];
    size_t n = (size_t)(end - s);
    if (n >= sizeof buf) {
        fail_at(p, p->tok.pos, "float literal is too long");
    }
    memcpy(buf, s, n);
    buf[n] = 0;
    double d = strtod(buf, NULL);
    memcpy(&p->tok.u.bits, &d, sizeof d);
    finish(p, T_FLOAT, end);
}

/* At a digit, or at '-' and a digit. */
static void dialect_number(parser *p, const char *s) {
    const char *d = s + (*s == '-');
    const char *e = skip_prefixed(d);
    if (e != NULL) {
        dialect_int(p, s, e);
        return;
    }
    for (e = d; cls(e) & DIGIT; e++) {
    }
    bool is_float = *e == '.';
    if (is_float) {
        for (e++; cls(e) & DIGIT; e++) {
        }
    }
    if (*e == 'e' || *e == 'E') {
        const char *x = e + 1 + (e[1] == '+' || e[1] == '-');
        if (cls(x) & DIGIT) {
            is_float = true;
            for (e = x; cls(e) & DIGIT; e++) {
            }
        }
    }
    if (is_float) {
        to_double(p, s, e);
    } else {
        dialect_int(p, s, e);
    }
}

/* --- strings ----------------------------------------------------------------------- */
static void *need(void *p) {
    if (p == NULL) {
        abort();
    }
    return p;
}

/* One escape at s (a backslash); writes its bytes at *out. */
static const char *unescape(parser *p, const char *s, char **out) {
    static const char from[] = "\\\"ntbr", to[] = "\\\"\n\t\b\r";
    const char *f = s[1] != 0 ? strchr(from, s[1]) : NULL;
    if (f != NULL) {
        *(*out)++ = to[f - from];
        return s + 2;
    }
    if ((cls(s + 1) & DIGIT) && (cls(s + 2) & DIGIT) && (cls(s + 3) & DIGIT)) {
        int v = (s[1] - '0') * 100 + (s[2] - '0') * 10 + (s[3] - '0');
        if (v > 255) {
            fail_at(p, offset(p, s), "\\%.3s is not a byte", s + 1);
        }
        *(*out)++ = (char)v;
        return s + 4;
    }
    if (cls(s + 1) & BLANK) {
        for (s++; cls(s) & BLANK; s++) {
        }
        return s;
    }
    *(*out)++ = *s;
    return s + 1;
}

static void string_with_escapes(parser *p, const char *s, const char *end) {
    char *buf = cmm_alloc(p->unit, (size_t)(end - s) + 1), *out = buf;
    while (s < end) {
        if (*s == '\\') {
            s = unescape(p, s, &out);
        } else {
            *out++ = *s++;
        }
    }
    p->tok.str = buf;
    p->tok.len = (uint32_t)(out - buf);
}

/* s is after the opening quote. */
static void lex_string(parser *p, const char *s) {
    bool escapes = p->mode != CMM_DCMM, any = false;
    const char *e = s;
    for (; e < p->end && *e != '"'; e++) {
        if (*e == '\\' && escapes) {
            any = true;
            e++;
        }
    }
    if (e >= p->end) {
        fail_at(p, p->tok.pos, "string is not closed");
    }
    p->tok.str = s;
    p->tok.len = (uint32_t)(e - s);
    if (any) {
        string_with_escapes(p, s, e);
    }
    finish(p, T_STRING, e + 1);
}

/* What must follow a string constant whose last byte is before e: `" skip k byte k`
 * (skip left out when k is 0), with length + 1 + k = 8 * words. */
static bool tail_matches(const parser *p, const char *e, unsigned k) {
    char skip[16], byte[16];
    int ns = k > 0 ? snprintf(skip, sizeof skip, "skip %u", k) : 0;
    int nb = snprintf(byte, sizeof byte, "byte %u", k);
    if (e >= p->end || *e++ != '"') {
        return false;
    }
    for (; e < p->end && (cls(e) & BLANK); e++) {
    }
    if (ns > 0) {
        if (p->end - e < ns || memcmp(e, skip, (size_t)ns) != 0) {
            return false;
        }
        for (e += ns; e < p->end && (cls(e) & BLANK); e++) {
        }
    } else if (p->end - e > 6 && memcmp(e, "skip 0", 6) == 0) {
        for (e += 6; e < p->end && (cls(e) & BLANK); e++) {
        }
    }
    return p->end - e > nb && memcmp(e, byte, (size_t)nb) == 0 && !(cls(e + nb) & DIGIT);
}

void next_raw_string(parser *p, uint64_t words) {
    const char *s = p->p;
    for (; s < p->end && (cls(s) & BLANK); s++) {
    }
    p->tok.pos = offset(p, s);
    if (s >= p->end || *s != '"') {
        fail_at(p, p->tok.pos, "expected a string");
    }
    s++;
    for (unsigned k = 0; words != 0 && k < 8; k++) {
        uint64_t len = 8 * words - 1 - k;
        if (len <= (uint64_t)(p->end - s) && tail_matches(p, s + len, k)) {
            p->tok.str = s;
            p->tok.len = (uint32_t)len;
            finish(p, T_STRING, s + len + 1);
            return;
        }
    }
    lex_string(p, s);
}

/* s is after the brace. */
static void lex_loc(parser *p, const char *s) {
    const char *e = s;
    bool quoted = false;
    for (; e < p->end && (quoted || *e != '}') && *e != '\n'; e++) {
        quoted ^= *e == '"' && p->mode == CMM_LOSSLESS;
    }
    if (e >= p->end || *e != '}') {
        fail_at(p, p->tok.pos, "location is not closed");
    }
    p->tok.str = s;
    p->tok.len = (uint32_t)(e - s);
    finish(p, T_LOC, e + 1);
}

/* --- words ------------------------------------------------------------------------ */
static void set_hashed_word(parser *p, const char *s, const char *e, uint32_t hash) {
    cmm_sym *sym = cmm_intern_hashed(p->unit, s, (size_t)(e - s), hash);
    p->tok.sym = sym;
    p->tok.str = s;
    p->tok.len = (uint32_t)(e - s);
    bool kw = sym->number < p->nkeywords;
    p->tok.kw = kw ? p->keywords[sym->number].kw : K_NAME;
    p->tok.op = kw ? p->keywords[sym->number].op : 0;
    finish(p, T_WORD, e);
}

static void set_word(parser *p, const char *s, const char *e) {
    uint32_t h = CMM_HASH_START;
    for (const char *c = s; c < e; c++) {
        h = cmm_hash_byte(h, *c);
    }
    set_hashed_word(p, s, e, h);
}

static void dialect_ident(parser *p, const char *s) {
    const char *e = s + 1;
    uint32_t h = cmm_hash_byte(CMM_HASH_START, *s);
    for (; cls(e) & INNER; e++) {
        h = cmm_hash_byte(h, *e);
    }
    if (*e == '/') {
        h = cmm_hash_byte(h, *e);
        for (e++; cls(e) & DIGIT; e++) {
            h = cmm_hash_byte(h, *e);
        }
    }
    set_hashed_word(p, s, e, h);
}

static bool is_operator(const parser *p, const char *s, size_t len) {
    const cmm_sym *sym = cmm_find(p->unit, s, len);
    return sym != NULL && sym->number < p->nkeywords && p->keywords[sym->number].kw <= K_MINUS_F;
}

/* The longest operator at s. */
static void dialect_operator(parser *p, const char *s) {
    size_t run = 0;
    while (run < 3 && (cls(s + run) & PUNCT)) {
        run++;
    }
    for (size_t n = run; n > 0; n--) {
        bool suffix = s[n] != 0 && strchr("afvus", s[n]) != NULL;
        for (size_t len = n + suffix; len >= n; len--) {
            if (is_operator(p, s, len)) {
                set_word(p, s, s + len);
                return;
            }
        }
    }
    fail_at(p, p->tok.pos, "illegal character '%c'", *s);
}

/* Skips blanks and nested comments. */
static const char *skip_dialect(parser *p) {
    const char *s = p->p;
    int depth = 0;
    const char *first = s;
    while (s < p->end) {
        if (depth == 0 && (cls(s) & BLANK)) {
            s++;
        } else if (s[0] == '(' && s[1] == '*') {
            first = depth++ == 0 ? s : first;
            s += 2;
        } else if (depth > 0 && s[0] == '*' && s[1] == ')') {
            depth--;
            s += 2;
        } else if (depth > 0) {
            s++;
        } else {
            break;
        }
    }
    if (depth > 0) {
        p->p = p->end;
        fail_at(p, offset(p, first), "comment is not closed");
    }
    return s;
}

static void illegal(parser *p, const char *s) {
    unsigned char c = (unsigned char)*s;
    if (c > 32 && c < 127) {
        fail_at(p, offset(p, s), "illegal character '%c'", c);
    }
    fail_at(p, offset(p, s), "illegal byte 0x%02x", c);
}

static bool lex_common(parser *p, const char *s) {
    if (!(cls(s) & ALONE)) {
        return false;
    }
    switch (*s) {
    case '(': finish(p, T_LPAREN, s + 1); break;
    case ')': finish(p, T_RPAREN, s + 1); break;
    case '[': finish(p, T_LBRACKET, s + 1); break;
    case ']': finish(p, T_RBRACKET, s + 1); break;
    case '"': lex_string(p, s + 1); break;
    default: lex_loc(p, s + 1); break;
    }
    return true;
}

static void next_dialect(parser *p) {
    const char *s = skip_dialect(p);
    p->tok.pos = offset(p, s);
    if (s >= p->end) {
        finish(p, T_EOF, s);
    } else if (cls(s) & LETTER) {
        dialect_ident(p, s);
    } else if ((cls(s) & DIGIT) || (*s == '-' && (cls(s + 1) & DIGIT))) {
        dialect_number(p, s);
    } else if (*s == ':') {
        finish(p, T_COLON, s + 1);
    } else if (lex_common(p, s)) {
        return;
    } else if (cls(s) & PUNCT) {
        dialect_operator(p, s);
    } else {
        illegal(p, s);
    }
}

/* --- words of dumps ---------------------------------------------------------------- */
static void dump_number(parser *p, const char *s, const char *e) {
    size_t n = (size_t)(e - s);
    if (n > 2 && s[0] == '0' && s[1] == 'f') { /* 0f and 16 (or 8) hex digits: the bits */
        bool over;
        if (scan_digits(s + 2, 16, &p->tok.u.bits, &over) != e || (n != 18 && n != 10)) {
            fail_at(p, p->tok.pos, "0f needs 16 hex digits (8 in `single')");
        }
        finish(p, T_FLOAT, e);
    } else if (short_decimal(s, e, &p->tok.u.i)) {
        finish(p, T_INT, e);
    } else if (memchr(s, '.', n) || memchr(s, 'e', n)) {
        to_double(p, s, e);
    } else if (dump_int(s, e, &p->tok.u.i)) {
        finish(p, T_INT, e);
    } else {
        fail_at(p, p->tok.pos, "'%.*s' is not an integer of 64 bits", (int)(n > 80 ? 80 : n), s);
    }
}

static bool special_float(parser *p, const char *s, const char *e) {
    static const struct {
        const char *name;
        uint64_t bits;
    } table[] = {{"nan", 0x7ff8000000000001},
                 {"infinity", 0x7ff0000000000000},
                 {"neg_infinity", 0xfff0000000000000}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = strlen(table[i].name);
        if ((size_t)(e - s) == n && memcmp(s, table[i].name, n) == 0) {
            p->tok.u.bits = table[i].bits;
            finish(p, T_FLOAT, e);
            return true;
        }
    }
    return false;
}

/* dcmm: `x/12:` is a variable and a colon. Names may hold colons themselves. */
static const char *cut_colon(const char *s, const char *e) {
    const char *d = e - 1;
    if (e - s < 3 || *d != ':') {
        return e;
    }
    while (d > s && (cls(d - 1) & DIGIT)) {
        d--;
    }
    return d < e - 1 && d > s && d[-1] == '/' ? e - 1 : e;
}

static void dump_word(parser *p, const char *s) {
    const char *e = s;
    bool number = (cls(s) & DIGIT) || (*s == '-' && (cls(s + 1) & DIGIT)), zero = false;
    bool stop_at_colon = number || p->mode == CMM_LOSSLESS;
    uint32_t h = CMM_HASH_START;
    for (; e < p->end && !(cls(e) & DELIM) && !(stop_at_colon && *e == ':'); e++) {
        h = cmm_hash_byte(h, *e);
        zero |= *e == 0;
    }
    if (e == s) {
        illegal(p, s);
    }
    if (number) {
        dump_number(p, s, e);
    } else if (p->mode == CMM_DCMM && special_float(p, s, e)) {
        return;
    } else if (zero) {
        fail_at(p, offset(p, s), "a name may not hold a zero byte");
    } else if (p->mode == CMM_DCMM) {
        set_word(p, s, cut_colon(s, e));
    } else {
        set_hashed_word(p, s, e, h);
    }
}

static const char *skip_dump(parser *p) {
    const char *s = p->p;
    for (;;) {
        while (s < p->end && (cls(s) & BLANK)) {
            s++;
        }
        if (s >= p->end || *s != ';' || p->mode != CMM_LOSSLESS) {
            return s;
        }
        while (s < p->end && *s != '\n') {
            s++;
        }
    }
}

/* "cmm:" is a word although lossless words end at colons. */
static bool lex_cmm(parser *p, const char *s) {
    if (*s != 'c' || p->end - s < 4 || memcmp(s, "cmm:", 4) != 0) {
        return false;
    }
    set_word(p, s, s + 4);
    return true;
}

static bool is_glued(const parser *p, const char *s) {
    return s > p->start && !(cls(s - 1) & BLANK) && s[-1] != '(';
}

static void next_dump(parser *p) {
    const char *s = skip_dump(p);
    p->tok.pos = offset(p, s);
    if (s >= p->end) {
        finish(p, T_EOF, s);
    } else if (lex_common(p, s) || lex_cmm(p, s)) {
        return;
    } else if (*s == ':' && (p->mode == CMM_LOSSLESS || is_glued(p, s))) {
        finish(p, T_COLON, s + 1);
    } else {
        dump_word(p, s);
    }
}

void next(parser *p) {
    if (p->mode == CMM_DIALECT) {
        next_dialect(p);
    } else {
        next_dump(p);
    }
}

void *grow(void *array, size_t *cap, size_t want, size_t elem) {
    if (want <= *cap) {
        return array;
    }
    size_t n = *cap == 0 ? 64 : *cap;
    while (n < want) {
        n *= 2;
    }
    *cap = n;
    return need(realloc(array, n * elem));
}
