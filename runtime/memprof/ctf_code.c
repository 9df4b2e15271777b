/* ctf_code.c - how a trace stores a backtrace: its difference from the previous
 * one, as references into a table that the reader rebuilds.
 *
 *   code word   15 ........ 2   1 0
 *               slot            tag
 *   tag 0   the slot's code
 *       1   ... and one more frame, from the slot's `next`
 *       2   ... and N more (one byte follows), from next to next
 *       3   not in the table: 8 bytes of code follow and fill the slot
 */
#include "ctf.h"

#include <string.h>

enum { ONE, TWO, MANY, MISS, MAX_RUN = 255, WORD_BYTES = 2 + 8 };

static unsigned hash(uint64_t code, uint64_t factor)
{
    return (unsigned)((code * factor) >> (64 - 14));
}

/* The slot of a code: of its two places the one that has it, else the older. */
static unsigned find_slot(fk_ctf_cache *c, uint64_t code)
{
    unsigned a = hash(code, 0x9E3779B97F4A7C15u), b = hash(code, 0xC2B2AE3D27D4EB4Fu);
    if (c->value[a] == code)
        return a;
    if (c->value[b] == code)
        return b;
    return c->used[a] <= c->used[b] ? a : b;
}

/* Frames after codes[0] that the table predicts from `slot`. */
static size_t predicted(fk_ctf_cache *c, unsigned *slot, const uint64_t *codes, size_t left)
{
    size_t n = 0;
    while (n < left && n < MAX_RUN && c->value[c->next[*slot]] == codes[n]) {
        *slot = c->next[*slot];
        c->used[*slot] = c->clock;
        n++;
    }
    return n;
}

static uint8_t *put_word(uint8_t *p, unsigned slot, unsigned tag)
{
    unsigned w = slot << 2 | tag;
    *p++ = (uint8_t)w;
    *p++ = (uint8_t)(w >> 8);
    return p;
}

static uint8_t *put_miss(uint8_t *p, unsigned slot, uint64_t code)
{
    p = put_word(p, slot, MISS);
    for (int i = 0; i < 8; i++)
        *p++ = (uint8_t)(code >> 8 * i);
    return p;
}

static size_t common_prefix(const fk_ctf_cache *c, const uint64_t *codes, size_t depth)
{
    size_t n = 0;
    while (n < depth && n < c->last_depth && c->last[n] == codes[n])
        n++;
    return n;
}

size_t fk_ctf_encode(fk_ctf_cache *c, const uint64_t *codes, size_t depth, uint8_t *out, size_t *common,
                     size_t *words)
{
    uint8_t *p = out;
    unsigned predictor = 0;
    size_t i = *common = common_prefix(c, codes, depth);
    *words = 0;
    c->clock++;
    while (i < depth && p + WORD_BYTES <= out + FK_CTF_CODE_BYTES) {
        unsigned slot = find_slot(c, codes[i]);
        c->next[predictor] = (uint16_t)slot;
        c->used[slot] = c->clock;
        predictor = slot;
        ++*words;
        if (c->value[slot] != codes[i]) {
            p = put_miss(p, slot, codes[i]);
            c->value[slot] = codes[i++];
            continue;
        }
        size_t run = predicted(c, &predictor, codes + i + 1, depth - i - 1);
        p = put_word(p, slot, run == 0 ? ONE : run == 1 ? TWO : MANY);
        if (run > 1)
            *p++ = (uint8_t)run;
        i += 1 + run;
    }
    memcpy(c->last + *common, codes + *common, (i - *common) * sizeof *codes);
    c->last_depth = i;
    return (size_t)(p - out);
}
