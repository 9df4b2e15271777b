/* backtrace.h - raw slots and their source locations.
 *
 * A raw slot is the address of a descriptor, or of a debuginfo record + 2 when
 * a block of a combined allocation is meant. As a value it is (slot >> 1) tagged. */
#ifndef FK_RT_BACKTRACE_H
#define FK_RT_BACKTRACE_H

#include "runtime/frames.h"

enum { BACKTRACE_SLOTS = 1024 };

void fk_backtrace_enable(struct domain *, bool);
/* Up to max slots, innermost first, parents of fibers included; never touches
 * the OCaml heap. *buf grows as needed (realloc). alloc_index >= 0 selects the
 * location of that block of the innermost frame's combined allocation. */
size_t fk_callstack(struct domain *, size_t max, uintptr_t **buf, size_t *capacity,
                    long alloc_index);
value fk_callstack_value(const uintptr_t *slots, size_t n);
void fk_print_backtrace(struct domain *);
/* Source frames of a slot, innermost (inlined) first; false: none left. */
bool fk_slot_frame(uintptr_t slot, unsigned depth, fk_frame *out);
uintptr_t fk_slot_address(uintptr_t slot); /* return address */

#endif
