/* verify.c - --verify: findings as they come, then a summary by rule.
 *
 * A finding shows itself:
 *
 *   wrong  call-before  camlFoo.f_12+0x1f
 *          no call instruction of amd64 ends at 0x41f2, so nothing returns there
 *            004041ed  e8 0e 00 00 00   callq 0x404200
 *       -> 004041f2  48 83 c4 08      addq  $8, %rsp
 *          frame 24, live [8]
 */
#include "frametable/ftdump/disasm.h"
#include "frametable/ftdump/ftdump.h"
#include "frametable/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BEFORE = 3, WINDOW_AFTER = 1, KEY = 440, PLACE = 400 };

static struct {
    fk_tally tally;
    uint64_t findings[FK_VERDICTS], known;
    char (*baseline)[KEY]; /* sorted */
    size_t num_baseline;
    fk_symbol cache;
    json_t *list;
} now;

/* --- rules --------------------------------------------------------------------- */

bool ft_explain(const char *id)
{
    fk_rule_number n = fk_rule_by_id(id);
    if (n == FK_RULES)
        return false;
    const fk_rule *r = &fk_rules[n];
    return printf("%s (%s): %s\n\n%s\n", r->id, fk_group_name(r->group), r->title, r->text) > 0;
}

unsigned ft_verify_groups(const char *names)
{
    unsigned groups = 0;
    if (names == NULL)
        return FK_GROUPS_ALL;
    for (;;) {
        size_t n = strcspn(names, ",");
        unsigned g = fk_group_by_name(names, n);
        if (g == 0)
            return 0;
        groups |= g;
        if (names[n] == 0)
            return groups;
        names += n + 1;
    }
}

const char *ft_verify_group_names(void)
{
    static char names[120];
    size_t n = 0;
    for (unsigned g = 1; g <= FK_GROUPS_ALL; g <<= 1)
        if (g & FK_GROUPS_ALL)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "",
                                  fk_group_name(g));
    return names;
}

/* --- baseline: one "[wrong|suspect] RULE PLACE" a line, as a finding's first line;
 * # starts a comment ------------------------------------------------------------- */

