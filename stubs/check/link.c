/* link.c - link the object against its architecture's harness. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/installed.h"
#include "stubs/check/stubcheck.h"

static const sc_port_row rows[] = {
#include "ports.inc"
};

const sc_port_row *sc_port_row_of(const char *arch)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].arch, arch) == 0)
            return &rows[i];
    return NULL;
}

/* Symbols that the harness or the linker has; the rest lead to sc_unknown. */
static const char *const provided[] = {
#define PAD(name) #name,
#include "stubs/check/harness/pads.h"
#undef PAD
    "caml_exn_Stack_overflow",
};
static const char *const by_the_linker[] = {"_GLOBAL_OFFSET_TABLE_", ".TOC.", ""};

static bool is_provided(const char *name)
{
    for (size_t i = 0; i < sizeof provided / sizeof provided[0]; i++)
        if (strcmp(provided[i], name) == 0)
            return true;
    for (size_t i = 0; i < sizeof by_the_linker / sizeof by_the_linker[0]; i++)
        if (strcmp(by_the_linker[i], name) == 0)
            return true;
    return false;
}

enum { MAX_ARGS = 256 };
typedef struct {
    char *argv[MAX_ARGS];
    int n;
} command;

static void add(command *c, const char *text)
{
    if (c->n < MAX_ARGS - 1)
        c->argv[c->n++] = strdup(text);
}

static bool see_undefined(const sc_symbol *s, void *arg)
{
    char text[256];
    if (s->section == SHN_UNDEF && !is_provided(s->name)) {
        snprintf(text, sizeof text, "--defsym=%.200s=sc_unknown", s->name);
        add(arg, text);
    }
    return true;
}

static bool find_harness(const char *arch, const sc_options *options, char *path, size_t size)
{
    if (!options->harness)
        return fk_target_file(arch, "stubcheck", path, size);
    snprintf(path, size, "%s/%s/stubcheck", options->harness, arch);
    return access(path, R_OK) == 0;
}

/* --- symbols of a linked file --------------------------------------------------------- */
static Elf *open_elf(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? NULL : elf_begin(*fd, ELF_C_READ_MMAP, NULL);
}

/* --defsym for each place of the harness that an object may refer to; the address
 * of sc_image. (ld --just-symbols would do, were it not for symbols like
 * _GLOBAL_OFFSET_TABLE_ that must be the object's own.) */
typedef struct {
    command *c;
    uint64_t image;
} harness_symbols;

static bool see_harness_symbol(const sc_symbol *s, void *arg)
{
    harness_symbols *h = arg;
    char text[256];
    if (strcmp(s->name, "sc_image") == 0)
        h->image = s->value;
    for (size_t i = 0; i < sizeof provided / sizeof provided[0]; i++)
        if (s->section != SHN_UNDEF && strcmp(provided[i], s->name) == 0) {
            snprintf(text, sizeof text, "--defsym=%s=0x%llx", s->name,
                     (unsigned long long)s->value);
            add(h->c, text);
        }
    return true;
}

static uint64_t add_harness_symbols(command *c, const char *harness)
{
    harness_symbols h = {c, 0};
    int fd;
    Elf *elf = open_elf(harness, &fd);
    if (elf) {
        sc_each_symbol(elf, see_harness_symbol, &h);
        elf_end(elf);
    }
    if (fd >= 0)
        close(fd);
    return h.image;
}

static bool write_symbol(const sc_symbol *s, void *arg)
{
    FILE *out = arg;
    if (s->section != SHN_UNDEF && s->section != SHN_ABS && s->bind != STB_LOCAL &&
        !strchr(s->name, ' '))
        fprintf(out, "S %s %llx\n", s->name, (unsigned long long)s->value);
    return true;
}

/* ELFv2: the TOC pointer is 0x8000 above the start of .got. */
static void write_toc(Elf *elf, FILE *out)
{
    size_t names = 0;
    elf_getshdrstrndx(elf, &names);
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, ".got") == 0)
            fprintf(out, "S .TOC. %llx\n", (unsigned long long)header.sh_addr + 0x8000);
    }
}

bool sc_write_symbols(const char *program, FILE *out)
{
    int fd;
    Elf *elf = open_elf(program, &fd);
    if (elf) {
        sc_each_symbol(elf, write_symbol, out);
        write_toc(elf, out);
        elf_end(elf);
    }
    if (fd >= 0)
        close(fd);
    return elf != NULL;
}

static bool run_linker(command *c, const sc_object *o, char **error)
{
    char *out = NULL;
    int status = sc_capture(c->argv, 60, true, &out);
    if (status != 0) {
        const char *why = status == -2 ? "time limit" : status == 127 ? "no such program" : out;
        if (asprintf(error, "%s cannot be linked with the harness by %s: %.*s", o->name, c->argv[0],
                     (int)strcspn(why, "\n"), why) < 0)
            *error = NULL;
    }
    free(out);
    for (int i = 0; i < c->n; i++)
        free(c->argv[i]);
    return status == 0;
}

static bool write_table(const char *path, const char *program)
{
    FILE *f = fopen(path, "w");
    bool good = f && sc_write_symbols(program, f);
    return f && fclose(f) == 0 && good;
}

bool sc_link(const sc_object *o, const sc_options *options, const char *dir, sc_linked *l,
             char **error)
{
    const sc_port_row *port = sc_port_row_of(o->abi->name);
    command c = {.n = 0};
    char path[1200], text[1400];
    *l = (sc_linked){0};
    if (!find_harness(o->abi->name, options, path, sizeof path)) {
        if (asprintf(error, "%s: no harness for %s (%s/stubcheck)", o->name, o->abi->name,
                     o->abi->name) < 0)
            *error = NULL;
        return false;
    }
    if (asprintf(&l->program, "%s/program", dir) < 0 || asprintf(&l->table, "%s/table", dir) < 0)
        return false;
    l->harness = strdup(path);
    snprintf(text, sizeof text, "%s-ld", port->triplet);
    add(&c, text);
    add(&c, "-N");
    add(&c, "--no-relax");
    add(&c, "--eh-frame-hdr");
    add(&c, "--no-warn-rwx-segments");
    snprintf(text, sizeof text, "-Ttext=0x%llx", (unsigned long long)add_harness_symbols(&c, path));
    add(&c, text);
    add(&c, "--entry=0");
    add(&c, "-o");
    add(&c, l->program);
    add(&c, o->path);
    sc_each_symbol(o->elf, see_undefined, &c);
    return run_linker(&c, o, error) && write_table(l->table, l->program);
}

bool sc_read_program(const sc_object *o, bool trace, sc_linked *l, char **error)
{
    return sc_read_code(o, l->program, &l->code, error) && sc_write_table(l, o, trace, l->table);
}

void sc_linked_free(sc_linked *l)
{
    for (size_t i = 0; i < l->code.count; i++)
        free(l->code.insn[i].text);
    free(l->code.insn);
    free(l->program);
    free(l->table);
    free(l->harness);
}
