/* globals.c - registered roots. A hash set of addresses; those that may hold a
 * young value are also in a list, so that a minor collection does not look at
 * all of them. */
#include "runtime/globals.h"

#include <pthread.h>
#include <stdlib.h>

#include "runtime/fail.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Open addressing; 0 is free, 1 was removed. The low bit of an entry marks a
 * generational root (addresses of values are even). */
static uintptr_t *set;
static size_t set_size, set_used;
static struct words young_roots;

static size_t slot_of(uintptr_t root)
{
    size_t i = (root >> 3) * 0x9E3779B97F4A7C15u >> 20;
    for (i &= set_size - 1; set[i] && (set[i] & ~(uintptr_t)1) != root;
         i = (i + 1) & (set_size - 1))
        continue;
    return i;
}

static void rehash(size_t size)
{
    uintptr_t *old = set;
    size_t n = set_size;
    set = calloc(size, sizeof *set);
    if (!set)
        fk_fatal("out of memory: %zu global roots", size);
    set_size = size;
    set_used = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i] > 1) {
            set[slot_of(old[i] & ~(uintptr_t)1)] = old[i];
            set_used++;
        }
    free(old);
}

static void add(value *root, uintptr_t generational)
{
    pthread_mutex_lock(&lock);
    if (2 * (set_used + 1) > set_size)
        rehash(set_size ? 2 * set_size : 64);
    size_t i = slot_of((uintptr_t)root);
    set_used += set[i] == 0;
    set[i] = (uintptr_t)root | generational;
    if (generational && is_young_block(*root))
        words_push(&young_roots, (uintptr_t)root);
    pthread_mutex_unlock(&lock);
}

static void drop(value *root)
{
    pthread_mutex_lock(&lock);
    if (set_size) {
        size_t i = slot_of((uintptr_t)root);
        if (set[i])
            set[i] = 1;
    }
    for (size_t i = young_roots.size; i-- > 0;)
        if (young_roots.data[i] == (uintptr_t)root)
            young_roots.data[i] = young_roots.data[--young_roots.size];
    pthread_mutex_unlock(&lock);
}

void caml_register_global_root(value *r) { add(r, 0); }
void caml_remove_global_root(value *r) { drop(r); }
void caml_register_generational_global_root(value *r) { add(r, 1); }
void caml_remove_generational_global_root(value *r) { drop(r); }

void caml_modify_generational_global_root(value *r, value v)
{
    pthread_mutex_lock(&lock);
    if (is_young_block(v) && !is_young_block(*r))
        words_push(&young_roots, (uintptr_t)r);
    *r = v;
    pthread_mutex_unlock(&lock);
}

void fk_globals_scan(enum scan_kind kind, root_fn fn, void *ctx)
{
    for (size_t i = 0; i < set_size; i++) {
        value *r = (value *)(set[i] & ~(uintptr_t)1);
        if (r && (kind == SCAN_ALL || !(set[i] & 1)))
            fn(ctx, *r, r);
    }
    if (kind == SCAN_YOUNG) {
        for (size_t i = 0; i < young_roots.size; i++) {
            value *r = (value *)young_roots.data[i];
            fn(ctx, *r, r);
        }
        young_roots.size = 0;
    }
}
