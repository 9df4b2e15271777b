/* test_statistics.c - is every word sampled with the same probability?
 *
 *   test-memprof-statistics [SEED]
 *
 * The engine runs on a host that has a nursery and nothing else: when it is
 * full it is empty again. The seed decides everything, so a run is repeatable.
 * Two profiles sample at once, Gc.Memprof's and one with callbacks in C: each
 * is checked as if it were alone, and what they share against chance.
 *
 * False alarms. Each check fails by chance with probability below 1e-11 for a
 * random seed, and there are fewer than 100
 *              for each profile: below 1e-9 for a run.
 *   sums       |S - mean| <= 6.9 standard deviations, normal tail 5e-12; every
 *              sum has a mean of at least 10,000 and as many misses
 *   chi-square above k + 2 sqrt(k x) + 2x with probability e^-x at most
 *              (Laurent and Massart, Annals of Statistics 28, 2000), x = 26
 *   Kolmogorov sqrt(n) D > 3.7: 2 exp(-2 * 3.7^2) = 3e-12
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "record.h"

#define SIGMAS 6.9
#define CHI_X 26.0

enum { NURSERY = 1 << 16 };

struct fk_mp_host {
    uintptr_t space[NURSERY], *ptr, *trigger;
    fk_mp_domain *engine;
};

static fk_mp_host host;
static int failures, checks;
static uint64_t now = 1, word_takes; /* nanoseconds */

/* --- the host ------------------------------------------------------------------ */

fk_mp_young fk_host_young(fk_mp_host *h) { return (fk_mp_young){h->space, h->ptr}; }
void fk_host_set_young_ptr(fk_mp_host *h, uintptr_t *ptr) { h->ptr = ptr; }
uintptr_t *fk_host_sample_trigger(fk_mp_host *h) { return h->trigger; }
void fk_host_set_sample_trigger(fk_mp_host *h, uintptr_t *trigger) { h->trigger = trigger; }
void fk_host_store_sample_trigger(fk_mp_host *h, uintptr_t *trigger) { h->trigger = trigger; }
bool fk_host_is_young(fk_mp_value v) { return (uintptr_t *)v > host.space && (uintptr_t *)v < host.space + NURSERY; }
bool fk_host_is_unmarked(fk_mp_value v) { return !v; }
bool fk_host_in_compiled_code(fk_mp_host *h) { return !h; }
fk_mp_value fk_host_tracker(fk_mp_value tracker, int n) { return tracker + n; }
bool fk_host_option(fk_mp_value option, fk_mp_value *some) { return option && some && false; }
void fk_host_set_pending(fk_mp_host *h) { (void)h; }
fk_mp_result fk_host_call(fk_mp_value f, fk_mp_value v) { (void)f; return (fk_mp_result){false, v}; }
uint64_t fk_host_now(void) { return now; }
bool fk_host_frame(fk_mp_slot s, void **cursor, fk_mp_frame *out) { return s && cursor && out && false; }

size_t fk_host_callstack(fk_mp_host *h, size_t limit, ptrdiff_t alloc_index, const fk_mp_slot **slots)
{
    static fk_mp_slot slot;
    (void)h;
    slot = alloc_index;
    *slots = &slot;
    return limit < 1 ? limit : 1;
}

fk_mp_fate fk_host_minor_fate(fk_mp_host *h, fk_mp_value v, bool final, fk_mp_value *moved)
{
    (void)h, (void)v, (void)final, (void)moved;
    return FK_MP_DIED;
}

static void collect(void)
{
    fk_mp_after_minor(host.engine);
    host.ptr = host.space + NURSERY;
    fk_mp_set_trigger(host.engine, false);
}

void fk_host_make_room(fk_mp_host *h, size_t words)
{
    if (h->ptr < h->space + words)
        collect();
}

/* --- checks ----------------------------------------------------------------------- */

static void check(bool good, const char *what, double rate, double size, double value, double limit)
{
    checks++;
    if (!good)
        printf("FAIL %s, rate %g, size %g: %g (limit %g)\n", what, rate, size, value, limit);
    failures += !good;
}

