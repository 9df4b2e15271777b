/* splitmix.h - SplitMix64: a stream of 64-bit numbers from any seed (Steele, Lea, Flood, OOPSLA 2014). */
#ifndef FK_MEMPROF_SPLITMIX_H
#define FK_MEMPROF_SPLITMIX_H

#include <stdint.h>

static inline uint64_t fk_splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#endif
