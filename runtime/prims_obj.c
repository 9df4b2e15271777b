/* prims_obj.c - Obj, objects, lazy values, recursive definitions. */
#include <stdlib.h>

#include "runtime/fail.h"
#include "runtime/gc.h"

/* --- Obj ------------------------------------------------------------------------------ */

enum { TAG_INT = 1000, TAG_OUT_OF_HEAP = 1001, TAG_UNALIGNED = 1002 }; /* Obj's documented answers */

value caml_obj_tag(value v)
{
    if (is_int(v))
        return VAL_INT(TAG_INT);
    if (v & (sizeof(value) - 1))
        return VAL_INT(TAG_UNALIGNED);
    return VAL_INT(tag_of(v));
}

static void copy_fields(value to, value from, uintptr_t n)
{
    for (uintptr_t i = 0; i < n; i++)
        caml_initialize(&FIELD(to, i), FIELD(from, i));
}

value caml_obj_with_tag(value new_tag, value v)
{
    uintptr_t n = wosize_of(v);
    unsigned tag = (unsigned)INT_VAL(new_tag);
    if (n == 0)
        return fk_atom(tag);
    ROOTS(1, &v);
    value r = fk_alloc(n, tag);
    if (tag >= TAG_NO_SCAN)
        memcpy((void *)r, (void *)v, n * sizeof(value));
    else
        copy_fields(r, v, n);
    return UNROOT(r);
}
value caml_obj_dup(value v) { return caml_obj_with_tag(VAL_INT(tag_of(v)), v); }

/* The fewest fields of a block with this tag; MAX_WOSIZE + 1: a custom block needs
 * operations, which the program cannot give. */
static uintptr_t least_wosize(unsigned tag)
{
    return tag == TAG_CUSTOM ? MAX_WOSIZE + 1 : tag == TAG_CLOSURE ? 2 : tag == TAG_STRING;
}

value caml_obj_block(value tag, value size)
{
    intptr_t n = INT_VAL(size);
    unsigned t = (unsigned)INT_VAL(tag);
    if (n < 0 || (uintptr_t)n > MAX_WOSIZE || (uintptr_t)n < least_wosize(t))
        fk_invalid_arg("Obj.new_block");
    value v = fk_alloc(n, t);
    /* The smallest content that each kind of block may be looked at with: a closure
     * without code, all of it environment; a string as long as the block holds. */
    if (t == TAG_CLOSURE)
        FIELD(v, 1) = VAL_INT(2);
    else if (t >= TAG_NO_SCAN)
        memset((void *)v, 0, n * sizeof(value));
    return v;
}

value caml_obj_size(value v) { return VAL_INT(wosize_of(v)); }
value caml_obj_is_block(value v) { return VAL_BOOL(is_block(v)); }
value caml_obj_set_tag(value v, value tag)
{
    HD(v) = (HD(v) & ~(header)0xFF) | (header)INT_VAL(tag);
    return VAL_UNIT;
}
value caml_obj_raw_field(value v, value i) { return fk_copy_nativeint(FIELD(v, INT_VAL(i))); }
value caml_obj_set_raw_field(value v, value i, value bits)
{
    FIELD(v, INT_VAL(i)) = *(intptr_t *)CUSTOM_DATA(bits);
    return VAL_UNIT;
}
value caml_obj_add_offset(value v, value offset) { return v + *(int32_t *)CUSTOM_DATA(offset); }
value caml_obj_compare_and_swap(value v, value i, value old, value new)
{
    value e = old;
    _Atomic value *p = (_Atomic value *)&FIELD(v, INT_VAL(i));
    if (is_young_block(new) && !is_young(v))
        words_push(&fk_self->remembered, (uintptr_t)p);
    return VAL_BOOL(atomic_compare_exchange_strong(p, &e, new));
}

/* --- reachable words: a set of visited blocks --------------------------------------------- */

struct visited {
    uintptr_t *slot;
    size_t size, used;
};

static bool visit(struct visited *s, value v);

static void visited_grow(struct visited *s)
{
    struct visited old = *s;
    s->size = old.size ? 2 * old.size : 1024;
    s->used = 0;
    s->slot = calloc(s->size, sizeof *s->slot);
    if (!s->slot)
        fk_fatal("out of memory: Obj.reachable_words");
    for (size_t i = 0; i < old.size; i++)
        if (old.slot[i])
            visit(s, (value)old.slot[i]);
    free(old.slot);
}

/* true: v was not there before. */
static bool visit(struct visited *s, value v)
{
    if (2 * s->used >= s->size)
        visited_grow(s);
    size_t i = ((uintptr_t)v >> 3) * 0x9E3779B97F4A7C15u >> 16 & (s->size - 1);
    for (; s->slot[i]; i = (i + 1) & (s->size - 1))
        if (s->slot[i] == (uintptr_t)v)
            return false;
    s->slot[i] = (uintptr_t)v;
    s->used++;
    return true;
}

static void push_fields(struct words *todo, value v)
{
    header hd = HD(v);
    if (hd_tag(hd) >= TAG_NO_SCAN)
        return;
    uintptr_t i = hd_tag(hd) == TAG_CLOSURE ? closinfo_start_env(FIELD(v, 1)) : 0;
    for (; i < hd_wosize(hd); i++)
        if (is_block(FIELD(v, i)))
            words_push(todo, (uintptr_t)FIELD(v, i));
}

