/* bigarray.h - Bigarray's blocks. Compiled code reads them directly, so their layout
 * is the public one of caml/bigarray.h:
 *
 *   word 0 operations | 1 data | 2 dimensions | 3 flags | 4 proxy | 5.. sizes
 *   flags: bits 0-7 kind, bit 8 Fortran layout, bits 9-10 who owns the data
 */
#ifndef FK_RT_BIGARRAY_H
#define FK_RT_BIGARRAY_H

#include "runtime/value.h"

enum { BA_FORTRAN = 0x100, BA_MANAGED = 0x200, BA_KIND = 0xFF, BA_MAX_DIMS = 16 };
enum {
    FLOAT32, FLOAT64, SINT8, UINT8, SINT16, UINT16, INT32, INT64, CAML_INT, NATIVE, COMPLEX32,
    COMPLEX64, CHAR, FLOAT16, BA_KINDS
};

struct proxy {
    _Atomic intptr_t refs;
    void *data;
};
struct ba {
    char *data;
    intptr_t num_dims, flags;
    struct proxy *proxy;
    intptr_t dim[];
};
#define BA(v) ((struct ba *)CUSTOM_DATA(v))
#define KIND(b) ((b)->flags & BA_KIND)

/* Public names, which the Unix library's mapped arrays use. */
extern const int caml_ba_element_size[BA_KINDS]; /* bytes */
int caml_ba_compare(value, value);
intptr_t caml_ba_hash(value);
void caml_ba_serialize(value, uintptr_t *size_32, uintptr_t *size_64);
uintptr_t caml_ba_deserialize(void *dst);

extern const struct custom_operations fk_ba_ops; /* not of mapped arrays */
uintptr_t fk_ba_elements(const struct ba *);
uintptr_t fk_ba_bytes(const struct ba *);
double fk_ba_half(uint16_t);

#endif
