/* scan.c - finding tables by structure, when a file has no symbols.
 *
 *   1. an aligned word n, 0 < n < 2^20, whose next word leads into code;
 *   2. n descriptors can be read there and the first ones stand behind calls or have debuginfo;
 *   3. the longest run of words that lead to such places, or to a word 0 (an empty table), ended by
 *      0, is `caml_frametable` and gives all tables of a program, empty ones too.
 *
 * False candidates are closures (header 3063 or 4087, then a code pointer): the descriptor behind
 * them has an impossible frame size; and a 1 before a pointer in C's data: mostly so. Objects and
 * plugins have no array: what step 2 finds is all.
 */
#include <stdlib.h>

#include "frametable/scan.h"
#include "frametable/search.h"

typedef struct {
    fk_image *im;
    fk_error *err;
    uint64_t *hits; /* addresses, increasing */
    size_t num_hits, cap_hits;
    uint64_t code_low, code_high;
    const fk_generation *gens;
    size_t num_gens;
} scanner;

static fk_result add_hit(scanner *s, uint64_t addr)
{
    if (s->num_hits == s->cap_hits) {
        size_t cap = s->cap_hits ? 2 * s->cap_hits : 256;
        uint64_t *p = realloc(s->hits, cap * sizeof *p);
        if (!p)
            return fk_fail_memory(s->err, s->im->name);
        s->hits = p;
        s->cap_hits = cap;
    }
    s->hits[s->num_hits++] = addr;
    return FK_OK;
}

static void code_bounds(scanner *s)
{
    s->code_low = UINT64_MAX;
    for (size_t i = 0; i < s->im->num_regions; i++) {
        const fk_region *g = &s->im->regions[i];
        if (!g->code)
            continue;
        if (g->addr < s->code_low)
            s->code_low = g->addr;
        s->code_high = g->addr + g->size;
    }
}

/* A frame that a table of one descriptor may have. */
#define LARGEST_ALONE 4096

/* The word 1 and a pointer to a function stand in C's data as well, and the function may begin
 * behind a call: what follows then makes a frame of any size. */
static bool may_stand_alone(const fk_table *t, const fk_gen *g)
{
    fk_table one = *t;
    fk_descr d;
    one.gen = g;
    return t->num_descr > 1 || fk_descr_read(&one, t->bytes + t->word, 0, 0, &d) ||
           d.frame_size <= LARGEST_ALONE;
}

/* Bytes of a table at addr, 0: none. */
static uint64_t table_size(const scanner *s, const fk_region *g, uint64_t addr)
{
    fk_table t;
    fk_table_init(s->im, g, addr, &t);
    for (size_t i = 0; i < s->num_gens; i++) {
        uint64_t evidence, end;
        uint64_t n = fk_plausible(&t, fk_gen_get(s->gens[i]), t.num_descr, &evidence, &end);
        uint64_t checked = n < 8 ? n : 8;
        if (n == t.num_descr && evidence > 0 && evidence >= checked / 2 &&
            may_stand_alone(&t, fk_gen_get(s->gens[i])))
            return end - addr;
    }
    return 0;
}

static bool leads_to_code(const scanner *s, uint64_t retaddr)
{
    unsigned unit = s->im->abi && s->im->abi->code_align ? s->im->abi->code_align : 1;
    return retaddr > s->code_low && retaddr <= s->code_high && retaddr % unit == 0;
}

/* Cheap test of the words at p before any descriptor is read. */
static bool candidate(const scanner *s, const fk_region *g, uint64_t off)
{
    const fk_image *im = s->im;
    const uint8_t *p = g->bytes + off;
    uint64_t n = fk_ldword(p, im->word, im->swap);
    if (n == 0 || n >= FK_SCAN_MAX_DESCR || n > (g->file_size - off) / 3)
        return false;
    if (s->gens[0] < FK_GEN_O2)
        return leads_to_code(s, fk_ldword(p + im->word, im->word, im->swap));
    if (g->file_size - off < 16)
        return false;
    uint64_t at = g->addr + off + 8;
    return leads_to_code(s, at + (uint64_t)(int64_t)(int32_t)fk_ld32(p + 8, im->swap)) ||
           leads_to_code(s, at + 1 + (uint64_t)(int64_t)(int32_t)fk_ld32(p + 9, im->swap));
}

