/* verdict.c - collect what was seen; one verdict per stub and contract. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "stubs/check/stubcheck.h"

const sc_rule sc_rules[] = {
#define RULE(contract, id, holds, why) {contract, id, holds, why},
#include "stubs/check/rules.def"
#undef RULE
};
const size_t sc_num_rules = sizeof sc_rules / sizeof sc_rules[0];

const sc_stub_row sc_stub_rows[] = {
#define STUB(name, in4, in5, contracts) {#name, in4, in5, contracts},
#include "stubs/check/stubs.def"
#undef STUB
};
const size_t sc_num_stub_rows = sizeof sc_stub_rows / sizeof sc_stub_rows[0];

const sc_rule *sc_rule_of(const char *id)
{
    for (size_t i = 0; i < sc_num_rules; i++)
        if (strcmp(sc_rules[i].id, id) == 0)
            return &sc_rules[i];
    return NULL;
}

const char *const *sc_contracts(size_t *count)
{
    static const char *list[32];
    static size_t n;
    for (size_t i = 0; !n || (i && i < sc_num_rules); i++) {
        if (i == 0 || strcmp(sc_rules[i].contract, sc_rules[i - 1].contract) != 0)
            list[n++] = sc_rules[i].contract;
        if (i + 1 == sc_num_rules)
            break;
    }
    *count = n;
    return list;
}

static size_t stub_index(const char *name)
{
    for (size_t i = 0; i < sc_num_stub_rows; i++)
        if (strcmp(sc_stub_rows[i].name, name) == 0)
            return i;
    return sc_num_stub_rows;
}

void sc_result_init(sc_result *r, sc_object *o, const sc_options *options)
{
    *r = (sc_result){.object = o, .options = options};
    r->checks = calloc((sc_num_stub_rows + 1) * sc_num_rules, sizeof *r->checks);
    r->failures = calloc((sc_num_stub_rows + 1) * sc_num_rules, sizeof *r->failures);
}

void sc_result_free(sc_result *r)
{
    for (size_t i = 0; i < r->num_violations; i++) {
        free(r->violations[i].stub);
        free(r->violations[i].subject);
        free(r->violations[i].case_name);
        free(r->violations[i].text);
    }
    free(r->violations);
    free(r->checks);
    free(r->failures);
    free(r->emulator);
    free(r->reason);
    sc_linked_free(&r->linked);
}

static sc_violation *push(sc_result *r)
{
    if (!(r->num_violations & (r->num_violations - 1)))
        r->violations = realloc(r->violations, (r->num_violations ? 2 * r->num_violations : 1) *
                                                   sizeof *r->violations);
    return &r->violations[r->num_violations++];
}

static bool is_known(const sc_result *r, const char *stub, const sc_rule *rule, const char *subject)
{
    for (size_t i = 0; i < r->num_violations; i++) {
        const sc_violation *v = &r->violations[i];
        if (v->rule == rule && strcmp(v->stub, stub) == 0 && strcmp(v->subject, subject) == 0)
            return true;
    }
    return false;
}

void sc_add_violation(sc_result *r, const char *stub, const char *rule, const char *subject,
                      uint64_t where, const char *case_name, const char *text)
{
    const sc_rule *known = sc_rule_of(rule);
    if (!known)
        return;
    r->failures[stub_index(stub) * sc_num_rules + (size_t)(known - sc_rules)]++;
    if (is_known(r, stub, known, subject)) /* each child of the harness starts anew */
        return;
    *push(r) = (sc_violation){strdup(stub), strdup(subject), strdup(case_name), strdup(text), known,
                              where, false};
}

void sc_add_note(sc_result *r, const char *stub, const char *rule, const char *text)
{
    *push(r) = (sc_violation){strdup(stub), strdup(""), strdup(""), strdup(text), sc_rule_of(rule),
                              0, true};
}

void sc_add_checks(sc_result *r, const char *stub, const char *rule, unsigned n, unsigned failed)
{
    const sc_rule *known = sc_rule_of(rule);
    if (!known)
        return;
    size_t at = stub_index(stub) * sc_num_rules + (size_t)(known - sc_rules);
    r->checks[at] += n;
    if (failed > r->failures[at])
        r->failures[at] = failed;
}

/* --- unwinding rows: one violation per run of instructions ------------------------- */
static size_t insn_index(const sc_result *r, uint64_t address)
{
    size_t i = 0;
    while (i < r->linked.code.count && r->linked.code.insn[i].address != address)
        i++;
    return i;
}

static int by_place(const void *a, const void *b)
{
    const sc_violation *x = a, *y = b;
    int stub = strcmp(x->stub, y->stub);
    if (stub)
        return stub;
    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    return x->where < y->where ? -1 : x->where > y->where;
}

static bool is_row(const sc_violation *v)
{
    return strcmp(v->rule->id, "cfi.cfa") == 0 || strcmp(v->rule->id, "cfi.return-address") == 0;
}

