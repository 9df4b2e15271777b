/* unit.h - between the files of the front only. */
#ifndef FK_EMITTER_UNIT_H
#define FK_EMITTER_UNIT_H

#include "emitter/cmm.h"

/* Flag of a node that stands for text that could not be understood (an error was
 * given): its type is never, so that nothing around it complains. */
#define CMM_BAD (1 << 15)

cmm_unit *cmm_new_unit(const char *name);
bool cmm_keep_text(cmm_unit *, const char *text, size_t length);

#endif
