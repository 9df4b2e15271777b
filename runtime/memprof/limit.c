#include "limit.h"

#include <math.h>
#include <string.h>

enum { LEAST_FULL = 8, SECOND = 1000000000, DOUBLE_EVERY = SECOND / 32 };

/* A tenth of a second's worth: what may come at once. */
static double full(const fk_mp_limit *l)
{
    return fmax(l->per_second / 10, LEAST_FULL);
}

void fk_mp_limit_init(fk_mp_limit *l, double per_second)
{
    memset(l, 0, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    l->per_second = per_second;
    l->tokens = full(l);
}

static void fill(fk_mp_limit *l, uint64_t now)
{
    if (l->filled && now > l->filled)
        l->tokens = fmin(full(l), l->tokens + l->per_second * (double)(now - l->filled) / SECOND);
    if (now > l->filled)
        l->filled = now;
}

static int next_level(fk_mp_limit *l, int level, uint64_t now)
{
    double tokens = l->tokens, most = full(l);
    if (tokens >= 0.75 * most && level > 0 && now >= l->lowered + DOUBLE_EVERY) {
        l->lowered = now;
        return level - 1;
    }
    if (level < FK_MP_MAX_LEVEL && l->since > 0 && (tokens < 0 || (tokens < most / 2 && l->since >= most / 8))) {
        l->since = 0;
        l->lowered = now;
        return level + 1;
    }
    return level;
}

void fk_mp_limit_note(fk_mp_limit *l, unsigned samples, uint64_t now)
{
    if (l->per_second <= 0)
        return;
    pthread_mutex_lock(&l->lock);
    fill(l, now);
    l->tokens -= samples;
    l->since += samples;
    atomic_store_explicit(&l->level, next_level(l, fk_mp_limit_level(l), now), memory_order_relaxed);
    pthread_mutex_unlock(&l->lock);
}