static int compare_key(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* key: the rule, one space, the place. False: nothing but a comment. */
static bool read_key(char *line, char *key)
{
    static const char blank[] = " \t";
    char *rest = NULL;
    line[strcspn(line, "#\n")] = 0;
    char *rule = strtok_r(line, blank, &rest);
    if (rule != NULL && (strcmp(rule, "wrong") == 0 || strcmp(rule, "suspect") == 0))
        rule = strtok_r(NULL, blank, &rest);
    if (rule == NULL)
        return false;
    rest += strspn(rest, blank);
    for (size_t n = strlen(rest); n > 0 && strchr(blank, rest[n - 1]) != NULL; n--)
        rest[n - 1] = 0;
    snprintf(key, KEY, "%.30s %.*s", rule, KEY - 32, rest);
    return true;
}

static bool read_baseline(FILE *f)
{
    char line[KEY], key[KEY];
    while (fgets(line, sizeof line, f) != NULL) {
        if (!read_key(line, key))
            continue;
        char(*p)[KEY] = realloc(now.baseline, (now.num_baseline + 1) * sizeof *p);
        if (p == NULL)
            return false;
        now.baseline = p;
        memcpy(p[now.num_baseline++], key, sizeof key);
    }
    qsort(now.baseline, now.num_baseline, KEY, compare_key);
    return !ferror(f);
}

static void begin(ft_run *run)
{
    const char *path = run->opt->baseline;
    if (path == NULL)
        return;
    FILE *f = fopen(path, "r");
    if (f == NULL || !read_baseline(f)) {
        ft_complain(run, path, "the baseline cannot be read; every finding is shown");
        run->broken = true;
    }
    if (f != NULL)
        fclose(f);
}

/* --- one finding ----------------------------------------------------------------------- */

typedef struct {
    ft_run *run;
    const fk_image *image;
} context;

static void place_text(const fk_finding *f, const ft_point *p, char *buf, size_t size)
{
    fk_table_info info;
    fk_table_info_get(f->table, &info);
    if (f->d == NULL)
        snprintf(buf, size, "%s", ft_module_name(&info));
    else if (p->fn.name != NULL)
        snprintf(buf, size, "%s+0x%llx", p->fn.name, (unsigned long long)p->offset);
    else
        snprintf(buf, size, "%s 0x%llx", ft_module_name(&info), (unsigned long long)f->d->retaddr);
}

static bool is_known(const fk_finding *f, const char *place)
{
    char key[KEY];
    snprintf(key, sizeof key, "%.30s %s", fk_rules[f->rule].id, place);
    return now.num_baseline > 0 &&
           bsearch(key, now.baseline, now.num_baseline, KEY, compare_key) != NULL;
}

static void show_line(ft_out *out, const uint8_t *code, const ft_insn *i, uint64_t mark)
{
    ft_printf(out, "       %s %08llx ", i->address == mark ? "->" : "  ",
              (unsigned long long)i->address);
    for (unsigned k = 0; k < i->length; k++)
        ft_printf(out, " %02x", code[k]);
    ft_printf(out, "  %s %s\n", i->known ? i->mnemonic : ".byte", i->known ? i->operands : "");
}

/* Instructions are decoded from the start of the function, so that they begin
 * where they begin; only those around the return address are shown. */
static void show_window(const context *c, const ft_point *p)
{
    ft_disasm *da = p->fn.name != NULL ? ft_disasm_open(fk_image_abi(c->image)) : NULL;
    uint64_t starts[WINDOW_BEFORE], avail, at = p->fn.addr, ret = p->d.retaddr;
    unsigned n = 0;
    ft_insn i;
    const uint8_t *code = fk_image_bytes(c->image, at, &avail);
    if (da == NULL || code == NULL || ret <= at || ret - at > avail) {
        ft_disasm_close(da);
        return;
    }
    for (uint64_t o = 0; o < ret - at && ft_disasm_next(da, code + o, avail - o, at + o, &i);
         o += i.length)
        starts[n++ % WINDOW_BEFORE] = at + o;
    for (unsigned k = n < WINDOW_BEFORE ? 0 : n - WINDOW_BEFORE; k < n; k++) {
        uint64_t o = starts[k % WINDOW_BEFORE] - at;
        if (ft_disasm_next(da, code + o, avail - o, at + o, &i))
            show_line(&c->run->out, code + o, &i, ret);
    }
    if (ret - at < avail && ft_disasm_next(da, code + (ret - at), avail - (ret - at), ret, &i))
        show_line(&c->run->out, code + (ret - at), &i, ret);
    ft_disasm_close(da);
}

static void show_text(const context *c, const fk_finding *f, const ft_point *p, const char *place)
{
    ft_run *run = c->run;
    if (run->opt->detail != FT_DETAILS)
        return;
    ft_printf(&run->out, "%-7s %s  ", fk_verdict_name(f->verdict), fk_rules[f->rule].id);
    ft_puts_name(&run->out, place);
    ft_printf(&run->out, "\n        %s\n", f->sentence);
    if (f->d == NULL)
        return;
    show_window(c, p);
    ft_printf(&run->out, "        %s, frame %u, %u roots, %u blocks\n", ft_kind(f->d),
              f->d->frame_size, f->d->num_live, f->d->num_allocs);
    ft_show_details(run, p, "        ");
}

static void add_json(const fk_finding *f, const ft_point *p, const char *place, ft_run *run)
{
    json_t *o = json_object();
    json_object_set_new(o, "verdict", json_string(fk_verdict_name(f->verdict)));
    json_object_set_new(o, "rule", json_string(fk_rules[f->rule].id));
    json_object_set_new(o, "place", ft_json_text(place));
    json_object_set_new(o, "sentence", ft_json_text(f->sentence));
    if (f->d != NULL)
        json_object_set_new(o, "descriptor", ft_json_point(run, p));
    json_array_append_new(now.list, o);
}

static void one_finding(const fk_finding *f, void *arg)
{
    context *c = arg;
    fk_table_info info;
    ft_point p = {0};
    char place[PLACE];
    fk_table_info_get(f->table, &info);
    if (f->d != NULL) {
        p.d = *f->d;
        ft_point_locate(c->image, &p, &now.cache);
    }
    if (!ft_module_matches(c->run, &info) ||
        (c->run->opt->function && !ft_function_matches(c->run->opt, p.fn.name)))
        return;
    place_text(f, &p, place, sizeof place);
    if (is_known(f, place)) {
        now.known++;
        return;
    }
    now.findings[f->verdict]++;
    c->run->findings |=
        f->verdict == FK_VERDICT_WRONG || (f->verdict == FK_VERDICT_SUSPECT && c->run->opt->strict);
    c->run->suspects |= f->verdict == FK_VERDICT_SUSPECT;
    if (c->run->opt->style == FT_JSON)
        add_json(f, &p, place, c->run);
    else
        show_text(c, f, &p, place);
}

/* --- one file ------------------------------------------------------------------------------ */

static bool table_matches(ft_run *run, const fk_image *im, const fk_table *t)
{
    fk_table_info info;
    fk_cursor cursor;
    fk_error err;
    ft_point p = {0};
    fk_table_info_get(t, &info);
    if (!ft_module_matches(run, &info) || run->opt->function == NULL)
        return ft_module_matches(run, &info);
    fk_cursor_start(t, &cursor);
    while (fk_cursor_next(&cursor, &p.d, &err) == FK_OK) {
        ft_point_locate(im, &p, &now.cache);
        if (ft_function_matches(run->opt, p.fn.name))
            return true;
    }
    return false;
}

static void image(ft_run *run, const fk_image *im)
{
    const fk_table *t;
    context c = {run, im};
    fk_error err;
    memset(&now.cache, 0, sizeof now.cache);
    if (now.list == NULL)
        now.list = json_array();
    for (size_t i = 0; (t = fk_image_table(im, i)) != NULL; i++)
        run->matched += table_matches(run, im, t);
    if (fk_verify_image(im, run->opt->groups, one_finding, &c, &now.tally, &err) != FK_OK)
        ft_fault(run, &err);
}

static uint64_t total(const uint64_t *count)
{
    return count[FK_VERDICT_OK] + count[FK_VERDICT_WRONG] + count[FK_VERDICT_SUSPECT] +
           count[FK_VERDICT_UNCHECKED];
}

static void reasons_text(ft_run *run)
{
    for (unsigned i = 0; i < now.tally.num_reasons; i++) {
        const fk_reason *r = &now.tally.reasons[i];
        ft_printf(&run->out, "%s  %-16s %10llu  %s\n", i == 0 ? "  not checked because\n" : "",
                  fk_rules[r->rule].id, (unsigned long long)r->count, r->text);
    }
}

static void summary_text(ft_run *run, const char *path)
{
    ft_puts_name(&run->out, path);
    ft_printf(&run->out, ": %llu wrong, %llu suspect",
              (unsigned long long)now.findings[FK_VERDICT_WRONG],
              (unsigned long long)now.findings[FK_VERDICT_SUSPECT]);
    if (now.known > 0)
        ft_printf(&run->out, ", %llu in the baseline", (unsigned long long)now.known);
    ft_puts(&run->out, "\n");
    if (run->opt->detail == FT_QUIET)
        return;
    ft_printf(&run->out, "  %-16s %10s %8s %8s %12s\n", "rule", "ok", "wrong", "suspect",
              "not checked");
    for (unsigned i = 0; i < FK_RULES; i++) {
        const uint64_t *n = now.tally.count[i];
        if (total(n) > 0)
            ft_printf(&run->out, "  %-16s %10llu %8llu %8llu %12llu\n", fk_rules[i].id,
                      (unsigned long long)n[FK_VERDICT_OK], (unsigned long long)n[FK_VERDICT_WRONG],
                      (unsigned long long)n[FK_VERDICT_SUSPECT],
                      (unsigned long long)n[FK_VERDICT_UNCHECKED]);
    }
    reasons_text(run);
}

static json_t *reasons_json(void)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < now.tally.num_reasons; i++) {
        const fk_reason *r = &now.tally.reasons[i];
        json_t *o = json_object();
        json_object_set_new(o, "rule", json_string(fk_rules[r->rule].id));
        json_object_set_new(o, "reason", json_string(r->text));
        json_object_set_new(o, "count", json_integer((json_int_t)r->count));
        json_array_append_new(list, o);
    }
    return list;
}

