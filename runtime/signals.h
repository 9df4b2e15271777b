/* signals.h - OCaml signal handlers, run at safepoints. */
#ifndef FK_RT_SIGNALS_H
#define FK_RT_SIGNALS_H

#include <pthread.h>

#include "runtime/gc.h"

value fk_signals_run(struct domain *); /* VAL_UNIT or an exception result */
void fk_signals_init(void);
void fk_signals_stack(void); /* alternate stack of the calling thread */
void fk_signals_stack_free(void); /* the system thread ends */
bool fk_signals_pending(void);
/* A thread of the runtime's own, which takes no signal from the program's. */
int fk_signals_thread(pthread_t *, void *(*)(void *));
int caml_convert_signal_number(int ocaml);
int caml_rev_convert_signal_number(int system);

#endif
