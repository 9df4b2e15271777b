/* unit.h - between the files of the front only. */
#ifndef FK_EMITTER_UNIT_H
#define FK_EMITTER_UNIT_H

#include "emitter/cmm.h"

/* Flag of a node that stands for text that could not be understood (an error was
 * given): its type is never, so that nothing around it complains. */
#define CMM_BAD (1 << 15)

/* The hash of a name (FNV-1a), byte by byte: the lexer makes it while it looks for the end. */
#define CMM_HASH_START 2166136261u
static inline uint32_t cmm_hash_byte(uint32_t h, char c) {
    return (h ^ (unsigned char)c) * 16777619u;
}
cmm_sym *cmm_intern_hashed(cmm_unit *, const char *text, size_t len, uint32_t hash);
cmm_sym *cmm_find(const cmm_unit *, const char *text, size_t len); /* NULL: not known */

cmm_unit *cmm_new_unit(const char *name);
void cmm_keep_text(cmm_unit *, const char *text, size_t length);
bool cmm_length_ok(cmm_unit *);
/* Parses the text that the unit holds. */
void cmm_parse_unit(cmm_unit *, cmm_mode, const char *unit_symbol);

#endif
