/* seeds.c - the first inputs of the fuzz targets, made from text: seeds TARGET FOLDER. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frametable/tests/elf_make.h"
#include "frametable/tests/random_table.h"

static void save(const char *folder, const char *name, const uint8_t *first, const uint8_t *data,
                 size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(1);
    }
    if (first)
        fwrite(first, 1, 1, f);
    fwrite(data, 1, size, f);
    fclose(f);
}

static void save_kind(bool files, const char *folder, int g, size_t a)
{
    const fk_abi *abi = fk_abis[a];
    size_t size, n;
    char name[64];
    uint8_t kind = (uint8_t)(g + 7 * (int)a);
    uint8_t *table = random_table(g * 10 + a, (fk_generation)g, abi, 12, ELF_DATA, &size);
    elf_part part = {"camlF.frametable", table, size};
    if (!table)
        return;
    snprintf(name, sizeof name, "%s-%s", fk_generation_name((fk_generation)g), abi->name);
    uint8_t *file = elf_make(abi, &part, 1, 0x100000, &n);
    if (files && file)
        save(folder, name, NULL, file, n);
    else
        save(folder, name, &kind, table, size);
    free(file);
    free(table);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 3;
    for (int g = FK_GEN_A; g <= FK_GEN_O3; g++) {
        for (size_t a = 0; a < fk_num_abis; a++)
            save_kind(strcmp(argv[1], "image") == 0, argv[2], g, a);
    }
    return 0;
}
