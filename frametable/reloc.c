/* reloc.c - relocations: applying them to data, counting them, and naming what they refer to.
 *
 * Only loaded data is changed. A word that already holds its value is not written: the linkers of
 * amd64, arm64 and power leave the addend in place in a PIE, so nothing becomes private there. On
 * riscv64 (and for symbolic ones on s390x) the word in the file is 0. */
#include <gelf.h>
#include <stdlib.h>

#include "frametable/image.h"
#include "frametable/search.h"

bool fk_reloc_get(const fk_image *im, const fk_relocs *r, uint64_t i, fk_reloc *out)
{
    const uint8_t *p = r->p + i * r->entsize;
    uint64_t offset = fk_ldword(p, im->word, im->swap);
    uint64_t info = fk_ldword(p + im->word, im->word, im->swap);
    if (offset >= r->limit)
        return false;
    out->offset = r->base + offset;
    out->symbol = (uint32_t)(im->word == 8 ? info >> 32 : info >> 8);
    out->type = im->word == 8 ? (uint32_t)info : (uint32_t)(info & 0xFF);
    out->addend = 0;
    if (r->rela)
        out->addend = im->word == 8 ? fk_ld64(p + 16, im->swap)
                                    : (uint64_t)(int64_t)(int32_t)fk_ld32(p + 8, im->swap);
    return true;
}

/* --- applying ------------------------------------------------------------------------- */

/* What the loop keeps between entries: neighbours have the same type and region. */
typedef struct {
    fk_image *im;
    const fk_relocs *r;
    const fk_region *region;
    const fk_reloc_form *form;
    uint32_t type;
} applier;

static uint8_t *place_of(applier *a, uint64_t addr, unsigned size)
{
    const fk_region *g = a->region;
    if (!g || addr - g->addr >= g->size)
        g = fk_region_at(a->im, addr);
    if (!g)
        g = fk_debug_region_at(a->im, addr);
    a->region = g;
    if (!g || g->code || addr - g->addr > g->file_size || size > g->file_size - (addr - g->addr))
        return NULL;
    return g->bytes + (addr - g->addr);
}

static uint64_t load_sized(const uint8_t *p, unsigned size, bool swap)
{
    switch (size) {
    case 1:
        return *p;
    case 2:
        return fk_ld16(p, swap);
    case 4:
        return fk_ld32(p, swap);
    default:
        return fk_ld64(p, swap);
    }
}

static void store_sized(uint8_t *p, uint64_t v, unsigned size, bool swap)
{
    if (load_sized(p, size, swap) == (size == 8 ? v : v & ((1ull << 8 * size) - 1)))
        return;
    switch (size) {
    case 1:
        *p = (uint8_t)v;
        break;
    case 2:
        fk_st16(p, (uint16_t)v, swap);
        break;
    case 4:
        fk_st32(p, (uint32_t)v, swap);
        break;
    default:
        fk_st64(p, v, swap);
    }
}

/* Address of a symbol; false when it is not defined here. */
static bool symbol_value(const fk_image *im, const fk_relocs *r, uint32_t symbol, uint64_t *out)
{
    fk_symbol s;
    uint32_t section;
    uint8_t info;
    *out = 0;
    if (symbol == 0)
        return true;
    if (!fk_symtab_get(im, &im->symtabs[r->symtab], symbol, &s, &section, &info))
        return false;
    *out = s.addr;
    return section != SHN_UNDEF && section != SHN_COMMON;
}

static void apply_form(applier *a, const fk_reloc *e, const fk_reloc_form *f)
{
    const fk_image *im = a->im;
    uint8_t *p = place_of(a, e->offset, f->size);
    uint64_t s = 0, old;
    if (!p || (f->kind != FK_RELOC_RELATIVE && !symbol_value(im, a->r, e->symbol, &s)))
        return;
    old = load_sized(p, f->size, im->swap);
    uint64_t v = s + (a->r->rela ? e->addend : old);
    switch (f->kind) {
    case FK_RELOC_PCREL32:
        v -= e->offset;
        break;
    case FK_RELOC_ADD:
        v = old + s + e->addend;
        break;
    case FK_RELOC_SUB:
        v = old - s - e->addend;
        break;
    case FK_RELOC_SET6: /* the high 2 bits are an opcode of call frame information */
        v = (old & 0xC0) | (v & 0x3F);
        break;
    case FK_RELOC_SUB6:
        v = (old & 0xC0) | ((old - s - e->addend) & 0x3F);
        break;
    default:
        break;
    }
    store_sized(p, v, f->size, im->swap);
}

