/* rows.c - CIEs, FDEs and the rows that their instructions make. Every read is bounded by the
 * section; an FDE makes at most one row for each of its bytes, and its code is never walked. */
#include "frametable/verify/rows.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frametable/bytes.h"
#include "frametable/search.h"
#include "frametable/verify/reader.h"

enum { MAX_REMEMBERED = 64 };

typedef struct {
    uint64_t offset; /* in the section */
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_column;
    uint8_t encoding; /* of pointers in FDEs */
    bool signal, augmented;
    const uint8_t *code; /* initial instructions */
    size_t size;
    uint32_t section;
} cie;

typedef struct {
    uint64_t from, to;
    const uint8_t *code;
    uint32_t size, cie;
} fde;

typedef fk_cfi_section section;

struct fk_cfi {
    bool swap;
    unsigned word;
    section *sections;
    cie *cies;
    fde *fdes;
    size_t num_sections, num_cies, num_fdes, room_sections, room_cies, room_fdes;
    char fault[160];
};

struct fk_cfi_cursor {
    size_t fde;
    bool full, broken;
    int64_t entry_cfa;
    fk_row *rows;
    size_t count, room;
};

static void *more(void *list, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return list;
    size_t n = *room ? *room * 2 : 64;
    void *p = realloc(list, n * size);
    if (p != NULL)
        *room = n;
    return p;
}

static void fault(fk_cfi *c, const section *s, uint64_t offset, const char *why)
{
    if (c->fault[0] == 0)
        snprintf(c->fault, sizeof c->fault, "%s+0x%llx: %s", s->name, (unsigned long long)offset,
                 why);
}

/* --- entries --------------------------------------------------------------------------- */

/* One entry: where it starts, its id, and a reader behind the id. */
typedef struct {
    uint64_t offset, id_offset, id;
    bool is_cie;
    fk_reader body;
} entry;

typedef enum { NEXT_OK, NEXT_END, NEXT_BAD } next_result;

/* Steps *at over one entry. */
static next_result next_entry(const fk_cfi *c, const section *s, uint64_t *at, entry *e)
{
    fk_reader r = {s->bytes + *at, s->bytes + s->size, c->swap, false};
    uint64_t length;
    bool wide;
    if (*at >= s->size)
        return NEXT_END;
    length = fk_read_u32(&r);
    wide = length == 0xFFFFFFFF;
    if (wide)
        length = fk_read_u64(&r);
    if (length == 0 && s->eh && !r.bad)
        return NEXT_END;
    if (r.bad || length > (uint64_t)(r.end - r.p))
        return NEXT_BAD;
    r.end = r.p + length;
    e->offset = *at;
    e->id_offset = (uint64_t)(r.p - s->bytes);
    e->id = wide && !s->eh ? fk_read_u64(&r) : fk_read_u32(&r);
    e->is_cie = s->eh ? e->id == 0 : e->id == (wide ? UINT64_MAX : UINT32_MAX);
    e->body = r;
    *at = (uint64_t)(r.end - s->bytes);
    return r.bad ? NEXT_BAD : NEXT_OK;
}

/* A pointer of encoding `how` at address `pc` of the field. Only what assemblers write for code:
 * absolute or relative to the field. */
static bool read_pointer(const fk_cfi *c, fk_reader *r, const section *s, uint8_t how,
                         uint64_t *out)
{
    uint64_t field = s->addr + (uint64_t)(r->p - s->bytes), v;
    switch (how & 0x0F) {
    case DW_EH_PE_absptr: v = c->word == 8 ? fk_read_u64(r) : fk_read_u32(r); break;
    case DW_EH_PE_udata2: v = fk_read_u16(r); break;
    case DW_EH_PE_udata4: v = fk_read_u32(r); break;
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8: v = fk_read_u64(r); break;
    case DW_EH_PE_sdata2: v = (uint64_t)(int64_t)(int16_t)fk_read_u16(r); break;
    case DW_EH_PE_sdata4: v = (uint64_t)(int64_t)(int32_t)fk_read_u32(r); break;
    default: return false;
    }
    if ((how & 0x70) == DW_EH_PE_pcrel)
        v += field;
    else if ((how & 0x70) != 0)
        return false;
    *out = v;
    return !r->bad && !(how & DW_EH_PE_indirect);
}

