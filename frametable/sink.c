/* sink.c - what writers write to: a counter, bytes, or assembler text. */
#include "frametable/encode.h"

/* One line of text: a table has ten lines for each descriptor, so none goes through printf. */
typedef struct {
    size_t n;
    char buf[512];
} text_line;

static void add(text_line *l, const char *s)
{
    while (*s && l->n < sizeof l->buf)
        l->buf[l->n++] = *s++;
}

static void add_number(text_line *l, uint64_t v)
{
    char digits[24], *p = digits + sizeof digits;
    *--p = 0;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    add(l, p);
}

static void add_item(text_line *l, const fk_writer *w, size_t item)
{
    add(l, ".L");
    add(l, w->symbol);
    add(l, "_");
    add_number(l, item);
}

static void put_line(fk_writer *w, const text_line *l)
{
    w->put(l->buf, l->n, w->arg);
}

static void number_line(fk_writer *w, const char *directive, uint64_t v)
{
    text_line l = {.n = 0};
    add(&l, directive);
    add_number(&l, v);
    add(&l, "\n");
    put_line(w, &l);
}

static const char *word_directive(const fk_writer *w)
{
    return w->b->word == 8 ? "\t.8byte\t" : "\t.4byte\t";
}

static void problem(fk_writer *w, const char *what)
{
    if (!w->problem)
        w->problem = what;
}

/* The next n bytes of the output. */
static uint8_t *room(fk_writer *w, size_t n)
{
    uint8_t *p = w->out + (w->at - w->address);
    w->at += n;
    return p;
}

void fk_put8(fk_writer *w, uint32_t v)
{
    if (w->mode == FK_SIZES)
        w->at += 1;
    else if (w->mode == FK_BYTES)
        *room(w, 1) = (uint8_t)v;
    else
        number_line(w, "\t.byte\t", v & 0xFF);
}

void fk_put16(fk_writer *w, uint32_t v)
{
    if (w->mode == FK_SIZES)
        w->at += 2;
    else if (w->mode == FK_BYTES)
        fk_st16(room(w, 2), (uint16_t)v, w->b->swap);
    else
        number_line(w, "\t.2byte\t", v & 0xFFFF);
}

void fk_put32(fk_writer *w, uint32_t v)
{
    if (w->mode == FK_SIZES)
        w->at += 4;
    else if (w->mode == FK_BYTES)
        fk_st32(room(w, 4), v, w->b->swap);
    else
        number_line(w, "\t.4byte\t", v);
}

void fk_put_count(fk_writer *w, uint64_t v)
{
    unsigned n = w->b->word;
    if (w->mode == FK_SIZES)
        w->at += n;
    else if (w->mode == FK_BYTES)
        fk_stword(room(w, n), v, n, w->b->swap);
    else
        number_line(w, word_directive(w), v);
}

/* A string literal of at most 60 bytes; octal is what every assembler reads alike. */
static void text_bytes(fk_writer *w, const uint8_t *p, size_t n)
{
    text_line l = {.n = 0};
    add(&l, "\t.ascii\t\"");
    for (size_t i = 0; i < n; i++) {
        uint8_t c = p[i];
        bool plain = c >= 32 && c <= 126 && c != '"' && c != '\\';
        char octal[] = {'\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
                        (char)('0' + (c & 7)), 0};
        char byte[] = {(char)c, 0};
        add(&l, plain ? byte : octal);
    }
    add(&l, "\"\n");
    put_line(w, &l);
}

void fk_put_bytes(fk_writer *w, const void *p, size_t n)
{
    const uint8_t *q = p;
    if (w->mode == FK_SIZES) {
        w->at += n;
    } else if (w->mode == FK_BYTES) {
        memcpy(room(w, n), p, n);
    } else {
        for (size_t i = 0; i < n; i += 60)
            text_bytes(w, q + i, n - i < 60 ? n - i : 60);
    }
}

void fk_put_align(fk_writer *w, unsigned align)
{
    unsigned pad = fk_pad(w->at, align);
    if (align == 1)
        return;
    if (w->mode == FK_SIZES)
        w->at += pad;
    else if (w->mode == FK_BYTES)
        memset(room(w, pad), 0, pad);
    else
        number_line(w, "\t.balign\t", align);
}

