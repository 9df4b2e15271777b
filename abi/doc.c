/* doc.c - the tables of docs/abi.md, written by abi-gen so that they cannot drift.
 *
 * Registers whose numbers all go up by one, with the same roles, share a row. */
#include <stdio.h>

#include "abi/doc.h"

static const struct {
    uint32_t role;
    const char *text;
} role_names[] = {
    {FK_REG_SP, "stack pointer"},
    {FK_REG_LINK, "return address"},
    {FK_REG_DOMAIN, "domain state"},
    {FK_REG_YOUNG, "young_ptr"},
    {FK_REG_TRAP, "trap pointer"},
    {FK_REG_LIMIT, "young_limit"},
    {FK_REG_TOC, "TOC"},
    {FK_REG_RESERVED, "platform"},
    {FK_REG_ALLOCATABLE, "allocatable"},
    {FK_REG_SCRATCH, "scratch"},
    {FK_REG_ALLOC_DESTROYED, "dead after allocation"},
    {FK_REG_NOALLOC_DESTROYED, "dead after noalloc C call"},
    {FK_REG_C_CALLEE_SAVED, "kept by C"},
    {FK_REG_VENEER, "linker may destroy"},
    {FK_REG_C_FUNCTION, "C function"},
    {FK_REG_STACKARGS_BEGIN, "stack arguments begin"},
    {FK_REG_STACKARGS_END, "stack arguments end"},
    {FK_REG_NOALLOC_SP, "SP in noalloc C call"},
};

static void put_roles(uint32_t roles)
{
    const char *separator = "";
    for (size_t i = 0; i < sizeof role_names / sizeof role_names[0]; i++)
        if (roles & role_names[i].role) {
            printf("%s%s", separator, role_names[i].text);
            separator = ", ";
        }
}

static bool follows(int a, int b)
{
    return (a < 0 && b < 0) || (a >= 0 && b == a + 1);
}

static bool in_one_row(const fk_reg *a, const fk_reg *b)
{
    return a->is_float == b->is_float && a->roles == b->roles && follows(a->hw, b->hw) &&
           follows(a->dwarf, b->dwarf) && follows(a->index, b->index) &&
           follows(a->slot, b->slot) && follows(a->ocaml_arg, b->ocaml_arg) &&
           follows(a->c_arg, b->c_arg);
}

static void put_range(int first, int last)
{
    if (first < 0)
        printf(" |");
    else if (first == last)
        printf(" %d |", first);
    else
        printf(" %d..%d |", first, last);
}

static void put_row(const fk_reg *a, const fk_reg *b)
{
    printf("| %s", a->name);
    if (a != b)
        printf("..%s", b->name);
    printf(" |");
    put_range(a->index, b->index);
    put_range(a->slot, b->slot);
    put_range(a->ocaml_arg, b->ocaml_arg);
    put_range(a->c_arg, b->c_arg);
    put_range(a->hw, b->hw);
    put_range(a->dwarf, b->dwarf);
    printf(" ");
    put_roles(a->roles);
    printf(" |\n");
}

void fk_doc_registers(const fk_abi *abi)
{
    printf("| register | index | slot | OCaml argument | C argument | hardware | DWARF | roles |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0, last; i < abi->num_regs; i = last + 1) {
        for (last = i; last + 1 < abi->num_regs; last++)
            if (!in_one_row(&abi->regs[last], &abi->regs[last + 1]))
                break;
        put_row(&abi->regs[i], &abi->regs[last]);
    }
    if (abi->num_deltas)
        printf("\n| register | versions | index | roles instead |\n|---|---|---|---|\n");
    for (size_t i = 0; i < abi->num_deltas; i++) {
        const fk_reg_delta *d = &abi->deltas[i];
        printf("| %s | %s", d->reg, fk_ocaml_version_name(d->from));
        if (d->from != d->to)
            printf("..%s", fk_ocaml_version_name(d->to));
        printf(" |");
        put_range(d->index, d->index);
        printf(" ");
        put_roles(d->roles);
        printf(" |\n");
    }
}

#define ROW(format, text, field)                                  \
    printf("| " text);                                            \
    for (size_t i = 0; i < fk_num_abis; i++)                      \
        if (fk_abis[i]->can_emit)                                 \
            printf(" | " format, fk_abis[i]->field);              \
    printf(" |\n")

