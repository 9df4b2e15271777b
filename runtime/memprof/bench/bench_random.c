/* bench_random.c - nanoseconds per gap: blocks of 64, against one at a time with
 * the same generator and the same logarithm. CPU time of many short rounds, the best
 * tenth of them: a neighbour on the same core doubles it, and on a busy machine the
 * clock now and then gives a round half of its time.
 * Exit code: how many figures miss their limit (0.8 ns; 3 times); there is none without AVX2. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/memprof/random.h"
#include "runtime/memprof/vector.h"

enum { GAPS = 1 << 14, ROUNDS = 20000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int64_t by_block(fk_random *r)
{
    for (int i = 0; i < GAPS / FK_RANDOM_BLOCK; i++)
        fk_random_refill(r);
    return r->gaps[0] > 0;
}

static int64_t one_at_a_time(fk_random *r)
{
    uint32_t s0 = r->state[0][0], s1 = r->state[1][0], s2 = r->state[2][0], s3 = r->state[3][0];
    for (int i = 0; i < GAPS; i++) {
        uint32_t t = s1 << 9, y = s0 + s3;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= t;
        s3 = (s3 << 11) | (s3 >> 21);
        r->gaps[i % FK_RANDOM_BLOCK] = 1.0f + fk_random_neglog(y) * r->scale;
    }
    return r->gaps[0] > 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double best_tenth(int64_t (*f)(fk_random *), int rounds, fk_random *r, int64_t *sum)
{
    static double times[ROUNDS];
    for (int i = 0; i < rounds; i++) {
        double t = now();
        *sum += f(r);
        times[i] = now() - t;
    }
    qsort(times, (size_t)rounds, sizeof *times, compare);
    return times[rounds / 10] / GAPS;
}

int main(void)
{
    fk_random r;
    int64_t sum = 0;
    fk_random_seed(&r, 1);
    fk_random_set_rate(&r, 1e-4);
    double block = best_tenth(by_block, ROUNDS, &r, &sum);
    double scalar = best_tenth(one_at_a_time, ROUNDS / 10, &r, &sum);
    printf("a gap: %.3f ns by blocks, %.3f ns one at a time, %.2f times (sum %d)\n", block, scalar,
           scalar / block, sum > 0);
    return fk_has_wide() ? (block > 0.8) + (scalar / block < 3) : 0;
}
