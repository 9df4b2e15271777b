/* out.h - the one way text leaves ftdump: a buffer in front of write(2).
 *
 * printf costs more than decoding does; the writers below are what keeps a
 * full dump faster than readelf's. A failed write is remembered, the rest is
 * dropped, and ft_out_close tells.
 */
#ifndef FT_OUT_H
#define FT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    FT_PLAIN,
    FT_BOLD,     /* headings */
    FT_FUNCTION, /* function names */
    FT_KIND,     /* call, alloc, poll, raise */
    FT_LIVE,     /* roots */
    FT_PLACE,    /* source positions */
    FT_DIM,      /* addresses, remarks */
    FT_WARN,     /* faults */
} ft_color;

typedef struct {
    int fd;
    int error; /* errno of the first failed write, 0 */
    bool colored;
    size_t used;
    char buf[1 << 16];
} ft_out;

void ft_out_open(ft_out *, int fd, bool colored);
void ft_out_flush(ft_out *);

void ft_put(ft_out *, const char *text, size_t length);
void ft_puts(ft_out *, const char *text);
void ft_putc(ft_out *, char);
void ft_pad(ft_out *, size_t width, char c);
void ft_putu(ft_out *, uint64_t value);
void ft_putu_right(ft_out *, uint64_t value, unsigned width);
void ft_putu_left(ft_out *, uint64_t value, unsigned width);
void ft_puti(ft_out *, int64_t value);
/* "0x" and at least `digits` hexadecimal digits. */
void ft_putx(ft_out *, uint64_t value, unsigned digits);
void ft_puthex(ft_out *, uint64_t value, unsigned digits); /* without "0x" */
/* Padded with spaces to `width` (never cut). */
void ft_puts_left(ft_out *, const char *text, unsigned width);
void ft_printf(ft_out *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The escape sequence that starts or (FT_PLAIN) ends a colour; nothing when
 * the output is not coloured. */
void ft_color_set(ft_out *, ft_color);
void ft_puts_color(ft_out *, ft_color, const char *text);

/* A name from the file: control bytes become \xNN, so that a hostile symbol
 * cannot drive the terminal. */
void ft_puts_name(ft_out *, const char *text);

#endif
