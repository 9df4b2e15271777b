/* out.c - see out.h. A program is a hundred thousand short lines, so a line costs one
 * pass over its format and its strings, byte by byte: library calls would cost more. */
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

/* Where bytes go: the buffer of an `out`, or memory that cuts off what is too long. */
typedef struct {
    char *p, *end;
    out *o;
} sink;

static bool make_room(sink *k)
{
    if (!k->o)
        return false;
    k->o->used = (size_t)(k->p - k->o->buf);
    out_flush(k->o);
    k->p = k->o->buf;
    return true;
}

static inline void put(sink *k, char c)
{
    if (k->p < k->end || make_room(k))
        *k->p++ = c;
}

/* Up to a zero byte or `stop`; where it ended. The position is kept in a register: bytes
 * may alias the sink. */
static const char *put_until(sink *k, const char *s, char stop)
{
    char *p = k->p;
    for (; *s && *s != stop; s++) {
        if (p == k->end) {
            k->p = p;
            if (!make_room(k))
                return s + strlen(s);
            p = k->p;
        }
        *p++ = *s;
    }
    k->p = p;
    return s;
}

static void put_text(sink *k, const char *s)
{
    put_until(k, s, 0);
}

static void put_number(sink *k, uint64_t n, bool negative, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[n % base];
    while (n /= base);
    if (negative)
        put(k, '-');
    while (at < sizeof digits)
        put(k, digits[at++]);
}

static void put_decimal(sink *k, uint64_t n, bool negative)
{
    if (n < 10) {
        if (negative)
            put(k, '-');
        put(k, (char)('0' + n));
    } else
        put_number(k, n, negative, 10);
}

static void put_signed(sink *k, int64_t n)
{
    put_decimal(k, n < 0 ? -(uint64_t)n : (uint64_t)n, n < 0);
}

static const char *directive(sink *k, const char *p, va_list *args)
{
    bool wide = *p == 'l';
    p += wide;
    switch (*p) {
    case 's': put_text(k, va_arg(*args, const char *)); break;
    case 'c': put(k, (char)va_arg(*args, int)); break;
    case 'd': put_signed(k, wide ? va_arg(*args, long) : va_arg(*args, int)); break;
    case 'u':
        put_decimal(k, wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), false);
        break;
    case 'x':
        put_number(k, wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), false, 16);
        break;
    default: put(k, *p); break;
    }
    return p + 1;
}

static void put_format(sink *k, const char *format, va_list given)
{
    va_list args;
    va_copy(args, given);
    const char *p = format;
    while (*(p = put_until(k, p, '%')))
        p = directive(k, p + 1, &args);
    va_end(args);
}

static sink into(out *o)
{
    return (sink){o->buf + o->used, o->buf + sizeof o->buf, o};
}

void out_format(out *o, const char *format, va_list args)
{
    sink k = into(o);
    put_format(&k, format, args);
    o->used = (size_t)(k.p - o->buf);
}

void out_line(out *o, const char *format, va_list args)
{
    sink k = into(o);
    put(&k, '\t');
    put_format(&k, format, args);
    put(&k, '\n');
    o->used = (size_t)(k.p - o->buf);
}

size_t out_vprint(char *buf, size_t size, const char *format, va_list args)
{
    sink k = {buf, buf + size - 1, NULL};
    put_format(&k, format, args);
    *k.p = 0;
    return (size_t)(k.p - buf);
}

size_t out_print(char *buf, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t n = out_vprint(buf, size, format, args);
    va_end(args);
    return n;
}
