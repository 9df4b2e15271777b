/* record.h - profiles without code: allocated and live memory by callstack.
 *
 * The recorder is a set of C hooks (profile.h). It keeps one site per
 * distinct callstack (and rate, which a limit may change) and adds up, weighted so that the sums estimate what the
 * program did:
 *
 *     words     each sampled word stands for 1 / rate words
 *     blocks    a block of w words is sampled at all with probability
 *               1 - (1 - rate)^w, and stands for the inverse
 *
 * Memory is bounded: when there are too many sites or slots, new callstacks
 * are added to "(other)". Any domain may call at any time: one mutex.
 */
#ifndef FK_MEMPROF_RECORD_H
#define FK_MEMPROF_RECORD_H

#include <pthread.h>
#include <stdio.h>

#include "profile.h"

typedef struct {
    const fk_mp_slot *slots; /* innermost first */
    uint32_t depth;
    uint32_t hash;
    double alloc_bytes, alloc_blocks, live_bytes, live_blocks; /* estimates */
    uint64_t samples;                                          /* sampled words, exact */
    double rate;                                               /* of all its samples */
} fk_mp_site;

typedef struct {
    fk_mp_hooks hooks;
    pthread_mutex_t lock;
    double rate;       /* the highest */
    fk_mp_site *sites; /* the first ones are "(other)", one for each rate */
    size_t num_sites, max_sites, num_slots, max_slots;
    uint32_t *index;   /* open addressing: site number + 1; 0 is free */
    size_t mask;
} fk_mp_recorder;

/* NULL: no memory. Rate in samples per word. */
fk_mp_recorder *fk_mp_recorder_new(double rate, size_t max_sites, size_t max_slots);
void fk_mp_recorder_free(fk_mp_recorder *);

/* --- exports: false when writing failed (errno tells) --- */
typedef bool (*fk_mp_export_fn)(fk_mp_recorder *, FILE *);
/* pprof: a Profile message of github.com/google/pprof's profile.proto, not
 * compressed (readers take both). Four values a sample: alloc_objects,
 * alloc_space, inuse_objects, inuse_space. */
bool fk_mp_export_pprof(fk_mp_recorder *, FILE *);
/* Folded stacks: "outermost;...;innermost BYTES" of allocated, or live, bytes. */
bool fk_mp_export_folded(fk_mp_recorder *, FILE *);
bool fk_mp_export_folded_live(fk_mp_recorder *, FILE *);
/* speedscope's file format: two profiles, allocated and live bytes. */
bool fk_mp_export_speedscope(fk_mp_recorder *, FILE *);
/* By name: "pprof" "folded" "folded-live" "speedscope"; NULL: unknown. */
fk_mp_export_fn fk_mp_export_by_name(const char *name);

/* The name a person reads: function, else file, else address. */
void fk_mp_frame_name(const fk_mp_frame *, char *buf, size_t size);

#endif
