/* assemble.h - the GNU assembler of an architecture. */
#ifndef FK_EMITTER_ASSEMBLE_H
#define FK_EMITTER_ASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>

/* Assembles `text` for the architecture of that name (fk_abi.name) with TRIPLET-as, plain as on
 * the machine's own. On success *object is malloc'ed. On failure `error` says why. */
bool fk_assemble(const char *arch, const char *text, size_t size, char **object, size_t *osize,
                 char *error, size_t error_size);

#endif
