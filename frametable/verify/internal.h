/* internal.h - what the rules share. */
#ifndef FK_VERIFY_INTERNAL_H
#define FK_VERIFY_INTERNAL_H

#include "frametable/verify/verify.h"

typedef struct {
    const fk_image *image;
    const fk_abi *abi;
    fk_ocaml_version version; /* newest that the generation allows: register numbers */
    fk_finding_fn each;
    void *arg;
    fk_tally *tally;
    const fk_table *table;
    uint64_t *retaddrs; /* all of the image, sorted */
    size_t num_retaddrs;
} fk_check;

/* Counts the verdict; everything but ok is also a finding with a sentence. */
void fk_check_ok(fk_check *, fk_rule_number);
void fk_check_say(fk_check *, fk_rule_number, fk_verdict, const fk_descr *, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

void fk_check_structure(fk_check *, const fk_descr *);
void fk_check_calls(fk_check *, const fk_descr *);

#endif
