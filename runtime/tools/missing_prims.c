/* framekit-missing-prims [--runtime=ARCHIVE] OBJECT|ARCHIVE...
 *
 * Names the primitives that compiled objects need and framekit's runtime does
 * not have. Names that the objects define for each other, that every program
 * gets from its startup object, and libc's and libm's are not counted.
 *
 * exit: 0 nothing is missing, 1 something is, 3 usage or unreadable input. */
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/abi.h"
#include "abi/installed.h"

struct names {
    struct name {
        char *name, *where;
    } *at;
    size_t size, capacity;
};

static void add(struct names *n, const char *name, const char *where)
{
    if (n->size == n->capacity) {
        n->capacity = n->capacity ? 2 * n->capacity : 1024;
        n->at = realloc(n->at, n->capacity * sizeof *n->at);
        if (!n->at) {
            fprintf(stderr, "framekit-missing-prims: out of memory\n");
            exit(3);
        }
    }
    n->at[n->size++] = (struct name){strdup(name), strdup(where)};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->name, ((const struct name *)b)->name);
}
static void sort(struct names *n)
{
    if (n->size)
        qsort(n->at, n->size, sizeof *n->at, by_name);
}
static bool has(const struct names *n, const char *name)
{
    struct name key = {(char *)name, NULL};
    return n->size && bsearch(&key, n->at, n->size, sizeof *n->at, by_name);
}

/* --- reading --------------------------------------------------------------------------- */

static const fk_abi *abi; /* of the last object */

static void read_symbols(Elf *e, const char *where, struct names *defined, struct names *needed)
{
    GElf_Ehdr eh;
    GElf_Shdr sh;
    GElf_Sym sym;
    if (gelf_getehdr(e, &eh))
        abi = fk_abi_by_elf(eh.e_machine, eh.e_ident[EI_DATA] == ELFDATA2MSB,
                            eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4);
    for (Elf_Scn *s = NULL; (s = elf_nextscn(e, s));) {
        if (!gelf_getshdr(s, &sh) || sh.sh_type != SHT_SYMTAB || sh.sh_entsize == 0)
            continue;
        Elf_Data *d = elf_getdata(s, NULL);
        for (size_t i = 1; d && i < sh.sh_size / sh.sh_entsize; i++) {
            const char *name = gelf_getsym(d, (int)i, &sym) ? elf_strptr(e, sh.sh_link, sym.st_name) : NULL;
            if (!name || !*name || GELF_ST_BIND(sym.st_info) == STB_LOCAL)
                continue;
            if (sym.st_shndx != SHN_UNDEF)
                add(defined, name, where);
            else if (needed && GELF_ST_BIND(sym.st_info) != STB_WEAK)
                add(needed, name, where);
        }
    }
}

static bool read_file(const char *path, struct names *defined, struct names *needed)
{
    int fd = open(path, O_RDONLY);
    Elf *file = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    bool any = false;
    Elf_Cmd cmd = ELF_C_READ;
    for (Elf *e; file && (e = elf_begin(fd, cmd, file));) {
        if (elf_kind(e) == ELF_K_ELF) {
            read_symbols(e, path, defined, needed);
            any = true;
        }
        bool archive = elf_kind(file) == ELF_K_AR;
        cmd = archive ? elf_next(e) : ELF_C_NULL;
        elf_end(e);
        if (!archive)
            break;
    }
    elf_end(file);
    if (fd >= 0)
        close(fd);
    if (!any)
        fprintf(stderr, "framekit-missing-prims: %s: no ELF object or archive\n", path);
    return any;
}

/* --- which archive ------------------------------------------------------------------------ */

static const char *default_runtime(char *path, size_t size)
{
    if (abi && fk_target_file(abi->name, "libframekit.a", path, size))
        return path;
    fprintf(stderr, "framekit-missing-prims: no libframekit.a for %s; say --runtime=ARCHIVE\n",
            abi ? abi->name : "this machine type");
    return NULL;
}

/* --- the answer ----------------------------------------------------------------------------- */

static bool starts(const char *s, const char *prefix) { return strncmp(s, prefix, strlen(prefix)) == 0; }

/* From the startup object, or of an OCaml unit that is linked later. */
static bool is_ocaml(const char *s)
{
    static const char *const startup[] = {"caml_apply", "caml_curry", "caml_tuplify", "caml_send", "caml_exn_",
                                          "caml_globals", "caml_frametable", "caml_program", "caml_startup", "caml_code_segments",
                                          "caml_data_segments"};
    if (starts(s, "caml") && s[4] >= 'A' && s[4] <= 'Z')
        return true;
    for (size_t i = 0; i < sizeof startup / sizeof *startup; i++)
        if (starts(s, startup[i]))
            return true;
    return false;
}

/* Only `caml_` names can be told from the C library's without linking. */
static size_t print_missing(const struct names *needed, const struct names *defined, const struct names *runtime)
{
    size_t missing = 0;
    for (size_t i = 0; i < needed->size; i++) {
        const struct name *n = &needed->at[i];
        if (!starts(n->name, "caml_") || is_ocaml(n->name) || has(defined, n->name) || has(runtime, n->name))
            continue;
        if (i > 0 && strcmp(n->name, needed->at[i - 1].name) == 0)
            continue;
        printf("%s: needed by %s\n", n->name, n->where);
        missing++;
    }
    return missing;
}

static const char usage[] =
    "usage: framekit-missing-prims [--runtime=ARCHIVE] OBJECT|ARCHIVE...\n"
    "  --runtime=ARCHIVE  instead of framekit's own for the objects' architecture\n"
    "  --help             this text\n"
    "names the primitives that the objects need and the runtime lacks\n"
    "exit: 0 nothing is missing, 1 something is, 3 usage or unreadable input\n";

static int say_usage(FILE *out, int code)
{
    fputs(usage, out);
    return code;
}

int main(int argc, char **argv)
{
    struct names defined = {0}, needed = {0}, runtime = {0};
    const char *archive = NULL;
    char buf[1024];
    bool ok = elf_version(EV_CURRENT) != EV_NONE, any = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return say_usage(stdout, 0);
        if (starts(argv[i], "--runtime="))
            archive = argv[i] + strlen("--runtime=");
        else if (argv[i][0] == '-')
            return say_usage(stderr, 3);
        else
            any = true, ok &= read_file(argv[i], &defined, &needed);
    }
    if (!any)
        return say_usage(stderr, 3);
    if (ok && !archive)
        archive = default_runtime(buf, sizeof buf);
    if (!ok || !archive || !read_file(archive, &runtime, NULL))
        return 3;
    sort(&defined), sort(&needed), sort(&runtime);
    size_t missing = print_missing(&needed, &defined, &runtime);
    if (fflush(stdout) != 0) {
        perror("framekit-missing-prims: standard output");
        return 3;
    }
    return missing ? 1 : 0;
}
