/* prims_digest.c - Digest: MD5 (RFC 1321) and BLAKE2b (RFC 7693). */
#include <math.h>

#include "runtime/fail.h"
#include "runtime/gc.h"
#include "runtime/io.h"

/* --- MD5 ------------------------------------------------------------------------------ */

struct md5 {
    uint32_t h[4];
    uint64_t bytes;
    unsigned char block[64];
};

static uint32_t rotl32(uint32_t x, int k) { return x << k | x >> (32 - k); }
static uint32_t le32(const unsigned char *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/* RFC 1321: T[i] = floor(2^32 * abs(sin(i + 1))). */
static const uint32_t *sines(void)
{
    static uint32_t t[64];
    static _Atomic bool ready;
    if (!atomic_load(&ready)) {
        for (int i = 0; i < 64; i++)
            t[i] = (uint32_t)(uint64_t)(fabs(sin(i + 1)) * 4294967296.0);
        atomic_store(&ready, true);
    }
    return t;
}

static void md5_block(struct md5 *m, const unsigned char *p)
{
    static const unsigned char shift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23},
                                              {6, 10, 15, 21}};
    const uint32_t *t = sines();
    uint32_t a = m->h[0], b = m->h[1], c = m->h[2], d = m->h[3];
    for (int i = 0; i < 64; i++) {
        uint32_t f;
        int k;
        switch (i / 16) {
        case 0: f = (b & c) | (~b & d); k = i; break;
        case 1: f = (d & b) | (~d & c); k = (5 * i + 1) & 15; break;
        case 2: f = b ^ c ^ d; k = (3 * i + 5) & 15; break;
        default: f = c ^ (b | ~d); k = 7 * i & 15;
        }
        uint32_t n = b + rotl32(a + f + t[i] + le32(p + 4 * k), shift[i / 16][i & 3]);
        a = d, d = c, c = b, b = n;
    }
    m->h[0] += a, m->h[1] += b, m->h[2] += c, m->h[3] += d;
}