static void check_sum(const char *what, double rate, double size, double sum, double mean, double variance)
{
    double z = (sum - mean) / sqrt(variance);
    check(fabs(z) <= SIGMAS, what, rate, size, z, SIGMAS);
}

static void check_chi(const char *what, double rate, const double *seen, const double *expected, int n)
{
    double chi = 0, k = n - 1;
    for (int i = 0; i < n; i++)
        chi += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    double limit = k + 2 * sqrt(k * CHI_X) + 2 * CHI_X;
    check(chi <= limit, what, rate, n, chi, limit);
}

/* --- what the callbacks saw --------------------------------------------------------- */

enum { BLOCKS = 8, COUNTS = 32 };
typedef struct {
    double samples, tracked, by_block[BLOCKS], by_count[COUNTS], last_request;
    size_t last_wosize, last_samples;
} view;
static view views[2]; /* Gc.Memprof's, the other's */
static double requests, shared; /* blocks that both saw */
static fk_mp_profile *profiles[2];

static void see(view *v, const fk_mp_allocation *a)
{
    v->samples += (double)a->samples;
    v->tracked++;
    if (a->depth && a->slots[0] >= 0 && a->slots[0] < BLOCKS)
        v->by_block[a->slots[0]] += (double)a->samples;
    if (a->samples < COUNTS)
        v->by_count[a->samples]++;
    v->last_wosize = a->wosize;
    v->last_samples = a->samples;
    v->last_request = requests;
    shared += views[0].last_request == views[1].last_request;
}

fk_mp_result fk_host_call_alloc(fk_mp_value f, const fk_mp_allocation *a)
{
    (void)f;
    see(&views[0], a);
    return (fk_mp_result){false, FK_MP_UNIT};
}

static bool on_alloc(void *arg, const fk_mp_allocation *a, bool major, fk_mp_value *datum)
{
    (void)major, (void)datum;
    see(arg, a);
    return false;
}
static bool on_promote(void *arg, fk_mp_value *datum) { return arg && datum; }
static void on_dealloc(void *arg, fk_mp_value datum, bool major) { (void)arg, (void)datum, (void)major; }
static const fk_mp_hooks hooks = {on_alloc, on_promote, on_dealloc, &views[1]};

static void begin(double rate, int64_t depth)
{
    memset(views, 0, sizeof views);
    requests = shared = 0;
    views[0].last_request = -1;
    views[1].last_request = -2;
    profiles[1] = fk_mp_profile_new(rate, (size_t)depth, &hooks);
    if (!profiles[1] || fk_mp_attach(host.engine, profiles[1]) != FK_MP_OK ||
        fk_mp_start(host.engine, rate, depth, FK_MP_UNIT, &profiles[0]) != FK_MP_OK)
        exit(2);
}

static void end(void)
{
    for (int i = 0; i < 2; i++) {
        fk_mp_profile_move(profiles[i], FK_MP_SAMPLING, FK_MP_STOPPED);
        fk_mp_discard(profiles[i]);
        fk_mp_profile_unref(profiles[i]);
    }
}

/* --- allocation ------------------------------------------------------------------------ */

/* `n` requests of `words` words each, as compiled code makes them. Those that
 * stay above the trigger do nothing, so they are skipped in one go. */
static void compiled(double n, size_t words, size_t num_lens, const unsigned char *lens)
{
    while (n > 0) {
        uintptr_t *stop = host.trigger > host.space ? host.trigger : host.space;
        double skip = floor((double)(host.ptr - stop) / (double)words);
        skip = skip < n ? skip : n;
        host.ptr -= (size_t)skip * words;
        n -= skip;
        requests += skip + (n > 0);
        now += (uint64_t)((skip + (n > 0)) * (double)words) * word_takes;
        if (n <= 0)
            return;
        n--;
        if (host.ptr < host.space + words)
            collect();
        host.ptr -= words;
        if (host.ptr < host.trigger)
            fk_mp_sample_young(host.engine, words, num_lens, lens);
    }
}

