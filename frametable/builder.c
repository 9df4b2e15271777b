/* builder.c - the model of a table that is to be written: memory and descriptors. */
#include <stdlib.h>

#include "frametable/encode.h"

/* --- arena: everything that a descriptor or name refers to ------------------------------- */

#define CHUNK 65536

struct fk_chunk {
    fk_chunk *next;
    size_t used, size;
    _Alignas(8) uint8_t bytes[];
};

void *fk_arena(fk_builder *b, size_t size)
{
    fk_chunk *c = b->arena;
    size = (size + 7) & ~(size_t)7;
    if (!c || c->size - c->used < size) {
        size_t want = size > CHUNK ? size : CHUNK;
        c = malloc(sizeof *c + want);
        if (!c)
            return NULL;
        *c = (fk_chunk){.next = b->arena, .size = want};
        b->arena = c;
    }
    void *p = c->bytes + c->used;
    c->used += size;
    return p;
}

/* Makes room for one more element in *(void **)array. */
bool fk_grow(void *array, size_t *cap, size_t count, size_t element)
{
    if (count < *cap)
        return true;
    size_t n = *cap ? 2 * *cap : 64;
    void *p, *old;
    memcpy(&old, array, sizeof old);
    p = realloc(old, n * element);
    if (!p)
        return false;
    memcpy(array, &p, sizeof p);
    *cap = n;
    return true;
}

/* --- life ------------------------------------------------------------------------------------- */

fk_result fk_builder_new(fk_generation generation, const fk_abi *abi, fk_builder **out,
                         fk_error *err) {
    const fk_gen *g = fk_gen_get(generation);
    *out = NULL;
    if (!g || !abi)
        return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY,
                       "an encoder needs a generation and an architecture");
    fk_builder *b = calloc(1, sizeof *b);
    if (!b)
        return fk_fail_memory(err, NULL);
    b->gen = g;
    b->debug = g->debug == FK_DEBUG_RAW ? FK_DEBUG_C : g->debug;
    b->abi = abi;
    b->word = abi->word;
    b->swap = abi->big_endian != fk_host_big_endian();
    *out = b;
    return FK_OK;
}