static void md5_init(struct md5 *m)
{
    *m = (struct md5){.h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
}

static void md5_add(struct md5 *m, const unsigned char *p, size_t n)
{
    size_t have = m->bytes & 63;
    m->bytes += n;
    while (n > 0) {
        size_t k = 64 - have < n ? 64 - have : n;
        memcpy(m->block + have, p, k);
        p += k, n -= k, have += k;
        if (have == 64) {
            md5_block(m, m->block);
            have = 0;
        }
    }
}

static value md5_end(struct md5 *m)
{
    unsigned char len[8], out[16];
    static const unsigned char pad[64] = {0x80};
    for (int i = 0; i < 8; i++)
        len[i] = (unsigned char)(m->bytes * 8 >> 8 * i);
    md5_add(m, pad, 1 + ((119 - (m->bytes & 63)) & 63));
    md5_add(m, len, 8);
    for (int i = 0; i < 16; i++)
        out[i] = (unsigned char)(m->h[i / 4] >> 8 * (i & 3));
    return fk_copy_bytes(out, 16);
}

value caml_md5_bytes(value s, value from, value n)
{
    struct md5 m;
    md5_init(&m);
    md5_add(&m, (unsigned char *)s + INT_VAL(from), INT_VAL(n));
    return md5_end(&m);
}
value caml_md5_string(value s, value from, value n) { return caml_md5_bytes(s, from, n); }

/* len < 0: to the end of the file; else exactly len bytes or End_of_file. */
value caml_md5_chan(value ch, value len)
{
    struct md5 m;
    unsigned char buf[4096];
    intptr_t left = INT_VAL(len);
    ROOTS(1, &ch);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    md5_init(&m);
    while (left != 0) {
        size_t want = left < 0 || left > (intptr_t)sizeof buf ? sizeof buf : (size_t)left;
        size_t n = fk_channel_get(c, (char *)buf, want);
        md5_add(&m, buf, n);
        left -= left > 0 ? (intptr_t)n : 0;
        if (n < want)
            break;
    }
    fk_channel_unlock(c);
    UNROOT_VOID();
    if (left > 0)
        fk_raise((value)caml_exn_End_of_file);
    return md5_end(&m);
}

/* --- BLAKE2b ------------------------------------------------------------------------------- */

struct blake2 {
    uint64_t h[8], bytes[2];
    size_t have;
    unsigned char block[128];
};

static const uint64_t blake2_iv[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

static const unsigned char sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint64_t rotr(uint64_t x, int k) { return x >> k | x << (64 - k); }
static uint64_t le64(const unsigned char *p) { return le32(p) | (uint64_t)le32(p + 4) << 32; }

static void quarter(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotr(v[b] ^ v[c], 63);
}

static void blake2_block(struct blake2 *s, bool last)
{
    uint64_t v[16], m[16];
    for (int i = 0; i < 16; i++) {
        v[i] = i < 8 ? s->h[i] : blake2_iv[i - 8];
        m[i] = le64(s->block + 8 * i);
    }
    v[12] ^= s->bytes[0];
    v[13] ^= s->bytes[1];
    v[14] ^= last ? UINT64_MAX : 0;
    for (int r = 0; r < 12; r++) {
        const unsigned char *p = sigma[r % 10];
        for (int i = 0; i < 4; i++)
            quarter(v, i, i + 4, i + 8, i + 12, m[p[2 * i]], m[p[2 * i + 1]]);
        for (int i = 0; i < 4; i++)
            quarter(v, i, 4 + ((i + 1) & 3), 8 + ((i + 2) & 3), 12 + ((i + 3) & 3),
                    m[p[8 + 2 * i]], m[p[9 + 2 * i]]);
    }
    for (int i = 0; i < 8; i++)
        s->h[i] ^= v[i] ^ v[i + 8];
}

static void blake2_count(struct blake2 *s, uint64_t n)
{
    s->bytes[0] += n;
    s->bytes[1] += s->bytes[0] < n;
}

/* A full block is held back: it may be the last. */
static void blake2_add(struct blake2 *s, const unsigned char *p, size_t n)
{
    while (n > 0) {
        if (s->have == 128) {
            blake2_count(s, 128);
            blake2_block(s, false);
            s->have = 0;
        }
        size_t k = 128 - s->have < n ? 128 - s->have : n;
        memcpy(s->block + s->have, p, k);
        s->have += k, p += k, n -= k;
    }
}

static void blake2_init(struct blake2 *s, unsigned out, const unsigned char *key, size_t n)
{
    *s = (struct blake2){0};
    memcpy(s->h, blake2_iv, sizeof s->h);
    s->h[0] ^= 0x01010000 ^ n << 8 ^ out;
    if (n > 0) {
        memcpy(s->block, key, n);
        s->have = 128;
    }
}

static value blake2_end(struct blake2 *s, size_t out)
{
    unsigned char digest[64];
    blake2_count(s, s->have);
    memset(s->block + s->have, 0, 128 - s->have);
    blake2_block(s, true);
    for (size_t i = 0; i < 64; i++)
        digest[i] = (unsigned char)(s->h[i / 8] >> 8 * (i & 7));
    return fk_copy_bytes(digest, out);
}

static size_t key_length(value key) { return string_length(key) < 64 ? string_length(key) : 64; }

/* The state lives in an abstract block's bytes: no finaliser needed. */
#define BLAKE2(v) ((struct blake2 *)(v))
value caml_blake2_create(value out, value key)
{
    ROOTS(1, &key);
    value v = fk_alloc((sizeof(struct blake2) + sizeof(value) - 1) / sizeof(value), TAG_ABSTRACT);
    blake2_init(BLAKE2(v), (unsigned)INT_VAL(out), (unsigned char *)key, key_length(key));
    return UNROOT(v);
}
value caml_blake2_update(value ctx, value s, value from, value n)
{
    blake2_add(BLAKE2(ctx), (unsigned char *)s + INT_VAL(from), INT_VAL(n));
    return VAL_UNIT;
}
value caml_blake2_final(value ctx, value out)
{
    struct blake2 s = *BLAKE2(ctx);
    return blake2_end(&s, INT_VAL(out));
}
value caml_blake2_bytes(value out, value key, value str, value from, value n)
{
    struct blake2 s;
    blake2_init(&s, (unsigned)INT_VAL(out), (unsigned char *)key, key_length(key));
    blake2_add(&s, (unsigned char *)str + INT_VAL(from), INT_VAL(n));
    return blake2_end(&s, INT_VAL(out));
}
value caml_blake2_string(value out, value key, value str, value from, value n)
{
    return caml_blake2_bytes(out, key, str, from, n);
}
