/* internal.h - what the rules share.
 *
 *   fk_verify_image          shared: image, return addresses, CFI, lines (read only while they run)
 *     +-- worker 0: fk_check   one table at a time, in file order; findings are kept with their
 *     +-- worker 1: fk_check   table and given away in the order of the tables (run.c) */
#ifndef FK_VERIFY_INTERNAL_H
#define FK_VERIFY_INTERNAL_H

#include "frametable/verify/verify.h"

struct fk_kept;       /* findings of one table, run.c */
struct fk_cfi;        /* all FDEs of the image, rows.c */
struct fk_cfi_cursor; /* rows of the FDE looked at last */
struct fk_program;    /* the image as code, program.c */
struct fk_code;       /* the function looked at last, code.c */
struct fk_facts;      /* facts.h */
struct fk_lines;      /* .debug_line of the image, lines.c */

/* What one worker knows. Everything that is not const is its own. */
typedef struct {
    const fk_image *image;
    const fk_abi *abi;
    fk_ocaml_version version; /* newest that the generation allows: register numbers */
    unsigned groups;
    const uint64_t *retaddrs; /* all of the image, sorted */
    size_t num_retaddrs;
    const struct fk_cfi *cfi;
    struct fk_cfi_cursor *rows;
    const struct fk_program *program;
    struct fk_code *code;
    const struct fk_lines *lines;
    const struct fk_facts *facts;  /* of all functions, NULL: none */
    struct fk_facts *learned;      /* the first round: where facts go; NULL in the second */
    struct {
        const fk_table *of;
        uint64_t *list;
        size_t count, room;
        bool with_g; /* every chain ends in the module itself: compiled with -g */
    } owned; /* debug.c: records of a table that the function they name leads to */
    const fk_table *table;
    bool untracked; /* cfi.c: the rows of this table's code do not follow the stack pointer */
    fk_tally *tally;
    struct fk_kept *kept;
} fk_check;

/* Counts the verdict; everything but ok is also a finding with a sentence. */
void fk_check_ok(fk_check *, fk_rule_number);
void fk_check_say(fk_check *, fk_rule_number, fk_verdict, const fk_descr *, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Counts a descriptor that the rule cannot decide. `why` is a string constant: the summary lists
 * reasons with their counts, there is no finding. */
void fk_check_pass(fk_check *, fk_rule_number, const char *why);
void fk_tally_reason(fk_tally *, fk_rule_number, const char *why, uint64_t count);

/* A worker's own state before its first and after its last table. false: no memory. */
bool fk_check_open(fk_check *);
void fk_check_close(fk_check *);
/* All rules of c->groups over c->table. false: no memory. */
bool fk_check_table(fk_check *);

void fk_check_structure(fk_check *, const fk_descr *);
void fk_check_calls(fk_check *, const fk_descr *);
/* The function that the call before retaddr enters, through stubs of the linker; false: indirect,
 * or without a name. */
bool fk_check_callee(const fk_check *, uint64_t retaddr, fk_symbol *out);
/* The callee is caml_call_gc or one of caml_alloc1/2/3/N. */
bool fk_check_allocates(const char *name);
/* The rule call-entry; name NULL: the callee is not known. */
void fk_check_call_entry(fk_check *, const fk_descr *, const char *name);
/* A failed bound check that traps starts at addr: its own address is looked up (power up to
 * 4.14). */
bool fk_check_traps(const fk_check *, uint64_t addr);

/* --- cfi.c: after code.c, whose view it names ----------------------------------------- */
void fk_check_cfi(fk_check *);
/* cfi-return says, or would if it was asked for, that nothing stores the return address. */
bool fk_check_return_lost(fk_check *, const fk_descr *);

/* --- code.c: the groups that interpret code ------------------------------------------- */
/* NULL: no memory. */
struct fk_program *fk_code_program(const fk_image *, fk_ocaml_version);
void fk_code_program_free(struct fk_program *);
struct fk_code *fk_code_new(void);
void fk_code_free(struct fk_code *);
/* The rules of c->groups over the functions of c->table. false: no memory. */
bool fk_check_code(fk_check *);
/* How far the code has brought the stack pointer down at the call of a descriptor, as a frame size.
 * false: the code of its table was not interpreted, or does not tell. */
bool fk_code_descent(const fk_check *, const fk_descr *, int64_t *);
/* --- debug.c ------------------------------------------------------------------------ */
void fk_check_debug_table(fk_check *);
void fk_check_debug(fk_check *, const fk_descr *);

/* --- run.c ------------------------------------------------------------------------- */
/* Runs fk_check_table for every table with as many workers as there are processors, each a copy of
 * *model. Findings come from this thread, in the order of the tables and, within one, as the rules
 * said them: the number of workers does not show. FK_SYSTEM: no memory. */
fk_result fk_run_tables(const fk_check *model, fk_finding_fn, void *arg, fk_tally *);
/* The first round, for live-missing: what functions tell of each other. FK_SYSTEM: no memory. */
fk_result fk_run_facts(const fk_check *model, struct fk_facts *);
/* false: no memory, the finding is lost (the run fails at its end). */
bool fk_keep(struct fk_kept *, fk_rule_number, fk_verdict, const fk_descr *, const char *sentence);

#endif
