/* set.c - see set.h. */
#include "frametable/ftdump/set.h"

#include <stdlib.h>
#include <string.h>

/* Multiplication by 2^64 / golden ratio spreads addresses that differ in few
 * low bits over the high ones. */
static size_t slot_of(uint64_t key, size_t capacity)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (capacity - 1);
}

static ft_cell *find(ft_cell *cells, size_t capacity, uint64_t key)
{
    size_t i = slot_of(key, capacity);
    while (cells[i].key != 0 && cells[i].key != key)
        i = (i + 1) & (capacity - 1);
    return &cells[i];
}

static bool grow(ft_set *s)
{
    size_t capacity = s->capacity == 0 ? 64 : 2 * s->capacity;
    ft_cell *cells = calloc(capacity, sizeof *cells);
    if (cells == NULL)
        return false;
    for (size_t i = 0; i < s->capacity; i++)
        if (s->cells[i].key != 0)
            *find(cells, capacity, s->cells[i].key) = s->cells[i];
    free(s->cells);
    s->cells = cells;
    s->capacity = capacity;
    return true;
}

ft_cell *ft_set_cell(ft_set *s, uint64_t key)
{
    key += key == 0;
    if (2 * s->used >= s->capacity && !grow(s))
        return NULL;
    ft_cell *c = find(s->cells, s->capacity, key);
    if (c->key == 0) {
        c->key = key;
        s->used++;
    }
    return c;
}

void ft_set_clear(ft_set *s)
{
    if (s->used > 0)
        memset(s->cells, 0, s->capacity * sizeof *s->cells);
    s->used = 0;
}

void ft_set_free(ft_set *s)
{
    free(s->cells);
    memset(s, 0, sizeof *s);
}

/* FNV-1a over 8-byte steps, then bytes: content keys, not security. */
uint64_t ft_hash(uint64_t h, const void *data, size_t size)
{
    const unsigned char *p = data;
    h ^= 0xcbf29ce484222325u;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = (h ^ w) * 0x9ddfea08eb382d69u;
        h ^= h >> 29;
    }
    for (; size > 0; size--)
        h = (h ^ *p++) * 0x100000001b3u;
    return h ^ h >> 32;
}
