/* json.c - verdicts for programs: JSON and JUnit. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "stubs/check/stubcheck.h"

static const char *const words[] = {"absent", "holds", "violated", "not checked"};

static json_t *violation(const sc_result *r, const sc_violation *v)
{
    char address[32];
    char *window = v->note ? NULL : sc_window(r, v);
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)v->where);
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "stub", v->stub, "contract",
                          v->rule->contract, "rule", v->rule->id, "subject", v->subject, "address",
                          address, "text", v->text, "case", v->case_name, "note", v->note);
    if (window)
        json_object_set_new(o, "window", json_string(window));
    free(window);
    return o;
}

static json_t *verdicts(const sc_result *r, size_t stub)
{
    size_t n;
    const char *const *contracts = sc_contracts(&n);
    const char *reason;
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++) {
        sc_verdict v = sc_verdict_of(r, stub, contracts[i], &reason);
        if (v == V_ABSENT)
            continue;
        json_t *one = json_pack("{s:s}", "verdict", words[v]);
        if (reason)
            json_object_set_new(one, "reason", json_string(reason));
        json_object_set_new(o, contracts[i], one);
    }
    return o;
}

static json_t *result(const sc_result *r)
{
    const sc_object *o = r->object;
    json_t *stubs = json_object(), *list = json_array();
    for (size_t s = 0; s < sc_num_stub_rows; s++)
        if (sc_stub_in_object(r, s))
            json_object_set_new(stubs, sc_stub_rows[s].name, verdicts(r, s));
    for (size_t i = 0; i < r->num_violations; i++)
        if (sc_shown(r, r->violations[i].stub, r->violations[i].rule))
            json_array_append_new(list, violation(r, &r->violations[i]));
    json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:o, s:o}", "file", o->name, "arch",
                            o->abi->name, "ocaml", fk_ocaml_version_name(o->version), "emulator",
                            r->emulator ? r->emulator : "", "seed", (json_int_t)r->options->seed,
                            "seconds", r->seconds, "stubs", stubs, "violations", list);
    if (r->reason)
        json_object_set_new(out, r->inconclusive ? "inconclusive" : "incomplete",
                            json_string(r->reason));
    return out;
}

void sc_report_json(sc_result *const *results, size_t n, FILE *out)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, result(results[i]));
    json_t *document = json_pack("{s:i, s:o}", "schema", 1, "objects", list);
    json_dumpf(document, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(document);
}

/* --- JUnit: one suite per object, one case per stub and contract ------------------------- */
static void escape(const char *text, FILE *out)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, out);
}

static void junit_case(const sc_result *r, size_t stub, const char *contract, FILE *out)
{
    const char *reason;
    sc_verdict v = sc_verdict_of(r, stub, contract, &reason);
    if (v == V_ABSENT)
        return;
    fprintf(out, "  <testcase classname=\"%s.%s\" name=\"%s\">", r->object->abi->name,
            sc_stub_rows[stub].name, contract);
    if (v == V_NOT_CHECKED) {
        fputs("<skipped message=\"", out);
        escape(reason ? reason : "", out);
        fputs("\"/>", out);
    }
    for (size_t i = 0; i < r->num_violations && v == V_VIOLATED; i++) {
        const sc_violation *x = &r->violations[i];
        if (x->note || strcmp(x->stub, sc_stub_rows[stub].name) != 0 ||
            strcmp(x->rule->contract, contract) != 0 || !sc_shown(r, x->stub, x->rule))
            continue;
        fprintf(out, "<failure type=\"%s\" message=\"", x->rule->id);
        escape(x->text, out);
        fputs("\"/>", out);
    }
    fputs("</testcase>\n", out);
}

void sc_report_junit(sc_result *const *results, size_t n, FILE *out)
{
    size_t num;
    const char *const *contracts = sc_contracts(&num);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
    for (size_t i = 0; i < n; i++) {
        fputs(" <testsuite name=\"", out);
        escape(results[i]->object->name, out);
        fputs("\">\n", out);
        for (size_t s = 0; s < sc_num_stub_rows; s++)
            for (size_t k = 0; k < num && sc_stub_in_object(results[i], s); k++)
                junit_case(results[i], s, contracts[k], out);
        fputs(" </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
}
