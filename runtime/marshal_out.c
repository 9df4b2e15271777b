/* marshal_out.c - Marshal.to_*: values to bytes.
 *
 * Blocks are numbered in the order in which they are written; a block that was
 * written before is a reference to its number. (The colour bits of headers are
 * set in OCaml's own output; readers ignore them.) Closures are refused: their
 * code pointers mean nothing to another program. */
#include <limits.h>
#include <stdlib.h>

#include "runtime/custom.h"
#include "runtime/fail.h"
#include "runtime/io.h"
#include "runtime/marshal.h"

struct seen {
    value v;
    uintptr_t number;
};
struct range {
    value *next, *end;
};

struct writer {
    unsigned char *buf;
    size_t size, capacity;
    struct seen *seen; /* hash set */
    size_t seen_size;
    uintptr_t blocks;  /* numbers given */
    uintptr_t words32, words64;
    struct range *todo;
    size_t depth, max_depth;
    bool sharing, compat32;
};

static _Thread_local struct writer *current;

static void done(struct writer *w)
{
    free(w->buf);
    free(w->seen);
    free(w->todo);
    current = NULL;
}

static FK_NORETURN void no_memory(struct writer *w)
{
    done(w);
    fk_raise_out_of_memory();
}
static FK_NORETURN void refuse(struct writer *w, const char *why)
{
    done(w);
    fk_invalid_arg(why);
}

static FK_NORETURN void too_wide(struct writer *w)
{
    done(w);
    fk_failwith("output_value: integer cannot be read back on 32-bit platform");
}

/* --- bytes --------------------------------------------------------------------------- */

static unsigned char *room(struct writer *w, size_t n)
{
    if (w->capacity - w->size < n) {
        size_t c = 2 * w->capacity + n + 256;
        unsigned char *p = realloc(w->buf, c);
        if (!p)
            no_memory(w);
        w->buf = p;
        w->capacity = c;
    }
    w->size += n;
    return w->buf + w->size - n;
}

static void put_be(struct writer *w, uint64_t n, int bytes)
{
    unsigned char *p = room(w, bytes);
    while (bytes-- > 0)
        *p++ = (unsigned char)(n >> (8 * bytes));
}
static void put_code(struct writer *w, int code, uint64_t n, int bytes)
{
    put_be(w, code, 1);
    put_be(w, n, bytes);
}
static void put_bytes(struct writer *w, const void *p, size_t n) { memcpy(room(w, n), p, n); }

void fk_serialize_be(uint64_t n, int bytes) { put_be(current, n, bytes); }
void caml_serialize_int_1(int n) { put_be(current, (unsigned)n, 1); }
void caml_serialize_int_2(int n) { put_be(current, (unsigned)n, 2); }
void caml_serialize_int_4(int32_t n) { put_be(current, (uint32_t)n, 4); }
void caml_serialize_int_8(int64_t n) { put_be(current, (uint64_t)n, 8); }
void caml_serialize_block_1(void *p, intptr_t n) { put_bytes(current, p, n); }

/* --- sharing ---------------------------------------------------------------------------- */

static struct seen *find(struct writer *w, value v)
{
    size_t i = ((uintptr_t)v >> 3) * 0x9E3779B97F4A7C15u >> 16 & (w->seen_size - 1);
    while (w->seen[i].v && w->seen[i].v != v)
        i = (i + 1) & (w->seen_size - 1);
    return &w->seen[i];
}

static void grow_seen(struct writer *w)
{
    struct seen *old = w->seen;
    size_t n = w->seen_size;
    w->seen_size = n ? 2 * n : 256;
    w->seen = calloc(w->seen_size, sizeof *w->seen);
    if (!w->seen) {
        w->seen = old;
        no_memory(w);
    }
    for (size_t i = 0; i < n; i++)
        if (old[i].v)
            *find(w, old[i].v) = old[i];
    free(old);
}

/* true: v was written before, and now its reference is. */
static bool shared(struct writer *w, value v)
{
    if (!w->sharing)
        return false;
    if (2 * (w->blocks + 1) > w->seen_size)
        grow_seen(w);
    struct seen *s = find(w, v);
    if (!s->v) {
        *s = (struct seen){v, w->blocks++};
        return false;
    }
    uintptr_t d = w->blocks - s->number;
    if (d < 0x100)
        put_code(w, CODE_SHARED8, d, 1);
    else if (d < 0x10000)
        put_code(w, CODE_SHARED16, d, 2);
    else if (d <= UINT32_MAX)
        put_code(w, CODE_SHARED32, d, 4);
    else
        put_code(w, CODE_SHARED64, d, 8);
    return true;
}

