/* verify.c - the walk over tables and descriptors, rules and verdicts by name. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frametable/internal.h"
#include "frametable/verify/facts.h"
#include "frametable/verify/internal.h"
#include "frametable/verify/lines.h"
#include "frametable/verify/rows.h"

const fk_rule fk_rules[FK_RULES] = {
#define RULE(name, id, group, title, text) {id, title, text, FK_GROUP_##group},
#include "frametable/verify/rules.def"
#undef RULE
};

static const struct {
    const char *name;
    unsigned group;
} groups_by_name[] = {
    {"structure", FK_GROUP_STRUCTURE}, {"calls", FK_GROUP_CALLS}, {"alloc", FK_GROUP_ALLOC},
    {"frame", FK_GROUP_FRAME}, {"live", FK_GROUP_LIVE}, {"abi", FK_GROUP_ABI},
    {"cfi", FK_GROUP_CFI}, {"debug", FK_GROUP_DEBUG},
};

const char *fk_verdict_name(fk_verdict v)
{
    static const char *const names[] = {"ok", "wrong", "suspect", "not checked"};
    return names[v];
}

fk_rule_number fk_rule_by_id(const char *id)
{
    unsigned i = 0;
    while (i < FK_RULES && strcmp(fk_rules[i].id, id) != 0)
        i++;
    return (fk_rule_number)i;
}

unsigned fk_group_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof groups_by_name / sizeof *groups_by_name; i++)
        if (strlen(groups_by_name[i].name) == length &&
            memcmp(groups_by_name[i].name, name, length) == 0)
            return groups_by_name[i].group;
    return 0;
}

const char *fk_group_name(unsigned group)
{
    for (size_t i = 0; i < sizeof groups_by_name / sizeof *groups_by_name; i++)
        if (groups_by_name[i].group == group)
            return groups_by_name[i].name;
    return "";
}

void fk_check_ok(fk_check *c, fk_rule_number rule)
{
    c->tally->count[rule][FK_VERDICT_OK]++;
}

void fk_check_say(fk_check *c, fk_rule_number rule, fk_verdict verdict, const fk_descr *d,
                  const char *format, ...)
{
    char sentence[320];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    c->tally->count[rule][verdict]++;
    fk_keep(c->kept, rule, verdict, d, sentence);
}

void fk_tally_reason(fk_tally *t, fk_rule_number rule, const char *why, uint64_t count)
{
    unsigned i = 0;
    while (i < t->num_reasons &&
           (t->reasons[i].rule < rule ||
            (t->reasons[i].rule == rule && strcmp(t->reasons[i].text, why) < 0)))
        i++;
    if (i < t->num_reasons && t->reasons[i].rule == rule && strcmp(t->reasons[i].text, why) == 0) {
        t->reasons[i].count += count;
        return;
    }
    if (t->num_reasons == FK_REASONS)
        return;
    memmove(&t->reasons[i + 1], &t->reasons[i], (t->num_reasons - i) * sizeof *t->reasons);
    t->reasons[i] = (fk_reason){rule, why, count};
    t->num_reasons++;
}

void fk_check_pass(fk_check *c, fk_rule_number rule, const char *why)
{
    c->tally->count[rule][FK_VERDICT_UNCHECKED]++;
    fk_tally_reason(c->tally, rule, why, 1);
}

/* --- return addresses ------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t count_descriptors(const fk_image *im)
{
    size_t n = 0;
    const fk_table *t;
    for (size_t i = 0; (t = fk_image_table(im, i)) != NULL; i++)
        n += t->num_good;
    return n;
}

static bool collect_retaddrs(fk_check *c)
{
    size_t n = count_descriptors(c->image), k = 0;
    fk_error err;
    fk_descr d;
    const fk_table *t;
    uint64_t *list = malloc((n ? n : 1) * sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; (t = fk_image_table(c->image, i)) != NULL; i++) {
        fk_cursor cursor;
        fk_cursor_start(t, &cursor);
        while (k < n && fk_cursor_next(&cursor, &d, &err) == FK_OK)
            list[k++] = d.retaddr;
    }
    qsort(list, k, sizeof *list, compare);
    c->retaddrs = list;
    c->num_retaddrs = k;
    return true;
}

/* --- tables -------------------------------------------------------------------------- */

static void check_table_start(fk_check *c)
{
    fk_table_info info;
    fk_table_info_get(c->table, &info);
    unsigned word = fk_image_word(c->image);
    if (info.address % word == 0)
        fk_check_ok(c, FK_RULE_TABLE_ALIGNED);
    else
        fk_check_say(c, FK_RULE_TABLE_ALIGNED, FK_VERDICT_WRONG, NULL,
                     "the table starts at 0x%llx, the runtime reads it from a multiple of %u",
                     (unsigned long long)info.address, word);
}