static void summary_json(ft_run *run, const char *path)
{
    json_t *rules = json_array();
    for (unsigned i = 0; i < FK_RULES; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "rule", json_string(fk_rules[i].id));
        json_object_set_new(o, "group", json_string(fk_group_name(fk_rules[i].group)));
        for (unsigned v = 0; v < FK_VERDICTS; v++)
            json_object_set_new(o, fk_verdict_name((fk_verdict)v),
                                json_integer((json_int_t)now.tally.count[i][v]));
        json_array_append_new(rules, o);
    }
    if (!run->flat)
        ft_json_open(&run->json, NULL, '{');
    ft_json_value(&run->json, "file", ft_json_text(path));
    ft_json_value(&run->json, "findings", json_incref(now.list));
    ft_json_value(&run->json, "known", json_integer((json_int_t)now.known));
    ft_json_value(&run->json, "rules", rules);
    ft_json_value(&run->json, "not checked because", reasons_json());
    ft_errors_json(run);
    if (!run->flat)
        ft_json_close(&run->json, '}');
}

static void file_end(ft_run *run, const char *path)
{
    if (run->opt->style == FT_JSON)
        summary_json(run, path);
    else
        summary_text(run, path);
    json_decref(now.list);
    now.list = NULL;
    now.known = 0;
    memset(&now.tally, 0, sizeof now.tally);
    memset(now.findings, 0, sizeof now.findings);
}

static void end(ft_run *run)
{
    (void)run;
    free(now.baseline);
}

const ft_mode ft_mode_verify = {.option = "verify", .begin = begin, .image = image,
                                .file_end = file_end, .end = end, .no_csv = true};
