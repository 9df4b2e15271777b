/* stacks.h - a profile as a list of folded stacks, whatever format it came in. */
#ifndef FK_MEMPROF_STACKS_H
#define FK_MEMPROF_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *stack; /* "outermost;...;innermost" */
    double bytes;
} fk_stack;

typedef struct {
    fk_stack *data;
    size_t size, capacity;
} fk_stacks;

/* Why a file cannot be read: text and the offset it is about. */
typedef struct {
    char text[160];
    size_t offset;
} fk_stacks_error;

/* Reads a pprof profile (not compressed) or folded stacks. `live`: the live
 * bytes of a pprof profile instead of the allocated ones. Work and memory are
 * bounded by the size of the input times the depth of its stacks, at most
 * FK_STACKS_MAX bytes. false: *error is set. */
bool fk_stacks_read(fk_stacks *, const uint8_t *data, size_t size, bool live, fk_stacks_error *error);
void fk_stacks_free(fk_stacks *);

#define FK_STACKS_MAX ((size_t)1 << 30)

/* pprof.c; both append. */
bool fk_stacks_read_pprof(fk_stacks *, const uint8_t *data, size_t size, bool live, fk_stacks_error *error);
/* Takes `stack` over. false: no memory. */
bool fk_stacks_add(fk_stacks *, char *stack, double bytes);
bool fk_stacks_fail(fk_stacks_error *, size_t offset, const char *format, ...);

#endif
