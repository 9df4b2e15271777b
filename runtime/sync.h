/* sync.h - the pthread objects inside Mutex.t and Condition.t. */
#ifndef FK_RT_SYNC_H
#define FK_RT_SYNC_H

#include <pthread.h>

#include "runtime/value.h"

#define SYNC_MUTEX(v) (*(pthread_mutex_t **)CUSTOM_DATA(v))
#define SYNC_CONDITION(v) (*(pthread_cond_t **)CUSTOM_DATA(v))

value caml_ml_mutex_lock(value);
value caml_ml_mutex_unlock(value);
value caml_ml_condition_broadcast(value);

#endif