/* The smallest table is a count and a return to C, which has no pad at the end of a section. */
static fk_result scan_region(scanner *s, const fk_region *g)
{
    unsigned w = s->im->word;
    uint64_t off = fk_pad(g->addr, w);
    while (off + 2 * w + 4 <= g->file_size) {
        uint64_t size = candidate(s, g, off) ? table_size(s, g, g->addr + off) : 0;
        if (size && add_hit(s, g->addr + off))
            return FK_SYSTEM;
        off += size ? (size + w - 1) & ~(uint64_t)(w - 1) : w;
    }
    return FK_OK;
}

static fk_result scan_regions(scanner *s, bool read_only)
{
    for (size_t i = 0; i < s->im->num_regions; i++) {
        const fk_region *g = &s->im->regions[i];
        if ((g->writable || read_only) && scan_region(s, g))
            return FK_SYSTEM;
    }
    return FK_OK;
}

/* --- the array --------------------------------------------------------------------------- */

static bool is_hit(const scanner *s, uint64_t addr)
{
    size_t lo = fk_count_keys(s->hits, sizeof *s->hits, 0, s->num_hits, addr);
    return lo < s->num_hits && s->hits[lo] == addr;
}

static bool is_empty_table(const scanner *s, uint64_t addr)
{
    const fk_image *im = s->im;
    const fk_region *g = addr % im->word ? NULL : fk_region_at(im, addr);
    uint64_t off = g ? addr - g->addr : 0;
    return g && !g->code && off < g->file_size && g->file_size - off >= im->word &&
           fk_ldword(g->bytes + off, im->word, im->swap) == 0;
}

typedef struct {
    uint64_t addr, words, hits;
} run;

/* Keeps the run that leads to most tables. */
static void longest_run(const scanner *s, const fk_region *g, run *best)
{
    const fk_image *im = s->im;
    run now = {0};
    for (uint64_t off = fk_pad(g->addr, im->word); off + im->word <= g->file_size;
         off += im->word) {
        uint64_t v = fk_ldword(g->bytes + off, im->word, im->swap);
        bool hit = v && is_hit(s, v);
        if (hit || (v && is_empty_table(s, v))) {
            now = now.words ? now : (run){.addr = g->addr + off};
            now.words++;
            now.hits += hit;
            continue;
        }
        if (v == 0 && now.hits > best->hits)
            *best = now;
        now.words = now.hits = 0;
    }
}

static run find_array(const scanner *s)
{
    run best = {0};
    for (size_t i = 0; i < s->im->num_regions; i++) {
        if (s->im->regions[i].writable)
            longest_run(s, &s->im->regions[i], &best);
    }
    return best;
}

static fk_result tables_from_hits(scanner *s)
{
    fk_image *im = s->im;
    if (s->num_hits == 0)
        return FK_OK;
    free(im->tables);
    im->tables = calloc(s->num_hits, sizeof *im->tables);
    if (!im->tables)
        return fk_fail_memory(s->err, im->name);
    for (size_t i = 0; i < s->num_hits; i++)
        fk_table_init(im, fk_region_at(im, s->hits[i]), s->hits[i], &im->tables[im->num_tables++]);
    return FK_OK;
}

/* An array that misses most of what was found is something else. */
static fk_result take(scanner *s)
{
    run array = find_array(s);
    s->im->located_by = "scan";
    if (array.hits > s->num_hits / 2)
        return fk_tables_from_array(s->im, array.addr, array.words, s->err);
    return tables_from_hits(s);
}

fk_result fk_tables_scan(fk_image *im, fk_error *err)
{
    static const fk_generation absolute[] = {FK_GEN_O1, FK_GEN_A};
    static const fk_generation relative[] = {FK_GEN_O2, FK_GEN_O3};
    scanner s = {.im = im, .err = err, .gens = absolute, .num_gens = 2};
    code_bounds(&s);
    fk_result r = scan_regions(&s, false);
    if (!r && s.num_hits == 0 && im->word == 8) {
        s.gens = relative;
        r = scan_regions(&s, true);
    }
    if (!r)
        r = take(&s);
    free(s.hits);
    return r;
}
