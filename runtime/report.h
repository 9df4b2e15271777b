/* report.h - parts of a report (report.c): lines on stderr. */
#ifndef FK_RT_REPORT_H
#define FK_RT_REPORT_H

#include "runtime/check_history.h"

/* "0x401234 camlFoo.f_12+0x34 (foo.ml:3, Foo.f)", no newline */
void fk_print_location(uintptr_t ra);

/* --- report_object.c --- */
/* What is at an address or was there in collection `until`: block, allocation, last move. */
struct history fk_object_at(uintptr_t address, uint64_t until);
void fk_print_object(const char *label, value v, const struct history *);
/* Slots of a frame that hold an address of the block, and whether the descriptor lists them. */
void fk_print_holders(const struct walk *, const struct history *);

/* --- report_unwind.c --- */
/* Does no unwinding row of the function give its frame that many bytes? */
bool fk_unwind_denies(uintptr_t ra, int64_t frame_size);
/* The first frame on the way to this one whose rows deny the size in its descriptor; 0: none. */
uintptr_t fk_unwind_culprit(const struct walk *);

#endif
