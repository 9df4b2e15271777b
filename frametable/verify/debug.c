/* debug.c - rules that hold the locations of a descriptor against the line table, the function that
 * they are in, and themselves.
 *
 *   descriptor -> slot 0 .. n-1 -> chain: innermost frame, ..., outermost frame
 *                                          |                     `- names the function's symbol
 *                 .debug_line of the call -'
 *
 * Which address the line table is asked for:
 *
 *     call f            the call: return address - 1
 *     L:                ^ return address
 *
 *     sub young, n      where an out-of-line caml_call_gc returns to: the branch above L
 *     jb gc             <- row of the allocation
 *   L: ...
 *     gc: call caml_call_gc ; jmp L        (its own row is that of whatever stands above gc)
 *
 *     td ...            power up to 4.14: the trap's own address
 *
 * A combined allocation has one row, the first block's: its slot is the last one. */
#include <stdlib.h>
#include <string.h>

#include "frametable/verify/internal.h"
#include "frametable/verify/lines.h"

enum { MAX_STEM = 256 };

/* --- the line table ---------------------------------------------------------------------- */

/* A jump whose field a relocation fills leads to itself or behind itself in the file's bytes. */
static bool jump_at(const fk_check *c, uint64_t pc, uint64_t *target)
{
    uint64_t avail;
    fk_symbol s;
    const uint8_t *p = fk_image_bytes(c->image, pc, &avail);
    if (p == NULL || !fk_abi_jump_target(c->abi, p, avail, pc, target))
        return false;
    fk_kind kind = fk_image_kind(c->image);
    if ((kind == FK_KIND_OBJECT || kind == FK_KIND_ARCHIVE_MEMBER) &&
        fk_image_target(c->image, pc, &s) == FK_OK)
        *target = s.addr;
    return true;
}

static uint64_t asked(const fk_check *c, const fk_descr *d)
{
    uint64_t resume;
    if (fk_check_traps(c, d->retaddr))
        return d->retaddr;
    if (d->flags & FK_DESCR_ALLOC && jump_at(c, d->retaddr, &resume))
        return resume - 1;
    return d->retaddr - 1;
}

