/* structure.c - rules that need the table alone. */
#include <stdlib.h>

#include "frametable/verify/internal.h"

enum { MAX_REQUEST = 257 }; /* words of one combined request, PR #8805 */

static void retaddr_code(fk_check *c, const fk_descr *d)
{
    fk_section s;
    if (fk_image_section_at(c->image, d->retaddr - 1, &s) == FK_OK && s.code)
        fk_check_ok(c, FK_RULE_RETADDR_CODE);
    else
        fk_check_say(
            c, FK_RULE_RETADDR_CODE, FK_VERDICT_WRONG, d,
            "the return address 0x%llx is not behind code, the runtime would never find it",
            (unsigned long long)d->retaddr);
}

/* Index of the first address >= a. */
static size_t lower_bound(const fk_check *c, uint64_t a)
{
    size_t low = 0, high = c->num_retaddrs;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (c->retaddrs[mid] < a)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void retaddr_unique(fk_check *c, const fk_descr *d)
{
    size_t i = lower_bound(c, d->retaddr);
    if (i + 1 >= c->num_retaddrs || c->retaddrs[i + 1] != d->retaddr)
        fk_check_ok(c, FK_RULE_RETADDR_UNIQUE);
    else
        fk_check_say(c, FK_RULE_RETADDR_UNIQUE, FK_VERDICT_WRONG, d,
                     "another descriptor has the return address 0x%llx too",
                     (unsigned long long)d->retaddr);
}

static void frame_multiple(fk_check *c, const fk_descr *d)
{
    unsigned unit = c->abi->frame_align < c->abi->frame_align_old ? c->abi->frame_align
                                                                  : c->abi->frame_align_old;
    if (d->frame_size % unit == 0)
        fk_check_ok(c, FK_RULE_FRAME_MULTIPLE);
    else
        fk_check_say(c, FK_RULE_FRAME_MULTIPLE, FK_VERDICT_WRONG, d,
                     "the frame size is %u, frames of %s are multiples of %u", d->frame_size,
                     c->abi->name, unit);
}

static bool slot_ok(fk_check *c, const fk_descr *d, int32_t offset)
{
    int32_t word = (int32_t)fk_image_word(c->image), first = c->abi->frame_reserved;
    int32_t end = (int32_t)d->frame_size + (c->abi->ra_offset < 0 ? c->abi->ra_offset : 0);
    if (offset >= first && offset % word == 0 && offset + word <= end)
        return true;
    fk_check_say(c, FK_RULE_LIVE_SLOT, FK_VERDICT_WRONG, d,
                 "a root at [%d] in a frame of %u bytes: slots are the words from %d up to %d",
                 offset, d->frame_size, first, end);
    return false;
}

static bool register_ok(fk_check *c, const fk_descr *d, int reg)
{
    const fk_reg *r = fk_abi_reg(c->abi, reg, c->version);
    if (r == NULL || r->slot < 0) {
        fk_check_say(c, FK_RULE_LIVE_REGISTER, FK_VERDICT_WRONG, d,
                     "a root in register %d, %s has no such register in its save area", reg,
                     c->abi->name);
        return false;
    }
    if (d->flags & FK_DESCR_ALLOC)
        return true;
    fk_check_say(c, FK_RULE_LIVE_REGISTER, FK_VERDICT_WRONG, d,
                 "a root in %s at a call: only caml_call_gc saves registers", r->name);
    return false;
}

/* Order as stored: a slot counts by its offset, a register by 2 * number + 1. */
static int64_t stored(fk_live l)
{
    return l.reg >= 0 ? 2 * (int64_t)l.reg + 1 : l.offset;
}

static void live(fk_check *c, const fk_descr *d)
{
    bool slots = true, registers = true, sorted = true;
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        if (l.reg >= 0)
            registers &= register_ok(c, d, l.reg);
        else
            slots &= slot_ok(c, d, l.offset);
        if (i > 0 && stored(l) <= stored(fk_descr_live(d, i - 1)) && sorted) {
            sorted = false;
            fk_check_say(c, FK_RULE_LIVE_SORTED, FK_VERDICT_WRONG, d,
                         "root %u is stored as %lld after %lld: the compiler sorts them", i,
                         (long long)stored(l), (long long)stored(fk_descr_live(d, i - 1)));
        }
    }
    if (slots)
        fk_check_ok(c, FK_RULE_LIVE_SLOT);
    if (registers)
        fk_check_ok(c, FK_RULE_LIVE_REGISTER);
    if (sorted)
        fk_check_ok(c, FK_RULE_LIVE_SORTED);
}

static void alloc_total(fk_check *c, const fk_descr *d)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < d->num_allocs; i++)
        words += fk_descr_wosize(d, i) + 1;
    if (words <= MAX_REQUEST)
        fk_check_ok(c, FK_RULE_ALLOC_TOTAL);
    else
        fk_check_say(c, FK_RULE_ALLOC_TOTAL, FK_VERDICT_WRONG, d,
                     "%u blocks take %llu words with their headers, one request has at most %d",
                     d->num_allocs, (unsigned long long)words, MAX_REQUEST);
}

static void debug_readable(fk_check *c, const fk_descr *d)
{
    for (uint32_t i = 0; i < d->num_debug; i++) {
        uint64_t at = fk_descr_debuginfo(d, i);
        fk_chain chain;
        fk_frame frame;
        fk_error err;
        fk_result r = FK_ABSENT;
        if (at == 0)
            continue;
        fk_chain_start(c->table, at, &chain);
        while ((r = fk_chain_next(&chain, &frame, &err)) == FK_OK)
            ;
        if (r != FK_BROKEN)
            continue;
        fk_check_say(c, FK_RULE_DEBUG_READABLE, FK_VERDICT_WRONG, d,
                     "the record of slot %u at 0x%llx: %s", i, (unsigned long long)at, err.message);
        return;
    }
    fk_check_ok(c, FK_RULE_DEBUG_READABLE);
}

static void return_to_c(fk_check *c, const fk_descr *d)
{
    if (d->num_live == 0)
        fk_check_ok(c, FK_RULE_RETURN_TO_C);
    else
        fk_check_say(c, FK_RULE_RETURN_TO_C, FK_VERDICT_WRONG, d,
                     "a return to C with %u roots: the walk leaves the OCaml frames here",
                     d->num_live);
}

void fk_check_structure(fk_check *c, const fk_descr *d)
{
    retaddr_code(c, d);
    retaddr_unique(c, d);
    if (d->flags & FK_DESCR_RETURN_TO_C) {
        return_to_c(c, d);
        return;
    }
    frame_multiple(c, d);
    live(c, d);
    if (d->flags & FK_DESCR_ALLOC)
        alloc_total(c, d);
    debug_readable(c, d);
}
