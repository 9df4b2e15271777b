/* globals.h - roots that C code registers, and named values. */
#ifndef FK_RT_GLOBALS_H
#define FK_RT_GLOBALS_H

#include "runtime/gc.h"

void caml_register_global_root(value *);
void caml_remove_global_root(value *);
/* Generational: the owner writes only through modify. */
void caml_register_generational_global_root(value *);
void caml_modify_generational_global_root(value *, value);
void caml_remove_generational_global_root(value *);
void fk_globals_scan(enum scan_kind, root_fn, void *ctx);

#endif
