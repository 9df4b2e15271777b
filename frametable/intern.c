/* intern.c - sharing of locations: equal file names, names and chains are written once.
 *
 * A shares the tails of chains (each record points to the next); B and C share whole chains, whose
 * records stand one after another. Values that do not fit are cut to the largest that does, as
 * every compiler does. */
#include <stdlib.h>

#include "frametable/encode.h"

/* --- sets ---------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t h, uint32_t v)
{
    return (h ^ v) * 2654435761u ^ (h >> 15);
}

static uint32_t hash_text(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 16777619u;
    return h;
}

typedef uint32_t (*hash_fn)(const fk_builder *, uint32_t number);

static bool resize(const fk_builder *b, fk_set *s, hash_fn hash)
{
    uint32_t mask = s->slot ? 2 * s->mask + 1 : 63;
    uint32_t *slot = calloc((size_t)mask + 1, sizeof *slot);
    if (!slot)
        return false;
    for (uint32_t i = 0; s->slot && i <= s->mask; i++) {
        if (!s->slot[i])
            continue;
        uint32_t at = hash(b, s->slot[i] - 1) & mask;
        while (slot[at])
            at = (at + 1) & mask;
        slot[at] = s->slot[i];
    }
    free(s->slot);
    s->slot = slot;
    s->mask = mask;
    return true;
}

static bool insert(const fk_builder *b, fk_set *s, uint32_t number, hash_fn hash)
{
    if ((!s->slot || s->used * 2 >= s->mask) && !resize(b, s, hash))
        return false;
    uint32_t at = hash(b, number) & s->mask;
    while (s->slot[at])
        at = (at + 1) & s->mask;
    s->slot[at] = number + 1;
    s->used++;
    return true;
}

static bool copy_text(fk_builder *b, const char *text, fk_bstring *out)
{
    size_t n = strlen(text) + 1;
    char *p = fk_arena(b, n);
    if (!p || n > UINT32_MAX)
        return false;
    *out = (fk_bstring){memcpy(p, text, n), (uint32_t)n};
    return true;
}

/* --- file names ------------------------------------------------------------------------------- */

static uint32_t hash_file(const fk_builder *b, uint32_t i)
{
    return hash_text(b->file[i].text);
}

static uint32_t intern_file(fk_builder *b, const char *text)
{
    fk_set *s = &b->files;
    fk_bstring copy;
    for (uint32_t at = hash_text(text); s->slot && s->slot[at & s->mask]; at++) {
        uint32_t i = s->slot[at & s->mask] - 1;
        if (strcmp(b->file[i].text, text) == 0)
            return i;
    }
    if (!copy_text(b, text, &copy))
        return FK_NONE;
    uint32_t i = fk_model_file(b, copy);
    return i != FK_NONE && insert(b, s, i, hash_file) ? i : FK_NONE;
}

/* --- names ----------------------------------------------------------------------------- */

static uint32_t hash_bname(const fk_bname *n)
{
    uint32_t h = mix(hash_text(n->defname.text), n->file);
    h = mix(h, (uint32_t)n->start_char);
    h = mix(h, (uint32_t)n->end_char);
    return mix(h, (uint32_t)n->end_offset);
}

static uint32_t hash_name(const fk_builder *b, uint32_t i)
{
    return hash_bname(&b->name[i]);
}

static bool same_name(const fk_bname *a, const fk_bname *b)
{
    return a->file == b->file && a->wide == b->wide && a->start_char == b->start_char &&
           a->end_char == b->end_char && a->end_offset == b->end_offset &&
           strcmp(a->defname.text, b->defname.text) == 0;
}

/* n->defname.text belongs to the caller. */
static uint32_t intern_name(fk_builder *b, fk_bname *n)
{
    fk_set *s = &b->names;
    for (uint32_t at = hash_bname(n); s->slot && s->slot[at & s->mask]; at++) {
        uint32_t i = s->slot[at & s->mask] - 1;
        if (same_name(&b->name[i], n))
            return i;
    }
    if (!copy_text(b, n->defname.text, &n->defname))
        return FK_NONE;
    uint32_t i = fk_model_name(b, n);
    return i != FK_NONE && insert(b, s, i, hash_name) ? i : FK_NONE;
}

/* --- records --------------------------------------------------------------------------- */

static int32_t clamp(int64_t v, int32_t most)
{
    return v < 0 ? 0 : v > most ? most : (int32_t)v;
}

/* A location as C sees it: what is missing (-1) is on the same line. */
static fk_loc complete(const fk_loc *in)
{
    fk_loc l = *in;
    if (l.end_line < l.line)
        l.end_line = l.line;
    if (l.end_offset < 0)
        l.end_offset = l.end_char;
    return l;
}

static bool fits_packed(const fk_loc *l)
{
    int64_t delta = (int64_t)l->end_offset - l->end_char;
    return l->line >= 0 && l->line <= 4095 && (int64_t)l->end_line - l->line <= 7 &&
           l->start_char >= 0 && l->start_char <= 63 && l->end_char >= 0 && l->end_char <= 127 &&
           delta >= 0 && delta <= 511;
}

