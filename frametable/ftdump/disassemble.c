/* disassemble.c - --disassemble: code, and each descriptor where it applies.
 *
 *   0x47f9d0 <camlStdlib__List.map_517>:
 *     47fa2c  e8 9f ff ff ff           callq   0x47f9d0 <camlStdlib__List.map_517>
 *             '-> call  frame 24
 *                 live  rbx [8]
 *                 at    list.ml:93:12-22 Stdlib__List.map
 *
 * A descriptor is woven in behind the instruction that ends at its return
 * address. Where no call ends there (the trap instructions of power up to
 * 4.14) the address is that of the instruction itself, and it comes behind
 * that one.
 */
#include "frametable/ftdump/disasm.h"
#include "frametable/ftdump/ftdump.h"
#include "frametable/search.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t where; /* shown behind the instruction with start < where <= end */
    uint64_t retaddr;
} mark;

typedef struct {
    ft_run *run;
    const fk_image *im;
    ft_disasm *dis;
    fk_index *index;
    mark *marks; /* sorted by where */
    size_t num_marks, room, next;
    bool relocatable;
    bool failed; /* out of memory */
    json_t *insns_points;
} weaver;

/* --- the descriptors, in address order ------------------------------------------ */

static bool after_call(const fk_image *im, uint64_t retaddr)
{
    enum { LONGEST = 16 };
    const fk_abi *abi = fk_image_abi(im);
    for (unsigned back = LONGEST; back > 0; back--) {
        uint64_t avail;
        const uint8_t *p = retaddr >= back ? fk_image_bytes(im, retaddr - back, &avail) : NULL;
        if (p != NULL && avail >= back)
            return fk_abi_call_length(abi, p, back) != 0;
    }
    return false;
}

static void add_mark(void *arg, const ft_point *p)
{
    weaver *w = arg;
    if (w->num_marks == w->room) {
        size_t room = w->room == 0 ? 4096 : 2 * w->room;
        mark *m = realloc(w->marks, room * sizeof *m);
        if (m == NULL) {
            w->failed = true;
            return;
        }
        w->marks = m;
        w->room = room;
    }
    uint64_t r = p->d.retaddr;
    w->marks[w->num_marks++] = (mark){after_call(w->im, r) ? r : r + 1, r};
}

static int by_where(const void *a, const void *b)
{
    const mark *x = a, *y = b;
    return x->where < y->where ? -1 : x->where > y->where;
}

/* The first mark with where > start. */
static size_t first_after(const weaver *w, uint64_t start)
{
    return FK_COUNT_UPTO(mark, w->marks, w->num_marks, where, start);
}

static bool has_mark(const weaver *w, uint64_t start, uint64_t end)
{
    size_t i = first_after(w, start);
    return i < w->num_marks && w->marks[i].where <= end;
}

/* --- text -------------------------------------------------------------------------- */

static void text_descr(weaver *w, const mark *m, const fk_descr *d, uint64_t end)
{
    ft_out *o = &w->run->out;
    ft_point p = {.d = *d};
    ft_puts(o, w->run->opt->addresses ? "            '-> " : "        '-> ");
    ft_puts_color(o, FT_KIND, ft_kind(d));
    if (!(d->flags & FK_DESCR_RETURN_TO_C)) {
        ft_puts(o, "  frame ");
        ft_putu(o, d->frame_size);
    }
    if (m->where != m->retaddr)
        ft_puts(o, "  (no call ends here: the instruction itself traps)");
    else if (m->where != end)
        ft_puts(o, "  (inside the instruction)");
    ft_putc(o, '\n');
    ft_show_details(w->run, &p, w->run->opt->addresses ? "                " : "            ");
}

static void show_bytes(ft_out *o, const uint8_t *code, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        ft_puthex(o, code[i], 2);
        ft_putc(o, ' ');
    }
    ft_pad(o, n < 8 ? 25 - 3 * n : 1, ' ');
}

/* The symbol that the relocation of an instruction names, or that holds the
 * target of a direct branch. */
static bool target_of(const weaver *w, const ft_insn *in, fk_symbol *s, uint64_t *offset)
{
    *offset = 0;
    for (unsigned i = 0; w->relocatable && i < in->length; i++)
        if (fk_image_target(w->im, in->address + i, s) == FK_OK)
            return s->name != NULL && s->name[0] != 0;
    if (in->target == 0 || fk_image_symbol_at(w->im, in->target, s) != FK_OK)
        return false;
    *offset = in->target - s->addr;
    return true;
}

