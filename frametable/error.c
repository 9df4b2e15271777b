/* error.c - building and printing fk_error. */
#include <stdio.h>
#include <stdlib.h>

#include "frametable/internal.h"

/* Keeps the end of a long path: the file name says more than the folders. */
static void copy_tail(char *to, size_t size, const char *from)
{
    size_t n = from ? strlen(from) : 0;
    if (n < size) {
        memcpy(to, from ? from : "", n + 1);
        return;
    }
    memcpy(to, "...", 3);
    memcpy(to + 3, from + n - (size - 4), size - 3);
}

static void fill(fk_error *err, fk_result code, const char *file, const char *section,
                 uint64_t offset, uint64_t entry)
{
    err->code = code;
    copy_tail(err->file, sizeof err->file, file);
    copy_tail(err->section, sizeof err->section, section);
    err->offset = offset;
    err->entry = entry;
}

fk_result fk_fail(fk_error *err, fk_result code, const char *file, const char *section,
                  uint64_t offset, uint64_t entry, const char *format, ...)
{
    if (!err)
        return code;
    fill(err, code, file, section, offset, entry);
    va_list ap;
    va_start(ap, format);
    vsnprintf(err->message, sizeof err->message, format, ap);
    va_end(ap);
    return code;
}

fk_result fk_fail_memory(fk_error *err, const char *file)
{
    return fk_fail(err, FK_SYSTEM, file, NULL, 0, FK_NO_ENTRY, "out of memory");
}

fk_result fk_fail_table(const fk_table *t, fk_error *err, uint64_t address, uint64_t entry,
                        const char *format, ...)
{
    if (!err)
        return FK_BROKEN;
    fill(err, FK_BROKEN, t->file, t->section, address - t->section_address, entry);
    int n = 0;
    if (t->module[0])
        n = snprintf(err->message, sizeof err->message, "table of %.100s: ", t->module);
    va_list ap;
    va_start(ap, format);
    vsnprintf(err->message + n, sizeof err->message - (size_t)n, format, ap);
    va_end(ap);
    return FK_BROKEN;
}

/* Appends to buf as snprintf would; returns the new length, which may exceed size. */
static int append(char *buf, size_t size, int at, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    size_t used = (size_t)at < size ? (size_t)at : size;
    int n = vsnprintf(buf ? buf + used : NULL, size - used, format, ap);
    va_end(ap);
    return at + (n > 0 ? n : 0);
}

int fk_error_format(const fk_error *e, char *buf, size_t size)
{
    int n = append(buf, size, 0, "%s", e->file);
    if (e->section[0])
        n = append(buf, size, n, "%s%s+0x%llx", n ? ": " : "", e->section,
                   (unsigned long long)e->offset);
    else if (e->offset)
        n = append(buf, size, n, "%s0x%llx", n ? ": " : "", (unsigned long long)e->offset);
    if (e->entry != FK_NO_ENTRY)
        n = append(buf, size, n, "%sentry %llu", n ? ": " : "", (unsigned long long)e->entry);
    return append(buf, size, n, "%s%s", n ? ": " : "", e->message);
}
