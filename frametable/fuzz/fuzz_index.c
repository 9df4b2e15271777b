/* fuzz_index.c - any bytes as a table: the index must agree with a walk over the descriptors. */
#include "frametable/fuzz/fuzz_table.h"

/* The first descriptor with that return address, by walking. */
static uint64_t first_with(const fk_table *t, uint64_t retaddr)
{
    fk_cursor c;
    fk_descr d;
    fk_cursor_start(t, &c);
    while (fk_cursor_next(&c, &d, NULL) == FK_OK) {
        if (d.retaddr == retaddr)
            return d.index;
    }
    return FK_NO_ENTRY;
}

static void compare(const fk_index *ix, const fk_table *t)
{
    fk_cursor c;
    fk_descr d, found;
    fk_cursor_start(t, &c);
    for (int n = 0; n < 200 && fk_cursor_next(&c, &d, NULL) == FK_OK; n++) {
        if (fk_index_lookup(ix, d.retaddr, &found) != FK_OK ||
            fk_descr_index(&found) != first_with(t, d.retaddr) || found.retaddr != d.retaddr)
            abort();
        if (fk_index_lookup(ix, d.retaddr + 1, &found) == FK_OK &&
            first_with(t, d.retaddr + 1) == FK_NO_ENTRY)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fk_index *ix;
    fk_error err;
    fk_image *im = fuzz_table(data, size);
    if (!im)
        return 0;
    if (fk_index_build(im, &ix, NULL, &err) == FK_OK) {
        if (fk_image_num_tables(im))
            compare(ix, fk_image_table(im, 0));
        fk_index_free(ix);
    }
    volatile uint64_t sum = consume_index(im);
    (void)sum;
    fk_image_close(im);
    return 0;
}
