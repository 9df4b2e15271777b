/* scan.h - finding tables without symbols (scan.c). */
#ifndef FK_FRAMETABLE_SCAN_H
#define FK_FRAMETABLE_SCAN_H

#include "frametable/image.h"

fk_result fk_tables_scan(fk_image *, fk_error *);
/* `count` tables whose addresses are the words at `array`. */
fk_result fk_tables_from_array(fk_image *, uint64_t array, uint64_t count, fk_error *);
/* Reads descriptors of t as generation g until the first that cannot be one, or `limit`.
 * `evidence`: how many of the first 8 stand behind a call or have debuginfo inside of the table. */
uint64_t fk_plausible(const fk_table *t, const fk_gen *g, uint64_t limit, uint64_t *evidence,
                      uint64_t *end);

#endif
