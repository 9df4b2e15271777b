/* weak.c - ephemerons and weak arrays.
 *
 *   field 0      reserved (the OCaml runtime's link)
 *   field 1      data
 *   field 2..    keys
 *
 * An ephemeron is an abstract block of the major heap: the collector does not
 * follow it by itself. Nursery values in it are strong until the next minor
 * collection; the major cycle decides. A weak array is one without data. */
#include "runtime/memory.h"

#include "runtime/check.h"

enum { EPHE_LINK = 0, EPHE_DATA = 1, EPHE_KEYS = 2 };

/* What an empty slot holds: a static block. */
static value none_block[2] = {(value)((header)1 << 10 | COLOR_STATIC | TAG_ABSTRACT)};
#define NONE ((value)&none_block[1])

static void store(value e, uintptr_t i, value v) { caml_modify(&FIELD(e, i), v); }

value caml_ephe_create(value size)
{
    intptr_t n = INT_VAL(size);
    if (n < 0 || (uintptr_t)n > MAX_WOSIZE - EPHE_KEYS)
        fk_invalid_arg("Weak.create");
    value v = fk_alloc_shr(n + EPHE_KEYS, TAG_ABSTRACT);
    FIELD(v, EPHE_LINK) = VAL_UNIT;
    for (uintptr_t i = EPHE_DATA; i < (uintptr_t)n + EPHE_KEYS; i++)
        FIELD(v, i) = NONE;
    words_push(&fk_self->ephes, (uintptr_t)v);
    return v;
}

static uintptr_t key_index(value e, value i, const char *what)
{
    intptr_t k = INT_VAL(i);
    if (k < 0 || (uintptr_t)k + EPHE_KEYS >= wosize_of(e))
        fk_invalid_arg(what);
    return k + EPHE_KEYS;
}

static value some(value v)
{
    ROOTS(1, &v);
    value r = fk_alloc_small(1, 0);
    FIELD(r, 0) = v;
    return UNROOT(r);
}

static value get(value e, uintptr_t i)
{
    return FIELD(e, i) == NONE ? VAL_NONE : some(FIELD(e, i));
}

/* A shallow copy, so that the caller does not keep the original alive. */
static value get_copy(value e, uintptr_t i)
{
    value v = FIELD(e, i);
    if (v == NONE)
        return VAL_NONE;
    if (!is_block(v) || tag_of(v) == TAG_INFIX || tag_of(v) == TAG_CUSTOM || wosize_of(v) == 0)
        return some(v);
    uintptr_t n = wosize_of(v);
    ROOTS(2, &e, &v);
    value c = fk_alloc(n, tag_of(v));
    if (tag_of(v) >= TAG_NO_SCAN)
        memcpy((void *)c, (void *)v, n * sizeof(value));
    else
        for (uintptr_t k = 0; k < n; k++)
            caml_initialize(&FIELD(c, k), FIELD(v, k));
    UNROOT_VOID();
    return some(c);
}

static value unset(value e, uintptr_t i) { FIELD(e, i) = NONE; return VAL_UNIT; }
static value set(value e, uintptr_t i, value v) { store(e, i, v); return VAL_UNIT; }
static value check(value e, uintptr_t i) { return VAL_BOOL(FIELD(e, i) != NONE); }

value caml_ephe_get_key(value e, value i) { return get(e, key_index(e, i, "Weak.get_key")); }
value caml_ephe_get_key_copy(value e, value i)
{
    return get_copy(e, key_index(e, i, "Weak.get_copy"));
}
value caml_ephe_set_key(value e, value i, value v)
{
    return set(e, key_index(e, i, "Weak.set"), v);
}
value caml_ephe_unset_key(value e, value i) { return unset(e, key_index(e, i, "Weak.set")); }
value caml_ephe_check_key(value e, value i) { return check(e, key_index(e, i, "Weak.check")); }
value caml_ephe_get_data(value e) { return get(e, EPHE_DATA); }
value caml_ephe_get_data_copy(value e) { return get_copy(e, EPHE_DATA); }
value caml_ephe_set_data(value e, value v) { return set(e, EPHE_DATA, v); }
value caml_ephe_unset_data(value e) { return unset(e, EPHE_DATA); }
value caml_ephe_check_data(value e) { return check(e, EPHE_DATA); }

