/* startup.h - the start-up unit of a program, from its objects. */
#ifndef FK_EMITTER_STARTUP_H
#define FK_EMITTER_STARTUP_H

#include "emitter/cmmc.h"

/* Reads ELF objects and archives in link order; an object is a unit X when it defines
 * X.frametable and X.code_begin. Of an archive only the members that something needs
 * count. Writes the start-up unit as lossless text; false: `error` says which file and why. */
bool cmmc_startup_scan(char *const *files, size_t nfiles, const cmmc_options *, FILE *out,
                       char *error, size_t error_size);

#endif
