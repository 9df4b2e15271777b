/* table.c - the stubs' instructions: where each begins, what it says, which
 * relocated branch it holds. Boundaries come from the disassembler of the
 * object's own binutils, which the cross compiler brings along. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stubs/check/stubcheck.h"

/* The linker moves code (alignment on riscv64 even deletes some), so a place in
 * the object is found in the program from the global symbol before it. */
typedef struct {
    char name[96];
    size_t section;
    uint64_t offset, address, section_size;
} anchor;

enum { MAX_ANCHORS = 512 };
static anchor anchors[MAX_ANCHORS];
static size_t num_anchors;

/* --- where the linker has put each symbol ---------------------------------------------- */
static bool see_anchor(const sc_symbol *s, void *arg)
{
    Elf *elf = arg;
    GElf_Shdr header;
    Elf_Scn *scn = s->section < SHN_LORESERVE ? elf_getscn(elf, s->section) : NULL;
    if (s->bind != STB_GLOBAL || s->section == SHN_UNDEF || !scn || !gelf_getshdr(scn, &header) ||
        !(header.sh_flags & SHF_EXECINSTR) || num_anchors == MAX_ANCHORS)
        return true;
    anchor *a = &anchors[num_anchors++];
    *a = (anchor){.section = s->section, .offset = s->value, .section_size = header.sh_size};
    snprintf(a->name, sizeof a->name, "%s", s->name);
    return true;
}

static bool see_address(const sc_symbol *s, void *arg)
{
    (void)arg;
    if (s->bind != STB_GLOBAL || s->section == SHN_UNDEF)
        return true;
    for (size_t i = 0; i < num_anchors; i++)
        if (strcmp(anchors[i].name, s->name) == 0)
            anchors[i].address = s->value;
    return true;
}

static void find_anchors(const sc_object *o, const char *program)
{
    num_anchors = 0;
    sc_each_symbol(o->elf, see_anchor, o->elf);
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf) {
        sc_each_symbol(elf, see_address, NULL);
        elf_end(elf);
    }
    if (fd >= 0)
        close(fd);
}

uint64_t sc_address_of(size_t section, uint64_t offset)
{
    const anchor *best = NULL;
    for (size_t i = 0; i < num_anchors; i++) {
        const anchor *a = &anchors[i];
        if (a->section == section && a->offset <= offset && a->address &&
            (!best || a->offset > best->offset))
            best = a;
    }
    return best ? best->address + (offset - best->offset) : 0;
}

static void range(uint64_t *from, uint64_t *to)
{
    *from = UINT64_MAX;
    *to = 0;
    for (size_t i = 0; i < num_anchors; i++) {
        const anchor *a = &anchors[i];
        uint64_t end = a->address + (a->section_size - a->offset);
        if (!a->address)
            continue;
        *from = a->address < *from ? a->address : *from;
        *to = end > *to ? end : *to;
    }
}

/* --- reading the disassembly ------------------------------------------------------------ */
typedef struct {
    sc_code *code;
    uint64_t start; /* of the function */
    const char *stub;
} reader;

static void add_insn(reader *r, uint64_t address, const char *text)
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
    c->insn[c->count++] = (sc_insn){.address = address, .offset = address - r->start, .text = copy,
                                    .stub = r->stub};
}

static const anchor *anchor_named(const char *name, size_t length)
{
    for (size_t i = 0; i < num_anchors; i++)
        if (strlen(anchors[i].name) == length && strncmp(anchors[i].name, name, length) == 0)
            return &anchors[i];
    return NULL;
}

/* "0000000000409f32 <caml_call_gc>:" begins a function if the object defines it.
 * A local label stays in its function; anything else (the linker's own veneers
 * may lie between) is nobody's. */
static void see_label(reader *r, const char *line)
{
    const char *open = strchr(line, '<'), *close = open ? strstr(open, ">:") : NULL;
    if (!close || open[1] == '.' || open[1] == '$')
        return;
    size_t length = strcspn(open + 1, "+>");
    const anchor *a = anchor_named(open + 1, length);
    r->stub = a ? a->name : NULL;
    r->start = a ? a->address : 0;
}

static void see_line(reader *r, const char *line)
{
    char *end;
    uint64_t address = strtoull(line, &end, 16);
    if (end == line)
        return;
    if (*end == ':')
        add_insn(r, address, end + 1);
    else if (*end == ' ')
        see_label(r, line);
}

static void set_lengths(sc_code *c, uint64_t to)
{
    for (size_t i = 0; i < c->count; i++) {
        sc_insn *n = &c->insn[i];
        uint64_t end = i + 1 < c->count ? c->insn[i + 1].address : to;
        n->length = (uint8_t)(end - n->address > 16 ? 16 : end - n->address);
    }
}

typedef struct {
    sc_code *code;
    const fk_abi *abi;
} marks;

const sc_insn *sc_insn_at(const sc_code *c, uint64_t address)
{
    for (size_t i = 0; address && i < c->count; i++)
        if (address >= c->insn[i].address && address < c->insn[i].address + c->insn[i].length)
            return &c->insn[i];
    return NULL;
}

static void mark_branch(const sc_reloc *r, void *arg)
{
    marks *m = arg;
    const fk_reloc_form *form = fk_abi_reloc(m->abi, r->type);
    if (!r->code || !form || form->kind != FK_RELOC_CALL || r->symbol.bind == STB_LOCAL)
        return;
    sc_insn *n = (sc_insn *)sc_insn_at(m->code, sc_address_of(r->section, r->offset));
    if (n)
        n->plt = true;
}

static int by_address(const void *a, const void *b)
{
    const sc_insn *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

bool sc_read_code(const sc_object *o, const char *program, sc_code *code, char **error)
{
    const sc_port_row *port = sc_port_row_of(o->abi->name);
    char tool[64], from_text[64], to_text[64], *out = NULL;
    uint64_t from, to;
    reader r = {.code = code};
    *code = (sc_code){0};
    find_anchors(o, program);
    range(&from, &to);
    snprintf(tool, sizeof tool, "%s-objdump", port->triplet);
    snprintf(from_text, sizeof from_text, "--start-address=0x%llx", (unsigned long long)from);
    snprintf(to_text, sizeof to_text, "--stop-address=0x%llx", (unsigned long long)to);
    char *argv[] = {tool, "-d", "--no-show-raw-insn", from_text, to_text, (char *)program, NULL};
    if (from >= to || sc_capture(argv, 60, false, &out) != 0) {
        if (asprintf(error, "%s: %s cannot disassemble it", o->name, tool) < 0)
            *error = NULL;
        free(out);
        return false;
    }
    char *save = NULL;
    for (char *line = strtok_r(out, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        see_line(&r, line);
    free(out);
    if (code->count)
        qsort(code->insn, code->count, sizeof *code->insn, by_address);
    set_lengths(code, to);
    marks m = {code, o->abi};
    sc_each_reloc(o->elf, mark_branch, &m);
    return true;
}

bool sc_write_table(const sc_linked *l, const sc_object *o, bool trace, const char *path)
{
    FILE *f = fopen(path, "w");
    static char row[4096];
    if (!f)
        return false;
    sc_write_symbols(l->program, f);
    sc_cfi_open(l->program);
    for (size_t i = 0; trace && i < l->code.count; i++) {
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