void fk_doc_frames(void)
{
    ROW("%s", "", name);
    printf("|---|---|---|---|---|---|\n");
    ROW("%d", "return address at S + F", ra_offset);
    ROW("%d", "F includes the return address", size_includes_ra);
    ROW("%d", "F is a multiple of (5.2 and later)", frame_align);
    ROW("%d", "F is a multiple of (up to 5.1)", frame_align_old);
    ROW("%d", "bytes at S that belong to the callee", frame_reserved);
    ROW("%d", "S of the first frame - stack_info.sp", first_frame);
    ROW("%d", "header of a chunk, bytes", header_size);
    ROW("%d", "saved gc_regs in the header", header_gc_regs);
    ROW("%d", "bucket, bytes", bucket_size);
    ROW("%d", "gc_regs - bucket", bucket_base);
    ROW("%d", "fields of c_stack_link start at", c_link_base);
    ROW("%d", "poll calls the GC also on young_ptr = limit", poll_inclusive);
    ROW("%d", "caml_alloc1, 2, 3, N exist", has_alloc_n);
    ROW("%d", "return addresses are multiples of", code_align);
    ROW("%d", "functions are aligned to", function_align);
}

void fk_doc_calls(void)
{
    printf("| architecture | instruction | bytes | pattern (value/mask) |\n|---|---|---|---|\n");
    for (size_t n = 0; n < fk_num_abis; n++)
        for (size_t i = 0; i < fk_abis[n]->num_calls; i++) {
            const fk_call_form *c = &fk_abis[n]->calls[i];
            printf("| %s | %s | %u |", fk_abis[n]->name, c->name, c->length);
            for (size_t b = 0; b < c->nmatch; b++)
                printf(" %02x/%02x", c->value[b], c->mask[b]);
            printf(" |\n");
        }
}

static const char *const kind_names[] = {
    [FK_RELOC_ABS] = "word := S + A",
    [FK_RELOC_RELATIVE] = "word := base + A",
    [FK_RELOC_ABS32] = "4 bytes := S + A",
    [FK_RELOC_PCREL32] = "4 bytes := S + A - P",
    [FK_RELOC_ADD] = "bytes += S + A",
    [FK_RELOC_SUB] = "bytes -= S + A",
    [FK_RELOC_CALL] = "call or jump",
    [FK_RELOC_GOT] = "GOT slot",
    [FK_RELOC_GOT_LOW] = "GOT slot, low part",
    [FK_RELOC_FIELD] = "field",
    [FK_RELOC_HIGH] = "field, high part",
    [FK_RELOC_LOW] = "field, low part",
    [FK_RELOC_DISTANCE] = "field, distance",
    [FK_RELOC_SET] = "bytes := S + A",
    [FK_RELOC_SET6] = "6 bits := S + A",
    [FK_RELOC_SUB6] = "6 bits -= S + A",
};

static void put_relocations(const fk_abi *abi, fk_reloc_kind kind)
{
    const char *separator = "";
    for (size_t i = 0; i < abi->num_relocs; i++)
        if (abi->relocs[i].kind == kind) {
            if (!*separator)
                printf("| %s | %s | ", abi->name, kind_names[kind]);
            printf("%s%s", separator, abi->relocs[i].name);
            separator = ", ";
        }
    printf("%s", *separator ? " |\n" : "");
}

void fk_doc_relocations(void)
{
    printf("| architecture | meaning | relocations |\n|---|---|---|\n");
    for (size_t n = 0; n < fk_num_abis; n++)
        for (size_t k = 0; k < sizeof kind_names / sizeof kind_names[0]; k++)
            put_relocations(fk_abis[n], (fk_reloc_kind)k);
}

void fk_doc_domain(void)
{
    printf("| field");
    for (int v = 0; v < FK_OCAML_VERSIONS; v++)
        printf(" | %s", fk_ocaml_version_name((fk_ocaml_version)v));
    printf(" |\n|---|---|---|---|---|---|---|---|---|---|\n");
    const char *name;
    for (size_t i = 0; (name = fk_domain_field_nth(i)); i++) {
        printf("| %s", name);
        for (int v = 0; v < FK_OCAML_VERSIONS; v++) {
            int offset = fk_domain_offset((fk_ocaml_version)v, name);
            if (offset < 0)
                printf(" | -");
            else
                printf(" | %d", offset);
        }
        printf(" |\n");
    }
}
