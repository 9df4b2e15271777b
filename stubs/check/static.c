/* static.c - what symbols and relocations tell without running anything. */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "stubs/check/stubcheck.h"

static const sc_insn *insn_at(const sc_result *r, size_t section, uint64_t offset)
{
    return sc_insn_at(&r->linked.code, sc_address_of(section, offset));
}

static bool is_undefined(const sc_symbol *s)
{
    return s->section == SHN_UNDEF && s->name[0] && strcmp(s->name, ".TOC.") != 0;
}

static void report(sc_result *r, const sc_reloc *reloc, const char *rule, const char *format)
{
    const sc_insn *n = insn_at(r, reloc->section, reloc->offset);
    const fk_reloc_form *form = fk_abi_reloc(r->object->abi, reloc->type);
    char text[512];
    snprintf(text, sizeof text, format, n && n->stub ? n->stub : "?", reloc->symbol.name,
             form ? form->name : "an unknown relocation");
    sc_add_violation(r, n && n->stub ? n->stub : "", rule, reloc->symbol.name,
                     n ? n->address : 0, "", text);
}

static void see_code_reloc(const sc_reloc *reloc, void *arg)
{
    sc_result *r = arg;
    const fk_reloc_form *form = fk_abi_reloc(r->object->abi, reloc->type);
    const sc_insn *n = reloc->code ? insn_at(r, reloc->section, reloc->offset) : NULL;
    if (!form || !n || !n->stub)
        return;
    sc_add_checks(r, n->stub, "static.pic", 1, 0);
    if (form->kind == FK_RELOC_ABS || form->kind == FK_RELOC_ABS32)
        report(r, reloc, "static.pic", "`%s` has the address of %s in its code (%s)");
    /* A TOC or GOT reference is a field of an instruction too; only whole distances to symbols
     * of other objects are meant. */
    bool distance = form->kind == FK_RELOC_PCREL32 || form->kind == FK_RELOC_DISTANCE;
    if (distance && is_undefined(&reloc->symbol))
        report(r, reloc, "static.pcrel", "`%s` branches to %s by a plain distance (%s)");
}

/* power: bl to another object; the linker turns the nop after it into ld r2,24(r1). */
static void see_toc_call(const sc_reloc *reloc, void *arg)
{
    sc_result *r = arg;
    const fk_reloc_form *form = fk_abi_reloc(r->object->abi, reloc->type);
    const sc_insn *n = reloc->code ? insn_at(r, reloc->section, reloc->offset) : NULL;
    if (!n || !n->stub || !form || form->kind != FK_RELOC_CALL || !is_undefined(&reloc->symbol) ||
        strncmp(n->text, "bl ", 3) != 0)
        return;
    const sc_insn *next = sc_insn_at(&r->linked.code, n->address + n->length);
    bool good = next && (strncmp(next->text, "nop", 3) == 0 ||
                         strncmp(next->text, "ld r2,24(r1)", 12) == 0); /* filled in already */
    sc_add_checks(r, n->stub, "c-entry.toc-restore", 1, 0);
    if (!good)
        report(r, reloc, "c-entry.toc-restore",
               "`%s` calls %s (%s) without the nop that becomes ld r2,24(r1)");
}

static bool wants_toc(const fk_abi *abi)
{
    return fk_abi_role(abi, FK_REG_TOC) != NULL;
}

static bool is_listed(const char *list, const char *arch)
{
    size_t n = strlen(arch);
    if (strcmp(list, "*") == 0)
        return true;
    for (const char *p = list; (p = strstr(p, arch)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

static void check_missing(sc_result *r)
{
    bool five = r->object->version >= FK_OCAML_5_0;
    char text[256];
    for (size_t i = 0; i < sc_num_stub_rows; i++) {
        const sc_stub_row *s = &sc_stub_rows[i];
        if (!is_listed(five ? s->in5 : s->in4, r->object->abi->name))
            continue;
        sc_add_checks(r, s->name, "static.missing", 1, 0);
        snprintf(text, sizeof text, "`%s` does not exist in an object for OCaml %s on %s", s->name,
                 fk_ocaml_version_name(r->object->version), r->object->abi->name);
        if (!sc_has_symbol(r->object->elf, s->name))
            sc_add_violation(r, s->name, "static.missing", s->name, 0, "", text);
    }
}

/* Registers that the ABI itself lets a veneer destroy: nothing a stub can help. */
static void note_veneer(sc_result *r)
{
    const fk_reg *f = fk_abi_role(r->object->abi, FK_REG_C_FUNCTION | FK_REG_VENEER);
    char text[256];
    if (!f || r->object->version < FK_OCAML_4_13)
        return;
    snprintf(
        text, sizeof text,
        "the ABI passes the C function of caml_c_call in %s, which a PLT entry or veneer before "
        "the stub may destroy",
        f->name);
    sc_add_note(r, "caml_c_call", "veneer.carried", text);
}

/* The trace looks at branches that may pass the PLT; a stub without any has been
 * looked at as well. */
static void count_looked_at(sc_result *r)
{
    const char *last = "";
    for (size_t i = 0; i < r->linked.code.count; i++) {
        const char *stub = r->linked.code.insn[i].stub;
        if (!stub || strcmp(stub, last) == 0)
            continue;
        sc_add_checks(r, stub, "veneer.lazy", 1, 0);
        sc_add_checks(r, stub, "static.pic", 1, 0);
        last = stub;
    }
}

void sc_check_static(sc_result *r)
{
    count_looked_at(r);
    sc_each_reloc(r->object->elf, see_code_reloc, r);
    if (wants_toc(r->object->abi))
        sc_each_reloc(r->object->elf, see_toc_call, r);
    check_missing(r);
    note_veneer(r);
    sc_add_checks(r, "caml_start_program", "static.layout", 1, 0);
    if (r->object->layout_error)
        sc_add_violation(r, "caml_start_program", "static.layout", "layout", 0, "",
                         r->object->layout_error);
}
