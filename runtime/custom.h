/* custom.h - custom blocks that the runtime knows by identifier. */
#ifndef FK_RT_CUSTOM_H
#define FK_RT_CUSTOM_H

#include "runtime/gc.h"

extern const struct custom_operations caml_int32_ops, caml_int64_ops, caml_nativeint_ops;

/* For serialize and deserialize functions: the Marshal buffer in use. */
void fk_serialize_byte(unsigned char);
unsigned char fk_deserialize_byte(void);
const struct custom_operations *fk_find_custom(const char *identifier);

#endif
