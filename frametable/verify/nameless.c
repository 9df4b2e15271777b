/* nameless.c - functions and entries of the runtime in a file without symbols.
 *
 *   functions   the FDEs: every OCaml compiler writes one for each function, entry to end
 *   entries     what direct calls reach outside of the code that has descriptors, told apart by
 *               all of their calls together:
 *
 *     nearly all with the allocation flag, most before a jump back    caml_call_gc
 *     nearly all with it, most before code that goes on               caml_alloc1, 2, 3: most take
 *                                                                     2, 3, 4 words; or caml_allocN
 *     one is the end of its function                                  never returns
 *     most in front of the entry, or before a jump back to it         caml_call_realloc_stack
 *     most before code that goes on                                   C, or caml_c_call
 *
 *   Whoever calls anything else is not checked: the path behind such a call may not exist. */
#include <stdlib.h>

#include "frametable/image.h"
#include "frametable/search.h"
#include "frametable/verify/graph.h"
#include "frametable/verify/rows.h"
#include "frametable/verify/rules.h"

enum {
    LOOK_AHEAD = 4,  /* instructions from the growth of the stack back to the entry */
    NEAR_ENTRY = 64, /* bytes of a stack check */
};

/* One direct call, or the sum of all to one target. */
typedef struct {
    uint64_t target; /* first: the key */
    uint32_t sites, described, flagged, ends, jumps, grows, goes_on;
    uint32_t words[5]; /* with the flag: that request so many words in all */
} site;

typedef struct {
    site *list;
    size_t num, cap;
} sites;

/* --- functions -------------------------------------------------------------------------------- */

static bool has_names(const fk_image *im)
{
    for (size_t i = 0; i < im->num_functions; i++)
        if (fk_is_ocaml_name(im->symtabs[0].strings + im->syms[im->functions[i]].name))
            return true;
    return false;
}

/* One instruction of a function, decoded in line. */
static bool next_insn(const fk_program *p, uint64_t at, uint64_t end, fk_insn *out)
{
    uint64_t avail;
    const uint8_t *b = at < end ? fk_image_bytes(p->image, at, &avail) : NULL;
    if (b == NULL || avail == 0)
        return false;
    p->decode(b, avail < end - at ? avail : end - at, at, out);
    return true;
}

/* Power's OCaml has its FDEs from the local entry on; in front of it the TOC is found from r12. */
static uint64_t global_entry(const fk_program *p, uint64_t from, uint64_t end)
{
    const fk_reg *toc = fk_abi_role(p->abi, FK_REG_TOC);
    const fk_reg *entry = fk_abi_reg_by_name(p->abi, "r12");
    uint64_t at = from - p->abi->local_entry;
    fk_insn i;
    bool has = p->abi->local_entry != 0 && at >= end && at < from && toc != NULL && entry != NULL &&
               next_insn(p, at, from, &i) && i.op == FK_OP_ADD && i.rd == toc->hw &&
               i.rs == entry->hw;
    return has ? at : from;
}

static bool read_functions(fk_program *p, const fk_cfi *cfi)
{
    uint64_t from, to, at = 0;
    size_t cap = 0;
    for (; fk_cfi_next(cfi, at, &from, &to) == FK_OK; at = to > from ? to : from + 1) {
        if (to <= from)
            continue;
        if (!fk_room(&p->functions, &cap, p->num_functions + 1, sizeof *p->functions))
            return false;
        p->functions[p->num_functions++] = (fk_range){global_entry(p, from, at), to};
    }
    return true;
}

const fk_range *fk_program_range(const fk_program *p, uint64_t addr)
{
    size_t n = FK_COUNT_UPTO(fk_range, p->functions, p->num_functions, from, addr);
    return n > 0 && addr < p->functions[n - 1].to ? &p->functions[n - 1] : NULL;
}

fk_result fk_program_function(const fk_program *p, uint64_t addr, fk_symbol *out)
{
    if (!p->nameless)
        return fk_image_symbol_at(p->image, addr, out);
    const fk_range *r = fk_program_range(p, addr);
    if (r == NULL)
        return FK_ABSENT;
    *out = (fk_symbol){.name = "", .addr = r->from, .size = r->to - r->from, .function = true};
    return FK_OK;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* What a linker may patch behind a call (power), or nothing. */
static uint64_t skip_filler(const fk_program *p, uint64_t at, uint64_t end)
{
    fk_insn i;
    bool filler = p->abi->local_entry != 0 && next_insn(p, at, end, &i) &&
                  i.op == FK_OP_OTHER && i.writes == 0;
    return filler ? at + i.length : at;
}

static bool grows_stack(const fk_program *p, uint64_t at, const fk_range *r)
{
    fk_insn i;
    if (at <= r->from)
        return true;
    for (int k = 0; k < LOOK_AHEAD && next_insn(p, at, r->to, &i); k++, at += i.length)
        if (i.op == FK_OP_JUMP)
            return i.target - r->from < NEAR_ENTRY;
    return false;
}

/* No beginning of a piece of code out of line. */
static bool goes_on(const fk_program *p, const fk_insn *i)
{
    switch (i->op) {
    case FK_OP_UNKNOWN: case FK_OP_IMM: case FK_OP_CALL: case FK_OP_JUMP: case FK_OP_BRANCH:
    case FK_OP_TRAP: case FK_OP_STOP: case FK_OP_PUSHMEM: return false;
    case FK_OP_ADD: return i->rd != p->sp || i->rs != p->sp;
    case FK_OP_STORE: return i->base != p->sp || i->writeback == 0;
    default: return true;
    }
}

static uint64_t words_of(const fk_descr *d)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d->num_allocs; i++)
        sum += fk_descr_wosize(d, i) + 1;
    return sum;
}

