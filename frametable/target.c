/* target.c - which symbol a place refers to.
 *
 *   object   the relocation at the place: an instruction field or a data word
 *   linked   the dynamic relocation at the place (a GOT slot, a word of data), or, when one of the
 *            linker's stubs lies there, what its jump leads to:
 *
 *            bl stub ---> [ load slot; jump ] ---> slot, whose relocation names the callee
 *            bl stub ---> [ make address; jump ] ---> callee, or a stub again
 *
 * Arrays of an object are searched where they lie: assemblers write them sorted. Of a linked file
 * most entries are RELATIVE and name nothing: the others are kept apart, sorted, together with
 * those of arrays that are not. */
#include <gelf.h>
#include <stdlib.h>

#include "frametable/image.h"
#include "frametable/search.h"

/* The symbol of an entry: a section symbol with addend is the function there. PC-relative fields
 * of code count from another place than the instruction's own zero: pc_addend makes up for it. */
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
    uint64_t addend = e->addend + (r->code_target ? (uint64_t)im->abi->pc_addend : 0);
    if (fk_image_symbol_at(im, out->addr + addend, &named) != FK_OK)
        return false;
    *out = named;
    return true;
}

/* --- the table ------------------------------------------------------------------------------ */

/* Most entries of a linked file are RELATIVE: one word tells. */
static bool has_symbol(const fk_image *im, const fk_relocs *r, uint64_t i)
{
    uint64_t info = fk_ldword(r->p + i * r->entsize + im->word, im->word, im->swap);
    return info >> (im->word == 8 ? 32 : 8);
}

static bool is_searched(const fk_image *im, const fk_relocs *r)
{
    return im->relocatable && r->sorted;
}

static bool add_target(fk_image *im, size_t *room, fk_target t)
{
    if (im->num_targets == *room) {
        size_t more = 2 * *room + 64;
        fk_target *p = realloc(im->targets, more * sizeof *p);
        if (!p)
            return false;
        im->targets = p;
        *room = more;
    }
    im->targets[im->num_targets++] = t;
    return true;
}

static bool add_named(fk_image *im)
{
    size_t room = 0;
    fk_reloc e;
    for (size_t k = 0; k < im->num_relocs; k++) {
        const fk_relocs *r = &im->relocs[k];
        if (r->relr || is_searched(im, r))
            continue;
        for (uint64_t i = 0; i < r->count; i++) {
            if (has_symbol(im, r, i) && fk_reloc_get(im, r, i, &e) &&
                !add_target(im, &room, (fk_target){e.offset, (uint32_t)k, (uint32_t)i}))
                return false;
        }
    }
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const fk_target *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->array != y->array)
        return x->array < y->array ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static void add_arrays(fk_image *im)
{
    for (size_t k = 0; k < im->num_relocs; k++) {
        if (!im->relocs[k].relr && is_searched(im, &im->relocs[k]) && im->relocs[k].count)
            im->arrays[im->num_arrays++] = (fk_target){im->relocs[k].base, (uint32_t)k, 0};
    }
    qsort(im->arrays, im->num_arrays, sizeof *im->arrays, by_offset);
}

/* What the linker's stubs count from: a symbol says it, else the global offset table. */
static uint64_t find_got(const fk_image *im)
{
    uint64_t got = 0;
    fk_symbol s;
    if (im->abi->got_symbol && fk_image_symbol(im, im->abi->got_symbol, &s) == FK_OK)
        return s.addr;
    for (size_t i = 0; i < im->num_regions; i++) {
        const char *name = im->regions[i].name;
        if (strcmp(name, ".got.plt") == 0)
            return im->regions[i].addr + im->abi->got_bias;
        if (strcmp(name, ".got") == 0)
            got = im->regions[i].addr + im->abi->got_bias;
    }
    return got;
}

fk_result fk_targets_load(fk_image *im, fk_error *err)
{
    im->arrays = malloc((im->num_relocs + 1) * sizeof *im->arrays);
    if (!im->arrays || !add_named(im))
        return fk_fail_memory(err, im->name);
    if (im->num_targets)
        qsort(im->targets, im->num_targets, sizeof *im->targets, by_offset);
    add_arrays(im);
    im->got = find_got(im);
    return FK_OK;
}

