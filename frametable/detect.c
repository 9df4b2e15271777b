/* detect.c - which generation an image has, from its data alone.
 *
 * Layout: every candidate reads the same tables; the one that reads most wins. Wrong ones fail
 * within a few descriptors: a return address is not code, a frame is no multiple of the word, a
 * debuginfo slot leads out of the table. B and C (and O1 without long frames) have one descriptor
 * layout, so the records vote: see vote(). Only then does the symbol's separator count (`__` up to
 * 5.0). */
#include <stdio.h>

#include "frametable/image.h"
#include "frametable/scan.h"

/* Enough to decide; the rest of the file is read once, by the measure pass. */
#define SAMPLE_DESCR 5000

static bool frame_plausible(const fk_descr *d, unsigned word)
{
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return true;
    return d->frame_size % word == 0 && d->num_live <= d->frame_size / word + 300;
}

/* Roots are words of the frame or of the arguments above it, or registers. */
static bool live_plausible(const fk_descr *d, unsigned word)
{
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live v = fk_descr_live(d, i);
        if (v.reg >= 0 ? v.reg >= 64 : v.offset % (int)word || v.offset > (int)d->frame_size + 4096)
            return false;
    }
    return true;
}

static bool slots_plausible(const fk_descr *d)
{
    const fk_table *t = d->table;
    if (t->gen->id == FK_GEN_O3)
        return true;
    for (uint32_t i = 0; i < d->num_debug; i++) {
        uint64_t at = fk_descr_debuginfo(d, i), avail;
        if (at == 0 && d->flags & FK_DESCR_ALLOC)
            continue;
        if (at % 4 || at < d->address + d->size || !fk_table_bytes(t, at, &avail) || avail < 8)
            return false;
    }
    return true;
}

static bool behind_call(const fk_image *im, uint64_t retaddr)
{
    const fk_region *g = fk_region_before(im, retaddr);
    uint64_t n = g ? retaddr - g->addr : 0;
    return g && n <= g->file_size && fk_abi_call_length(im->abi, g->bytes, n) > 0;
}

static bool in_code(const fk_image *im, uint64_t retaddr)
{
    const fk_region *g = fk_region_before(im, retaddr);
    return g && g->code;
}

uint64_t fk_plausible(const fk_table *t, const fk_gen *g, uint64_t limit, uint64_t *evidence,
                      uint64_t *end)
{
    fk_table as = *t;
    as.gen = g;
    as.num_good = t->num_descr < limit ? t->num_descr : limit;
    fk_cursor c;
    fk_descr d;
    uint64_t n = 0;
    *evidence = 0;
    for (fk_cursor_start(&as, &c); fk_cursor_next(&c, &d, NULL) == FK_OK; n++) {
        bool marker =
            g->id == FK_GEN_A && fk_ld16(d.address - t->address + t->bytes + t->word, t->swap) & 2;
        if ((marker && !(d.flags & FK_DESCR_RETURN_TO_C)) || !frame_plausible(&d, t->word) ||
            !live_plausible(&d, t->word) || !slots_plausible(&d) || !in_code(t->image, d.retaddr))
            break;
        /* Bound checks of power 4.x trap instead of calling: there the debuginfo must speak. */
        if (n < 8 && (d.num_debug || behind_call(t->image, d.retaddr)))
            ++*evidence;
    }
    *end = c.address;
    return n;
}

/* --- layout ------------------------------------------------------------------------------- */

typedef struct {
    uint64_t tried, good, whole; /* descriptors; tables read to the end */
} score;

static score score_of(const fk_image *im, const fk_gen *g)
{
    score s = {0};
    for (size_t i = 0; i < im->num_tables && s.tried < SAMPLE_DESCR; i++) {
        const fk_table *t = &im->tables[i];
        uint64_t evidence, end;
        uint64_t limit = SAMPLE_DESCR - s.tried;
        uint64_t want = t->num_descr < limit ? t->num_descr : limit;
        uint64_t n = fk_plausible(t, g, limit, &evidence, &end);
        s.tried += want;
        s.good += n;
        s.whole += want && n == want;
    }
    return s;
}

