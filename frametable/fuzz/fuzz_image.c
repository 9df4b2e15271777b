/* fuzz_image.c - any bytes as a file: opened, everything read. */
#include <stdlib.h>

#include "frametable/tests/consume.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fk_image *im;
    fk_error err;
    fk_open_options o = {.scan = size & 1};
    if (fk_image_open_memory("fuzz", data, size, &o, &im, &err) != FK_OK)
        return 0;
    volatile uint64_t sum = consume_image(im);
    (void)sum;
    fk_image_close(im);
    return 0;
}
