/* wrong_abi.c - objects of another OCaml version than this archive is for.
 *
 * The domain state moved between versions, so such a program would run for a while on
 * wrong fields. The linker takes this member only for the names below, which the other
 * version's standard library always refers to (its unit Stdlib needs an atomic
 * compare-and-set); the program then ends before it begins. */

#include "runtime/fail.h"

#if FK_ABI >= 504
#define OTHER "5.3"
#define OURS "5.4"
#define NAMES(X) X(caml_atomic_cas) X(caml_atomic_exchange) X(caml_atomic_fetch_add)
#else
#define OTHER "5.4"
#define OURS "5.3"
#define NAMES(X) \
    X(caml_atomic_load_field) X(caml_atomic_exchange_field) X(caml_atomic_cas_field) \
    X(caml_atomic_fetch_add_field) X(caml_alloc_dummy_lazy) X(caml_update_dummy_lazy) \
    X(caml_ml_gc_ramp_up) X(caml_ml_gc_ramp_down) \
    X(caml_sys_getenv_opt) X(caml_sys_io_buffer_size) X(caml_sys_temp_dir_name) \
    X(caml_sys_convert_signal_number) X(caml_sys_rev_convert_signal_number)
#endif

__attribute__((constructor)) static void refuse(void)
{
    fk_fatal("objects of OCaml " OTHER " are linked with the runtime for OCaml " OURS);
}

#define X(name) void name(void) { refuse(); }
NAMES(X)
