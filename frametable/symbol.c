/* symbol.c - the symbols of an image by address and by name.
 *
 * Names come from .symtab, or from .dynsym when the file is stripped (OCaml programs export all).
 * Assembler-local labels (.L) and mapping symbols ($x, $d) name nothing a person knows: left out.
 */
#include <gelf.h>
#include <stdlib.h>

#include "frametable/image.h"
#include "frametable/memory.h"

bool fk_symtab_get(const fk_image *im, const fk_symtab *t, uint64_t i, fk_symbol *out,
                   uint32_t *section, uint8_t *info)
{
    if (i >= t->count)
        return false;
    bool wide = im->word == 8;
    const uint8_t *p = t->p + i * (wide ? 24 : 16);
    uint32_t name = fk_ld32(p, im->swap);
    *info = p[wide ? 4 : 12];
    *section = fk_ld16(p + (wide ? 6 : 14), im->swap);
    if (*section == SHN_XINDEX && t->xindex)
        *section = fk_ld32(t->xindex + 4 * i, im->swap);
    out->addr = wide ? fk_ld64(p + 8, im->swap) : fk_ld32(p + 4, im->swap);
    out->size = wide ? fk_ld64(p + 16, im->swap) : fk_ld32(p + 8, im->swap);
    out->name = name < t->strings_size ? t->strings + name : "";
    out->function = (*info & 15) == STT_FUNC || (*info & 15) == STT_GNU_IFUNC;
    out->global = *info >> 4 != STB_LOCAL;
    if (im->relocatable && *section < im->num_sections)
        out->addr += im->section_addr[*section];
    return true;
}

/* Every name must end inside of the strings. */
static void trim_strings(fk_symtab *t)
{
    while (t->strings_size && t->strings[t->strings_size - 1])
        t->strings_size--;
}

static bool is_named(const fk_image *im, const fk_symbol *s, uint32_t section, uint8_t info)
{
    unsigned type = info & 15;
    if (section == SHN_UNDEF || section == SHN_ABS || section == SHN_COMMON)
        return false;
    if (type == STT_FILE || type == STT_SECTION || type == STT_TLS || !s->name[0])
        return false;
    if (s->name[0] == '$' || (s->name[0] == '.' && s->name[1] == 'L'))
        return false;
    return !im->relocatable || (section < im->num_sections && im->section_addr[section]);
}

static uint8_t rank_of(const fk_symbol *s)
{
    return (uint8_t)(s->function * 4 + (s->size != 0) * 2 + s->global);
}

static void collect(fk_image *im, const fk_symtab *t)
{
    for (uint64_t i = 1; i < t->count; i++) {
        fk_symbol s;
        uint32_t section;
        uint8_t info;
        fk_symtab_get(im, t, i, &s, &section, &info);
        if (!is_named(im, &s, section, info))
            continue;
        im->syms[im->num_syms++] =
            (fk_sym){.addr = s.addr, .size = s.size, .name = (uint32_t)(s.name - t->strings),
                     .function = s.function, .global = s.global, .rank = rank_of(&s)};
    }
}

/* --- order ------------------------------------------------------------------------------------
 * By address; of aliases the best last, which is where a search from above arrives first. Counting
 * passes over 11 bits of the address, least significant first: three to four for a program of
 * 33,000 symbols, where a comparing sort took a fifth of the time of opening it. */
#define DIGIT_BITS 11

typedef uint64_t (*digit_fn)(const fk_sym *, unsigned shift);

static uint64_t rank_digit(const fk_sym *s, unsigned shift)
{
    return s->rank >> shift;
}

static uint64_t addr_digit(const fk_sym *s, unsigned shift)
{
    return s->addr >> shift & ((1u << DIGIT_BITS) - 1);
}

/* Stable: keeps the order of equal digits. */
static void counting_pass(const fk_sym *from, fk_sym *to, size_t n, digit_fn digit, unsigned shift)
{
    size_t start[1 << DIGIT_BITS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        start[digit(&from[i], shift)]++;
    for (size_t d = 0; d < 1 << DIGIT_BITS; d++) {
        size_t count = start[d];
        start[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[digit(&from[i], shift)]++] = from[i];
}

static uint64_t used_bits(const fk_image *im)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < im->num_syms; i++)
        bits |= im->syms[i].addr;
    return bits;
}

static void swap_buffers(fk_image *im, fk_sym **other)
{
    fk_sym *t = im->syms;
    im->syms = *other;
    *other = t;
}

static bool sort_symbols(fk_image *im)
{
    fk_sym *other = fk_populate(malloc((im->num_syms + 1) * sizeof *other),
                                im->num_syms * sizeof *other);
    if (!other)
        return false;
    uint64_t bits = used_bits(im);
    counting_pass(im->syms, other, im->num_syms, rank_digit, 0);
    swap_buffers(im, &other);
    for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
        counting_pass(im->syms, other, im->num_syms, addr_digit, shift);
        swap_buffers(im, &other);
    }
    free(other);
    return true;
}

