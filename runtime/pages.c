/* pages.c - the map from addresses to spans, and the page allocator.
 *
 *   address bits  47..36   35..22   21..12   11..0
 *                 level 1  level 2  page     byte
 *
 * Level 2 tables are made on demand and never freed, so that readers need no
 * lock. First fit inside a chunk: spans are few (one per 32 KiB of small
 * blocks), a scan of 1024 map entries per span is noise. */
#include "runtime/pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

struct chunk {
    struct chunk *next;
    size_t free_pages, first_free;
    struct span *huge;           /* the one span of a mapping longer than a chunk */
    size_t mapped;               /* bytes */
    struct span *map[CHUNK_PAGES];
};

#define HEADER_PAGES ((sizeof(struct chunk) + (1 << PAGE_SHIFT) - 1) >> PAGE_SHIFT)
#define LEVEL1 4096
#define LEVEL2 16384

typedef _Atomic(struct chunk *) chunk_ref;

static _Atomic(chunk_ref *) table[LEVEL1];
static struct chunk *chunks;
static size_t mapped_bytes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static chunk_ref *table_entry(uintptr_t a, bool make)
{
    uintptr_t i = a >> 36;
    if (i >= LEVEL1)
        return NULL;
    chunk_ref *l2 = atomic_load_explicit(&table[i], memory_order_acquire);
    if (!l2) {
        if (!make || !(l2 = calloc(LEVEL2, sizeof *l2)))
            return NULL;
        atomic_store_explicit(&table[i], l2, memory_order_release);
    }
    return &l2[(a >> CHUNK_SHIFT) & (LEVEL2 - 1)];
}

struct span *fk_span_of(const void *p)
{
    chunk_ref *e = table_entry((uintptr_t)p, false);
    struct chunk *c = e ? atomic_load_explicit(e, memory_order_acquire) : NULL;
    if (!c)
        return NULL;
    return c->huge ? c->huge : c->map[((uintptr_t)p & (CHUNK_SIZE - 1)) >> PAGE_SHIFT];
}

/* A mapping of `size` bytes aligned to a chunk. */
static char *map_aligned(size_t size)
{
    size_t want = size + CHUNK_SIZE;
    if (want < size)
        return NULL;
    char *p = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    char *a = (char *)(((uintptr_t)p + CHUNK_SIZE - 1) & ~(CHUNK_SIZE - 1));
    if (a > p)
        munmap(p, a - p);
    if (a + size < p + want)
        munmap(a + size, p + want - (a + size));
    return a;
}

static bool register_chunk(struct chunk *c, size_t size, struct chunk *as)
{
    for (size_t off = 0; off < size; off += CHUNK_SIZE) {
        chunk_ref *e = table_entry((uintptr_t)c + off, true);
        if (!e)
            return false;
        atomic_store_explicit(e, as, memory_order_release);
    }
    return true;
}

static struct chunk *chunk_new(size_t size)
{
    struct chunk *c = (struct chunk *)map_aligned(size);
    if (!c)
        return NULL;
    c->mapped = size;
    c->first_free = HEADER_PAGES;
    c->free_pages = CHUNK_PAGES - HEADER_PAGES;
    if (!register_chunk(c, size, c)) {
        munmap(c, size);
        return NULL;
    }
    c->next = chunks;
    chunks = c;
    mapped_bytes += size;
    return c;
}

/* First run of `pages` free pages; 0: none (page 0 is never free). */
static size_t find_run(const struct chunk *c, size_t pages)
{
    size_t run = 0;
    for (size_t i = c->first_free; i < CHUNK_PAGES; i++) {
        run = c->map[i] ? 0 : run + 1;
        if (run == pages)
            return i + 1 - pages;
    }
    return 0;
}

static void take_run(struct chunk *c, size_t at, struct span *s)
{
    for (size_t i = 0; i < s->pages; i++)
        c->map[at + i] = s;
    c->free_pages -= s->pages;
    if (at == c->first_free)
        c->first_free += s->pages;
    s->start = (char *)c + (at << PAGE_SHIFT);
}

static bool place_small(struct span *s)
{
    for (struct chunk *c = chunks; c; c = c->next) {
        size_t at = c->free_pages >= s->pages && !c->huge ? find_run(c, s->pages) : 0;
        if (at) {
            take_run(c, at, s);
            return true;
        }
    }
    struct chunk *c = chunk_new(CHUNK_SIZE);
    if (c)
        take_run(c, HEADER_PAGES, s);
    return c != NULL;
}

static bool place_huge(struct span *s)
{
    size_t bytes = (s->pages + HEADER_PAGES) << PAGE_SHIFT;
    bytes = (bytes + CHUNK_SIZE - 1) & ~(CHUNK_SIZE - 1);
    struct chunk *c = chunk_new(bytes);
    if (!c)
        return false;
    c->huge = s;
    c->free_pages = 0;
    s->start = (char *)c + (HEADER_PAGES << PAGE_SHIFT);
    return true;
}

struct span *fk_pages_alloc(size_t pages)
{
    struct span *s = calloc(1, sizeof *s);
    if (!s || pages > SIZE_MAX >> (PAGE_SHIFT + 1)) {
        free(s);
        return NULL;
    }
    s->pages = pages;
    pthread_mutex_lock(&lock);
    bool ok = pages > CHUNK_PAGES - HEADER_PAGES ? place_huge(s) : place_small(s);
    pthread_mutex_unlock(&lock);
    if (!ok) {
        free(s);
        return NULL;
    }
    return s;
}

static void chunk_delete(struct chunk *c)
{
    struct chunk **p = &chunks;
    while (*p != c)
        p = &(*p)->next;
    *p = c->next;
    mapped_bytes -= c->mapped;
    register_chunk(c, c->mapped, NULL);
    munmap(c, c->mapped);
}

void fk_pages_free(struct span *s)
{
    struct chunk *c = (struct chunk *)((uintptr_t)s->start & ~(CHUNK_SIZE - 1));
    pthread_mutex_lock(&lock);
    if (c->huge) {
        chunk_delete(c);
    } else {
        size_t at = (s->start - (char *)c) >> PAGE_SHIFT;
        for (size_t i = 0; i < s->pages; i++)
            c->map[at + i] = NULL;
        c->free_pages += s->pages;
        if (at < c->first_free)
            c->first_free = at;
    }
    pthread_mutex_unlock(&lock);
    free(s);
}

void fk_pages_trim(void)
{
    pthread_mutex_lock(&lock);
    for (struct chunk *c = chunks, *next; c; c = next) {
        next = c->next;
        if (!c->huge && c->free_pages == CHUNK_PAGES - HEADER_PAGES)
            chunk_delete(c);
    }
    pthread_mutex_unlock(&lock);
}

void fk_pages_each(void (*each)(struct span *, void *), void *arg)
{
    for (struct chunk *c = chunks; c; c = c->next) {
        if (c->huge) {
            each(c->huge, arg);
            continue;
        }
        for (size_t i = HEADER_PAGES; i < CHUNK_PAGES;) {
            struct span *s = c->map[i];
            if (s)
                each(s, arg);
            i += s ? s->pages : 1;
        }
    }
}

uintptr_t fk_heap_words(void) { return mapped_bytes / sizeof(value); }