static void set_ab(const fk_loc *l, fk_brecord *r)
{
    r->line = r->end_line = clamp(l->line, 0xFFFFF);
    r->start_char = clamp(l->start_char, 0xFF);
    r->end_char = clamp(l->end_offset >= 0 ? l->end_offset : l->end_char, 0x3FF);
}

static void set_c(const fk_loc *in, fk_brecord *r, fk_bname *n)
{
    fk_loc l = complete(in);
    r->wide = n->wide = !fits_packed(&l);
    r->line = r->wide ? clamp(l.line, 0x7FFFF) : l.line;
    r->end_line = r->line + clamp((int64_t)l.end_line - l.line, 0x3FFFF);
    r->start_char = clamp(l.start_char, 0xFFFF);
    r->end_char = clamp(l.end_char, 0xFFFF);
    r->end_offset = clamp(l.end_offset, 0x3FFFFFFF);
    if (!n->wide)
        return;
    n->start_char = r->start_char;
    n->end_char = r->end_char;
    n->end_offset = r->end_offset;
}

static bool make_record(fk_builder *b, const fk_loc *l, fk_brecord *r)
{
    fk_bname n = {.defname = {.text = l->defname ? l->defname : ""}};
    *r = (fk_brecord){.next = FK_NONE};
    if (b->debug == FK_DEBUG_C)
        set_c(l, r, &n);
    else
        set_ab(l, r);
    n.file = intern_file(b, l->file ? l->file : "");
    if (n.file == FK_NONE)
        return false;
    r->name = b->debug == FK_DEBUG_A ? n.file : intern_name(b, &n);
    return r->name != FK_NONE;
}

/* --- chains ---------------------------------------------------------------------------- */

static uint32_t hash_record(const fk_brecord *r)
{
    uint32_t h = mix(r->name, (uint32_t)r->line);
    h = mix(h, (uint32_t)r->end_line);
    h = mix(h, (uint32_t)r->start_char);
    h = mix(h, (uint32_t)r->end_char);
    h = mix(h, (uint32_t)r->end_offset);
    return mix(mix(h, r->next), r->kind);
}

static bool same_record(const fk_brecord *a, const fk_brecord *b)
{
    return a->name == b->name && a->line == b->line && a->end_line == b->end_line &&
           a->start_char == b->start_char && a->end_char == b->end_char &&
           a->end_offset == b->end_offset && a->next == b->next && a->kind == b->kind &&
           a->wide == b->wide;
}

static uint32_t chain_length(const fk_builder *b, uint32_t first)
{
    uint32_t n = 1;
    while (b->debug != FK_DEBUG_A && b->record[first + n - 1].kind & 1)
        n++;
    return n;
}

static uint32_t hash_records(const fk_brecord *r, uint32_t n)
{
    uint32_t h = n;
    for (uint32_t i = 0; i < n; i++)
        h = mix(h, hash_record(&r[i]));
    return h;
}

static uint32_t hash_chain(const fk_builder *b, uint32_t first)
{
    return hash_records(&b->record[first], chain_length(b, first));
}

static bool same_chain(const fk_builder *b, uint32_t first, const fk_brecord *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!same_record(&b->record[first + i], &r[i]))
            return false;
    }
    return true; /* `kind` of the last one ends both */
}

/* Records r[0..n) as a unit: found or appended. */
static fk_result intern_records(fk_builder *b, const fk_brecord *r, uint32_t n, uint32_t *out)
{
    fk_set *s = &b->chains;
    for (uint32_t at = hash_records(r, n); s->slot && s->slot[at & s->mask]; at++) {
        *out = s->slot[at & s->mask] - 1;
        if (same_chain(b, *out, r, n))
            return FK_OK;
    }
    *out = (uint32_t)b->num_record;
    for (uint32_t i = 0; i < n; i++) {
        fk_brecord *to = fk_model_record(b);
        if (!to)
            return FK_SYSTEM;
        *to = r[i];
    }
    return insert(b, s, *out, hash_chain) ? FK_OK : FK_SYSTEM;
}

/* From the outermost inwards, so that callers' tails are there to be shared. */
static fk_result intern_linked(fk_builder *b, const fk_loc *l, uint32_t n, uint32_t *out)
{
    *out = FK_NONE;
    for (uint32_t i = n; i > 0; i--) {
        fk_brecord r;
        if (!make_record(b, &l[i - 1], &r))
            return FK_SYSTEM;
        r.next = *out;
        r.kind = l[i - 1].raise && i == 1;
        if (intern_records(b, &r, 1, out))
            return FK_SYSTEM;
    }
    return FK_OK;
}

fk_result fk_chain_intern(fk_builder *b, const fk_loc *l, uint32_t n, uint32_t *out)
{
    if (b->debug == FK_DEBUG_A)
        return intern_linked(b, l, n, out);
    fk_brecord few[16], *r = n <= 16 ? few : malloc(n * sizeof *r);
    fk_result res = r ? FK_OK : FK_SYSTEM;
    for (uint32_t i = 0; i < n && !res; i++) {
        if (!make_record(b, &l[i], &r[i]))
            res = FK_SYSTEM;
        r[i].kind = (uint8_t)((l[i].raise && i == 0) * 2 + (i + 1 < n));
    }
    if (!res)
        res = intern_records(b, r, n, out);
    if (r != few)
        free(r);
    return res;
}
