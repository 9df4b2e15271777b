/* frames.c - from a suspended stack pointer to its frames (docs/runtime.md).
 *
 *   sp saved by a stub     first frame: S = sp + first_frame
 *   return address of S    at S + ra_offset: *(S-8), or *(S+16) on power
 *   descriptor 0xFFFF      return to C: the stub's prefix follows, then either
 *                          the end of the fiber or the frames that called C
 */
#include "runtime/frames.h"

#include <stdlib.h>

#include "runtime/fail.h"

extern const uintptr_t caml_frametable[];
extern char __executable_start[], etext[], _end[]; /* of the program: the linker's */

static fk_index *frame_index;

void fk_frames_init(void)
{
    size_t n = 0;
    while (caml_frametable[n])
        n++;
    /* Not an initialiser: as data it would be a dynamic relocation to a symbol whose value may be 0,
     * which the loader takes for undefined. */
    fk_native_limits limits;
    limits.data_end = _end;
    limits.code = __executable_start;
    limits.code_end = etext;
    fk_error err;
    if (fk_index_build_native((const void *const *)caml_frametable, n, FK_GEN_C, fk_here, &limits,
                              &frame_index, &err) != FK_OK)
        fk_fatal("a frametable of this program cannot be read: %s", err.message);
}

uint64_t fk_frames_count(void) { return fk_index_count(frame_index); }

bool fk_frame_find(uintptr_t ra, fk_descr *out)
{
    return fk_index_lookup(frame_index, ra, out) == FK_OK;
}

static void at_first_frame(struct walk *w)
{
    w->sp += fk_here->first_frame;
    w->ra = *(uintptr_t *)(w->sp + fk_here->ra_offset);
}

void fk_walk_start(struct walk *w, struct fiber *f, value *regs)
{
    *w = (struct walk){.fiber = f, .sp = f->sp, .regs = regs, .found = true};
    if (w->sp != fiber_high(f))
        at_first_frame(w);
}

/* From the frame just visited to its caller. */
static void step(struct walk *w)
{
    w->previous = w->ra;
    w->sp += w->descr.frame_size;
    w->ra = w->sp > fiber_high(w->fiber) ? 0 : *(uintptr_t *)(w->sp + fk_here->ra_offset);
}

static bool cross_callback(struct walk *w)
{
    w->regs = *(value **)(w->sp + fk_here->header_gc_regs);
    w->sp += fk_here->header_size;
    w->chunk_end = w->sp;
    if (w->sp == fiber_high(w->fiber))
        return false;
    at_first_frame(w);
    return true;
}

bool fk_walk_stuck(const struct walk *w)
{
    return w->found && w->descr.frame_size == 0 && !(w->descr.flags & FK_DESCR_RETURN_TO_C);
}

bool fk_walk_next(struct walk *w)
{
    if (!w->found || w->sp == fiber_high(w->fiber))
        return false;
    if (w->descr.frame_size)
        step(w);
    for (;;) {
        w->found = fk_frame_find(w->ra, &w->descr);
        if (!w->found || !(w->descr.flags & FK_DESCR_RETURN_TO_C))
            return true;
        if (!cross_callback(w))
            return false;
    }
}
