/* parse_data.c - data blocks. */
#include <string.h>

#include "emitter/parse.h"

static cmm_item *add(parser *p, cmm_item_kind kind, uint32_t pos) {
    p->items = grow(p->items, &p->cap_items, p->nitems + 1, sizeof *p->items);
    cmm_item *it = &p->items[p->nitems++];
    *it = (cmm_item){.kind = (uint8_t)kind, .pos = pos};
    return it;
}

/* An integer of `bits` bits, signed or unsigned. */
static void add_int(parser *p, cmm_item_kind kind, unsigned bits) {
    next(p);
    if (p->tok.kind != T_INT) {
        unexpected(p, "an integer");
    }
    int64_t v = p->tok.u.i;
    if (bits < 64 && (v < -((int64_t)1 << (bits - 1)) || v >= (int64_t)1 << bits)) {
        cmm_error(p->unit, p->tok.pos, "%lld does not fit %u bits", (long long)v, bits);
    }
    add(p, kind, p->tok.pos)->u.i = v;
    next(p);
}

static void add_size(parser *p, cmm_item_kind kind) {
    next(p);
    if (p->tok.kind != T_INT) {
        unexpected(p, "an integer");
    }
    int64_t v = p->tok.u.i;
    bool align = kind == CMM_ITEM_ALIGN;
    if (align && (v <= 0 || v > 65536 || (v & (v - 1)) != 0)) {
        cmm_error(p->unit, p->tok.pos, "alignment must be a power of two up to 65536");
        v = 8;
    } else if (!align && v > (int64_t)1 << 31) {
        cmm_error(p->unit, p->tok.pos, "skip is at most 2 GiB");
        v = 0;
    }
    add(p, kind, p->tok.pos)->u.i = v < 0 ? 0 : v;
    next(p);
}

/* Single: the dump's 0f and 8 digits are the bits already. */
static void add_float(parser *p, cmm_item_kind kind) {
    next(p);
    if (p->tok.kind != T_FLOAT) {
        unexpected(p, "a float");
    }
    uint64_t bits = p->tok.u.bits;
    bool raw = p->start[p->tok.pos] == '0' && p->start[p->tok.pos + 1] == 'f';
    if (raw && (p->tok.end - p->tok.pos == 10) != (kind == CMM_ITEM_SINGLE)) {
        fail_at(p, p->tok.pos, "0f needs 16 hex digits (8 in `single')");
    }
    if (kind == CMM_ITEM_SINGLE && !raw) {
        double d;
        memcpy(&d, &bits, sizeof d);
        float f = (float)d;
        uint32_t b;
        memcpy(&b, &f, sizeof b);
        bits = b;
    }
    add(p, kind, p->tok.pos)->u.bits = bits;
    next(p);
}

/* Words of the string block whose items precede: `int H [global "s"] "s":`, H the black
 * header of a string (tag 252, colour 3). */
static uint64_t string_words(const parser *p) {
    for (size_t i = p->nitems; i-- > 0 && p->nitems - i <= 3;) {
        const cmm_item *it = &p->items[i];
        if (it->kind == CMM_ITEM_INT) {
            uint64_t h = (uint64_t)it->u.i;
            return (h & 1023) == 252 + 768 ? h >> 10 : 0;
        }
    }
    return 0;
}

static void add_string(parser *p) {
    if (p->mode == CMM_DCMM) {
        next_raw_string(p, string_words(p));
    } else {
        next(p);
    }
    if (p->tok.kind != T_STRING) {
        unexpected(p, "a string");
    }
    cmm_item *it = add(p, CMM_ITEM_STRING, p->tok.pos);
    it->u.str = p->tok.str;
    it->len = p->tok.len;
    next(p);
}

static void add_sym(parser *p, cmm_item_kind kind) {
    uint32_t pos = p->tok.pos;
    cmm_sym *s = string_sym(p);
    add(p, kind, pos)->u.sym = s;
}

static void word_item(parser *p) {
    switch (p->tok.kw) {
    case K_GLOBAL:
        next(p);
        add_sym(p, CMM_ITEM_GLOBAL);
        return;
    case K_ADDR:
    case K_VAL:
        next(p);
        add_sym(p, CMM_ITEM_ADDR);
        return;
    case K_BYTE:
        add_int(p, CMM_ITEM_BYTE, 8);
        return;
    case K_HALF:
        add_int(p, CMM_ITEM_HALF, 16);
        return;
    case K_INT32:
        add_int(p, CMM_ITEM_INT32, 32);
        return;
    case K_INT:
        add_int(p, CMM_ITEM_INT, 64);
        return;
    case K_SINGLE:
        add_float(p, CMM_ITEM_SINGLE);
        return;
    case K_DOUBLE:
    case K_FLOAT:
        add_float(p, CMM_ITEM_DOUBLE);
        return;
    case K_STRING:
        add_string(p);
        return;
    case K_SKIP:
        add_size(p, CMM_ITEM_SKIP);
        return;
    case K_ALIGN:
        add_size(p, CMM_ITEM_ALIGN);
        return;
    default:
        unexpected(p, "a data item");
    }
}

void parse_data(parser *p, cmm_phrase *ph) {
    p->nitems = 0;
    while (p->tok.kind != T_RPAREN) {
        if (p->tok.kind == T_STRING) {
            add_sym(p, CMM_ITEM_DEFINE);
            expect(p, T_COLON, "':' after the symbol");
        } else if (p->tok.kind == T_WORD) {
            word_item(p);
        } else {
            unexpected(p, "a data item");
        }
    }
    ph->items = cmm_alloc(p->unit, p->nitems * sizeof *ph->items);
    ph->nitems = (uint32_t)p->nitems;
    if (p->nitems > 0) {
        memcpy(ph->items, p->items, p->nitems * sizeof *ph->items);
    }
}