/* --- kinds of values -------------------------------------------------------------------------- */

static void put_int(struct writer *w, intptr_t n)
{
    if (n >= 0 && n < 0x40)
        put_be(w, PREFIX_INT + n, 1);
    else if (n >= -0x80 && n < 0x80)
        put_code(w, CODE_INT8, n, 1);
    else if (n >= -0x8000 && n < 0x8000)
        put_code(w, CODE_INT16, n, 2);
    else if (n >= -(1 << 30) && n < 1 << 30)
        put_code(w, CODE_INT32, n, 4);
    else if (w->compat32)
        too_wide(w);
    else
        put_code(w, CODE_INT64, n, 8);
}

static void count(struct writer *w, uintptr_t w32, uintptr_t w64)
{
    w->words32 += 1 + w32;
    w->words64 += 1 + w64;
}

static void put_string(struct writer *w, value v)
{
    uintptr_t n = string_length(v);
    if (n < 0x20)
        put_be(w, PREFIX_STRING + n, 1);
    else if (n < 0x100)
        put_code(w, CODE_STRING8, n, 1);
    else if (n <= UINT32_MAX)
        put_code(w, CODE_STRING32, n, 4);
    else
        put_code(w, CODE_STRING64, n, 8);
    put_bytes(w, (void *)v, n);
    count(w, n / 4 + 1, n / 8 + 1);
}

static bool big_endian(void)
{
    union { uint16_t n; char c[2]; } probe = {1};
    return !probe.c[0];
}

static void put_doubles(struct writer *w, value v)
{
    uintptr_t n = wosize_of(v);
    bool be = big_endian();
    if (n < 0x100)
        put_code(w, be ? CODE_DOUBLES8_BE : CODE_DOUBLES8_LE, n, 1);
    else if (n <= UINT32_MAX)
        put_code(w, be ? CODE_DOUBLES32_BE : CODE_DOUBLES32_LE, n, 4);
    else
        put_code(w, be ? CODE_DOUBLES64_BE : CODE_DOUBLES64_LE, n, 8);
    put_bytes(w, (void *)v, n * sizeof(double));
    count(w, 2 * n, n);
}

static void patch_be(unsigned char *p, uint64_t n, int bytes)
{
    while (bytes-- > 0)
        *p++ = (unsigned char)(n >> (8 * bytes));
}

static void put_custom(struct writer *w, value v)
{
    const struct custom_operations *ops = CUSTOM_OPS(v);
    uintptr_t n32 = 0, n64 = 0;
    if (!ops->serialize)
        refuse(w, "output_value: abstract value (Custom)");
    put_be(w, ops->fixed_length ? CODE_CUSTOM_FIXED : CODE_CUSTOM_LEN, 1);
    put_bytes(w, ops->identifier, strlen(ops->identifier) + 1);
    size_t sizes = w->size;
    if (!ops->fixed_length)
        room(w, 12);
    ops->serialize(v, &n32, &n64);
    if (!ops->fixed_length) {
        patch_be(w->buf + sizes, n32, 4);
        patch_be(w->buf + sizes + 4, n64, 8);
    }
    count(w, 1 + (n32 + 3) / 4, 1 + (n64 + 7) / 8);
}

static void push(struct writer *w, value v, uintptr_t n)
{
    if (w->depth == w->max_depth) {
        size_t c = w->max_depth ? 2 * w->max_depth : 64;
        struct range *p = realloc(w->todo, c * sizeof *p);
        if (!p)
            no_memory(w);
        w->todo = p;
        w->max_depth = c;
    }
    w->todo[w->depth++] = (struct range){&FIELD(v, 0), &FIELD(v, n)};
}

static void put_header(struct writer *w, uintptr_t n, unsigned tag)
{
    if (tag < 16 && n < 8)
        put_be(w, PREFIX_BLOCK + tag + (n << 4), 1);
    else if (n < 1 << 22)
        put_code(w, CODE_BLOCK32, make_header(n, tag, COLOR_STATIC), 4);
    else
        put_code(w, CODE_BLOCK64, make_header(n, tag, COLOR_STATIC), 8);
}

