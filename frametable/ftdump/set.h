/* set.h - a set of 64-bit keys with a counter each; open addressing. */
#ifndef FT_SET_H
#define FT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t key; /* never 0 */
    uint64_t count;
} ft_cell;

typedef struct {
    ft_cell *cells;
    size_t capacity, used; /* capacity: 0 or a power of two */
} ft_set;

/* The cell of `key` (0 is taken as 1), made with count 0 when new. NULL: out
 * of memory. Valid until the next call. */
ft_cell *ft_set_cell(ft_set *, uint64_t key);
void ft_set_clear(ft_set *);
void ft_set_free(ft_set *);
uint64_t ft_hash(uint64_t seed, const void *data, size_t size);

#endif
