/* random.c - see random.h.
 *
 * The logarithm. Most of what matters happens at u near 1, where gaps are
 * small and where a float u has no bits left. So the distance to 1 is taken
 * from the integer, where it is exact, and both halves use one polynomial:
 *
 *     y >= 2^31   x = (~y + 1/2) / 2^32                          e = 0
 *     y <  2^31   y + 1/2 = 2^e * m, m in [1/2, 1);  x = 1 - m   e = 1 .. 32
 *     -log(u) = -log(1 - x) + e' * log(2)        e' = 32 - e, or 0
 *
 * -log(1 - x) = x + x^2/2 + x^3 * P(x) on [0, 1/2]: all terms are positive,
 * nothing cancels. P (degree 6) is a least-squares fit at 120 Chebyshev
 * nodes, weighted for the relative error of the sum: 3.4e-8 before rounding.
 */
#include "random.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "splitmix.h"
#include "vector.h"

void fk_random_seed(fk_random *r, uint64_t seed)
{
    memset(r, 0, sizeof *r);
    for (int lane = 0; lane < FK_RANDOM_BLOCK; lane++) {
        uint64_t a = fk_splitmix64(&seed), b = fk_splitmix64(&seed);
        r->state[0][lane] = (uint32_t)a;
        r->state[1][lane] = (uint32_t)(a >> 32);
        r->state[2][lane] = (uint32_t)b;
        r->state[3][lane] = (uint32_t)(b >> 32);
    }
    fk_random_set_rate(r, 0);
}

void fk_random_set_rate(fk_random *r, double rate)
{
    /* 1/log1p(-rate) is 0 at rate 1 and infinite where the gap could not be
     * counted; a scale beyond FLT_MAX only meets FK_GAP_MAX a little earlier. */
    double scale = rate > 0 ? -1 / log1p(-rate) : INFINITY;
    r->never = !isfinite(scale);
    r->scale = (float)fmin(scale, FLT_MAX);
    r->next = FK_RANDOM_BLOCK;
}

static inline float bits_to_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t float_to_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float neglog(uint32_t y)
{
    const float ln2 = 0.69314718f;
    uint32_t high = (uint32_t)((int32_t)y >> 31); /* all ones: u >= 1/2 */
    float z = (float)(int32_t)(y ^ high) + 0.5f;  /* distance to 0 or to 1, times 2^32 */
    uint32_t zb = float_to_bits(z);
    float m = bits_to_float((zb & 0x007FFFFFu) | 0x3F000000u); /* [1/2, 1) */
    float e = (float)(158 - (int32_t)(zb >> 23));               /* 32 - e of the header */
    float near = z * 0x1p-32f, far = 1.0f - m;
    float x = bits_to_float((float_to_bits(near) & high) | (float_to_bits(far) & ~high));
    float k = bits_to_float(float_to_bits(e) & ~high);
    /* By pairs, not by Horner: half the latency, so that several iterations overlap. */
    float x2 = x * x, x4 = x2 * x2;
    float front = (0.33342925f + 0.246803413f * x) + x2 * (0.240078959f - 0.0833071135f * x);
    float back = (0.983683995f - 1.36827187f * x) + x2 * 1.2811646f;
    return x + x2 * (0.5f + x * (front + x4 * back)) + k * ln2;
}

float fk_random_neglog(uint32_t y)
{
    return neglog(y);
}

/* One step of xoshiro128+ in every lane, then the gaps of those numbers. */
static inline __attribute__((always_inline)) void refill(fk_random *r)
{
    uint32_t *s0 = r->state[0], *s1 = r->state[1], *s2 = r->state[2], *s3 = r->state[3];
    float scale = r->scale;
    for (int i = 0; i < FK_RANDOM_BLOCK; i++) {
        uint32_t t = s1[i] << 9;
        uint32_t y = s0[i] + s3[i];
        s2[i] ^= s0[i];
        s3[i] ^= s1[i];
        s1[i] ^= s2[i];
        s0[i] ^= s3[i];
        s2[i] ^= t;
        s3[i] = (s3[i] << 11) | (s3[i] >> 21);
        r->gaps[i] = 1.0f + neglog(y) * scale;
    }
    r->next = 0;
}

FK_WIDE
static void refill_wide(fk_random *r)
{
    refill(r);
}

static void refill_narrow(fk_random *r)
{
    refill(r);
}

/* Chosen by the first who needs numbers. */
void fk_random_refill(fk_random *r)
{
    static void (*chosen)(fk_random *);
    void (*f)(fk_random *) = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (!f) {
        f = fk_has_wide() ? refill_wide : refill_narrow;
        __atomic_store_n(&chosen, f, __ATOMIC_RELAXED);
    }
    f(r);
}
