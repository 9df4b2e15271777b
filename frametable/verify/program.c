/* program.c - what the analysis of all functions of an image shares. */
#include <stdlib.h>
#include <string.h>

#include "frametable/image.h"
#include "frametable/search.h"
#include "frametable/verify/graph.h"

static const struct {
    fk_callee callee;
    const char *name;
} names[] = {
    {FK_CALLEE_GC, "caml_call_gc"},
    {FK_CALLEE_ALLOC1, "caml_alloc1"},
    {FK_CALLEE_ALLOC2, "caml_alloc2"},
    {FK_CALLEE_ALLOC3, "caml_alloc3"},
    {FK_CALLEE_ALLOCN, "caml_allocN"},
    {FK_CALLEE_NORETURN, "caml_raise_exn"},
    {FK_CALLEE_NORETURN, "caml_reraise_exn"},
    {FK_CALLEE_NORETURN, "caml_ml_array_bound_error"},
    {FK_CALLEE_REALLOC, "caml_call_realloc_stack"},
    {FK_CALLEE_C, "caml_c_call"},
    {FK_CALLEE_C, "caml_c_call_stack_args"},
    {FK_CALLEE_TAG, "caml_obj_tag"},
};
enum { NAMES = sizeof names / sizeof *names };

fk_decode_fn fk_decoder(const fk_abi *abi)
{
    static const struct {
        const char *name;
        fk_decode_fn decode;
    } list[] = {{"amd64", fk_decode_amd64}, {"arm64", fk_decode_arm64}, {"power", fk_decode_power},
                {"s390x", fk_decode_s390x}, {"riscv64", fk_decode_riscv64}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(abi->name, list[i].name) == 0)
            return list[i].decode;
    return NULL;
}

/* --- registers ----------------------------------------------------------------------- */

static uint8_t by_role(const fk_abi *abi, uint32_t role)
{
    const fk_reg *r = fk_abi_role(abi, role);
    return r == NULL ? FK_NO_REG : r->hw;
}

static uint32_t in_any_version(const fk_abi *abi, const fk_reg *r, fk_generation g)
{
    fk_ocaml_version last = g == FK_GEN_A || g == FK_GEN_B ? FK_OCAML_5_1 : FK_OCAML_5_4;
    uint32_t roles = 0;
    for (int v = g == FK_GEN_A || g == FK_GEN_B ? FK_OCAML_4_11 : FK_OCAML_5_2; v <= (int)last; v++)
        roles |= fk_abi_roles(abi, r, (fk_ocaml_version)v);
    return roles;
}

static void registers(fk_program *p)
{
    const fk_abi *abi = p->abi;
    fk_generation g = fk_image_generation(p->image);
    p->sp = by_role(abi, FK_REG_SP);
    p->link = by_role(abi, FK_REG_LINK);
    p->young = by_role(abi, FK_REG_YOUNG);
    p->trap = by_role(abi, FK_REG_TRAP);
    p->domain = by_role(abi, FK_REG_DOMAIN);
    if (fk_abi_reg_by_name(abi, "lr") != NULL)
        p->link = FK_LR;
    for (size_t i = 0; i < abi->num_regs; i++) {
        const fk_reg *r = &abi->regs[i];
        uint32_t roles = in_any_version(abi, r, g);
        if (r->is_float || strcmp(r->name, "lr") == 0 || strcmp(r->name, "ctr") == 0)
            continue;
        p->domains |= roles & FK_REG_DOMAIN ? FK_REG_BIT(r->hw) : 0;
        p->limits |= roles & FK_REG_LIMIT ? FK_REG_BIT(r->hw) : 0;
        p->size_regs |= roles & FK_REG_C_FUNCTION ? FK_REG_BIT(r->hw) : 0;
        p->arguments |= r->ocaml_arg >= 0 ? FK_REG_BIT(r->hw) : 0;
        p->kept_by_c |= roles & FK_REG_C_CALLEE_SAVED ? FK_REG_BIT(r->hw) : 0;
        p->allocatable |= roles & FK_REG_ALLOCATABLE ? FK_REG_BIT(r->hw) : 0;
        p->reserved |= r->roles & FK_REG_RESERVED ? FK_REG_BIT(r->hw) : 0;
        if (r->ocaml_arg == 0)
            p->result = r->hw;
        if (r->c_arg == 0)
            p->c_argument = r->hw;
    }
}