static void put_block(struct writer *w, value v, unsigned tag)
{
    switch (tag) {
    case TAG_STRING: put_string(w, v); return;
    case TAG_DOUBLE:
        put_be(w, big_endian() ? CODE_DOUBLE_BE : CODE_DOUBLE_LE, 1);
        put_bytes(w, (void *)v, sizeof(double));
        count(w, 2, 1);
        return;
    case TAG_DOUBLE_ARRAY: put_doubles(w, v); return;
    case TAG_CUSTOM: put_custom(w, v); return;
    case TAG_ABSTRACT: refuse(w, "output_value: abstract value (Abstract)");
    case TAG_CLOSURE: case TAG_INFIX: refuse(w, "output_value: functional value");
    case TAG_CONT: refuse(w, "output_value: continuation value");
    }
    uintptr_t n = wosize_of(v);
    put_header(w, n, tag);
    count(w, n, n);
    push(w, v, n);
}

static void put_value(struct writer *w, value v)
{
    while (is_block(v) && tag_of(v) == TAG_FORWARD) { /* a forced lazy value is its result */
        value f = FIELD(v, 0);
        if (is_block(f) && (tag_of(f) == TAG_FORWARD || tag_of(f) == TAG_LAZY ||
                            tag_of(f) == TAG_FORCING || tag_of(f) == TAG_DOUBLE))
            break;
        v = f;
    }
    if (is_int(v))
        put_int(w, INT_VAL(v));
    else if (wosize_of(v) == 0)
        put_header(w, 0, tag_of(v));
    else if (!shared(w, v))
        put_block(w, v, tag_of(v));
}

static void put_all(struct writer *w, value v)
{
    put_value(w, v);
    while (w->depth) {
        struct range *r = &w->todo[w->depth - 1];
        if (r->next == r->end)
            w->depth--;
        else
            put_value(w, *r->next++);
    }
}

/* Fills `header`; returns its length. */
static size_t make_marshal_header(const struct writer *w, unsigned char *header)
{
    if (w->size > UINT32_MAX || w->words32 > UINT32_MAX) {
        patch_be(header, (uint32_t)MAGIC_BIG, 4);
        patch_be(header + 4, 0, 4);
        patch_be(header + 8, w->size, 8);
        patch_be(header + 16, w->blocks, 8);
        patch_be(header + 24, w->words64, 8);
        return HEADER_BIG;
    }
    patch_be(header, (uint32_t)MAGIC_SMALL, 4);
    patch_be(header + 4, w->size, 4);
    patch_be(header + 8, w->blocks, 4);
    patch_be(header + 12, w->words32, 4);
    patch_be(header + 16, w->words64, 4);
    return HEADER_SMALL;
}

static size_t run(struct writer *w, value v, value flags, unsigned char *header)
{
    bool no_sharing = false;
    *w = (struct writer){0};
    for (value l = flags; is_block(l); l = FIELD(l, 1)) {
        no_sharing |= FIELD(l, 0) == VAL_INT(0);
        w->compat32 |= FIELD(l, 0) == VAL_INT(2);
    }
    w->sharing = !no_sharing;
    current = w;
    put_all(w, v);
    return make_marshal_header(w, header);
}

value caml_output_value_to_bytes(value v, value flags)
{
    struct writer w;
    unsigned char h[HEADER_BIG];
    size_t n = run(&w, v, flags, h);
    value s = fk_alloc_string(n + w.size);
    memcpy((char *)s, h, n);
    memcpy((char *)s + n, w.buf, w.size);
    done(&w);
    return s;
}
value caml_output_value_to_string(value v, value flags)
{
    return caml_output_value_to_bytes(v, flags);
}

value caml_output_value_to_buffer(value buf, value from, value len, value v, value flags)
{
    struct writer w;
    unsigned char h[HEADER_BIG];
    size_t n = run(&w, v, flags, h);
    if (n + w.size > (size_t)INT_VAL(len)) {
        done(&w);
        fk_failwith("Marshal.to_buffer: buffer overflow");
    }
    memcpy((char *)buf + INT_VAL(from), h, n);
    memcpy((char *)buf + INT_VAL(from) + n, w.buf, w.size);
    n += w.size;
    done(&w);
    return VAL_INT(n);
}

value caml_output_value(value ch, value v, value flags)
{
    struct writer w;
    unsigned char h[HEADER_BIG];
    size_t n = run(&w, v, flags, h);
    struct channel *c = CHANNEL(ch);
    ROOTS(1, &ch);
    fk_channel_lock(c);
    fk_channel_put(c, (char *)h, n);
    fk_channel_put(c, (char *)w.buf, w.size);
    fk_channel_end_output(c);
    done(&w);
    return UNROOT(VAL_UNIT);
}
