/* index_image.c - an index over all tables of an image. */
#include <stdlib.h>

#include "frametable/image.h"
#include "frametable/index.h"

fk_result fk_index_build(const fk_image *im, fk_index **out, uint64_t *duplicates, fk_error *err)
{
    size_t n = im->num_tables;
    const fk_table **all = malloc((n + 1) * sizeof *all);
    *out = NULL;
    if (!all)
        return fk_fail_memory(err, im->name);
    for (size_t i = 0; i < n; i++)
        all[i] = &im->tables[i];
    fk_result r = fk_index_make(NULL, all, n, NULL, 0, out, err);
    if (!r && duplicates)
        *duplicates = fk_index_live(*out) - fk_index_count(*out);
    free(all);
    return r;
}