static int either(fk_ocaml_version v, const char *a, const char *b)
{
    int offset = fk_domain_offset(v, a);
    return offset >= 0 ? offset : fk_domain_offset(v, b);
}

/* --- descriptors, relocations ----------------------------------------------------------- */

static int by_retaddr(const void *a, const void *b)
{
    const fk_descr *x = a, *y = b;
    return (x->retaddr > y->retaddr) - (x->retaddr < y->retaddr);
}

static bool collect(fk_program *p)
{
    const fk_table *t;
    size_t cap = 0;
    fk_error err;
    for (size_t i = 0; (t = fk_image_table(p->image, i)) != NULL; i++) {
        fk_cursor cursor;
        fk_descr d;
        fk_cursor_start(t, &cursor);
        while (fk_cursor_next(&cursor, &d, &err) == FK_OK) {
            if (p->num_descrs == cap) {
                cap = cap ? 2 * cap : 256;
                fk_descr *grown = realloc(p->descrs, cap * sizeof *grown);
                if (grown == NULL)
                    return false;
                p->descrs = grown;
            }
            p->descrs[p->num_descrs++] = d;
        }
    }
    if (p->num_descrs > 0)
        qsort(p->descrs, p->num_descrs, sizeof *p->descrs, by_retaddr);
    return true;
}

/* Where a relocation of code points: S + A, 0 when the symbol is elsewhere. */
static void fixup(const fk_image *im, const fk_relocs *r, const fk_reloc *e, fk_fixup *out)
{
    const fk_reloc_form *form = fk_abi_reloc(im->abi, e->type);
    fk_symbol s = {0};
    uint32_t section;
    uint8_t info;
    bool known = e->symbol != 0 &&
                 fk_symtab_get(im, &im->symtabs[r->symtab], e->symbol, &s, &section, &info) &&
                 section != 0;
    *out = (fk_fixup){e->offset, known ? s.addr + e->addend : 0, form->kind == FK_RELOC_GOT,
                      form->kind == FK_RELOC_HIGH,
                      form->kind == FK_RELOC_LOW || form->kind == FK_RELOC_GOT_LOW};
}

static bool fixups(fk_program *p)
{
    const fk_image *im = p->image;
    size_t n = 0;
    p->object = im->relocatable;
    for (size_t k = 0; p->object && k < im->num_relocs; k++)
        n += im->relocs[k].code_target && !im->relocs[k].relr ? im->relocs[k].count : 0;
    p->fixups = malloc((n + 1) * sizeof *p->fixups);
    if (p->fixups == NULL)
        return false;
    for (size_t k = 0; p->object && k < im->num_relocs; k++) {
        const fk_relocs *r = &im->relocs[k];
        fk_reloc e;
        for (uint64_t i = 0; r->code_target && !r->relr && i < r->count && p->num_fixups < n; i++)
            if (fk_reloc_get(im, r, i, &e) && fk_abi_reloc(im->abi, e.type) != NULL)
                fixup(im, r, &e, &p->fixups[p->num_fixups++]);
    }
    qsort(p->fixups, p->num_fixups, sizeof *p->fixups, fk_by_key);
    return true;
}

