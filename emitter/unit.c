/* unit.c - what every pass shares: memory, names, positions, errors, stack. */
#include "emitter/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "emitter/cmm.h"
#include "emitter/pages.h"

const cmm_chunk_info cmm_chunks[CMM_NUM_CHUNKS] = {
#define CMM_X(id, dialect, dump, bytes, sgn, flt, value) {dialect, dump, bytes, sgn, flt, value},
    CMM_CHUNKS(CMM_X)
#undef CMM_X
};

const cmm_op_info cmm_ops[CMM_NUM_OPS] = {
#define CMM_X(id, dialect, dump, args, result, cls, cond)                                          \
    {dialect, dump, args, result, CMM_CLASS_##cls, CMM_COND_##cond, #id},
    CMM_FORMS(CMM_X) CMM_OPERATORS(CMM_X)
#undef CMM_X
};

/* --- arena: a list of growing blocks ------------------------------------------ */
typedef struct block {
    struct block *next;
    size_t used, size; /* with this head */
} block;

struct cmm_arena {
    block *top;
    size_t total;
};

static void *checked(void *p) {
    if (p == NULL) {
        abort(); /* documented: no memory for the tree is not a state to work in */
    }
    return p;
}

static block *new_block(struct cmm_arena *a, size_t need) {
    size_t size = a->total < ((size_t)64 << 10) ? (size_t)32 << 10 : PAGES_HUGE;
    if (need > size - sizeof(block)) {
        size = need + sizeof(block);
    }
    block *b = pages_get(&size);
    b->size = size;
    b->used = sizeof *b;
    b->next = a->top;
    a->top = b;
    a->total += size;
    return b;
}

void *cmm_alloc(cmm_unit *u, size_t bytes) {
    struct cmm_arena *a = u->arena;
    bytes = (bytes + 7) & ~(size_t)7;
    block *b = a->top;
    if (b == NULL || b->size - b->used < bytes) {
        b = new_block(a, bytes);
    }
    void *p = (char *)b + b->used;
    b->used += bytes;
    return p;
}

cmm_unit *cmm_new_unit(const char *name) {
    cmm_unit *u = checked(calloc(1, sizeof *u));
    u->arena = checked(calloc(1, sizeof *u->arena));
    u->table_size = 1024;
    u->table = checked(calloc(u->table_size, sizeof *u->table));
    char *file = cmm_alloc(u, strlen(name) + 1);
    u->file = strcpy(file, name);
    u->text = "";
    return u;
}

void cmm_unit_free(cmm_unit *u) {
    if (u == NULL) {
        return;
    }
    for (block *b = u->arena->top, *next; b != NULL; b = next) {
        next = b->next;
        pages_put(b, b->size);
    }
    if (u->text_room > 0) {
        pages_put((char *)(uintptr_t)u->text, u->text_room);
    }
    free(u->arena);
    free(u->table);
    free(u->phrases);
    free(u->diags);
    free(u);
}

/* --- names ------------------------------------------------------------------------ */
static uint32_t hash_bytes(const char *s, size_t len) {
    uint32_t h = CMM_HASH_START;
    for (size_t i = 0; i < len; i++) {
        h = cmm_hash_byte(h, s[i]);
    }
    return h;
}

static void grow_table(cmm_unit *u) {
    uint32_t size = u->table_size * 4;
    cmm_sym **table = checked(calloc(size, sizeof *table));
    for (uint32_t i = 0; i < u->table_size; i++) {
        for (cmm_sym *s = u->table[i], *next; s != NULL; s = next) {
            next = s->next;
            s->next = table[s->hash & (size - 1)];
            table[s->hash & (size - 1)] = s;
        }
    }
    free(u->table);
    u->table = table;
    u->table_size = size;
}

static cmm_sym *new_sym(cmm_unit *u, const char *text, size_t len, uint32_t hash) {
    if (u->nsyms >= u->table_size) {
        grow_table(u);
    }
    cmm_sym *s = cmm_alloc(u, sizeof *s);
    char *copy = cmm_alloc(u, len + 1);
    memcpy(copy, text, len);
    cmm_sym **chain = &u->table[hash & (u->table_size - 1)];
    *s = (cmm_sym){.text = copy,
                   .len = (uint32_t)len,
                   .hash = hash,
                   .number = u->nsyms++,
                   .def_pos = UINT32_MAX,
                   .next = *chain};
    return *chain = s;
}

static cmm_sym *find(const cmm_unit *u, const char *text, size_t len, uint32_t h) {
    for (cmm_sym *s = u->table[h & (u->table_size - 1)]; s != NULL; s = s->next) {
        if (s->hash == h && s->len == len && memcmp(s->text, text, len) == 0) {
            return s;
        }
    }
    return NULL;
}

cmm_sym *cmm_find(const cmm_unit *u, const char *text, size_t len) {
    return find(u, text, len, hash_bytes(text, len));
}

cmm_sym *cmm_intern_hashed(cmm_unit *u, const char *text, size_t len, uint32_t hash) {
    cmm_sym *s = find(u, text, len, hash);
    return s != NULL ? s : new_sym(u, text, len, hash);
}

cmm_sym *cmm_intern(cmm_unit *u, const char *text, size_t len) {
    return cmm_intern_hashed(u, text, len, hash_bytes(text, len));
}

/* --- nodes ------------------------------------------------------------------------ */
cmm_expr *cmm_new_expr(cmm_unit *u, cmm_op kind, uint32_t pos, uint32_t nargs) {
    cmm_expr *e = cmm_alloc(u, sizeof *e + nargs * sizeof e->args[0]);
    e->kind = (uint8_t)kind;
    e->pos = pos;
    e->nargs = nargs;
    return e;
}

cmm_var *cmm_new_var(cmm_unit *u, cmm_function *f, const char *name, cmm_type type) {
    cmm_var *v = cmm_alloc(u, sizeof *v);
    v->name = cmm_intern(u, name, strlen(name));
    v->type = type;
    v->id = f->nvars++;
    cmm_var **vars = cmm_alloc(u, f->nvars * sizeof *vars);
    if (v->id > 0) {
        memcpy(vars, f->vars, v->id * sizeof *vars);
    }
    vars[v->id] = v;
    f->vars = vars;
    return v;
}

const char *cmm_type_name(cmm_type t, char *buf) {
    static const char *const names[] = {"int", "val", "addr", "float"};
    if (t == CMM_NEVER) {
        return strcpy(buf, "never");
    }
    char *p = buf;
    for (unsigned i = 0; i < cmm_type_count(t); i++) {
        p += sprintf(p, "%s%s", i > 0 ? "*" : "", names[cmm_type_at(t, i)]);
    }
    return t == CMM_UNIT ? strcpy(buf, "unit") : buf;
}

/* --- errors ------------------------------------------------------------------------ */
void cmm_error(cmm_unit *u, uint32_t pos, const char *format, ...) {
    if (u->ndiags > CMM_MAX_DIAGS) {
        return;
    }
    char text[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, u->ndiags == CMM_MAX_DIAGS ? "too many errors" : format, ap);
    va_end(ap);
    if (u->diags == NULL) {
        u->diags = checked(calloc(CMM_MAX_DIAGS + 1, sizeof *u->diags));
    }
    char *copy = cmm_alloc(u, strlen(text) + 1);
    u->diags[u->ndiags++] = (cmm_diag){pos, strcpy(copy, text)};
}

void cmm_position(const cmm_unit *u, uint32_t pos, uint32_t *line, uint32_t *column) {
    size_t end = pos < u->length ? pos : u->length;
    uint32_t l = 1;
    const char *start = u->text;
    for (const char *p; (p = memchr(start, '\n', (size_t)(u->text + end - start))) != NULL;) {
        start = p + 1;
        l++;
    }
    *line = l;
    *column = (uint32_t)(u->text + end - start) + 1;
}

/* The line of a position as shown: at most this many bytes around the caret. */
enum { SHOWN = 100 };

static void print_shown_byte(unsigned char c, FILE *out) {
    if (c == '\t') {
        fputc(' ', out);
    } else if (c < 32 || c == 127) {
        fputc('?', out);
    } else {
        fputc(c, out);
    }
}

static void print_line(const cmm_unit *u, uint32_t pos, uint32_t column, FILE *out) {
    size_t at = pos < u->length ? pos : u->length;
    size_t first = at - (column - 1);
    if (column > SHOWN / 2) {
        first = at - SHOWN / 2;
    }
    size_t last = first;
    while (last < u->length && u->text[last] != '\n' && last < first + SHOWN) {
        last++;
    }
    fputs("  ", out);
    for (size_t i = first; i < last; i++) {
        print_shown_byte((unsigned char)u->text[i], out);
    }
    fputs("\n  ", out);
    for (size_t i = first; i < at; i++) {
        /* one space a character: UTF-8 continuation bytes take no column */
        if (((unsigned char)u->text[i] & 0xc0) != 0x80) {
            fputc(' ', out);
        }
    }
    fputs("^\n", out);
}

static int by_position(const void *a, const void *b) {
    const cmm_diag *x = a, *y = b;
    return (x->pos > y->pos) - (x->pos < y->pos);
}

void cmm_print_diags(const cmm_unit *u, FILE *out) {
    /* "too many errors" stays last */
    size_t n = u->ndiags > CMM_MAX_DIAGS ? CMM_MAX_DIAGS : u->ndiags;
    if (n > 0) {
        qsort(u->diags, n, sizeof *u->diags, by_position);
    }
    for (size_t i = 0; i < u->ndiags; i++) {
        const cmm_diag *d = &u->diags[i];
        if (d->pos == UINT32_MAX) {
            fprintf(out, "%s: error: %s\n", u->file, d->message);
            continue;
        }
        uint32_t line, column;
        cmm_position(u, d->pos, &line, &column);
        fprintf(out, "%s:%u:%u: error: %s\n", u->file, line, column, d->message);
        print_line(u, d->pos, column, out);
    }
}

/* --- files ------------------------------------------------------------------------- */
/* Positions are 32 bits, and UINT32_MAX means none. */
#define MAX_SOURCE ((size_t)1 << 31)

/* All of f, with room for a zero byte behind it, straight into the unit's memory. */
static bool read_all(cmm_unit *u, FILE *f) {
    struct stat st;
    bool sized = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    u->text_room = (sized && (size_t)st.st_size < MAX_SOURCE ? (size_t)st.st_size : 1 << 16) + 2;
    char *buf = pages_get(&u->text_room);
    size_t size = 0;
    for (size_t n; (n = fread(buf + size, 1, u->text_room - 1 - size, f)) > 0;) {
        size += n;
        if (size > MAX_SOURCE) {
            break;
        }
        if (size == u->text_room - 1) {
            size_t room = 2 * u->text_room;
            char *bigger = memcpy(pages_get(&room), buf, size);
            pages_put(buf, u->text_room);
            buf = bigger;
            u->text_room = room;
        }
    }
    u->text = buf; /* pages are zero */
    u->length = size;
    return !ferror(f);
}

cmm_unit *cmm_parse_file(const char *path, cmm_mode mode, const char *unit_symbol) {
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    const char *name = f == stdin ? "<stdin>" : path;
    int err = errno;
    cmm_unit *u = cmm_new_unit(name);
    bool ok = f != NULL;
    if (ok && !read_all(u, f)) {
        err = errno;
        ok = false;
    }
    if (f != NULL && f != stdin) {
        fclose(f);
    }
    if (ok) {
        cmm_parse_unit(u, mode, unit_symbol);
    } else {
        u->length = 0;
        cmm_error(u, UINT32_MAX, "cannot read: %s", strerror(err));
    }
    return u;
}

/* Copies the source into the unit. */
void cmm_keep_text(cmm_unit *u, const char *text, size_t length) {
    u->text = memcpy(cmm_alloc(u, length + 1), text, length);
    u->length = length;
}

/* False (and an error): the source is too long. */
bool cmm_length_ok(cmm_unit *u) {
    if (u->length > MAX_SOURCE) {
        cmm_error(u, UINT32_MAX, "source is longer than %zu bytes", MAX_SOURCE);
        return false;
    }
    return true;
}

/* --- stack -------------------------------------------------------------------------- */
typedef struct {
    void (*fn)(void *);
    void *arg;
} job;

static void *run_job(void *p) {
    job *j = p;
    j->fn(j->arg);
    return NULL;
}

bool cmm_with_stack(void (*fn)(void *), void *arg) {
    /* NORESERVE: only pages that are touched count. The lowest page stays a guard. */
    size_t size = CMM_STACK_BYTES, guard = (size_t)64 << 10;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        return false;
    }
    mprotect(stack, guard, PROT_NONE);
    madvise(stack, size, MADV_HUGEPAGE); /* deep nesting touches megabytes */
    job j = {fn, arg};
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_t thread;
    bool ok = pthread_attr_setstack(&attr, stack + guard, size - guard) == 0 &&
              pthread_create(&thread, &attr, run_job, &j) == 0;
    if (ok) {
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attr);
    munmap(stack, size);
    return ok;
}
