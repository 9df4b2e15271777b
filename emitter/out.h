/* out.h - text on its way to a file, formatted without printf's cost. */
#ifndef FK_EMITTER_OUT_H
#define FK_EMITTER_OUT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef struct out {
    FILE *file;
    size_t used;
    char buf[1 << 16];
} out;

void out_flush(out *);
void out_text(out *, const char *text, size_t length);
/* %s %d %u %ld %lu %lx %x %c %% only, no widths. */
void out_format(out *, const char *format, va_list);
void out_line(out *, const char *format, va_list); /* between a tab and a newline */
/* The same into memory of `size` >= 1 bytes, terminated, what is too long cut off; the
 * length written. */
size_t out_print(char *buf, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t out_vprint(char *buf, size_t size, const char *format, va_list);

#endif
