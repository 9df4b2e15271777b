/* main.c - stubcheck OBJECT|ARCHIVE... */
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stubs/check/stubcheck.h"

static const char usage_text[] =
    "usage: stubcheck [options] OBJECT|ARCHIVE...\n"
    "  --arch=A,...          only objects of these: amd64 arm64 power s390x riscv64\n"
    "  --contract=GLOB       show only these contracts, rules, stubs or stub/rule\n"
    "  --baseline=FILE       violations that are known, as the report shows them\n"
    "  --list                contracts, their rules, and the stubs\n"
    "  --explain=RULE        what a rule demands and why\n"
    "  --seed=N              random contents (1)\n"
    "  --qemu=PATH           the emulator, also on the machine's own architecture\n"
    "  --abi=VERSION         domain state of an object that does not tell (5.3)\n"
    "  --seconds=N           time limit of one case, in processor time (4)\n"
    "  --no-trace            the cases only, not instruction by instruction\n"
    "  --fast                end with the first violation\n"
    "  --harness=DIR         where the harnesses are: DIR/ARCH/stubcheck\n"
    "  --output-style=text|json|junit  form of the report (text)\n"
    "  --help                this text\n"
    "exit: 0 all hold, 1 violations, 2 inconclusive, 3 usage or nothing to check\n";

static int misuse(const char *what, const char *value)
{
    fprintf(stderr, "stubcheck: %s%s (--help)\n", what, value);
    return SC_USAGE;
}

static int list(void)
{
    size_t n;
    const char *const *contracts = sc_contracts(&n);
    for (size_t i = 0; i < n; i++) {
        printf("%s\n", contracts[i]);
        for (size_t k = 0; k < sc_num_rules; k++)
            if (strcmp(sc_rules[k].contract, contracts[i]) == 0)
                printf("  %-28s %s\n", sc_rules[k].id, sc_rules[k].holds);
    }
    puts("stubs");
    for (size_t i = 0; i < sc_num_stub_rows; i++)
        printf("  %-28s %s\n", sc_stub_rows[i].name, sc_stub_rows[i].contracts);
    return 0;
}

static int explain(const char *id)
{
    const sc_rule *r = sc_rule_of(id);
    if (!r) {
        fprintf(stderr, "stubcheck: no rule '%s' (see --list)\n", id);
        return SC_USAGE;
    }
    printf("%s (contract %s)\n  %s.\n  %s\n", r->id, r->contract, r->holds, r->why);
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)s;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static bool wanted(const sc_options *options, const char *arch)
{
    size_t n = strlen(arch);
    for (const char *p = options->arch; p && (p = strstr(p, arch)); p += n)
        if ((p == options->arch || p[-1] == ',') && (p[n] == ',' || !p[n]))
            return true;
    return !options->arch;
}

/* NULL: it could not be read, and stderr says why. */
static sc_result *check(const char *file, const sc_options *options, const char *dir)
{
    sc_object *o = calloc(1, sizeof *o);
    sc_result *r = calloc(1, sizeof *r);
    char *error = NULL;
    double start = now();
    if (!sc_object_open(o, file, dir, options->abi, &error) || !wanted(options, o->abi->name)) {
        fprintf(stderr, "stubcheck: %s%s\n", error ? error : file,
                error ? "" : ": not of the architectures asked for");
        free(error);
        sc_object_close(o);
        free(o);
        free(r);
        return NULL;
    }
    sc_result_init(r, o, options);
    bool linked = sc_link(o, options, dir, &r->linked, &error);
    if (linked && options->fast && (!sc_run(r) || r->num_violations)) {
        /* one violation is all that is wanted */
    } else if (linked && sc_read_program(o, !options->no_trace, &r->linked, &error)) {
        sc_run(r);
        sc_check_static(r);
        sc_merge_rows(r);
    } else {
        r->reason = error;
        r->inconclusive = true;
    }
    r->seconds = now() - start;
    return r;
}

static void release(sc_result *r)
{
    sc_object_close(r->object);
    free(r->object);
    sc_result_free(r);
    free(r);
}

