/* marshal_in.c - Marshal.from_*: bytes to values.
 *
 * A value of up to 257 words is built in a piece of the nursery that is taken
 * beforehand, anything else in the major heap: neither collects, so blocks need
 * no roots while they are incomplete. Lengths are checked against what is left
 * of the input before anything is allocated. */
#include <stdlib.h>

#include "runtime/callback.h"
#include "runtime/check_history.h"
#include "runtime/custom.h"
#include "runtime/fail.h"
#include "runtime/io.h"
#include "runtime/marshal.h"
#include "runtime/memory.h"
#include "runtime/profiler.h"

struct hole {
    value block;
    uintptr_t next, n;
};

struct reader {
    const unsigned char *p, *end;
    unsigned char *owned; /* freed at the end */
    uintptr_t blocks, given;
    value *block;         /* by number */
    value *young;         /* NULL: blocks go to the major heap */
    uintptr_t young_left; /* words */
    uintptr_t room;       /* bytes of the custom block that is read */
    struct hole *todo;
    size_t depth, max_depth;
};

static _Thread_local struct reader *current;

static void done(struct reader *r)
{
    free(r->owned);
    free(r->block);
    free(r->todo);
    current = NULL;
}
static FK_NORETURN void bad(struct reader *r, const char *why)
{
    done(r);
    fk_failwith(why);
}
static FK_NORETURN void no_memory(struct reader *r)
{
    done(r);
    fk_raise_out_of_memory();
}

/* --- bytes ------------------------------------------------------------------------------- */

static const unsigned char *take(struct reader *r, uint64_t n)
{
    if ((uint64_t)(r->end - r->p) < n)
        bad(r, "input_value: truncated object");
    r->p += n;
    return r->p - n;
}
static uint64_t be(const unsigned char *p, int bytes)
{
    uint64_t n = 0;
    while (bytes-- > 0)
        n = n << 8 | *p++;
    return n;
}
static uint64_t get(struct reader *r, int bytes) { return be(take(r, bytes), bytes); }
static int64_t get_signed(struct reader *r, int bytes)
{
    int unused = 64 - 8 * bytes;
    return (int64_t)(get(r, bytes) << unused) >> unused;
}

uint64_t fk_deserialize_be(int bytes) { return get(current, bytes); }
uintptr_t fk_deserialize_left(void) { return current->end - current->p; }
uintptr_t fk_deserialize_room(void) { return current->room; }
void fk_deserialize_bad(const char *why) { bad(current, why); }
int caml_deserialize_uint_1(void) { return (int)get(current, 1); }
int caml_deserialize_sint_1(void) { return (int)get_signed(current, 1); }
int caml_deserialize_uint_2(void) { return (int)get(current, 2); }
int caml_deserialize_sint_2(void) { return (int)get_signed(current, 2); }
uint32_t caml_deserialize_uint_4(void) { return (uint32_t)get(current, 4); }
int32_t caml_deserialize_sint_4(void) { return (int32_t)get(current, 4); }
uint64_t caml_deserialize_uint_8(void) { return get(current, 8); }
int64_t caml_deserialize_sint_8(void) { return (int64_t)get(current, 8); }
void caml_deserialize_block_1(void *to, intptr_t n) { memcpy(to, take(current, n), n); }

/* --- blocks -------------------------------------------------------------------------------- */

static value place(struct reader *r, uintptr_t wosize, unsigned tag)
{
    if (!r->young) {
        value v = fk_heap_alloc(&fk_self->heap, wosize, tag);
        if (v)
            fk_check_major(fk_self, v);
        return v;
    }
    if (wosize + 1 > r->young_left)
        bad(r, "input_value: ill-formed message");
    value v = (value)(r->young + 1);
    HD(v) = make_header(wosize, tag, 0);
    r->young += wosize + 1;
    r->young_left -= wosize + 1;
    return v;
}

/* `bytes`: at least so much input describes the block. */
static value new_block(struct reader *r, uintptr_t wosize, unsigned tag, uint64_t bytes)
{
    if ((uint64_t)(r->end - r->p) < bytes)
        bad(r, "input_value: truncated object");
    if (wosize > MAX_WOSIZE || (r->blocks && r->given >= r->blocks))
        bad(r, "input_value: ill-formed message");
    value v = place(r, wosize, tag);
    if (!v)
        no_memory(r);
    fk_prof_sample_block(fk_self, v, wosize + 1, FK_PROF_MARSHAL);
    if (tag < TAG_NO_SCAN) /* an error leaves it incomplete in the heap */
        for (uintptr_t i = 0; i < wosize; i++)
            FIELD(v, i) = VAL_UNIT;
    if (r->blocks) /* 0: written without sharing */
        r->block[r->given++] = v;
    return v;
}

