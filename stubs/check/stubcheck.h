/* stubcheck.h - the host side: from an object to verdicts.
 *
 *   object  which object, which architecture, which version
 *   link    with the harness, by the cross compiler
 *   table   instructions, relocated branches and unwinding rows of the stubs
 *   run     probe of the emulator, then all cases in one emulated process
 *   static  what relocations alone can tell
 *   verdict one per stub and contract: holds, violated, not checked
 *   report  text, JSON, JUnit
 */
#ifndef STUBCHECK_H
#define STUBCHECK_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/abi.h"

/* Exit codes; scripts depend on them. */
enum { SC_HOLDS = 0, SC_VIOLATED = 1, SC_INCONCLUSIVE = 2, SC_USAGE = 3 };

typedef struct sc_baseline sc_baseline;

typedef struct {
    sc_baseline *baseline; /* violations that are known; NULL: none */
    const char *arch, *glob, *qemu, *style, *abi, *harness;
    unsigned long long seed, seconds; /* 1 to an hour */
    bool fast;     /* end with the first violation: for mutation */
    bool no_trace; /* the cases only, not instruction by instruction */
} sc_options;

typedef struct {
    const char *arch, *triplet, *cpu;
} sc_port_row;
const sc_port_row *sc_port_row_of(const char *arch);

/* --- rules and stubs ---------------------------------------------------------- */
typedef struct {
    const char *contract, *id, *holds, *why;
} sc_rule;
extern const sc_rule sc_rules[];
extern const size_t sc_num_rules;
const sc_rule *sc_rule_of(const char *id);

typedef struct {
    const char *name, *in4, *in5, *contracts;
} sc_stub_row;
extern const sc_stub_row sc_stub_rows[];
extern const size_t sc_num_stub_rows;

/* --- the object ------------------------------------------------------------------ */
typedef struct {
    char *name;      /* as shown: FILE or FILE(member) */
    char *path;      /* a file that holds just this object */
    Elf *elf;
    const fk_abi *abi;
    fk_ocaml_version version;
    bool version_known; /* false: the object does not say, the default was taken */
    char *layout_error; /* domain-state numbers of no known version; NULL: none */
    void *bytes;
    size_t size;
} sc_object;

/* The object in `file`, or the member of the archive that holds stubs. False:
 * *error says why, with file, section and offset where there are any. */
bool sc_object_open(sc_object *, const char *file, const char *dir, const char *abi, char **error);
void sc_object_close(sc_object *);

typedef struct {
    const char *name;
    uint64_t value;
    uint16_t section; /* SHN_UNDEF, SHN_ABS or an index */
    uint8_t bind, type;
} sc_symbol;
/* Call `see` with each symbol until it returns false. */
void sc_each_symbol(Elf *, bool (*see)(const sc_symbol *, void *), void *);
typedef struct {
    size_t section; /* whose bytes change */
    uint64_t offset;
    uint32_t type;
    sc_symbol symbol;
    bool code;
} sc_reloc;
void sc_each_reloc(Elf *, void (*see)(const sc_reloc *, void *), void *);
bool sc_has_symbol(Elf *, const char *name);

/* --- processes --------------------------------------------------------------------- */
/* Run argv[], its standard output (and errors, if `errors`) to *out (NUL-terminated,
 * at most 64 MiB). Returns the exit status, 128 + signal, or -1 (not started), -2
 * (killed: `seconds` were over). */
int sc_capture(char *const argv[], int seconds, bool errors, char **out);

/* From now on INT, TERM and HUP end the program that sc_capture runs, and no other is
 * started; sc_end_if_stopped() ends this one by the signal that came. */
void sc_catch_stops(void);
void sc_end_if_stopped(void);

/* --- instructions --------------------------------------------------------------------- */
typedef struct {
    uint64_t address; /* in the linked program */
    uint64_t offset;  /* from the function's start */
    uint8_t length;
    bool plt;
    char *text;       /* disassembly, with the relocation's symbol */
    const char *stub; /* the function it belongs to */
} sc_insn;
typedef struct {
    sc_insn *insn;
    size_t count;
} sc_code;

