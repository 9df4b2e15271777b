/* live.c - roots against what the code stores before and uses after a safepoint.
 *
 *   live-init     what is listed has been written on every path to the call
 *   live-missing  what is used behind the call, and was a root or an address in a block before, is
 *                 listed: a value that crosses a safepoint unlisted is stale (step.c), and stale
 *                 values may not be dereferenced, stored, or listed again */
#include <stdio.h>
#include <string.h>

#include "frametable/verify/graph.h"
#include "frametable/verify/rules.h"

/* --- listed, not initialised ------------------------------------------------------------------ */

static const fk_value *value_of(const fk_code *c, const fk_state *s, fk_live l)
{
    const fk_program *p = c->f.program;
    if (l.reg < 0)
        return fk_slot(&c->f, s, l.offset);
    const fk_reg *r = fk_abi_reg(p->abi, l.reg, p->version);
    return r == NULL || r->is_float ? NULL : &s->place[r->hw];
}

static void place_name(const fk_code *c, fk_live l, char *buf, size_t size)
{
    const fk_reg *r =
        l.reg < 0 ? NULL : fk_abi_reg(c->f.program->abi, l.reg, c->f.program->version);
    if (l.reg < 0)
        snprintf(buf, size, "[%d]", l.offset);
    else
        snprintf(buf, size, "%s", r == NULL ? "?" : r->name);
}

static void check_init(fk_code *c, const fk_state *s, const fk_descr *d)
{
    char name[24];
    for (uint32_t n = 0; n < d->num_live; n++) {
        fk_live l = fk_descr_live(d, n);
        const fk_value *v = value_of(c, s, l);
        if (v == NULL) {
            fk_check_pass(c->check, FK_RULE_LIVE_INIT,
                          s->place[c->f.program->sp].kind == FK_V_SP
                              ? "a root lies outside of the frame that is followed"
                              : "the stack pointer cannot be followed to the call");
            return;
        }
        if (v->kind != FK_V_NONE)
            continue;
        place_name(c, l, name, sizeof name);
        fk_check_say(c->check, FK_RULE_LIVE_INIT, FK_VERDICT_WRONG, d,
                     "%s is a root here, and some path from the entry has not written it", name);
        return;
    }
    fk_check_ok(c->check, FK_RULE_LIVE_INIT);
}

/* --- used, not listed ------------------------------------------------------------------------- */

/* Evidence, collected over the whole function before anything is judged. Integers and addresses
 * outside the heap may cross unlisted, and an integer may be a copy of a root (what a mutable
 * variable begins with), so a value counts as lost only when it is tested as only values of OCaml
 * are (lowest bit), or was a root and serves as an address. */
enum {
    EVIDENCE_ADDRESS = 1,
    EVIDENCE_TESTED = 2,
    EVIDENCE_LISTED = 4,
    EVIDENCE_ASKED = 8, /* none: fk_asks_tag */
};

static uint32_t hash(int64_t number)
{
    return (uint32_t)(((uint64_t)number * 0x9e3779b97f4a7c15u) >> 40);
}

static uint32_t evidence_at(const fk_code *c, int64_t number)
{
    uint32_t at = hash(number) & c->evidence_mask;
    while (c->evidence[at].number != 0 && c->evidence[at].number != number)
        at = (at + 1) & c->evidence_mask;
    return at;
}

static void add_evidence(fk_code *c, const fk_value *v, uint8_t kind)
{
    if (v == NULL || v->kind != FK_V_ANY || v->k == 0)
        return;
    uint32_t at = evidence_at(c, v->k);
    if (c->evidence[at].number == 0 && 2 * ++c->num_evidence > c->evidence_mask) {
        c->num_evidence--; /* full: the rest goes without */
        return;
    }
    c->evidence[at].number = v->k;
    c->evidence[at].kind |= kind;
}

static const fk_value *reg(const fk_state *s, uint8_t r)
{
    return r < 32 ? &s->place[r] : NULL;
}

/* What serves as the address of a block, NULL: nothing. */
static const fk_value *address(const fk_state *s, const fk_insn *i)
{
    bool memory = (i->op == FK_OP_LOAD || i->op == FK_OP_STORE) && !fk_unboxes_float(i);
    return memory ? reg(s, i->base) : NULL;
}

static void add_listed(fk_code *c, const fk_state *s, const fk_descr *d)
{
    for (uint32_t n = 0; n < d->num_live; n++)
        add_evidence(c, value_of(c, s, fk_descr_live(d, n)), EVIDENCE_LISTED);
}

/* Room for two values of each instruction. false: no memory. */
bool fk_live_begin(fk_code *c)
{
    size_t size = 256;
    while (size < 4 * c->f.num_nodes)
        size *= 2;
    if (!fk_room(&c->evidence, &c->cap_evidence, size, sizeof *c->evidence))
        return false;
    memset(c->evidence, 0, size * sizeof *c->evidence);
    c->evidence_mask = (uint32_t)size - 1;
    c->num_evidence = 0;
    return true;
}

