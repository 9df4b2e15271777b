/* measure.c - one walk over every table: where its parts end, and its first fault.
 *
 *   address        descr_bytes         debuginfo_bytes      name_bytes          extra_bytes
 *   | count | descriptors ... | records (hash order) | name infos, names, pad | (symbol size) |
 *
 * A record is visited once, whoever refers to it: bitmaps with a bit per 4 bytes of the table
 * remember, so that damaged chains cost no more than the file is long. */
#include <stdlib.h>

#include "frametable/image.h"

typedef struct {
    fk_table *t;
    uint8_t *seen;         /* bit per 4 bytes of the table: a record that was read */
    uint8_t *starts;       /* likewise: a chain that was counted */
    uint8_t *wides;        /* likewise: a chain with a wide record */
    uint64_t last_bit;     /* the highest that is set in any */
    uint64_t last_nul; /* the last NUL of the table: a string that starts up to here has an end */
    uint64_t records_end; /* past the last record */
    uint64_t names_begin; /* first name or name_info */
    uint64_t last_name;   /* the string that starts last */
    uint64_t special_end;  /* of the last descriptor without its pad, when it is a return to C */
    const fk_region *code; /* of the last return address */
} walk;

static void set_fault(fk_table *t, fk_fault fault, uint64_t entry, uint64_t address, uint64_t value)
{
    if (t->fault)
        return;
    t->fault = fault;
    t->fault_entry = entry;
    t->fault_address = address;
    t->fault_value = value;
}

/* --- debuginfo ---------------------------------------------------------------------------- */

/* Sets the bit of a record; false when it was set. */
static bool set_bit(walk *w, uint8_t *bits, uint64_t record)
{
    uint64_t bit = (record - w->t->address) / 4;
    uint8_t mask = (uint8_t)(1u << bit % 8);
    if (bits[bit / 8] & mask)
        return false;
    bits[bit / 8] |= mask;
    if (bit > w->last_bit)
        w->last_bit = bit;
    return true;
}

static bool get_bit(const walk *w, const uint8_t *bits, uint64_t record)
{
    uint64_t bit = (record - w->t->address) / 4;
    return bits[bit / 8] >> bit % 8 & 1;
}

static void note_name(walk *w, uint64_t addr)
{
    if (addr < w->names_begin)
        w->names_begin = addr;
}

static bool note_string(walk *w, uint64_t addr)
{
    note_name(w, addr);
    if (addr > w->last_name)
        w->last_name = addr;
    return addr >= w->t->address && addr <= w->last_nul;
}

static bool visit_record(walk *w, uint64_t at, uint64_t *next, bool *wide)
{
    fk_frame f;
    fk_record_parts x;
    if (fk_record_read(w->t, at, &f, &x, NULL))
        return false;
    if (at + fk_record_size(w->t) > w->records_end)
        w->records_end = at + fk_record_size(w->t);
    *next = x.next;
    *wide |= f.wide;
    w->t->num_records++;
    if (x.name_info)
        note_name(w, x.name_info);
    return note_string(w, x.file) && (!x.defname || note_string(w, x.defname));
}

/* Is `record` among the first `steps` records from `start`? Those are all new, so that all such
 * questions together read each record once. Only A has links that could lead back. */
static bool on_path(const walk *w, uint64_t start, uint64_t record, unsigned steps)
{
    fk_frame f;
    fk_record_parts x = {.next = start};
    for (; steps && x.next != record; steps--) {
        if (fk_record_read(w->t, x.next, &f, &x, NULL))
            return false;
    }
    return steps > 0;
}

/* Is a record wide from `at` on? For a chain that is the end of another one. */
static bool rest_is_wide(const walk *w, uint64_t at)
{
    enum { ENOUGH = 64 }; /* no inlining is deeper, and damage stays cheap */
    fk_frame f;
    fk_record_parts x;
    for (unsigned i = 0; at && i < ENOUGH && !fk_record_read(w->t, at, &f, &x, NULL); i++) {
        if (f.wide)
            return true;
        at = x.next;
    }
    return false;
}

static bool walk_chain(walk *w, uint64_t start, bool *wide)
{
    uint64_t avail, at = start;
    unsigned steps = 0;
    for (; at && steps < FK_MAX_CHAIN; steps++) {
        if (!fk_table_bytes(w->t, at, &avail))
            return false;
        if (!set_bit(w, w->seen, at)) {
            *wide |= w->t->debug == FK_DEBUG_C && rest_is_wide(w, at);
            return !on_path(w, start, at, steps);
        }
        if (!visit_record(w, at, &at, wide))
            return false;
    }
    return at == 0;
}

static bool visit_chain(walk *w, uint64_t start, bool *wide)
{
    uint64_t avail;
    bool here = false;
    if (!fk_table_bytes(w->t, start, &avail))
        return false;
    if (!set_bit(w, w->starts, start)) {
        *wide |= get_bit(w, w->wides, start);
        return true;
    }
    w->t->num_chains++;
    bool ok = walk_chain(w, start, &here);
    if (here)
        set_bit(w, w->wides, start);
    *wide |= here;
    return ok;
}

static void visit_debug(walk *w, const fk_descr *d)
{
    bool wide = false;
    for (uint32_t i = 0; i < d->num_debug; i++) {
        uint64_t at = fk_descr_debuginfo(d, i);
        if (at && !visit_chain(w, at, &wide))
            set_fault(w->t, FK_FAULT_CHAIN, d->index, at, 0);
    }
    w->t->num_wide += wide;
}

/* --- descriptors ------------------------------------------------------------------------------ */

