/* code.c - the rules that interpret code, function by function. */
#include <stdlib.h>
#include <string.h>

#include "frametable/image.h"
#include "frametable/search.h"
#include "frametable/verify/graph.h"
#include "frametable/verify/rules.h"

/* --- functions ------------------------------------------------------------------------- */

/* Where the function before `s` ends (0: there is none), and where the one after it begins. */
static void neighbours(const fk_program *p, const fk_symbol *s, uint64_t *end, uint64_t *begin)
{
    const fk_image *im = p->image;
    size_t after = fk_functions_upto(im, s->addr), before = after;
    *begin = after < im->num_functions ? im->syms[im->functions[after]].addr : UINT64_MAX;
    while (before > 0 && im->syms[im->functions[before - 1]].addr == s->addr)
        before--;
    const fk_sym *b = before > 0 ? &im->syms[im->functions[before - 1]] : NULL;
    *end = b == NULL ? 0 : b->size ? b->addr + b->size : s->addr;
}

static void neighbours_by_range(const fk_program *p, const fk_symbol *s, uint64_t *end,
                                uint64_t *begin)
{
    size_t after = FK_COUNT_UPTO(fk_range, p->functions, p->num_functions, from, s->addr);
    *begin = after < p->num_functions ? p->functions[after].from : UINT64_MAX;
    *end = after > 1 ? p->functions[after - 2].to : 0;
}

/* From the end of the function before to the end of this one. */
static void window(const fk_program *p, const fk_symbol *s, uint64_t *lo, uint64_t *hi)
{
    fk_section section = {0};
    uint64_t stop, next;
    (p->nameless ? neighbours_by_range : neighbours)(p, s, &stop, &next);
    fk_image_section_at(p->image, s->addr, &section);
    uint64_t end = section.addr + section.size;
    end = next < end ? next : end;
    *hi = s->size > 0 && s->size < end - s->addr ? s->addr + s->size : end;
    *lo = s->addr - section.addr > FK_BEFORE_ENTRY ? s->addr - FK_BEFORE_ENTRY : section.addr;
    if (stop > *lo)
        *lo = stop < s->addr ? stop : s->addr;
    *lo += (0 - *lo) % p->abi->code_align;
}

const fk_descr *fk_code_near(const fk_code *c, uint64_t addr)
{
    const fk_program *p = c->f.program;
    size_t d = c->f.first;
    if (c->f.first == c->f.last)
        return NULL;
    while (d + 1 < c->f.last && p->descrs[d + 1].retaddr <= addr)
        d++;
    return &p->descrs[d];
}

/* --- one function -------------------------------------------------------------------------- */

static void visit(fk_function *f, const fk_state *s, int32_t n, void *arg)
{
    fk_code *c = arg;
    uint32_t k = f->nodes[n].descr;
    if (c->check->groups & FK_GROUP_LIVE)
        fk_live_insn(c, s, n);
    if ((c->check->groups & FK_GROUP_CALLS) && fk_is_call(&f->nodes[n].insn))
        fk_calls_node(c, &f->nodes[n]);
    if (c->check->groups & FK_GROUP_FRAME)
        fk_frame_insn(c, s, n);
    if (c->check->groups & FK_GROUP_ABI) {
        fk_abi_insn(c, s, n);
        fk_stack_insn(c, s, n);
    }
    if (k < f->first || k >= f->last || (c->seen[k - f->first] & FK_SEEN_CALL))
        return;
    c->seen[k - f->first] |= FK_SEEN_CALL;
    if (s->place[f->program->sp].kind == FK_V_SP)
        c->descents[k] = 1 - s->place[f->program->sp].k +
                         (f->program->link == FK_NO_REG ? f->program->abi->word : 0);
    if (c->check->groups & FK_GROUP_CALLS)
        fk_calls_entry(c, &f->nodes[n], &f->program->descrs[k]);
    if (c->check->groups & FK_GROUP_FRAME)
        fk_frame_call(c, s, n, &f->program->descrs[k]);
    if (c->check->groups & FK_GROUP_ALLOC)
        fk_alloc_call(c, s, n, &f->program->descrs[k]);
    if (c->check->groups & FK_GROUP_LIVE)
        fk_live_call(c, s, &f->program->descrs[k]);
}

static void skip(fk_code *c, const fk_descr *d, const char *reason)
{
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return;
    if (c->check->groups & FK_GROUP_CALLS && !fk_check_traps(c->check, d->retaddr)) {
        fk_symbol s;
        fk_check_call_entry(c->check, d, fk_check_callee(c->check, d->retaddr, &s) ? s.name : NULL);
    }
    if (c->check->groups & FK_GROUP_FRAME)
        fk_frame_unseen(c, d, reason);
    if (c->check->groups & FK_GROUP_ALLOC)
        fk_alloc_skip(c, d, reason);
    if (c->check->groups & FK_GROUP_LIVE)
        fk_live_skip(c, reason);
}

static void done(fk_code *c, size_t d)
{
    if ((c->check->groups & FK_GROUP_LIVE) &&
        !(c->check->program->descrs[d].flags & FK_DESCR_RETURN_TO_C))
        fk_live_done(c, d);
}