/* --- names ----------------------------------------------------------------------------- */

/* Eight bytes a step; the names of a program are a megabyte. */
static uint32_t hash(const char *s)
{
    size_t n = strlen(s);
    uint64_t h = n, w = 0;
    for (; n >= 8; n -= 8, s += 8) {
        memcpy(&w, s, 8);
        h = (h ^ w) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    w = 0;
    memcpy(&w, s, n);
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

static const char *name_of(const fk_image *im, size_t i)
{
    return im->symtabs[0].strings + im->syms[i].name;
}

/* The first of equal names stays; equal names are local. */
static void insert_name(fk_image *im, size_t i)
{
    uint32_t at = hash(name_of(im, i)) & im->names_mask;
    for (; im->names[at]; at = (at + 1) & im->names_mask) {
        if (strcmp(name_of(im, im->names[at] - 1), name_of(im, i)) == 0)
            return;
    }
    im->names[at] = (uint32_t)i + 1;
}

static fk_result build_names(fk_image *im, fk_error *err)
{
    uint32_t cap = 4;
    while (cap < 2 * im->num_syms)
        cap *= 2;
    im->names_mask = cap - 1;
    im->names = fk_populate(calloc(cap, sizeof *im->names), cap * sizeof *im->names);
    im->functions = malloc((im->num_syms + 1) * sizeof *im->functions);
    if (!im->names || !im->functions)
        return fk_fail_memory(err, im->name);
    for (size_t i = 0; i < im->num_syms; i++) {
        insert_name(im, i);
        if (im->syms[i].function)
            im->functions[im->num_functions++] = (uint32_t)i;
    }
    return FK_OK;
}

fk_result fk_symbols_load(fk_image *im, fk_error *err)
{
    trim_strings(&im->symtabs[0]);
    trim_strings(&im->symtabs[1]);
    if (im->symtabs[0].count <= 1 && !im->relocatable)
        im->symtabs[0] = im->symtabs[1];
    fk_symtab *t = &im->symtabs[0];
    if (t->count > UINT32_MAX / 4)
        return fk_image_fail(im, err, NULL, 0, "%llu symbols are too many",
                             (unsigned long long)t->count);
    im->syms = fk_populate(malloc((t->count + 1) * sizeof *im->syms), t->count * sizeof *im->syms);
    if (!im->syms)
        return fk_fail_memory(err, im->name);
    collect(im, t);
    if (!sort_symbols(im))
        return fk_fail_memory(err, im->name);
    return build_names(im, err);
}

/* --- queries ----------------------------------------------------------------------- */

static void symbol_out(const fk_image *im, size_t i, fk_symbol *out)
{
    const fk_sym *s = &im->syms[i];
    *out = (fk_symbol){.name = name_of(im, i), .addr = s->addr, .size = s->size,
                       .function = s->function, .global = s->global};
}

/* Hand-written stubs often have no size: they reach to the next function. */
static bool covers(const fk_image *im, const fk_sym *s, uint64_t addr)
{
    if (s->size)
        return addr - s->addr < s->size;
    const fk_region *g = fk_region_at(im, s->addr);
    return g && addr - g->addr < g->size;
}

size_t fk_functions_upto(const fk_image *im, uint64_t addr)
{
    size_t lo = 0, hi = im->num_functions;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (im->syms[im->functions[mid]].addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

fk_result fk_image_symbol_at(const fk_image *im, uint64_t addr, fk_symbol *out)
{
    size_t lo = fk_functions_upto(im, addr);
    /* Functions seldom nest: a few steps back find an outer one. */
    for (size_t i = lo; i > 0 && lo - i < 8; i--) {
        size_t s = im->functions[i - 1];
        if (covers(im, &im->syms[s], addr)) {
            symbol_out(im, s, out);
            return FK_OK;
        }
    }
    return FK_ABSENT;
}

fk_result fk_image_symbol(const fk_image *im, const char *name, fk_symbol *out)
{
    if (!im->names)
        return FK_ABSENT;
    uint32_t at = hash(name) & im->names_mask;
    for (; im->names[at]; at = (at + 1) & im->names_mask) {
        if (strcmp(name_of(im, im->names[at] - 1), name) == 0) {
            symbol_out(im, im->names[at] - 1, out);
            return FK_OK;
        }
    }
    return FK_ABSENT;
}

fk_result fk_image_symbol_nth(const fk_image *im, size_t n, fk_symbol *out)
{
    if (n >= im->num_syms)
        return FK_ABSENT;
    symbol_out(im, n, out);
    return FK_OK;
}