value caml_obj_reachable_words(value v)
{
    struct visited seen = {0};
    struct words todo = {0};
    intptr_t words = 0;
    if (is_block(v))
        words_push(&todo, (uintptr_t)v);
    while (todo.size) {
        value b = (value)todo.data[--todo.size];
        if (tag_of(b) == TAG_INFIX)
            b -= wosize_of(b) * sizeof(value);
        if (!visit(&seen, b))
            continue;
        words += wosize_of(b) + 1;
        push_fields(&todo, b);
    }
    free(seen.slot);
    fk_words_free(&todo);
    return VAL_INT(words);
}

/* --- let rec -------------------------------------------------------------------------------- */

value caml_alloc_dummy(value size) { return fk_alloc(INT_VAL(size), 0); }
value caml_alloc_dummy_float(value size) { return fk_alloc(INT_VAL(size), TAG_DOUBLE_ARRAY); }
value caml_alloc_dummy_infix(value size, value offset)
{
    uintptr_t n = INT_VAL(size), off = INT_VAL(offset);
    value v = fk_alloc(n, TAG_CLOSURE);
    FIELD(v, 1) = (value)((n << 1) | 1); /* no environment yet: nothing to scan */
    if (off > 0) {
        FIELD(v, off - 1) = (value)make_header(off, TAG_INFIX, 0);
        v += off * sizeof(value);
    }
    return v;
}

/* The dummy becomes the real block: same size, other tag and fields. */
value caml_update_dummy(value dummy, value v)
{
    header tag = tag_of(v);
    if (tag == TAG_INFIX) {
        uintptr_t off = wosize_of(v) * sizeof(value);
        v -= off;
        dummy -= tag_of(dummy) == TAG_INFIX ? wosize_of(dummy) * sizeof(value) : 0;
        tag = TAG_CLOSURE;
    }
    uintptr_t n = wosize_of(v);
    HD(dummy) = (HD(dummy) & ~(header)0xFF) | tag;
    if (tag == TAG_DOUBLE_ARRAY) {
        memcpy((void *)dummy, (void *)v, n * sizeof(value));
        return VAL_UNIT;
    }
    uintptr_t env = tag == TAG_CLOSURE ? closinfo_start_env(FIELD(v, 1)) : 0;
    for (uintptr_t i = 0; i < env; i++)
        FIELD(dummy, i) = FIELD(v, i);
    for (uintptr_t i = env; i < n; i++)
        caml_modify(&FIELD(dummy, i), FIELD(v, i));
    return VAL_UNIT;
}

/* --- lazy ------------------------------------------------------------------------------------- */

value caml_lazy_make_forward(value v)
{
    ROOTS(1, &v);
    value r = fk_alloc_small(1, TAG_FORWARD);
    FIELD(r, 0) = v;
    return UNROOT(r);
}

static bool retag(value v, unsigned from, unsigned to)
{
    header hd = atomic_load(HD_ATOMIC(v));
    return hd_tag(hd) == from &&
           atomic_compare_exchange_strong(HD_ATOMIC(v), &hd, (hd & ~(header)0xFF) | to);
}

/* 0: this thread forces it; 1: somebody else does. */
value caml_lazy_update_to_forcing(value v)
{
    return is_block(v) && retag(v, TAG_LAZY, TAG_FORCING) ? VAL_INT(0) : VAL_INT(1);
}
value caml_lazy_update_to_forward(value v)
{
    retag(v, TAG_FORCING, TAG_FORWARD);
    return VAL_UNIT;
}
value caml_lazy_reset_to_lazy(value v)
{
    retag(v, TAG_FORCING, TAG_LAZY);
    return VAL_UNIT;
}
value caml_lazy_read_result(value v)
{
    return is_block(v) && tag_of(v) == TAG_FORWARD ? FIELD(v, 0) : v;
}

/* --- objects ------------------------------------------------------------------------------------ */

static _Atomic intptr_t next_oo_id;

value caml_fresh_oo_id(value unit)
{
    (void)unit;
    return VAL_INT(atomic_fetch_add(&next_oo_id, 1));
}
value caml_set_oo_id(value obj)
{
    FIELD(obj, 1) = caml_fresh_oo_id(VAL_UNIT);
    return obj;
}

/* Method table: {count; unused; method, tag; method, tag; ...}, tags ascending. */
value caml_get_public_method(value obj, value tag)
{
    value meths = FIELD(obj, 0);
    intptr_t lo = 3, hi = FIELD(meths, 0); /* tagged count: 2n+1 = index of the last tag */
    while (lo < hi) {
        intptr_t mid = ((lo + hi) >> 1) | 1;
        if (tag < FIELD(meths, mid))
            hi = mid - 2;
        else
            lo = mid;
    }
    return tag == FIELD(meths, lo) ? FIELD(meths, lo - 1) : 0;
}

/* The same, leaving in *cache where to look next time. */
value caml_cache_public_method(value meths, value tag, value *cache)
{
    intptr_t lo = 3, hi = FIELD(meths, 0);
    while (lo < hi) {
        intptr_t mid = ((lo + hi) >> 1) | 1;
        if (tag < FIELD(meths, mid))
            hi = mid - 2;
        else
            lo = mid;
    }
    *cache = (lo - 3) * (intptr_t)sizeof(value);
    return FIELD(meths, lo - 1);
}

/* --- atomics --------------------------------------------------------------------------------------- */

value caml_atomic_make_contended(value v)
{
    ROOTS(1, &v); /* 128 bytes: alone in its cache lines, mostly */
    value r = fk_alloc_shr(15, 0);
    caml_initialize(&FIELD(r, 0), v);
    return UNROOT(r);
}
value caml_atomic_load(value ref) { return atomic_load((_Atomic value *)&FIELD(ref, 0)); }
