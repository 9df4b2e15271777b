/* capi_unix.c - names that OCaml's Unix library expects beside the public
 * interface. There is no debugger and no event log: their hooks do nothing. */

#include <stdarg.h>
#include <stdlib.h>

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
