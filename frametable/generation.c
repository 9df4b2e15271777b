/* generation.c - the table of generations: docs/frametable-format.md draws each. */
#include "frametable/encode.h"
#include "frametable/internal.h"
#include "frametable/readers.h"

/* Frame sizes: bits 15..2 of a 16-bit word whose value 0xFFFF is taken (return to C) and, in O1 and
 * O2, whose value 0x7FFF is taken too (long form). A frame is a multiple of the word, so the
 * largest are 0xFFF8 and 0x3FFFFFF8. */
#define SHORT_ONLY                                                                                 \
    .max_frame_size = 0xFFF8, .max_live = 0xFFFF, .max_live_offset = 0xFFFF
#define WITH_LONG                                                                                  \
    .has_long = true, .max_frame_size = 0x3FFFFFF8, .max_live = 0x3FFFFFFF,                        \
    .max_live_offset = 0x3FFFFFFF
/* B and what came after it. */
#define RICH .has_alloc = true, .has_defname = true
#define RELATIVE(smallest) .min_size = smallest, .retaddr_size = 4

#define ROW(gen, how, form, years, ...)                                                            \
    {.id = FK_GEN_##gen, .name = #gen, .span = years, .read = fk_read_##how,                       \
     .write = fk_write_##how, .debug = FK_DEBUG_##form, __VA_ARGS__}

const fk_gen fk_gens[FK_NUM_GENS] = {
    ROW(A, a, A, "OCaml 4.05-4.10", .aligned = true, SHORT_ONLY),
    ROW(B, b, B, "OCaml 4.11-5.1", .aligned = true, RICH, SHORT_ONLY),
    ROW(C, b, C, "OCaml 5.2-5.4", .aligned = true, RICH, SHORT_ONLY),
    ROW(O1, o1, B, "flambda-backend from 2022-08", .aligned = true, RICH, WITH_LONG),
    ROW(O2, o2, C, "OxCaml from 2023-03", .aligned = true, RICH, WITH_LONG, RELATIVE(8)),
    ROW(O3, o3, RAW, "OxCaml from 2026-08", RICH, WITH_LONG, RELATIVE(3)),
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
