/* sync.h - locks that OCaml code waits for: the pthread objects inside Mutex.t
 * and Condition.t, and channels' locks. */
#ifndef FK_RT_SYNC_H
#define FK_RT_SYNC_H

#include <pthread.h>

#include "runtime/value.h"

#define SYNC_MUTEX(v) (*(pthread_mutex_t **)CUSTOM_DATA(v))
#define SYNC_CONDITION(v) (*(pthread_cond_t **)CUSTOM_DATA(v))

/* Error numbers. The domain is given back while the caller waits. */
int fk_sync_lock(pthread_mutex_t *);
int fk_sync_unlock(pthread_mutex_t *);

value caml_ml_mutex_lock(value);
value caml_ml_mutex_unlock(value);
value caml_ml_condition_broadcast(value);

#endif