/* The augmentation data that the letters announce; false: a letter that is not known. */
static bool read_augmentation(const fk_cfi *c, fk_reader *r, const section *s, const char *letters,
                              cie *out)
{
    uint64_t ignored;
    out->augmented = letters[0] == 'z';
    if (letters[0] == 0)
        return true;
    if (letters[0] != 'z')
        return false;
    uint64_t size = fk_read_uleb(r);
    if (r->bad || size > (uint64_t)(r->end - r->p))
        return false;
    fk_reader data = {r->p, r->p + size, c->swap, false};
    r->p += size;
    for (const char *l = letters + 1; *l != 0; l++) {
        if (*l == 'R')
            out->encoding = fk_read_u8(&data);
        else if (*l == 'L')
            fk_read_u8(&data);
        else if (*l == 'S')
            out->signal = true;
        else if (*l == 'P') {
            uint8_t how = fk_read_u8(&data) & 0x7F;
            if (!read_pointer(c, &data, s, how, &ignored))
                return false;
        } else if (*l != 'B')
            return false;
    }
    return !data.bad;
}

static bool read_cie(const fk_cfi *c, const section *s, const entry *e, cie *out)
{
    fk_reader r = e->body;
    uint8_t version = fk_read_u8(&r);
    const char *letters = fk_read_string(&r);
    uint32_t index = (uint32_t)(s - c->sections);
    *out = (cie){.offset = e->offset, .encoding = DW_EH_PE_absptr, .section = index};
    if (letters == NULL || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4 && (fk_read_u8(&r) != c->word || fk_read_u8(&r) != 0))
        return false;
    out->code_align = fk_read_uleb(&r);
    out->data_align = fk_read_sleb(&r);
    out->ra_column = version == 1 ? fk_read_u8(&r) : fk_read_uleb(&r);
    if (!read_augmentation(c, &r, s, letters, out))
        return false;
    out->code = r.p;
    out->size = (size_t)(r.end - r.p);
    return !r.bad;
}

/* CIEs come in the order of their sections and offsets. */
static const cie *find_cie(const fk_cfi *c, uint32_t of, uint64_t offset)
{
    size_t lo = 0, hi = c->num_cies;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const cie *m = &c->cies[mid];
        if (m->section < of || (m->section == of && m->offset < offset))
            lo = mid + 1;
        else
            hi = mid;
    }
    const cie *found = lo < c->num_cies ? &c->cies[lo] : NULL;
    return found && found->section == of && found->offset == offset ? found : NULL;
}

static bool read_fde(const fk_cfi *c, const section *s, const entry *e, fde *out)
{
    fk_reader r = e->body;
    uint64_t size = 0, skip;
    const cie *of = find_cie(c, (uint32_t)(s - c->sections), s->eh ? e->id_offset - e->id : e->id);
    if (of == NULL || !read_pointer(c, &r, s, of->encoding, &out->from) ||
        !read_pointer(c, &r, s, of->encoding & 0x0F, &size))
        return false;
    if (of->augmented) {
        skip = fk_read_uleb(&r);
        if (r.bad || skip > (uint64_t)(r.end - r.p))
            return false;
        r.p += skip;
    }
    out->to = out->from + size;
    out->code = r.p;
    out->size = (uint32_t)(r.end - r.p);
    out->cie = (uint32_t)(of - c->cies);
    return !r.bad && out->to >= out->from;
}

/* false: no memory. */
static bool add_cie(fk_cfi *c, const section *s, const entry *e)
{
    void *p = more(c->cies, &c->room_cies, c->num_cies, sizeof *c->cies);
    if (p == NULL)
        return false;
    c->cies = p;
    if (read_cie(c, s, e, &c->cies[c->num_cies]))
        c->num_cies++;
    else
        fault(c, s, e->offset, "the CIE has a form that is not known");
    return true;
}

