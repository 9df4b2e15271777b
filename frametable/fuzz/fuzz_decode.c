/* fuzz_decode.c - any bytes as a table: descriptors, chains, round trip. */
#include "frametable/fuzz/fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fk_image *im = fuzz_table(data, size);
    if (!im)
        return 0;
    volatile uint64_t sum = consume_image(im);
    (void)sum;
    fk_image_close(im);
    return 0;
}
