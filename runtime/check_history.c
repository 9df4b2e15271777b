/* check_history.c - where blocks were made, where they moved, when they died: for reports.
 *
 *   taken    per domain: what each point took of the nursery since it was emptied, and who asked
 *   past     a ring: the blocks of emptied nurseries, newest last
 *   present  sets of entries by address: the blocks of the major heap
 *
 *   point -> taken --minor collection--> past (all), present (survivors) --compaction--> present
 *
 * Blocks are told apart when their nursery is emptied, not when they are made: then their headers
 * are written. Everything has a fixed size but `taken`, which the nursery limits; what was pushed
 * out is not known any more, and a report says nothing of it. */
#include "runtime/check_history.h"

#include <stdlib.h>

#include "runtime/fail.h"
#include "runtime/fiber.h"

enum { PAST = 1 << 16, SETS = 1 << 14, WAYS = 4 };

static struct history *past;             /* [PAST] */
static uint64_t past_used;
static struct history (*present)[WAYS];  /* [SETS] */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fk_history_init(void)
{
    past = calloc(PAST, sizeof *past);
    present = calloc(SETS, sizeof *present);
    if (!past || !present)
        fk_fatal("out of memory: the history of blocks");
}

/* --- present ------------------------------------------------------------------------------- */

static struct history *set_of(value v)
{
    return present[((uintptr_t)v >> 3) * 0x9E3779B97F4A7C15 >> 32 & (SETS - 1)];
}

/* The entry of this address, or the one that was written longest ago. */
static struct history *entry_for(value v)
{
    struct history *set = set_of(v), *oldest = set;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].at == v)
            return &set[i];
        if (set[i].collection < oldest->collection)
            oldest = &set[i];
    }
    return oldest;
}

bool fk_history_present(value v, struct history *out)
{
    if (!present)
        return false;
    struct history *e = entry_for(v);
    *out = *e;
    return e->at == v;
}

static void settle(const struct history *h)
{
    *entry_for(h->at) = *h;
}

/* --- who asks ------------------------------------------------------------------------------- */

/* C was called by the first frame of the running fiber; 0: by nobody that has frames. */
static uintptr_t caller_of_c(const struct domain *d)
{
    struct walk w;
    if (!d->st.current_stack)
        return 0;
    fk_walk_start(&w, d->st.current_stack, NULL);
    return w.ra;
}

/* A record of `taken`: start, words, return address, by C. */
enum { TAKEN_WORDS = 4 };

static void took(struct domain *d, uintptr_t words, uintptr_t ra, bool by_c)
{
    words_push(&d->taken, (uintptr_t)d->st.young_ptr);
    words_push(&d->taken, words);
    words_push(&d->taken, ra);
    words_push(&d->taken, by_c);
}

void fk_history_took(struct domain *d, uintptr_t words, uintptr_t ra) { took(d, words, ra, false); }
void fk_history_took_c(struct domain *d, uintptr_t words) { took(d, words, caller_of_c(d), true); }

void fk_history_major(struct domain *d, value v)
{
    struct history h = {.at = v, .hd = HD(v), .ra = caller_of_c(d), .by_c = true,
                        .collection = fk_minor_count};
    pthread_mutex_lock(&lock);
    settle(&h);
    pthread_mutex_unlock(&lock);
}

/* --- moves ------------------------------------------------------------------------------------ */

/* One block of an emptied nursery; its wosize. */
static uintptr_t leave_nursery(value v, const uintptr_t *t)
{
    struct history h = {.at = v, .hd = HD(v), .ra = t[2], .by_c = t[3],
                        .collection = fk_minor_count};
    if (h.hd == HEADER_FORWARDED) {
        h.to = FIELD(v, 0);
        h.hd = HD(h.to);
    }
    past[past_used++ % PAST] = h;
    if (h.to) {
        h.from = h.at, h.at = h.to, h.to = 0;
        settle(&h);
    }
    return hd_wosize(h.hd);
}

/* A header may never have been written: an exception came first. */
static bool is_written(value v, uintptr_t words)
{
    header hd = HD(v);
    if (hd == HEADER_FORWARDED)
        return fk_heap_is_block(FIELD(v, 0));
    return hd_wosize(hd) > 0 && hd_wosize(hd) < words;
}

static void leave_taken(const uintptr_t *t)
{
    for (uintptr_t i = 0; i + 1 < t[1];) {
        value v = (value)((value *)t[0] + i + 1);
        if (!is_written(v, t[1] - i))
            return;
        i += leave_nursery(v, t) + 1;
    }
}

void fk_history_emptied(struct domain *d)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < d->taken.size; i += TAKEN_WORDS)
        leave_taken(d->taken.data + i);
    pthread_mutex_unlock(&lock);
    d->taken.size = 0;
}

/* By the leader of a compaction, alone. */
void fk_history_moved(value from, value to)
{
    struct history h;
    if (!fk_history_present(from, &h))
        h = (struct history){.hd = HD(to)};
    h.from = from, h.at = to, h.to = 0, h.collection = fk_minor_count;
    settle(&h);
}

/* --- questions, while a report is made: no lock ---------------------------------------------- */

static bool covers(value v, header hd, uintptr_t a)
{
    return a >= (uintptr_t)v - sizeof(value) && a < (uintptr_t)v + hd_wosize(hd) * sizeof(value);
}

static bool find_past(uintptr_t a, uint64_t until, struct history *out)
{
    uint64_t oldest = past_used > PAST ? past_used - PAST : 0;
    for (uint64_t i = past_used; i-- > oldest;) {
        const struct history *h = &past[i % PAST];
        if (h->collection <= until && covers(h->at, h->hd, a)) {
            *out = *h;
            return true;
        }
    }
    return false;
}

/* The newest block that compaction moved away from there. */
static bool find_compacted(uintptr_t a, uint64_t until, struct history *out)
{
    *out = (struct history){0};
    for (size_t i = 0; i < (size_t)SETS * WAYS; i++) {
        const struct history *h = &present[0][i];
        if (h->from && h->collection <= until && h->collection >= out->collection &&
            covers(h->from, h->hd, a))
            *out = *h;
    }
    if (out->at)
        out->to = out->at, out->at = out->from, out->from = 0;
    return out->at != 0;
}

bool fk_history_past(uintptr_t a, uint64_t until, struct history *out)
{
    return past && (is_young((value)a) ? find_past(a, until, out) : find_compacted(a, until, out));
}
