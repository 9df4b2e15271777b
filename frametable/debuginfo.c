/* debuginfo.c - one reader per form of debuginfo record, and chains.
 *
 * A record is two 32-bit words, info1 then info2, each in the target's byte order: on a big-endian
 * target they are not one 64-bit integer. info1 & 0x3FFFFFC is an offset from the record.
 *
 *   A   63     44 43   36 35  26 25      2 1 0   | next record, absolute, 0 = last (word)
 *       |  line  | start | end  | file    |kind |   kind 1 = raise
 *   B   |  line  | start | end  | name    |R|N|   R raise, N another record follows
 *   C   packed:    63=0 | line 12 | dl 3 | start 6 | end 7 | offset 9 | name |R|N|
 *       wide:      63=1 | line 19 | dl 18                              | name |R|N|
 *
 *   name_info           int32 file name, relative to itself | def name, NUL
 *   name_and_loc_info   int32 file name | u16 start | u16 end | int32 end offset | def name, NUL */
#include "frametable/internal.h"

#define NAME_OFFSET(info1) ((info1)&0x3FFFFFC)

unsigned fk_record_size(const fk_table *t)
{
    return t->debug == FK_DEBUG_A ? 8 + t->word : 8;
}

/* Bytes at addr, at least n of them; NULL with the error set. */
static const uint8_t *need(const fk_table *t, uint64_t record, uint64_t addr, uint64_t n,
                           const char *what, fk_error *err)
{
    uint64_t avail;
    const uint8_t *p = fk_table_bytes(t, addr, &avail);
    if (p && avail >= n)
        return p;
    fk_fail_table(t, err, record, FK_NO_ENTRY,
                  "debuginfo record: %s at 0x%llx is outside of the table", what,
                  (unsigned long long)addr);
    return NULL;
}

static fk_result read_a(const fk_table *t, const uint8_t *p, fk_frame *f, fk_record_parts *x)
{
    uint32_t i1 = f->raw[0], i2 = f->raw[1];
    f->raise = (i1 & 3) == 1;
    f->line = f->end_line = (int32_t)(i2 >> 12);
    f->start_char = (int32_t)(i2 >> 4 & 0xFF);
    f->end_char = (int32_t)((i2 & 15) << 6 | i1 >> 26);
    f->end_line = -1;
    f->end_offset = -1;
    x->file = f->address + NAME_OFFSET(i1);
    x->next = fk_ldword(p + 8, t->word, t->swap);
    return FK_OK;
}

static void read_b(fk_frame *f)
{
    uint32_t i1 = f->raw[0], i2 = f->raw[1];
    f->line = (int32_t)(i2 >> 12);
    f->end_line = -1;
    f->start_char = (int32_t)(i2 >> 4 & 0xFF);
    f->end_char = (int32_t)((i2 & 15) << 6 | i1 >> 26);
    f->end_offset = -1;
}

static void read_c_packed(fk_frame *f)
{
    uint32_t i1 = f->raw[0], i2 = f->raw[1];
    f->line = (int32_t)(i2 >> 19);
    f->end_line = f->line + (int32_t)(i2 >> 16 & 7);
    f->start_char = (int32_t)(i2 >> 10 & 63);
    f->end_char = (int32_t)(i2 >> 3 & 127);
    f->end_offset = f->end_char + (int32_t)((i2 & 7) << 6 | i1 >> 26);
}

static void read_c_wide(const fk_table *t, const uint8_t *info, fk_frame *f)
{
    uint32_t i1 = f->raw[0], i2 = f->raw[1];
    f->wide = true;
    f->line = (int32_t)(i2 >> 12 & 0x7FFFF);
    f->end_line = f->line + (int32_t)((i2 & 0xFFF) << 6 | i1 >> 26);
    f->start_char = fk_ld16(info + 4, t->swap);
    f->end_char = fk_ld16(info + 6, t->swap);
    f->end_offset = (int32_t)fk_ld32(info + 8, t->swap);
}

static fk_result read_bc(const fk_table *t, fk_frame *f, fk_record_parts *x, fk_error *err)
{
    bool wide = t->debug == FK_DEBUG_C && f->raw[1] >> 31;
    x->name_info = f->address + NAME_OFFSET(f->raw[0]);
    const uint8_t *info = need(t, f->address, x->name_info, wide ? 13 : 5, "name", err);
    if (!info)
        return FK_BROKEN;
    f->raise = f->raw[0] >> 1 & 1;
    if (wide)
        read_c_wide(t, info, f);
    else if (t->debug == FK_DEBUG_C)
        read_c_packed(f);
    else
        read_b(f);
    x->file = x->name_info + (uint64_t)(int64_t)(int32_t)fk_ld32(info, t->swap);
    x->defname = x->name_info + (wide ? 12 : 4);
    x->next = f->raw[0] & 1 ? f->address + 8 : 0;
    return FK_OK;
}

static void read_raw(fk_frame *f)
{
    f->opaque = true;
    f->line = f->end_line = f->start_char = f->end_char = f->end_offset = -1;
}

fk_result fk_record_read(const fk_table *t, uint64_t address, fk_frame *f, fk_record_parts *x,
                         fk_error *err)
{
    const uint8_t *p = need(t, address, address, fk_record_size(t), "the record", err);
    if (!p)
        return FK_BROKEN;
    *f = (fk_frame){.address = address};
    *x = (fk_record_parts){0};
    f->raw[0] = fk_ld32(p, t->swap);
    f->raw[1] = fk_ld32(p + 4, t->swap);
    if (t->debug == FK_DEBUG_A)
        return read_a(t, p, f, x);
    if (t->debug != FK_DEBUG_RAW)
        return read_bc(t, f, x, err);
    read_raw(f);
    return FK_OK;
}

/* The NUL-terminated string at addr. */
static const char *string_at(const fk_table *t, uint64_t record, uint64_t addr, const char *what,
                             fk_error *err)
{
    uint64_t avail = 0;
    const uint8_t *p = need(t, record, addr, 1, what, err);
    if (!p)
        return NULL;
    fk_table_bytes(t, addr, &avail);
    if (memchr(p, 0, avail))
        return (const char *)p;
    fk_fail_table(t, err, record, FK_NO_ENTRY, "debuginfo record: %s at 0x%llx has no end", what,
                  (unsigned long long)addr);
    return NULL;
}

void fk_chain_start(const fk_table *t, uint64_t debuginfo, fk_chain *c)
{
    c->table = t;
    c->next = debuginfo;
    c->left = FK_MAX_CHAIN;
}

static fk_result chain_broken(fk_chain *c)
{
    c->next = 0;
    return FK_BROKEN;
}

fk_result fk_chain_next(fk_chain *c, fk_frame *f, fk_error *err)
{
    fk_record_parts x;
    if (!c->next)
        return FK_ABSENT;
    if (c->left-- == 0) {
        fk_fail_table(c->table, err, c->next, FK_NO_ENTRY,
                      "debuginfo chain is longer than %d records or turns in a circle",
                      FK_MAX_CHAIN);
        return chain_broken(c);
    }
    if (fk_record_read(c->table, c->next, f, &x, err))
        return chain_broken(c);
    if (!f->opaque && !(f->file = string_at(c->table, f->address, x.file, "file name", err)))
        return chain_broken(c);
    if (x.defname &&
        !(f->defname = string_at(c->table, f->address, x.defname, "function name", err)))
        return chain_broken(c);
    c->next = x.next;
    return FK_OK;
}
