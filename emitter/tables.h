/* tables.h - the unit's frametable, on the way to libframetable. */
#ifndef FK_EMITTER_TABLES_H
#define FK_EMITTER_TABLES_H

#include "emitter/target.h"

/* NULL: an error was added to the unit. */
struct tables *tables_new(cmm_unit *, const cmmc_options *);
void tables_free(struct tables *);
/* The descriptor of insn: return address = label, frame size, roots at byte offsets. */
void tables_add(struct tables *, emit *, const lin_insn *, uint32_t label);
/* Writes the table as assembler data named symbol. */
void tables_write(struct tables *, const char *symbol, struct out *);

#endif