/* Calls out of line that stand at the end of their function without a row of their own. */
static bool has_no_row(const fk_check *c, const fk_descr *d)
{
    fk_symbol s;
    return !(d->flags & FK_DESCR_ALLOC) && fk_check_callee(c, d->retaddr, &s) &&
           strstr(s.name, "bound_error") != NULL;
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool same_place(const fk_line *l, const fk_frame *f)
{
    return (uint32_t)f->line == l->line && strcmp(base(f->file), base(l->file)) == 0;
}

/* The first frame of slot i; false: no location. */
static bool innermost(const fk_check *c, const fk_descr *d, uint32_t i, fk_frame *f)
{
    uint64_t at = fk_descr_debuginfo(d, i);
    fk_chain chain;
    fk_error err;
    if (at == 0)
        return false;
    fk_chain_start(c->table, at, &chain);
    return fk_chain_next(&chain, f, &err) == FK_OK && !f->opaque;
}

static void check_line(fk_check *c, const fk_descr *d)
{
    fk_line l;
    fk_frame f;
    if (!innermost(c, d, d->num_debug - 1, &f))
        fk_check_pass(c, FK_RULE_DEBUG_LINE, "the descriptor has no location");
    else if (fk_lines_count(c->lines) == 0)
        fk_check_pass(c, FK_RULE_DEBUG_LINE, "the file has no line table");
    else if (has_no_row(c, d))
        fk_check_pass(c, FK_RULE_DEBUG_LINE, "an out-of-line bound error has no row of its own");
    else if (fk_line_at(c->lines, asked(c, d), &l) != FK_OK)
        fk_check_pass(c, FK_RULE_DEBUG_LINE, "no row of the line table covers the call");
    else if (same_place(&l, &f))
        fk_check_ok(c, FK_RULE_DEBUG_LINE);
    else
        fk_check_say(c, FK_RULE_DEBUG_LINE, FK_VERDICT_WRONG, d,
                     "the descriptor's location is %.80s:%d, the line table has %.80s:%u", f.file,
                     f.line, l.file, l.line);
}

/* --- the function ----------------------------------------------------------------------------- */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "camlFoo.bar$27_12", "camlFoo__bar_12" -> "bar'": what stands between the module and the stamp.
 * false: not of that form. */
static bool stem_of(const char *symbol, const char *module, char *out)
{
    size_t n = 0, k = strlen(module);
    if (strncmp(symbol, "caml", 4) != 0 || strncmp(symbol + 4, module, k) != 0)
        return false;
    const char *p = symbol + 4 + k;
    p += p[0] == '.' ? 1 : p[0] == '_' && p[1] == '_' ? 2 : 0;
    const char *stamp = strrchr(p, '_');
    if (p == symbol + 4 + k || stamp == NULL || stamp == p ||
        stamp[1 + strspn(stamp + 1, "0123456789")] != 0)
        return false;
    while (p < stamp && n < MAX_STEM - 1) {
        bool escaped = (*p == '$' || *p == '.') && hex(p[1]) >= 0 && hex(p[2]) >= 0;
        out[n++] = (char)(escaped ? hex(p[1]) * 16 + hex(p[2]) : *p);
        p += escaped ? 3 : 1;
    }
    out[n] = 0;
    return true;
}

/* `part` is one of the dotted parts of name, with or without parentheses. */
static bool has_part(const char *name, const char *part)
{
    size_t n = strlen(part);
    for (const char *p = name; (p = strstr(p, part)) != NULL; p++)
        if ((p == name || p[-1] == '.' || p[-1] == '(') &&
            (p[n] == 0 || p[n] == '.' || p[n] == ')'))
            return true;
    return false;
}

static bool begins_with(const char *defname, const char *module)
{
    const char *d = defname, *m = module;
    while (*m != 0) {
        if (*d == *m)
            d++, m++;
        else if (*d == '.' && m[0] == '_' && m[1] == '_')
            d++, m += 2;
        else
            return false;
    }
    return *d == 0 || *d == '.';
}

/* "Foo.bar" belongs to module "Foo"; "P.Foo.bar" and (up to 4.14) "Foo.bar" to the packed modules
 * "P.Foo" and "P__Foo". */
static bool in_module(const char *defname, const char *module)
{
    for (const char *m = module; *m != 0; m++)
        if ((m == module || m[-1] == '.' || (m - module >= 2 && m[-1] == '_' && m[-2] == '_')) &&
            begins_with(defname, m))
            return true;
    return false;
}

/* The last frame of slot i; false: none, or without a name. */
static bool outermost(const fk_check *c, const fk_descr *d, uint32_t i, fk_frame *f)
{
    uint64_t at = fk_descr_debuginfo(d, i);
    fk_chain chain;
    fk_error err;
    fk_frame next;
    bool found = false;
    if (at == 0)
        return false;
    fk_chain_start(c->table, at, &chain);
    while (fk_chain_next(&chain, &next, &err) == FK_OK) {
        *f = next;
        found = !next.opaque && next.defname != NULL;
    }
    return found;
}

typedef struct {
    fk_table_info info;
    fk_symbol s;
    char stem[MAX_STEM];
    bool named; /* the function's symbol tells its name */
    bool anonymous;
} owner;

/* How well a definition's name fits a function. */
typedef enum { FITS_NOT, FITS_AROUND /* or inside */, FITS } fitness;

static void find_owner(const fk_check *c, const fk_descr *d, owner *o)
{
    fk_table_info_get(c->table, &o->info);
    bool stem = fk_image_symbol_at(c->image, d->retaddr - 1, &o->s) == FK_OK &&
                stem_of(o->s.name, o->info.module, o->stem);
    o->anonymous = stem && strcmp(o->stem, "fun") == 0;
    o->named = stem && !o->anonymous;
}

/* `part` is the last dotted part: "Foo.f.loop" of loop, "Foo.f.(fun)" of an anonymous function. */
static bool ends_in(const char *name, const char *part)
{
    size_t n = strlen(name), k = strlen(part);
    n -= n > 0 && name[n - 1] == ')';
    if (n < k || strncmp(name + n - k, part, k) != 0)
        return false;
    return n == k || name[n - k - 1] == '.' || name[n - k - 1] == '(';
}

/* Does the definition `name` fit a function of that stem? */
typedef bool fits(const char *name, const char *stem);

/* The compiler adds suffixes to functions that it splits: optional arguments, tail calls modulo
 * constructor. */
static bool fits_split(fits *fit, const char *defname, const char *stem)
{
    static const char *const suffixes[] = {"_inner", "_dps"};
    size_t n = strlen(stem);
    if (fit(defname, stem))
        return true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t k = strlen(suffixes[i]);
        char cut[MAX_STEM];
        if (n <= k || strcmp(stem + n - k, suffixes[i]) != 0)
            continue;
        memcpy(cut, stem, n - k);
        cut[n - k] = 0;
        if (fit(defname, cut))
            return true;
    }
    return false;
}