static bool add_site(const fk_program *p, sites *all, const fk_insn *call, const fk_range *r)
{
    uint64_t back = call->addr + call->length;
    size_t d = fk_program_find(p, back);
    bool described = d < p->num_descrs;
    fk_insn next;
    if (!fk_room(&all->list, &all->cap, all->num + 1, sizeof *all->list))
        return false;
    site *s = &all->list[all->num++];
    *s = (site){.target = call->target, .sites = 1, .described = described};
    s->flagged = described && (p->descrs[d].flags & FK_DESCR_ALLOC);
    uint64_t words = s->flagged ? words_of(&p->descrs[d]) : 0;
    if (words < sizeof s->words / sizeof *s->words)
        s->words[words] = s->flagged;
    back = skip_filler(p, back, r->to);
    s->ends = back == r->to;
    s->grows = grows_stack(p, back, r);
    if (next_insn(p, back, r->to, &next)) {
        s->jumps = next.op == FK_OP_JUMP;
        s->goes_on = goes_on(p, &next);
    }
    return true;
}

static bool outside(const fk_program *p, uint64_t addr)
{
    return addr < p->ocaml.from || addr >= p->ocaml.to;
}

/* Of one function, with what lies in front of its entry. */
static bool read_calls(const fk_program *p, sites *all, size_t f)
{
    const fk_range *r = &p->functions[f];
    uint64_t at = r->from < FK_BEFORE_ENTRY ? 0 : r->from - FK_BEFORE_ENTRY;
    fk_insn i;
    if (f == 0 || p->functions[f - 1].to > at)
        at = f == 0 ? r->from : p->functions[f - 1].to;
    at += (0 - at) % p->abi->code_align;
    for (; next_insn(p, at, r->to, &i); at += i.length)
        if (i.op == FK_OP_CALL && i.target != 0 && i.target != at + i.length &&
            outside(p, i.target) && !add_site(p, all, &i, r))
            return false;
    return true;
}

/* --- entries ---------------------------------------------------------------------------------- */

static void add_sites(void *to, const void *more)
{
    site *sum = to;
    const site *s = more;
    sum->sites += s->sites;
    sum->described += s->described;
    sum->flagged += s->flagged;
    sum->ends += s->ends;
    sum->jumps += s->jumps;
    sum->grows += s->grows;
    sum->goes_on += s->goes_on;
    for (size_t w = 0; w < sizeof s->words / sizeof *s->words; w++)
        sum->words[w] += s->words[w];
}

static bool most(uint32_t part, uint32_t all)
{
    return part > all / 2;
}

static fk_callee allocation(const site *s)
{
    return most(s->jumps, s->sites)      ? FK_CALLEE_GC
           : !most(s->goes_on, s->sites) ? FK_CALLEE_UNKNOWN
           : most(s->words[2], s->sites) ? FK_CALLEE_ALLOC1
           : most(s->words[3], s->sites) ? FK_CALLEE_ALLOC2
           : most(s->words[4], s->sites) ? FK_CALLEE_ALLOC3
                                         : FK_CALLEE_ALLOCN;
}

static fk_callee kind_of(const site *s)
{
    if (s->flagged > s->described / 10 * 9 && s->flagged > 0)
        return allocation(s);
    if (most(s->flagged * 10, s->described))
        return FK_CALLEE_UNKNOWN;
    if (s->ends > 0)
        return FK_CALLEE_NORETURN;
    if (s->described == 0 && most(s->grows, s->sites))
        return FK_CALLEE_REALLOC;
    if (most(s->goes_on, s->sites))
        return s->described > 0 ? FK_CALLEE_C : FK_CALLEE_OTHER;
    return FK_CALLEE_UNKNOWN;
}

static bool name_entries(fk_program *p, const sites *all)
{
    p->entries = malloc((all->num + 1) * sizeof *p->entries);
    if (p->entries == NULL)
        return false;
    for (size_t k = 0; k < all->num; k++)
        p->entries[p->num_entries++] = (fk_entry){all->list[k].target, kind_of(&all->list[k])};
    return true;
}

const fk_entry *fk_program_entry(const fk_program *p, uint64_t target)
{
    size_t n = FK_COUNT_BELOW(fk_entry, p->entries, p->num_entries, target, target);
    return n < p->num_entries && p->entries[n].target == target ? &p->entries[n] : NULL;
}

/* From the first function with a descriptor of OCaml code to the last. */
static void find_ocaml(fk_program *p)
{
    for (size_t d = 0; d < p->num_descrs; d++) {
        const fk_range *r = fk_program_range(p, p->descrs[d].retaddr - 1);
        if (r == NULL || (p->descrs[d].flags & FK_DESCR_RETURN_TO_C))
            continue;
        if (p->ocaml.to == 0)
            p->ocaml.from = r->from;
        p->ocaml.to = r->to;
    }
}

bool fk_nameless_read(fk_program *p)
{
    sites all = {0};
    p->nameless = !p->object && p->num_descrs > 0 && !has_names(p->image);
    if (!p->nameless || p->decode == NULL)
        return true;
    /* Which of 4.x and 5.x this is only symbols tell. */
    if (fk_image_generation(p->image) == FK_GEN_A || fk_image_generation(p->image) == FK_GEN_B)
        return true;
    fk_cfi *cfi = fk_cfi_open(p->image);
    bool good = cfi != NULL && read_functions(p, cfi);
    fk_cfi_close(cfi);
    find_ocaml(p);
    for (size_t f = 0; good && f < p->num_functions; f++)
        good = outside(p, p->functions[f].from) || read_calls(p, &all, f);
    all.num = fk_combine_keys(all.list, sizeof *all.list, all.num, add_sites);
    good = good && name_entries(p, &all);
    free(all.list);
    return good;
}
