#include "stacks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fk_stacks_fail(fk_stacks_error *error, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->offset = offset;
    return false;
}

bool fk_stacks_add(fk_stacks *s, char *stack, double bytes)
{
    if (stack && s->size == s->capacity) {
        size_t n = 2 * s->capacity + 64;
        fk_stack *p = realloc(s->data, n * sizeof *p);
        if (p) {
            s->data = p;
            s->capacity = n;
        }
    }
    if (!stack || s->size == s->capacity) {
        free(stack);
        return false;
    }
    s->data[s->size++] = (fk_stack){stack, bytes};
    return true;
}

void fk_stacks_free(fk_stacks *s)
{
    for (size_t i = 0; i < s->size; i++)
        free(s->data[i].stack);
    free(s->data);
    *s = (fk_stacks){0};
}

/* One line: "stack bytes". */
static bool read_line(fk_stacks *s, const char *line, size_t n, size_t offset, fk_stacks_error *error)
{
    const char *space = n ? memrchr(line, ' ', n) : NULL;
    char number[32], *end = number;
    size_t digits = space ? n - (size_t)(space + 1 - line) : 0;
    if (digits > 0 && digits < sizeof number) {
        memcpy(number, space + 1, digits);
        number[digits] = 0;
        double bytes = strtod(number, &end);
        if (*end == 0 && end != number && bytes >= 0)
            return fk_stacks_add(s, strndup(line, (size_t)(space - line)), bytes) ||
                   fk_stacks_fail(error, offset, "out of memory");
    }
    return fk_stacks_fail(error, offset, "not a folded stack: a line must end with a space and a number of bytes");
}

static bool read_folded(fk_stacks *s, const char *text, size_t size, fk_stacks_error *error)
{
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t n = newline ? (size_t)(newline - text) - at : size - at;
        if (n > 0 && !read_line(s, text + at, n, at, error))
            return false;
        at += n + 1;
    }
    return true;
}

/* A pprof profile begins with its first sample type (field 1, a message); text
 * would have to begin with an empty line. */
bool fk_stacks_read(fk_stacks *s, const uint8_t *data, size_t size, bool live, fk_stacks_error *error)
{
    *s = (fk_stacks){0};
    if (size == 0)
        return fk_stacks_fail(error, 0, "the file is empty");
    if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b)
        return fk_stacks_fail(error, 0, "the file is compressed (gunzip it first)");
    if (size >= 4 && memcmp(data, "\xc1\x1f\xfc\xc1", 4) == 0)
        return fk_stacks_fail(error, 0, "the file is a trace: the memtrace tools read it");
    if (data[0] == '{')
        return fk_stacks_fail(error, 0, "the file is JSON: speedscope (https://www.speedscope.app) reads it");
    if (data[0] == 0x0a)
        return fk_stacks_read_pprof(s, data, size, live, error);
    if (live)
        return fk_stacks_fail(error, 0, "--live needs a pprof profile; folded stacks have one number");
    return read_folded(s, (const char *)data, size, error);
}
