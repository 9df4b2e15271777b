/* capi_unix.c - names that OCaml's Unix library expects beside the public
 * interface. There is no debugger and no event log: their hooks do nothing. */

#include <stdarg.h>
#include <stdlib.h>

#include "runtime/bigarray.h"
#include "runtime/fail.h"
#include "runtime/memory.h"
#include "runtime/profiler.h"
#include "runtime/thread.h"

/* What Unix.fork calls in the child. */
void (*caml_atfork_hook)(void) = fk_thread_forked;
int caml_debugger_in_use;
int caml_debugger_fork_mode = 1;
void caml_debugger_cleanup_fork(void) {}
void caml_runtime_events_post_fork(void) {}
void caml_ev_lifecycle(int event, int64_t data) { (void)event, (void)data; }

void caml_memprof_sample_block(value v, size_t allocated, size_t sampled, int source)
{
    (void)allocated;
    fk_prof_sample_block(fk_self, v, sampled, source);
}

char *caml_stat_strconcat(int n, ...)
{
    va_list args;
    size_t len = 1;
    va_start(args, n);
    for (int i = 0; i < n; i++)
        len += strlen(va_arg(args, const char *));
    va_end(args);
    char *s = caml_stat_alloc(len), *p = s;
    va_start(args, n);
    for (int i = 0; i < n; i++)
        p = stpcpy(p, va_arg(args, const char *));
    va_end(args);
    return s;
}

/* Mapped bigarrays keep their own operations but compare like the others. */
int caml_ba_compare(value a, value b) { return fk_ba_compare(a, b); }
int caml_ba_element_size[] = {4, 8, 1, 1, 2, 2, 4, 8, 8, 8, 8, 16, 1, 2};

/* Not OCaml's own hash of the elements: dimensions and kind only. */
intptr_t caml_ba_hash(value v) { return fk_ba_shape(v); }

void caml_ba_serialize(value v, uintptr_t *b32, uintptr_t *b64)
{
    (void)v, (void)b32, (void)b64;
    fk_invalid_arg("output_value: bigarrays cannot be marshalled by this runtime");
}
uintptr_t caml_ba_deserialize(void *dst)
{
    (void)dst;
    fk_failwith("input_value: bigarrays cannot be read by this runtime");
}
