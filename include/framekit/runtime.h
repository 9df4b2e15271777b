/* framekit/runtime.h - framekit's runtime from C.
 *
 * Beside this the runtime has the public C interface of OCaml (caml_alloc,
 * caml_callback, caml_raise, caml_register_global_root ...: chapter
 * "Interfacing C with OCaml" of the manual), with the same names and rules.
 *
 * Unless said otherwise the caller is a thread that runs OCaml code (it was
 * called by it, or came through fk_rt_start or fk_rt_spawn); any other gets a line on
 * stderr and exit code 96. A `fk_rt_value` that
 * is kept over a call that may collect must be a registered root.
 */
#ifndef FRAMEKIT_RUNTIME_H
#define FRAMEKIT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef intptr_t fk_rt_value; /* immediate (low bit 1) or the address of field 0 */

/* Sets checking modes as FRAMEKIT_CHECK does (docs/checking.md). Only before
 * fk_rt_start. false: *error is the item that was not understood, or says that it is
 * too late. */
bool fk_rt_check(const char *list, const char **error);

/* Initialises the runtime and runs the program's units in link order. Returns
 * 0, or the exception that ended them. The runtime's own fatal errors print
 * one line and exit with code 96, failed checks with 97. Once per process. */
fk_rt_value fk_rt_start(char **argv);

typedef enum { FK_RT_MINOR, FK_RT_MAJOR, FK_RT_COMPACT } fk_rt_kind;
/* Collects now; finalisers stay pending until OCaml code runs. */
void fk_rt_collect(fk_rt_kind);

typedef struct fk_rt_domain fk_rt_domain;
/* Runs fn(arg) as a new domain. NULL: all 128 slots are taken, or no memory. */
fk_rt_domain *fk_rt_spawn(void (*fn)(void *arg), void *arg);
/* Waits for it (this domain is released meanwhile) and frees it. NULL: nothing. */
void fk_rt_join(fk_rt_domain *);

/* One line of a heap census: blocks of one tag, words with headers. */
typedef struct {
    unsigned tag;
    uint64_t blocks, words;
} fk_rt_census_line;
/* Collects, then calls `each` for every tag that has live blocks, by tag.
 * `each` must not allocate on the OCaml heap. */
void fk_rt_census(void (*each)(const fk_rt_census_line *, void *arg), void *arg);

/* The frames of the calling thread, innermost first, fibers' parents included.
 * `file` and `name` are NULL without debug information; they stay valid. A
 * nonzero return of `each` stops the walk. */
typedef struct {
    uintptr_t return_address;
    uint32_t frame_size, live; /* bytes; number of live entries */
    const char *file, *name;
    int32_t line;
} fk_rt_frame;
void fk_rt_frames(int (*each)(const fk_rt_frame *, void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
