/* histogram.c - see histogram.h. */
#include "frametable/ftdump/histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 16 }; /* as many different values are shown one by one */

void ft_histogram_add(ft_histogram *h, uint64_t v)
{
    ft_cell *c = ft_set_cell(&h->values, v + 1);
    if (c == NULL)
        return;
    c->count++;
    if (h->n++ == 0)
        h->least = h->most = v;
    h->least = v < h->least ? v : h->least;
    h->most = v > h->most ? v : h->most;
    h->sum += (double)v;
}

static int by_low(const void *a, const void *b)
{
    const ft_bucket *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

static unsigned log2_of(uint64_t v)
{
    return v == 0 ? 0 : 63 - (unsigned)__builtin_clzll(v);
}

/* Bucket k > 0 holds 2^(k-1) .. 2^k - 1; bucket 0 holds 0. */
static size_t powers(const ft_histogram *h, ft_bucket out[FT_MAX_BUCKETS])
{
    ft_bucket all[65];
    size_t n = 0;
    memset(all, 0, sizeof all);
    for (size_t i = 0; i < h->values.capacity; i++) {
        const ft_cell *c = &h->values.cells[i];
        uint64_t v = c->key - 1;
        if (c->key != 0)
            all[v == 0 ? 0 : 1 + log2_of(v)].count += c->count;
    }
    for (unsigned k = 0; k <= 64; k++) {
        all[k].low = k == 0 ? 0 : (uint64_t)1 << (k - 1);
        all[k].high = k == 0 ? 0 : all[k].low + (all[k].low - 1);
        if (all[k].low <= h->most && all[k].high >= h->least)
            out[n++] = all[k];
    }
    return n;
}

size_t ft_histogram_buckets(const ft_histogram *h, ft_bucket out[FT_MAX_BUCKETS])
{
    size_t n = 0;
    if (h->values.used > EXACT)
        return powers(h, out);
    for (size_t i = 0; i < h->values.capacity; i++)
        if (h->values.cells[i].key != 0) {
            uint64_t v = h->values.cells[i].key - 1;
            out[n++] = (ft_bucket){v, v, h->values.cells[i].count};
        }
    if (n > 0)
        qsort(out, n, sizeof *out, by_low);
    return n;
}

static int cell_by_key(const void *a, const void *b)
{
    const ft_cell *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

uint64_t ft_histogram_median(const ft_histogram *h)
{
    ft_cell *cells = malloc((h->values.capacity + 1) * sizeof *cells);
    uint64_t seen = 0, median = 0;
    if (cells == NULL || h->n == 0) {
        free(cells);
        return 0;
    }
    memcpy(cells, h->values.cells, h->values.capacity * sizeof *cells);
    qsort(cells, h->values.capacity, sizeof *cells, cell_by_key);
    for (size_t i = 0; i < h->values.capacity && 2 * seen < h->n; i++) {
        seen += cells[i].count;
        median = cells[i].key - 1;
    }
    free(cells);
    return median;
}

/* --- styles ---------------------------------------------------------------------- */

static void text_bucket(ft_out *o, const ft_bucket *b, uint64_t n, uint64_t most)
{
    enum { BAR = 40 };
    char range[48];
    if (b->low == b->high)
        snprintf(range, sizeof range, "%llu", (unsigned long long)b->low);
    else
        snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)b->low,
                 (unsigned long long)b->high);
    ft_printf(o, "  %21s %10llu  %6.2f %%", range, (unsigned long long)b->count,
              100.0 * (double)b->count / (double)n);
    size_t bar = (size_t)((double)b->count * BAR / (double)most + 0.5);
    if (bar > 0)
        ft_puts(o, "  ");
    ft_pad(o, bar, '#');
    ft_putc(o, '\n');
}

void ft_histogram_text(ft_out *o, const ft_histogram *h)
{
    ft_bucket b[FT_MAX_BUCKETS];
    uint64_t most = 1;
    size_t n = ft_histogram_buckets(h, b);
    ft_putc(o, '\n');
    ft_puts_color(o, FT_BOLD, h->title);
    if (h->n == 0) {
        ft_puts(o, ": none\n");
        return;
    }
    ft_printf(o, ": %llu, least %llu, median %llu, mean %.2f, most %llu\n",
              (unsigned long long)h->n, (unsigned long long)h->least,
              (unsigned long long)ft_histogram_median(h), h->sum / (double)h->n,
              (unsigned long long)h->most);
    for (size_t i = 0; i < n; i++)
        most = b[i].count > most ? b[i].count : most;
    for (size_t i = 0; i < n; i++)
        text_bucket(o, &b[i], h->n, most);
}

void ft_histogram_csv(ft_run *run, const char *path, const ft_histogram *h)
{
    ft_bucket b[FT_MAX_BUCKETS];
    size_t n = ft_histogram_buckets(h, b);
    for (size_t i = 0; i < n; i++) {
        ft_csv_text(&run->out, path);
        ft_printf(&run->out, ",%s,%llu,%llu,%llu\n", h->key, (unsigned long long)b[i].low,
                  (unsigned long long)b[i].high, (unsigned long long)b[i].count);
    }
}

json_t *ft_histogram_json(const ft_histogram *h)
{
    ft_bucket b[FT_MAX_BUCKETS];
    size_t n = ft_histogram_buckets(h, b);
    json_t *o = json_object(), *a = json_array();
    json_object_set_new(o, "count", json_integer((json_int_t)h->n));
    if (h->n > 0) {
        json_object_set_new(o, "least", json_integer((json_int_t)h->least));
        json_object_set_new(o, "median", json_integer((json_int_t)ft_histogram_median(h)));
        json_object_set_new(o, "mean", json_real(h->sum / (double)h->n));
        json_object_set_new(o, "most", json_integer((json_int_t)h->most));
    }
    for (size_t i = 0; i < n; i++) {
        json_t *e = json_object();
        json_object_set_new(e, "low", json_integer((json_int_t)b[i].low));
        json_object_set_new(e, "high", json_integer((json_int_t)b[i].high));
        json_object_set_new(e, "count", json_integer((json_int_t)b[i].count));
        json_array_append_new(a, e);
    }
    json_object_set_new(o, "buckets", a);
    return o;
}
