/* capi.c - the rest of the public C interface (chapter "Interfacing C with
 * OCaml" of the manual), for C stubs compiled against OCaml's headers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/callback.h"
#include "runtime/fail.h"
#include "runtime/memory.h"
#include "runtime/signals.h"

/* Caml_state of C stubs: the domain of the calling thread. */
_Thread_local struct domain *caml_state;
FK_NORETURN void caml_bad_caml_state(void)
{
    fk_fatal("a C function used OCaml values without holding the domain");
}

/* --- blocking sections -------------------------------------------------------------- */

void caml_enter_blocking_section_no_pending(void) { fk_blocking_enter(); }
void caml_enter_blocking_section(void)
{
    value r = fk_pending_actions(fk_self);
    if (is_exn_result(r))
        fk_raise(exn_of_result(r));
    fk_blocking_enter();
}
void caml_leave_blocking_section(void)
{
    int e = errno;
    fk_blocking_leave();
    if (fk_signals_pending())
        fk_set_action_pending(fk_self);
    errno = e;
}
void caml_release_runtime_system(void) { caml_enter_blocking_section(); }
void caml_acquire_runtime_system(void) { caml_leave_blocking_section(); }

/* --- allocation ------------------------------------------------------------------------ */

value caml_alloc_1(unsigned tag, value a)
{
    ROOTS(1, &a);
    value v = fk_alloc_small(1, tag);
    FIELD(v, 0) = a;
    return UNROOT(v);
}
value caml_alloc_2(unsigned tag, value a, value b)
{
    ROOTS(2, &a, &b);
    value v = fk_alloc_small(2, tag);
    FIELD(v, 0) = a;
    FIELD(v, 1) = b;
    return UNROOT(v);
}
value caml_alloc_3(unsigned tag, value a, value b, value c)
{
    ROOTS(3, &a, &b, &c);
    value v = fk_alloc_small(3, tag);
    FIELD(v, 0) = a;
    FIELD(v, 1) = b;
    FIELD(v, 2) = c;
    return UNROOT(v);
}
value caml_alloc_some(value v) { return caml_alloc_1(0, v); }
value caml_alloc_float_array(uintptr_t n) { return n ? fk_alloc(n, TAG_DOUBLE_ARRAY) : fk_atom(0); }

value caml_alloc_array(value (*f)(const char *), const char *const *p)
{
    uintptr_t n = 0;
    while (p[n])
        n++;
    if (n == 0)
        return fk_atom(0);
    value a = fk_alloc(n, 0);
    ROOTS(1, &a);
    for (uintptr_t i = 0; i < n; i++) {
        value x = f(p[i]); /* before the address: it may collect */
        caml_modify(&FIELD(a, i), x);
    }
    return UNROOT(a);
}
value caml_copy_string_array(const char *const *p) { return caml_alloc_array(fk_copy_string, p); }

static void final_custom(value v) { (*(void (**)(value))CUSTOM_DATA(v))(v); }
value caml_alloc_final(uintptr_t words, void (*f)(value), uintptr_t mem, uintptr_t max)
{
    static const struct custom_operations ops = {.identifier = "_final", .finalize = final_custom};
    extern value caml_alloc_custom(const struct custom_operations *, uintptr_t, uintptr_t,
                                   uintptr_t);
    value v = caml_alloc_custom(&ops, (words ? words : 1) * sizeof(value), mem, max);
    *(void (**)(value))CUSTOM_DATA(v) = f;
    return v;
}

/* --- strings ------------------------------------------------------------------------------ */

uintptr_t caml_string_length(value s) { return string_length(s); }
int caml_string_is_c_safe(value s) { return strlen((char *)s) == string_length(s); }
int caml_convert_flag_list(value list, const int *flags)
{
    int r = 0;
    for (; is_block(list); list = FIELD(list, 1))
        r |= flags[INT_VAL(FIELD(list, 0))];
    return r;
}
char *caml_strerror(int e, char *buf, size_t n)
{
    snprintf(buf, n, "%s", strerror(e));
    return buf;
}
void *caml_stat_resize(void *p, size_t n)
{
    void *q = caml_stat_resize_noexc(p, n);
    if (!q)
        fk_raise_out_of_memory();
    return q;
}

/* --- hash tables of method tags -------------------------------------------------------------- */

/* The hash of a method or variant name (manual, "Polymorphic variants"). */
value caml_hash_variant(const char *s)
{
    uintptr_t h = 0;
    for (; *s; s++)
        h = 223 * h + (unsigned char)*s;
    return VAL_INT((int32_t)(uint32_t)(h << 1) >> 1);
}

/* Masks of signals for sigprocmask-like stubs look here. */
_Atomic uintptr_t caml_pending_signals[4];

int caml_domain_is_multicore(void) { return atomic_load(&fk_num_domains) > 1; }
value caml_domain_alone(void) { return atomic_load(&fk_num_domains) == 1; }
