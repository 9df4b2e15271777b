/* host.h - all that the profiler asks of a runtime.
 *
 * The engine (engine.c, table.c, profile.c) knows no heap, no object layout
 * and no thread library. A host implements the functions below and calls the
 * entry points of engine.h. There are two: host_framekit.c (our runtime) and
 * host_ocaml.c (the real OCaml 5.3 and 5.4). A host is usually compiled in one
 * unit with the engine, so that these calls are inlined.
 *
 * Vocabulary
 *   host       the runtime's state of one domain (opaque to the engine)
 *   value      a word: immediate (low bit 1) or a pointer to a block's first field
 *   young      inside the nursery of any domain
 *   words      8 bytes; sizes of heap objects are in words
 *   nursery    allocation goes downwards: start <= trigger <= ptr; a request
 *              of n words lowers ptr by n before it compares with the limit,
 *              which is the larger of the collector's trigger and the sample
 *              trigger
 *
 * All calls are made by a thread that owns its domain, or inside a
 * stop-the-world section by the one that works for it.
 */
#ifndef FK_MEMPROF_HOST_H
#define FK_MEMPROF_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef intptr_t fk_mp_value;
typedef intptr_t fk_mp_slot; /* one frame of a callstack, in the host's encoding */
typedef struct fk_mp_host fk_mp_host;

#define FK_MP_UNIT ((fk_mp_value)1)

static inline bool fk_mp_is_block(fk_mp_value v)
{
    return (v & 1) == 0;
}

typedef struct {
    bool is_exception;
    fk_mp_value value;
} fk_mp_result;

typedef struct {
    uintptr_t *start, *ptr; /* ptr: lowest word in use */
} fk_mp_young;

/* What a minor collection did to a young block. */
typedef enum {
    FK_MP_DIED,
    FK_MP_MOVED,     /* *moved is its new address, outside the nursery */
    FK_MP_UNDECIDED, /* another domain may still promote it: asked again later */
    FK_MP_LOST,      /* nobody knows any more: it is not followed further */
} fk_mp_fate;

/* What the profiler knows about a sampled block when its callback runs. */
typedef struct {
    size_t samples, wosize;
    uint8_t source; /* the host's numbers; 0: a normal allocation */
    size_t depth;   /* callstack slots, innermost first */
    const fk_mp_slot *slots;
    double rate;    /* at which it was sampled; callbacks in C only */
} fk_mp_allocation;

/* --- nursery --------------------------------------------------------------- */
fk_mp_young fk_host_young(fk_mp_host *);
void fk_host_set_young_ptr(fk_mp_host *, uintptr_t *ptr);
uintptr_t *fk_host_sample_trigger(fk_mp_host *);
/* Sets the sample trigger and lets the limit follow; must not lose a pending
 * interrupt. start <= trigger. */
void fk_host_set_sample_trigger(fk_mp_host *, uintptr_t *trigger);
/* The trigger alone: the caller of the engine resets the limit itself. */
void fk_host_store_sample_trigger(fk_mp_host *, uintptr_t *trigger);
/* Makes `words` words free above the collector's trigger (may collect, runs
 * no callbacks). On return ptr - words >= collector's trigger. */
void fk_host_make_room(fk_mp_host *, size_t words);

/* --- heap ------------------------------------------------------------------ */
bool fk_host_is_young(fk_mp_value block);
/* After a minor collection. `final`: mutators run again, no answer but
 * MOVED, DIED or LOST; else the host may say UNDECIDED when it is called before every
 * domain has finished. */
fk_mp_fate fk_host_minor_fate(fk_mp_host *, fk_mp_value block, bool final, fk_mp_value *moved);
/* Valid between the end of marking and the change of colours. */
bool fk_host_is_unmarked(fk_mp_value block);

/* --- callbacks ------------------------------------------------------------- */
/* Field `n` of the tracker record: alloc_minor, alloc_major, promote,
 * dealloc_minor, dealloc_major. */
fk_mp_value fk_host_tracker(fk_mp_value tracker, int n);
/* Calls `closure` with a fresh record {samples, size, source, callstack}. */
fk_mp_result fk_host_call_alloc(fk_mp_value closure, const fk_mp_allocation *);
fk_mp_result fk_host_call(fk_mp_value closure, fk_mp_value argument);
/* An option as a callback returned it: false for None, else *some. */
bool fk_host_option(fk_mp_value option, fk_mp_value *some);
/* Makes the next safe point of this domain call fk_mp_run_callbacks. */
void fk_host_set_pending(fk_mp_host *);
/* The safe point is a poll or an allocation of compiled code, which must stay
 * short. false: a primitive asked for what is pending, and gets all of it. */
bool fk_host_in_compiled_code(fk_mp_host *);

/* One frame of a slot. Strings live as long as the program. */
typedef struct {
    const char *function, *file; /* NULL: unknown */
    int line;                    /* 0: unknown */
    int start_char, end_char;    /* columns, from the beginning of that line */
    uintptr_t address;           /* code address, 0: unknown */
} fk_mp_frame;

/* Nanoseconds since some moment, never going back. */
uint64_t fk_host_now(void);

/* --- callstacks ------------------------------------------------------------ */
/* Captures at most `limit` slots, innermost first, into a buffer of the host
 * that stays as it is until the next call: *slots. alloc_index >= 0: slot 0
 * describes that block of the combined allocation. Touches no heap. Returns
 * the depth, 0 on failure. */
size_t fk_host_callstack(fk_mp_host *, size_t limit, ptrdiff_t alloc_index, const fk_mp_slot **slots);

/* The frames of a slot, innermost inlined first: *cursor is NULL before the
 * first call; false after the last frame. A slot has at least one frame. */
bool fk_host_frame(fk_mp_slot, void **cursor, fk_mp_frame *out);

#endif
