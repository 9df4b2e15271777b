/* object.c - find the stub object, its architecture and its OCaml version. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stubs/check/stubcheck.h"

static char *message(const char *format, const char *a, const char *b)
{
    char *text = NULL;
    if (asprintf(&text, format, a, b) < 0)
        return NULL;
    return text;
}

static bool read_file(const char *file, void **bytes, size_t *size, char **error)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        *error = message("%s: %s", file, strerror(errno));
        return false;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > 1 << 30) {
        *error = message("%s: not a regular file of less than 1 GiB%s", file, "");
        close(fd);
        return false;
    }
    *size = (size_t)st.st_size;
    *bytes = malloc(*size + 1);
    size_t done = 0;
    ssize_t n = 1;
    while (done < *size && (n = read(fd, (char *)*bytes + done, *size - done)) > 0)
        done += (size_t)n;
    close(fd);
    if (done == *size)
        return true;
    *error = message("%s: %s", file, "cannot be read");
    free(*bytes);
    return false;
}

/* --- symbols and relocations --------------------------------------------------------- */
static Elf_Scn *symbol_table(Elf *elf, GElf_Shdr *header)
{
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        if (gelf_getshdr(s, header) && header->sh_type == SHT_SYMTAB && header->sh_entsize)
            return s;
    return NULL;
}

static bool get_symbol(Elf *elf, Elf_Data *data, size_t strings, size_t i, sc_symbol *out)
{
    GElf_Sym sym;
    if (!gelf_getsym(data, (int)i, &sym))
        return false;
    const char *name = elf_strptr(elf, strings, sym.st_name);
    *out = (sc_symbol){name ? name : "", sym.st_value, sym.st_shndx, GELF_ST_BIND(sym.st_info),
                       GELF_ST_TYPE(sym.st_info)};
    return true;
}

void sc_each_symbol(Elf *elf, bool (*see)(const sc_symbol *, void *), void *arg)
{
    GElf_Shdr header;
    Elf_Scn *section = symbol_table(elf, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    size_t n = data ? header.sh_size / header.sh_entsize : 0;
    for (size_t i = 1; i < n; i++) {
        sc_symbol s;
        if (!get_symbol(elf, data, header.sh_link, i, &s) || !see(&s, arg))
            return;
    }
}

static void relocs_of(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                      void (*see)(const sc_reloc *, void *), void *arg)
{
    GElf_Shdr target, symbols;
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *scn = elf_getscn(elf, header->sh_info), *table = elf_getscn(elf, header->sh_link);
    if (!data || !scn || !table || !gelf_getshdr(scn, &target) || !gelf_getshdr(table, &symbols))
        return;
    Elf_Data *symbol_data = elf_getdata(table, NULL);
    for (size_t i = 0;
         symbol_data && header->sh_entsize && i < header->sh_size / header->sh_entsize; i++) {
        GElf_Rela r;
        sc_reloc out = {.section = header->sh_info, .code = target.sh_flags & SHF_EXECINSTR};
        if (!gelf_getrela(data, (int)i, &r))
            return;
        out.offset = r.r_offset;
        out.type = (uint32_t)GELF_R_TYPE(r.r_info);
        if (get_symbol(elf, symbol_data, symbols.sh_link, GELF_R_SYM(r.r_info), &out.symbol))
            see(&out, arg);
    }
}

void sc_each_reloc(Elf *elf, void (*see)(const sc_reloc *, void *), void *arg)
{
    GElf_Shdr header;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_RELA)
            relocs_of(elf, s, &header, see, arg);
}

typedef struct {
    const char *name;
    bool found;
} search;

static bool is_named(const sc_symbol *s, void *arg)
{
    search *look = arg;
    look->found = s->section != SHN_UNDEF && strcmp(s->name, look->name) == 0;
    return !look->found;
}

bool sc_has_symbol(Elf *elf, const char *name)
{
    search look = {name, false};
    sc_each_symbol(elf, is_named, &look);
    return look.found;
}

static bool has_stubs(Elf *elf)
{
    for (size_t i = 0; i < sc_num_stub_rows; i++)
        if (sc_has_symbol(elf, sc_stub_rows[i].name))
            return true;
    return false;
}

/* --- version ---------------------------------------------------------------------------- */
#define FIELD "domain_field_caml_"

typedef struct {
    long number[FK_OCAML_VERSIONS]; /* fields that agree */
    long wrong[FK_OCAML_VERSIONS];
    long total;
    int64_t count; /* domain_curr_field */
} layout;

static bool see_field(const sc_symbol *s, void *arg)
{
    layout *l = arg;
    if (s->section != SHN_ABS)
        return true;
    if (strcmp(s->name, "domain_curr_field") == 0)
        l->count = (int64_t)s->value;
    if (strncmp(s->name, FIELD, sizeof FIELD - 1) != 0)
        return true;
    l->total++;
    for (int v = 0; v < FK_OCAML_VERSIONS; v++) {
        int offset = fk_domain_offset((fk_ocaml_version)v, s->name + sizeof FIELD - 1);
        if (offset >= 0 && (uint64_t)offset == 8 * s->value)
            l->number[v]++;
        else
            l->wrong[v]++;
    }
    return true;
}

