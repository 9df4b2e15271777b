/* custom.h - custom blocks that the runtime knows by identifier. */
#ifndef FK_RT_CUSTOM_H
#define FK_RT_CUSTOM_H

#include "runtime/fail.h"
#include "runtime/gc.h"

extern const struct custom_operations caml_int32_ops, caml_int64_ops, caml_nativeint_ops;

/* For serialize and deserialize functions: the Marshal buffer in use. Numbers are
 * big-endian. What is malformed is refused, and everything released, by `bad`. */
void fk_serialize_be(uint64_t n, int bytes);
uint64_t fk_deserialize_be(int bytes);
uintptr_t fk_deserialize_left(void); /* bytes not read */
uintptr_t fk_deserialize_room(void); /* bytes at dst, that the input asked for */
FK_NORETURN void fk_deserialize_bad(const char *why);

uint32_t caml_hash_mix_uint32(uint32_t h, uint32_t d);
uint32_t caml_hash_mix_intnat(uint32_t h, intptr_t d);
uint32_t caml_hash_mix_int64(uint32_t h, int64_t d);
uint32_t caml_hash_mix_double(uint32_t h, double d);
uint32_t caml_hash_mix_float(uint32_t h, float d);
const struct custom_operations *fk_find_custom(const char *identifier);

#endif
