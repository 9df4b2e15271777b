/* compare.h - two sets of modules side by side: the table of PR #8805, the
 * quartiles of the change by module, and the modules far from them. */
#ifndef FT_COMPARE_H
#define FT_COMPARE_H

#include "frametable/ftdump/ftdump.h"
#include "frametable/ftdump/set.h"

/* Bytes of one module, or of all. */
typedef struct {
    uint64_t descr, records, names, relocs;
    uint64_t files;       /* of names: file names; the rest is about functions */
    uint64_t descriptors; /* count */
    uint64_t content;     /* fingerprint without addresses; 0: not taken */
    bool present;
} ft_side;

typedef struct {
    char *module;
    ft_side side[2]; /* old, new */
} ft_pair;

typedef struct {
    const char *title[2]; /* column headings */
    const char *plot_title;
    uint64_t file[2]; /* file sizes */
    ft_pair *pairs;
    size_t num_pairs, room;
    bool reverse; /* also show the change seen from the new side */
} ft_comparison;

/* Bytes of the file names of one table, each stored once. Start with {0}. */
typedef struct {
    ft_set seen;
    uint64_t bytes;
} ft_files;
void ft_files_note(ft_files *, const char *name); /* NULL: none */
void ft_files_clear(ft_files *);

/* The pair of a module, made when new; NULL: out of memory. `last` is where
 * the search starts, so that two files in the same order cost no search. */
ft_pair *ft_compare_pair(ft_comparison *, const char *module, size_t *last);
void ft_compare_free(ft_comparison *);

/* Prints in the style of the run; the JSON fields go into the open object. */
void ft_compare_show(ft_run *, const ft_comparison *);
void ft_compare_csv_header(ft_run *);
/* new / old of one quantity for each module that has it on both sides, sorted.
 * The caller frees. */
typedef enum {
    FT_FRAMETABLE, /* descriptors */
    FT_DEBUGINFO,  /* records, file names, function names */
    FT_PLACES,     /* the same without function names, which A does not have */
    FT_QUANTITIES
} ft_quantity;
double *ft_compare_ratios(const ft_comparison *, ft_quantity, size_t *n);
const char *ft_quantity_name(ft_quantity);
void ft_compare_plot(ft_run *, const ft_comparison *);

/* --- plot.c ------------------------------------------------------------------- */

typedef struct {
    const char *name;
    const double *values; /* > 0 */
    size_t n;
} ft_series;

/* Box plot on a logarithmic axis, drawn by gnuplot into the file of --plot.
 * `ratio`: the values are factors and the ticks are percents of change. */
void ft_plot(ft_run *, const char *title, const char *axis, bool ratio, const ft_series *,
             size_t n);

/* --- numbers ------------------------------------------------------------------- */

/* Value at `fraction` (0.25, 0.5 ...) of sorted values, linearly interpolated. */
double ft_quantile(const double *sorted, size_t n, double fraction);
double ft_percent_change(uint64_t old, uint64_t now); /* 0 when old is 0 */

#endif