static bool function(fk_code *c, const fk_symbol *s, size_t first, size_t last)
{
    const fk_program *p = c->check->program;
    uint64_t lo, hi;
    if (!fk_room(&c->seen, &c->cap_seen, last - first + 1, 1))
        return false;
    memset(c->seen, 0, last - first + 1);
    window(p, s, &lo, &hi);
    if (fk_function_read(&c->f, p, s, lo, hi, first, last) != FK_OK)
        return false;
    if (c->check->learned != NULL) {
        if (c->f.problem == NULL)
            fk_function_visit(&c->f, fk_facts_visit, c->check->learned);
        return true;
    }
    if (!fk_room(&c->paths, &c->cap_paths, FK_ALLOC_PATHS * c->f.stride, sizeof *c->paths))
        return false;
    if (c->f.problem == NULL && (c->check->groups & FK_GROUP_LIVE)) {
        if (!fk_live_begin(c))
            return false;
        fk_function_visit(&c->f, fk_live_evidence, c);
    }
    fk_stack_begin(c);
    if (c->f.problem == NULL)
        fk_function_visit(&c->f, visit, c);
    if (c->f.problem == NULL && (c->check->groups & FK_GROUP_LIVE) && !fk_agree(c))
        return false;
    if (c->f.problem == NULL && (c->check->groups & FK_GROUP_ABI)) {
        fk_abi_done(c);
        if (!fk_abi_function(c))
            return false;
    }
    for (size_t d = first; d < last; d++)
        if (c->seen[d - first] & FK_SEEN_CALL)
            done(c, d);
        else
            skip(c, &p->descrs[d],
                 c->f.problem != NULL ? c->f.problem
                                      : "no path from the entry to the call is known");
    return true;
}

/* First descriptor whose return address is behind addr. */
static size_t descriptor_after(const fk_program *p, uint64_t addr)
{
    return FK_COUNT_UPTO(fk_descr, p->descrs, p->num_descrs, retaddr, addr);
}

/* A function without a size reaches to the next. */
static uint64_t end_of(const fk_program *p, const fk_symbol *s)
{
    uint64_t lo, hi;
    window(p, s, &lo, &hi);
    return hi;
}

/* --- one table -------------------------------------------------------------------------------- */

static const char *why_no_function(const fk_program *p)
{
    return p->decode == NULL        ? "code of this architecture is not read"
           : !p->nameless           ? "no symbol names the function"
           : p->num_functions == 0  ? "no symbols, and no CFI that would do"
                                    : "no symbol and no FDE has the function";
}

/* The table of a function's first descriptor looks at all of it: also where a broken table claims
 * return addresses of another module, each function is interpreted once. */
static bool descriptor(fk_code *c, const fk_descr *d)
{
    const fk_program *p = c->check->program;
    fk_symbol s;
    if (p->decode == NULL || fk_program_function(p, d->retaddr - 1, &s) != FK_OK) {
        if (c->check->learned == NULL)
            skip(c, d, why_no_function(p));
        return true;
    }
    size_t first = descriptor_after(p, s.addr);
    if (first == p->num_descrs || p->descrs[first].address != d->address)
        return true;
    return function(c, &s, first, descriptor_after(p, end_of(p, &s)));
}

/* OCaml functions of the module without any descriptor: they may call nothing that needs one. */
static bool bare_functions(fk_code *c)
{
    const fk_program *p = c->check->program;
    fk_table_info info;
    fk_symbol s;
    fk_table_info_get(c->check->table, &info);
    if (p->decode == NULL || info.code_begin == 0)
        return true;
    for (size_t i = fk_functions_upto(p->image, info.code_begin - 1); i < p->image->num_functions;
         i++) {
        uint64_t addr = p->image->syms[p->image->functions[i]].addr;
        if (addr >= info.code_end)
            break;
        size_t first = descriptor_after(p, addr);
        if (fk_image_symbol_at(p->image, addr, &s) != FK_OK || s.addr != addr ||
            !fk_is_ocaml_name(s.name) ||
            (first < p->num_descrs && p->descrs[first].retaddr <= end_of(p, &s)))
            continue;
        if (!function(c, &s, first, first))
            return false;
    }
    return true;
}

bool fk_check_code(fk_check *check)
{
    fk_code *c = check->code;
    fk_cursor cursor;
    fk_descr d;
    fk_error err;
    c->check = check;
    if (c->descents == NULL)
        c->descents = calloc(check->program->num_descrs + 1, sizeof *c->descents);
    if (c->descents == NULL)
        return false;
    fk_cursor_start(check->table, &cursor);
    while (fk_cursor_next(&cursor, &d, &err) == FK_OK)
        if (!descriptor(c, &d))
            return false;
    return !(check->learned != NULL || (check->groups & FK_GROUP_CALLS)) || bare_functions(c);
}

bool fk_code_descent(const fk_check *check, const fk_descr *d, int64_t *out)
{
    const fk_program *p = check->program;
    size_t k = descriptor_after(p, d->retaddr - 1);
    int64_t n =
        k < p->num_descrs && p->descrs[k].address == d->address ? check->code->descents[k] : 0;
    *out = n - 1;
    return n != 0;
}

/* --- life ------------------------------------------------------------------------------------- */

struct fk_program *fk_code_program(const fk_image *im, fk_ocaml_version version)
{
    fk_program *p = calloc(1, sizeof *p);
    if (p != NULL && fk_program_open(im, version, p))
        return p;
    free(p);
    return NULL;
}

void fk_code_program_free(struct fk_program *p)
{
    if (p != NULL)
        fk_program_close(p);
    free(p);
}

struct fk_code *fk_code_new(void)
{
    return calloc(1, sizeof(fk_code));
}

void fk_code_free(struct fk_code *c)
{
    if (c == NULL)
        return;
    fk_function_close(&c->f);
    free(c->seen);
    free(c->paths);
    free(c->descents);
    free(c->evidence);
    free(c->opinions);
    free(c->walk);
    free(c->color);
    fk_webs_close(&c->webs);
    free(c);
}
