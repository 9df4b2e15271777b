/* cfi.c - rules that hold a frame size against the unwinding rows of its call.
 *
 *              collector                       unwinder
 *     S+F   +-----------+   caller's S  ==  CFA (s390x: CFA - 160)
 *           | ret addr  |   S+F-8       ==  CFA-8 by the rule of the return address column
 *           | slots     |
 *     S     +-----------+   stack pointer of the row
 *
 * An unwinder looks the frame of a call up at the return address less one: the call may be the last
 * instruction of its function. */
#include "frametable/verify/internal.h"
#include "frametable/verify/rows.h"

static int stack_register(const fk_check *c)
{
    const fk_reg *sp = fk_abi_role(c->abi, FK_REG_SP);
    return sp ? sp->dwarf : -1;
}

/* --- of a table -------------------------------------------------------------------------- */

static bool row_agrees(const fk_check *c, const fk_descr *d, const fk_row *row)
{
    return row->cfa == FK_CFA_REGISTER && (int)row->cfa_register == stack_register(c) &&
           row->cfa_offset == (int64_t)d->frame_size + c->abi->cfa_bias;
}

/* Return addresses of a module with a row; of these, those whose row falls short of the frame. */
typedef struct {
    uint64_t covered, short_of;
} tracked;

/* Stops at the first row that agrees. */
static tracked track(fk_check *c)
{
    tracked t = {0};
    fk_cursor cursor;
    fk_descr d;
    fk_error err;
    fk_row row;
    fk_cursor_start(c->table, &cursor);
    while (t.short_of == t.covered && fk_cursor_next(&cursor, &d, &err) == FK_OK) {
        if (d.flags & FK_DESCR_RETURN_TO_C ||
            fk_cfi_row(c->cfi, c->rows, d.retaddr - 1, &row, NULL) != FK_OK)
            continue;
        t.covered++;
        t.short_of += !row_agrees(c, &d, &row) && row.cfa == FK_CFA_REGISTER &&
                      row.cfa_offset < (int64_t)d.frame_size + c->abi->cfa_bias;
    }
    return t;
}

/* One return address alone could as well be one row that is wrong: cfi-frame says that. */
static void check_tracked(fk_check *c)
{
    tracked t = track(c);
    c->untracked = t.covered > 1 && t.short_of == t.covered;
    if (c->untracked)
        fk_check_say(c, FK_RULE_CFI_TRACKED, FK_VERDICT_WRONG, NULL,
                     "the rows do not follow the stack pointer: at all %llu return addresses of "
                     "the module the CFA is "
                     "lower than the frame ends",
                     (unsigned long long)t.covered);
    else if (t.covered > 0)
        fk_check_ok(c, FK_RULE_CFI_TRACKED);
    else
        fk_check_pass(c, FK_RULE_CFI_TRACKED, "no call of the module has an FDE");
}

/* The section is the image's: its fault is said with the first table. */
static void check_readable(fk_check *c)
{
    const char *fault = fk_cfi_fault(c->cfi);
    if (fk_cfi_count(c->cfi) == 0 && fault == NULL)
        fk_check_pass(c, FK_RULE_CFI_READABLE, "the file has no call frame information");
    else if (fault == NULL)
        fk_check_ok(c, FK_RULE_CFI_READABLE);
    else
        fk_check_say(c, FK_RULE_CFI_READABLE, FK_VERDICT_WRONG, NULL, "%s", fault);
}

/* --- of a descriptor ----------------------------------------------------------------------- */

/* What a row that falls short looks like: a hint, not a proof. */
static const char *cause(const fk_check *c, const fk_descr *d, const fk_row *row, const fk_fde *fde)
{
    int64_t missing = (int64_t)d->frame_size + c->abi->cfa_bias - row->cfa_offset;
    if (row->cfa_offset <= fde->entry_cfa && row->from > fde->from)
        return ": the row of a return above, or of a trap frame that was popped there, still holds";
    if (missing > 0 && missing % FK_TRAP_SIZE == 0)
        return ": trap frames that are on the stack are missing in the row";
    return "";
}

