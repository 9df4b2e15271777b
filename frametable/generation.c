/* generation.c - the table of generations: docs/frametable-format.md draws each. */
#include "frametable/encode.h"
#include "frametable/internal.h"
#include "frametable/readers.h"

/* Frame sizes: bits 15..2 of a 16-bit word whose value 0xFFFF is taken (return to C) and, in O1 and
 * O2, whose value 0x7FFF is taken too (long form). A frame is a multiple of the word, so the
 * largest are 0xFFF8 and 0x3FFFFFF8. */
const fk_gen fk_gens[FK_NUM_GENS] = {
    {.id = FK_GEN_A,
     .name = "A",
     .span = "OCaml 4.05-4.10",
     .read = fk_read_a,
     .write = fk_write_a,
     .debug = FK_DEBUG_A,
     .aligned = true,
     .max_frame_size = 0xFFF8,
     .max_live = 0xFFFF,
     .max_live_offset = 0xFFFF},
    {.id = FK_GEN_B,
     .name = "B",
     .span = "OCaml 4.11-5.1",
     .read = fk_read_b,
     .write = fk_write_b,
     .debug = FK_DEBUG_B,
     .has_alloc = true,
     .aligned = true,
     .has_defname = true,
     .max_frame_size = 0xFFF8,
     .max_live = 0xFFFF,
     .max_live_offset = 0xFFFF},
    {.id = FK_GEN_C,
     .name = "C",
     .span = "OCaml 5.2-5.4",
     .read = fk_read_b,
     .write = fk_write_b,
     .debug = FK_DEBUG_C,
     .has_alloc = true,
     .aligned = true,
     .has_defname = true,
     .max_frame_size = 0xFFF8,
     .max_live = 0xFFFF,
     .max_live_offset = 0xFFFF},
    {.id = FK_GEN_O1,
     .name = "O1",
     .span = "flambda-backend from 2022-08",
     .read = fk_read_o1,
     .write = fk_write_o1,
     .debug = FK_DEBUG_B,
     .has_alloc = true,
     .has_long = true,
     .aligned = true,
     .has_defname = true,
     .max_frame_size = 0x3FFFFFF8,
     .max_live = 0x3FFFFFFF,
     .max_live_offset = 0x3FFFFFFF},
    {.id = FK_GEN_O2,
     .name = "O2",
     .span = "OxCaml from 2023-03",
     .read = fk_read_o2,
     .write = fk_write_o2,
     .debug = FK_DEBUG_C,
     .min_size = 8,
     .retaddr_size = 4,
     .has_alloc = true,
     .has_long = true,
     .aligned = true,
     .has_defname = true,
     .max_frame_size = 0x3FFFFFF8,
     .max_live = 0x3FFFFFFF,
     .max_live_offset = 0x3FFFFFFF},
    {.id = FK_GEN_O3,
     .name = "O3",
     .span = "OxCaml from 2026-08",
     .read = fk_read_o3,
     .write = fk_write_o3,
     .debug = FK_DEBUG_RAW,
     .min_size = 3,
     .retaddr_size = 4,
     .has_alloc = true,
     .has_long = true,
     .has_defname = true,
     .max_frame_size = 0x3FFFFFF8,
     .max_live = 0x3FFFFFFF,
     .max_live_offset = 0x3FFFFFFF},
};

const fk_gen *fk_gen_get(fk_generation id)
{
    if (id < FK_GEN_A || id > FK_GEN_O3)
        return NULL;
    return &fk_gens[id - FK_GEN_A];
}

bool fk_generation_parse(const char *name, fk_generation *out)
{
    if (strcmp(name, "auto") == 0) {
        *out = FK_GEN_AUTO;
        return true;
    }
    for (size_t i = 0; i < FK_NUM_GENS; i++) {
        if (strcmp(name, fk_gens[i].name) == 0) {
            *out = fk_gens[i].id;
            return true;
        }
    }
    return false;
}

const char *fk_generation_name(fk_generation id)
{
    const fk_gen *g = fk_gen_get(id);
    return g ? g->name : "auto";
}

const char *fk_generation_span(fk_generation id)
{
    const fk_gen *g = fk_gen_get(id);
    return g ? g->span : "";
}

const char *fk_version(void)
{
    return FK_VERSION;
}
