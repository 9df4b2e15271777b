/* value.h - how OCaml values look in memory (docs/runtime.md, "Values").
 *
 * Glossary
 *   value      a word: immediate (low bit 1) or the address of a block's field 0
 *   block      header word at -8, then wosize fields
 *   young      inside the nursery range of some domain
 *   static     emitted by the compiler into .data; never moved, never marked
 *
 *      63                 10 9   8 7    0
 *     +---------------------+-----+------+
 *     | wosize (fields)     | col | tag  |   header
 *     +---------------------+-----+------+
 */
#ifndef FK_RT_VALUE_H
#define FK_RT_VALUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef intptr_t value;
typedef uintptr_t header;

enum {
    TAG_FORCING = 244, TAG_CONT = 245, TAG_LAZY = 246, TAG_CLOSURE = 247, TAG_OBJECT = 248,
    TAG_INFIX = 249, TAG_FORWARD = 250, TAG_NO_SCAN = 251, TAG_ABSTRACT = 251, TAG_STRING = 252,
    TAG_DOUBLE = 253, TAG_DOUBLE_ARRAY = 254, TAG_CUSTOM = 255,
};

/* Colours. Blocks that the collector owns carry one of two live colours that
 * swap roles at each cycle; free slots of a pool and static data have their own. */
#define COLOR_MASK ((header)0x300)
#define COLOR_A ((header)0x000)
#define COLOR_B ((header)0x100)
#define COLOR_FREE ((header)0x200)
#define COLOR_STATIC ((header)0x300)

/* Nursery headers while a minor collection runs. wosize 0 never occurs in the
 * nursery, so neither value can be a header that code wrote. */
#define HEADER_FORWARDED ((header)0)
#define HEADER_LOCKED ((header)0x100)

#define MAX_YOUNG_WOSIZE 256
#define MAX_WOSIZE (((uintptr_t)1 << 54) - 1)

#define VAL_INT(n) ((value)(((uintptr_t)(intptr_t)(n) << 1) | 1))
#define INT_VAL(v) ((intptr_t)(v) >> 1)
#define VAL_UNIT VAL_INT(0)
#define VAL_FALSE VAL_INT(0)
#define VAL_TRUE VAL_INT(1)
#define VAL_NONE VAL_INT(0)
#define VAL_EMPTYLIST VAL_INT(0)
#define VAL_BOOL(b) VAL_INT((b) ? 1 : 0)

static inline bool is_int(value v) { return v & 1; }
static inline bool is_block(value v) { return !(v & 1); }

#define FIELD(v, i) (((value *)(v))[i])
/* Fields that several threads may read and write at once. */
static inline value field_load(value *p)
{
    return atomic_load_explicit((_Atomic value *)p, memory_order_relaxed);
}
static inline void field_store(value *p, value v)
{
    atomic_store_explicit((_Atomic value *)p, v, memory_order_relaxed);
}
#define HD(v) (((header *)(v))[-1])
/* Headers that several collector threads may read and write at once. */
#define HD_ATOMIC(v) ((_Atomic header *)((header *)(v) - 1))

static inline header make_header(uintptr_t wosize, unsigned tag, header color)
{
    return ((header)wosize << 10) | color | tag;
}
static inline uintptr_t hd_wosize(header h) { return h >> 10; }
static inline unsigned hd_tag(header h) { return h & 0xFF; }
static inline header hd_color(header h) { return h & COLOR_MASK; }

static inline uintptr_t wosize_of(value v) { return hd_wosize(HD(v)); }
static inline unsigned tag_of(value v) { return hd_tag(HD(v)); }

/* The last byte of a string block tells how many pad bytes precede it. */
static inline uintptr_t string_length(value v)
{
    uintptr_t last = wosize_of(v) * sizeof(value) - 1;
    return last - ((unsigned char *)v)[last];
}

static inline double double_of(value v)
{
    double d;
    memcpy(&d, (void *)v, sizeof d);
    return d;
}
static inline double double_field(value v, uintptr_t i)
{
    double d;
    memcpy(&d, (double *)v + i, sizeof d);
    return d;
}
static inline void set_double_field(value v, uintptr_t i, double d)
{
    memcpy((double *)v + i, &d, sizeof d);
}

/* Closure word 1: arity in the top byte, then the word where the environment starts. */
static inline uintptr_t closinfo_start_env(value info)
{
    return ((uintptr_t)info << 8) >> 9;
}

/* C pointers kept in the OCaml world are tagged so that no collector follows them. */
static inline value tag_ptr(const void *p) { return (value)p + 1; }
static inline void *untag_ptr(value v) { return (void *)(v - 1); }

/* Result of a call into OCaml: a value, or an exception bucket OR 2. */
static inline bool is_exn_result(value v) { return (v & 3) == 2; }
static inline value exn_of_result(value v) { return v & ~(value)3; }
static inline value make_exn_result(value exn) { return exn | 2; }

/* Custom blocks: word 0 points at this (public layout of caml/custom.h). */
struct custom_fixed_length {
    intptr_t bsize_32, bsize_64;
};
struct custom_operations {
    const char *identifier;
    void (*finalize)(value v);
    int (*compare)(value a, value b);
    intptr_t (*hash)(value v);
    void (*serialize)(value v, uintptr_t *bsize_32, uintptr_t *bsize_64);
    uintptr_t (*deserialize)(void *dst);
    int (*compare_ext)(value a, value b);
    const struct custom_fixed_length *fixed_length;
};
#define CUSTOM_OPS(v) (*(const struct custom_operations **)(v))
#define CUSTOM_DATA(v) ((void *)((value *)(v) + 1))

#endif