/* --- addresses -------------------------------------------------------------------------- */

static const char *label(fk_writer *w, uint64_t retaddr, char buf[128])
{
    int n = w->label(retaddr, buf, 128, w->arg);
    if (n < 0 || n >= 128)
        problem(w, "the name of a label is too long");
    return buf;
}

static void add_label(text_line *l, fk_writer *w, uint64_t retaddr)
{
    char name[128];
    add(l, label(w, retaddr, name));
}

void fk_put_retaddr(fk_writer *w, uint64_t retaddr)
{
    if (w->mode != FK_TEXT) {
        fk_put_count(w, retaddr);
        return;
    }
    text_line l = {.n = 0};
    add(&l, word_directive(w));
    add_label(&l, w, retaddr);
    add(&l, "\n");
    put_line(w, &l);
}

void fk_put_retaddr_rel(fk_writer *w, uint64_t retaddr)
{
    int64_t diff = (int64_t)(retaddr - w->at);
    if (w->mode == FK_TEXT) {
        text_line l = {.n = 0};
        add(&l, "\t.4byte\t");
        add_label(&l, w, retaddr);
        add(&l, " - .\n");
        put_line(w, &l);
        return;
    }
    if (w->mode == FK_BYTES && diff != (int32_t)diff)
        problem(w, "a return address is further than 2 GB from its descriptor");
    fk_put32(w, (uint32_t)diff);
}

static unsigned uleb_size(uint64_t v)
{
    unsigned n = 1;
    while (v >>= 7)
        n++;
    return n;
}

/* `size` 0: the shortest; else padded to it. */
void fk_put_delta(fk_writer *w, uint64_t from, uint64_t to, unsigned size)
{
    uint64_t v = to - from;
    if (w->mode == FK_TEXT) {
        text_line l = {.n = 0};
        add(&l, "\t.uleb128\t");
        add_label(&l, w, to);
        add(&l, " - ");
        add_label(&l, w, from);
        add(&l, "\n");
        put_line(w, &l);
        return;
    }
    unsigned n = uleb_size(v);
    n = size > n ? size : n;
    for (unsigned i = 0; i < n; i++, v >>= 7)
        fk_put8(w, (uint32_t)(v & 0x7F) | (i + 1 < n ? 0x80 : 0));
}

/* --- items ---------------------------------------------------------------------------------- */

void fk_put_item(fk_writer *w, size_t item)
{
    if (w->mode == FK_SIZES)
        w->b->item[item] = w->at;
    else if (w->mode == FK_TEXT) {
        text_line l = {.n = 0};
        add_item(&l, w, item);
        add(&l, ":\n");
        put_line(w, &l);
    }
}

void fk_put_offset(fk_writer *w, size_t item, uint32_t plus)
{
    if (w->mode == FK_TEXT) {
        text_line l = {.n = 0};
        add(&l, "\t.4byte\t");
        add_item(&l, w, item);
        add(&l, " - . + ");
        add_number(&l, plus);
        add(&l, "\n");
        put_line(w, &l);
        return;
    }
    uint64_t diff = w->b->item[item] - w->at;
    if (w->mode == FK_BYTES && diff > UINT32_MAX && (int64_t)diff < INT32_MIN)
        problem(w, "debuginfo is further than 4 GB away");
    fk_put32(w, (uint32_t)diff + plus);
}

/* The offset shares its word with bits 31..26 and 1..0, which are in `add`. */
void fk_put_offset26(fk_writer *w, size_t item, uint32_t add)
{
    uint64_t diff = w->b->item[item] - w->at;
    if (w->mode == FK_BYTES && (diff > 0x3FFFFFC || diff % 4))
        problem(w, "a name is further than 64 MB from its debuginfo record");
    fk_put_offset(w, item, add);
}

void fk_put_pointer(fk_writer *w, size_t item)
{
    if (item == FK_NONE)
        fk_put_count(w, 0);
    else if (w->mode == FK_TEXT) {
        text_line l = {.n = 0};
        add(&l, word_directive(w));
        add_item(&l, w, item);
        add(&l, "\n");
        put_line(w, &l);
    } else
        fk_put_count(w, w->b->item[item]);
}
