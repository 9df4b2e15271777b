/* profile.h - what one `start` asked for: shared by all domains that sample
 * for it. It lives on the C heap and is reference counted, so that a
 * collector may read it while it moves the heap. */
#ifndef FK_MEMPROF_PROFILE_H
#define FK_MEMPROF_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "host.h"
#include "limit.h"

/* Callbacks in C (layers.c). They must not raise, must not touch the heap and
 * must not let another thread run. A datum is an immediate value. */
typedef struct {
    /* false: the block is not tracked any further, else *datum is set */
    bool (*alloc)(void *arg, const fk_mp_allocation *, bool major, fk_mp_value *datum);
    bool (*promote)(void *arg, fk_mp_value *datum);
    void (*dealloc)(void *arg, fk_mp_value datum, bool major);
    void *arg;
} fk_mp_hooks;

typedef enum { FK_MP_SAMPLING, FK_MP_STOPPED, FK_MP_DISCARDED } fk_mp_status;

typedef struct {
    _Atomic int status; /* fk_mp_status, only ever rises */
    _Atomic int refs;
    _Atomic int domains; /* that have it as their current profile */
    double rate;         /* samples per word, 0..1 */
    size_t depth;        /* callstack limit, slots */
    const fk_mp_hooks *hooks; /* NULL: closures of the tracker */
    uint64_t seed;            /* with hooks: of the domains' generators */
    _Atomic uint64_t streams; /* generators seeded so far */
    fk_mp_limit limit;        /* with hooks */
} fk_mp_profile;

/* NULL: out of memory. The caller owns one reference. */
fk_mp_profile *fk_mp_profile_new(double rate, size_t depth, const fk_mp_hooks *);
fk_mp_profile *fk_mp_profile_ref(fk_mp_profile *); /* NULL stays NULL */
void fk_mp_profile_unref(fk_mp_profile *);

/* A domain takes it as its current profile, or lets go. When the last domain
 * lets go of a sampling profile it is stopped: it could never fire again, and
 * a sampling profile cannot be discarded. */
void fk_mp_profile_enter(fk_mp_profile *);
void fk_mp_profile_leave(fk_mp_profile *);

fk_mp_status fk_mp_profile_status(const fk_mp_profile *);
/* Moves from `from` to `to`; false when it was not in `from`. */
bool fk_mp_profile_move(fk_mp_profile *, fk_mp_status from, fk_mp_status to);

#endif
