/* report.c - verdicts and violations as text; the window of instructions. */
#include <stdlib.h>
#include <string.h>

#include "stubs/check/stubcheck.h"

enum { MOST_MARKS = 8, AROUND = 2 };

/* --- the window ------------------------------------------------------------------- */
/* Does the text name `reg` as a whole word (%f13, x18, 13 is not f13)? */
static bool names(const char *text, const char *reg)
{
    size_t n = strlen(reg);
    for (const char *p = text; n > 1 && (p = strstr(p, reg)); p++) {
        bool left = p == text || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", p[-1]);
        bool right = !p[n] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", p[n]);
        if (left && right)
            return true;
    }
    return false;
}

static bool is_marked(const sc_violation *v, const sc_insn *n, bool by_name)
{
    if (by_name)
        return n->stub && strcmp(n->stub, v->stub) == 0 && names(n->text, v->subject);
    return n->address <= v->where && v->where < n->address + n->length;
}

static bool is_register(const sc_result *r, const char *subject)
{
    return fk_abi_reg_by_name(r->object->abi, subject) != NULL;
}

static void put(char **text, size_t *used, const sc_insn *n, bool marked)
{
    char line[512];
    int k = snprintf(line, sizeof line, "      %c %5llx:  %.400s\n", marked ? '>' : ' ',
                     (unsigned long long)n->offset, n->text);
    *text = realloc(*text, *used + (size_t)k + 1);
    memcpy(*text + *used, line, (size_t)k + 1);
    *used += (size_t)k;
}

static size_t mark(const sc_result *r, const sc_violation *v, bool by_name, size_t *marks)
{
    size_t n = 0;
    for (size_t i = 0; i < r->linked.code.count && n < MOST_MARKS; i++)
        if (is_marked(v, &r->linked.code.insn[i], by_name))
            marks[n++] = i;
    return n;
}

char *sc_window(const sc_result *r, const sc_violation *v)
{
    const sc_code *c = &r->linked.code;
    size_t marks[MOST_MARKS], n = 0, used = 0, last = 0;
    char *text = NULL;
    if (is_register(r, v->subject))
        n = mark(r, v, true, marks);
    if (!n)
        n = mark(r, v, false, marks);
    for (size_t k = 0; k < n; k++) {
        size_t from = marks[k] > AROUND ? marks[k] - AROUND : 0, to = marks[k] + AROUND;
        for (size_t i = k && from <= last ? last + 1 : from; i <= to && i < c->count; i++) {
            bool marked = false;
            for (size_t m = 0; m < n; m++)
                marked |= marks[m] == i;
            if (c->insn[i].stub == c->insn[marks[k]].stub)
                put(&text, &used, &c->insn[i], marked);
            last = i;
        }
    }
    return text;
}

/* --- text ------------------------------------------------------------------------------- */
static void put_row(const sc_result *r, size_t stub, FILE *out)
{
    static const char *const words[] = {NULL, "holds", "violated", "not checked"};
    size_t n;
    const char *const *contracts = sc_contracts(&n);
    fprintf(out, "  %s\n", sc_stub_rows[stub].name);
    for (int verdict = V_VIOLATED; verdict <= V_NOT_CHECKED + 1; verdict++) {
        int show = verdict > V_NOT_CHECKED ? V_HOLDS : verdict;
        const char *why = NULL, *reason;
        bool first = true;
        for (size_t i = 0; i < n; i++) {
            if ((int)sc_verdict_of(r, stub, contracts[i], &reason) != show)
                continue;
            fprintf(out, "%s%s", first ? "    " : " ", first ? words[show] : "");
            fprintf(out, "%s%s", first ? ": " : "", contracts[i]);
            first = false;
            why = reason;
        }
        if (!first)
            fprintf(out, "%s%s%s\n", why ? " (" : "", why ? why : "", why ? ")" : "");
    }
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Do they differ in their sentence only? */
static bool alike(const sc_result *r, const sc_violation *v, const sc_violation *w)
{
    if (v->note != w->note || v->rule != w->rule || strcmp(v->stub, w->stub) ||
        strcmp(v->case_name, w->case_name))
        return false;
    char *one = sc_window(r, v), *other = sc_window(r, w);
    bool equal = v->note || same(one, other);
    free(one);
    free(other);
    return equal;
}

/* One paragraph for the `n` at `v`, which are alike. */
static void put_violations(const sc_result *r, const sc_violation *v, size_t n, FILE *out)
{
    char *window = v->note ? NULL : sc_window(r, v);
    fprintf(out, "\n%s %s: %s\n", v->note ? "note" : "violated", v->stub[0] ? v->stub : "?",
            v->rule->id);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "    %s\n", v[i].text);
    if (window)
        fputs(window, out);
    if (v->case_name[0])
        fprintf(out, "    (case %s, --seed=%llu)\n", v->case_name, r->options->seed);
    free(window);
}

static void put_paragraphs(const sc_result *r, FILE *out)
{
    const sc_violation *v = r->violations, *end = v + r->num_violations;
    for (size_t n; v < end; v += n) {
        for (n = 1; v + n < end && alike(r, v, v + n); n++)
            ;
        if (sc_shown(r, v->stub, v->rule))
            put_violations(r, v, n, out);
    }
}

void sc_report_text(const sc_result *r, FILE *out)
{
    size_t counts[4] = {0}, n, notes = 0, known = 0;
    const char *reason;
    const char *const *contracts = sc_contracts(&n);
    const sc_object *o = r->object;
    fprintf(out, "%s: %s, OCaml %s%s, %s\n", o->name, o->abi->name,
            fk_ocaml_version_name(o->version), o->version_known ? "" : " (assumed)",
            r->emulator ? r->emulator : "not run");
    if (r->reason)
        fprintf(out, "  %s: %s\n", r->inconclusive ? "inconclusive" : "incomplete", r->reason);
    for (size_t s = 0; s < sc_num_stub_rows; s++) {
        if (!sc_stub_in_object(r, s))
            continue;
        put_row(r, s, out);
        for (size_t i = 0; i < n; i++)
            counts[sc_verdict_of(r, s, contracts[i], &reason)]++;
    }
    put_paragraphs(r, out);
    for (size_t i = 0; i < r->num_violations; i++) {
        const sc_violation *v = &r->violations[i];
        notes += v->note;
        known += !v->note && sc_baseline_has(r->options->baseline, v->stub, v->rule);
    }
    fprintf(out, "\n%s: %zu hold, %zu violated, %zu not checked; %zu violations, ", o->name,
            counts[V_HOLDS], counts[V_VIOLATED], counts[V_NOT_CHECKED],
            r->num_violations - notes);
    if (known)
        fprintf(out, "%zu of them in the baseline, ", known);
    fprintf(out, "%zu notes, %.1f s\n", notes, r->seconds);
}
