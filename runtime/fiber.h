/* fiber.h - the stacks that OCaml code runs on.
 *
 *   high  +------------------+
 *         | stack_handler 32 |  handle_value, handle_exn, handle_effect, parent
 *         +------------------+  <- handler, 16-byte aligned ("Stack_high")
 *         | stub's prefix    |  caml_start_program / caml_runstack
 *         | OCaml frames     |
 *         |   ...            |  <- sp while suspended
 *         | red zone 256     |
 *         +------------------+
 *         | stack_info 56    |  <- struct fiber, dom.current_stack
 *         +------------------+
 *         | our bookkeeping  |  <- struct fiber_meta
 *   low   +------------------+
 */
#ifndef FK_RT_FIBER_H
#define FK_RT_FIBER_H

#include "abi/abi.h"
#include "runtime/domain.h"

struct handler {
    value handle_value, handle_exn, handle_effect;
    struct fiber *parent;
};

struct fiber { /* layout fixed by compiled code and stubs */
    char *sp;
    void *exception_ptr;
    struct handler *handler;
    int64_t cache_bucket;
    size_t size;
    uintptr_t magic;
    int64_t id;
};
_Static_assert(sizeof(struct fiber) == 56, "stack_info");

struct fiber_meta {
    struct fiber_meta *next, *prev; /* all fibers */
    size_t bytes;                   /* of the whole allocation */
    size_t words;                   /* of the stack proper */
    uint64_t marked;                /* number of the last major cycle that reached it */
    struct domain *dirty_in;        /* whose dirty list holds it; NULL: clean */
    bool cached;
    uint64_t running;               /* number of the last minor collection that found it running */
};

static inline struct fiber_meta *fiber_meta(struct fiber *f) { return (struct fiber_meta *)f - 1; }
static inline char *fiber_high(const struct fiber *f) { return (char *)f->handler; }

/* What this machine's ABI says (abi/); set once at start. */
extern const fk_abi *fk_here;

/* The record that a stub leaves on the C stack when OCaml calls C. */
struct c_link {
    struct fiber *stack;
    char *sp;
    void *prev; /* address of the previous link, base included */
};
static inline struct c_link *c_link_of(void *link)
{
    return (struct c_link *)((char *)link + fk_here->c_link_base);
}

extern uintptr_t fk_main_fiber_words;
extern _Atomic uintptr_t fk_max_fiber_words; /* Gc.set */

/* NULL: no memory. */
struct fiber *fk_fiber_new(struct domain *, uintptr_t words, value hval, value hexn, value heff);
void fk_fiber_free(struct domain *, struct fiber *);
void fk_fiber_free_all(struct domain *); /* the domain dies: its cache and its main stack */
/* The fiber runs or will run: the next minor collection must scan it. */
void fk_fiber_dirty(struct domain *, struct fiber *);
/* After marking: frees fibers that no continuation and no thread reaches. */
void fk_fibers_sweep(uint64_t cycle);
/* Makes sure that compiled code finds a free save area. */
void fk_bucket_reserve(struct domain *);
/* Reserves a save area and room for a callback's prefix; may raise Stack_overflow. */
void fk_fiber_room(struct domain *);

#endif
