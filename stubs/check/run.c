/* run.c - probe the emulator, run all cases, read the harness's lines. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "stubs/check/stubcheck.h"

enum { MAX_ARGS = 24 };

typedef struct {
    char *argv[MAX_ARGS];
    int n;
    char emulator[512];
} launch;

static bool is_native(const sc_port_row *port)
{
    struct utsname u;
    return uname(&u) == 0 && strcmp(u.machine, port->cpu) == 0;
}

/* Empty for the machine's own architecture, unless --qemu asks for one. */
static void start(launch *l, const sc_result *r)
{
    const sc_port_row *port = sc_port_row_of(r->object->abi->name);
    l->n = 0;
    if (r->options->qemu || !is_native(port)) {
        snprintf(l->emulator, sizeof l->emulator, "%s", r->options->qemu ? r->options->qemu : "");
        if (!r->options->qemu)
            snprintf(l->emulator, sizeof l->emulator, "qemu-%s", port->cpu);
        l->argv[l->n++] = l->emulator;
        if (strcmp(port->cpu, "aarch64") == 0) { /* pointer authentication costs 8x */
            l->argv[l->n++] = "-cpu";
            l->argv[l->n++] = "max,pauth=off";
        }
    }
    l->argv[l->n++] = r->linked.harness;
}

static bool fail(sc_result *r, bool inconclusive, const char *format, const char *a, const char *b)
{
    if (asprintf(&r->reason, format, a, b) < 0)
        r->reason = NULL;
    r->inconclusive = inconclusive;
    return false;
}

static bool read_version(sc_result *r, launch *l)
{
    char *out = NULL, *argv[] = {l->argv[0], "--version", NULL};
    if (l->n == 1) {
        r->emulator = strdup("native");
        return true;
    }
    int status = sc_capture(argv, 10, false, &out);
    out[strcspn(out, "\n")] = 0;
    r->emulator = out;
    if (status == 0)
        return true;
    return fail(r, true, "the emulator %s cannot be run%s", l->argv[0], "");
}

static bool probe(sc_result *r)
{
    launch l;
    char *out = NULL;
    start(&l, r);
    if (!read_version(r, &l))
        return false;
    l.argv[l.n++] = "--probe";
    l.argv[l.n] = NULL;
    int status = sc_capture(l.argv, 20, false, &out);
    bool good = status == 0 && strstr(out, "probe\tok");
    if (!good) {
        out[strcspn(out, "\n")] = 0;
        fail(r, true, "the emulator probe failed (%s): %s", r->emulator,
             status == -2 ? "time limit" : *out ? out : "it ended without an answer");
    }
    free(out);
    return good;
}

/* --- the harness's lines -------------------------------------------------------------- */
static int split(char *line, char **field, int most)
{
    int n = 0;
    while (n < most) {
        field[n++] = line;
        line = n < most ? strchr(line, '\t') : NULL;
        if (!line)
            break;
        *line++ = 0;
    }
    return n;
}

static bool see_line(sc_result *r, char *line)
{
    char *f[7];
    int n = split(line, f, 7);
    if (strcmp(f[0], "V") == 0 && n == 7)
        sc_add_violation(r, f[1], f[2], f[3], strtoull(f[4], NULL, 16), f[5], f[6]);
    else if (strcmp(f[0], "C") == 0 && n == 5)
        sc_add_checks(r, f[1], f[2], (unsigned)atoi(f[3]), (unsigned)atoi(f[4]));
    else
        return strcmp(f[0], "E") == 0;
    return false;
}

bool sc_run(sc_result *r)
{
    launch l;
    char seed[32], seconds[16], *out = NULL, *save = NULL;
    bool ended = false;
    if (!r->options->fast && !probe(r))
        return false;
    start(&l, r);
    snprintf(seed, sizeof seed, "%llu", r->options->seed);
    snprintf(seconds, sizeof seconds, "%llu", r->options->seconds);
    char *more[] = {"--version", (char *)fk_ocaml_version_name(r->object->version), "--seed", seed,
                    "--seconds", seconds, "--image", r->linked.program, "--table", r->linked.table,
                    NULL};
    for (char **m = more; *m; m++)
        l.argv[l.n++] = *m;
    if (r->options->fast)
        l.argv[l.n++] = "--first";
    l.argv[l.n] = NULL;
    int status = sc_capture(l.argv, (int)r->options->seconds * 15, false, &out);
    for (char *line = strtok_r(out, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        ended |= see_line(r, line);
    free(out);
    if (status == -2)
        return fail(r, false, "the time limit of the whole run was reached%s%s", "", "");
    if (!ended)
        return fail(r, false, "the program ended before all cases had run%s%s", "", "");
    return true;
}
