/* agree.c - live-agree: the safepoints that one variable crosses say the same of it; live-dead:
 * what is listed crosses; and, for live-missing, variables that must be values and are listed
 * nowhere. All look at webs (webs.h). */
#include <stdio.h>
#include <string.h>

#include "frametable/verify/graph.h"
#include "frametable/verify/rules.h"

/* How many safepoints list a web, how many do not. */
typedef struct fk_opinion {
    uint32_t listed, unlisted;
} fk_opinion;

typedef char place_name[24];

/* A slot is named by its place from the stack pointer that the descriptor speaks of. */
static void name_of(const fk_code *c, const fk_crossing *x, place_name buf)
{
    const fk_abi *abi = c->f.program->abi;
    if (x->place >= FK_STATE_REGS) {
        int64_t pushed = c->f.program->link == FK_NO_REG ? abi->word : 0;
        int64_t sp = 1 - c->descents[x->descr] + pushed;
        snprintf(buf, sizeof(place_name), "[%lld]",
                 (long long)(-8 * (int64_t)(x->place - FK_STATE_REGS + 1) - sp));
        return;
    }
    for (size_t k = 0; k < abi->num_regs; k++)
        if (!abi->regs[k].is_float && abi->regs[k].hw == x->place)
            snprintf(buf, sizeof(place_name), "%s", abi->regs[k].name);
}

/* The descriptor of a crossing and what its place is called, NULL: said already, or not one of
 * OCaml's. */
static const fk_descr *to_say(fk_code *c, const fk_crossing *x, uint8_t flag, place_name name)
{
    const fk_descr *d = &c->f.program->descrs[x->descr];
    uint8_t *seen = &c->seen[x->descr - c->f.first];
    if ((d->flags & FK_DESCR_RETURN_TO_C) || (*seen & flag))
        return NULL;
    *seen |= flag;
    name_of(c, x, name);
    return d;
}

static void blame(fk_code *c, const fk_crossing *x, const fk_opinion *o)
{
    place_name name = "?";
    const fk_descr *d = to_say(c, x, FK_SEEN_DIFFERS, name);
    uint32_t others = x->listed ? o->unlisted : o->listed;
    if (d == NULL)
        return;
    fk_check_say(c->check, FK_RULE_LIVE_AGREE, FK_VERDICT_SUSPECT, d,
                 "%s is %s root here, and at %u of the %u safepoints that the same variable "
                 "crosses it is %s",
                 name, x->listed ? "a" : "no", others, o->listed + o->unlisted,
                 x->listed ? "none" : "one");
}

static void dead(fk_code *c, const fk_crossing *x)
{
    place_name name = "?";
    const fk_descr *d = to_say(c, x, FK_SEEN_DEAD, name);
    if (d != NULL)
        fk_check_say(c->check, FK_RULE_LIVE_DEAD, FK_VERDICT_SUSPECT, d,
                     "%s is a root here, and no path behind this safepoint reads it", name);
}

/* --- variables that must be values ------------------------------------------------------------ */

/* An integer that the compiler knows to be one may come as an argument, as a result or out of a
 * block: only what serves as the address of a block is for sure. The address of a constant is no
 * root, and may be moved into the register of an argument without an instruction. */
static bool is_value(unsigned t)
{
    unsigned from = t & FK_T_ORIGINS, never = FK_T_COMPUTED | FK_T_CONSTANT | FK_T_ADDRESS;
    if (from == 0 || (from & never) || (t & FK_T_ASKED))
        return false;
    if ((t & FK_T_BOXED_FLOAT) && from != FK_T_BLOCK)
        return false;
    return (from & FK_T_BLOCK) || (t & (FK_T_DEREFERENCED | FK_T_POINTER));
}

/* Two matches on one value, one within an arm of the other, share a load: a field that is an
 * integer here and the address of a block in an arm that is not taken. A copy may take over its
 * register; that somebody computes with it or compares it is the sign. */
static bool is_shared_load(const fk_crossing *x, unsigned t)
{
    return x->place < FK_STATE_REGS && (t & (FK_T_FIELD | FK_T_SECOND)) &&
           (t & (FK_T_ARITHMETIC | FK_T_COMPARED));
}

static const char *origin_name(unsigned t)
{
    return t & FK_T_BLOCK      ? "was allocated here"
           : t & FK_T_RESULT   ? "is the result of a call"
           : t & FK_T_C_RESULT ? "is the result of a C function"
           : t & FK_T_ARGUMENT ? "came as an argument"
                               : "came out of a block";
}

static void miss(fk_code *c, const fk_crossing *x, unsigned t)
{
    place_name name = "?";
    const fk_descr *d = to_say(c, x, FK_SEEN_BLAMED, name);
    if (d == NULL)
        return;
    fk_check_say(c->check, FK_RULE_LIVE_MISSING, FK_VERDICT_SUSPECT, d,
                 "%s is no root here; it %s%s and is used behind this safepoint", name,
                 origin_name(t), t & FK_T_DEREFERENCED ? ", serves as the address of a block" : "");
}

/* --- all -------------------------------------------------------------------------------------- */

static void count_opinions(fk_code *c)
{
    const fk_webs *w = &c->webs;
    memset(c->opinions, 0, w->num * sizeof *c->opinions);
    for (size_t k = 0; k < w->num_crossings; k++) {
        const fk_crossing *x = &w->crossings[k];
        ++*(x->listed ? &c->opinions[x->web].listed : &c->opinions[x->web].unlisted);
    }
}

/* The lesser number of two opinions: where all agree, there is none. An integer may be moved into a
 * register that held a root without an instruction: registers have no say. */
static bool is_lesser(const fk_crossing *x, const fk_opinion *o)
{
    return x->listed == (o->unlisted > o->listed) && x->place >= FK_STATE_REGS;
}

bool fk_agree(fk_code *c)
{
    fk_webs *w = &c->webs;
    if (!fk_webs_find(w, &c->f, c->check->facts) ||
        !fk_room(&c->opinions, &c->cap_opinions, w->num, sizeof *c->opinions))
        return false;
    count_opinions(c);
    for (size_t k = 0; k < w->num_crossings; k++) {
        const fk_crossing *x = &w->crossings[k];
        if (x->web == FK_WEB_NONE)
            dead(c, x);
        else if (is_lesser(x, &c->opinions[x->web]))
            blame(c, x, &c->opinions[x->web]);
    }
    for (size_t k = 0; k < w->num_crossings; k++) {
        const fk_crossing *x = &w->crossings[k];
        unsigned traits = w->traits[x->web];
        if (!x->listed && is_value(traits) && !is_shared_load(x, traits))
            miss(c, x, traits);
    }
    return true;
}