static void from_c(double n, size_t wosize)
{
    for (; n > 0; n--, requests++) {
        if (host.ptr < host.space + wosize + 1)
            collect();
        host.ptr -= wosize + 1;
        if (host.ptr < host.trigger)
            fk_mp_sample_young_c(host.engine, wosize);
        fk_mp_run_callbacks(host.engine);
    }
}

static void large(double n, size_t words, int source)
{
    static uintptr_t somewhere[2];
    for (; n > 0; n--, requests++) {
        fk_mp_sample_block(host.engine, (fk_mp_value)&somewhere[1], words, words, source);
        fk_mp_run_callbacks(host.engine);
    }
}

/* --- tests -------------------------------------------------------------------------------- */

static const double rates[] = {1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.42, 0.9};
enum { RATES = sizeof rates / sizeof *rates };

/* Enough words that hits and misses are 10,000 and more. */
static double enough(double rate, double size)
{
    double words = 20000 / (rate < 0.5 ? rate : 1 - rate);
    double least = size * rate > 0.5 && size * rate < 3 ? 40000 : 2000; /* so that many are seen by both */
    return fmax(ceil(words / size), least);
}

typedef void (*way)(double n, size_t words);
static void by_compiled(double n, size_t words) { compiled(n, words, 1, NULL); }
static void by_c(double n, size_t words) { from_c(n, words - 1); }
static void by_major(double n, size_t words) { large(n, words, 0); }

/* Sampled words, and blocks that are sampled at all, of n equal blocks. */
static void sums(const char *what, way allocate, double rate, size_t words)
{
    double n = enough(rate, (double)words), all = n * (double)words;
    begin(rate, 0);
    allocate(n, words);
    /* A block counts when a word of it is hit; the recorder's weight is the inverse. */
    double hit = -expm1((double)words * log1p(-rate)), misses = n * (1 - hit);
    for (int i = 0; i < 2; i++) {
        check_sum(what, rate, (double)words, views[i].samples, all * rate, all * rate * (1 - rate));
        if (n * hit >= 10000 && misses >= 10000)
            check_sum("blocks, estimated", rate, (double)words, views[i].tracked / hit, n, n * (1 - hit) / hit);
    }
    if (n * hit * hit >= 10000 && misses >= 10000)
        check_sum("blocks of both", rate, (double)words, shared, n * hit * hit, n * hit * hit * (1 - hit * hit));
    end();
}

static void sizes(void)
{
    for (int i = 0; i < RATES; i++) {
        double near = 1 / rates[i];
        sums("compiled code", by_compiled, rates[i], 2);
        sums("compiled code", by_compiled, rates[i], near < 257 ? (size_t)near + 1 : 257);
        sums("compiled code", by_compiled, rates[i], 257);
        if (rates[i] >= 1e-3)
            sums("from C", by_c, rates[i], 3);
        sums("major heap", by_major, rates[i], (size_t)near + 1);
        sums("major heap", by_major, rates[i], near < 100 ? 300 : (size_t)(near / 20));
        sums("major heap", by_major, rates[i], (size_t)(20 * near));
    }
}

