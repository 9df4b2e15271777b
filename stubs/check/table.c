/* table.c - the stubs' instructions: where each begins, what it says, which
 * relocated branch it holds. Boundaries come from the disassembler of the
 * object's own binutils, which the cross compiler brings along. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stubs/check/stubcheck.h"

enum { MAX_SECTIONS = 512 };

typedef struct {
    char anchor[80];  /* a global symbol in it */
    uint64_t offset;  /* its value */
    uint64_t address; /* of the section in the program; 0: unknown */
    uint64_t size;
    char name[96];
} place;

static place places[MAX_SECTIONS];
static size_t num_places;

/* --- where the linker has put each section -------------------------------------------- */
static bool see_anchor(const sc_symbol *s, void *arg)
{
    (void)arg;
    if (s->section < num_places && s->bind == STB_GLOBAL && !places[s->section].anchor[0]) {
        snprintf(places[s->section].anchor, sizeof places[0].anchor, "%s", s->name);
        places[s->section].offset = s->value;
    }
    return true;
}

static bool see_address(const sc_symbol *s, void *arg)
{
    (void)arg;
    if (s->bind != STB_GLOBAL || s->section == SHN_UNDEF)
        return true;
    for (size_t i = 1; i < num_places; i++)
        if (places[i].anchor[0] && strcmp(places[i].anchor, s->name) == 0)
            places[i].address = s->value - places[i].offset;
    return true;
}

static void read_sections(Elf *elf)
{
    size_t names = 0;
    memset(places, 0, sizeof places);
    num_places = 1;
    elf_getshdrstrndx(elf, &names);
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s)) && num_places < MAX_SECTIONS; num_places++) {
        GElf_Shdr header;
        if (!gelf_getshdr(s, &header) || !(header.sh_flags & SHF_EXECINSTR))
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        places[num_places].size = header.sh_size;
        snprintf(places[num_places].name, sizeof places[0].name, "%s", name ? name : "");
    }
}

static void find_places(const sc_object *o, const char *program)
{
    read_sections(o->elf);
    sc_each_symbol(o->elf, see_anchor, NULL);
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf) {
        sc_each_symbol(elf, see_address, NULL);
        elf_end(elf);
    }
    if (fd >= 0)
        close(fd);
}

static size_t place_named(const char *name, size_t length)
{
    for (size_t i = 1; i < num_places; i++)
        if (strlen(places[i].name) == length && strncmp(places[i].name, name, length) == 0)
            return i;
    return 0;
}

/* --- reading the disassembly ------------------------------------------------------------ */
typedef struct {
    sc_code *code;
    size_t section;
    const char *stub;
} reader;

static void add_insn(reader *r, uint64_t offset, const char *text)
{
    sc_code *c = r->code;
    if (!(c->count & (c->count - 1)))
        c->insn = realloc(c->insn, (c->count ? 2 * c->count : 1) * sizeof *c->insn);
    char *copy = strdup(text), *out = copy;
    for (const char *p = copy; *p; p++) /* tabs and runs of blanks: one blank */
        if (*p != '\t' && *p != ' ')
            *out++ = *p;
        else if (out > copy && out[-1] != ' ')
            *out++ = ' ';
    *out = 0;
    c->insn[c->count++] = (sc_insn){.address = places[r->section].address + offset,
                                    .offset = offset, .section = r->section, .text = copy,
                                    .stub = r->stub};
}

/* "0000000000000002 <caml_call_gc>:" begins a function; local labels do not. */
static void see_label(reader *r, const char *line)
{
    const char *open = strchr(line, '<'), *close = open ? strstr(open, ">:") : NULL;
    if (!close || open[1] == '.' || open[1] == '$' || open[1] == 'L')
        return;
    char *name = strndup(open + 1, (size_t)(close - open - 1));
    r->stub = strchr(name, '-') || strchr(name, '+') ? NULL : name;
}

static void see_line(reader *r, const char *line)
{
    static const char begin[] = "Disassembly of section ";
    char *end;
    if (strncmp(line, begin, sizeof begin - 1) == 0) {
        const char *name = line + sizeof begin - 1;
        r->section = place_named(name, strcspn(name, ":"));
        r->stub = NULL;
        return;
    }
    uint64_t offset = strtoull(line, &end, 16);
    if (end == line || !r->section)
        return;
    if (*end == ':' && places[r->section].address)
        add_insn(r, offset, end + 1);
    else if (*end == ' ')
        see_label(r, line);
}

static void set_lengths(sc_code *c)
{
    for (size_t i = 0; i < c->count; i++) {
        sc_insn *n = &c->insn[i];
        uint64_t end = places[n->section].size;
        if (i + 1 < c->count && c->insn[i + 1].section == n->section)
            end = c->insn[i + 1].offset;
        n->length = (uint8_t)(end - n->offset > 16 ? 16 : end - n->offset);
    }
}

typedef struct {
    sc_code *code;
    const fk_abi *abi;
} marks;

static void mark_branch(const sc_reloc *r, void *arg)
{
    marks *m = arg;
    const fk_reloc_form *form = fk_abi_reloc(m->abi, r->type);
    if (!r->code || !form || form->kind != FK_RELOC_CALL || r->symbol.bind == STB_LOCAL)
        return;
    for (size_t i = 0; i < m->code->count; i++) {
        sc_insn *n = &m->code->insn[i];
        if (n->section == r->section && r->offset >= n->offset && r->offset < n->offset + n->length)
            n->plt = true;
    }
}

static int by_address(const void *a, const void *b)
{
    const sc_insn *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

bool sc_read_code(const sc_object *o, const char *program, sc_code *code, char **error)
{
    const sc_port_row *port = sc_port_row_of(o->abi->name);
    char tool[64], *out = NULL;
    reader r = {.code = code};
    snprintf(tool, sizeof tool, "%s-objdump", port->triplet);
    char *argv[] = {tool, "-drw", "--no-show-raw-insn", o->path, NULL};
    *code = (sc_code){0};
    find_places(o, program);
    if (sc_capture(argv, 60, false, &out) != 0) {
        if (asprintf(error, "%s: %s cannot disassemble it", o->name, tool) < 0)
            *error = NULL;
        free(out);
        return false;
    }
    char *save = NULL;
    for (char *line = strtok_r(out, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        see_line(&r, line);
    free(out);
    set_lengths(code);
    marks m = {code, o->abi};
    sc_each_reloc(o->elf, mark_branch, &m);
    if (code->count)
        qsort(code->insn, code->count, sizeof *code->insn, by_address);
    return true;
}

bool sc_write_table(const sc_linked *l, const sc_object *o, const char *path)
{
    FILE *f = fopen(path, "w");
    static char row[4096];
    if (!f)
        return false;
    sc_cfi_open(l->program);
    for (size_t i = 0; i < l->code.count; i++) {
        const sc_insn *n = &l->code.insn[i];
        if (!n->stub || !n->length)
            continue;
        sc_cfi_row(n->address, o->abi, row, sizeof row);
        fprintf(f, "%llx %d %s %s\n", (unsigned long long)n->address, n->length,
                n->plt ? "P" : "-", row);
    }
    sc_cfi_close();
    return fclose(f) == 0;
}
