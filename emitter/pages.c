/* pages.c - see pages.h. */
#include "emitter/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    return p;
}

void *pages_get(size_t *size)
{
    const size_t align = PAGES_HUGE;
    *size = (*size + 4095) & ~(size_t)4095;
    if (*size < align)
        return map(*size);
    char *p = map(*size + align);
    size_t before = -(uintptr_t)p & (align - 1);
    if (before)
        munmap(p, before);
    munmap(p + before + *size, align - before);
    madvise(p + before, *size, MADV_HUGEPAGE);
    return p + before;
}

void pages_put(void *p, size_t size)
{
    munmap(p, size);
}

/* --- text ------------------------------------------------------------------------- */
/* From small to large pages at once; then double. */
static void grow(pages_text *t, size_t need)
{
    size_t room = t->room ? 2 * t->room : 1 << 17;
    if (t->room && room < PAGES_HUGE)
        room = PAGES_HUGE;
    while (room < need)
        room *= 2;
    char *p = pages_get(&room);
    if (t->room) {
        memcpy(p, t->data, t->length);
        pages_put(t->data, t->room);
    }
    t->data = p;
    t->room = room;
}

static ssize_t append(void *cookie, const char *from, size_t n)
{
    pages_text *t = cookie;
    if (t->length + n > t->room)
        grow(t, t->length + n);
    memcpy(t->data + t->length, from, n);
    t->length += n;
    return (ssize_t)n;
}

FILE *pages_open(pages_text *t)
{
    *t = (pages_text){0};
    return fopencookie(t, "w", (cookie_io_functions_t){.write = append});
}

void pages_free(pages_text *t)
{
    if (t->room)
        pages_put(t->data, t->room);
}
