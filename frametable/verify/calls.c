/* calls.c - rules that hold a descriptor against the call before it. */
#include <string.h>

#include "frametable/verify/internal.h"

enum { WINDOW = 8 }; /* longest call form, and auipc before jalr */

/* Up to WINDOW bytes that end at the return address: within its section, which
 * may end there. */
static size_t bytes_before(const fk_check *c, uint64_t retaddr, const uint8_t **code)
{
    for (size_t n = WINDOW; n > 0; n--) {
        uint64_t avail;
        const uint8_t *p = fk_image_bytes(c->image, retaddr - n, &avail);
        if (p != NULL && avail >= n) {
            *code = p;
            return n;
        }
    }
    return 0;
}

bool fk_check_allocates(const char *name)
{
    static const char *const entries[] = {"caml_call_gc", "caml_alloc1", "caml_alloc2",
                                          "caml_alloc3", "caml_allocN"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(name, entries[i]) == 0)
            return true;
    return false;
}

/* In an object the relocation names the callee: 4 bytes before the return address, or at the first
 * of two instructions that together are the call, 8 before it. In a linked file the distance
 * leads to it, or to a stub of the linker. */
static bool callee(const fk_check *c, const uint8_t *code, size_t n, uint64_t retaddr,
                   fk_symbol *out)
{
    uint64_t target;
    fk_kind kind = fk_image_kind(c->image);
    if (kind == FK_KIND_OBJECT || kind == FK_KIND_ARCHIVE_MEMBER)
        return fk_image_target(c->image, retaddr - 4, out) == FK_OK ||
               (fk_abi_call_target(c->abi, code, n, retaddr, &target) &&
                fk_image_target(c->image, retaddr - 8, out) == FK_OK);
    if (!fk_abi_call_target(c->abi, code, n, retaddr, &target))
        return false;
    if (fk_image_target(c->image, target, out) == FK_OK)
        return true;
    return fk_image_symbol_at(c->image, target, out) == FK_OK &&
           (out->addr == target || out->addr + c->abi->local_entry == target);
}

bool fk_check_callee(const fk_check *c, uint64_t retaddr, fk_symbol *out)
{
    const uint8_t *code = NULL;
    size_t n = bytes_before(c, retaddr, &code);
    return n > 0 && callee(c, code, n, retaddr, out);
}

bool fk_check_traps(const fk_check *c, uint64_t addr)
{
    uint64_t avail;
    const uint8_t *p = fk_image_bytes(c->image, addr, &avail);
    return p != NULL && fk_abi_is_trap(c->abi, p, avail);
}

void fk_check_call_entry(fk_check *c, const fk_descr *d, const char *name)
{
    bool flag = (d->flags & FK_DESCR_ALLOC) != 0;
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return;
    if (name == NULL)
        fk_check_pass(c, FK_RULE_CALL_ENTRY, "the callee has no name");
    else if (fk_check_allocates(name) == flag)
        fk_check_ok(c, FK_RULE_CALL_ENTRY);
    else
        fk_check_say(c, FK_RULE_CALL_ENTRY, FK_VERDICT_WRONG, d,
                     flag ? "the descriptor has the allocation flag, the call before it goes to %s"
                          : "the descriptor has no allocation flag, the call before it goes to %s",
                     name);
}

void fk_check_calls(fk_check *c, const fk_descr *d)
{
    const uint8_t *code = NULL;
    size_t n = bytes_before(c, d->retaddr, &code);
    if ((n > 0 && fk_abi_call_length(c->abi, code, n) > 0) || fk_check_traps(c, d->retaddr))
        fk_check_ok(c, FK_RULE_CALL_BEFORE);
    else
        fk_check_say(c, FK_RULE_CALL_BEFORE, FK_VERDICT_WRONG, d,
                     "no call instruction of %s ends at 0x%llx, so nothing returns there",
                     c->abi->name, (unsigned long long)d->retaddr);
}