void fk_live_evidence(fk_function *f, const fk_state *s, int32_t n, void *arg)
{
    const fk_insn *i = &f->nodes[n].insn;
    fk_code *c = arg;
    add_evidence(c, address(s, i), EVIDENCE_ADDRESS);
    if (f->nodes[n].descr != UINT32_MAX)
        add_listed(c, s, &f->program->descrs[f->nodes[n].descr]);
    if (fk_asks_tag(f, &f->nodes[n]))
        add_evidence(c, reg(s, f->program->c_argument), EVIDENCE_ASKED);
    if (i->flags & FK_I_TEST)
        add_evidence(c, reg(s, i->op == FK_OP_BRANCH ? i->rt : i->rs), EVIDENCE_TESTED);
}

/* Stale, and for sure something that the collector moves. A tested low bit alone proves nothing:
 * Cmm may ask whether an integer is odd. */
static bool is_lost(const fk_code *c, const fk_value *v)
{
    if (!(v->flags & FK_F_STALE) || v->kind != FK_V_ANY || v->k == 0)
        return false;
    uint8_t kind = c->evidence[evidence_at(c, v->k)].kind;
    if (kind & EVIDENCE_ASKED)
        return false;
    return ((kind & EVIDENCE_TESTED) && (kind & (EVIDENCE_LISTED | EVIDENCE_ADDRESS))) ||
           ((kind & EVIDENCE_ADDRESS) && (v->flags & FK_F_ROOT));
}

static void blame(fk_code *c, const fk_value *v, uint64_t at, const char *what)
{
    const fk_function *f = &c->f;
    if (v->stale < f->first || v->stale >= f->last ||
        (f->program->descrs[v->stale].flags & FK_DESCR_RETURN_TO_C) ||
        (c->seen[v->stale - f->first] & FK_SEEN_BLAMED))
        return;
    c->seen[v->stale - f->first] |= FK_SEEN_BLAMED;
    fk_check_say(c->check, FK_RULE_LIVE_MISSING, FK_VERDICT_SUSPECT, &f->program->descrs[v->stale],
                 "a value that %s crosses this safepoint unlisted and is %s at 0x%llx",
                 v->flags & FK_F_ROOT      ? "is a root elsewhere"
                 : v->flags & FK_F_DERIVED ? "points into a block"
                                           : "is one of OCaml's",
                 what, (unsigned long long)at);
}

/* A compiler loads from the frame only what it needs. */
static const fk_value *reloaded(const fk_code *c, const fk_state *s, const fk_insn *i)
{
    if (i->op != FK_OP_LOAD || i->base != c->f.program->sp || i->index != FK_NO_REG || i->size != 8)
        return NULL;
    return fk_slot(&c->f, s, i->disp);
}

void fk_live_insn(fk_code *c, const fk_state *s, int32_t n)
{
    const fk_insn *i = &c->f.nodes[n].insn;
    const fk_value *base = address(s, i);
    const fk_value *slot = reloaded(c, s, i);
    if (base != NULL && (base->flags & FK_F_STALE) && !(base->flags & FK_F_ASKED) &&
        (base->flags & (FK_F_ROOT | FK_F_DERIVED)))
        blame(c, base, i->addr, "dereferenced");
    if (slot != NULL && is_lost(c, slot))
        blame(c, slot, i->addr, "loaded");
    const fk_value *source =
        i->op == FK_OP_STORE && base != NULL && base->kind != FK_V_SP ? reg(s, i->rs) : NULL;
    if (source != NULL && is_lost(c, source))
        blame(c, source, i->addr, "stored in a block");
}

static void check_listed(fk_code *c, const fk_state *s, const fk_descr *d)
{
    for (uint32_t n = 0; n < d->num_live; n++) {
        const fk_value *v = value_of(c, s, fk_descr_live(d, n));
        if (v != NULL && is_lost(c, v))
            blame(c, v, d->retaddr, "a root again");
    }
}

/* --- one descriptor --------------------------------------------------------------------------- */

void fk_live_call(fk_code *c, const fk_state *s, const fk_descr *d)
{
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return;
    check_init(c, s, d);
    check_listed(c, s, d);
}

void fk_live_skip(fk_code *c, const char *reason)
{
    fk_check_pass(c->check, FK_RULE_LIVE_INIT, reason);
    fk_check_pass(c->check, FK_RULE_LIVE_MISSING, reason);
    fk_check_pass(c->check, FK_RULE_LIVE_AGREE, reason);
    fk_check_pass(c->check, FK_RULE_LIVE_DEAD, reason);
}

/* Everything behind this descriptor has been looked at. */
void fk_live_done(fk_code *c, size_t descr)
{
    if (!(c->seen[descr - c->f.first] & FK_SEEN_BLAMED))
        fk_check_ok(c->check, FK_RULE_LIVE_MISSING);
    if (!(c->seen[descr - c->f.first] & FK_SEEN_DIFFERS))
        fk_check_ok(c->check, FK_RULE_LIVE_AGREE);
    if (!(c->seen[descr - c->f.first] & FK_SEEN_DEAD))
        fk_check_ok(c->check, FK_RULE_LIVE_DEAD);
}
