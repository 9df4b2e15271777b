/* memory.h - the C API's allocation entry points (names of caml/memory.h). */
#ifndef FK_RT_MEMORY_H
#define FK_RT_MEMORY_H

#include "runtime/gc.h"

void fk_atoms_init(void);
/* `words` words of the nursery, at most 257, for blocks that the caller makes
 * and tells the profiler of. May collect; no OCaml code runs. */
value *fk_reserve_young(uintptr_t words);
value caml_alloc_custom_mem(const struct custom_operations *, uintptr_t bytes, uintptr_t mem);
void *caml_stat_alloc(size_t);
void *caml_stat_alloc_noexc(size_t);
void *caml_stat_resize_noexc(void *, size_t);
void caml_stat_free(void *);
char *caml_stat_strdup(const char *);

#endif
