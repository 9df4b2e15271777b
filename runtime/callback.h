/* callback.h - C calls OCaml, pending actions, start and end of programs. */
#ifndef FK_RT_CALLBACK_H
#define FK_RT_CALLBACK_H

#include "runtime/fail.h"
#include "runtime/gc.h"

value fk_callback2_exn(value closure, value a, value b);
value fk_callback3_exn(value closure, value a, value b, value c);
/* Raises what the callback raised. */
value fk_callback(value closure, value arg);

/* Everything that waits for a safepoint: collections, signal handlers,
 * finalisers, profiler callbacks, thread switches. VAL_UNIT or an exception result. */
value fk_pending_actions(struct domain *);
/* For the end of a primitive: runs what waits, keeps v, raises what was raised. */
value fk_after_pending_actions(value v);

/* Prints the exception as OCaml programs do and exits with code 2. */
FK_NORETURN void fk_fatal_uncaught(value exn);
char *fk_format_exception(value exn); /* malloc */
FK_NORETURN void fk_exit(int code);

#endif