static void check_descriptor(fk_check *c, const fk_descr *d)
{
    if (c->groups & FK_GROUP_STRUCTURE)
        fk_check_structure(c, d);
    if (c->groups & FK_GROUP_CALLS)
        fk_check_calls(c, d);
    if (c->groups & FK_GROUP_DEBUG)
        fk_check_debug(c, d);
}

static void check_table_end(fk_check *c, fk_result r, const fk_error *err)
{
    if (r == FK_ABSENT)
        fk_check_ok(c, FK_RULE_TABLE_WHOLE);
    else
        fk_check_say(c, FK_RULE_TABLE_WHOLE, FK_VERDICT_WRONG, NULL,
                     "the walk ends at descriptor %llu: %s", (unsigned long long)err->entry,
                     err->message);
}

bool fk_check_table(fk_check *c)
{
    fk_cursor cursor;
    fk_descr d;
    fk_error err;
    fk_result r;
    if (c->groups & FK_GROUP_STRUCTURE)
        check_table_start(c);
    if (c->groups & FK_GROUP_DEBUG)
        fk_check_debug_table(c);
    fk_cursor_start(c->table, &cursor);
    while ((r = fk_cursor_next(&cursor, &d, &err)) == FK_OK)
        check_descriptor(c, &d);
    if (c->groups & FK_GROUP_STRUCTURE)
        check_table_end(c, r, &err);
    if ((c->groups & FK_GROUPS_CODE) && !fk_check_code(c))
        return false;
    if (c->groups & FK_GROUP_CFI)
        fk_check_cfi(c);
    return true;
}

/* --- one image ------------------------------------------------------------------------- */

/* frame-retaddr leaves to cfi-return what both see. */
enum { GROUPS_ROWS = FK_GROUP_CFI | FK_GROUP_FRAME };

bool fk_check_open(fk_check *c)
{
    if (c->groups & GROUPS_ROWS)
        c->rows = fk_cfi_cursor_new();
    if (c->groups & FK_GROUPS_CODE)
        c->code = fk_code_new();
    return (!(c->groups & GROUPS_ROWS) || c->rows != NULL) &&
           (!(c->groups & FK_GROUPS_CODE) || c->code != NULL);
}

void fk_check_close(fk_check *c)
{
    fk_cfi_cursor_free(c->rows);
    fk_code_free(c->code);
    free(c->owned.list);
}

/* Fibers came with 5.0, generation B stayed until 5.1. */
static fk_ocaml_version version_of(const fk_image *im)
{
    fk_generation g = fk_image_generation(im);
    fk_symbol s;
    if (g != FK_GEN_A && g != FK_GEN_B)
        return FK_OCAML_5_3;
    return fk_image_symbol(im, "caml_perform", &s) == FK_OK ? FK_OCAML_5_1 : FK_OCAML_4_13;
}

/* What the workers share; false: no memory. */
static bool prepare(fk_check *c)
{
    if ((c->groups & FK_GROUP_STRUCTURE) && !collect_retaddrs(c))
        return false;
    if (c->groups & GROUPS_ROWS)
        c->cfi = fk_cfi_open(c->image);
    if (c->groups & FK_GROUPS_CODE)
        c->program = fk_code_program(c->image, c->version);
    if (c->groups & FK_GROUP_DEBUG)
        c->lines = fk_lines_open(c->image);
    return (!(c->groups & GROUPS_ROWS) || c->cfi != NULL) &&
           (!(c->groups & FK_GROUPS_CODE) || c->program != NULL) &&
           (!(c->groups & FK_GROUP_DEBUG) || c->lines != NULL);
}

static fk_result learn(fk_check *c, fk_facts *facts)
{
    if (!(c->groups & FK_GROUP_LIVE))
        return FK_OK;
    fk_result r = fk_run_facts(c, facts);
    c->facts = facts;
    return r;
}

fk_result fk_verify_image(const fk_image *im, unsigned groups, fk_finding_fn each, void *arg,
                          fk_tally *tally, fk_error *err)
{
    fk_check c = {.image = im,
                  .abi = fk_image_abi(im),
                  .version = version_of(im),
                  .groups = groups};
    fk_facts facts = {0};
    fk_result r = prepare(&c) ? learn(&c, &facts) : FK_SYSTEM;
    r = r == FK_OK ? fk_run_tables(&c, each, arg, tally) : r;
    if (r != FK_OK) {
        *err = (fk_error){.code = FK_SYSTEM, .entry = FK_NO_ENTRY, .message = "out of memory"};
        snprintf(err->file, sizeof err->file, "%s", fk_image_name(im));
    }
    fk_facts_close(&facts);
    free((void *)(uintptr_t)c.retaddrs);
    fk_cfi_close(c.cfi);
    fk_code_program_free((struct fk_program *)(uintptr_t)c.program);
    fk_lines_close(c.lines);
    return r;
}
