/* options.c - the command line. Scripts depend on every word of it. */
#include "frametable/ftdump/ftdump.h"
#include "frametable/ftdump/disasm.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_text[] =
    "usage: ftdump [MODE] [OPTION...] FILE...\n"
    "\n"
    "Shows the frametables of native OCaml files: executables, plugins (.cmxs),\n"
    "objects (.o) and archives (.a) of amd64, arm64, power, s390x and riscv64.\n"
    "\n"
    "Modes (one of):\n"
    "  --descriptors      every descriptor: frame, roots, blocks, places (default)\n"
    "  --summary          totals of each file\n"
    "  --totals           one line of totals for each file\n"
    "  --debuginfo        every debuginfo chain and how many descriptors use it\n"
    "  --histogram        distributions: sizes, deltas, roots, blocks, lines, sharing\n"
    "  --sizes            bytes of each module, largest first\n"
    "  --lookup=ADDR,...  what the collector finds at return addresses (-: from stdin)\n"
    "  --disassemble      code with each descriptor at its return address\n"
    "  --diff OLD NEW     two builds compared, in total and by module\n"
    "  --recode=A|B|C|O1|O2|O3  what the file would need in another format\n"
    "  --roundtrip        decode, encode, compare the bytes\n"
    "  --verify[=structure,calls,alloc,frame,live,abi,cfi,debug]  hold the tables against\n"
    "                     themselves, the code, its unwinding rows and its line table\n"
    "\n"
    "Options:\n"
    "  --module=GLOB, --function=GLOB   only these\n"
    "  --format=auto|A|B|C|O1|O2|O3     read the tables in this format\n"
    "  --scan                           ignore symbols, find tables by their structure\n"
    "  --output-style=text|json|csv     form of the output (text)\n"
    "  --plot=FILE.svg                  box plot (--sizes, --diff, --recode)\n"
    "  --top=N                          only the N largest rows (--sizes, --diff, --recode)\n"
    "  --no-addresses                   output that does not change with the link order\n"
    "  --color=auto|always|never        auto respects NO_COLOR and TERM=dumb\n"
    "  --error-display=quiet|summary|details, --strict, --baseline=FILE   with --verify\n"
    "  --explain=RULE                   what a rule of --verify compares\n"
    "  --help, --version                this text, the versions of ftdump and Capstone\n"
    "\n"
    "Exit: 0 clean, 1 findings, differences or a table broken in part, 2 only suspects,\n"
    "3 usage or nothing could be read. Formats: A OCaml 4.05-4.10, B 4.11-5.1, C 5.2-5.4,\n"
    "O1-O3 OxCaml.\n";

static bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool fail(const char *format, ...)
{
    va_list ap;
    fputs("ftdump: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputs("\nTry 'ftdump --help'.\n", stderr);
    return false;
}

enum {
    OPT_MODULE = 256,
    OPT_FUNCTION,
    OPT_FORMAT,
    OPT_SCAN,
    OPT_STYLE,
    OPT_PLOT,
    OPT_TOP,
    OPT_NO_ADDRESSES,
    OPT_COLOR,
    OPT_HELP,
    OPT_VERSION,
    OPT_VERIFY,
    OPT_EXPLAIN,
    OPT_DETAIL,
    OPT_STRICT,
    OPT_BASELINE,
    OPT_MODES
};

static const struct option long_options[] = {
    {"module", required_argument, NULL, OPT_MODULE},
    {"function", required_argument, NULL, OPT_FUNCTION},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"scan", no_argument, NULL, OPT_SCAN},
    {"output-style", required_argument, NULL, OPT_STYLE},
    {"plot", required_argument, NULL, OPT_PLOT},
    {"top", required_argument, NULL, OPT_TOP},
    {"no-addresses", no_argument, NULL, OPT_NO_ADDRESSES},
    {"color", required_argument, NULL, OPT_COLOR},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {"verify", optional_argument, NULL, OPT_VERIFY},
    {"explain", required_argument, NULL, OPT_EXPLAIN},
    {"error-display", required_argument, NULL, OPT_DETAIL},
    {"strict", no_argument, NULL, OPT_STRICT},
    {"baseline", required_argument, NULL, OPT_BASELINE},
    /* modes, in the order of `modes` */
    {"descriptors", no_argument, NULL, OPT_MODES + 0},
    {"summary", no_argument, NULL, OPT_MODES + 1},
    {"totals", no_argument, NULL, OPT_MODES + 2},
    {"debuginfo", no_argument, NULL, OPT_MODES + 3},
    {"histogram", no_argument, NULL, OPT_MODES + 4},
    {"sizes", no_argument, NULL, OPT_MODES + 5},
    {"lookup", required_argument, NULL, OPT_MODES + 6},
    {"disassemble", no_argument, NULL, OPT_MODES + 7},
    {"diff", no_argument, NULL, OPT_MODES + 8},
    {"recode", required_argument, NULL, OPT_MODES + 9},
    {"roundtrip", no_argument, NULL, OPT_MODES + 10},
    {NULL, 0, NULL, 0},
};

static const ft_mode *const modes[] = {
    &ft_mode_descriptors, &ft_mode_summary, &ft_mode_totals,    &ft_mode_debuginfo,
    &ft_mode_histogram,   &ft_mode_sizes,   &ft_mode_lookup,    &ft_mode_disassemble,
    &ft_mode_diff,        &ft_mode_recode,  &ft_mode_roundtrip,
};

