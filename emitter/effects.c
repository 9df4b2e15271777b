/* effects.c - what an expression does and reads; cached in the node's flags.
 *
 *   15 14 | 13 simple | 12 11 reads | 10 9 effect | 8 known | 7..0 the parser's
 *
 * Operands are evaluated right to left; one that is simple may wait until the
 * operation itself when nothing evaluated in between can tell (docs/cmm.md,
 * evaluation order). Reads of mutable variables count as reads of memory: the
 * order is then strictly right to left, as OCaml 5.4 made it.
 */
#include "emitter/select.h"

enum { KNOWN = 1 << 8, EFFECT_SHIFT = 9, READS_SHIFT = 11, SIMPLE = 1 << 13 };

effects effects_join(effects a, effects b)
{
    effects r = a;
    r.effect = a.effect > b.effect ? a.effect : b.effect;
    r.reads = a.reads > b.reads ? a.reads : b.reads;
    r.simple = a.simple && b.simple;
    return r;
}

static effects own_effects(const cmm_expr *e)
{
    switch (e->kind) {
    case CMM_VAR:
        return (effects){EFFECT_NONE, e->u.var->is_mutable ? READS_MUTABLE : READS_NONE, true};
    case CMM_LOAD:
        if (e->flags & CMM_ATOMIC)
            return (effects){EFFECT_ANY, READS_ANY, false};
        return (effects){EFFECT_NONE, e->flags & CMM_MUTABLE ? READS_MUTABLE : READS_NONE, true};
    case CMM_DLS_GET:
        return (effects){EFFECT_NONE, READS_MUTABLE, true};
    case CMM_CHECKBOUND:
        return (effects){EFFECT_RAISE, READS_NONE, true};
    case CMM_RAISE: case CMM_RERAISE: case CMM_RAISE_NOTRACE:
        return (effects){EFFECT_RAISE, READS_NONE, false};
    case CMM_IF: case CMM_SWITCH:
        return (effects){EFFECT_NONE, READS_NONE, false};
    case CMM_ASSIGN: case CMM_CATCH: case CMM_EXIT: case CMM_TRY: case CMM_APP: case CMM_EXTCALL:
    case CMM_STORE: case CMM_ALLOC: case CMM_OPAQUE: case CMM_POLL: case CMM_LET_MUT:
        return (effects){EFFECT_ANY, READS_ANY, false};
    default:
        return (effects){EFFECT_NONE, READS_NONE, true};
    }
}

static effects cached(const cmm_expr *e)
{
    return (effects){e->flags >> EFFECT_SHIFT & 3, e->flags >> READS_SHIFT & 3,
                     (e->flags & SIMPLE) != 0};
}

effects effects_of(const cmm_expr *e)
{
    if (e->flags & KNOWN)
        return cached(e);
    effects r = own_effects(e);
    for (uint32_t i = 0; i < e->nargs; i++)
        r = effects_join(r, effects_of(e->args[i]));
    ((cmm_expr *)(uintptr_t)e)->flags |=
        (uint16_t)(KNOWN | r.effect << EFFECT_SHIFT | r.reads << READS_SHIFT |
                   (r.simple ? SIMPLE : 0));
    return r;
}

bool effects_deferrable(effects e, effects left)
{
    if (!e.simple)
        return false;
    if (e.effect == EFFECT_NONE && e.reads == READS_NONE)
        return true;
    if (e.effect == EFFECT_NONE && e.reads == READS_MUTABLE)
        return left.effect <= EFFECT_RAISE;
    if (e.effect == EFFECT_RAISE)
        return left.effect == EFFECT_NONE && left.reads == READS_NONE;
    return false;
}
