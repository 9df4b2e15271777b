/* test_random.c - the logarithm over all inputs, and the gaps' distribution.
 *
 *   test-memprof-random STRIDE DRAWS
 *
 * Statistics fail by chance with probability below 1e-9 each: Kolmogorov with
 * P(D sqrt(n) > 3.3) < 2 exp(-2 * 3.3^2) = 7e-10; the mean within 6.2 standard
 * errors (6e-10).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

static int failures;

static void check(int good, const char *what, double value, double limit)
{
    printf("%s: %.6g (limit %.6g)%s\n", what, value, limit, good ? "" : " FAIL");
    failures += !good;
}

static void logarithm(uint64_t stride)
{
    double worst = 0;
    float least = 1;
    for (uint64_t y = 0; y <= UINT32_MAX; y += (y < 70000 || y > UINT32_MAX - 70000) ? 1 : stride) {
        double exact = -log((y + 0.5) / 4294967296.0);
        float f = fk_random_neglog((uint32_t)y);
        worst = fmax(worst, fabs(f - exact) / exact);
        least = fminf(least, f);
    }
    check(worst < 4e-7, "relative error of the logarithm", worst, 4e-7);
    check(least > 0, "smallest value", least, 0);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* sup |F_n(g) - F(g)| over the values drawn: the distribution is discrete, so
 * the continuous bound is on the safe side. */
static double kolmogorov(int64_t *gaps, int n, double rate)
{
    double worst = 0;
    qsort(gaps, (size_t)n, sizeof *gaps, compare);
    for (int i = 0; i < n; i++)
        if (i == n - 1 || gaps[i + 1] != gaps[i])
            worst = fmax(worst, fabs((i + 1.0) / n + expm1((double)gaps[i] * log1p(-rate))));
    return worst;
}

static void distribution(fk_random *r, double rate, int n, int64_t *gaps)
{
    double sum = 0;
    fk_random_set_rate(r, rate);
    for (int i = 0; i < n; i++)
        sum += (double)(gaps[i] = fk_random_gap(r));
    double error = (sum / n * rate - 1) * sqrt(n / (1 - rate));
    printf("rate %g\n", rate);
    check(fabs(error) < 6.2, "  mean, in standard errors", error, 6.2);
    double d = kolmogorov(gaps, n, rate) * sqrt(n);
    check(d < 3.3, "  Kolmogorov distance times sqrt(n)", d, 3.3);
}

static void edges(fk_random *r)
{
    static const double rates[] = {1, 1 - 0x1p-53, 1e-300, 5e-324, 0};
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        fk_random_set_rate(r, rates[k]);
        for (int i = 0; i < 1000; i++) {
            int64_t g = fk_random_gap(r);
            if (g < 1 || g > FK_GAP_MAX || (rates[k] == 1 && g != 1))
                check(0, "gap in range", (double)g, rates[k]);
        }
    }
}

/* The stream is the same on every architecture: its sum is compared by lit. */
static void stream(void)
{
    fk_random r;
    uint64_t hash = 0;
    fk_random_seed(&r, 0x5eed);
    fk_random_set_rate(&r, 1e-4);
    for (int i = 0; i < 100000; i++)
        hash = hash * 0x100000001b3u + (uint64_t)fk_random_gap(&r);
    printf("stream %016" PRIx64 "\n", hash);
}

int main(int argc, char **argv)
{
    static const double rates[] = {0.9, 0.5, 0.42, 0.1, 1e-2, 1e-3, 1e-5};
    int n = argc > 2 ? atoi(argv[2]) : 1000000;
    int64_t *gaps = malloc((size_t)n * sizeof *gaps);
    fk_random r;
    logarithm(argc > 1 ? strtoull(argv[1], NULL, 0) : 97);
    fk_random_seed(&r, 1);
    for (size_t k = 0; gaps && k < sizeof rates / sizeof *rates; k++)
        distribution(&r, rates[k], n, gaps);
    edges(&r);
    stream();
    free(gaps);
    return failures != 0;
}