value caml_weak_create(value size) { return caml_ephe_create(size); }
value caml_weak_get(value e, value i) { return caml_ephe_get_key(e, i); }
value caml_weak_get_copy(value e, value i) { return caml_ephe_get_key_copy(e, i); }
value caml_weak_check(value e, value i) { return caml_ephe_check_key(e, i); }
value caml_weak_set(value e, value i, value o)
{
    return is_block(o) ? caml_ephe_set_key(e, i, FIELD(o, 0)) : caml_ephe_unset_key(e, i);
}

value caml_ephe_blit_key(value src, value from, value dst, value to, value len)
{
    intptr_t s = INT_VAL(from) + EPHE_KEYS, d = INT_VAL(to) + EPHE_KEYS, n = INT_VAL(len);
    if (n < 0 || s < EPHE_KEYS || d < EPHE_KEYS || s + n > (intptr_t)wosize_of(src) ||
        d + n > (intptr_t)wosize_of(dst))
        fk_invalid_arg("Weak.blit");
    if (s >= d)
        for (intptr_t i = 0; i < n; i++)
            store(dst, d + i, FIELD(src, s + i));
    else
        for (intptr_t i = n; i-- > 0;)
            store(dst, d + i, FIELD(src, s + i));
    return VAL_UNIT;
}
value caml_weak_blit(value src, value from, value dst, value to, value len)
{
    return caml_ephe_blit_key(src, from, dst, to, len);
}
value caml_ephe_blit_data(value src, value dst)
{
    store(dst, EPHE_DATA, FIELD(src, EPHE_DATA));
    return VAL_UNIT;
}

/* --- the collector's side ---------------------------------------------------------- */

static bool keys_alive(value e, bool (*alive)(value))
{
    for (uintptr_t i = EPHE_KEYS; i < wosize_of(e); i++)
        if (!alive(FIELD(e, i)))
            return false;
    return true;
}

static void each_ephe(void (*each)(value e, void *ctx), void *ctx)
{
    for (int i = 0; i < fk_slots_used(); i++)
        for (size_t k = 0; k < fk_domains[i].ephes.size; k++)
            each((value)fk_domains[i].ephes.data[k], ctx);
}

struct marking {
    root_fn fn;
    void *ctx;
    bool (*alive)(value);
    bool progress;
};

static void mark_data(value e, void *p)
{
    struct marking *m = p;
    value data = FIELD(e, EPHE_DATA);
    if (!m->alive(e) || m->alive(data) || !keys_alive(e, m->alive))
        return;
    m->fn(m->ctx, data, &FIELD(e, EPHE_DATA));
    m->progress = true;
}

/* One pass: data of ephemerons whose keys are all alive become alive. */
void fk_ephes_mark(root_fn fn, void *ctx, bool (*alive)(value), bool *progress)
{
    struct marking m = {fn, ctx, alive, false};
    each_ephe(mark_data, &m);
    *progress = m.progress;
}

static void clean_ephe(value e, bool (*alive)(value))
{
    bool dead = false;
    for (uintptr_t i = EPHE_KEYS; i < wosize_of(e); i++)
        if (!alive(FIELD(e, i))) {
            FIELD(e, i) = NONE;
            dead = true;
        }
    if (dead)
        FIELD(e, EPHE_DATA) = NONE;
}

void fk_ephes_clean(bool (*alive)(value))
{
    for (int i = 0; i < fk_slots_used(); i++) {
        struct words *w = &fk_domains[i].ephes;
        size_t kept = 0;
        for (size_t k = 0; k < w->size; k++) {
            value e = (value)w->data[k];
            if (!alive(e))
                continue;
            clean_ephe(e, alive);
            w->data[kept++] = (uintptr_t)e;
        }
        w->size = kept;
    }
}

struct visit {
    root_fn fn;
    void *ctx;
};

static void scan_ephe(value e, void *p)
{
    struct visit *v = p;
    for (uintptr_t i = EPHE_DATA; i < wosize_of(e); i++)
        v->fn(v->ctx, FIELD(e, i), &FIELD(e, i));
}

/* All slots, for verification and compaction. */
void fk_ephes_scan(root_fn fn, void *ctx)
{
    struct visit v = {fn, ctx};
    each_ephe(scan_ephe, &v);
}

/* The addresses of the ephemerons themselves, for compaction. */
void fk_ephes_scan_list(root_fn fn, void *ctx)
{
    for (int i = 0; i < fk_slots_used(); i++)
        for (size_t k = 0; k < fk_domains[i].ephes.size; k++) {
            value *p = (value *)&fk_domains[i].ephes.data[k];
            fn(ctx, *p, p);
        }
}