static bool add_fde(fk_cfi *c, const section *s, const entry *e)
{
    void *p = more(c->fdes, &c->room_fdes, c->num_fdes, sizeof *c->fdes);
    if (p == NULL)
        return false;
    c->fdes = p;
    fde *f = &c->fdes[c->num_fdes];
    if (!read_fde(c, s, e, f))
        fault(c, s, e->offset, "the FDE leads to no CIE, or its addresses cannot be read");
    else if (f->to > f->from)
        c->num_fdes++;
    return true;
}

static bool read_entries(fk_cfi *c, const section *s, bool cies)
{
    uint64_t at = 0;
    entry e;
    next_result n;
    bool memory = true;
    while (memory && (n = next_entry(c, s, &at, &e)) == NEXT_OK)
        if (e.is_cie == cies)
            memory = cies ? add_cie(c, s, &e) : add_fde(c, s, &e);
    if (memory && n == NEXT_BAD)
        fault(c, s, at, "the length of the entry runs past the end of the section");
    return memory;
}

static int by_address(const void *a, const void *b)
{
    const fde *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* --- sections --------------------------------------------------------------------------- */

bool fk_cfi_add(fk_cfi *c, const fk_cfi_section *s)
{
    void *p = more(c->sections, &c->room_sections, c->num_sections, sizeof *c->sections);
    if (p == NULL)
        return false;
    c->sections = p;
    c->sections[c->num_sections++] = *s;
    return true;
}

fk_cfi *fk_cfi_new(bool swap, unsigned word)
{
    fk_cfi *c = calloc(1, sizeof *c);
    if (c != NULL)
        c->swap = swap, c->word = word;
    return c;
}

bool fk_cfi_read(fk_cfi *c)
{
    bool memory = true;
    for (size_t i = 0; memory && i < c->num_sections; i++)
        memory = read_entries(c, &c->sections[i], true);
    for (size_t i = 0; memory && i < c->num_sections; i++)
        memory = read_entries(c, &c->sections[i], false);
    if (memory && c->num_fdes > 0)
        qsort(c->fdes, c->num_fdes, sizeof *c->fdes, by_address);
    return memory;
}

void fk_cfi_close(const fk_cfi *c)
{
    if (c == NULL)
        return;
    free(c->sections);
    free(c->cies);
    free(c->fdes);
    free((void *)(uintptr_t)c);
}

size_t fk_cfi_count(const fk_cfi *c)
{
    return c->num_fdes;
}

const char *fk_cfi_fault(const fk_cfi *c)
{
    return c->fault[0] ? c->fault : NULL;
}

/* --- instructions ----------------------------------------------------------------------------- */

typedef struct {
    const fk_cfi *cfi;
    const cie *cie;
    fk_cfi_cursor *out;
    fk_row now, initial, kept[MAX_REMEMBERED];
    unsigned depth;
    uint64_t end;
    bool in_cie, no_memory;
} machine;

static bool push_row(machine *m, uint64_t to)
{
    fk_cfi_cursor *c = m->out;
    if (to > m->end)
        to = m->end;
    if (to <= m->now.from)
        return to == m->now.from;
    fk_row *p = more(c->rows, &c->room, c->count, sizeof *p);
    if (p == NULL) {
        m->no_memory = true;
        return false;
    }
    c->rows = p;
    m->now.to = to;
    p[c->count++] = m->now;
    m->now.from = to;
    return true;
}

static bool advance(machine *m, uint64_t units)
{
    return !m->in_cie && units <= UINT32_MAX &&
           push_row(m, m->now.from + units * m->cie->code_align);
}

static bool set_ra(machine *m, uint64_t column, fk_ra_kind kind, int64_t offset)
{
    if (column == m->cie->ra_column) {
        m->now.ra = kind;
        m->now.ra_offset = offset;
    }
    return true;
}

static bool restore_ra(machine *m, uint64_t column)
{
    return set_ra(m, column, m->initial.ra, m->initial.ra_offset);
}

static bool set_cfa(machine *m, fk_cfa_kind kind, uint64_t reg, int64_t offset)
{
    m->now.cfa = kind;
    m->now.cfa_register = (uint32_t)reg;
    m->now.cfa_offset = offset;
    return true;
}

/* Changes half of a CFA that is register + offset: the other half must be one. */
static bool change_cfa(machine *m, uint64_t reg, int64_t offset)
{
    return m->now.cfa == FK_CFA_REGISTER && set_cfa(m, FK_CFA_REGISTER, reg, offset);
}

/* Wraps instead of overflowing: a hostile file may say anything. */
static int64_t scaled(uint64_t n, int64_t unit)
{
    return (int64_t)(n * (uint64_t)unit);
}

static bool skip_block(fk_reader *r)
{
    uint64_t n = fk_read_uleb(r);
    if (r->bad || n > (uint64_t)(r->end - r->p))
        return false;
    r->p += n;
    return true;
}

static bool remember(machine *m)
{
    if (m->depth == MAX_REMEMBERED)
        return false;
    m->kept[m->depth++] = m->now;
    return true;
}

static bool recall(machine *m)
{
    if (m->depth == 0)
        return false;
    uint64_t from = m->now.from;
    m->now = m->kept[--m->depth];
    m->now.from = from;
    return true;
}

/* Operands are read left to right, before the call that uses them. */
static bool with_register(machine *m, fk_reader *r, uint8_t op)
{
    uint64_t reg = fk_read_uleb(r);
    int64_t unit = m->cie->data_align;
    switch (op) {
    case DW_CFA_offset_extended: return set_ra(m, reg, FK_RA_AT_CFA, scaled(fk_read_uleb(r), unit));
    case DW_CFA_offset_extended_sf:
        return set_ra(m, reg, FK_RA_AT_CFA, scaled((uint64_t)fk_read_sleb(r), unit));
    case DW_CFA_GNU_negative_offset_extended:
        return set_ra(m, reg, FK_RA_AT_CFA, scaled(-fk_read_uleb(r), unit));
    case DW_CFA_restore_extended: return restore_ra(m, reg);
    case DW_CFA_undefined: return set_ra(m, reg, FK_RA_OTHER, 0);
    case DW_CFA_same_value: return set_ra(m, reg, FK_RA_SAME, 0);
    case DW_CFA_register:
    case DW_CFA_val_offset: fk_read_uleb(r); return set_ra(m, reg, FK_RA_OTHER, 0);
    case DW_CFA_val_offset_sf: fk_read_sleb(r); return set_ra(m, reg, FK_RA_OTHER, 0);
    case DW_CFA_expression:
    case DW_CFA_val_expression: return skip_block(r) && set_ra(m, reg, FK_RA_OTHER, 0);
    case DW_CFA_def_cfa: return set_cfa(m, FK_CFA_REGISTER, reg, (int64_t)fk_read_uleb(r));
    case DW_CFA_def_cfa_sf:
        return set_cfa(m, FK_CFA_REGISTER, reg, scaled((uint64_t)fk_read_sleb(r), unit));
    case DW_CFA_def_cfa_register: /* GNU as up to 2.40 begins riscv64's CIE with it: offset 0 */
        return m->now.cfa != FK_CFA_EXPRESSION &&
               set_cfa(m, FK_CFA_REGISTER, reg, m->now.cfa_offset);
    default: return false;
    }
}

static bool extended(machine *m, fk_reader *r, uint8_t op)
{
    switch (op) {
    case DW_CFA_nop:
    case DW_CFA_GNU_window_save: return true; /* on arm64: the return address is signed */
    case DW_CFA_advance_loc1: return advance(m, fk_read_u8(r));
    case DW_CFA_advance_loc2: return advance(m, fk_read_u16(r));
    case DW_CFA_advance_loc4: return advance(m, fk_read_u32(r));
    case DW_CFA_remember_state: return remember(m);
    case DW_CFA_restore_state: return recall(m);
    case DW_CFA_def_cfa_offset: return change_cfa(m, m->now.cfa_register, (int64_t)fk_read_uleb(r));
    case DW_CFA_def_cfa_offset_sf:
        return change_cfa(m, m->now.cfa_register,
                          scaled((uint64_t)fk_read_sleb(r), m->cie->data_align));
    case DW_CFA_def_cfa_expression: return skip_block(r) && set_cfa(m, FK_CFA_EXPRESSION, 0, 0);
    case DW_CFA_GNU_args_size: fk_read_uleb(r); return true;
    default: return with_register(m, r, op);
    }
}

static bool set_location(machine *m, fk_reader *r)
{
    const section *s = &m->cfi->sections[m->cie->section];
    uint64_t to;
    return !m->in_cie && read_pointer(m->cfi, r, s, m->cie->encoding, &to) && push_row(m, to);
}

static bool one_instruction(machine *m, fk_reader *r)
{
    uint8_t op = fk_read_u8(r);
    switch (op & 0xC0) {
    case DW_CFA_advance_loc: return advance(m, op & 0x3F);
    case DW_CFA_offset:
        return set_ra(m, op & 0x3F, FK_RA_AT_CFA, scaled(fk_read_uleb(r), m->cie->data_align));
    case DW_CFA_restore: return restore_ra(m, op & 0x3F);
    default: return op == DW_CFA_set_loc ? set_location(m, r) : extended(m, r, op);
    }
}

static bool interpret(machine *m, const uint8_t *code, size_t size)
{
    fk_reader r = {code, code + size, m->cfi->swap, false};
    while (r.p < r.end && !r.bad)
        if (!one_instruction(m, &r))
            return false;
    return !r.bad;
}

/* --- look-up ---------------------------------------------------------------------------------- */

fk_cfi_cursor *fk_cfi_cursor_new(void)
{
    return calloc(1, sizeof(fk_cfi_cursor));
}

void fk_cfi_cursor_free(fk_cfi_cursor *c)
{
    if (c != NULL)
        free(c->rows);
    free(c);
}

/* FK_SYSTEM: no memory. */
static fk_result fill(const fk_cfi *c, fk_cfi_cursor *at, size_t i)
{
    const fde *f = &c->fdes[i];
    machine m = {.cfi = c, .cie = &c->cies[f->cie], .out = at, .in_cie = true, .end = f->to};
    at->fde = i;
    at->full = true;
    at->count = 0;
    at->broken = !interpret(&m, m.cie->code, m.cie->size);
    m.initial = m.now;
    at->entry_cfa = m.now.cfa_offset;
    m.now.from = f->from;
    m.in_cie = false;
    if (!at->broken)
        at->broken = !interpret(&m, f->code, f->size) || !push_row(&m, f->to);
    at->full = !m.no_memory;
    return m.no_memory ? FK_SYSTEM : FK_OK;
}

/* The last FDE that starts at or before pc; num_fdes: none. */
static size_t find_fde(const fk_cfi *c, uint64_t pc)
{
    size_t lo = FK_COUNT_UPTO(fde, c->fdes, c->num_fdes, from, pc);
    return lo > 0 && pc < c->fdes[lo - 1].to ? lo - 1 : c->num_fdes;
}

static const fk_row *find_row(const fk_cfi_cursor *at, uint64_t pc)
{
    size_t lo = FK_COUNT_UPTO(fk_row, at->rows, at->count, to, pc);
    return lo < at->count && at->rows[lo].from <= pc ? &at->rows[lo] : NULL;
}

fk_result fk_cfi_row(const fk_cfi *c, fk_cfi_cursor *at, uint64_t pc, fk_row *out, fk_fde *about)
{
    size_t i = at->full && pc >= c->fdes[at->fde].from && pc < c->fdes[at->fde].to
                   ? at->fde
                   : find_fde(c, pc);
    if (i == c->num_fdes)
        return FK_ABSENT;
    if (!(at->full && at->fde == i) && fill(c, at, i) != FK_OK)
        return FK_SYSTEM;
    if (about != NULL)
        *about = (fk_fde){c->fdes[i].from, c->fdes[i].to, at->entry_cfa,
                          c->cies[c->fdes[i].cie].signal, at->broken};
    const fk_row *row = at->broken ? NULL : find_row(at, pc);
    if (row == NULL)
        return FK_BROKEN;
    *out = *row;
    return FK_OK;
}

fk_result fk_cfi_next(const fk_cfi *c, uint64_t pc, uint64_t *from, uint64_t *to)
{
    size_t lo = FK_COUNT_BELOW(fde, c->fdes, c->num_fdes, from, pc);
    if (lo == c->num_fdes)
        return FK_ABSENT;
    *from = c->fdes[lo].from;
    *to = c->fdes[lo].to;
    return FK_OK;
}
