/* random_table.h - descriptors from a seed: what a builder is given and what a reader must return.
 */
#ifndef FK_TESTS_RANDOM_TABLE_H
#define FK_TESTS_RANDOM_TABLE_H

#include "abi/abi.h"
#include "framekit/frametable.h"

typedef struct {
    uint64_t state;
} rng;

uint32_t rng_next(rng *);
uint32_t rng_below(rng *, uint32_t n);

#define MOST_LIVE 40
#define MOST_ALLOCS 12
#define MOST_CHAIN 5

typedef struct {
    fk_descr_in in;
    fk_live live[MOST_LIVE];
    uint16_t wosize[MOST_ALLOCS];
    fk_loc loc[MOST_ALLOCS][MOST_CHAIN];
    const fk_loc *chain[MOST_ALLOCS];
    uint32_t length[MOST_ALLOCS];
} random_descr;

/* The i-th descriptor of a table of generation g: return addresses grow, so that O3 is short. */
void random_descr_make(rng *, fk_generation g, const struct fk_abi *, uint64_t i, random_descr *);
/* n of them as bytes for `address`, freed with free(). NULL: does not fit or no memory. */
uint8_t *random_table(uint64_t seed, fk_generation g, const struct fk_abi *, uint64_t n,
                      uint64_t address, size_t *size);

#endif
