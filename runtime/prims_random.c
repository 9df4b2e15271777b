/* prims_random.c - one step of the LXM generator behind Random.
 *
 * L64X128 of Steele and Vigna (2021): a linear congruential generator of 64
 * bits, an xoroshiro128 of 128, and David Stafford's mix of their sum. The
 * state is a Bigarray of four int64: increment, lcg, x0, x1. */
#include "runtime/gc.h"

static uint64_t rotl(uint64_t x, int k) { return x << k | x >> (64 - k); }

int64_t caml_lxm_next_unboxed(value state)
{
    uint64_t *st = *(uint64_t **)CUSTOM_DATA(state);
    uint64_t q0 = st[2], q1 = st[3], z = st[1] + q0;
    z = (z ^ z >> 32) * 0xdaba0b6eb09322e3u;
    z = (z ^ z >> 32) * 0xdaba0b6eb09322e3u;
    z = z ^ z >> 32;
    st[1] = st[1] * 0xd1342543de82ef95u + st[0];
    q1 ^= q0;
    st[2] = rotl(q0, 24) ^ q1 ^ q1 << 16;
    st[3] = rotl(q1, 37);
    return (int64_t)z;
}
value caml_lxm_next(value state) { return fk_copy_int64(caml_lxm_next_unboxed(state)); }
