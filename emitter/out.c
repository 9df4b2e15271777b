/* out.c - see out.h. */
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

static void put_number(out *o, uint64_t n, bool negative, unsigned base)
{
    char digits[24];
    size_t k = sizeof digits;
    do
        digits[--k] = "0123456789abcdef"[n % base];
    while (n /= base);
    if (negative)
        digits[--k] = '-';
    out_text(o, digits + k, sizeof digits - k);
}

static void put_signed(out *o, int64_t n)
{
    put_number(o, n < 0 ? -(uint64_t)n : (uint64_t)n, n < 0, 10);
}

static const char *directive(out *o, const char *p, va_list *args)
{
    bool wide = *p == 'l';
    p += wide;
    switch (*p) {
    case 's': {
        const char *s = va_arg(*args, const char *);
        out_text(o, s, strlen(s));
        break;
    }
    case 'c': {
        char c = (char)va_arg(*args, int);
        out_text(o, &c, 1);
        break;
    }
    case 'd': put_signed(o, wide ? va_arg(*args, long) : va_arg(*args, int)); break;
    case 'u': put_number(o, wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), false, 10); break;
    case 'x': put_number(o, wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), false, 16); break;
    default: out_text(o, p, 1); break;
    }
    return p + 1;
}

void out_format(out *o, const char *format, va_list given)
{
    va_list args;
    va_copy(args, given);
    const char *p = format;
    while (*p) {
        const char *q = strchr(p, '%');
        if (!q) {
            out_text(o, p, strlen(p));
            break;
        }
        out_text(o, p, (size_t)(q - p));
        p = directive(o, q + 1, &args);
    }
    va_end(args);
}
