/* calls_code.c - which calls of a function have a descriptor, and which must not.
 *
 *   callee                                   descriptor
 *   OCaml function, closure, caml_c_call     always: the walk of the stack passes here
 *   caml_call_gc, caml_alloc1/2/3/N          always, with the allocation flag
 *   caml_raise_exn, bound error              with -g
 *   caml_call_realloc_stack                  never: it looks at the frame above
 *   any other C function                     never: called in place because it cannot collect */
#include <ctype.h>
#include <string.h>

#include "frametable/verify/graph.h"
#include "frametable/verify/rules.h"

enum { GLUE = 6 }; /* instructions of an out-of-line jump to a stub */

typedef enum { NEEDS, MAY, MUST_NOT } need;

static bool begins_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* camlFoo.bar_12, caml_apply3, caml_curry5_2_app, ... */
bool fk_is_ocaml_name(const char *name)
{
    static const char *const generic[] = {"caml_apply", "caml_curry", "caml_tuplify", "caml_send",
                                          "caml_startup"};
    if (begins_with(name, "caml") && isupper((unsigned char)name[4]))
        return true;
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
        if (begins_with(name, generic[i]))
            return true;
    return false;
}

static need need_of(const char *name)
{
    if (fk_is_ocaml_name(name) || begins_with(name, "caml_c_call") || fk_check_allocates(name))
        return NEEDS;
    if (begins_with(name, "caml_raise_") || begins_with(name, "caml_reraise_exn") ||
        strstr(name, "bound_error") || begins_with(name, "caml_perform") ||
        begins_with(name, "caml_runstack") || begins_with(name, "caml_resume") ||
        begins_with(name, "caml_reperform"))
        return MAY;
    return MUST_NOT;
}

/* power keeps one jump to caml_call_gc for a function, behind its code: a store of the TOC pointer,
 * then an address from the TOC, as a stub of the linker would. */
static bool glue_callee(const fk_code *c, const fk_insn *call, fk_symbol *out)
{
    const fk_program *p = c->check->program;
    int32_t n = fk_node_at(&c->f, call->target);
    if (n == FK_NO_INSN || c->f.nodes[n].insn.op != FK_OP_STORE)
        return false;
    uint64_t from = c->f.nodes[n].insn.addr + c->f.nodes[n].insn.length;
    if (!p->object)
        return fk_image_target(p->image, from, out) == FK_OK;
    for (size_t i = 0; i < GLUE && n != FK_NO_INSN; i++, n = c->f.nodes[n].next) {
        const fk_insn *insn = &c->f.nodes[n].insn;
        const fk_fixup *x = fk_fixup_of(p, insn);
        if (x != NULL && x->value != 0 && fk_image_target(p->image, x->value, out) == FK_OK)
            return true;
    }
    return false;
}

static bool callee(const fk_code *c, const fk_node *n, fk_symbol *out)
{
    return fk_check_callee(c->check, n->insn.addr + n->insn.length, out) ||
           (n->insn.op == FK_OP_BRANCH && glue_callee(c, &n->insn, out));
}

static void say_missing(fk_code *c, const fk_node *n, const char *name)
{
    const fk_symbol *s = &c->f.symbol;
    fk_check_say(
        c->check, FK_RULE_CALL_MISSING, FK_VERDICT_WRONG, NULL,
        "the call at %.100s+0x%llx goes to %.80s, but no descriptor has its return address 0x%llx",
        s->name, (unsigned long long)(n->insn.addr - s->addr), name,
        (unsigned long long)(n->insn.addr + n->insn.length));
}

/* A function of this module, whatever its name: Cmm knows no rule for names. */
static bool in_module(const fk_check *check, uint64_t addr)
{
    fk_table_info info;
    fk_table_info_get(check->table, &info);
    return info.code_begin <= addr && addr < info.code_end;
}

void fk_calls_node(fk_code *c, const fk_node *n)
{
    fk_symbol s;
    bool has = n->descr != UINT32_MAX, named = callee(c, n, &s);
    bool indirect = n->insn.op == FK_OP_CALLREG;
    const fk_descr *d = has ? &c->check->program->descrs[n->descr] : NULL;
    if (!named && (!indirect || c->check->program->nameless)) {
        if (has)
            fk_check_ok(c->check, FK_RULE_CALL_MISSING);
        else
            fk_check_pass(c->check, FK_RULE_CALL_MISSING, "the callee of the call has no name");
        return;
    }
    need want = named ? need_of(s.name) : NEEDS;
    if (want == NEEDS && !has)
        say_missing(c, n, named ? s.name : "a closure");
    else if (want == MUST_NOT && has && !in_module(c->check, s.addr))
        fk_check_say(c->check, FK_RULE_CALL_MISSING, FK_VERDICT_WRONG, d,
                     "the call goes to %.100s, a C function called in place: no walk of the stack "
                     "can pass here",
                     s.name);
    else
        fk_check_ok(c->check, FK_RULE_CALL_MISSING);
}

/* Through a register go calls of closures; an allocation there is left alone. */
void fk_calls_entry(fk_code *c, const fk_node *n, const fk_descr *d)
{
    fk_symbol s;
    if (!fk_is_call(&n->insn))
        return;
    bool named = callee(c, n, &s);
    if (!named && n->callee == FK_CALLEE_GC)
        fk_check_call_entry(c->check, d, "caml_call_gc");
    else if (!named && n->insn.op == FK_OP_CALLREG &&
             !(d->flags & (FK_DESCR_ALLOC | FK_DESCR_RETURN_TO_C)))
        fk_check_ok(c->check, FK_RULE_CALL_ENTRY);
    else
        fk_check_call_entry(c->check, d, named ? s.name : NULL);
}
