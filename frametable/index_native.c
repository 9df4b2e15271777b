/* index_native.c - an index over the tables of this very process: no ELF, and no bounds but those
 * that the caller knows.
 *
 * A runtime's `caml_frametable` names count words in its own memory. Its descriptors are read where
 * they lie; nothing is copied. */
#include <stdlib.h>

#include "frametable/index.h"

/* No table is longer; user addresses end far below the top, so that the sum does not wrap. */
#define NATIVE_AVAIL ((uint64_t)1 << 40)

static void native_table(const void *p, const fk_gen *g, const fk_abi *abi, fk_table *t)
{
    *t = (fk_table){.bytes = p, .address = (uint64_t)(uintptr_t)p, .avail = NATIVE_AVAIL, .gen = g,
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
                                     const fk_abi *abi)
{
    const fk_table **all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) {
        fk_native *x = malloc(sizeof *x);
        if (!x) {
            release_all(all, i);
            return NULL;
        }
        x->refs = 1;
        native_table(tables[i], g, abi, &x->table);
        all[i] = &x->table;
    }
    return all;
}

static fk_result within(const fk_table *t, const fk_native_limits *l, fk_error *err)
{
    fk_cursor c;
    fk_descr d;
    fk_result r;
    fk_cursor_start(t, &c);
    while ((r = fk_cursor_next(&c, &d, err)) == FK_OK)
        if (d.retaddr < (uintptr_t)l->code || d.retaddr > (uintptr_t)l->code_end)
            return fk_fail(err, FK_BROKEN, NULL, NULL, d.address, d.index,
                           "return address 0x%llx lies outside the program's code", (unsigned long long)d.retaddr);
    return r == FK_ABSENT ? FK_OK : r;
}

/* Before the count word is read: the table must begin inside. */
static fk_result all_within(const void *const *tables, size_t n, const fk_gen *g, const fk_abi *abi,
                            const fk_native_limits *l, fk_error *err)
{
    for (size_t i = 0; i < n; i++) {
        uintptr_t p = (uintptr_t)tables[i], end = (uintptr_t)l->data_end;
        fk_table t;
        if (p % abi->word || p + abi->word > end)
            return fk_fail(err, FK_BROKEN, NULL, NULL, p, FK_NO_ENTRY, "table %zu lies outside the program's data", i);
        native_table(tables[i], g, abi, &t);
        t.avail = end - p;
        fk_result r = within(&t, l, err);
        if (r)
            return r;
    }
    return FK_OK;
}

static fk_result with_natives(const fk_index *old, const void *const *tables, size_t n,
                              const fk_gen *g, const fk_abi *abi, fk_index **out, fk_error *err)
{
    const fk_table **add = make_natives(tables, n, g, abi);
    *out = NULL;
    if (!add)
        return fk_fail_memory(err, NULL);
    fk_result r = fk_index_make(old, add, n, NULL, 0, out, err);
    release_all(add, n);
    return r;
}

fk_result fk_index_build_native(const void *const *tables, size_t n, fk_generation generation,
                                const fk_abi *abi, const fk_native_limits *limits, fk_index **out, fk_error *err)
{
    const fk_gen *g = fk_gen_get(generation);
    *out = NULL;
    if (!g || !abi)
        return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY,
                       "a native index needs a generation and an architecture");
    fk_result r = limits ? all_within(tables, n, g, abi, limits, err) : FK_OK;
    return r ? r : with_natives(NULL, tables, n, g, abi, out, err);
}

/* Generation and architecture are those of the tables that are there. */
fk_result fk_index_add_native(const fk_index *old, const void *const *tables, size_t n,
                              fk_index **out, fk_error *err)
{
    const fk_table *like = old->num_views ? old->views[0].part->tables[0] : NULL;
    *out = NULL;
    if (!like || like->image)
        return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY, "the index is not a native one");
    return with_natives(old, tables, n, like->gen, like->abi, out, err);
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
