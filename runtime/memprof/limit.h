/* limit.h - at most so many samples a second.
 *
 * Samples take tokens from a bucket that fills with time. The rate is halved
 * when the bucket runs low and doubled again when it is nearly full:
 *
 *     full ......... 3/4 ......... 1/2 ......... 0 ......... debt
 *          doubled         as it is      halved      halved
 *          every 1/32 s                  now and     at every
 *                                        then        sample
 *
 * Each sample is reported with the rate it was drawn at, and a rate depends
 * on the past only, so estimates (1 / rate words a sample) have no bias.
 */
#ifndef FK_MEMPROF_LIMIT_H
#define FK_MEMPROF_LIMIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct {
    double per_second;   /* 0: no limit */
    double tokens;
    uint64_t filled, lowered; /* when, nanoseconds */
    unsigned since;      /* samples since the last halving */
    pthread_mutex_t lock; /* of the four above */
    _Atomic int level;   /* the rate is halved so often */
} fk_mp_limit;

enum { FK_MP_MAX_LEVEL = 60 };

void fk_mp_limit_init(fk_mp_limit *, double per_second);
/* `samples` were reported at time `now` (0: look at the clock only). */
void fk_mp_limit_note(fk_mp_limit *, unsigned samples, uint64_t now);

static inline int fk_mp_limit_level(const fk_mp_limit *l)
{
    return atomic_load_explicit(&l->level, memory_order_relaxed);
}

#endif
