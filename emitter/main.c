/* main.c - cmmc: the command line.
 *
 * Exit: 0, 1 an error in the input, 3 usage. An output file appears only when
 * everything went well: it is written beside its name and renamed.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emitter/assemble.h"
#include "emitter/cmmc.h"
#include "emitter/interp.h"
#include "emitter/pages.h"
#include "emitter/startup.h"

enum { EXIT_OK = 0, EXIT_INPUT = 1, EXIT_USAGE = 3 };

static const char usage_text[] =
    "usage: cmmc --target=ARCH [options] FILE...\n"
    "       cmmc --interpret [--target=ARCH] FILE...\n"
    "       cmmc --startup --target=ARCH [options] OBJECT|ARCHIVE...\n"
    "  --target=ARCH             amd64 arm64 power s390x riscv64\n"
    "  --abi=5.3|5.4             OCaml version to be compatible with (5.3)\n"
    "  -S | -c                   write assembly (default) or an object\n"
    "  -o FILE                   output; - is standard output\n"
    "  -g                        locations in frametables, line rows\n"
    "  --emit=cmm|linear|asm     write what a pass made (standard output)\n"
    "  --input=dialect|dcmm|lossless  form of the input (recognised by itself)\n"
    "  --unit=SYMBOL             unit symbol (camlFoo for foo.cmm)\n"
    "  --check                   parse and check only\n"
    "  --interpret               run with the reference interpreter\n"
    "  --entry=NAME              function to interpret (every one named *.entry)\n"
    "  --no-comballoc            do not merge allocations\n"
    "  --no-polls                do not add polls\n"
    "  --no-pic                  no PLT, no GOT (amd64, arm64)\n"
    "  --function-sections       a section for each function\n"
    "  --frametable=A|B|C|O1|O2|O3  generation of the frametable (C)\n"
    "  --startup                 make the start-up unit of a program\n"
    "  --help                    this text\n"
    "exit: 0 done, 1 an error in the input, 3 usage\n";

typedef struct {
    cmmc_options c;
    cmm_mode mode;
    const char *output, *unit, *entry;
    bool object, interpret, check_only, startup, roundtrip, emit_given;
    char **files;
    int nfiles;
    int status;
} job;

/* --- options ------------------------------------------------------------------------- */
enum {
    O_TARGET = 256,
    O_ABI,
    O_EMIT,
    O_INPUT,
    O_UNIT,
    O_CHECK,
    O_INTERPRET,
    O_ENTRY,
    O_NO_COMBALLOC,
    O_NO_POLLS,
    O_NO_PIC,
    O_SECTIONS,
    O_FRAMETABLE,
    O_STARTUP,
    O_ROUNDTRIP,
    O_HELP
};

static const struct option long_options[] = {
    {"target", required_argument, NULL, O_TARGET},
    {"abi", required_argument, NULL, O_ABI},
    {"emit", required_argument, NULL, O_EMIT},
    {"input", required_argument, NULL, O_INPUT},
    {"unit", required_argument, NULL, O_UNIT},
    {"check", no_argument, NULL, O_CHECK},
    {"interpret", no_argument, NULL, O_INTERPRET},
    {"entry", required_argument, NULL, O_ENTRY},
    {"no-comballoc", no_argument, NULL, O_NO_COMBALLOC},
    {"no-polls", no_argument, NULL, O_NO_POLLS},
    {"no-pic", no_argument, NULL, O_NO_PIC},
    {"function-sections", no_argument, NULL, O_SECTIONS},
    {"frametable", required_argument, NULL, O_FRAMETABLE},
    {"startup", no_argument, NULL, O_STARTUP},
    {"check-roundtrip", no_argument, NULL, O_ROUNDTRIP},
    {"help", no_argument, NULL, O_HELP},
    {NULL, 0, NULL, 0},
};

static bool usage(const char *what, const char *arg) {
    fprintf(stderr, "cmmc: %s%s%s (--help)\n", what, arg != NULL ? ": " : "",
            arg != NULL ? arg : "");
    return false;
}

