/* rows_image.c - the unwinding sections of an image. */
#include <string.h>

#include "frametable/bytes.h"
#include "frametable/verify/rows.h"

static bool add_sections(fk_cfi *c, const fk_image *im)
{
    fk_section s;
    bool memory = true;
    for (size_t i = 0; memory && fk_image_section(im, i, &s) == FK_OK; i++) {
        uint64_t avail = 0;
        const uint8_t *p =
            strcmp(s.name, ".eh_frame") == 0 ? fk_image_bytes(im, s.addr, &avail) : NULL;
        if (p != NULL)
            memory = fk_cfi_add(c, &(fk_cfi_section){".eh_frame", p, avail, s.addr, true});
    }
    const uint8_t *bytes;
    uint64_t size;
    if (memory && fk_image_debug_section(im, ".debug_frame", &bytes, &size) == FK_OK)
        memory = fk_cfi_add(c, &(fk_cfi_section){".debug_frame", bytes, size, 0, false});
    return memory;
}

fk_cfi *fk_cfi_open(const fk_image *im)
{
    fk_cfi *c = fk_cfi_new(fk_image_big_endian(im) != fk_host_big_endian(), fk_image_word(im));
    if (c == NULL || (add_sections(c, im) && fk_cfi_read(c)))
        return c;
    fk_cfi_close(c);
    return NULL;
}
