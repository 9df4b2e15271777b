/* random.h - geometric gaps between samples.
 *
 * Each allocated word is an independent Bernoulli trial of probability
 * `rate`; the distance from one sampled word to the next, counted in words
 * and never 0, is then geometric: P(gap > n) = (1 - rate)^n.
 *
 *     SplitMix64 -> 64 lanes of xoshiro128+ -> uniform u32 y
 *     u   = (y + 1/2) / 2^32                     in (0, 1)
 *     gap = 1 + floor(-log(u) * scale)           scale = -1 / log1p(-rate)
 *
 * A block of 64 gaps is made at once by loops that compilers vectorise. All
 * arithmetic is IEEE single precision without contraction, so one seed gives
 * the same gaps on every architecture.
 *
 * Accuracy (lit-tests/memprof/random.test checks all 2^32 inputs): the
 * relative error of -log(u) is below 4e-7, so a probability P(gap <= n) is
 * off by less than 4e-7 + 2^-32.
 *
 * Sources: Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", ACM TOMS 47 (2021); Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014. docs/memprof.md.
 */
#ifndef FK_MEMPROF_RANDOM_H
#define FK_MEMPROF_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

enum { FK_RANDOM_BLOCK = 64 };
/* Largest gap: a word count that no heap reaches. */
#define FK_GAP_MAX ((int64_t)1 << 62)

typedef struct {
    float scale;                        /* 0: rate 1 */
    uint32_t next;                      /* first unused gap */
    bool never;                         /* the rate is too small ever to fire */
    float gaps[FK_RANDOM_BLOCK];        /* >= 1; the fraction is cut off at use */
    uint32_t state[4][FK_RANDOM_BLOCK]; /* word-major: lanes side by side */
} fk_random;

/* Equal seeds give equal streams. Any 64-bit seed is good. */
void fk_random_seed(fk_random *, uint64_t seed);

/* Sets the rate, 0 <= rate <= 1 samples per word, and drops gaps made for an
 * earlier one. */
void fk_random_set_rate(fk_random *, double rate);

/* Makes the next block. Called by fk_random_gap. */
void fk_random_refill(fk_random *);

/* Words up to and including the next sampled one: 1 .. FK_GAP_MAX. */
static inline int64_t fk_random_gap(fk_random *r)
{
    if (r->never)
        return FK_GAP_MAX;
    if (r->next == FK_RANDOM_BLOCK)
        fk_random_refill(r);
    float g = r->gaps[r->next++];
    return g < (float)FK_GAP_MAX ? (int64_t)g : FK_GAP_MAX; /* 2^62 is exact as a float */
}

/* -log((y + 1/2) / 2^32), always > 0. Exposed for the exhaustive test. */
float fk_random_neglog(uint32_t y);

#endif