static value get_fields(struct reader *r, uintptr_t n, unsigned tag)
{
    if (n == 0)
        return fk_atom(tag);
    if (tag >= TAG_NO_SCAN || tag == TAG_CLOSURE || tag == TAG_INFIX || tag == TAG_CONT)
        bad(r, "input_value: ill-formed message");
    value v = new_block(r, n, tag, n);
    if (r->depth == r->max_depth) {
        size_t c = r->max_depth ? 2 * r->max_depth : 64;
        struct hole *p = realloc(r->todo, c * sizeof *p);
        if (!p)
            no_memory(r);
        r->todo = p;
        r->max_depth = c;
    }
    r->todo[r->depth++] = (struct hole){v, 0, n};
    return v;
}

static value get_string(struct reader *r, uint64_t n)
{
    if (n > (uint64_t)(r->end - r->p))
        bad(r, "input_value: truncated object");
    uintptr_t wosize = n / sizeof(value) + 1, last = wosize * sizeof(value) - 1;
    value v = new_block(r, wosize, TAG_STRING, n);
    FIELD(v, wosize - 1) = 0;
    ((unsigned char *)v)[last] = (unsigned char)(last - n);
    memcpy((void *)v, take(r, n), n);
    return v;
}

static value get_doubles(struct reader *r, uint64_t n, bool big, unsigned tag)
{
    if (n > (uint64_t)(r->end - r->p) / 8)
        bad(r, "input_value: truncated object");
    if (n == 0)
        return fk_atom(0);
    value v = new_block(r, n, tag, 8 * n);
    for (uint64_t i = 0; i < n; i++) {
        const unsigned char *p = take(r, 8);
        uint64_t bits = 0;
        for (int k = 0; k < 8; k++)
            bits |= (uint64_t)p[k] << 8 * (big ? 7 - k : k);
        memcpy((uint64_t *)v + i, &bits, sizeof bits);
    }
    return v;
}

static value get_shared(struct reader *r, uint64_t distance)
{
    if (distance == 0 || distance > r->given)
        bad(r, "input_value: ill-formed message");
    return r->block[r->given - distance];
}

static value get_custom(struct reader *r, bool fixed)
{
    const char *name = (const char *)r->p;
    size_t len = strnlen(name, r->end - r->p);
    take(r, len + 1);
    const struct custom_operations *ops = fk_find_custom(name);
    if (!ops || !ops->deserialize)
        bad(r, "input_value: unknown custom block identifier");
    uint64_t n;
    if (fixed) {
        if (!ops->fixed_length)
            bad(r, "input_value: expected a fixed-size custom block");
        n = ops->fixed_length->bsize_64;
    } else {
        take(r, 4);
        n = get(r, 8);
    }
    if (n > (uint64_t)(r->end - r->p) + 64)
        bad(r, "input_value: truncated object");
    value v = new_block(r, 1 + (n + 7) / 8, TAG_CUSTOM, 0);
    memset((void *)v, 0, (1 + (n + 7) / 8) * sizeof(value));
    CUSTOM_OPS(v) = ops;
    r->room = n;
    if (ops->deserialize(CUSTOM_DATA(v)) != n)
        bad(r, "input_value: incorrect length of serialized custom block");
    if (r->young && ops->finalize)
        words_push(&fk_self->customs, (uintptr_t)v);
    return v;
}

static value get_coded(struct reader *r, int code)
{
    uint64_t n;
    switch (code) {
    case CODE_INT8: return VAL_INT(get_signed(r, 1));
    case CODE_INT16: return VAL_INT(get_signed(r, 2));
    case CODE_INT32: return VAL_INT(get_signed(r, 4));
    case CODE_INT64: return VAL_INT(get_signed(r, 8));
    case CODE_SHARED8: return get_shared(r, get(r, 1));
    case CODE_SHARED16: return get_shared(r, get(r, 2));
    case CODE_SHARED32: return get_shared(r, get(r, 4));
    case CODE_SHARED64: return get_shared(r, get(r, 8));
    case CODE_BLOCK32: n = get(r, 4); return get_fields(r, n >> 10, n & 0xFF);
    case CODE_BLOCK64: n = get(r, 8); return get_fields(r, n >> 10, n & 0xFF);
    case CODE_STRING8: return get_string(r, get(r, 1));
    case CODE_STRING32: return get_string(r, get(r, 4));
    case CODE_STRING64: return get_string(r, get(r, 8));
    case CODE_DOUBLE_BE: return get_doubles(r, 1, true, TAG_DOUBLE);
    case CODE_DOUBLE_LE: return get_doubles(r, 1, false, TAG_DOUBLE);
    case CODE_DOUBLES8_BE: return get_doubles(r, get(r, 1), true, TAG_DOUBLE_ARRAY);
    case CODE_DOUBLES8_LE: return get_doubles(r, get(r, 1), false, TAG_DOUBLE_ARRAY);
    case CODE_DOUBLES32_BE: return get_doubles(r, get(r, 4), true, TAG_DOUBLE_ARRAY);
    case CODE_DOUBLES32_LE: return get_doubles(r, get(r, 4), false, TAG_DOUBLE_ARRAY);
    case CODE_DOUBLES64_BE: return get_doubles(r, get(r, 8), true, TAG_DOUBLE_ARRAY);
    case CODE_DOUBLES64_LE: return get_doubles(r, get(r, 8), false, TAG_DOUBLE_ARRAY);
    case CODE_CUSTOM_LEN: return get_custom(r, false);
    case CODE_CUSTOM_FIXED: return get_custom(r, true);
    case CODE_CODE_POINTER: case CODE_INFIX: bad(r, "input_value: code pointers cannot be read");
    }
    bad(r, "input_value: ill-formed message");
}