static void close_run(sc_violation *first, size_t length)
{
    char *text = NULL;
    if (length > 1 && asprintf(&text, "%s; the same for the %zu instructions after it", first->text,
                               length - 1) > 0) {
        free(first->text);
        first->text = text;
    }
}

/* One violation per stub for all registers that its rows do not find. */
static void merge_registers(sc_result *r)
{
    size_t kept = 0;
    sc_violation *first = NULL;
    for (size_t i = 0; i < r->num_violations; i++) {
        sc_violation *v = &r->violations[i];
        char *text = NULL;
        bool is_register = strcmp(v->rule->id, "cfi.saved-register") == 0;
        if (first && is_register && strcmp(first->stub, v->stub) == 0 &&
            asprintf(&text, "%s%s %s", first->text,
                     strstr(first->text, "; also wrong in it:") ? "" : "; also wrong in it:",
                     v->subject) > 0) {
            free(first->text);
            first->text = text;
            free(v->stub), free(v->subject), free(v->case_name), free(v->text);
            continue;
        }
        r->violations[kept] = *v;
        if (is_register)
            first = &r->violations[kept];
        kept++;
    }
    r->num_violations = kept;
}

void sc_merge_rows(sc_result *r)
{
    size_t kept = 0, run = 0, last = 0;
    if (r->num_violations)
        qsort(r->violations, r->num_violations, sizeof *r->violations, by_place);
    for (size_t i = 0; i < r->num_violations; i++) {
        sc_violation *v = &r->violations[i], *before = kept ? &r->violations[kept - 1] : NULL;
        size_t at = is_row(v) ? insn_index(r, v->where) : 0;
        if (before && is_row(v) && run && before->rule == v->rule &&
            strcmp(before->stub, v->stub) == 0 && at == last + 1) {
            free(v->stub), free(v->subject), free(v->case_name), free(v->text);
            run++;
        } else {
            if (before)
                close_run(before, run);
            run = is_row(v);
            r->violations[kept++] = *v;
        }
        last = at;
    }
    if (kept)
        close_run(&r->violations[kept - 1], run);
    r->num_violations = kept;
    merge_registers(r);
}

bool sc_stub_in_object(const sc_result *r, size_t stub)
{
    return sc_has_symbol(r->object->elf, sc_stub_rows[stub].name);
}

static bool has_contract(size_t stub, const char *contract)
{
    const char *list = sc_stub_rows[stub].contracts;
    size_t n = strlen(contract);
    for (const char *p = list; (p = strstr(p, contract)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

static unsigned sum(const unsigned *of, size_t stub, const char *contract)
{
    unsigned total = 0;
    for (size_t i = 0; i < sc_num_rules; i++)
        if (strcmp(sc_rules[i].contract, contract) == 0)
            total += of[stub * sc_num_rules + i];
    return total;
}

static bool was_stopped(const sc_result *r, size_t stub)
{
    for (size_t i = 0; i < r->num_violations; i++)
        if (strcmp(r->violations[i].rule->contract, "flow") == 0 &&
            strcmp(r->violations[i].stub, sc_stub_rows[stub].name) == 0)
            return true;
    return false;
}

sc_verdict sc_verdict_of(const sc_result *r, size_t stub, const char *contract, const char **reason)
{
    *reason = NULL;
    if (sum(r->failures, stub, contract))
        return V_VIOLATED;
    if (sum(r->checks, stub, contract))
        return V_HOLDS;
    if (!has_contract(stub, contract) || !sc_stub_in_object(r, stub))
        return V_ABSENT;
    *reason = r->reason                ? r->reason
              : was_stopped(r, stub)   ? "the stub was stopped before"
              : r->options->fast       ? "fast run"
                                       : "no such obligation in this version's ABI";
    return V_NOT_CHECKED;
}

bool sc_glob_matches(const char *glob, const char *stub, const sc_rule *rule)
{
    char both[256];
    snprintf(both, sizeof both, "%s/%s", stub, rule->id);
    return fnmatch(glob, rule->contract, 0) == 0 || fnmatch(glob, rule->id, 0) == 0 ||
           fnmatch(glob, stub, 0) == 0 || fnmatch(glob, both, 0) == 0;
}

bool sc_shown(const sc_result *r, const char *stub, const sc_rule *rule)
{
    return (!r->options->glob || sc_glob_matches(r->options->glob, stub, rule)) &&
           !sc_baseline_has(r->options->baseline, stub, rule);
}

int sc_exit_code(const sc_result *r)
{
    for (size_t i = 0; i < r->num_violations; i++)
        if (!r->violations[i].note && sc_shown(r, r->violations[i].stub, r->violations[i].rule))
            return SC_VIOLATED;
    return r->reason ? SC_INCONCLUSIVE : SC_HOLDS;
}