static fitness fitness_of(const owner *o, const char *defname)
{
    if ((o->named || o->anonymous) && fits_split(ends_in, defname, o->stem))
        return FITS;
    return o->named && fits_split(has_part, defname, o->stem) ? FITS_AROUND : FITS_NOT;
}

/* --- records and their owners ------------------------------------------------------------------
 *
 * A local function that was compiled into its caller has no frame of its own in a chain, so names
 * alone prove nothing. A record whose name fits the function of one descriptor, and which a
 * descriptor of another function, that it fits less, leads to as well, does: the second one leads
 * to the place of the first. */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* false: no memory. */
static bool add_owned(fk_check *c, uint64_t record)
{
    if (c->owned.count == c->owned.room) {
        size_t n = c->owned.room ? c->owned.room * 2 : 256;
        uint64_t *p = realloc(c->owned.list, n * sizeof *p);
        if (p == NULL)
            return false;
        c->owned.list = p;
        c->owned.room = n;
    }
    c->owned.list[c->owned.count++] = record;
    return true;
}

/* A record, and how well its name fits the function that leads to it. */
static uint64_t owned_key(uint64_t record, fitness fit)
{
    return record << 1 | (fit == FITS);
}

/* All records of the table that a descriptor of the function they name leads to. Made when the
 * first question comes. */
static void collect_owned(fk_check *c)
{
    fk_cursor cursor;
    fk_descr d;
    fk_error err;
    owner o;
    fk_frame f = {0};
    bool memory = true;
    c->owned.of = c->table;
    c->owned.count = 0;
    c->owned.with_g = true;
    fk_cursor_start(c->table, &cursor);
    while (memory && fk_cursor_next(&cursor, &d, &err) == FK_OK) {
        if (d.num_debug == 0)
            continue;
        find_owner(c, &d, &o);
        for (uint32_t i = 0; memory && i < d.num_debug; i++) {
            if (!outermost(c, &d, i, &f))
                continue;
            c->owned.with_g &= in_module(f.defname, o.info.module);
            fitness fit = fitness_of(&o, f.defname);
            if (fit != FITS_NOT)
                memory = add_owned(c, owned_key(fk_descr_debuginfo(&d, i), fit));
        }
    }
    if (c->owned.count > 0)
        qsort(c->owned.list, c->owned.count, sizeof *c->owned.list, compare);
}

static bool is_owned(const fk_check *c, uint64_t key)
{
    return c->owned.count > 0 &&
           bsearch(&key, c->owned.list, c->owned.count, sizeof key, compare) != NULL;
}

/* Its name fits another function that leads to it better than `fit`. */
static bool belongs_elsewhere(const fk_check *c, uint64_t record, fitness fit)
{
    return is_owned(c, owned_key(record, FITS)) ||
           (fit == FITS_NOT && is_owned(c, owned_key(record, FITS_AROUND)));
}

/* Each slot on its own: a block that was inlined still lies in this function. false: said. In a
 * unit that was compiled without -g, code that was inlined keeps its location and has no frame of
 * the function around it: some chain there ends in another module, which with -g none does. */
static bool check_owner(fk_check *c, const fk_descr *d, uint32_t i, const owner *o,
                        const fk_frame *f)
{
    bool foreign = o->info.module[0] != 0 && !in_module(f->defname, o->info.module);
    fitness fit = fitness_of(o, f->defname);
    if (!foreign && (!o->named || fit == FITS))
        return true;
    if (c->owned.of != c->table)
        collect_owned(c);
    if (!c->owned.with_g) {
        fk_check_pass(c, FK_RULE_DEBUG_FUNCTION,
                      "the module was compiled without -g: locations of inlined code only");
        return false;
    }
    if (!belongs_elsewhere(c, fk_descr_debuginfo(d, i), fit))
        return true;
    fk_check_say(c, FK_RULE_DEBUG_FUNCTION, FK_VERDICT_SUSPECT, d,
                 "slot %u ends in %.100s, and code of that function has the same record; this code "
                 "belongs to %.100s",
                 i, f->defname, o->s.name);
    return false;
}

