/* verify.c - the walk over tables and descriptors, rules and verdicts by name. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frametable/verify/internal.h"

const fk_rule fk_rules[FK_RULES] = {
#define RULE(name, id, group, title, text) {id, title, text, FK_GROUP_##group},
#include "frametable/verify/rules.def"
#undef RULE
};

static const struct {
    const char *name;
    unsigned group;
} groups_by_name[] = {{"structure", FK_GROUP_STRUCTURE}, {"calls", FK_GROUP_CALLS}};

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
        if (strlen(groups_by_name[i].name) == length && memcmp(groups_by_name[i].name, name, length) == 0)
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

void fk_check_say(fk_check *c, fk_rule_number rule, fk_verdict verdict, const fk_descr *d, const char *format, ...)
{
    char sentence[320];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    c->tally->count[rule][verdict]++;
    c->each(&(fk_finding){rule, verdict, c->table, d, sentence}, c->arg);
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
    fk_error err;
    fk_descr d;
    const fk_table *t;
    for (size_t i = 0; (t = fk_image_table(im, i)) != NULL; i++) {
        fk_cursor cursor;
        fk_cursor_start(t, &cursor);
        while (fk_cursor_next(&cursor, &d, &err) == FK_OK)
            n++;
    }
    return n;
}

static bool collect_retaddrs(fk_check *c)
{
    size_t n = count_descriptors(c->image);
    fk_error err;
    fk_descr d;
    const fk_table *t;
    c->retaddrs = malloc((n ? n : 1) * sizeof *c->retaddrs);
    if (!c->retaddrs)
        return false;
    for (size_t i = 0; (t = fk_image_table(c->image, i)) != NULL; i++) {
        fk_cursor cursor;
        fk_cursor_start(t, &cursor);
        while (c->num_retaddrs < n && fk_cursor_next(&cursor, &d, &err) == FK_OK)
            c->retaddrs[c->num_retaddrs++] = d.retaddr;
    }
    qsort(c->retaddrs, c->num_retaddrs, sizeof *c->retaddrs, compare);
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

static void check_descriptors(fk_check *c, unsigned groups)
{
    fk_cursor cursor;
    fk_descr d;
    fk_error err;
    fk_result r;
    fk_cursor_start(c->table, &cursor);
    while ((r = fk_cursor_next(&cursor, &d, &err)) == FK_OK) {
        if (groups & FK_GROUP_STRUCTURE)
            fk_check_structure(c, &d);
        if (groups & FK_GROUP_CALLS)
            fk_check_calls(c, &d);
    }
    if (!(groups & FK_GROUP_STRUCTURE))
        return;
    if (r == FK_ABSENT)
        fk_check_ok(c, FK_RULE_TABLE_WHOLE);
    else
        fk_check_say(c, FK_RULE_TABLE_WHOLE, FK_VERDICT_WRONG, NULL, "the walk ends at descriptor %llu: %s",
                     (unsigned long long)err.entry, err.message);
}

static fk_ocaml_version version_of(fk_generation g)
{
    return g == FK_GEN_A || g == FK_GEN_B ? FK_OCAML_4_13 : FK_OCAML_5_3;
}

fk_result fk_verify_image(const fk_image *im, unsigned groups, fk_finding_fn each, void *arg, fk_tally *tally,
                          fk_error *err)
{
    fk_check c = {.image = im,
                  .abi = fk_image_abi(im),
                  .version = version_of(fk_image_generation(im)),
                  .each = each,
                  .arg = arg,
                  .tally = tally};
    if ((groups & FK_GROUP_STRUCTURE) && !collect_retaddrs(&c)) {
        *err = (fk_error){.code = FK_SYSTEM, .entry = FK_NO_ENTRY, .message = "out of memory"};
        snprintf(err->file, sizeof err->file, "%s", fk_image_name(im));
        return FK_SYSTEM;
    }
    for (size_t i = 0; (c.table = fk_image_table(im, i)) != NULL; i++) {
        if (groups & FK_GROUP_STRUCTURE)
            check_table_start(&c);
        check_descriptors(&c, groups);
    }
    free(c.retaddrs);
    return FK_OK;
}
