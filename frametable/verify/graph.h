/* graph.h - between cfg.c and flow.c. */
#ifndef FK_VERIFY_GRAPH_H
#define FK_VERIFY_GRAPH_H

#include "frametable/verify/flow.h"

/* Makes room for `need` items in *array (of `item` bytes, *cap allocated). */
bool fk_room(void *array, size_t *cap, size_t need, size_t item);
bool fk_in_window(const fk_function *, uint64_t addr);
/* The relocation of an object that completes the instruction, NULL: none. */
const fk_fixup *fk_fixup_of(const fk_program *, const fk_insn *);
/* Fills in what a relocation completes. */
void fk_complete(const fk_program *, fk_insn *);
/* Collects program->tables and ->parts; false: no memory. */
bool fk_tables_find(fk_program *);
/* A function forms this address of constant data. */
bool fk_table_begins(const fk_program *, uint64_t addr);
/* The part of a joined jump table that the instruction loads from, NULL: none. */
const fk_part *fk_table_part(const fk_program *, const fk_insn *);
/* The word at addr of the file; constant: the program never changes it. false: none. */
bool fk_word(const fk_program *, uint64_t addr, uint64_t *out, bool *constant);
bool fk_is_call(const fk_insn *);
/* Without -g all failed bound checks of a function share one call, with a descriptor or without one:
 * who branches there raises, the call itself does not know which handler is the current one. */
bool fk_is_shared_raise(const fk_function *, const fk_node *);
/* nameless.c: functions and entries of a file without symbols; false: no memory. */
enum { FK_BEFORE_ENTRY = 64 }; /* bytes before an entry that may belong to it */
bool fk_nameless_read(fk_program *);
/* NULL: no FDE has it; no call outside of OCaml's code goes there. */
const fk_range *fk_program_range(const fk_program *, uint64_t addr);
const fk_entry *fk_program_entry(const fk_program *, uint64_t target);
/* Decodes what can be reached from addr; false: no memory. */
bool fk_discover(fk_function *, uint64_t addr);

#endif
