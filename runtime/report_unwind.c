/* report_unwind.c - frame sizes by the unwinding rows of the program (.eh_frame): when a walk over
 * the stack has gone astray, they say whose descriptor led it there. A compiler writes rows and
 * frametable each by itself, so they hardly fail together.
 *
 *   S + F  =  CFA - cfa_bias        (docs/abi.md) */
#include "runtime/report.h"

#include "frametable/verify/rows.h"
#include "runtime/fiber.h"

static fk_cfi *rows_of_program(void)
{
    static fk_cfi *rows;
    static bool tried;
    size_t size;
    uintptr_t address;
    const void *bytes = tried ? NULL : fk_program_section(".eh_frame", &size, &address);
    tried = true;
    if (!bytes)
        return rows;
    fk_cfi *c = fk_cfi_new(false, sizeof(value));
    if (c && fk_cfi_add(c, &(fk_cfi_section){".eh_frame", bytes, size, address, true}) &&
        fk_cfi_read(c))
        rows = c;
    return rows;
}

static bool has_size(const fk_row *row, int64_t size)
{
    const fk_reg *sp = fk_abi_role(fk_here, FK_REG_SP);
    return row->cfa != FK_CFA_REGISTER || !sp || (int)row->cfa_register != sp->dwarf ||
           row->cfa_offset == size + fk_here->cfa_bias;
}

bool fk_unwind_denies(uintptr_t ra, int64_t size)
{
    static fk_cfi_cursor *cursor;
    fk_cfi *rows = rows_of_program();
    fk_row row;
    fk_fde fde;
    unsigned n = 0;
    if (!rows || (!cursor && !(cursor = fk_cfi_cursor_new())) ||
        fk_cfi_row(rows, cursor, ra - 1, &row, &fde) != FK_OK)
        return false;
    for (uint64_t pc = fde.from; pc < fde.to; pc = row.to, n++)
        if (fk_cfi_row(rows, cursor, pc, &row, NULL) != FK_OK || has_size(&row, size))
            return false;
    return n > 1;
}

uintptr_t fk_unwind_culprit(const struct walk *astray)
{
    struct walk w;
    fk_walk_start(&w, astray->fiber, NULL);
    while (w.sp < astray->sp && fk_walk_next(&w) && w.found && !fk_walk_stuck(&w))
        if (w.sp < astray->sp && fk_unwind_denies(w.ra, w.descr.frame_size))
            return w.ra;
    return 0;
}