/* Samples per block of a combined allocation are in proportion to its words. */
static void positions(void)
{
    static const unsigned char lens[BLOCKS] = {0, 2, 6, 1, 9, 0, 4, 30};
    double words = 0, expected[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        words += lens[i] + 2;
    for (int i = 0; i < RATES; i++) {
        begin(rates[i], 1);
        double n = ceil(400000 / rates[i] / words);
        compiled(n, (size_t)words, BLOCKS, lens);
        for (int v = 0; v < 2; v++) {
            for (int k = 0; k < BLOCKS; k++)
                expected[k] = views[v].samples * (lens[k] + 2) / words;
            check_chi("position in a combined allocation", rates[i], views[v].by_block, expected, BLOCKS);
        }
        end();
    }
}

/* The number of samples in a block of 8 words is binomial. */
static void binomial(view *v, double n, double p)
{
    enum { WORDS = 8 };
    double expected[WORDS + 1], seen[WORDS + 1], choose = 1;
    int m = 0;
    v->by_count[0] = n - v->tracked;
    for (int k = 0; k <= WORDS; choose = choose * (WORDS - k) / (k + 1), k++) {
        double e = n * choose * pow(p, k) * pow(1 - p, WORDS - k);
        bool merge = m > 0 && (expected[m - 1] < 1000 || e < 1000);
        m -= merge;
        expected[m] = e + (merge ? expected[m] : 0);
        seen[m] = v->by_count[k] + (merge ? seen[m] : 0);
        m++;
    }
    check_chi("samples per block", p, seen, expected, m);
}

static void counts(void)
{
    for (int i = 3; i < RATES; i++) {
        double n = ceil(2e6 / rates[i] / 8);
        begin(rates[i], 0);
        compiled(n, 8, 1, NULL);
        binomial(&views[0], n, rates[i]);
        binomial(&views[1], n, rates[i]);
        end();
    }
}

/* --- a limit of samples a second ----------------------------------------------------------- */

static struct {
    double reports, words, variance, weight; /* weight: the largest of a sample */
} limited;

static bool on_limited(void *arg, const fk_mp_allocation *a, bool major, fk_mp_value *datum)
{
    (void)arg, (void)major, (void)datum;
    limited.reports++;
    limited.words += (double)a->samples / a->rate;
    limited.variance += (double)a->samples / a->rate / a->rate;
    limited.weight = fmax(limited.weight, 1 / a->rate);
    return false;
}
static const fk_mp_hooks limited_hooks = {on_limited, on_promote, on_dealloc, NULL};

/* `seconds` of a program that takes `nanoseconds` for a word. */
static void phase(fk_mp_profile *p, double per_second, double seconds, uint64_t nanoseconds, bool below)
{
    double n = ceil(seconds * 1e9 / (double)nanoseconds / 3), before = limited.reports, start = (double)now;
    word_takes = nanoseconds;
    compiled(n, 3, 1, NULL);
    double took = ((double)now - start) / 1e9, most = per_second * (took + 0.1) + FK_MP_MAX_LEVEL + 8;
    double reports = limited.reports - before;
    check(reports <= most, "samples a second", p->rate, per_second, reports, most);
    if (below) /* the rate is what was asked for again */
        check(fk_mp_limit_level(&p->limit) == 0, "level at the end", p->rate, per_second, fk_mp_limit_level(&p->limit), 0);
    else
        check(reports >= per_second * took / 3, "the limit is made use of", p->rate, per_second, reports, per_second * took / 3);
}

/* The estimate is a martingale of steps below `weight`: Freedman's inequality
 * (Annals of Probability 3, 1975) instead of the normal tail. */
static void limit(double rate, double per_second)
{
    memset(&limited, 0, sizeof limited);
    fk_mp_profile *p = fk_mp_profile_new(rate, 0, &limited_hooks);
    fk_mp_limit_init(&p->limit, per_second);
    if (fk_mp_attach(host.engine, p) != FK_MP_OK)
        exit(2);
    fk_mp_set_trigger(host.engine, false);
    requests = 0;
    phase(p, per_second, 3, 2, false);
    phase(p, per_second, 300, (uint64_t)(4e9 * rate / per_second) + 1, true);
    phase(p, per_second, 2, 1, false);
    double off = fabs(limited.words - 3 * requests), v = limited.variance;
    check(2 * exp(-off * off / (2 * (v + limited.weight * off / 3))) > 1e-11, "words, estimated under a limit", rate,
          per_second, off / sqrt(v), SIGMAS);
    fk_mp_profile_move(p, FK_MP_SAMPLING, FK_MP_STOPPED);
    fk_mp_profile_unref(p);
    word_takes = 0;
}

static void check_whole(const char *what, size_t wosize)
{
    for (int i = 0; i < 2; i++)
        check(views[i].last_wosize == wosize && views[i].last_samples == wosize + 1, what, 1, (double)wosize,
              views[i].samples, 0);
}

/* At rate 1 every word of every kind of allocation is sampled exactly once. */
static void everything(void)
{
    begin(1, 0);
    double words = 0;
    for (size_t wosize = 1; wosize <= 256; wosize++) {
        from_c(1, wosize);
        check_whole("rate 1, C", wosize);
        compiled(1, wosize + 1, 1, NULL);
        check_whole("rate 1, compiled", wosize);
        large(1, wosize + 300, 0);
        large(1, wosize, 2);
        words += 2 * (double)(wosize + 1) + 300 + 2 * (double)wosize;
    }
    for (int i = 0; i < 2; i++)
        check(views[i].samples == words, "rate 1, all words", 1, words, views[i].samples, words);
    end();
}

/* --- gaps ------------------------------------------------------------------------------------ */

enum { CLASSES = 64, GAPS = 2000000 };

/* Class of a gap: equal shares of the geometric distribution, as far as single
 * values allow; `edge` holds the first gap of each class. */
static int class_edges(double rate, int64_t *edge, double *share)
{
    int n = 0;
    int64_t g = 1;
    while (n < CLASSES) {
        double target = (double)(n + 1) / CLASSES;
        int64_t next = (int64_t)ceil(log1p(-(target < 1 ? target : 0.999999999)) / log1p(-rate)) + 1;
        if (next <= g)
            next = g + 1;
        edge[n] = g;
        double below = -expm1((double)(g - 1) * log1p(-rate)), above = -expm1((double)(next - 1) * log1p(-rate));
        share[n] = above - below;
        if (1 - above < 1e-3 || n == CLASSES - 1) {
            share[n] = 1 - below; /* the tail */
            return n + 1;
        }
        g = next;
        n++;
    }
    return n;
}

static void gap_classes(fk_random *r, double rate)
{
    static double previous, product;
    int64_t edge[CLASSES];
    double share[CLASSES], seen[CLASSES] = {0}, expected[CLASSES], mean = 1 / rate, variance = (1 - rate) / rate / rate;
    int n = class_edges(rate, edge, share);
    product = previous = 0;
    for (int i = 0; i < GAPS; i++) {
        int64_t g = fk_random_gap(r);
        int low = 0, high = n - 1;
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (edge[middle] <= g)
                low = middle;
            else
                high = middle - 1;
        }
        seen[low]++;
        product += previous * ((double)g - mean);
        previous = (double)g - mean;
    }
    for (int i = 0; i < n; i++)
        expected[i] = share[i] * GAPS;
    if (n > 1)
        check_chi("gaps", rate, seen, expected, n);
    double rho = product / GAPS / variance;
    check(fabs(rho) <= SIGMAS / sqrt(GAPS), "correlation of a gap with the next", rate, 1, rho, SIGMAS / sqrt(GAPS));
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* sup |F_n - F|; the distribution is discrete, so the bound for continuous ones is safe. */
static void kolmogorov(fk_random *r, double rate)
{
    static int64_t gaps[GAPS / 10];
    enum { N = GAPS / 10 };
    double worst = 0;
    for (int i = 0; i < N; i++)
        gaps[i] = fk_random_gap(r);
    qsort(gaps, N, sizeof *gaps, compare);
    for (int i = 0; i < N; i++)
        if (i == N - 1 || gaps[i + 1] != gaps[i])
            worst = fmax(worst, fabs((i + 1.0) / N + expm1((double)gaps[i] * log1p(-rate))));
    check(worst * sqrt(N) <= 3.7, "Kolmogorov distance of gaps", rate, 0, worst * sqrt(N), 3.7);
}

static void gaps(uint64_t seed)
{
    fk_random r;
    fk_random_seed(&r, seed);
    for (int i = 0; i < RATES; i++) {
        fk_random_set_rate(&r, rates[i]);
        gap_classes(&r, rates[i]);
        kolmogorov(&r, rates[i]);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    host.ptr = host.space + NURSERY;
    host.trigger = host.space;
    host.engine = fk_mp_domain_new(&host, NULL, seed);
    if (!host.engine)
        return 2;
    gaps(seed);
    everything();
    int exact = checks;
    sizes();
    positions();
    counts();
    limit(0.1, 1000);
    limit(0.001, 300);
    limit(1, 2e5);
    fk_mp_domain_delete(host.engine);
    printf("seed %" PRIu64 ": %d checks, %d of sums and shapes, %d failures\n", seed, checks, checks - exact, failures);
    return failures != 0;
}
