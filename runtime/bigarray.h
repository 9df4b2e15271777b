/* bigarray.h - what C stubs need of Bigarray. */
#ifndef FK_RT_BIGARRAY_H
#define FK_RT_BIGARRAY_H

#include "runtime/value.h"

int fk_ba_compare(value a, value b);
intptr_t fk_ba_shape(value v); /* kind and dimensions in one number */

#endif