/* The index of text in a list of words that ends with NULL, -1: not there. */
static int word_index(const char *const *words, const char *text) {
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

static bool set_target(job *j, const char *arg) {
    j->c.abi = fk_abi_by_name(arg);
    return (j->c.abi != NULL && j->c.abi->can_emit) || usage("unknown target", arg);
}

static bool set_emit(job *j, const char *arg) {
    static const char *const words[] = {"asm", "cmm", "linear", NULL};
    int i = word_index(words, arg);
    j->c.stage = (cmmc_stage)i;
    j->emit_given = true;
    return i >= 0 || usage("unknown stage", arg);
}

static bool set_mode(job *j, const char *arg) {
    static const char *const words[] = {"auto", "dialect", "dcmm", "lossless", NULL};
    int i = word_index(words, arg);
    j->mode = (cmm_mode)i;
    return i >= 0 || usage("unknown form", arg);
}

static bool set_abi(job *j, const char *arg) {
    bool known = fk_ocaml_version_parse(arg, &j->c.version) &&
                 (j->c.version == FK_OCAML_5_3 || j->c.version == FK_OCAML_5_4);
    return known || usage("unknown ABI", arg);
}

static bool set_frametable(job *j, const char *arg) {
    return fk_generation_parse(arg, &j->c.frametable) || usage("unknown format", arg);
}

static bool set_option(job *j, int option, const char *arg) {
    switch (option) {
    case O_TARGET:
        return set_target(j, arg);
    case O_ABI:
        return set_abi(j, arg);
    case O_EMIT:
        return set_emit(j, arg);
    case O_INPUT:
        return set_mode(j, arg);
    case O_UNIT:
        j->unit = arg;
        return true;
    case O_ENTRY:
        j->entry = arg;
        return true;
    case O_FRAMETABLE:
        return set_frametable(j, arg);
    case O_CHECK:
        j->check_only = true;
        return true;
    case O_INTERPRET:
        j->interpret = true;
        return true;
    case O_NO_COMBALLOC:
        j->c.comballoc = false;
        return true;
    case O_NO_POLLS:
        j->c.polls = false;
        return true;
    case O_NO_PIC:
        j->c.pic = false;
        return true;
    case O_SECTIONS:
        j->c.function_sections = true;
        return true;
    case O_STARTUP:
        j->startup = true;
        return true;
    case O_ROUNDTRIP:
        j->roundtrip = true;
        return true;
    case 'o':
        j->output = arg;
        return true;
    case 'c':
        j->object = true;
        return true;
    case 'S':
        j->object = false;
        return true;
    case 'g':
        j->c.debug = true;
        return true;
    default:
        return usage("wrong option", NULL);
    }
}

static bool read_options(job *j, int argc, char **argv) {
    int option;
    while ((option = getopt_long(argc, argv, "o:cSg", long_options, NULL)) != -1) {
        if (option == O_HELP) {
            fputs(usage_text, stdout);
            exit(EXIT_OK);
        }
        if (!set_option(j, option, optarg)) {
            return false;
        }
    }
    j->files = argv + optind;
    j->nfiles = argc - optind;
    if (j->nfiles == 0) {
        return usage("no input", NULL);
    }
    bool compiles = !j->interpret && !j->check_only && !j->roundtrip && j->c.stage != CMMC_EMIT_CMM;
    if (j->c.abi == NULL && (compiles || j->startup)) {
        return usage("--target is missing", NULL);
    }
    if (j->output != NULL && j->nfiles > 1 && compiles && !j->startup) {
        return usage("-o with more than one input", NULL);
    }
    return true;
}

/* --- output files ------------------------------------------------------------------------- */
static bool complain(const char *path) {
    fprintf(stderr, "cmmc: %s: %s\n", path, strerror(errno));
    return false;
}

/* Devices, pipes and links are written to, never replaced. */
static bool write_in_place(const char *path, const char *data, size_t size) {
    FILE *f = fopen(path, "wb");
    bool ok = f != NULL && fwrite(data, 1, size, f) == size;
    ok = f != NULL && fclose(f) == 0 && ok;
    return ok || complain(path);
}

static bool write_file(const char *path, const char *data, size_t size) {
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return write_in_place(path, data, size);
    }
    char *temp = NULL;
    if (asprintf(&temp, "%s.XXXXXX", path) < 0) {
        return complain(path);
    }
    int fd = mkstemp(temp);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool ok = f != NULL && fwrite(data, 1, size, f) == size;
    mode_t mask = umask(0);
    umask(mask);
    ok = f != NULL && fchmod(fd, 0666 & ~mask) == 0 && ok;
    ok = f != NULL && fclose(f) == 0 && ok && rename(temp, path) == 0;
    if (!ok) {
        complain(path);
        if (fd >= 0) {
            unlink(temp);
        }
    }
    free(temp);
    return ok;
}

/* dir/foo.cmm -> foo.s; a name without a suffix gets one. */
static char *default_output(const char *input, const char *suffix) {
    const char *base = strrchr(input, '/');
    base = base != NULL ? base + 1 : input;
    const char *dot = strrchr(base, '.');
    int n = dot != NULL && dot > base ? (int)(dot - base) : (int)strlen(base);
    char *name = NULL;
    return asprintf(&name, "%.*s%s", n, base, suffix) < 0 ? NULL : name;
}

static bool assemble(const job *j, const char *text, size_t size, char **object, size_t *osize) {
    char error[512];
    if (fk_assemble(j->c.abi->name, text, size, object, osize, error, sizeof error)) {
        return true;
    }
    fprintf(stderr, "cmmc: %s\n", error);
    return false;
}

static bool deliver(const job *j, const char *input, const char *text, size_t size) {
    char *object = NULL, *name = NULL;
    const char *path = j->output;
    bool to_stdout =
        path != NULL ? strcmp(path, "-") == 0 : j->emit_given || strcmp(input, "-") == 0;
    if (j->object) {
        if (!assemble(j, text, size, &object, &size)) {
            return false;
        }
        text = object;
    }
    bool ok;
    if (to_stdout) {
        ok = (fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0) || complain("stdout");
    } else {
        name = path == NULL ? default_output(input, j->object ? ".o" : ".s") : NULL;
        ok = write_file(path != NULL ? path : name, text, size);
    }
    free(name);
    free(object);
    return ok;
}