typedef struct {
    char *program; /* the object, linked to run inside the harness */
    char *table;   /* its symbols; after sc_read_program its instructions too */
    char *harness;
    sc_code code;
} sc_linked;
bool sc_link(const sc_object *, const sc_options *, const char *dir, sc_linked *, char **error);
/* Its instructions, and the table that the harness traces by. */
bool sc_read_program(const sc_object *, bool trace, sc_linked *, char **error);
void sc_linked_free(sc_linked *);
bool sc_read_code(const sc_object *, const char *program, sc_code *, char **error);
/* Where the linker has put a place of the object read last; 0: unknown. */
uint64_t sc_address_of(size_t section, uint64_t offset);
const sc_insn *sc_insn_at(const sc_code *, uint64_t address);
bool sc_write_symbols(const char *program, FILE *);
bool sc_write_table(const sc_linked *, const sc_object *, bool trace, const char *path);
/* Rows for the instructions; text is "cfa ra [n=rule]...", "? ?" where none is. */
void sc_cfi_open(const char *program);
void sc_cfi_row(uint64_t address, const fk_abi *, char *text, size_t size);
void sc_cfi_close(void);

/* --- verdicts ---------------------------------------------------------------------------- */
typedef struct {
    char *stub, *subject, *case_name, *text;
    const sc_rule *rule;
    uint64_t where;
    bool note;
} sc_violation;

typedef enum { V_ABSENT, V_HOLDS, V_VIOLATED, V_NOT_CHECKED } sc_verdict;

typedef struct {
    sc_object *object;
    const sc_options *options;
    sc_linked linked;
    char *emulator;  /* "qemu-s390x version 7.2.22", "native" */
    char *reason;    /* why nothing was checked; NULL: it was */
    bool inconclusive;
    sc_violation *violations;
    size_t num_violations;
    unsigned *checks, *failures; /* [stub * sc_num_rules + rule] */
    double seconds;
} sc_result;

void sc_result_init(sc_result *, sc_object *, const sc_options *);
void sc_result_free(sc_result *);
void sc_add_violation(sc_result *, const char *stub, const char *rule, const char *subject,
                      uint64_t where, const char *case_name, const char *text);
void sc_add_note(sc_result *, const char *stub, const char *rule, const char *text);
void sc_add_checks(sc_result *, const char *stub, const char *rule, unsigned n, unsigned failed);
/* *reason: of V_NOT_CHECKED. V_ABSENT: the stub has no such contract. */
sc_verdict sc_verdict_of(const sc_result *, size_t stub, const char *contract, const char **reason);
const char *const *sc_contracts(size_t *count);
/* --- violations that are known (baseline.c) ------------------------------------- */
/* NULL: the file cannot be read, see errno. */
sc_baseline *sc_baseline_read(const char *path);
bool sc_baseline_has(const sc_baseline *, const char *stub, const sc_rule *);
void sc_baseline_free(sc_baseline *);

/* Does --contract=GLOB mean the rule (by itself, its contract, the stub or stub/rule)? */
bool sc_glob_matches(const char *glob, const char *stub, const sc_rule *);
bool sc_shown(const sc_result *, const char *stub, const sc_rule *);
void sc_merge_rows(sc_result *);
bool sc_stub_in_object(const sc_result *, size_t stub);
int sc_exit_code(const sc_result *);

bool sc_run(sc_result *);
void sc_check_static(sc_result *);

/* Lines of code around a violation, the ones it is about marked; NULL: none. */
char *sc_window(const sc_result *, const sc_violation *);

void sc_report_text(const sc_result *, FILE *);
void sc_report_json(sc_result *const *, size_t n, FILE *);
void sc_report_junit(sc_result *const *, size_t n, FILE *);

#endif
