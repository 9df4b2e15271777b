/* consume.h - reads everything that an image offers: damage tests and fuzz targets. */
#ifndef FK_TESTS_CONSUME_H
#define FK_TESTS_CONSUME_H

#include "framekit/frametable.h"

/* A sum over all that was read, so that nothing is left out by the compiler. */
uint64_t consume_image(const fk_image *);
/* The index of the image, every return address looked up in it. */
uint64_t consume_index(const fk_image *);

#endif
