/* index.h - the inside of an index (index.c, index_native.c, index_image.c). */
#ifndef FK_FRAMETABLE_INDEX_H
#define FK_FRAMETABLE_INDEX_H

#include "frametable/internal.h"

/* 16 bytes: what an index costs is mostly the memory that it touches. */
typedef struct {
    uint32_t key;    /* low half of the return address less key_base: tells apart in a bucket */
    uint32_t table;  /* in tables[] */
    uint32_t index;  /* in its table */
    uint32_t offset; /* of the descriptor from its table */
} fk_entry;

/* Native tables that several indexes share. */
typedef struct fk_natives {
    uint32_t refs; /* atomic */
    size_t count;
    fk_table tables[];
} fk_natives;

struct fk_index {
    fk_entry *entries; /* by bucket and key, which is by return address */
    uint64_t count, duplicates;
    uint32_t *dir;     /* dir[k]: first entry of bucket k; num_buckets + 1 of them */
    uint64_t base;     /* the lowest return address: where bucket 0 begins */
    uint64_t key_base; /* keys are return address less this, low half */
    uint64_t num_buckets;
    unsigned shift;    /* a bucket is 2^shift addresses, at most 2^32 */
    const fk_table **tables;
    size_t num_tables;
    fk_natives **natives; /* owners of those that belong to no image */
    size_t num_natives;
};

/* An index over the entries of `old` (may be NULL) without the tables in `drop`, plus those of
 * `add`. `natives` (may be NULL) is taken over when it succeeds. */
fk_result fk_index_make(const fk_index *old, const fk_table *const *add, size_t num_add,
                        const fk_table *const *drop, size_t num_drop, fk_natives *natives,
                        fk_index **out, fk_error *err);

#endif
