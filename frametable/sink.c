/* sink.c - what writers write to: a counter, bytes, or assembler text. */
#include <stdio.h>

#include "frametable/encode.h"

static void text(fk_writer *w, const char *format, ...)
{
    char buf[512];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(buf, sizeof buf, format, ap);
    va_end(ap);
    if (n > 0)
        w->put(buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1, w->arg);
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
        text(w, "\t.byte\t%u\n", v & 0xFF);
}

void fk_put16(fk_writer *w, uint32_t v)
{
    if (w->mode == FK_SIZES)
        w->at += 2;
    else if (w->mode == FK_BYTES)
        fk_st16(room(w, 2), (uint16_t)v, w->b->swap);
    else
        text(w, "\t.2byte\t%u\n", v & 0xFFFF);
}

void fk_put32(fk_writer *w, uint32_t v)
{
    if (w->mode == FK_SIZES)
        w->at += 4;
    else if (w->mode == FK_BYTES)
        fk_st32(room(w, 4), v, w->b->swap);
    else
        text(w, "\t.4byte\t%u\n", v);
}

void fk_put_count(fk_writer *w, uint64_t v)
{
    unsigned n = w->b->word;
    if (w->mode == FK_SIZES)
        w->at += n;
    else if (w->mode == FK_BYTES)
        fk_stword(room(w, n), v, n, w->b->swap);
    else
        text(w, "\t.%ubyte\t%llu\n", n, (unsigned long long)v);
}

/* A string literal of at most 60 bytes; octal is what every assembler reads alike. */
static void text_bytes(fk_writer *w, const uint8_t *p, size_t n)
{
    char line[300], *q = line;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < 32 || p[i] > 126 || p[i] == '"' || p[i] == '\\')
            q += sprintf(q, "\\%03o", p[i]);
        else
            *q++ = (char)p[i];
    }
    *q = 0;
    text(w, "\t.ascii\t\"%s\"\n", line);
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
        text(w, "\t.balign\t%u\n", align);
}

/* --- addresses -------------------------------------------------------------------------- */

static const char *label(fk_writer *w, uint64_t retaddr, char buf[128])
{
    int n = w->label(retaddr, buf, 128, w->arg);
    if (n < 0 || n >= 128)
        problem(w, "the name of a label is too long");
    return buf;
}

void fk_put_retaddr(fk_writer *w, uint64_t retaddr)
{
    char name[128];
    if (w->mode == FK_TEXT)
        text(w, "\t.%ubyte\t%s\n", w->b->word, label(w, retaddr, name));
    else
        fk_put_count(w, retaddr);
}

void fk_put_retaddr_rel(fk_writer *w, uint64_t retaddr)
{
    char name[128];
    int64_t diff = (int64_t)(retaddr - w->at);
    if (w->mode == FK_TEXT) {
        text(w, "\t.4byte\t%s - .\n", label(w, retaddr, name));
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
    char a[128], b[128];
    uint64_t v = to - from;
    if (w->mode == FK_TEXT) {
        text(w, "\t.uleb128\t%s - %s\n", label(w, to, a), label(w, from, b));
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
    else if (w->mode == FK_TEXT)
        text(w, ".L%s_%zu:\n", w->symbol, item);
}

void fk_put_offset(fk_writer *w, size_t item, uint32_t add)
{
    if (w->mode == FK_TEXT) {
        text(w, "\t.4byte\t.L%s_%zu - . + %u\n", w->symbol, item, add);
        return;
    }
    uint64_t diff = w->b->item[item] - w->at;
    if (w->mode == FK_BYTES && diff > UINT32_MAX && (int64_t)diff < INT32_MIN)
        problem(w, "debuginfo is further than 4 GB away");
    fk_put32(w, (uint32_t)diff + add);
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
    else if (w->mode == FK_TEXT)
        text(w, "\t.%ubyte\t.L%s_%zu\n", w->b->word, w->symbol, item);
    else
        fk_put_count(w, w->b->item[item]);
}
