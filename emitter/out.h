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

#endif
