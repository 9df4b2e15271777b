/* gc.h - collections: minor_gc.c, major_gc.c, compact.c, roots.c, weak.c. */
#ifndef FK_RT_GC_H
#define FK_RT_GC_H

#include "runtime/domain.h"
#include "runtime/frames.h"

/* A visitor of roots: *p is a root and may be rewritten. */
typedef void (*root_fn)(void *ctx, value v, value *p);

enum gc_kind { GC_MINOR, GC_MAJOR, GC_COMPACT };

/* Collects at least `kind`; the caller runs. May take part in another domain's
 * collection first. Runs no OCaml code; finalisers become pending. */
void fk_gc_collect(struct domain *, enum gc_kind);
/* Has enough been allocated for a major cycle to be due? */
bool fk_gc_major_due(void);

/* --- roots.c --- */
void fk_scan_fiber(struct fiber *, value *regs, root_fn, void *ctx);
/* Fibers of the thread's chain, local roots, domain fields, finalisers. */
enum scan_kind { SCAN_YOUNG, SCAN_ALL };
void fk_scan_domain(struct domain *, enum scan_kind, root_fn, void *ctx);
void fk_scan_globals(enum scan_kind, root_fn, void *ctx);
void fk_scan_block(value v, root_fn, void *ctx); /* its fields */
extern intptr_t caml_globals_inited;
extern uint64_t fk_minor_count, fk_major_count, fk_compact_count;

/* --- memory.c --- */
/* Any size and tag, fields VAL_UNIT or bytes undefined. Raises Out_of_memory. */
value fk_alloc(uintptr_t wosize, unsigned tag);
value fk_alloc_small(uintptr_t wosize, unsigned tag); /* fields undefined */
value fk_alloc_shr(uintptr_t wosize, unsigned tag);
value fk_alloc_string(uintptr_t length);
value fk_copy_string(const char *);
value fk_copy_bytes(const void *, uintptr_t length);
value fk_copy_double(double);
value fk_copy_int64(int64_t);
value fk_copy_int32(int32_t);
value fk_copy_nativeint(intptr_t);
value fk_atom(unsigned tag);
value fk_alloc_custom(const struct custom_operations *, uintptr_t bytes);
void caml_modify(value *field, value v);
void caml_initialize(value *field, value v);
/* Makes room for whsize words in the nursery; no OCaml code runs. */
void fk_make_room(struct domain *, uintptr_t whsize);

/* --- weak.c --- */
void fk_ephes_mark(root_fn, void *ctx, bool (*alive)(value), bool *progress);
void fk_ephes_clean(bool (*alive)(value));
void fk_ephes_scan(root_fn, void *ctx);      /* all slots */
void fk_ephes_scan_list(root_fn, void *ctx); /* the ephemerons themselves */

/* --- final.c --- */
void fk_finals_scan(struct domain *, enum scan_kind, root_fn, void *ctx);
void fk_finals_scan_weak(struct domain *, root_fn, void *ctx);
void fk_finals_minor(struct domain *, bool (*forward)(value *));
void fk_finals_major(struct domain *, bool first, bool (*alive)(value), root_fn, void *ctx);
void fk_finals_adopt(struct domain *to, struct domain *from);
value fk_finals_run(struct domain *); /* an exception result, or VAL_UNIT */

/* --- callback.c --- */
/* A value or an exception result; the caller keeps no unrooted value over it. */
value fk_callback_exn(value closure, value arg);

/* --- roots in C code ---------------------------------------------------------
 *
 *   value f(value a) {
 *       value r = VAL_UNIT;
 *       ROOTS(2, &a, &r);
 *       ...
 *       return UNROOT(r);
 *   }
 * An exception pops them (fail.c). */
#define ROOTS(n, ...) \
    struct local_roots roots_ = {fk_self->st.local_roots, (n), 1, {__VA_ARGS__}}; \
    fk_self->st.local_roots = &roots_
#define UNROOT_VOID() ((void)(fk_self->st.local_roots = roots_.next))
#define UNROOT(x) fk_unroot(&roots_, (x))
static inline value fk_unroot(struct local_roots *r, value v)
{
    fk_self->st.local_roots = r->next;
    return v;
}

#endif
