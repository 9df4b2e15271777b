/* cases_nested.c - stubs inside each other: callbacks, collections and raises
 * over several levels of C and OCaml code. */
#include "harness.h"

const sc_case sc_cases_nested[] = {
    {0},
};
