/* lines.h - the rows of .debug_line, DWARF 2 to 5, read fast.
 *
 * Source: DWARF 5, 6.2. The section says which source line an address belongs to; libdw wants
 * .debug_info around it, which assemblers leave out, and applies no relocations. */
#ifndef FK_VERIFY_LINES_H
#define FK_VERIFY_LINES_H

#include "framekit/frametable.h"

typedef struct fk_lines fk_lines;

/* All rows of an image, sorted. An image without line tables has none. NULL: no memory. */
fk_lines *fk_lines_open(const fk_image *);
void fk_lines_close(const fk_lines *);
size_t fk_lines_count(const fk_lines *);
/* NULL, or the first thing that could not be read; its unit is left out. */
const char *fk_lines_fault(const fk_lines *);

typedef struct {
    uint64_t from, to;
    const char *directory, *file; /* as stored; "" when there is none */
    uint32_t line;
} fk_line;

/* The last row at or before pc in the sequence that covers pc; FK_ABSENT. */
fk_result fk_line_at(const fk_lines *, uint64_t pc, fk_line *out);

#endif
