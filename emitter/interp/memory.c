/* memory.c - symbols, static data and the heap, at real addresses of one mapping.
 *
 *   base              top                         end
 *   | data of all units | heap, grows up, never freed |     every access is checked
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emitter/interp/interp.h"

#define HEAP_BYTES ((size_t)1 << 30)
#define CODE_BYTES ((size_t)1 << 26)

static void *need(void *p) {
    if (p == NULL) {
        abort();
    }
    return p;
}

/* --- names ----------------------------------------------------------------------- */
static size_t slot_of(const interp *in, const char *name) {
    uint64_t h = 14695981039346656037u;
    for (; *name != 0; name++) {
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    }
    return h & (in->table_size - 1);
}

static linked *find_global(const interp *in, const char *name) {
    size_t i = slot_of(in, name);
    while (in->table[i] != NULL && strcmp(in->table[i]->name, name) != 0) {
        i = (i + 1) & (in->table_size - 1);
    }
    return in->table[i];
}

static bool add_global(interp *in, linked *l) {
    if (find_global(in, l->name) != NULL) {
        stop(in, NULL, UINT32_MAX, "symbol '%s' is defined in two units", l->name);
        return false;
    }
    size_t i = slot_of(in, l->name);
    while (in->table[i] != NULL) {
        i = (i + 1) & (in->table_size - 1);
    }
    in->table[i] = l;
    return true;
}

static uint64_t code_address(interp *in, linked *l) {
    if (in->nfunctions == in->cap_functions) {
        in->cap_functions = in->cap_functions == 0 ? 256 : in->cap_functions * 2;
        in->functions = need(realloc(in->functions, in->cap_functions * sizeof *in->functions));
    }
    in->functions[in->nfunctions] = l;
    return (uint64_t)(uintptr_t)in->code + 16 * in->nfunctions++;
}

/* A symbol nobody defines has an address too; using it is what fails. */
linked *symbol_of(interp *in, size_t unit, const cmm_sym *s) {
    linked *l = in->by_number[unit][s->number];
    if (l == NULL) {
        l = find_global(in, s->text);
    }
    if (l == NULL) {
        l = need(calloc(1, sizeof *l));
        l->name = s->text;
        l->address = code_address(in, l);
    }
    return in->by_number[unit][s->number] = l;
}

/* --- data --------------------------------------------------------------------------- */
static const uint8_t item_bytes[CMM_NUM_ITEMS] = {
    [CMM_ITEM_BYTE] = 1,   [CMM_ITEM_HALF] = 2,   [CMM_ITEM_INT32] = 4, [CMM_ITEM_INT] = 8,
    [CMM_ITEM_SINGLE] = 4, [CMM_ITEM_DOUBLE] = 8, [CMM_ITEM_ADDR] = 8,
};

static char *after_item(const cmm_item *it, char *p) {
    switch (it->kind) {
    case CMM_ITEM_STRING:
        return p + it->len;
    case CMM_ITEM_SKIP:
        return p + it->u.i;
    case CMM_ITEM_ALIGN:
        return (char *)(((uintptr_t)p + (uintptr_t)it->u.i - 1) & -(uintptr_t)it->u.i);
    default:
        return p + item_bytes[it->kind];
    }
}

static void put_int(const interp *in, char *p, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        p[in->m->big_endian ? bytes - 1 - i : i] = (char)(v >> 8 * i);
    }
}

static void fill(interp *in, size_t unit, const cmm_item *it, char *p) {
    switch (it->kind) {
    case CMM_ITEM_STRING:
        memcpy(p, it->u.str, it->len);
        return;
    case CMM_ITEM_ADDR:
        put_int(in, p, symbol_of(in, unit, it->u.sym)->address, 8);
        return;
    case CMM_ITEM_DOUBLE:
    case CMM_ITEM_SINGLE:
        put_int(in, p, it->u.bits, item_bytes[it->kind]);
        return;
    default:
        put_int(in, p, (uint64_t)it->u.i, item_bytes[it->kind]);
    }
}

/* First pass: place data and functions, note symbols. */
static bool place_phrase(interp *in, size_t unit, const cmm_phrase *ph) {
    cmm_unit *u = in->units[unit];
    if (ph->function != NULL) {
        linked *l = &in->symbols[in->nsymbols++];
        *l = (linked){ph->function->name->text, 0, ph->function, u};
        l->address = code_address(in, l);
        in->by_number[unit][ph->function->name->number] = l;
        return add_global(in, l);
    }
    in->top = (char *)(((uintptr_t)in->top + 7) & -(uintptr_t)8);
    for (uint32_t i = 0; i < ph->nitems; i++) {
        const cmm_item *it = &ph->items[i];
        if (it->kind == CMM_ITEM_DEFINE) {
            linked *l = &in->symbols[in->nsymbols++];
            *l = (linked){it->u.sym->text, (uint64_t)(uintptr_t)in->top, NULL, u};
            in->by_number[unit][it->u.sym->number] = l;
            if (it->u.sym->is_global && !add_global(in, l)) {
                return false;
            }
        }
        if (in->end - in->top < (long)(HEAP_BYTES / 2)) {
            stop(in, u, it->pos, "too much static data");
            return false;
        }
        in->top = after_item(it, in->top);
    }
    return true;
}

