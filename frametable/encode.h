#ifndef FK_FRAMETABLE_ENCODE_H
#define FK_FRAMETABLE_ENCODE_H
#include "frametable/internal.h"
#define fk_write_a NULL
#define fk_write_b NULL
#define fk_write_o1 NULL
#define fk_write_o2 NULL
#define fk_write_o3 NULL
#endif
