/* parse_loc.c - debug locations.
 *
 *   dialect, dcmm   {file:line,c0-c1}, dcmm joins an inlining stack with ';'
 *   lossless        {"file":line,c0-c1,bol,end_bol,end_line,"scope";...}
 *
 * Dumps repeat the same text on many nodes, so one hash table gives each text its
 * object and most locations cost a hash of their bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "emitter/parse.h"

typedef struct {
    const char *s, *end;
    bool bad;
} cursor;

static int32_t number(cursor *c) {
    bool neg = c->s < c->end && *c->s == '-';
    c->s += neg;
    int64_t v = 0;
    const char *first = c->s;
    for (; c->s < c->end && *c->s >= '0' && *c->s <= '9'; c->s++) {
        v = v * 10 + (*c->s - '0');
        if (v > INT32_MAX) {
            v = INT32_MAX;
        }
    }
    c->bad |= c->s == first;
    return (int32_t)(neg ? -v : v);
}

static void skip(cursor *c, char wanted) {
    if (c->s < c->end && *c->s == wanted) {
        c->s++;
    } else {
        c->bad = true;
    }
}

/* A quoted name of the lossless form; \ddd stands for a byte. */
static cmm_sym *quoted(parser *p, cursor *c) {
    skip(c, '"');
    char buf[1024];
    size_t n = 0;
    while (c->s < c->end && *c->s != '"' && n < sizeof buf) {
        if (*c->s == '\\' && c->end - c->s >= 4) {
            buf[n++] = (char)((c->s[1] - '0') * 100 + (c->s[2] - '0') * 10 + (c->s[3] - '0'));
            c->s += 4;
        } else {
            buf[n++] = *c->s++;
        }
    }
    skip(c, '"');
    c->bad |= memchr(buf, 0, n) != NULL;
    return cmm_intern(p->unit, buf, n);
}

static void lossless_item(parser *p, cursor *c, cmm_loc *l) {
    l->file = quoted(p, c);
    skip(c, ':');
    l->line = number(c);
    skip(c, ',');
    l->start_char = number(c);
    skip(c, '-');
    l->end_char = number(c);
    skip(c, ',');
    l->start_bol = number(c);
    skip(c, ',');
    l->end_bol = number(c);
    skip(c, ',');
    l->end_line = number(c);
    skip(c, ',');
    l->scope = quoted(p, c);
}

/* Paths may hold colons: the last one counts. */
static void plain_item(parser *p, cursor *c, cmm_loc *l) {
    const char *stop = memchr(c->s, ';', (size_t)(c->end - c->s));
    const char *end = stop != NULL ? stop : c->end;
    const char *colon = memrchr(c->s, ':', (size_t)(end - c->s));
    if (colon == NULL || colon == c->s || memchr(c->s, 0, (size_t)(colon - c->s)) != NULL) {
        c->bad = true;
        return;
    }
    l->file = cmm_intern(p->unit, c->s, (size_t)(colon - c->s));
    c->s = colon + 1;
    l->line = number(c);
    skip(c, ',');
    l->start_char = number(c);
    skip(c, '-');
    l->end_char = number(c);
    l->start_bol = l->end_bol = l->end_line = -1;
}

static cmm_dbg *parse_text(parser *p, const token *t) {
    cmm_loc items[64];
    uint32_t n = 0;
    cursor c = {t->str, t->str + t->len, false};
    do {
        if (n == 64) {
            fail_at(p, t->pos, "a location has at most 64 levels");
        }
        items[n] = (cmm_loc){0};
        if (p->mode == CMM_LOSSLESS) {
            lossless_item(p, &c, &items[n]);
        } else {
            plain_item(p, &c, &items[n]);
        }
        n++;
    } while (!c.bad && c.s < c.end && *c.s++ == ';');
    if (c.bad || c.s != c.end) {
        fail_at(p, t->pos, "this is not a location: {file:line,from-to}");
    }
    cmm_dbg *d = cmm_alloc(p->unit, sizeof *d + n * sizeof d->items[0]);
    d->count = n;
    memcpy(d->items, items, n * sizeof *items);
    return d;
}

static uint32_t hash_text(const char *s, uint32_t len) {
    uint64_t h = len * 0x9e3779b97f4a7c15u;
    for (; len >= 8; s += 8, len -= 8) {
        uint64_t w;
        memcpy(&w, s, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    while (len-- > 0) {
        h = (h ^ (unsigned char)*s++) * 0x100000001b3u;
    }
    return (uint32_t)(h ^ h >> 32);
}

static void resize(parser *p) {
    uint32_t size = p->dbgs_size == 0 ? 256 : p->dbgs_size * 4;
    dbg_entry **table = calloc(size, sizeof *table);
    if (table == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < p->dbgs_size; i++) {
        for (dbg_entry *e = p->dbgs[i], *rest; e != NULL; e = rest) {
            rest = e->next;
            e->next = table[e->hash & (size - 1)];
            table[e->hash & (size - 1)] = e;
        }
    }
    free(p->dbgs);
    p->dbgs = table;
    p->dbgs_size = size;
}

static cmm_dbg *remember(parser *p, const token *t, uint32_t hash, cmm_dbg *d) {
    dbg_entry *e = malloc(sizeof *e);
    if (e == NULL) {
        abort();
    }
    dbg_entry **chain = &p->dbgs[hash & (p->dbgs_size - 1)];
    *e = (dbg_entry){*chain, t->str, t->len, hash, d};
    *chain = e;
    p->ndbgs++;
    return d;
}

const cmm_dbg *parse_dbg(parser *p) {
    if (p->tok.kind != T_LOC) {
        return NULL;
    }
    token t = p->tok;
    if (p->ndbgs >= p->dbgs_size) {
        resize(p);
    }
    uint32_t h = hash_text(t.str, t.len);
    dbg_entry *e = p->dbgs[h & (p->dbgs_size - 1)];
    while (e != NULL && !(e->hash == h && e->len == t.len && memcmp(e->text, t.str, t.len) == 0)) {
        e = e->next;
    }
    const cmm_dbg *d = e != NULL ? e->dbg : remember(p, &t, h, parse_text(p, &t));
    next(p);
    return d;
}
