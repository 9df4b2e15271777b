/* frames.h - walking OCaml frames through libframetable's index. */
#ifndef FK_RT_FRAMES_H
#define FK_RT_FRAMES_H

#include "framekit/frametable.h"
#include "runtime/fiber.h"

/* One position in a fiber. For each OCaml frame, innermost first:
 *
 *   sp   S of the frame: live stack entries are sp + offset
 *   ra   return address into the frame's code, the key of `descr`
 *   regs save area that holds live registers (only at GC points) */
struct walk {
    struct fiber *fiber;
    char *sp;
    uintptr_t ra, previous; /* previous: the frame visited before, 0 at the first */
    value *regs;
    fk_descr descr;
    bool found;      /* false: ra has no descriptor; the walk cannot go on */
    char *chunk_end; /* after a return-to-C frame: the prefix that was skipped */
};

void fk_frames_init(void);
/* Adds tables (dynlink, tests). */
bool fk_frame_find(uintptr_t ra, fk_descr *out);
uint64_t fk_frames_count(void);

void fk_walk_start(struct walk *, struct fiber *, value *regs);
/* The next frame of this fiber; false at its end. Frames below a callback from
 * C are included; the parent fiber is not. */
bool fk_walk_next(struct walk *);
/* A frame of size 0 is its own caller. arm64's code has them where a bound check fails in a
 * function that keeps no return address: such a stack cannot be scanned. */
bool fk_walk_stuck(const struct walk *);

#endif