static void show_target(weaver *w, const ft_insn *in)
{
    ft_out *o = &w->run->out;
    fk_symbol s;
    uint64_t offset;
    if (!target_of(w, in, &s, &offset))
        return;
    ft_puts(o, " <");
    ft_puts_name(o, s.name);
    if (offset != 0) {
        ft_putc(o, '+');
        ft_putx(o, offset, 1);
    }
    ft_putc(o, '>');
}

static void text_insn(weaver *w, const ft_insn *in, const uint8_t *code, uint64_t start)
{
    ft_out *o = &w->run->out;
    ft_color_set(o, FT_DIM);
    if (w->run->opt->addresses) {
        ft_puts(o, "  ");
        ft_puthex(o, in->address, 8);
        ft_puts(o, "  ");
        show_bytes(o, code, in->length);
    } else {
        ft_puts(o, "  +");
        ft_putx(o, in->address - start, 3);
        ft_puts(o, "  ");
    }
    ft_color_set(o, FT_PLAIN);
    ft_puts_left(o, in->mnemonic, in->operands[0] != 0 ? 8 : 0);
    /* A branch shows where it goes by name when addresses must not show. */
    if (w->run->opt->addresses || in->target == 0)
        ft_puts(o, in->operands);
    show_target(w, in);
    ft_putc(o, '\n');
}

/* --- JSON -------------------------------------------------------------------------- */

static void json_insn(weaver *w, const ft_insn *in, const uint8_t *code)
{
    char hex[2 * 24 + 1], text[256];
    fk_symbol s;
    uint64_t offset;
    for (unsigned i = 0; i < in->length && i < 24; i++)
        sprintf(hex + 2 * i, "%02x", code[i]);
    snprintf(text, sizeof text, "%s %s", in->mnemonic, in->operands);
    json_t *j = json_object();
    json_object_set_new(j, "address", ft_json_hex(in->address));
    json_object_set_new(j, "bytes", json_string_nocheck(hex));
    json_object_set_new(j, "text", ft_json_text(text));
    if (target_of(w, in, &s, &offset))
        json_object_set_new(j, "target", ft_json_text(s.name));
    if (json_array_size(w->insns_points) > 0)
        json_object_set(j, "descriptors", w->insns_points);
    ft_json_value(&w->run->json, NULL, j);
    json_array_clear(w->insns_points);
}

static void json_descr(weaver *w, const fk_descr *d)
{
    ft_point p = {.d = *d};
    fk_symbol cache = {0};
    ft_point_locate(w->im, &p, &cache);
    json_array_append_new(w->insns_points, ft_json_point(w->run, &p));
}

/* --- the walk over code -------------------------------------------------------------- */

static void weave(weaver *w, uint64_t end)
{
    fk_descr d;
    for (; w->next < w->num_marks && w->marks[w->next].where <= end; w->next++) {
        const mark *m = &w->marks[w->next];
        if (fk_index_lookup(w->index, m->retaddr, &d) != FK_OK)
            continue;
        if (w->run->opt->style == FT_JSON)
            json_descr(w, &d);
        else
            text_descr(w, m, &d, end);
    }
}

static void heading(weaver *w, const char *name, uint64_t start)
{
    ft_out *o = &w->run->out;
    if (w->run->opt->style == FT_JSON) {
        ft_json_open(&w->run->json, NULL, '{');
        ft_json_value(&w->run->json, "name", ft_json_text(name));
        ft_json_value(&w->run->json, "address", ft_json_hex(start));
        ft_json_open(&w->run->json, "instructions", '[');
        return;
    }
    ft_putc(o, '\n');
    if (w->run->opt->addresses) {
        ft_putx(o, start, 1);
        ft_putc(o, ' ');
    }
    ft_putc(o, '<');
    ft_color_set(o, FT_FUNCTION);
    ft_puts_name(o, name);
    ft_color_set(o, FT_PLAIN);
    ft_puts(o, ">:\n");
}

static void code_range(weaver *w, const char *name, uint64_t start, uint64_t end)
{
    uint64_t avail = 0;
    const uint8_t *p = fk_image_bytes(w->im, start, &avail);
    ft_insn in;
    if (p == NULL)
        return;
    size_t left = avail < end - start ? avail : end - start;
    heading(w, name, start);
    w->next = first_after(w, start);
    for (uint64_t at = start; ft_disasm_next(w->dis, p, left, at, &in) && w->run->out.error == 0;) {
        bool json = w->run->opt->style == FT_JSON;
        if (!json)
            text_insn(w, &in, p, start);
        weave(w, at + in.length);
        if (json)
            json_insn(w, &in, p);
        at += in.length, p += in.length, left -= in.length;
    }
    if (w->run->opt->style == FT_JSON) {
        ft_json_close(&w->run->json, ']');
        ft_json_close(&w->run->json, '}');
    }
}

