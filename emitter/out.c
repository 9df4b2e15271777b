/* out.c - see out.h. A program is a hundred thousand short lines, so a line costs one
 * pass over its format and its strings, byte by byte: library calls would cost more. Room
 * is looked for once a line. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "emitter/out.h"

void out_flush(out *o)
{
    fwrite(o->buf, 1, o->used, o->file);
    o->used = 0;
}

void out_text(out *o, const char *text, size_t length)
{
    if (sizeof o->buf - o->used < length)
        out_flush(o);
    if (length > sizeof o->buf) {
        fwrite(text, 1, length, o->file);
        return;
    }
    memcpy(o->buf + o->used, text, length);
    o->used += length;
}

/* --- numbers ------------------------------------------------------------------------
 * Each returns the end of what it wrote, at most NUMBER bytes. */
enum { NUMBER = 24 };

static char *put_digits(char *p, const char *digits, size_t n)
{
    while (n--)
        *p++ = *digits++;
    return p;
}

static char *put_hex(char *p, uint64_t n)
{
    char digits[NUMBER];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[n & 15];
    while (n >>= 4);
    return put_digits(p, digits + at, sizeof digits - at);
}

static char *put_decimal(char *p, uint64_t n)
{
    char digits[NUMBER];
    size_t at = sizeof digits;
    if (n < 10) {
        *p = (char)('0' + n);
        return p + 1;
    }
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    return put_digits(p, digits + at, sizeof digits - at);
}

static char *put_signed(char *p, int64_t n)
{
    if (n < 0)
        *p++ = '-';
    return put_decimal(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static char *put_directive(char *p, char c, bool wide, va_list *args)
{
    switch (c) {
    case 'c': *p = (char)va_arg(*args, int); return p + 1;
    case 'd': return put_signed(p, wide ? va_arg(*args, long) : va_arg(*args, int));
    case 'u': return put_decimal(p, wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned));
    case 'x': return put_hex(p, wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned));
    default: *p = c; return p + 1;
    }
}

/* --- lines ------------------------------------------------------------------------------
 * Before a line there is room for its format and numbers (SLACK bytes) and for SHORT bytes
 * of each string; longer strings look for room themselves. */
enum { SLACK = 2048, SHORT = 64 };

static char *make_room(out *o, char *p)
{
    o->used = (size_t)(p - o->buf);
    if (sizeof o->buf - o->used < SLACK)
        out_flush(o);
    return o->buf + o->used;
}

static char *put_long(out *o, char *p, const char *s)
{
    o->used = (size_t)(p - o->buf);
    out_text(o, s, strlen(s));
    return make_room(o, o->buf + o->used);
}

static inline char *put_string(out *o, char *p, const char *s)
{
    for (unsigned k = 0; k < SHORT; k++)
        if (!(p[k] = s[k]))
            return p + k;
    return put_long(o, p, s);
}

static inline char *put_format(out *o, char *p, const char *f, va_list *args)
{
    for (char c; (c = *f); f++) {
        if (c != '%') {
            *p++ = c;
            continue;
        }
        bool wide = f[1] == 'l';
        f += 1 + wide;
        p = *f == 's' ? put_string(o, p, va_arg(*args, const char *))
                      : put_directive(p, *f, wide, args);
    }
    return p;
}

void out_format(out *o, const char *format, va_list given)
{
    va_list args;
    va_copy(args, given);
    char *p = make_room(o, o->buf + o->used);
    o->used = (size_t)(put_format(o, p, format, &args) - o->buf);
    va_end(args);
}

void out_line(out *o, const char *format, va_list given)
{
    va_list args;
    va_copy(args, given);
    char *p = make_room(o, o->buf + o->used);
    *p++ = '\t';
    p = put_format(o, p, format, &args);
    *p++ = '\n';
    o->used = (size_t)(p - o->buf);
    va_end(args);
}

/* --- into memory ------------------------------------------------------------------------ */
static char *put_cut(char *p, const char *end, const char *s, size_t n)
{
    for (size_t k = 0; k < n && s[k] && p < end; k++)
        *p++ = s[k];
    return p;
}

size_t out_vprint(char *buf, size_t size, const char *f, va_list given)
{
    va_list args;
    va_copy(args, given);
    char *p = buf, *end = buf + size - 1, text[NUMBER];
    for (; *f && p < end; f++) {
        if (*f != '%') {
            *p++ = *f;
            continue;
        }
        bool wide = f[1] == 'l';
        f += 1 + wide;
        if (*f == 's')
            p = put_cut(p, end, va_arg(args, const char *), SIZE_MAX);
        else
            p = put_cut(p, end, text, (size_t)(put_directive(text, *f, wide, &args) - text));
    }
    va_end(args);
    *p = 0;
    return (size_t)(p - buf);
}

size_t out_print(char *buf, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t n = out_vprint(buf, size, format, args);
    va_end(args);
    return n;
}