static value get_value(struct reader *r)
{
    int code = (int)get(r, 1);
    if (code >= PREFIX_BLOCK)
        return get_fields(r, code >> 4 & 7, code & 15);
    if (code >= PREFIX_INT)
        return VAL_INT(code & 0x3F);
    if (code >= PREFIX_STRING)
        return get_string(r, code & 0x1F);
    return get_coded(r, code);
}

static value read_all(struct reader *r)
{
    value v = get_value(r);
    while (r->depth) {
        struct hole *h = &r->todo[r->depth - 1];
        if (h->next == h->n) {
            r->depth--;
            continue;
        }
        value *field = &FIELD(h->block, h->next++);
        *field = get_value(r);
    }
    return v;
}

struct sizes {
    uint64_t header, data, blocks, words;
};

static bool read_header(const unsigned char *p, uint64_t n, struct sizes *s)
{
    if (n < HEADER_SMALL)
        return false;
    uint32_t magic = (uint32_t)be(p, 4);
    if (magic == (uint32_t)MAGIC_SMALL) {
        *s = (struct sizes){HEADER_SMALL, be(p + 4, 4), be(p + 8, 4), be(p + 16, 4)};
        return true;
    }
    if (magic != (uint32_t)MAGIC_BIG || n < HEADER_BIG)
        return false;
    *s = (struct sizes){HEADER_BIG, be(p + 8, 8), be(p + 16, 8), be(p + 24, 8)};
    return true;
}

/* May collect. */
static void reserve(struct reader *r, const struct sizes *s)
{
    if (s->words == 0 || s->words > MAX_YOUNG_WOSIZE + 1)
        return;
    r->young = fk_reserve_young(s->words);
    r->young_left = s->words;
}

static value decode(struct reader *r, const struct sizes *s)
{
    if (s->blocks > s->data)
        bad(r, "input_value: ill-formed message");
    r->blocks = s->blocks;
    r->block = malloc((s->blocks + 1) * sizeof(value));
    if (!r->block)
        no_memory(r);
    current = r;
    value v = read_all(r);
    done(r);
    if (fk_gc_major_due())
        fk_interrupt(fk_self, INT_MAJOR);
    return fk_after_pending_actions(v);
}

value caml_input_value(value ch)
{
    struct sizes s;
    struct reader r = {0};
    unsigned char h[HEADER_BIG];
    struct channel *c = CHANNEL(ch);
    ROOTS(1, &ch);
    fk_channel_lock(c);
    size_t n = fk_channel_get(c, (char *)h, HEADER_SMALL);
    bool big = n == HEADER_SMALL && (uint32_t)be(h, 4) == (uint32_t)MAGIC_BIG;
    if (big)
        n += fk_channel_get(c, (char *)h + n, HEADER_BIG - HEADER_SMALL);
    bool ok = read_header(h, n, &s);
    if (ok && (r.owned = malloc(s.data + 1)))
        ok = fk_channel_get(c, (char *)r.owned, s.data) == s.data;
    fk_channel_unlock(c);
    UNROOT_VOID();
    if (n == 0)
        fk_raise((value)caml_exn_End_of_file);
    if (n < HEADER_SMALL || (ok && !r.owned) || (!ok && r.owned))
        bad(&r, "input_value: truncated object");
    if (!ok)
        bad(&r, "input_value: bad object");
    r.p = r.owned;
    r.end = r.owned + s.data;
    reserve(&r, &s);
    return decode(&r, &s);
}

value caml_input_value_from_bytes(value str, value from)
{
    struct sizes s;
    struct reader r = {0};
    uint64_t len = string_length(str) - INT_VAL(from);
    const unsigned char *p = (unsigned char *)str + INT_VAL(from);
    if (!read_header(p, len, &s))
        fk_failwith("input_val_from_string: bad object");
    if (s.header + s.data > len)
        fk_failwith("input_val_from_string: bad length");
    ROOTS(1, &str);
    reserve(&r, &s);
    UNROOT_VOID();
    r.p = (unsigned char *)str + INT_VAL(from) + s.header; /* stays: nothing more collects */
    r.end = r.p + s.data;
    return decode(&r, &s);
}
value caml_input_value_from_string(value str, value from)
{
    return caml_input_value_from_bytes(str, from);
}

value caml_marshal_data_size(value str, value from)
{
    struct sizes s;
    if (!read_header((unsigned char *)str + INT_VAL(from), string_length(str) - INT_VAL(from), &s))
        fk_failwith("Marshal.data_size: bad object");
    return VAL_INT(s.header - HEADER_STDLIB + s.data);
}
