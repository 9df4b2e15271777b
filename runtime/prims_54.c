/* prims_54.c - primitives that appeared with OCaml 5.4. Only the 5.4 archive has them:
 * in the other one they belong to wrong_abi.c. */
#include <stdlib.h>

#include "runtime/callback.h"
#include "runtime/fail.h"
#include "runtime/gc.h"
#include "runtime/signals.h"

#if FK_ABI >= 504

/* --- atomic record fields -------------------------------------------------------------- */

static _Atomic value *field(value v, value i) { return (_Atomic value *)&FIELD(v, INT_VAL(i)); }

static void remember(value v, value i, value x)
{
    if (is_young_block(x) && !is_young(v))
        words_push(&fk_self->remembered, (uintptr_t)field(v, i));
}
value caml_atomic_load_field(value v, value i) { return atomic_load(field(v, i)); }
value caml_atomic_exchange_field(value v, value i, value x)
{
    remember(v, i, x);
    return atomic_exchange(field(v, i), x);
}
value caml_atomic_cas_field(value v, value i, value old, value x)
{
    remember(v, i, x);
    return VAL_BOOL(atomic_compare_exchange_strong(field(v, i), &old, x));
}
value caml_atomic_fetch_add_field(value v, value i, value n)
{
    return atomic_fetch_add(field(v, i), 2 * INT_VAL(n));
}

/* --- let rec with lazy values ------------------------------------------------------------- */

value caml_alloc_dummy_lazy(value unit)
{
    (void)unit;
    return fk_alloc(1, 0);
}
/* A lazy value may be forced, or short-cut, when it is known. */
value caml_update_dummy_lazy(value dummy, value v)
{
    bool lazy = is_block(v) &&
        (tag_of(v) == TAG_LAZY || tag_of(v) == TAG_FORWARD || tag_of(v) == TAG_FORCING);
    HD(dummy) = (HD(dummy) & ~(header)0xFF) | (lazy ? tag_of(v) : TAG_FORWARD);
    caml_modify(&FIELD(dummy, 0), lazy ? FIELD(v, 0) : v);
    return VAL_UNIT;
}

/* --- Gc.ramp_up: this collector has no pace to change ---------------------------------------- */

value caml_ml_gc_ramp_up(value f)
{
    value r = fk_callback(f, VAL_UNIT);
    ROOTS(1, &r);
    value p = fk_alloc_small(2, 0);
    FIELD(p, 0) = r;
    FIELD(p, 1) = VAL_INT(0);
    return UNROOT(p);
}
value caml_ml_gc_ramp_down(value work) { (void)work; return VAL_UNIT; }

/* --- Sys --------------------------------------------------------------------------------------- */

value caml_sys_getenv_opt(value name)
{
    const char *s = strlen((char *)name) == string_length(name) ? getenv((char *)name) : NULL;
    if (!s)
        return VAL_NONE;
    value v = fk_copy_string(s);
    ROOTS(1, &v);
    value r = fk_alloc_small(1, 0);
    FIELD(r, 0) = v;
    return UNROOT(r);
}
value caml_sys_io_buffer_size(value unit) { (void)unit; return VAL_INT(65536); }
value caml_sys_temp_dir_name(value unit)
{
    const char *s = getenv("TMPDIR");
    (void)unit;
    return fk_copy_string(s && *s ? s : "/tmp");
}
value caml_sys_convert_signal_number(value n)
{
    return VAL_INT(caml_convert_signal_number((int)INT_VAL(n)));
}
value caml_sys_rev_convert_signal_number(value n)
{
    return VAL_INT(caml_rev_convert_signal_number((int)INT_VAL(n)));
}

#endif
