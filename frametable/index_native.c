/* index_native.c - an index over the tables of this very process: no ELF, and no bounds but those
 * that the caller knows.
 *
 * A runtime's `caml_frametable` names count words in its own memory. Its descriptors are read where
 * they lie; nothing is copied. */
#include <stdlib.h>

#include "frametable/index.h"

/* No table is longer; user addresses end far below the top, so that the sum does not wrap. */
#define NATIVE_AVAIL ((uint64_t)1 << 40)

/* Bytes from p that may be read. */
static uint64_t room_of(const void *p, const fk_native_limits *l)
{
    return l ? (uint64_t)((uintptr_t)l->data_end - (uintptr_t)p) : NATIVE_AVAIL;
}

static void native_table(const void *p, const fk_gen *g, const fk_abi *abi,
                         const fk_native_limits *l, fk_table *t)
{
    *t = (fk_table){.bytes = p, .address = (uint64_t)(uintptr_t)p, .avail = room_of(p, l), .gen = g,
                    .debug = g->debug, .word = abi->word, .big_endian = fk_host_big_endian(),
                    .abi = abi, .file = "", .section = "", .module = "", .symbol = "",
                    .section_address = (uint64_t)(uintptr_t)p};
    t->num_descr = t->num_good = fk_ldword(p, abi->word, false);
}

static void release_all(const fk_table **t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fk_native_release(fk_native_of(t[i]));
    free(t);
}

static const fk_table **make_natives(const void *const *tables, size_t n, const fk_gen *g,
                                     const fk_abi *abi, const fk_native_limits *l)
{
    const fk_table **all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) {
        fk_native *x = malloc(sizeof *x);
        if (!x) {
            release_all(all, i);
            return NULL;
        }
        x->refs = 1;
        native_table(tables[i], g, abi, l, &x->table);
        all[i] = &x->table;
    }
    return all;
}

static fk_result with_natives(const fk_index *old, const void *const *tables, size_t n,
                              const fk_gen *g, const fk_abi *abi, const fk_native_limits *l,
                              fk_index **out, fk_error *err)
{
    const fk_table **add = make_natives(tables, n, g, abi, l);
    *out = NULL;
    if (!add)
        return fk_fail_memory(err, NULL);
    fk_result r = fk_index_make(old, add, n, NULL, 0, out, err);
    release_all(add, n);
    return r;
}

/* --- limits ------------------------------------------------------------------------------------
 * The build itself reads no byte behind the data, and knows the lowest and the highest return
 * address: a good table is read once. What is wrong with a bad one is found by walking it. */

/* Before the count word is read: the table must begin inside. */
static fk_result begins_inside(const void *p, size_t i, const fk_abi *abi,
                               const fk_native_limits *l, fk_error *err)
{
    if ((uintptr_t)p % abi->word == 0 && (uintptr_t)p + abi->word <= (uintptr_t)l->data_end)
        return FK_OK;
    return fk_fail(err, FK_BROKEN, NULL, NULL, (uintptr_t)p, FK_NO_ENTRY,
                   "table %zu lies outside the program's data", i);
}

static fk_result walk_within(const fk_table *t, const fk_native_limits *l, fk_error *err)
{
    fk_cursor c;
    fk_descr d;
    fk_result r;
    fk_cursor_start(t, &c);
    while ((r = fk_cursor_next(&c, &d, err)) == FK_OK) {
        if (d.retaddr < (uintptr_t)l->code || d.retaddr > (uintptr_t)l->code_end)
            return fk_fail(err, FK_BROKEN, NULL, NULL, d.address, d.index,
                           "return address 0x%llx lies outside the program's code",
                           (unsigned long long)d.retaddr);
    }
    return r == FK_ABSENT ? FK_OK : r;
}

/* The first fault; FK_OK: none. */
static fk_result find_fault(const void *const *tables, size_t n, const fk_gen *g,
                            const fk_abi *abi, const fk_native_limits *l, fk_error *err)
{
    fk_result r = FK_OK;
    for (size_t i = 0; i < n && !r; i++) {
        fk_table t;
        r = begins_inside(tables[i], i, abi, l, err);
        if (r)
            break;
        native_table(tables[i], g, abi, l, &t);
        r = walk_within(&t, l, err);
    }
    return r;
}

/* Before a count is believed: all tables begin in the data, and could have so many there. */
static bool are_plausible(const void *const *tables, size_t n, const fk_gen *g, const fk_abi *abi,
                          const fk_native_limits *l)
{
    uint64_t least = g->min_size ? g->min_size : abi->word + 4u;
    for (size_t i = 0; i < n; i++) {
        if (begins_inside(tables[i], i, abi, l, NULL) ||
            fk_ldword(tables[i], abi->word, false) > room_of(tables[i], l) / least)
            return false;
    }
    return true;
}

/* Addresses of a part may go on from the top of memory to 0. */
static bool is_inside(const fk_index *ix, const fk_native_limits *l)
{
    uint64_t code = (uintptr_t)l->code, most = (uintptr_t)l->code_end - code;
    for (size_t i = 0; i < ix->num_views; i++) {
        const fk_part *p = ix->views[i].part;
        if (p->count && (p->low - code > most || p->span > most - (p->low - code)))
            return false;
    }
    return true;
}

static fk_result with_limits(const void *const *tables, size_t n, const fk_gen *g,
                             const fk_abi *abi, const fk_native_limits *l, fk_index **out,
                             fk_error *err)
{
    fk_error fault;
    fk_result r = FK_BROKEN;
    if (are_plausible(tables, n, g, abi, l))
        r = with_natives(NULL, tables, n, g, abi, l, out, err);
    if (r == FK_OK && is_inside(*out, l))
        return FK_OK;
    if (find_fault(tables, n, g, abi, l, &fault) == FK_OK)
        return r;
    fk_index_free(*out);
    *out = NULL;
    if (err)
        *err = fault;
    return FK_BROKEN;
}

fk_result fk_index_build_native(const void *const *tables, size_t n, fk_generation generation,
                                const fk_abi *abi, const fk_native_limits *limits, fk_index **out,
                                fk_error *err)
{
    const fk_gen *g = fk_gen_get(generation);
    *out = NULL;
    if (!g || !abi)
        return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY,
                       "a native index needs a generation and an architecture");
    return limits ? with_limits(tables, n, g, abi, limits, out, err)
                  : with_natives(NULL, tables, n, g, abi, NULL, out, err);
}

/* Generation and architecture are those of the tables that are there. */
fk_result fk_index_add_native(const fk_index *old, const void *const *tables, size_t n,
                              fk_index **out, fk_error *err)
{
    const fk_table *like = old->num_views ? old->views[0].part->tables[0] : NULL;
    *out = NULL;
    if (!like || like->image)
        return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY, "the index is not a native one");
    return with_natives(old, tables, n, like->gen, like->abi, NULL, out, err);
}

fk_result fk_index_remove_native(const fk_index *old, const void *const *tables, size_t n,
                                 fk_index **out, fk_error *err)
{
    const fk_table **drop = malloc((n + 1) * sizeof *drop);
    *out = NULL;
    if (!drop)
        return fk_fail_memory(err, NULL);
    fk_result r = FK_OK;
    for (size_t i = 0; i < n && !r; i++) {
        drop[i] = fk_index_table(old, NULL, (uint64_t)(uintptr_t)tables[i]);
        r = drop[i] ? FK_OK : FK_ABSENT;
    }
    if (!r)
        r = fk_index_make(old, NULL, 0, drop, n, out, err);
    free(drop);
    return r;
}