static void find_version(sc_object *o, const char *abi)
{
    layout l = {.count = -1};
    int best = FK_OCAML_5_3;
    sc_each_symbol(o->elf, see_field, &l);
    o->version = FK_OCAML_5_3;
    if (abi && fk_ocaml_version_parse(abi, &o->version))
        o->version_known = true;
    for (int v = 0; l.total == 0 && !o->version_known && v < FK_OCAML_VERSIONS; v++)
        if (l.count == (int64_t)fk_domain_fields((fk_ocaml_version)v)) {
            o->version = (fk_ocaml_version)v;
            o->version_known = true;
        }
    if (l.total == 0)
        return;
    for (int v = 0; v < FK_OCAML_VERSIONS; v++)
        if (l.number[v] - l.wrong[v] > l.number[best] - l.wrong[best] ||
            (l.number[v] == l.number[best] &&
             l.count == (int64_t)fk_domain_fields((fk_ocaml_version)v)))
            best = v;
    if (!o->version_known)
        o->version = (fk_ocaml_version)best;
    o->version_known = true;
    if (l.wrong[o->version] && asprintf(&o->layout_error,
            "%ld of %ld domain-state numbers in the object are not those of OCaml %s",
            l.wrong[o->version], l.total, fk_ocaml_version_name(o->version)) < 0)
        o->layout_error = NULL;
}

/* --- opening -------------------------------------------------------------------------------- */
static bool identify(sc_object *o, char **error)
{
    GElf_Ehdr header;
    char text[128];
    if (!gelf_getehdr(o->elf, &header)) {
        *error = message("%s: %s", o->name, elf_errmsg(-1));
        return false;
    }
    bool big = header.e_ident[EI_DATA] == ELFDATA2MSB;
    o->abi = fk_abi_by_elf(header.e_machine, big, header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4);
    if (!o->abi || !sc_port_row_of(o->abi->name)) {
        snprintf(text, sizeof text, "machine %u (%s-endian, %d bits) is not one of the ports",
                 header.e_machine, big ? "big" : "little",
                 header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32);
        *error = message("%s: %s", o->name, text);
        return false;
    }
    if (header.e_type != ET_REL) {
        *error = message("%s: %s", o->name, "not a relocatable object");
        return false;
    }
    return true;
}

static bool keep(sc_object *o, const char *dir, const void *bytes, size_t size)
{
    if (asprintf(&o->path, "%s/object.o", dir) < 0)
        return false;
    FILE *f = fopen(o->path, "wb");
    bool good = f && fwrite(bytes, 1, size, f) == size;
    if (f && fclose(f) != 0)
        good = false;
    return good;
}

/* From here on the object is this member alone. */
static bool take_member(sc_object *o, const char *file, const char *dir, Elf *member, char **error)
{
    Elf_Arhdr *header = elf_getarhdr(member);
    size_t size = (size_t)header->ar_size;
    char *name = message("%s(%s)", file, header->ar_name ? header->ar_name : "?");
    char *copy = malloc(size + 1);
    memcpy(copy, (char *)o->bytes + elf_getbase(member), size);
    elf_end(member);
    elf_end(o->elf);
    free(o->bytes);
    free(o->name);
    o->name = name;
    o->bytes = copy;
    o->size = size;
    o->elf = elf_memory(copy, size);
    return o->elf && identify(o, error) && keep(o, dir, copy, size);
}

static bool open_archive(sc_object *o, const char *file, const char *dir, char **error)
{
    Elf *archive = o->elf;
    Elf_Cmd command = ELF_C_READ_MMAP; /* ELF_C_READ would want a file descriptor */
    Elf *member;
    while (command != ELF_C_NULL && (member = elf_begin(-1, command, archive))) {
        Elf_Arhdr *header = elf_getarhdr(member);
        int64_t base = elf_getbase(member);
        if (!header || base < 0 || (uint64_t)base > o->size ||
            (uint64_t)header->ar_size > o->size - (uint64_t)base) {
            elf_end(member);
            break;
        }
        if (elf_kind(member) == ELF_K_ELF && has_stubs(member))
            return take_member(o, file, dir, member, error);
        command = elf_next(member);
        elf_end(member);
    }
    *error =
        message("%s: no member of the archive defines a stub (%s ...)", file, sc_stub_rows[0].name);
    return false;
}

bool sc_object_open(sc_object *o, const char *file, const char *dir, const char *abi, char **error)
{
    *o = (sc_object){.name = strdup(file)};
    elf_version(EV_CURRENT);
    if (!read_file(file, &o->bytes, &o->size, error))
        return false;
    o->elf = elf_memory(o->bytes, o->size);
    Elf_Kind kind = o->elf ? elf_kind(o->elf) : ELF_K_NONE;
    if (kind == ELF_K_AR) {
        if (!open_archive(o, file, dir, error))
            return false;
    } else if (kind != ELF_K_ELF) {
        *error = message("%s: neither an ELF object nor an archive%s", file, "");
        return false;
    } else if (!identify(o, error)) {
        return false;
    } else if (!has_stubs(o->elf)) {
        *error = message("%s: defines no stub (%s ...)", file, sc_stub_rows[0].name);
        return false;
    } else if (!keep(o, dir, o->bytes, o->size)) {
        *error = message("%s: cannot write to %s", file, dir);
        return false;
    }
    find_version(o, abi);
    return true;
}

void sc_object_close(sc_object *o)
{
    if (o->elf)
        elf_end(o->elf);
    free(o->bytes);
    free(o->name);
    free(o->path);
    free(o->layout_error);
}
