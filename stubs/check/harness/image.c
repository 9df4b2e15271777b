/* image.c - the stubs under test, linked by themselves to run inside sc_image.
 *
 * The harness is linked once; an object is linked in some milliseconds against
 * its symbols (ld --just-symbols) at sc_image's address, and loaded here. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"

enum { MAX_SYMBOLS = 256 };

char sc_image[SC_IMAGE_SIZE] __attribute__((aligned(65536)));
static struct {
    char name[96];
    uint64_t address;
} symbols[MAX_SYMBOLS];
static int num_symbols;

uint64_t sc_symbol(const char *name)
{
    for (int i = 0; i < num_symbols; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return symbols[i].address;
    return 0;
}

void sc_add_symbol(const char *name, uint64_t address)
{
    if (num_symbols == MAX_SYMBOLS)
        return;
    snprintf(symbols[num_symbols].name, sizeof symbols[0].name, "%s", name);
    symbols[num_symbols++].address = address;
    for (int i = 0; i < sc_num_stubs; i++)
        if (strcmp(sc_stubs[i].name, name) == 0)
            sc_stubs[i].address = (char *)(uintptr_t)address;
}

static bool load_segment(FILE *f, const Elf64_Phdr *p)
{
    uint64_t base = (uint64_t)(uintptr_t)sc_image;
    if (p->p_type != PT_LOAD || p->p_filesz == 0)
        return true;
    return p->p_vaddr >= base && p->p_memsz <= SC_IMAGE_SIZE &&
           p->p_vaddr - base <= SC_IMAGE_SIZE - p->p_memsz && p->p_filesz <= p->p_memsz &&
           fseek(f, (long)p->p_offset, SEEK_SET) == 0 &&
           fread((void *)(uintptr_t)p->p_vaddr, 1, p->p_filesz, f) == p->p_filesz;
}

bool sc_load(const char *path)
{
    Elf64_Ehdr header;
    Elf64_Phdr p;
    FILE *f = fopen(path, "rb");
    bool good = f && fread(&header, sizeof header, 1, f) == 1;
    mprotect(sc_image, SC_IMAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (int i = 0; good && i < header.e_phnum; i++)
        good = fseek(f, (long)(header.e_phoff + (uint64_t)i * sizeof p), SEEK_SET) == 0 &&
               fread(&p, sizeof p, 1, f) == 1 && load_segment(f, &p);
    if (f)
        fclose(f);
    __builtin___clear_cache(sc_image, sc_image + SC_IMAGE_SIZE);
    return good;
}
