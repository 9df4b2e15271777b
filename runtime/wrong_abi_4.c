/* wrong_abi_4.c - objects of OCaml 4: their start-up unit lists this table, which OCaml 5
 * calls caml_system.frametable. As wrong_abi.c. */
#include <stdint.h>

#include "runtime/fail.h"

const uintptr_t caml_system__frametable[] = {0};

__attribute__((constructor)) static void refuse(void)
{
    fk_fatal("objects of OCaml 4 are linked with a runtime for OCaml 5");
}
