/* pages.h - memory straight from the system, and text that grows in it. */
#ifndef FK_EMITTER_PAGES_H
#define FK_EMITTER_PAGES_H

#include <stddef.h>
#include <stdio.h>

/* At least *size zero bytes, and how many in *size; large pieces in large pages, where the
 * system has them: a fault costs more than filling a small page. Aborts when memory is out. */
void *pages_get(size_t *size);
void pages_put(void *, size_t size);

enum { PAGES_HUGE = 1 << 21 }; /* pieces of this size and more are large */

/* A stream that writes to memory, as open_memstream.
 * After fclose `data` holds `length` bytes. */
typedef struct {
    char *data;
    size_t length, room;
} pages_text;
FILE *pages_open(pages_text *); /* NULL: no memory */
void pages_free(pages_text *);

#endif
