/* search.h - how many records of a sorted array lie below a value. */
#ifndef FK_FRAMETABLE_SEARCH_H
#define FK_FRAMETABLE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of n records, `step` bytes each, sorted by the uint64_t at `offset`: how many are below `want`
 * in it. */
static inline size_t fk_count_keys(const void *first, size_t step, size_t offset, size_t n,
                                   uint64_t want)
{
    const char *key = (const char *)first;
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (*(const uint64_t *)(const void *)(key + mid * step + offset) < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* How many of the n TYPEs at `first`, sorted by FIELD, have it below `want`; at most `most`. */
#define FK_COUNT_BELOW(type, first, n, field, want)                                                \
    fk_count_keys(first, sizeof(type), offsetof(type, field), n, want)
#define FK_COUNT_UPTO(type, first, n, field, most)                                                 \
    ((most) == UINT64_MAX ? (n) : FK_COUNT_BELOW(type, first, n, field, (most) + 1))

static inline int fk_by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts n records, `step` bytes each, by the uint64_t that each begins with, and makes one of all
 * that share it: add(sum, other). How many are left. */
static inline size_t fk_combine_keys(void *first, size_t step, size_t n,
                                     void (*add)(void *, const void *))
{
    char *list = (char *)first, *sum = list;
    if (n == 0)
        return 0;
    qsort(first, n, step, fk_by_key);
    for (size_t k = 1; k < n; k++) {
        char *next = list + k * step;
        if (fk_by_key(sum, next) == 0)
            add(sum, next);
        else if ((sum += step) != next)
            memcpy(sum, next, step);
    }
    return (size_t)(sum - list) / step + 1;
}

#endif