/* The byte before a return address is code: a call that never returns may end its section. */
static bool in_code(walk *w, uint64_t retaddr)
{
    if (!w->code || retaddr - 1 - w->code->addr >= w->code->size)
        w->code = fk_region_before(w->t->image, retaddr);
    return w->code && w->code->code;
}

static uint64_t walk_descriptors(walk *w)
{
    fk_table *t = w->t;
    fk_cursor c;
    fk_descr d;
    fk_fault fault;
    bool records = t->debug != FK_DEBUG_RAW;
    for (fk_cursor_start(t, &c); c.index < t->num_descr; c.index++) {
        d.table = t;
        d.index = c.index;
        d.address = c.address;
        fault = t->gen->read(t, c.p, c.end, c.prev_retaddr, &d);
        if (!fault && !in_code(w, d.retaddr))
            fault = FK_FAULT_RETADDR;
        if (fault) {
            set_fault(t, fault, c.index, c.address,
                      fault == FK_FAULT_RETADDR ? d.retaddr : c.prev_retaddr);
            break;
        }
        if (records)
            visit_debug(w, &d);
        w->special_end = d.flags & FK_DESCR_RETURN_TO_C ? d.address + (uint64_t)(d.live - c.p) : 0;
        c.p += d.size;
        c.address += d.size;
        c.prev_retaddr = d.retaddr;
    }
    t->num_good = c.index;
    return c.address;
}

/* --- parts ----------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t addr, unsigned word)
{
    return addr + fk_pad(addr, word);
}

/* Past the pad of the last name. */
static uint64_t names_end(const walk *w)
{
    uint64_t avail;
    const uint8_t *p = w->last_name ? fk_table_bytes(w->t, w->last_name, &avail) : NULL;
    if (!p)
        return w->records_end;
    return round_up(w->last_name + strnlen((const char *)p, avail) + 1, w->t->word);
}

/* A table that ends with a return to C may lack its last pad, and other data may stand there: the
 * symbol's size tells, or that the bytes are not zero. The sizes count the pad all the same. */
static unsigned foreign_pad(const walk *w, uint64_t descr_end, uint64_t end)
{
    const fk_table *t = w->t;
    uint64_t cut = w->special_end;
    if (!cut || cut >= descr_end || w->last_name)
        return 0;
    uint32_t pad = fk_ld32(t->bytes + (cut - t->address), false);
    return (end ? end == cut : pad != 0) ? (unsigned)(descr_end - cut) : 0;
}

static void measure_parts(walk *w, uint64_t descr_end)
{
    fk_table *t = w->t;
    uint64_t end = t->symbol_size ? t->address + t->symbol_size : 0;
    if (t->symbol_size > t->avail) {
        set_fault(t, FK_FAULT_SYMBOL, FK_NO_ENTRY, t->address, 0);
        end = 0;
    }
    t->foreign_pad = (uint8_t)foreign_pad(w, descr_end, end);
    uint64_t records_end = w->records_end > descr_end ? w->records_end : descr_end;
    uint64_t names = w->last_name ? w->names_begin : records_end;
    uint64_t decoded = names_end(w);
    t->descr_bytes = descr_end - t->address;
    if (t->debug == FK_DEBUG_RAW) {
        t->debuginfo_bytes = end > descr_end ? end - descr_end : 0;
        return;
    }
    if (names < records_end)
        names = records_end;
    if (decoded < names)
        decoded = names;
    if (end && decoded - end == t->foreign_pad)
        end = decoded;
    t->debuginfo_bytes = names - descr_end;
    t->name_bytes = decoded > names ? decoded - names : 0;
    t->extra_bytes = end > decoded ? end - decoded : 0;
    if (end && !t->fault && decoded > end)
        set_fault(t, FK_FAULT_END, FK_NO_ENTRY, t->address, decoded - end);
}

static void find_last_nul(walk *w)
{
    const fk_table *t = w->t;
    uint64_t n = t->avail;
    while (n && t->bytes[n - 1])
        n--;
    w->last_nul = n ? t->address + n - 1 : 0;
}

/* The least bytes that n descriptors take: the last may lack its pad. */
static bool count_fits(const fk_table *t)
{
    uint64_t room = t->avail - t->word;
    return t->num_descr <= room / (t->gen->min_size ? t->gen->min_size : t->word + 4u);
}

static void measure(walk *w)
{
    fk_table *t = w->t;
    if (t->avail < t->word) {
        set_fault(t, FK_FAULT_NO_BYTES, FK_NO_ENTRY, t->address, 0);
        t->num_descr = t->num_good = 0;
        return;
    }
    if (!count_fits(t))
        set_fault(t, FK_FAULT_COUNT, FK_NO_ENTRY, t->address, 0);
    find_last_nul(w);
    measure_parts(w, walk_descriptors(w));
}

fk_result fk_tables_measure(fk_image *im, fk_error *err)
{
    uint64_t most = 0;
    for (size_t i = 0; i < im->num_tables; i++)
        most = im->tables[i].avail > most ? im->tables[i].avail : most;
    uint64_t size = most / 32 + 1;
    uint8_t *bits = calloc(3, size);
    if (!bits)
        return fk_fail_memory(err, im->name);
    for (size_t i = 0; i < im->num_tables; i++) {
        walk w = {.t = &im->tables[i], .seen = bits, .starts = bits + size,
                  .wides = bits + 2 * size, .names_begin = UINT64_MAX};
        measure(&w);
        for (int k = 0; k < 3; k++) /* what was set, not all that could be */
            memset(bits + (uint64_t)k * size, 0, w.last_bit / 8 + 1);
    }
    free(bits);
    return FK_OK;
}