void fk_builder_free(fk_builder *b)
{
    if (!b)
        return;
    for (fk_chunk *c = b->arena, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(b->descr);
    free(b->record);
    free(b->name);
    free(b->file);
    free(b->tail);
    free(b->chains.slot);
    free(b->names.slot);
    free(b->files.slot);
    free(b->item);
    free(b);
}

/* --- elements -------------------------------------------------------------------------- */

fk_bdescr *fk_model_descr(fk_builder *b)
{
    if (!fk_grow(&b->descr, &b->cap_descr, b->num_descr, sizeof *b->descr))
        return NULL;
    fk_bdescr *d = fk_arena(b, sizeof *d);
    if (!d)
        return NULL;
    *d = (fk_bdescr){0};
    b->descr[b->num_descr++] = d;
    b->measured = false;
    return d;
}

fk_brecord *fk_model_record(fk_builder *b)
{
    if (!fk_grow(&b->record, &b->cap_record, b->num_record, sizeof *b->record))
        return NULL;
    b->measured = false;
    b->record[b->num_record] = (fk_brecord){.next = FK_NONE};
    return &b->record[b->num_record++];
}

static bool add_tail(fk_builder *b, uint32_t number, bool is_file)
{
    if (!fk_grow(&b->tail, &b->cap_tail, b->num_tail, sizeof *b->tail))
        return false;
    b->tail[b->num_tail++] = (fk_btail){number, is_file};
    return true;
}

uint32_t fk_model_name(fk_builder *b, const fk_bname *name)
{
    if (!fk_grow(&b->name, &b->cap_name, b->num_name, sizeof *b->name) ||
        !add_tail(b, (uint32_t)b->num_name, false))
        return FK_NONE;
    b->name[b->num_name] = *name;
    return (uint32_t)b->num_name++;
}

uint32_t fk_model_file(fk_builder *b, fk_bstring text)
{
    if (!fk_grow(&b->file, &b->cap_file, b->num_file, sizeof *b->file) ||
        !add_tail(b, (uint32_t)b->num_file, true))
        return FK_NONE;
    b->file[b->num_file] = text;
    return (uint32_t)b->num_file++;
}

/* --- adding descriptors ---------------------------------------------------------------- */

/* What is wrong with a descriptor in this generation, NULL: nothing. */
static const char *limit(const fk_builder *b, const fk_descr_in *in)
{
    const fk_gen *g = b->gen;
    uint32_t slots = in->flags & FK_DESCR_ALLOC ? in->num_allocs : 1;
    if (in->frame_size > g->max_frame_size)
        return "the frame is too large";
    if (in->frame_size % 4)
        return "the frame size is no multiple of 4";
    if (in->num_live > g->max_live)
        return "too many live entries";
    if (in->flags & FK_DESCR_ALLOC && !g->has_alloc)
        return "the generation has no allocation lengths";
    if (in->num_allocs > 255 || (in->num_allocs && !(in->flags & FK_DESCR_ALLOC)))
        return "more than 255 allocations, or allocations without the flag";
    if (in->num_debug != (in->flags & FK_DESCR_DEBUG ? slots : 0))
        return "the number of locations does not fit the flags";
    if (b->word == 4 && ((in->frame_size | (in->flags & 3)) & 0xFFFF) == 0xFFFF)
        return "the frame looks like a return to C";
    return NULL;
}

static const char *live_limit(const fk_gen *g, const fk_live *v)
{
    int64_t low = g->has_long ? -0x8000 : 0;
    if (v->reg >= 0)
        return v->reg > 0x3FFF ? "a register number is too large" : NULL;
    if (v->offset & 1)
        return "a stack offset is odd";
    if (v->offset < low || (v->offset > 0 && (uint32_t)v->offset > g->max_live_offset))
        return "a stack offset does not fit";
    return NULL;
}

static fk_result too_large(const fk_builder *b, const char *what, fk_error *err)
{
    return fk_fail(err, FK_BROKEN, NULL, NULL, 0, b->num_descr, "generation %s: %s", b->gen->name,
                   what);
}

static const char *copy_live(fk_builder *b, const fk_descr_in *in, uint32_t *to)
{
    for (uint32_t i = 0; i < in->num_live; i++) {
        const char *problem = live_limit(b->gen, &in->live[i]);
        if (problem)
            return problem;
        const fk_live *v = &in->live[i];
        to[i] = v->reg >= 0 ? 2u * (uint32_t)v->reg + 1 : (uint32_t)v->offset;
    }
    return NULL;
}

static const char *copy_allocs(const fk_descr_in *in, uint8_t *to)
{
    for (uint32_t i = 0; i < in->num_allocs; i++) {
        if (in->wosize[i] < 1 || in->wosize[i] > 256)
            return "an allocation is not of 1 to 256 words";
        to[i] = (uint8_t)(in->wosize[i] - 1);
    }
    return NULL;
}

static fk_result copy_debug(fk_builder *b, const fk_descr_in *in, uint32_t *to)
{
    for (uint32_t i = 0; i < in->num_debug; i++) {
        to[i] = FK_NONE;
        if (in->chain[i] && in->chain_length[i] &&
            fk_chain_intern(b, in->chain[i], in->chain_length[i], &to[i]))
            return FK_SYSTEM;
    }
    return FK_OK;
}

/* A missing location is a 0 offset, which only the ALLOC form has: elsewhere the flag goes. */
static void drop_empty_debug(fk_bdescr *d)
{
    if (d->num_debug == 1 && !(d->flags & FK_DESCR_ALLOC) && d->debug[0] == FK_NONE) {
        d->num_debug = 0;
        d->flags &= ~(uint32_t)FK_DESCR_DEBUG;
    }
}

fk_result fk_builder_add(fk_builder *b, const fk_descr_in *in, fk_error *err)
{
    bool special = in->flags & FK_DESCR_RETURN_TO_C;
    const char *problem = special ? NULL : limit(b, in);
    if (problem)
        return too_large(b, problem, err);
    uint32_t *live = fk_arena(b, 4 * (size_t)in->num_live);
    uint32_t *debug = fk_arena(b, 4 * (size_t)in->num_debug);
    uint8_t *allocs = fk_arena(b, in->num_allocs);
    if (!live || !debug || !allocs)
        return fk_fail_memory(err, NULL);
    if (!special) {
        problem = copy_live(b, in, live);
        problem = problem ? problem : copy_allocs(in, allocs);
        if (problem)
            return too_large(b, problem, err);
        if (copy_debug(b, in, debug))
            return fk_fail_memory(err, NULL);
    }
    fk_bdescr *d = fk_model_descr(b);
    if (!d)
        return fk_fail_memory(err, NULL);
    *d = (fk_bdescr){.retaddr = in->retaddr, .flags = FK_DESCR_RETURN_TO_C};
    if (special)
        return FK_OK;
    d->frame_size = in->frame_size;
    d->flags = in->flags & (FK_DESCR_DEBUG | FK_DESCR_ALLOC);
    d->num_live = in->num_live;
    d->num_allocs = (uint8_t)in->num_allocs;
    d->num_debug = in->num_debug;
    d->live = live;
    d->allocs = allocs;
    d->debug = debug;
    drop_empty_debug(d);
    return FK_OK;
}