/* --- relocations ---------------------------------------------------------------------------- */

static bool named_at(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    fk_reloc e;
    size_t i = FK_COUNT_BELOW(fk_target, im->targets, im->num_targets, offset, addr);
    for (; i < im->num_targets && im->targets[i].offset == addr; i++) {
        const fk_relocs *r = &im->relocs[im->targets[i].array];
        if (fk_reloc_get(im, r, im->targets[i].entry, &e) && refers(im, r, &e, out))
            return true;
    }
    return false;
}

static bool target_in(const fk_image *im, const fk_relocs *r, uint64_t addr, fk_symbol *out)
{
    fk_reloc e;
    for (uint64_t i = fk_reloc_search(im, r, addr); i < r->count; i++) {
        if (!fk_reloc_get(im, r, i, &e) || e.offset != addr)
            break;
        if (refers(im, r, &e, out))
            return true;
    }
    return false;
}

/* The arrays of the section that holds addr; all of them begin where it does. */
static bool object_target(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    size_t n = FK_COUNT_UPTO(fk_target, im->arrays, im->num_arrays, offset, addr);
    uint64_t base = n ? im->arrays[n - 1].offset : 0;
    for (; n > 0 && im->arrays[n - 1].offset == base; n--) {
        const fk_relocs *r = &im->relocs[im->arrays[n - 1].array];
        if (addr - base < r->limit && target_in(im, r, addr, out))
            return true;
    }
    return false;
}

/* --- stubs ----------------------------------------------------------------------------------- */

/* A veneer may lead to an entry of the PLT. */
#define MOST_STUBS 4

/* What linkers call their stubs; other local names are functions, whatever they begin with. */
static bool is_stub_name(const char *name)
{
    static const char *const parts[] = {"plt_", "_branch", "_veneer", "Thunk_"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strstr(name, parts[i]))
            return true;
    }
    return false;
}

static bool begins_function(const fk_image *im, uint64_t addr)
{
    fk_symbol s;
    return fk_image_symbol_at(im, addr, &s) == FK_OK && s.addr == addr &&
           (s.global || !is_stub_name(s.name));
}

static bool may_be_stub(const fk_image *im, const fk_region *g, uint64_t addr)
{
    if (!g || !g->code || addr - g->addr >= g->file_size || addr % im->abi->code_align)
        return false;
    bool plt = strncmp(g->name, ".plt", 4) == 0 || strncmp(g->name, ".iplt", 5) == 0;
    return plt || !g->name[0] || (im->abi->stubs_anywhere && !begins_function(im, addr));
}

static bool function_at(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    return fk_image_symbol_at(im, addr, out) == FK_OK &&
           (out->addr == addr || out->addr + im->abi->local_entry == addr);
}

/* The address that a slot holds: 0 when only the loader knows. */
static uint64_t slot_value(const fk_image *im, uint64_t slot)
{
    uint64_t avail;
    const uint8_t *p = fk_image_bytes(im, slot, &avail);
    return p && avail >= im->word ? fk_ldword(p, im->word, im->swap) : 0;
}

/* One step from a stub: true when it names the callee, else *addr is where it leads, or 0. */
static bool follow(const fk_image *im, uint64_t *addr, fk_symbol *out)
{
    const fk_region *g = fk_region_at(im, *addr);
    uint64_t to = 0, from = *addr;
    bool slot = false;
    *addr = 0;
    if (!may_be_stub(im, g, from) ||
        !fk_abi_stub(im->abi, g->bytes + (from - g->addr), g->file_size - (from - g->addr), from,
                     im->got, &to, &slot))
        return false;
    if (slot && named_at(im, to, out))
        return true;
    *addr = slot ? slot_value(im, to) : to;
    return false;
}

static bool stub_target(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    for (int i = 0; i < MOST_STUBS && addr; i++) {
        if (follow(im, &addr, out))
            return true;
        if (addr && function_at(im, addr, out) && (out->global || !is_stub_name(out->name)))
            return true;
    }
    return false;
}

fk_result fk_image_target(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    bool found = named_at(im, addr, out) || object_target(im, addr, out) ||
                 (!im->relocatable && stub_target(im, addr, out));
    return found ? FK_OK : FK_ABSENT;
}
