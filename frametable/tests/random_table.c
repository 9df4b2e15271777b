/* random_table.c - see random_table.h. */
#include <string.h>

#include "frametable/tests/elf_make.h"
#include "frametable/tests/random_table.h"

uint32_t rng_next(rng *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33);
}

uint32_t rng_below(rng *r, uint32_t n)
{
    return rng_next(r) % n;
}

static void make_live(rng *r, fk_generation g, unsigned word, random_descr *d)
{
    uint32_t slots = d->in.frame_size / word, n = rng_below(r, 8);
    bool alloc = d->in.flags & FK_DESCR_ALLOC;
    int32_t slot = -1;
    for (uint32_t i = 0; i < n && slots; i++) {
        slot += 1 + (int32_t)rng_below(r, 3);
        if ((uint32_t)slot >= slots)
            break;
        d->live[d->in.num_live++] = (fk_live){.offset = slot * (int32_t)word, .reg = -1};
    }
    for (uint32_t i = 0; alloc && i < 5; i++) {
        /* O3's short form has bits for these only, and lists them first. */
        if (rng_below(r, 2) && g != FK_GEN_O3)
            d->live[d->in.num_live++] = (fk_live){.reg = (int16_t)i};
    }
    d->in.live = d->live;
}

static void make_loc(rng *r, fk_generation g, fk_loc *l, bool innermost)
{
    static const char *const files[] = {"a.ml", "lib/b.ml", "very/long/path/of/a/file/name.ml", ""};
    static const char *const names[] = {"A.f", "A.(fun)", "B.g.loop", "<unknown>"};
    bool wide = rng_below(r, 4) == 0, c = g == FK_GEN_C || g == FK_GEN_O2;
    l->file = files[rng_below(r, 4)];
    l->defname = names[rng_below(r, 4)];
    l->line = (int32_t)(1 + rng_below(r, wide ? 500000 : 400));
    l->start_char = (int32_t)rng_below(r, wide && c ? 30000 : 60);
    l->end_line = c ? l->line + (int32_t)rng_below(r, 8) : -1;
    /* A column may be smaller than where it began only on a later line. */
    l->end_char = l->end_line > l->line ? 0 : l->start_char;
    l->end_char += (int32_t)rng_below(r, wide && c ? 30000 : 60);
    l->end_offset = c ? l->end_char + (int32_t)rng_below(r, 500) : -1;
    l->raise = innermost && rng_below(r, 5) == 0;
}

static void make_debug(rng *r, fk_generation g, random_descr *d)
{
    if (!(d->in.flags & FK_DESCR_DEBUG))
        return;
    d->in.num_debug = d->in.flags & FK_DESCR_ALLOC ? d->in.num_allocs : 1;
    for (uint32_t i = 0; i < d->in.num_debug; i++) {
        bool none = d->in.flags & FK_DESCR_ALLOC && rng_below(r, 8) == 0;
        d->length[i] = none ? 0 : 1 + rng_below(r, MOST_CHAIN);
        d->chain[i] = none ? NULL : d->loc[i];
        for (uint32_t k = 0; k < d->length[i]; k++)
            make_loc(r, g, &d->loc[i][k], k == 0);
    }
    d->in.chain = d->chain;
    d->in.chain_length = d->length;
}

static void make_allocs(rng *r, fk_generation g, random_descr *d)
{
    if (!(d->in.flags & FK_DESCR_ALLOC))
        return;
    uint32_t most = g == FK_GEN_O3 && rng_below(r, 3) ? 16 : 256;
    d->in.num_allocs = rng_below(r, MOST_ALLOCS + 1);
    for (uint32_t i = 0; i < d->in.num_allocs; i++)
        d->wosize[i] = (uint16_t)(1 + rng_below(r, most));
    d->in.wosize = d->wosize;
}

void random_descr_make(rng *r, fk_generation g, const fk_abi *abi, uint64_t i, random_descr *d)
{
    memset(d, 0, sizeof *d);
    bool oxcaml = g >= FK_GEN_O1;
    d->in.retaddr = ELF_TEXT + 16 + i * 24 + rng_below(r, 8);
    if (rng_below(r, 50) == 0) {
        d->in.flags = FK_DESCR_RETURN_TO_C;
        return;
    }
    d->in.flags = rng_below(r, g == FK_GEN_A ? 2 : 4);
    uint32_t frame = rng_below(r, 30) * (g == FK_GEN_O3 ? 16 : abi->word);
    if (rng_below(r, 40) == 0)
        frame = (rng_below(r, oxcaml ? 100000 : 8000)) * 8;
    d->in.frame_size = frame;
    make_live(r, g, abi->word, d);
    make_allocs(r, g, d);
    make_debug(r, g, d);
}

uint8_t *random_table(uint64_t seed, fk_generation g, const fk_abi *abi, uint64_t n,
                      uint64_t address, size_t *size)
{
    fk_builder *b;
    fk_error err;
    rng r = {seed};
    random_descr d;
    uint8_t *data = NULL;
    fk_result res = fk_builder_new(g, abi, &b, &err);
    for (uint64_t i = 0; i < n && !res; i++) {
        random_descr_make(&r, g, abi, i, &d);
        res = fk_builder_add(b, &d.in, &err);
    }
    if (!res)
        res = fk_builder_bytes(b, address, &data, size, &err);
    fk_builder_free(b);
    return res ? NULL : data;
}
