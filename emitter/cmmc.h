/* cmmc.h - what the driver asks of the back end.
 *
 * main.c parses and checks (cmm.h), then calls cmmc_compile with a checked unit,
 * inside cmm_with_stack. The back end never prints: it adds errors with cmm_error
 * and writes to `out`, which the driver throws away when there are errors.
 */
#ifndef FK_CMMC_H
#define FK_CMMC_H

#include "abi/abi.h"
#include "emitter/cmm.h"
#include "framekit/frametable.h"

typedef enum { CMMC_ASM, CMMC_EMIT_CMM, CMMC_EMIT_LINEAR } cmmc_stage;

typedef struct {
    const fk_abi *abi;         /* --target */
    fk_ocaml_version version;  /* --abi: FK_OCAML_5_3 or FK_OCAML_5_4 */
    cmmc_stage stage;          /* what to write */
    bool debug;                /* -g: locations in frametables, .loc rows */
    bool comballoc, polls;     /* true unless --no-... */
    bool function_sections;
    bool pic;                  /* true: the default, as ocamlopt's on Linux */
    fk_generation frametable;  /* FK_GEN_AUTO: the version's own */
} cmmc_options;

/* Compiles a checked unit to assembly text (or --emit=linear) on `out`.
 * The object's own symbols (frametable, code_begin, data_begin ...) are named after
 * unit->unit_symbol. False: errors were added to the unit. */
bool cmmc_compile(cmm_unit *unit, const cmmc_options *, FILE *out);

/* A unit of a program. */
typedef struct {
    const char *symbol;  /* "camlFoo" */
    bool entry, roots;   /* has camlFoo.entry, camlFoo.gc_roots (dialect files have neither) */
} cmmc_startup_unit;

/* The start-up unit of a program as lossless Cmm text (ready to parse): caml_program,
 * caml_globals, caml_frametable, predefined exceptions, and the generic
 * functions (caml_applyN, caml_curryN, caml_tuplifyN, caml_sendN) that `needed` names.
 * units: in link order, without caml_startup. */
void cmmc_startup_text(const cmmc_startup_unit *units, size_t nunits, const char *const *needed,
                       size_t nneeded, const cmmc_options *, FILE *out);

#endif
