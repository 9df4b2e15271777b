/* rows.h - unwinding rows of .eh_frame and .debug_frame, read fast.
 *
 *   .eh_frame   | CIE | FDE | FDE | CIE | FDE | ... | 0 |
 *   FDE         pc .. pc + size, instructions  ->  rows  | pc  | CFA        | return address |
 *                                                        | +0  | rsp + 8    | CFA - 8        |
 *                                                        | +7  | rsp + 32   | CFA - 8        |
 *
 * Sources: DWARF 5, 6.4; Linux Standard Base 5.0, 10.6 (.eh_frame). libdw reads the same; its
 * tables for one look-up cost too much for the hundred thousand of a compiler, and it does not
 * apply the relocations of an object. */
#ifndef FK_VERIFY_ROWS_H
#define FK_VERIFY_ROWS_H

#include "framekit/frametable.h"

typedef struct fk_cfi fk_cfi;
typedef struct fk_cfi_cursor fk_cfi_cursor;

/* All FDEs of an image, sorted. An image without CFI has none. NULL: no memory. (rows_image.c) */
fk_cfi *fk_cfi_open(const fk_image *);

/* The same from sections in memory: new, add each, read. `word`: bytes of an address; false or
 * NULL: no memory. The bytes must stay. */
typedef struct {
    const char *name; /* for messages */
    const uint8_t *bytes;
    uint64_t size, addr;
    bool eh; /* .eh_frame, not .debug_frame */
} fk_cfi_section;
fk_cfi *fk_cfi_new(bool swap, unsigned word);
bool fk_cfi_add(fk_cfi *, const fk_cfi_section *);
bool fk_cfi_read(fk_cfi *);
void fk_cfi_close(const fk_cfi *);
size_t fk_cfi_count(const fk_cfi *);
/* NULL, or the first thing that could not be read: section, offset and why. Its
 * FDEs are left out. */
const char *fk_cfi_fault(const fk_cfi *);

typedef enum { FK_CFA_NONE, FK_CFA_REGISTER, FK_CFA_EXPRESSION } fk_cfa_kind;
typedef enum { FK_RA_UNSET, FK_RA_AT_CFA, FK_RA_SAME, FK_RA_OTHER } fk_ra_kind;

typedef struct {
    uint64_t from, to;      /* addresses that the row holds for */
    fk_cfa_kind cfa;
    uint32_t cfa_register;  /* DWARF number */
    int64_t cfa_offset;
    fk_ra_kind ra;          /* rule of the return address column */
    int64_t ra_offset;      /* FK_RA_AT_CFA */
} fk_row;

typedef struct {
    uint64_t from, to; /* code of the FDE */
    int64_t entry_cfa; /* offset of the CFA at entry, by the CIE */
    bool signal;       /* augmentation S */
    bool broken;       /* its instructions cannot be read */
} fk_fde;

fk_cfi_cursor *fk_cfi_cursor_new(void);
void fk_cfi_cursor_free(fk_cfi_cursor *);
/* The row at pc. FK_ABSENT: no FDE. FK_BROKEN: an FDE that cannot be read. FK_SYSTEM:
 * no memory. `fde` may be NULL. Neighbouring questions are cheap. */
fk_result fk_cfi_row(const fk_cfi *, fk_cfi_cursor *, uint64_t pc, fk_row *out, fk_fde *fde);
/* The first FDE that starts at or after pc; FK_ABSENT. */
fk_result fk_cfi_next(const fk_cfi *, uint64_t pc, uint64_t *from, uint64_t *to);

#endif