static void check_function(fk_check *c, const fk_descr *d)
{
    owner o;
    fk_frame f = {0};
    bool good = true, known = false;
    find_owner(c, d, &o);
    for (uint32_t i = 0; good && i < d->num_debug; i++) {
        if (!outermost(c, d, i, &f))
            continue;
        known = true;
        good = check_owner(c, d, i, &o, &f);
    }
    if (!known)
        fk_check_pass(c, FK_RULE_DEBUG_FUNCTION, "no location with the name of a definition");
    else if (good)
        fk_check_ok(c, FK_RULE_DEBUG_FUNCTION);
}

/* --- themselves ------------------------------------------------------------------------------- */

static const char *fault_of(const fk_frame *f, unsigned depth)
{
    if (f->line < 1)
        return "a line below 1";
    if (f->end_line >= 0 && f->end_line < f->line)
        return "an end before its start";
    if (f->end_line < 0 && f->end_char >= 0 && f->end_char < f->start_char)
        return "an end before its start";
    if (f->end_line == f->line && f->end_char < f->start_char)
        return "an end before its start";
    if (f->file[0] == 0)
        return "no file name";
    if (f->raise && depth > 0)
        return "a raise that is not innermost";
    return NULL;
}

static bool check_slot(fk_check *c, const fk_descr *d, uint32_t i)
{
    uint64_t at = fk_descr_debuginfo(d, i);
    fk_chain chain;
    fk_frame f;
    fk_error err;
    if (at == 0)
        return true;
    fk_chain_start(c->table, at, &chain);
    for (unsigned depth = 0; fk_chain_next(&chain, &f, &err) == FK_OK; depth++) {
        const char *fault = f.opaque ? NULL : fault_of(&f, depth);
        if (fault == NULL)
            continue;
        fk_check_say(c, FK_RULE_DEBUG_CHAIN, FK_VERDICT_WRONG, d,
                     "frame %u of slot %u, %.80s:%d, has %s", depth, i, f.file, f.line, fault);
        return false;
    }
    return true;
}

static void check_chains(fk_check *c, const fk_descr *d)
{
    bool good = true;
    for (uint32_t i = 0; good && i < d->num_debug; i++)
        good = check_slot(c, d, i);
    if (good)
        fk_check_ok(c, FK_RULE_DEBUG_CHAIN);
}

/* One slot a block: 0, 1 or num_allocs by the format; a poll has no block and no slot. */
static void check_count(fk_check *c, const fk_descr *d)
{
    uint32_t want =
        d->flags & FK_DESCR_ALLOC && fk_table_generation(c->table) != FK_GEN_A ? d->num_allocs : 1;
    if (d->num_debug == want)
        fk_check_ok(c, FK_RULE_DEBUG_COUNT);
    else
        fk_check_say(c, FK_RULE_DEBUG_COUNT, FK_VERDICT_WRONG, d, "%u locations for %u blocks",
                     d->num_debug, d->num_allocs);
}

/* --- all -------------------------------------------------------------------------------------- */

/* The section is the image's: its fault is said with the first table. */
void fk_check_debug_table(fk_check *c)
{
    const char *fault = fk_lines_fault(c->lines);
    if (c->table != fk_image_table(c->image, 0))
        return;
    if (fault != NULL)
        fk_check_say(c, FK_RULE_DEBUG_LINES, FK_VERDICT_WRONG, NULL, "%s", fault);
    else if (fk_lines_count(c->lines) == 0)
        fk_check_pass(c, FK_RULE_DEBUG_LINES, "the file has no line table");
    else
        fk_check_ok(c, FK_RULE_DEBUG_LINES);
}

void fk_check_debug(fk_check *c, const fk_descr *d)
{
    if (!(d->flags & FK_DESCR_DEBUG))
        return;
    check_count(c, d);
    if (d->num_debug == 0)
        return;
    check_chains(c, d);
    check_function(c, d);
    check_line(c, d);
}