/* --- which functions ------------------------------------------------------------------ */

/* Code of a module that passed --module: found through the module's own
 * code_begin and code_end where it has them. */
static bool in_module(weaver *w, uint64_t addr)
{
    const fk_table *t;
    for (size_t i = 0; (t = fk_image_table(w->im, i)) != NULL; i++) {
        fk_table_info info;
        fk_table_info_get(t, &info);
        if (addr >= info.code_begin && addr < info.code_end && ft_module_matches(w->run, &info))
            return true;
    }
    return false;
}

static bool wanted(weaver *w, const fk_symbol *s, uint64_t end)
{
    const ft_options *o = w->run->opt;
    if (!s->function || end <= s->addr || !ft_function_matches(o, s->name))
        return false;
    if (o->function != NULL && o->module == NULL)
        return true;
    return has_mark(w, s->addr, end) || in_module(w, s->addr);
}

static uint64_t end_of(weaver *w, const fk_symbol *s, size_t i)
{
    fk_symbol next;
    fk_section sec;
    if (s->size > 0)
        return s->addr + s->size;
    for (size_t k = i + 1; fk_image_symbol_nth(w->im, k, &next) == FK_OK; k++)
        if (next.addr > s->addr && next.function)
            return next.addr;
    return fk_image_section_at(w->im, s->addr, &sec) == FK_OK ? sec.addr + sec.size : s->addr;
}

static size_t by_symbols(weaver *w)
{
    fk_symbol s;
    size_t shown = 0;
    uint64_t last = FK_NO_ENTRY;
    for (size_t i = 0; fk_image_symbol_nth(w->im, i, &s) == FK_OK; i++) {
        uint64_t end = s.function && s.addr != last ? end_of(w, &s, i) : 0;
        if (end == 0 || !wanted(w, &s, end))
            continue;
        code_range(w, s.name, s.addr, end);
        last = s.addr;
        shown++;
    }
    return shown;
}

/* Stripped: every code section that holds a return address. */
static size_t by_sections(weaver *w)
{
    fk_section s;
    size_t shown = 0;
    for (size_t i = 0; fk_image_section(w->im, i, &s) == FK_OK; i++) {
        if (!s.code || !has_mark(w, s.addr, s.addr + s.size))
            continue;
        code_range(w, s.name, s.addr, s.addr + s.size);
        shown++;
    }
    return shown;
}

static bool prepare(weaver *w)
{
    static const ft_visitor v = {.point = add_mark, .no_functions = true};
    fk_error err;
    w->dis = ft_disasm_open(fk_image_abi(w->im));
    if (w->dis == NULL) {
        ft_complain(w->run, fk_image_name(w->im), "no disassembler for this machine");
        w->run->broken = true;
        return false;
    }
    if (fk_index_build(w->im, &w->index, NULL, &err) != FK_OK) {
        ft_fault(w->run, &err);
        return false;
    }
    ft_walk(w->run, w->im, &v, w);
    if (w->num_marks > 0)
        qsort(w->marks, w->num_marks, sizeof *w->marks, by_where);
    return !w->failed;
}

static void image(ft_run *run, const fk_image *im)
{
    weaver w = {.run = run, .im = im, .insns_points = json_array()};
    ft_heading h = {0};
    fk_kind kind = fk_image_kind(im);
    w.relocatable = kind == FK_KIND_OBJECT || kind == FK_KIND_ARCHIVE_MEMBER;
    ft_heading_add(&h, fk_image_name(im), im);
    if (run->opt->style == FT_JSON) {
        ft_heading_json(run, &h);
        ft_json_open(&run->json, "functions", '[');
    } else {
        ft_heading_show(run, &h);
    }
    if (prepare(&w) && by_symbols(&w) == 0 && run->opt->function == NULL)
        by_sections(&w);
    if (run->opt->style == FT_JSON) {
        ft_json_close(&run->json, ']');
        ft_heading_json_end(run);
    }
    json_decref(w.insns_points);
    ft_disasm_close(w.dis);
    fk_index_free(w.index);
    free(w.marks);
}

const ft_mode ft_mode_disassemble = {.option = "disassemble", .image = image, .no_csv = true};