bool fk_program_open(const fk_image *im, fk_ocaml_version version, fk_program *p)
{
    *p = (fk_program){.image = im, .abi = fk_image_abi(im), .version = version};
    p->decode = fk_decoder(p->abi);
    registers(p);
    fk_symbol s;
    for (size_t i = 0; i < NAMES; i++)
        p->callee_addr[i] = fk_image_symbol(im, names[i].name, &s) == FK_OK ? s.addr : 0;
    p->exn_handler = either(version, "exn_handler", "exception_pointer");
    p->c_stack = fk_domain_offset(version, "c_stack");
    if (collect(p) && fixups(p) && fk_nameless_read(p) && fk_tables_find(p))
        return true;
    fk_program_close(p);
    return false;
}

void fk_program_close(fk_program *p)
{
    free(p->descrs);
    free(p->fixups);
    free(p->tables);
    free(p->parts);
    free(p->functions);
    free(p->entries);
    p->functions = NULL;
    p->entries = NULL;
    p->descrs = NULL;
    p->fixups = NULL;
    p->tables = NULL;
    p->parts = NULL;
}

size_t fk_program_find(const fk_program *p, uint64_t retaddr)
{
    size_t lo = FK_COUNT_BELOW(fk_descr, p->descrs, p->num_descrs, retaddr, retaddr);
    return lo < p->num_descrs && p->descrs[lo].retaddr == retaddr ? lo : p->num_descrs;
}

bool fk_word(const fk_program *p, uint64_t addr, uint64_t *out, bool *constant)
{
    uint64_t avail;
    fk_section section;
    const uint8_t *b = addr % 8 == 0 ? fk_image_bytes(p->image, addr, &avail) : NULL;
    if (b == NULL || avail < 8 || fk_image_section_at(p->image, addr, &section) != FK_OK)
        return false;
    *out = 0;
    for (unsigned k = 0; k < 8; k++)
        *out |= (uint64_t)b[k] << (8 * (p->abi->big_endian ? 7 - k : k));
    *constant = !section.writable || strncmp(section.name, ".got", 4) == 0 ||
                strcmp(section.name, ".toc") == 0;
    return true;
}

static fk_callee by_name(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].callee;
    return FK_CALLEE_OTHER;
}

/* Linker stubs carry the name in theirs: __caml_call_gc_veneer, 00000012.plt_call.caml_call_gc. */
static fk_callee by_stub(const char *name)
{
    for (size_t i = 0; i < NAMES; i++) {
        const char *at = strstr(name, names[i].name);
        size_t n = strlen(names[i].name);
        if (at != NULL && at != name && (at[n] == 0 || at[n] == '_' || at[n] == '+'))
            return names[i].callee;
    }
    return FK_CALLEE_OTHER;
}

fk_callee fk_program_callee(const fk_program *p, uint64_t call, uint64_t retaddr, uint64_t target)
{
    fk_symbol s;
    if (p->object) {
        for (uint64_t at = call; at < retaddr; at++)
            if (fk_image_target(p->image, at, &s) == FK_OK)
                return by_name(s.name);
        if (retaddr - call == 4 &&
            fk_image_target(p->image, call - 4, &s) == FK_OK) /* auipc, jalr */
            return by_name(s.name);
    }
    if (target == 0)
        return FK_CALLEE_UNKNOWN;
    if (p->nameless) {
        const fk_entry *e = fk_program_entry(p, target);
        return e != NULL                              ? e->kind
               : fk_program_range(p, target) != NULL ? FK_CALLEE_OTHER
                                                     : FK_CALLEE_UNKNOWN;
    }
    for (size_t i = 0; i < NAMES; i++)
        if (p->callee_addr[i] != 0 &&
            (target == p->callee_addr[i] || target == p->callee_addr[i] + p->abi->local_entry))
            return names[i].callee;
    if (p->object)
        return FK_CALLEE_OTHER;
    if (fk_image_symbol_at(p->image, target, &s) == FK_OK && s.addr == target)
        return s.name[0] == '_' || strstr(s.name, "plt_call") != NULL ? by_stub(s.name)
                                                                      : FK_CALLEE_OTHER;
    return fk_image_target(p->image, target, &s) == FK_OK ? by_name(s.name) : FK_CALLEE_UNKNOWN;
}
