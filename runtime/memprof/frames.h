/* frames.h - distinct frames of a profile, numbered from 0. */
#ifndef FK_MEMPROF_FRAMES_H
#define FK_MEMPROF_FRAMES_H

#include "record.h"

typedef struct {
    fk_mp_frame *frame;
    size_t size, capacity;
    uint32_t *index; /* open addressing: number + 1; 0 is free */
    size_t mask;
} fk_mp_frames;

/* False: no memory. */
bool fk_mp_frames_init(fk_mp_frames *);
void fk_mp_frames_free(fk_mp_frames *);
/* The frame's number; equal function, file and line give equal numbers. On
 * lack of memory the number is that of some other frame (0). */
size_t fk_mp_frames_number(fk_mp_frames *, const fk_mp_frame *);

/* Calls `emit` for each frame of a site, outermost first, inlined ones
 * spelled out; at least once: a site without callstack has one made-up frame. */
typedef void (*fk_mp_frame_fn)(void *arg, const fk_mp_frame *, bool first);
void fk_mp_each_frame(const fk_mp_site *, fk_mp_frame_fn emit, void *arg);

#endif
