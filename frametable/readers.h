/* readers.h - one descriptor reader per layout (decode.c, decode_o3.c). */
#ifndef FK_FRAMETABLE_READERS_H
#define FK_FRAMETABLE_READERS_H

#include "frametable/internal.h"

#define FK_READER(name)                                                                            \
    fk_fault name(const fk_table *t, const uint8_t *p, const uint8_t *end, uint64_t prev,          \
                  fk_descr *d)
FK_READER(fk_read_a);
FK_READER(fk_read_b);
FK_READER(fk_read_o1);
FK_READER(fk_read_o2);
FK_READER(fk_read_o3);

/* What each layout shares after the live entries. `q` is the next unread byte; see decode.c. */
fk_fault fk_read_tail(fk_descr *d, const uint8_t *p, const uint8_t *q, const uint8_t *end,
                      unsigned align_debug, unsigned align_end);

/* The frametable numbers of the 8 bits of O3's register bitmap. */
const uint8_t *fk_o3_hot_regs(const fk_abi *);

/* fk_descr_live for the bitmaps of O3's short form. */
fk_live fk_live_bitmap(const fk_descr *d, uint32_t i);

#endif
