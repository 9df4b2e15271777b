/* interp.h - the reference interpreter of Cmm (interp/). */
#ifndef FK_EMITTER_INTERP_H
#define FK_EMITTER_INTERP_H

#include "emitter/cmm.h"

/* Runs function `entry` of the linked units, or every "*.entry" in order when it is NULL.
 * target: name of the architecture whose byte order and out-of-domain results count.
 * What the program prints goes to out. False, with the reason on err: undefined
 * behaviour (a bad address, a division that traps), an uncaught exception, a missing
 * symbol. Call inside cmm_with_stack. The units must be checked. */
bool cmm_interpret(cmm_unit *const *units, size_t nunits, const char *target, const char *entry,
                   FILE *out, FILE *err);

#endif
