/* elf_make.h - a small executable around tables, made in memory: tests, fuzzing and the benchmark
 * need files that no compiler of ours can write (10 million descriptors, every byte order). */
#ifndef FK_TESTS_ELF_MAKE_H
#define FK_TESTS_ELF_MAKE_H

#include "framekit/frametable.h"
#include "abi/abi.h"

#define ELF_TEXT 0x400000u /* code: no bytes in the file */
#define ELF_DATA 0x40000000u

typedef struct {
    const char *symbol; /* "camlX.frametable" */
    const uint8_t *bytes;
    size_t size;
} elf_part;

/* Addresses: parts stand one after another from ELF_DATA, each at a multiple of 8. */
uint64_t elf_part_address(const elf_part *, size_t i);
/* The file, freed with free(); NULL: no memory. */
uint8_t *elf_make(const struct fk_abi *, const elf_part *, size_t n, uint64_t text_size,
                  size_t *size);

#endif
