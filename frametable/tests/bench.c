/* bench.c - nanoseconds per descriptor: decode, index build, look-up.
 *
 *   frametable-bench FILE...       of real files
 *   frametable-bench --synthetic   of files from the encoder: 10 thousand to 10 million descriptors
 *
 * CPU time of this thread, the best of several rounds: what others do on the machine must not
 * count. Look-ups decode the descriptor, and are in the order of the tables, as a scan of a stack
 * meets neighbours; shuffled, where each one misses every cache as soon as the file is larger than
 * they are (a line of the directory, an entry and the descriptor: three waits, one after another);
 * and shuffled through fk_index_find_many, where the waits of a batch overlap.
 *
 * One wait is measured beside them: a walk from line to line through an array as large as what
 * look-ups read, in random order, each line naming the next. What a shuffled look-up takes of the
 * machine is said in such waits: less than three, since those of neighbouring look-ups overlap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frametable/memory.h"
#include "frametable/tests/elf_make.h"
#include "frametable/tests/random_table.h"

#define PER_TABLE 10000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const fk_error *err)
{
    char text[700];
    fk_error_format(err, text, sizeof text);
    fprintf(stderr, "frametable-bench: %s\n", text);
    exit(1);
}

static volatile uint64_t sink;

/* --- one round of each, in ns for the whole image ------------------------------------------ */

static uint64_t walk(const fk_image *im, uint64_t *retaddrs)
{
    const fk_table *t;
    uint64_t n = 0, sum = 0;
    for (size_t i = 0; (t = fk_image_table(im, i)); i++) {
        fk_cursor c;
        fk_descr d;
        fk_cursor_start(t, &c);
        while (fk_cursor_next(&c, &d, NULL) == FK_OK) {
            sum += d.frame_size;
            if (retaddrs)
                retaddrs[n] = d.retaddr;
            n++;
        }
    }
    sink += sum;
    return n;
}

static double time_decode(const fk_image *im)
{
    double start = now();
    walk(im, NULL);
    return now() - start;
}

static double time_build(const fk_image *im, fk_index **out)
{
    fk_error err;
    double start = now();
    if (fk_index_build(im, out, NULL, &err))
        die(&err);
    return now() - start;
}

static double time_lookup(const fk_index *ix, const uint64_t *retaddrs, uint64_t n)
{
    uint64_t sum = 0;
    fk_descr d;
    double start = now();
    for (uint64_t i = 0; i < n; i++) {
        if (fk_index_lookup(ix, retaddrs[i], &d) == FK_OK)
            sum += d.frame_size;
    }
    sink += sum;
    return now() - start;
}

/* A stack's worth at a time. */
#define MANY 256

static double time_many(const fk_index *ix, const uint64_t *retaddrs, uint64_t n)
{
    static fk_descr d[MANY];
    uint64_t sum = 0;
    double start = now();
    for (uint64_t i = 0; i < n; i += MANY) {
        uint64_t k = n - i < MANY ? n - i : MANY;
        if (fk_index_find_many(ix, retaddrs + i, k, d) != k)
            abort();
        for (uint64_t j = 0; j < k; j++)
            sum += d[j].frame_size;
    }
    sink += sum;
    return now() - start;
}

static uint64_t below(rng *r, uint64_t n)
{
    return ((uint64_t)rng_next(r) << 31 ^ rng_next(r)) % n;
}

static void shuffle(uint64_t *a, uint64_t n)
{
    rng r = {1};
    for (uint64_t i = n; i > 1; i--) {
        uint64_t k = below(&r, i), x = a[i - 1];
        a[i - 1] = a[k];
        a[k] = x;
    }
}

/* --- what one wait for memory takes here ----------------------------------------------------- */

/* Bytes to an entry of the index and its share of the directory, at least. */
#define INDEX_BYTES 10
#define STEPS 1000000

typedef struct {
    uint64_t next;
    char rest[56];
} line;

static uint64_t bytes_read(const fk_image *im)
{
    const fk_table *t;
    uint64_t bytes = 0;
    for (size_t i = 0; (t = fk_image_table(im, i)); i++) {
        fk_cursor c;
        fk_descr d;
        fk_cursor_start(t, &c);
        while (fk_cursor_next(&c, &d, NULL) == FK_OK)
            bytes += d.size + INDEX_BYTES;
    }
    return bytes;
}

/* One cycle through all lines (Sattolo); NULL: no memory. */
static line *make_chase(uint64_t n)
{
    rng r = {2};
    line *a = fk_populate(malloc(n * sizeof *a), n * sizeof *a);
    for (uint64_t i = 0; a && i < n; i++)
        a[i].next = i;
    for (uint64_t i = n; a && i > 1; i--) {
        uint64_t k = below(&r, i - 1), x = a[i - 1].next;
        a[i - 1].next = a[k].next;
        a[k].next = x;
    }
    return a;
}

static double time_chase(const line *a)
{
    uint64_t at = 0;
    double start = now();
    for (int i = 0; i < STEPS; i++)
        at = a[at].next;
    sink += at;
    return now() - start;
}

/* --- the best of several -------------------------------------------------------------------- */

typedef struct {
    double decode, build, ordered, shuffled, many, wait;
} figures;

static void keep(double *best, double ns, uint64_t n)
{
    if (*best == 0 || ns / (double)n < *best)
        *best = ns / (double)n;
}

static void round_of(const fk_image *im, uint64_t *retaddrs, uint64_t n, const line *chase,
                     figures *best)
{
    fk_index *ix;
    walk(im, retaddrs);
    keep(&best->decode, time_decode(im), n);
    keep(&best->build, time_build(im, &ix), n);
    keep(&best->ordered, time_lookup(ix, retaddrs, n), n);
    shuffle(retaddrs, n);
    keep(&best->shuffled, time_lookup(ix, retaddrs, n), n);
    keep(&best->many, time_many(ix, retaddrs, n), n);
    keep(&best->wait, time_chase(chase), STEPS);
    fk_index_free(ix);
}

