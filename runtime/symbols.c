/* symbols.c - names of addresses, for reports: the symbol table (and other sections) of the
 * running program's own file, read when it is first needed. (libelf would have to be
 * there for every target.) */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/check.h"
#include "runtime/sys.h"

static const Elf64_Sym *symbols;
static size_t num_symbols;
static const char *strings;
static uintptr_t load_bias;
static const char *file; /* NULL: not readable */
static size_t file_size;
static const Elf64_Shdr *section_names;

extern char __executable_start[];

static const char *map_file(size_t *size)
{
    struct stat st;
    int fd = open(fk_exe_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return NULL;
    const char *p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    *size = st.st_size;
    return p == MAP_FAILED ? NULL : p;
}

static bool inside(size_t size, uint64_t off, uint64_t n) { return off <= size && n <= size - off; }

static void find_symtab(const char *f, size_t size)
{
    const Elf64_Ehdr *eh = (const void *)f;
    if (size < sizeof *eh || memcmp(f, ELFMAG, SELFMAG) ||
        !inside(size, eh->e_shoff, (uint64_t)eh->e_shnum * sizeof(Elf64_Shdr)))
        return;
    const Elf64_Shdr *sh = (const void *)(f + eh->e_shoff);
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        if (i == eh->e_shstrndx && inside(size, sh[i].sh_offset, sh[i].sh_size))
            section_names = &sh[i];
        if (sh[i].sh_type != SHT_SYMTAB || sh[i].sh_link >= eh->e_shnum)
            continue;
        const Elf64_Shdr *str = &sh[sh[i].sh_link];
        if (!inside(size, sh[i].sh_offset, sh[i].sh_size) ||
            !inside(size, str->sh_offset, str->sh_size))
            continue;
        symbols = (const void *)(f + sh[i].sh_offset);
        num_symbols = sh[i].sh_size / sizeof *symbols;
        strings = f + str->sh_offset;
    }
    if (eh->e_type == ET_DYN)
        load_bias = (uintptr_t)__executable_start;
    file = f, file_size = size;
}

/* Is that the section's name? (The names end with NUL by the format; the compare stops there.) */
static bool is_named(const Elf64_Shdr *s, const char *name)
{
    size_t n = strlen(name) + 1;
    return inside(section_names->sh_size, s->sh_name, n) &&
           memcmp(file + section_names->sh_offset + s->sh_name, name, n) == 0;
}

static void load(void)
{
    static bool tried;
    size_t size;
    if (tried)
        return;
    tried = true;
    const char *f = map_file(&size);
    if (f)
        find_symtab(f, size);
}

const void *fk_program_section(const char *name, size_t *size, uintptr_t *address)
{
    load();
    const Elf64_Ehdr *eh = (const void *)file;
    const Elf64_Shdr *sh = file ? (const void *)(file + eh->e_shoff) : NULL;
    for (unsigned i = 0; sh && section_names && i < eh->e_shnum; i++) {
        if (!is_named(&sh[i], name) || !inside(file_size, sh[i].sh_offset, sh[i].sh_size))
            continue;
        *size = sh[i].sh_size;
        *address = sh[i].sh_addr + load_bias;
        return file + sh[i].sh_offset;
    }
    return NULL;
}

static bool is_code(const Elf64_Sym *s)
{
    unsigned t = ELF64_ST_TYPE(s->st_info);
    return s->st_shndx != SHN_UNDEF && s->st_shndx < SHN_LORESERVE &&
        (t == STT_FUNC || t == STT_NOTYPE) && s->st_name;
}

void fk_symbol_name(uintptr_t address, char *buf, size_t size)
{
    const Elf64_Sym *best = NULL;
    load();
    for (size_t i = 0; i < num_symbols; i++) {
        uintptr_t a = symbols[i].st_value + load_bias;
        if (is_code(&symbols[i]) && a <= address && (!best || a > best->st_value + load_bias ||
            (a == best->st_value + load_bias && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC)))
            best = &symbols[i];
    }
    uintptr_t off = best ? address - best->st_value - load_bias : 0;
    if (best && off < 1 << 20)
        snprintf(buf, size, "%s+0x%zx", strings + best->st_name, (size_t)off);
    else
        snprintf(buf, size, "0x%zx", (size_t)address);
}

void fk_symbol_name_ra(uintptr_t ra, char *buf, size_t size)
{
    char name[512];
    fk_symbol_name(ra - 1, name, sizeof name);
    char *plus = strrchr(name, '+');
    if (plus)
        snprintf(buf, size, "%.*s+0x%zx", (int)(plus - name), name,
                 (size_t)strtoull(plus + 1, NULL, 16) + 1);
    else
        snprintf(buf, size, "0x%zx", (size_t)ra);
}

uintptr_t fk_site_address(const char *name)
{
    char *end;
    uintptr_t a = strtoull(name, &end, 16);
    return *end ? fk_symbol_address(name) : a;
}

uintptr_t fk_symbol_address(const char *name)
{
    const char *plus = strrchr(name, '+');
    size_t n = plus ? (size_t)(plus - name) : strlen(name);
    uintptr_t off = plus ? strtoull(plus + 1, NULL, 0) : 0;
    load();
    for (size_t i = 0; i < num_symbols; i++) {
        const char *s = strings + symbols[i].st_name;
        if (is_code(&symbols[i]) && strncmp(s, name, n) == 0 && !s[n])
            return symbols[i].st_value + load_bias + off;
    }
    return 0;
}
