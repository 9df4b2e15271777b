/* histogram.h - counts of values, shown in at most about 30 rows. */
#ifndef FT_HISTOGRAM_H
#define FT_HISTOGRAM_H

#include "frametable/ftdump/ftdump.h"
#include "frametable/ftdump/set.h"

typedef struct {
    const char *key, *title;
    ft_set values; /* value + 1 -> count */
    uint64_t n, least, most;
    double sum;
} ft_histogram;

void ft_histogram_add(ft_histogram *, uint64_t value);

/* Rows: single values while there are few, then powers of two. */
typedef struct {
    uint64_t low, high, count; /* inclusive */
} ft_bucket;
enum { FT_MAX_BUCKETS = 72 };
size_t ft_histogram_buckets(const ft_histogram *, ft_bucket out[FT_MAX_BUCKETS]);
uint64_t ft_histogram_median(const ft_histogram *);

void ft_histogram_text(ft_out *, const ft_histogram *);
void ft_histogram_csv(ft_run *, const char *path, const ft_histogram *);
json_t *ft_histogram_json(const ft_histogram *);

#endif