static const fk_gen *best_layout(const fk_image *im, score *best)
{
    static const fk_generation candidates[] = {FK_GEN_B, FK_GEN_A, FK_GEN_O1, FK_GEN_O2, FK_GEN_O3};
    const fk_gen *winner = fk_gen_get(FK_GEN_B);
    *best = score_of(im, winner);
    for (size_t i = 1; i < sizeof candidates / sizeof *candidates; i++) {
        if (best->tried && best->good == best->tried)
            break;
        score s = score_of(im, fk_gen_get(candidates[i]));
        /* On 32 bits 0x7FFC is a possible frame, and OxCaml has no 32-bit targets. */
        if (s.good <= best->good || (im->word == 4 && candidates[i] >= FK_GEN_O1))
            continue;
        *best = s;
        winner = fk_gen_get(candidates[i]);
    }
    return winner;
}

/* --- debuginfo ------------------------------------------------------------------------------- */

typedef struct {
    uint64_t records, wide, reversed, zero_line;
    uint64_t one_line, torn; /* as C: ends on its line; on its line, yet counted from another */
} votes;

static void vote(const fk_table *t, uint64_t at, votes *v)
{
    uint64_t avail;
    const uint8_t *p = fk_table_bytes(t, at, &avail);
    if (!p || avail < 8)
        return;
    uint32_t i1 = fk_ld32(p, t->swap), i2 = fk_ld32(p + 4, t->swap);
    uint32_t start = i2 >> 4 & 0xFF, end = (i2 & 15) << 6 | i1 >> 26;
    v->records++;
    if (i2 >> 31)
        v->wide++; /* as B: a line past 524,287 */
    else if (end < start)
        v->reversed++; /* as B: ends before it starts */
    else if (i2 >> 19 == 0 && i2 >> 12 != 0)
        v->zero_line++; /* as C: line 0 */
    else if ((i2 >> 16 & 7) == 0)
        *((i2 & 7) << 6 | i1 >> 26 ? &v->torn : &v->one_line) += 1;
}

static votes vote_all(const fk_image *im, const fk_gen *g)
{
    votes v = {0};
    uint64_t seen = 0;
    for (size_t i = 0; i < im->num_tables && seen < SAMPLE_DESCR; i++) {
        fk_table t = im->tables[i];
        t.gen = g;
        t.num_good = t.num_descr;
        fk_cursor c;
        fk_descr d;
        for (fk_cursor_start(&t, &c); seen < SAMPLE_DESCR && !fk_cursor_next(&c, &d, NULL);
             seen++) {
            for (uint32_t k = 0; k < d.num_debug; k++) {
                uint64_t at = fk_descr_debuginfo(&d, k);
                if (at)
                    vote(&t, at, &v);
            }
        }
    }
    return v;
}

/* A symbol of a unit, whose separator tells B from C: of a table, or of any function (tables that
 * a scan found have no names). NULL: none. */