static int check_all(char **files, int n, const sc_options *options)
{
    sc_result **results = calloc((size_t)n, sizeof *results);
    size_t num = 0;
    int code = SC_HOLDS;
    bool unread = false;
    for (int i = 0; i < n; i++) {
        char *base = getenv("TMPDIR"), path[1024];
        snprintf(path, sizeof path, "%s/stubcheck-XXXXXX", base && *base ? base : "/tmp");
        if (!mkdtemp(path)) {
            fprintf(stderr, "stubcheck: no folder %s: %s\n", path, strerror(errno));
            return SC_USAGE;
        }
        sc_result *r = check(files[i], options, path);
        nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        sc_end_if_stopped();
        if (!r) {
            unread = true;
            continue;
        }
        results[num++] = r;
        int one = sc_exit_code(r);
        if (one == SC_VIOLATED || (one == SC_INCONCLUSIVE && code == SC_HOLDS))
            code = one;
        if (strcmp(options->style, "text") == 0)
            sc_report_text(r, stdout);
    }
    if (strcmp(options->style, "json") == 0)
        sc_report_json(results, num, stdout);
    if (strcmp(options->style, "junit") == 0)
        sc_report_junit(results, num, stdout);
    for (size_t i = 0; i < num; i++)
        release(results[i]);
    free(results);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "stubcheck: the report cannot be written: %s\n", strerror(errno));
        return SC_USAGE;
    }
    if (num == 0)
        return SC_USAGE;
    return unread && code == SC_HOLDS ? SC_INCONCLUSIVE : code;
}

static bool number(const char *text, unsigned long long *value)
{
    char *end;
    *value = strtoull(text, &end, 0);
    return end != text && !*end && *text != '-';
}

/* Does the glob name a contract, rule, stub or stub/rule of --list? */
static bool glob_is_known(const char *glob)
{
    for (size_t k = 0; k < sc_num_rules; k++)
        for (size_t i = 0; i < sc_num_stub_rows; i++)
            if (sc_glob_matches(glob, sc_stub_rows[i].name, &sc_rules[k]))
                return true;
    return false;
}

/* 0, or SC_USAGE after a message. */
static int read_options(int argc, char **argv, sc_options *o)
{
    static const struct option long_options[] = {
        {"arch", required_argument, NULL, 'a'},    {"contract", required_argument, NULL, 'c'},
        {"list", no_argument, NULL, 'l'},          {"explain", required_argument, NULL, 'e'},
        {"seed", required_argument, NULL, 's'},    {"qemu", required_argument, NULL, 'q'},
        {"abi", required_argument, NULL, 'v'},     {"output-style", required_argument, NULL, 'o'},
        {"baseline", required_argument, NULL, 'b'},
        {"harness", required_argument, NULL, 'H'}, {"seconds", required_argument, NULL, 't'},
        {"fast", no_argument, NULL, 'f'},          {"no-trace", no_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        switch (c) {
        case 'a': o->arch = optarg; break;
        case 'c': o->glob = optarg; break;
        case 'l': exit(list());
        case 'e': exit(explain(optarg));
        case 's':
            if (!number(optarg, &o->seed))
                return misuse("no number: --seed=", optarg);
            break;
        case 'q': o->qemu = optarg; break;
        case 'v': o->abi = optarg; break;
        case 'o': o->style = optarg; break;
        case 'b':
            sc_baseline_free(o->baseline);
            if (!(o->baseline = sc_baseline_read(optarg)))
                return misuse("cannot be read: --baseline=", optarg);
            break;
        case 'H': o->harness = optarg; break;
        case 't':
            if (!number(optarg, &o->seconds) || o->seconds < 1 || o->seconds > 3600)
                return misuse("no number from 1 to 3600: --seconds=", optarg);
            break;
        case 'f': o->fast = true; break;
        case 'n': o->no_trace = true; break;
        case 'h': exit(fputs(usage_text, stdout) < 0);
        default: return misuse("wrong option", "");
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    sc_options o = {.style = "text", .seed = 1, .seconds = 4};
    fk_ocaml_version version;
    if (read_options(argc, argv, &o))
        return SC_USAGE;
    if (optind == argc)
        return misuse("no OBJECT or ARCHIVE", "");
    if (strcmp(o.style, "text") && strcmp(o.style, "json") && strcmp(o.style, "junit"))
        return misuse("the style is text, json or junit, not ", o.style);
    if (o.abi && !fk_ocaml_version_parse(o.abi, &version))
        return misuse("unknown version: --abi=", o.abi);
    if (o.glob && !glob_is_known(o.glob))
        return misuse("nothing in --list matches --contract=", o.glob);
    sc_catch_stops();
    int code = check_all(argv + optind, argc - optind, &o);
    sc_baseline_free(o.baseline);
    return code;
}