static bool changes_data(const fk_reloc_form *f)
{
    return f && f->kind != FK_RELOC_CALL && f->kind != FK_RELOC_GOT &&
           (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

/* How many entries from i on are RELATIVE, of 64 bits, and in place already: nearly all of a PIE
 * whose linker wrote the addends. */
static uint64_t skip_done(applier *a, uint64_t i)
{
    const fk_relocs *r = a->r;
    const bool swap = a->im->swap;
    uint64_t start = i;
    for (; i < r->count; i++) {
        const uint8_t *p = r->p + i * 24, *place;
        uint64_t offset = fk_ld64(p, swap);
        if (fk_ld64(p + 8, swap) != a->type || offset >= r->limit)
            break;
        place = place_of(a, r->base + offset, 8);
        if (!place || fk_ld64(place, swap) != fk_ld64(p + 16, swap))
            break;
    }
    return i - start;
}

static bool may_be_done(const applier *a)
{
    return a->form && a->form->kind == FK_RELOC_RELATIVE && a->r->rela && a->im->word == 8;
}

static void apply_array(applier *a)
{
    fk_reloc e;
    for (uint64_t i = 0; i < a->r->count; i++) {
        if (i > 0 && may_be_done(a) && (i += skip_done(a, i)) == a->r->count)
            break;
        if (!fk_reloc_get(a->im, a->r, i, &e))
            continue;
        if (e.type != a->type || i == 0) {
            a->type = e.type;
            a->form = fk_abi_reloc(a->im->abi, e.type);
        }
        if (changes_data(a->form))
            apply_form(a, &e, a->form);
    }
}

/* RELR words hold their addend, which is the address itself when the base is 0: nothing to do. */

/* How many at the front are in order. */
static uint64_t count_rising(const fk_image *im, const fk_relocs *r)
{
    uint64_t prev = 0, i;
    for (i = 0; i < r->count; i++) {
        uint64_t at = fk_ldword(r->p + i * r->entsize, im->word, im->swap);
        if (at < prev)
            break;
        prev = at;
    }
    return i;
}

uint64_t fk_reloc_search(const fk_image *im, const fk_relocs *r, uint64_t addr)
{
    uint64_t lo = 0, hi = addr > r->base ? r->rising : 0, want = addr - r->base;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (fk_ldword(r->p + mid * r->entsize, im->word, im->swap) < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

fk_result fk_relocs_apply(fk_image *im, fk_error *err)
{
    (void)err;
    for (size_t i = 0; i < im->num_relocs; i++) {
        fk_relocs *r = &im->relocs[i];
        applier a = {.im = im, .r = r};
        if (r->relr)
            continue;
        r->rising = count_rising(im, r);
        r->sorted = r->rising == r->count;
        if (!r->code_target)
            apply_array(&a);
    }
    return FK_OK;
}

/* --- counting ---------------------------------------------------------------------------- */

/* `avail` reaches to the next table, over data that is not the table's. */
static uint64_t used(const fk_table *t)
{
    return t->descr_bytes + t->debuginfo_bytes + t->name_bytes + t->extra_bytes;
}

static bool holds(const fk_table *t, uint64_t addr)
{
    return addr - t->address < used(t);
}

/* The table that holds addr; neighbours in an array hit the same one. */
static fk_table *table_at(const fk_image *im, uint64_t addr, fk_table *last)
{
    if (last && holds(last, addr))
        return last;
    size_t n = FK_COUNT_UPTO(fk_table, im->tables, im->num_tables, address, addr);
    return n && holds(&im->tables[n - 1], addr) ? &im->tables[n - 1] : NULL;
}

/* A RELR array: an even word is an address, an odd one a bitmap for the words that follow it. Each
 * word of the array is counted for the table that its first address lies in. */
static void count_relr(fk_image *im, const fk_relocs *r)
{
    uint64_t where = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        uint64_t v = fk_ldword(r->p + i * im->word, im->word, im->swap);
        uint64_t at = where;
        if (!(v & 1)) {
            at = v;
            where = v + im->word;
        } else {
            for (uint64_t bits = v >> 1; bits && !(bits & 1); bits >>= 1)
                at += im->word;
            where += (8ull * im->word - 1) * im->word;
        }
        fk_table *t = table_at(im, at, NULL);
        if (t)
            t->relocation_bytes += im->word;
    }
}

/* Those in order: where each table begins and ends in them. */
static void count_rising_of(fk_image *im, const fk_relocs *r)
{
    uint64_t last = r->limit <= UINT64_MAX - r->base ? r->base + r->limit : UINT64_MAX;
    for (size_t i = 0; i < im->num_tables; i++) {
        fk_table *t = &im->tables[i];
        uint64_t end = t->address + used(t);
        if (i + 1 < im->num_tables && im->tables[i + 1].address < end)
            end = im->tables[i + 1].address;
        end = end < last ? end : last;
        if (t->address < end && end > r->base)
            t->relocation_bytes +=
                r->entsize * (fk_reloc_search(im, r, end) - fk_reloc_search(im, r, t->address));
    }
}

static void count_array(fk_image *im, const fk_relocs *r)
{
    fk_table *t = NULL;
    fk_reloc e;
    count_rising_of(im, r);
    for (uint64_t i = r->rising; i < r->count; i++) {
        if (!fk_reloc_get(im, r, i, &e))
            continue;
        t = table_at(im, e.offset, t);
        if (t)
            t->relocation_bytes += r->entsize;
    }
}

void fk_relocs_count(fk_image *im)
{
    for (size_t i = 0; im->num_tables && i < im->num_relocs; i++) {
        const fk_relocs *r = &im->relocs[i];
        if (r->code_target)
            continue;
        if (r->relr)
            count_relr(im, r);
        else
            count_array(im, r);
    }
}