static void print(const char *name, uint64_t n, const figures *f)
{
    printf("%-22s %9llu %7.1f %9.0f %7.1f %8.1f %9.1f %7.1f %7.1f %7.2f\n", name,
           (unsigned long long)n, f->decode, 1000 / f->decode, f->build, f->ordered, f->shuffled,
           f->many, f->wait, f->shuffled / f->wait);
    fflush(stdout);
}

static figures measure(const fk_image *im, const char *name)
{
    figures best = {0};
    uint64_t n = walk(im, NULL);
    uint64_t *retaddrs = malloc((n + 1) * sizeof *retaddrs);
    line *chase = make_chase(bytes_read(im) / sizeof *chase + 1);
    int rounds = n > 1000000 ? 3 : 40;
    for (int i = 0; n && retaddrs && chase && i < rounds; i++)
        round_of(im, retaddrs, n, chase, &best);
    free(chase);
    free(retaddrs);
    print(name, n, &best);
    return best;
}

static void measure_file(const char *path)
{
    fk_image *im;
    fk_error err;
    const char *slash = strrchr(path, '/');
    double start = now();
    if (fk_image_open(path, NULL, &im, &err))
        die(&err);
    double opened = now() - start;
    measure(im, slash ? slash + 1 : path);
    printf("  opened and checked in %.1f ms\n", opened / 1e6);
    fk_image_close(im);
}

/* --- synthetic files ------------------------------------------------------------------- */

/* Like those of real compilers: 24 to 40 bytes, a third allocates, falling addresses. */
static fk_result add(fk_builder *b, rng *r, uint64_t i, fk_error *err)
{
    static const fk_loc loc = {.file = "a.ml", .defname = "A.f", .line = 12, .end_line = 12,
                               .start_char = 2, .end_char = 9, .end_offset = 9};
    static const fk_loc *const chains[] = {&loc, &loc};
    static const uint32_t lengths[] = {1, 1};
    static const uint16_t wosize[] = {2, 3};
    fk_live live[4];
    uint32_t n = rng_below(r, 5), kind = rng_below(r, 3);
    for (uint32_t k = 0; k < n; k++)
        live[k] = (fk_live){.offset = (int32_t)k * 8, .reg = -1};
    fk_descr_in d = {.retaddr = ELF_TEXT + 8 + i * 24 + rng_below(r, 16), .frame_size = 48,
                     .flags = kind == 0 ? 3 : 1, .num_live = n, .live = live,
                     .num_allocs = kind == 0 ? 2 : 0, .wosize = wosize,
                     .num_debug = kind == 0 ? 2 : 1, .chain = chains, .chain_length = lengths};
    return fk_builder_add(b, &d, err);
}

static void make_part(elf_part *part, uint64_t number, uint64_t address)
{
    fk_builder *b;
    fk_error err;
    rng r = {number + 1};
    fk_result res = fk_builder_new(FK_GEN_C, fk_abi_by_name("amd64"), &b, &err);
    for (uint64_t i = PER_TABLE; i > 0 && !res; i--)
        res = add(b, &r, number * PER_TABLE + i - 1, &err);
    uint8_t *bytes;
    if (!res)
        res = fk_builder_bytes(b, address, &bytes, &part->size, &err);
    if (res)
        die(&err);
    part->bytes = bytes;
    fk_builder_free(b);
}

static uint8_t *make_file(uint64_t n, size_t *size)
{
    size_t tables = n / PER_TABLE;
    elf_part *parts = calloc(tables, sizeof *parts);
    char (*names)[40] = calloc(tables, sizeof *names);
    uint64_t at = ELF_DATA;
    for (size_t i = 0; i < tables; i++) {
        make_part(&parts[i], i, at);
        snprintf(names[i], sizeof names[i], "camlM%zu.frametable", i);
        parts[i].symbol = names[i];
        at += (parts[i].size + 7) & ~(size_t)7;
    }
    uint8_t *file = elf_make(fk_abi_by_name("amd64"), parts, tables, n * 24 + 64, size);
    for (size_t i = 0; i < tables; i++)
        free((void *)parts[i].bytes);
    free(parts);
    free(names);
    return file;
}

static figures measure_synthetic(uint64_t n)
{
    char name[40];
    size_t size;
    fk_image *im;
    fk_error err;
    uint8_t *file = make_file(n, &size);
    if (!file || fk_image_open_memory("synthetic", file, size, NULL, &im, &err))
        die(&err);
    free(file);
    snprintf(name, sizeof name, "synthetic, %zu MB", size >> 20);
    figures f = measure(im, name);
    fk_image_close(im);
    return f;
}

static void measure_growth(void)
{
    figures first = {0}, last = {0};
    for (uint64_t n = 10000; n <= 10000000; n *= 10) {
        last = measure_synthetic(n);
        if (n == 100000)
            first = last;
    }
    printf("10 million against 100 thousand, per descriptor: decode %.2fx build %.2fx "
           "look-up %.2fx shuffled %.2fx, many at once %.2fx; one wait %.2fx\n",
           last.decode / first.decode, last.build / first.build, last.ordered / first.ordered,
           last.shuffled / first.shuffled, last.many / first.many, last.wait / first.wait);
}

int main(int argc, char **argv)
{
    printf("%-22s %9s %7s %9s %7s %8s %9s %7s %7s %7s\n", "file", "descr", "decode", "million/s",
           "build", "look-up", "shuffled", "many", "wait", "waits");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--synthetic") == 0)
            measure_growth();
        else
            measure_file(argv[i]);
    }
    return 0;
}
