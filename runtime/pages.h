/* pages.h - runs of 4 KiB pages inside 4 MiB chunks. Thread-safe. */
#ifndef FK_RT_PAGES_H
#define FK_RT_PAGES_H

#include "runtime/heap.h"

/* A span of `pages` pages, contents zero or stale; NULL: no memory. */
struct span *fk_pages_alloc(size_t pages);
void fk_pages_free(struct span *);
/* Gives chunks without a span back to the system. */
void fk_pages_trim(void);
void fk_pages_each(void (*each)(struct span *, void *), void *arg);

#endif