static const char *unit_symbol(const fk_image *im)
{
    for (size_t i = 0; i < im->num_tables; i++) {
        const fk_table *t = &im->tables[i];
        if (t->symbol[0] && strcmp(t->module, "system") != 0)
            return t->symbol;
    }
    for (size_t i = 0; i < im->num_functions; i++) {
        const char *name = im->symtabs[0].strings + im->syms[im->functions[i]].name;
        if (strncmp(name, "caml", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z')
            return name;
    }
    return NULL;
}

/* `camlStdlib__List.map`, on some systems `camlStdlib__List$map`; before 5.1
 * `camlStdlib__list__map` and nothing else. */
static bool dotted(const char *symbol)
{
    return strpbrk(symbol, ".$") != NULL;
}

/* Few records may contradict neither reading. A position of C that ends on its own line counts its
 * end from there; the bits of a B record say so by chance in one of 64. Without any such record
 * the separator tells (OxCaml's never changed: there the layout does), and without a name B is
 * likelier: most positions lie on one line. */
static fk_debug_form debug_form_tie(fk_image *im, const fk_gen *g, const votes *v)
{
    const char *why = "symbols have the separator of 5.1 and later";
    const char *symbol = unit_symbol(im);
    bool is_c = symbol && dotted(symbol);
    if (v->one_line != v->torn) {
        is_c = v->one_line > v->torn;
        why = is_c ? "places end on their line as in C" : "places would end on no line of C";
    } else if (g->id >= FK_GEN_O1) {
        is_c = g->debug == FK_DEBUG_C;
        why = is_c ? "its descriptors came with C" : "its descriptors came with B";
    } else if (!symbol) {
        why = "in C they would span lines, which few do";
    } else if (!is_c) {
        why = "symbols have the separator `__`";
    }
    snprintf(im->reason, sizeof im->reason, "%llu debuginfo records do not contradict B or C; %s",
             (unsigned long long)v->records, why);
    return is_c ? FK_DEBUG_C : FK_DEBUG_B;
}

static fk_debug_form debug_form(fk_image *im, const fk_gen *g, const votes *v)
{
    uint64_t c = v->wide + v->reversed;
    if (c == v->zero_line)
        return debug_form_tie(im, g, v);
    if (c > v->zero_line) {
        snprintf(
            im->reason, sizeof im->reason,
            "of %llu debuginfo records %llu have bit 63 and %llu would end before they start in B",
            (unsigned long long)v->records, (unsigned long long)v->wide,
            (unsigned long long)v->reversed);
        return FK_DEBUG_C;
    }
    snprintf(im->reason, sizeof im->reason,
             "of %llu debuginfo records %llu would be at line 0 in C",
             (unsigned long long)v->records, (unsigned long long)v->zero_line);
    return FK_DEBUG_B;
}

/* --- both ------------------------------------------------------------------------------ */

static void set_all(fk_image *im, const fk_gen *g, fk_debug_form debug)
{
    im->generation = g->id;
    for (size_t i = 0; i < im->num_tables; i++) {
        im->tables[i].gen = g;
        im->tables[i].debug = debug;
    }
}

static void append_layout(fk_image *im, const fk_gen *g, const score *s)
{
    size_t n = strlen(im->reason);
    snprintf(im->reason + n, sizeof im->reason - n, "%s%llu of %llu descriptors read as %s",
             n ? "; " : "", (unsigned long long)s->good, (unsigned long long)s->tried,
             g->id == FK_GEN_B ? "B or C" : g->name);
}

static void detect(fk_image *im)
{
    score s;
    const fk_gen *g = best_layout(im, &s);
    fk_debug_form form = g->debug;
    if (s.tried == 0) {
        const char *symbol = unit_symbol(im);
        g = fk_gen_get(symbol && !dotted(symbol) ? FK_GEN_B : FK_GEN_C);
        set_all(im, g, g->debug);
        snprintf(im->reason, sizeof im->reason, "no descriptor to tell from");
        return;
    }
    if (g->id != FK_GEN_A && g->id != FK_GEN_O3) {
        votes v = vote_all(im, g);
        form = debug_form(im, g, &v);
    }
    append_layout(im, g, &s);
    if (g->id == FK_GEN_B && form == FK_DEBUG_C)
        g = fk_gen_get(FK_GEN_C);
    set_all(im, g, form);
}

void fk_tables_detect(fk_image *im, fk_generation wanted)
{
    const fk_gen *g = fk_gen_get(wanted);
    if (!g) {
        detect(im);
        return;
    }
    fk_debug_form form = g->debug;
    if (g->id == FK_GEN_O1 || g->id == FK_GEN_O2) {
        votes v = vote_all(im, g);
        form = debug_form(im, g, &v);
    }
    set_all(im, g, form);
    snprintf(im->reason, sizeof im->reason, "asked for");
}
