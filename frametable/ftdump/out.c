/* out.c - buffered output, see out.h. */
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void ft_out_open(ft_out *o, int fd, bool colored)
{
    o->fd = fd;
    o->error = 0;
    o->colored = colored;
    o->used = 0;
}

static void write_all(ft_out *o, const char *p, size_t n)
{
    while (n > 0 && o->error == 0) {
        ssize_t k = write(o->fd, p, n);
        if (k < 0 && errno != EINTR)
            o->error = errno;
        if (k > 0) {
            p += k;
            n -= (size_t)k;
        }
    }
}

void ft_out_flush(ft_out *o)
{
    write_all(o, o->buf, o->used);
    o->used = 0;
}

/* Room for n <= 64 bytes. */
static char *room(ft_out *o, size_t n)
{
    if (o->used + n > sizeof o->buf)
        ft_out_flush(o);
    return o->buf + o->used;
}

void ft_put(ft_out *o, const char *text, size_t n)
{
    if (n > sizeof o->buf - o->used)
        ft_out_flush(o);
    if (n > sizeof o->buf) {
        write_all(o, text, n);
        return;
    }
    memcpy(o->buf + o->used, text, n);
    o->used += n;
}

void ft_puts(ft_out *o, const char *text)
{
    ft_put(o, text, strlen(text));
}

void ft_putc(ft_out *o, char c)
{
    *room(o, 1) = c;
    o->used++;
}

void ft_pad(ft_out *o, size_t width, char c)
{
    while (width-- > 0)
        ft_putc(o, c);
}

/* Decimal digits, ends at `end`; returns the first one. */
static char *digits_before(char *end, uint64_t v)
{
    do {
        *--end = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    return end;
}

void ft_putu(ft_out *o, uint64_t v)
{
    ft_putu_right(o, v, 0);
}

void ft_putu_right(ft_out *o, uint64_t v, unsigned width)
{
    char tmp[24], *p = digits_before(tmp + sizeof tmp, v);
    size_t n = (size_t)(tmp + sizeof tmp - p);
    if (n < width)
        ft_pad(o, width - n, ' ');
    ft_put(o, p, n);
}

void ft_putu_left(ft_out *o, uint64_t v, unsigned width)
{
    char tmp[24], *p = digits_before(tmp + sizeof tmp, v);
    size_t n = (size_t)(tmp + sizeof tmp - p);
    ft_put(o, p, n);
    if (n < width)
        ft_pad(o, width - n, ' ');
}

void ft_puti(ft_out *o, int64_t v)
{
    if (v < 0)
        ft_putc(o, '-');
    ft_putu(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void ft_puthex(ft_out *o, uint64_t v, unsigned digits)
{
    unsigned n = 1;
    while (n < 16 && v >> (4 * n) != 0)
        n++;
    if (n < digits)
        n = digits;
    char *p = room(o, n);
    for (unsigned i = n; i-- > 0; v >>= 4)
        p[i] = "0123456789abcdef"[v & 15];
    o->used += n;
}

void ft_putx(ft_out *o, uint64_t v, unsigned digits)
{
    ft_put(o, "0x", 2);
    ft_puthex(o, v, digits);
}

void ft_puts_left(ft_out *o, const char *text, unsigned width)
{
    size_t n = strlen(text);
    ft_put(o, text, n);
    if (n < width)
        ft_pad(o, width - n, ' ');
}

void ft_printf(ft_out *o, const char *format, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    if (n > 0)
        ft_put(o, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

void ft_color_set(ft_out *o, ft_color color)
{
    static const char *const codes[] = {
        [FT_PLAIN] = "\033[0m", [FT_BOLD] = "\033[1m",  [FT_FUNCTION] = "\033[36m",
        [FT_KIND] = "\033[33m", [FT_LIVE] = "\033[32m", [FT_PLACE] = "\033[35m",
        [FT_DIM] = "\033[2m",   [FT_WARN] = "\033[31m",
    };
    if (o->colored)
        ft_puts(o, codes[color]);
}

void ft_puts_color(ft_out *o, ft_color color, const char *text)
{
    ft_color_set(o, color);
    ft_puts(o, text);
    ft_color_set(o, FT_PLAIN);
}

static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

void ft_puts_name(ft_out *o, const char *text)
{
    const char *start = text;
    for (; *text != 0; text++) {
        if (!is_control((unsigned char)*text))
            continue;
        ft_put(o, start, (size_t)(text - start));
        ft_puts(o, "\\x");
        ft_puthex(o, (unsigned char)*text, 2);
        start = text + 1;
    }
    ft_put(o, start, (size_t)(text - start));
}
