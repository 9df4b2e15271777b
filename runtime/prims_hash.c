/* prims_hash.c - Hashtbl.hash: MurmurHash3 (x86, 32 bits) over the value.
 *
 * Hash values are visible through iteration order, so they are those of OCaml
 * (docs/runtime.md, "Hashing"; lit-tests/runtime compares them). Blocks are
 * walked breadth first: at most `limit` values are looked at, `count` of them
 * meaningful. */
#include "runtime/custom.h"
#include "runtime/fail.h"

static inline uint32_t rotl(uint32_t x, int n) { return x << n | x >> (32 - n); }

static uint32_t mix(uint32_t h, uint32_t d)
{
    h ^= rotl(d * 0xcc9e2d51u, 15) * 0x1b873593u;
    return rotl(h, 13) * 5 + 0xe6546b64u;
}

static uint32_t final_mix(uint32_t h)
{
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

uint32_t caml_hash_mix_uint32(uint32_t h, uint32_t d) { return mix(h, d); }
uint32_t caml_hash_mix_intnat(uint32_t h, intptr_t d)
{
    return mix(h, (uint32_t)(d >> 32 ^ d >> 63 ^ d));
}
uint32_t caml_hash_mix_int64(uint32_t h, int64_t d)
{
    return mix(mix(h, (uint32_t)d), (uint32_t)(d >> 32));
}

/* All NaNs hash alike, and so do the two zeros. */
uint32_t caml_hash_mix_double(uint32_t h, double d)
{
    uint64_t n;
    memcpy(&n, &d, sizeof n);
    if (d != d)
        n = 0x7FF0000000000001u;
    else if (d == 0)
        n = 0;
    return mix(mix(h, (uint32_t)n), (uint32_t)(n >> 32));
}

uint32_t caml_hash_mix_float(uint32_t h, float d)
{
    uint32_t n;
    memcpy(&n, &d, sizeof n);
    if (d != d)
        n = 0x7F800001u;
    else if (d == 0)
        n = 0;
    return mix(h, n);
}

/* All bytes, in little-endian words, then the length. */
static uint32_t mix_bytes(uint32_t h, const unsigned char *p, uintptr_t len)
{
    uintptr_t i = 0;
    for (; i + 4 <= len; i += 4)
        h = mix(h, p[i] | p[i + 1] << 8 | p[i + 2] << 16 | (uint32_t)p[i + 3] << 24);
    uint32_t tail = 0;
    for (unsigned k = 0; i < len; i++, k += 8)
        tail |= (uint32_t)p[i] << k;
    if (len & 3)
        h = mix(h, tail);
    return h ^ (uint32_t)len;
}

uint32_t caml_hash_mix_string(uint32_t h, value s)
{
    return mix_bytes(h, (unsigned char *)s, string_length(s));
}

enum { QUEUE = 256 };
struct queue {
    value at[QUEUE];
    intptr_t read, write, size;  /* size: how many values may be looked at */
    intptr_t left;               /* meaningful ones still wanted */
};

static void enqueue_fields(struct queue *q, value v, uintptr_t from)
{
    for (uintptr_t i = from; i < wosize_of(v) && q->write < q->size; i++)
        q->at[q->write++] = FIELD(v, i);
}

static uint32_t mix_header(uint32_t h, value v) { return mix(h, (uint32_t)(HD(v) & ~COLOR_MASK)); }

/* Closures: code and closure information count, then the environment. */
static uint32_t mix_closure(struct queue *q, uint32_t h, value v)
{
    uintptr_t env = closinfo_start_env(FIELD(v, 1));
    h = mix_header(h, v);
    for (uintptr_t i = 0; i < env; i++) {
        h = caml_hash_mix_intnat(h, FIELD(v, i));
        q->left--;
    }
    enqueue_fields(q, v, env);
    return h;
}

static uint32_t mix_block(struct queue *q, uint32_t h, value v)
{
    switch (tag_of(v)) {
    case TAG_STRING: q->left--; return caml_hash_mix_string(h, v);
    case TAG_DOUBLE: q->left--; return caml_hash_mix_double(h, double_of(v));
    case TAG_DOUBLE_ARRAY:
        for (uintptr_t i = 0; i < wosize_of(v) && q->left > 0; i++, q->left--)
            h = caml_hash_mix_double(h, double_field(v, i));
        return h;
    case TAG_ABSTRACT: return h;
    case TAG_CONT: return h;
    case TAG_INFIX: q->left--; return caml_hash_mix_intnat(h, v);
    case TAG_OBJECT: q->left--; return caml_hash_mix_intnat(h, INT_VAL(FIELD(v, 1)));
    case TAG_CUSTOM:
        if (!CUSTOM_OPS(v)->hash)
            return h;
        q->left--;
        return mix(h, (uint32_t)CUSTOM_OPS(v)->hash(v));
    case TAG_CLOSURE: return mix_closure(q, h, v);
    }
    enqueue_fields(q, v, 0);
    return mix_header(h, v); /* not one of the meaningful ones */
}

value caml_hash(value count, value limit, value seed, value v)
{
    struct queue q = {.write = 1, .left = INT_VAL(count), .size = INT_VAL(limit)};
    uint32_t h = (uint32_t)INT_VAL(seed);
    if (q.size < 0 || q.size > QUEUE)
        q.size = QUEUE;
    q.at[0] = v;
    while (q.read < q.write && q.left > 0) {
        value x = q.at[q.read++];
        for (int i = 0; i < 1000 && is_block(x) && (tag_of(x) == TAG_FORWARD); i++)
            x = FIELD(x, 0);
        if (is_int(x)) {
            h = caml_hash_mix_intnat(h, x);
            q.left--;
        } else {
            h = mix_block(&q, h, x);
        }
    }
    return VAL_INT(final_mix(h) & 0x3FFFFFFF);
}

value caml_string_hash(value seed, value s)
{
    return VAL_INT(final_mix(caml_hash_mix_string((uint32_t)INT_VAL(seed), s)) & 0x3FFFFFFF);
}
