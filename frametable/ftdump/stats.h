/* stats.h - what is counted of a file; one list feeds summary, totals, CSV
 * and JSON. The figures are those of docs/frametable-format.md's table. */
#ifndef FT_STATS_H
#define FT_STATS_H

#include "frametable/ftdump/ftdump.h"

/*        key               column in --totals */
#define FT_STATS(X)                                                                                \
    X(modules, "units")     /* tables */                                                           \
    X(empty, "empty")       /* ... without descriptors */                                          \
    X(descriptors, "descr") /* all, with the returns to C */                                       \
    X(return_to_c, "toC")                                                                          \
    X(debug, "debug") /* with the DEBUG flag */                                                    \
    X(alloc, "alloc") /* with the ALLOC flag: allocations and polls */                             \
    X(debug_alloc, "both")                                                                         \
    X(polls, "polls")   /* ALLOC, no block */                                                      \
    X(combined, "comb") /* ALLOC, several blocks */                                                \
    X(max_blocks, "maxblk")                                                                        \
    X(live, "live") /* roots in all */                                                             \
    X(max_live, "maxlive")                                                                         \
    X(max_frame, "maxframe")                                                                       \
    X(chains, "chains")   /* distinct first records */                                             \
    X(records, "records") /* distinct records */                                                   \
    X(wide, "wide")       /* descriptors with a partially packed record */                         \
    X(long_form, "long")                                                                           \
    X(descriptor_bytes, "bytes.descr")                                                             \
    X(debuginfo_bytes, "bytes.debug")                                                              \
    X(name_bytes, "bytes.names")                                                                   \
    X(relocation_bytes, "bytes.reloc")                                                             \
    X(extra_bytes, "extra") /* after the decoded end, up to the symbol's size */                   \
    X(broken, "broken")     /* tables that stop at a fault */

typedef struct {
#define X(key, column) uint64_t key;
    FT_STATS(X)
#undef X
} ft_stats;

typedef struct {
    const char *key, *column;
    size_t offset;
} ft_stats_field;
extern const ft_stats_field ft_stats_fields[];
extern const size_t ft_num_stats_fields;
uint64_t ft_stats_value(const ft_stats *, const ft_stats_field *);

/* Adds the tables of an image. */
void ft_stats_add(ft_run *, const fk_image *, ft_stats *);

#endif
