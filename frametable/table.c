/* table.c - what is known of one table, and its faults in words. */
#include "frametable/internal.h"

fk_result fk_fail_descr(const fk_table *t, fk_error *err, fk_fault fault, const fk_descr *d)
{
    unsigned long long left = t->avail - (d->address - t->address);
    uint64_t at = d->address;
    switch (fault) {
    case FK_FAULT_HEADER:
        return fk_fail_table(t, err, at, d->index, "descriptor runs past the end: %llu bytes left",
                             left);
    case FK_FAULT_LIVE:
        return fk_fail_table(t, err, at, d->index,
                             "%u live entries run past the end: %llu bytes left", d->num_live,
                             left);
    case FK_FAULT_ALLOCS:
        return fk_fail_table(t, err, at, d->index,
                             "allocation lengths run past the end: %llu bytes left", left);
    case FK_FAULT_DEBUG:
        return fk_fail_table(t, err, at, d->index,
                             "%u debuginfo slots run past the end: %llu bytes left", d->num_debug,
                             left);
    case FK_FAULT_DELTA:
        return fk_fail_table(t, err, at, d->index, "return address delta is not a valid ULEB128");
    case FK_FAULT_SIZE:
        return fk_fail_table(t, err, at, d->index, "frame size %u is impossible", d->frame_size);
    case FK_FAULT_RETADDR:
        return fk_fail_table(t, err, at, d->index, "return address 0x%llx is in no code section",
                             (unsigned long long)d->retaddr);
    default:
        break;
    }
    return FK_OK;
}

/* Reads the broken descriptor again: its fields are part of the message. */
static fk_result broken_descr(const fk_table *t, fk_error *err)
{
    fk_descr d = {.table = t, .index = t->fault_entry, .address = t->fault_address};
    const uint8_t *p = t->bytes + (t->fault_address - t->address);
    t->gen->read(t, p, t->bytes + t->avail, t->fault_value, &d);
    if (t->fault == FK_FAULT_RETADDR)
        d.retaddr = t->fault_value;
    return fk_fail_descr(t, err, t->fault, &d);
}

/* Walks the broken chain to where it breaks. */
static fk_result broken_chain(const fk_table *t, fk_error *err)
{
    fk_chain c;
    fk_frame f;
    fk_chain_start(t, t->fault_address, &c);
    while (fk_chain_next(&c, &f, err) == FK_OK)
        continue;
    if (err)
        err->entry = t->fault_entry;
    return FK_BROKEN;
}

fk_result fk_fail_status(const fk_table *t, fk_error *err)
{
    switch (t->fault) {
    case FK_FAULT_NONE:
        return FK_OK;
    case FK_FAULT_COUNT:
        return fk_fail_table(t, err, t->address, FK_NO_ENTRY,
                             "%llu descriptors cannot fit in the %llu bytes that are left",
                             (unsigned long long)t->num_descr, (unsigned long long)t->avail);
    case FK_FAULT_NO_BYTES:
        return fk_fail_table(t, err, t->address, FK_NO_ENTRY, "the file does not hold its bytes");
    case FK_FAULT_END:
        return fk_fail_table(t, err, t->address, FK_NO_ENTRY,
                             "it ends %llu bytes past the %llu of its symbol",
                             (unsigned long long)t->fault_value,
                             (unsigned long long)t->symbol_size);
    case FK_FAULT_SYMBOL:
        return fk_fail_table(t, err, t->address, FK_NO_ENTRY,
                             "its symbol has %llu bytes, but only %llu are left",
                             (unsigned long long)t->symbol_size, (unsigned long long)t->avail);
    case FK_FAULT_CHAIN:
        return broken_chain(t, err);
    default:
        return broken_descr(t, err);
    }
}

fk_result fk_table_status(const fk_table *t, fk_error *err)
{
    return fk_fail_status(t, err);
}

void fk_table_info_get(const fk_table *t, fk_table_info *out)
{
    *out = (fk_table_info){.module = t->module,
                           .symbol = t->symbol,
                           .section = t->section,
                           .address = t->address,
                           .num_descr = t->num_descr,
                           .descr_bytes = t->descr_bytes,
                           .debuginfo_bytes = t->debuginfo_bytes,
                           .name_bytes = t->name_bytes,
                           .relocation_bytes = t->relocation_bytes,
                           .extra_bytes = t->extra_bytes,
                           .num_chains = t->num_chains,
                           .num_records = t->num_records,
                           .num_wide = t->num_wide,
                           .code_begin = t->code_begin,
                           .code_end = t->code_end};
}

const fk_image *fk_table_image(const fk_table *t)
{
    return t->image;
}

fk_generation fk_table_generation(const fk_table *t)
{
    return t->gen->id;
}
