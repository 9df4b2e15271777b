/* cse.c - common subexpressions. */
#include "emitter/target.h"

void lin_cse(lin_function *f)
{
    (void)f;
}
