/* fuzz_image.c - any bytes as a file: opened, everything read, every rule run on it. */
#include <stdlib.h>
#include <string.h>

#include "frametable/tests/consume.h"
#include "frametable/verify/verify.h"

static void finding(const fk_finding *f, void *arg)
{
    *(size_t *)arg += strlen(f->sentence);
}

static void verify(const fk_image *im)
{
    static fk_tally tally;
    fk_error err;
    size_t bytes = 0;
    fk_verify_image(im, FK_GROUPS_ALL, finding, &bytes, &tally, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fk_image *im;
    fk_error err;
    fk_open_options o = {.scan = size & 1};
    if (fk_image_open_memory("fuzz", data, size, &o, &im, &err) != FK_OK)
        return 0;
    volatile uint64_t sum = consume_image(im);
    (void)sum;
    if (size & 2)
        verify(im);
    fk_image_close(im);
    return 0;
}