static bool set_mode(ft_options *o, const ft_mode *mode)
{
    if (o->mode != NULL && o->mode != mode)
        return fail("--%s and --%s exclude each other", o->mode->option, mode->option);
    o->mode = mode;
    if (mode == &ft_mode_lookup)
        o->lookup = optarg;
    if (mode == &ft_mode_recode &&
        (!fk_generation_parse(optarg, &o->recode) || o->recode == FK_GEN_AUTO))
        return fail("--recode=%s: the format is one of A B C O1 O2 O3", optarg);
    return true;
}

static bool set_style(ft_options *o)
{
    static const char *const names[] = {[FT_TEXT] = "text", [FT_JSON] = "json", [FT_CSV] = "csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(optarg, names[i]) == 0) {
            o->style = (ft_style)i;
            return true;
        }
    return fail("--output-style=%s: the style is text, json or csv", optarg);
}

/* https://no-color.org: any value but the empty one turns colour off. */
static bool terminal_wants_color(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(1) && (no == NULL || *no == 0) && term != NULL && strcmp(term, "dumb") != 0;
}

static bool set_color(ft_options *o)
{
    if (strcmp(optarg, "always") == 0)
        o->colored = true;
    else if (strcmp(optarg, "never") == 0)
        o->colored = false;
    else if (strcmp(optarg, "auto") != 0)
        return fail("--color=%s: auto, always or never", optarg);
    return true;
}

static bool set_top(ft_options *o)
{
    char *end;
    long n = strtol(optarg, &end, 10);
    if (*optarg == 0 || *end != 0 || n < 1 || n > 1000000)
        return fail("--top=%s: a number of rows, 1 or more", optarg);
    o->top = (unsigned)n;
    return true;
}

static bool served(int *status, const char *text)
{
    *status = fputs(text, stdout) < 0 || fflush(stdout) != 0 ? FT_EXIT_USAGE : FT_EXIT_CLEAN;
    return false;
}

static bool serve_version(int *status)
{
    char text[200];
    snprintf(text, sizeof text, "ftdump (framekit) %s, %s\n", fk_version(), ft_disasm_version());
    return served(status, text);
}

static bool set_verify(ft_options *o)
{
    o->groups = ft_verify_groups(optarg);
    if (o->groups == 0)
        return fail("--verify=%s: the groups are %s", optarg, ft_verify_group_names());
    return set_mode(o, &ft_mode_verify);
}

static bool explain(int *status)
{
    if (!ft_explain(optarg))
        return fail("--explain=%s: no such rule", optarg);
    *status = FT_EXIT_CLEAN;
    return false;
}

static bool set_detail(ft_options *o)
{
    static const char *const names[] = {
        [FT_DETAILS] = "details", [FT_SUMMARY_ONLY] = "summary", [FT_QUIET] = "quiet"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(optarg, names[i]) == 0) {
            o->detail = (ft_detail)i;
            return true;
        }
    return fail("--error-display=%s: quiet, summary or details", optarg);
}

static bool set_option(ft_options *o, int c, int *status)
{
    switch (c) {
    case OPT_MODULE: o->module = optarg; return true;
    case OPT_FUNCTION: o->function = optarg; return true;
    case OPT_SCAN: o->open.scan = true; return true;
    case OPT_PLOT: o->plot = optarg; return true;
    case OPT_NO_ADDRESSES: o->addresses = false; return true;
    case OPT_STYLE: return set_style(o);
    case OPT_TOP: return set_top(o);
    case OPT_COLOR: return set_color(o);
    case OPT_HELP: return served(status, help_text);
    case OPT_VERSION: return serve_version(status);
    case OPT_VERIFY: return set_verify(o);
    case OPT_EXPLAIN: return explain(status);
    case OPT_DETAIL: return set_detail(o);
    case OPT_STRICT: return o->strict = true;
    case OPT_BASELINE: o->baseline = optarg; return true;
    case OPT_FORMAT:
        return fk_generation_parse(optarg, &o->open.generation) ||
               fail("--format=%s: the format is auto or one of A B C O1 O2 O3", optarg);
    default: break;
    }
    if (c >= OPT_MODES)
        return set_mode(o, modes[c - OPT_MODES]);
    fputs("Try 'ftdump --help'.\n", stderr); /* getopt has said what is wrong */
    return false;
}

static bool check(ft_options *o)
{
    if (o->mode == NULL)
        o->mode = o->plot != NULL ? &ft_mode_sizes : &ft_mode_descriptors;
    if (o->num_files == 0)
        return fail("no FILE given");
    if (o->mode->takes_pair && o->num_files != 2)
        return fail("--%s takes two files: OLD NEW", o->mode->option);
    if (o->mode->no_csv && o->style == FT_CSV)
        return fail("--%s has no csv form", o->mode->option);
    if (o->plot != NULL && !o->mode->can_plot)
        return fail("--plot goes with --sizes, --diff or --recode");
    if (o->plot != NULL && o->num_files != 1 && !o->mode->takes_pair)
        return fail("--plot takes one FILE");
    if (o->lookup != NULL && strcmp(o->lookup, "-") == 0 && o->num_files != 1)
        return fail("--lookup=- takes one FILE");
    if (o->mode == &ft_mode_disassemble && !ft_disasm_available())
        return fail("--disassemble: %s", ft_disasm_version());
    return true;
}

bool ft_options_parse(ft_options *o, int argc, char **argv, int *status)
{
    int c;
    memset(o, 0, sizeof *o);
    o->addresses = true;
    o->colored = terminal_wants_color();
    *status = FT_EXIT_USAGE;
    argv[0] = (char[]){"ftdump"}; /* for the messages of getopt */
    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!set_option(o, c, status))
            return false;
    o->files = argv + optind;
    o->num_files = argc - optind;
    return check(o);
}
