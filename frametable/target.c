/* target.c - which symbol a place refers to.
 *
 *   object   the relocation at the place: an instruction field or a data word
 *   linked   the dynamic relocation at the place (a GOT slot, a word of data), or the entry of the
 *            procedure linkage table that lies there:
 *
 *            .plt      | header | entry 0 | entry 1 | ...      header = size - entries * entry size
 *            .rela.plt          | slot 0  | slot 1  | ...      in the same order
 *
 * RELATIVE relocations name nothing and are most of all: the others are kept apart, sorted. power
 * has no such table: its linker writes call stubs into the code, with symbols of their own. */
#include <gelf.h>
#include <stdlib.h>

#include "frametable/image.h"

/* The symbol of an entry: a section symbol with addend is the function there. */
static bool refers(const fk_image *im, const fk_relocs *r, const fk_reloc *e, fk_symbol *out)
{
    uint32_t section;
    uint8_t info;
    if (e->symbol == 0 ||
        !fk_symtab_get(im, &im->symtabs[r->symtab], e->symbol, out, &section, &info))
        return false;
    if ((info & 15) != STT_SECTION)
        return out->name[0] != 0;
    fk_symbol named;
    if (fk_image_symbol_at(im, out->addr + e->addend, &named) != FK_OK)
        return false;
    *out = named;
    return true;
}

/* --- objects ------------------------------------------------------------------------------- */

/* First entry at or after addr in a sorted array. */
static uint64_t search(const fk_image *im, const fk_relocs *r, uint64_t addr)
{
    uint64_t lo = 0, hi = r->count, want = addr - r->base;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (fk_ldword(r->p + mid * r->entsize, im->word, im->swap) < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool target_in(const fk_image *im, const fk_relocs *r, uint64_t addr, fk_symbol *out)
{
    fk_reloc e;
    if (addr - r->base >= r->limit)
        return false;
    for (uint64_t i = r->sorted ? search(im, r, addr) : 0; i < r->count; i++) {
        if (!fk_reloc_get(im, r, i, &e))
            continue;
        if (e.offset == addr && refers(im, r, &e, out))
            return true;
        if (r->sorted && e.offset > addr)
            break;
    }
    return false;
}

static fk_result object_target(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    for (size_t i = 0; i < im->num_relocs; i++) {
        if (!im->relocs[i].relr && target_in(im, &im->relocs[i], addr, out))
            return FK_OK;
    }
    return FK_ABSENT;
}

/* --- linked files --------------------------------------------------------------------------- */

/* Most entries are RELATIVE: one word tells. */
static bool has_symbol(const fk_image *im, const fk_relocs *r, uint64_t i)
{
    uint64_t info = fk_ldword(r->p + i * r->entsize + im->word, im->word, im->swap);
    return info >> (im->word == 8 ? 32 : 8);
}

static uint64_t each_named(fk_image *im, fk_target *to)
{
    uint64_t n = 0;
    fk_reloc e;
    for (size_t k = 0; k < im->num_relocs; k++) {
        const fk_relocs *r = &im->relocs[k];
        for (uint64_t i = 0; !r->relr && i < r->count; i++) {
            if (!has_symbol(im, r, i) || !fk_reloc_get(im, r, i, &e))
                continue;
            if (to)
                to[n] = (fk_target){e.offset, (uint32_t)k, (uint32_t)i};
            n++;
        }
    }
    return n;
}

static int by_offset(const void *a, const void *b)
{
    const fk_target *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

fk_result fk_targets_load(fk_image *im, fk_error *err)
{
    if (im->relocatable)
        return FK_OK;
    im->num_targets = each_named(im, NULL);
    im->targets = malloc((im->num_targets + 1) * sizeof *im->targets);
    if (!im->targets)
        return fk_fail_memory(err, im->name);
    each_named(im, im->targets);
    qsort(im->targets, im->num_targets, sizeof *im->targets, by_offset);
    return FK_OK;
}

static fk_result named_at(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    fk_target want = {.offset = addr};
    const fk_target *t = im->num_targets ? bsearch(&want, im->targets, im->num_targets,
                                                   sizeof want, by_offset) : NULL;
    fk_reloc e;
    if (!t || !fk_reloc_get(im, &im->relocs[t->array], t->entry, &e) ||
        !refers(im, &im->relocs[t->array], &e, out))
        return FK_ABSENT;
    return FK_OK;
}

/* Slots of functions: TLS descriptors stand behind them on arm64. */
static uint64_t plt_entries(const fk_image *im, const fk_relocs *r)
{
    fk_reloc first, e;
    uint64_t n = 0;
    while (n < r->count && fk_reloc_get(im, r, n, &e)) {
        if (n == 0)
            first = e;
        if (e.type != first.type)
            break;
        n++;
    }
    return n;
}

/* arm64's linker leaves the entry size out: 16, or 24 with branch targets, behind 32 bytes. */
static uint64_t plt_entry_size(const fk_region *g, uint64_t entries)
{
    if (g->entsize)
        return g->entsize;
    for (uint64_t size = 16; size <= 24; size += 8) {
        if (entries * size + 32 == g->size)
            return size;
    }
    return 0;
}

static fk_result plt_target(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    const fk_region *g = fk_region_at(im, addr);
    const fk_relocs *r = im->plt_relocs ? &im->relocs[im->plt_relocs - 1] : NULL;
    fk_reloc e;
    /* .plt.sec has no header; .plt.got is in another order. */
    if (!g || !r || strncmp(g->name, ".plt", 4) != 0 || strcmp(g->name, ".plt.got") == 0)
        return FK_ABSENT;
    uint64_t entries = plt_entries(im, r), size = plt_entry_size(g, entries);
    if (size == 0 || entries > g->size / size || addr - g->addr < g->size - entries * size)
        return FK_ABSENT;
    uint64_t n = (addr - g->addr - (g->size - entries * size)) / size;
    if (!fk_reloc_get(im, r, n, &e) || !refers(im, r, &e, out))
        return FK_ABSENT;
    return FK_OK;
}

fk_result fk_image_target(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    if (im->relocatable)
        return object_target(im, addr, out);
    return named_at(im, addr, out) == FK_OK ? FK_OK : plt_target(im, addr, out);
}