static char *fill_phrase(interp *in, size_t unit, const cmm_phrase *ph, char *p) {
    if (ph->function != NULL) {
        return p;
    }
    p = (char *)(((uintptr_t)p + 7) & -(uintptr_t)8);
    for (uint32_t i = 0; i < ph->nitems; i++) {
        fill(in, unit, &ph->items[i], p);
        p = after_item(&ph->items[i], p);
    }
    return p;
}

static void count_symbols(interp *in) {
    size_t n = 0;
    for (size_t u = 0; u < in->nunits; u++) {
        for (uint32_t i = 0; i < in->units[u]->nphrases; i++) {
            n += in->units[u]->phrases[i].nitems + 1;
        }
        in->by_number[u] = need(calloc(in->units[u]->nsyms + 1, sizeof(linked *)));
    }
    in->symbols = need(calloc(n + 1, sizeof *in->symbols));
    for (in->table_size = 64; in->table_size < 2 * n; in->table_size *= 2) {
    }
    in->table = need(calloc(in->table_size, sizeof *in->table));
}

static char *map(size_t bytes, int protection) {
    char *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

bool link_units(interp *in) {
    in->by_number = need(calloc(in->nunits + 1, sizeof *in->by_number));
    count_symbols(in);
    in->base = in->top = need(map(HEAP_BYTES, PROT_READ | PROT_WRITE));
    in->end = in->base + HEAP_BYTES;
    in->code = need(map(CODE_BYTES, PROT_NONE));
    for (size_t u = 0; u < in->nunits; u++) {
        for (uint32_t i = 0; i < in->units[u]->nphrases; i++) {
            if (!place_phrase(in, u, &in->units[u]->phrases[i])) {
                return false;
            }
        }
    }
    char *p = in->base;
    for (size_t u = 0; u < in->nunits; u++) {
        for (uint32_t i = 0; i < in->units[u]->nphrases; i++) {
            p = fill_phrase(in, u, &in->units[u]->phrases[i], p);
        }
    }
    return true;
}

void unlink_units(interp *in) {
    for (size_t i = 0; i < in->nfunctions; i++) {
        if (in->functions[i]->unit == NULL) {
            free(in->functions[i]); /* made by symbol_of */
        }
    }
    for (size_t u = 0; u < in->nunits; u++) {
        free(in->by_number[u]);
    }
    free(in->by_number);
    free(in->symbols);
    free(in->table);
    free(in->functions);
    free(in->args);
    munmap(in->base, HEAP_BYTES);
    munmap(in->code, CODE_BYTES);
}

/* --- access --------------------------------------------------------------------------------- */
static bool inside(const interp *in, uint64_t address, unsigned bytes) {
    uint64_t base = (uint64_t)(uintptr_t)in->base, top = (uint64_t)(uintptr_t)in->top;
    return address >= base && address <= top && top - address >= bytes;
}

bool load_memory(const interp *in, uint64_t address, cmm_chunk chunk, uint64_t *w) {
    const cmm_chunk_info *c = &cmm_chunks[chunk];
    if (!inside(in, address, c->bytes)) {
        return false;
    }
    const unsigned char *p = (const unsigned char *)(uintptr_t)address;
    uint64_t v = 0;
    for (unsigned i = 0; i < c->bytes; i++) {
        v |= (uint64_t)p[in->m->big_endian ? c->bytes - 1u - i : i] << 8 * i;
    }
    if (c->is_signed) {
        unsigned up = 64 - 8u * c->bytes;
        v = (uint64_t)((int64_t)(v << up) >> up);
    }
    if (chunk == CMM_SINGLE) {
        float f;
        uint32_t b = (uint32_t)v;
        memcpy(&f, &b, sizeof f);
        v = bits_of(f);
    }
    *w = v;
    return true;
}

bool store_memory(const interp *in, uint64_t address, cmm_chunk chunk, uint64_t w) {
    const cmm_chunk_info *c = &cmm_chunks[chunk];
    if (!inside(in, address, c->bytes)) {
        return false;
    }
    if (chunk == CMM_SINGLE) {
        float f = (float)double_of(w);
        uint32_t b;
        memcpy(&b, &f, sizeof b);
        w = b;
    }
    put_int(in, (char *)(uintptr_t)address, w, c->bytes);
    return true;
}

bool allocate(interp *in, unsigned words, uint64_t *address) {
    in->top = (char *)(((uintptr_t)in->top + 7) & -(uintptr_t)8);
    if (in->end - in->top < 8 * (long)words) {
        return false;
    }
    *address = (uint64_t)(uintptr_t)in->top;
    in->top += 8 * (size_t)words;
    return true;
}
