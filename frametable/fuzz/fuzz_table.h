/* fuzz_table.h - bytes as a table: the first byte says which generation and architecture, the rest
 * is put into a good file, so that the fuzzer need not invent ELF. */
#ifndef FK_FUZZ_TABLE_H
#define FK_FUZZ_TABLE_H

#include <stdlib.h>

#include "frametable/tests/consume.h"
#include "frametable/tests/elf_make.h"

static inline fk_image *fuzz_table(const uint8_t *data, size_t size)
{
    if (size < 10)
        return NULL;
    fk_image *im = NULL;
    fk_error err;
    size_t n;
    fk_open_options o = {.generation = (fk_generation)(data[0] % 7)};
    const fk_abi *abi = fk_abis[data[0] / 7 % fk_num_abis];
    elf_part part = {data[0] & 128 ? "camlF__frametable" : "camlF.frametable", data + 1, size - 1};
    uint8_t *file = elf_make(abi, &part, 1, 0x1000000, &n);
    if (file)
        fk_image_open_memory("fuzz", file, n, &o, &im, &err);
    free(file);
    return im;
}

#endif