/* --- one input -------------------------------------------------------------------------------- */
static void must(bool ok) {
    if (!ok) {
        fprintf(stderr, "cmmc: out of memory\n");
        exit(EXIT_USAGE);
    }
}

static bool compile(const job *j, cmm_unit *u) {
    pages_text text;
    FILE *out = pages_open(&text);
    must(out != NULL);
    bool ok = true;
    if (j->c.stage == CMMC_EMIT_CMM) {
        cmm_print_unit(u, out);
    } else {
        ok = cmmc_compile(u, &j->c, out);
    }
    must(fclose(out) == 0);
    ok = ok && u->ndiags == 0 && deliver(j, u->file, text.data, text.length);
    pages_free(&text);
    return ok;
}

/* parse(print(x)) == x */
static bool roundtrip(const cmm_unit *u) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    cmm_print_unit(u, out);
    must(fclose(out) == 0);
    cmm_unit *again = cmm_parse_text("<printed>", text, size, CMM_LOSSLESS, u->unit_symbol->text);
    bool same = cmm_check(again) && cmm_unit_equal(u, again);
    if (!same) {
        fprintf(stderr, "%s: printing and parsing again gave another unit\n", u->file);
        cmm_print_diags(again, stderr);
    }
    cmm_unit_free(again);
    free(text);
    return same;
}

static bool do_file(const job *j, const char *path) {
    cmm_unit *u = cmm_parse_file(path, j->mode, j->unit);
    bool ok = cmm_check(u);
    if (ok && j->roundtrip) {
        ok = roundtrip(u);
    } else if (ok && !j->check_only) {
        ok = compile(j, u);
    }
    cmm_print_diags(u, stderr);
    cmm_unit_free(u);
    return ok;
}

/* The start-up unit gives interpreted programs their generic functions and exceptions. */
static cmm_unit *interpreted_startup(cmm_unit *const *units, size_t n, const cmmc_options *c) {
    const char **needed = NULL;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        needed = realloc(needed, (count + units[i]->nsyms + 1) * sizeof *needed);
        must(needed != NULL);
        for (uint32_t k = 0; k < units[i]->table_size; k++) {
            for (const cmm_sym *s = units[i]->table[k]; s != NULL; s = s->next) {
                needed[count++] = s->text;
            }
        }
    }
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    cmmc_startup_text(NULL, 0, needed, count, c, out);
    must(fclose(out) == 0);
    cmm_unit *u = cmm_parse_text("caml_startup", text, size, CMM_LOSSLESS, "caml_startup");
    must(cmm_check(u));
    free(text);
    free(needed);
    return u;
}

static bool do_interpret(const job *j) {
    size_t n = (size_t)j->nfiles;
    cmm_unit **units = calloc(n + 1, sizeof *units);
    must(units != NULL);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        units[i] = cmm_parse_file(j->files[i], j->mode, NULL);
        ok &= cmm_check(units[i]);
        cmm_print_diags(units[i], stderr);
    }
    units[n] = interpreted_startup(units, n, &j->c);
    const char *target = j->c.abi != NULL ? j->c.abi->name : "amd64";
    ok = ok && cmm_interpret(units, n + 1, target, j->entry, stdout, stderr);
    for (size_t i = 0; i <= n; i++) {
        cmm_unit_free(units[i]);
    }
    free(units);
    return ok;
}

static bool do_startup(const job *j) {
    char *text = NULL, error[512];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    bool ok = cmmc_startup_scan(j->files, (size_t)j->nfiles, &j->c, out, error, sizeof error);
    must(fclose(out) == 0);
    if (!ok) {
        fprintf(stderr, "cmmc: %s\n", error);
    } else {
        cmm_unit *u = cmm_parse_text("caml_startup", text, size, CMM_LOSSLESS, "caml_startup");
        ok = cmm_check(u) && compile(j, u);
        cmm_print_diags(u, stderr);
        cmm_unit_free(u);
    }
    free(text);
    return ok;
}

static void run(void *arg) {
    job *j = arg;
    bool ok = true;
    if (j->interpret) {
        ok = do_interpret(j);
    } else if (j->startup) {
        ok = do_startup(j);
    } else {
        for (int i = 0; i < j->nfiles; i++) {
            ok &= do_file(j, j->files[i]);
        }
    }
    j->status = ok ? EXIT_OK : EXIT_INPUT;
}

/* Passes take and give back arrays of megabytes: memory that was touched once is kept, and
 * the thread that compiles shares it. */
static void keep_memory(void) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 1 << 20);
}

int main(int argc, char **argv) {
    keep_memory();
    job j = {.c = {.version = FK_OCAML_5_3, .comballoc = true, .polls = true, .pic = true}};
    if (!read_options(&j, argc, argv)) {
        return EXIT_USAGE;
    }
    if (!cmm_with_stack(run, &j)) {
        fprintf(stderr, "cmmc: no memory for a stack of %zu bytes\n", CMM_STACK_BYTES);
        return EXIT_USAGE;
    }
    return j.status;
}
