/* verify.h - rules that hold a frametable against itself and against the code.
 *
 * Each rule gives one verdict for each descriptor (or table) that it is about:
 *   ok           both views agree
 *   wrong        they contradict each other: one of them is a fault
 *   suspect      unusual, but a compiler might mean it
 *   not checked  the rule cannot tell here, and says why
 */
#ifndef FK_VERIFY_H
#define FK_VERIFY_H

#include "abi/abi.h"
#include "framekit/frametable.h"

typedef enum {
    FK_VERDICT_OK,
    FK_VERDICT_WRONG,
    FK_VERDICT_SUSPECT,
    FK_VERDICT_UNCHECKED,
    FK_VERDICTS
} fk_verdict;
const char *fk_verdict_name(fk_verdict);

typedef enum {
#define RULE(name, id, group, title, text) FK_RULE_##name,
#include "frametable/verify/rules.def"
#undef RULE
    FK_RULES
} fk_rule_number;

enum {
    FK_GROUP_STRUCTURE = 1 << 0,
    FK_GROUP_CALLS = 1 << 1,
    FK_GROUP_ALLOC = 1 << 2,
    FK_GROUP_FRAME = 1 << 3,
    FK_GROUP_LIVE = 1 << 4,
    FK_GROUP_ABI = 1 << 5,
    FK_GROUP_CFI = 1 << 6,
    FK_GROUP_DEBUG = 1 << 7,
    /* those that interpret the code */
    FK_GROUPS_CODE = FK_GROUP_CALLS | FK_GROUP_ALLOC | FK_GROUP_FRAME | FK_GROUP_LIVE |
                     FK_GROUP_ABI | FK_GROUP_CFI,
    FK_GROUPS_ALL = FK_GROUP_STRUCTURE | FK_GROUP_CALLS | FK_GROUPS_CODE | FK_GROUP_DEBUG
};

typedef struct {
    const char *id, *title, *text;
    unsigned group; /* FK_GROUP_* */
} fk_rule;
extern const fk_rule fk_rules[FK_RULES];
/* FK_RULES: unknown. */
fk_rule_number fk_rule_by_id(const char *id);
/* "structure" "calls" ...; 0: unknown. */
unsigned fk_group_by_name(const char *name, size_t length);
const char *fk_group_name(unsigned group);

typedef struct {
    fk_rule_number rule;
    fk_verdict verdict;       /* never ok */
    const fk_table *table;
    const fk_descr *d;        /* NULL: about the table */
    const char *sentence;     /* both views, no newline */
} fk_finding;
typedef void (*fk_finding_fn)(const fk_finding *, void *arg);

/* Why a rule could not tell, and how often. */
typedef struct {
    fk_rule_number rule;
    const char *text; /* lives as long as the program */
    uint64_t count;
} fk_reason;

/* How often each rule gave each verdict. */
enum { FK_REASONS = 128 };
typedef struct {
    uint64_t count[FK_RULES][FK_VERDICTS];
    fk_reason reasons[FK_REASONS]; /* sorted by rule and text; what does not fit is only in count */
    unsigned num_reasons;
} fk_tally;

/* Runs the rules of `groups` over every table of the image, on all processors. Findings come from
 * the calling thread, always in the same order. FK_SYSTEM: no memory. Memory: 120 bytes a
 * descriptor, 40 an FDE, and for each processor at most FK_STATE_BYTES (flow.h). */
fk_result fk_verify_image(const fk_image *, unsigned groups, fk_finding_fn, void *arg, fk_tally *,
                          fk_error *);

#endif
