/* prims_53.c - primitives that OCaml 5.4 no longer has. Only the 5.3 archive has them:
 * in the other one they belong to wrong_abi.c. */
#include "runtime/gc.h"

#if FK_ABI < 504

static void remember(value ref, value v)
{
    if (is_young_block(v) && !is_young(ref))
        words_push(&fk_self->remembered, (uintptr_t)&FIELD(ref, 0));
}

value caml_atomic_exchange(value ref, value v)
{
    remember(ref, v);
    return atomic_exchange((_Atomic value *)&FIELD(ref, 0), v);
}
value caml_atomic_cas(value ref, value old, value v)
{
    remember(ref, v);
    return VAL_BOOL(atomic_compare_exchange_strong((_Atomic value *)&FIELD(ref, 0), &old, v));
}
value caml_atomic_fetch_add(value ref, value n)
{
    return atomic_fetch_add((_Atomic value *)&FIELD(ref, 0), 2 * INT_VAL(n));
}

#endif
