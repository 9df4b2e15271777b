/* table.h - the tracked blocks of one profile, in order of allocation.
 *
 *   block[]   the tracked block (weak), or the word offset of its header in a
 *             combined allocation that is not placed yet (OFFSET), or UNIT
 *   datum[]   what the last callback returned (a strong root)
 *   state[]   where the entry stands
 *   info[]    only in a thread's table: what its alloc callback will be told
 *
 *   0 ........ active ........ young ........ size ........ capacity
 *              first entry     first entry
 *              with a callback with a young
 *              that is due     block or datum
 *
 * 18 bytes an entry in a domain's table. Entries never change their order:
 * callbacks run in order of allocation. A deleted entry stays as a hole until
 * the table is packed.
 *
 * A running entry (its callback is active in some thread) may move inside the
 * table or to another one; fk_mp_run is the runner's view of it and follows.
 */
#ifndef FK_MEMPROF_TABLE_H
#define FK_MEMPROF_TABLE_H

#include "host.h"
#include "profile.h"

/* State bits. The last three bits of the first group say which callbacks have
 * begun: each kind begins at most once for an entry. */
enum {
    FK_MP_MAJOR = 1 << 0,        /* born in the major heap, or promoted */
    FK_MP_PROMOTED = 1 << 1,
    FK_MP_DEAD = 1 << 2,
    FK_MP_BEGUN_ALLOC = 1 << 3,
    FK_MP_BEGUN_PROMOTE = 1 << 4,
    FK_MP_BEGUN_DEALLOC = 1 << 5,
    FK_MP_RUNNING = 1 << 6,
    FK_MP_DELETED = 1 << 7,
    FK_MP_OFFSET = 1 << 8,
    FK_MP_UNSURE = 1 << 9,       /* its minor fate is not decided yet */
};

typedef enum { FK_MP_CB_NONE, FK_MP_CB_ALLOC, FK_MP_CB_PROMOTE, FK_MP_CB_DEALLOC } fk_mp_callback;

typedef struct {
    size_t samples, wosize;
    fk_mp_slot *slots; /* owned; NULL: empty callstack */
    uint32_t depth;
    uint8_t source;
} fk_mp_info;

typedef struct fk_mp_table fk_mp_table;

/* The runner's view of its running entry. */
typedef struct fk_mp_run {
    fk_mp_table *table; /* NULL: nothing runs, or the entry is gone */
    size_t index;
    struct fk_mp_run *next;
} fk_mp_run;

struct fk_mp_table {
    fk_mp_profile *profile; /* of all entries; NULL: none yet (and no entry) */
    fk_mp_value tracker;    /* strong root */
    size_t size, active, young;
    size_t capacity, min_capacity;
    fk_mp_value *block, *datum;
    uint16_t *state;
    fk_mp_info *info;       /* NULL in domain and orphan tables */
    size_t keep;            /* capacity that is not given back; halved by each collection */
    size_t holes;           /* deleted entries */
    size_t unsure;          /* entries with UNSURE */
    unsigned pins;          /* passes that are walking it */
    bool has_info, boxed;   /* boxed: some datum may be a block */
    fk_mp_run *runs;
    struct fk_mp_table *next; /* orphans */
};

void fk_mp_table_init(fk_mp_table *, size_t min_capacity, bool has_info);
/* Drops everything; a running entry's runner sees table == NULL. */
void fk_mp_table_clear(fk_mp_table *);
/* The profile and tracker of an empty table. Takes its own reference. */
void fk_mp_table_set_profile(fk_mp_table *, fk_mp_profile *, fk_mp_value tracker);
/* No entries are wanted any more: there is no profile, or it was discarded. */
bool fk_mp_table_is_void(const fk_mp_table *);
/* Deletes all but running entries of a void table. */
void fk_mp_table_validate(fk_mp_table *);

/* Room for `n` more; false: out of memory, nothing changed. */
bool fk_mp_table_reserve(fk_mp_table *, size_t n);
/* Appends; room was reserved. Returns the index. `info` is copied (its slots
 * change owner), NULL in a table without info. */
size_t fk_mp_table_add(fk_mp_table *, fk_mp_value block, uint16_t state, const fk_mp_info *info);
void fk_mp_table_delete(fk_mp_table *, size_t index);
/* Deletes entries whose allocation was never reported. */
void fk_mp_table_forget_unreported(fk_mp_table *);
void fk_mp_table_set_datum(fk_mp_table *, size_t index, fk_mp_value datum);
/* Removes holes and gives memory back. */
void fk_mp_table_pack(fk_mp_table *);

typedef bool (*fk_mp_keep_fn)(const fk_mp_table *, size_t index);
/* Moves the entries that `keep` does not want from `from` to the end of `to`
 * (with their runners, without their info) and packs `from`. On lack of
 * memory nothing moves and false is returned. */
bool fk_mp_table_move(fk_mp_table *from, fk_mp_table *to, fk_mp_keep_fn keep);

/* The callback that is due next; ALLOC only in a table with info. */
fk_mp_callback fk_mp_table_due(const fk_mp_table *, size_t index);
/* An entry at `index` has something to do. */
static inline void fk_mp_table_activate(fk_mp_table *t, size_t index)
{
    if (index < t->active)
        t->active = index;
}

/* --- runners --- */
void fk_mp_run_begin(fk_mp_run *, fk_mp_table *, size_t index);
void fk_mp_run_end(fk_mp_run *);

/* --- collector ------------------------------------------------------------- */
typedef void (*fk_mp_root_fn)(void *data, fk_mp_value v, volatile fk_mp_value *p);
typedef enum { FK_MP_ROOTS_YOUNG, FK_MP_ROOTS_ALL, FK_MP_ROOTS_WEAK } fk_mp_roots;
/* YOUNG: roots that may be young; ALL: every strong root; WEAK: tracked blocks too. */
void fk_mp_table_scan(fk_mp_table *, fk_mp_root_fn, void *data, fk_mp_roots);
void fk_mp_table_after_minor(fk_mp_table *, fk_mp_host *);
void fk_mp_table_after_major(fk_mp_table *);
/* Asks again, and finally, for the fate of unsure entries. */
void fk_mp_table_decide(fk_mp_table *, fk_mp_host *);

/* Structural invariants; for tests and debug builds. */
bool fk_mp_table_is_valid(const fk_mp_table *);

#endif