/* Whose side the code is on. */
static const char *judge(const fk_check *c, const fk_descr *d, int64_t by_row)
{
    int64_t descent;
    if (!fk_code_descent(c, d, &descent))
        return "";
    return descent == d->frame_size ? "; the code agrees with the descriptor"
           : descent == by_row      ? "; the code agrees with the row"
                                    : "; the code agrees with neither";
}

static void say_frame(fk_check *c, const fk_descr *d, const fk_row *row, const fk_fde *fde)
{
    int64_t by_row = row->cfa_offset - c->abi->cfa_bias;
    if ((int)row->cfa_register != stack_register(c))
        fk_check_say(c, FK_RULE_CFI_FRAME, FK_VERDICT_WRONG, d,
                     "the CFA is DWARF register %u %+lld, which is not the stack pointer; the "
                     "descriptor's frame "
                     "is %u bytes",
                     row->cfa_register, (long long)row->cfa_offset, d->frame_size);
    else
        fk_check_say(c, FK_RULE_CFI_FRAME, FK_VERDICT_WRONG, d,
                     "the descriptor's frame is %u bytes, the row's %lld (CFA = SP %+lld from "
                     "0x%llx on)%s%s",
                     d->frame_size, (long long)by_row, (long long)row->cfa_offset,
                     (unsigned long long)row->from, cause(c, d, row, fde), judge(c, d, by_row));
}

static void check_frame(fk_check *c, const fk_descr *d, const fk_row *row, const fk_fde *fde)
{
    if (row->cfa == FK_CFA_EXPRESSION)
        fk_check_pass(c, FK_RULE_CFI_FRAME, "the CFA is an expression");
    else if (row_agrees(c, d, row))
        fk_check_ok(c, FK_RULE_CFI_FRAME);
    else
        say_frame(c, d, row, fde);
}

static void check_return(fk_check *c, const fk_descr *d, const fk_row *row)
{
    int64_t want = (int64_t)c->abi->ra_offset - c->abi->cfa_bias;
    if (row->ra == FK_RA_AT_CFA && row->ra_offset == want)
        fk_check_ok(c, FK_RULE_CFI_RETURN);
    else if (row->ra == FK_RA_AT_CFA)
        fk_check_say(
            c, FK_RULE_CFI_RETURN, FK_VERDICT_WRONG, d,
            "the row has the return address at CFA%+lld, the collector reads it at CFA%+lld",
            (long long)row->ra_offset, (long long)want);
    else if (row->ra == FK_RA_OTHER)
        fk_check_pass(c, FK_RULE_CFI_RETURN,
                      "the rule of the return address is an expression or a register");
    else
        fk_check_say(c, FK_RULE_CFI_RETURN, FK_VERDICT_WRONG, d,
                     "no rule says where the return address is (it is still in its register), the "
                     "collector reads it at CFA%+lld",
                     (long long)want);
}

static void pass_both(fk_check *c, const char *why)
{
    fk_check_pass(c, FK_RULE_CFI_FRAME, why);
    fk_check_pass(c, FK_RULE_CFI_RETURN, why);
}

static void check_descriptor(fk_check *c, const fk_descr *d)
{
    fk_row row;
    fk_fde fde;
    fk_result r;
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return;
    r = fk_cfi_row(c->cfi, c->rows, d->retaddr - 1, &row, &fde);
    if (r == FK_ABSENT)
        pass_both(c, "no FDE covers the call");
    else if (r != FK_OK)
        pass_both(c, "the FDE of the call cannot be read");
    else if (c->untracked)
        pass_both(c, "the rows of the module do not follow the stack pointer (see cfi-tracked)");
    else {
        check_frame(c, d, &row, &fde);
        check_return(c, d, &row);
    }
}

bool fk_check_return_lost(fk_check *c, const fk_descr *d)
{
    fk_row row;
    return fk_cfi_row(c->cfi, c->rows, d->retaddr - 1, &row, NULL) == FK_OK &&
           row.ra != FK_RA_AT_CFA && row.ra != FK_RA_OTHER;
}

void fk_check_cfi(fk_check *c)
{
    fk_cursor cursor;
    fk_descr d;
    fk_error err;
    if (c->table == fk_image_table(c->image, 0))
        check_readable(c);
    check_tracked(c);
    fk_cursor_start(c->table, &cursor);
    while (fk_cursor_next(&cursor, &d, &err) == FK_OK)
        check_descriptor(c, &d);
}
