/* elf_make.c - header, .data, .symtab, .strtab, section headers; .text takes no room.
 *
 *     | Ehdr | parts | symbols | names | section headers (null .text .data .symtab .strtab) |      */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "frametable/bytes.h"
#include "frametable/tests/elf_make.h"

static const char section_names[] = "\0.text\0.data\0.symtab\0.strtab";
enum { NAME_TEXT = 1, NAME_DATA = 7, NAME_SYMTAB = 13, NAME_STRTAB = 21 };

typedef struct {
    uint8_t *p;
    unsigned word;
    bool swap;
} pen;

static void put(pen *w, uint64_t v, unsigned size)
{
    if (size == 1)
        *w->p = (uint8_t)v;
    else if (size == 2)
        fk_st16(w->p, (uint16_t)v, w->swap);
    else
        fk_stword(w->p, v, size, w->swap);
    w->p += size;
}

uint64_t elf_part_address(const elf_part *parts, size_t i)
{
    uint64_t at = ELF_DATA;
    for (size_t k = 0; k < i; k++)
        at += (parts[k].size + 7) & ~(size_t)7;
    return at;
}

static void ident(pen *w, const fk_abi *abi)
{
    memcpy(w->p, ELFMAG, SELFMAG);
    w->p[EI_CLASS] = abi->word == 8 ? ELFCLASS64 : ELFCLASS32;
    w->p[EI_DATA] = abi->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
    w->p[EI_VERSION] = EV_CURRENT;
    w->p += EI_NIDENT;
}

static void header(pen *w, const fk_abi *abi, uint64_t shoff)
{
    unsigned n = w->word;
    ident(w, abi);
    put(w, ET_EXEC, 2);
    put(w, abi->elf_machine, 2);
    put(w, EV_CURRENT, 4);
    put(w, ELF_TEXT, n);
    put(w, 0, n);
    put(w, shoff, n);
    put(w, 0, 4);
    put(w, n == 8 ? 64 : 52, 2);
    put(w, 0, 2);
    put(w, 0, 2);
    put(w, n == 8 ? 64 : 40, 2);
    put(w, 5, 2);
    put(w, 4, 2);
}

typedef struct {
    uint32_t name, type, link, info;
    uint64_t flags, addr, offset, size, entsize;
} section;

static void put_section(pen *w, const section *s)
{
    unsigned n = w->word;
    put(w, s->name, 4);
    put(w, s->type, 4);
    put(w, s->flags, n);
    put(w, s->addr, n);
    put(w, s->offset, n);
    put(w, s->size, n);
    put(w, s->link, 4);
    put(w, s->info, 4);
    put(w, 8, n);
    put(w, s->entsize, n);
}

static void put_symbol(pen *w, uint32_t name, uint64_t addr, uint64_t size)
{
    unsigned info = STB_GLOBAL << 4 | STT_OBJECT;
    put(w, name, 4);
    if (w->word == 4) {
        put(w, addr, 4);
        put(w, size, 4);
    }
    put(w, info, 1);
    put(w, 0, 1);
    put(w, 2, 2);
    if (w->word == 8) {
        put(w, addr, 8);
        put(w, size, 8);
    }
}

typedef struct {
    size_t header, data, symbols, strings, total;
    unsigned symsize, shsize;
} plan;

static plan make_plan(const fk_abi *abi, const elf_part *parts, size_t n)
{
    bool wide = abi->word == 8;
    plan p = {.header = 64, .symsize = wide ? 24 : 16, .shsize = wide ? 64 : 40};
    p.data = (size_t)(elf_part_address(parts, n) - ELF_DATA);
    p.symbols = (n + 1) * p.symsize;
    p.strings = sizeof section_names;
    for (size_t i = 0; i < n; i++)
        p.strings += strlen(parts[i].symbol) + 1;
    p.strings = (p.strings + 7) & ~(size_t)7;
    p.total = p.header + p.data + p.symbols + p.strings + 5 * p.shsize;
    return p;
}

static void put_parts(const plan *p, uint8_t *out, pen *syms, const elf_part *parts, size_t n)
{
    uint8_t *data = out + p->header, *strings = data + p->data + p->symbols;
    uint32_t name = sizeof section_names;
    uint64_t at = ELF_DATA;
    memcpy(strings, section_names, sizeof section_names);
    put_symbol(syms, 0, 0, 0);
    for (size_t i = 0; i < n; i++) {
        memcpy(data + (at - ELF_DATA), parts[i].bytes, parts[i].size);
        put_symbol(syms, name, at, parts[i].size);
        strcpy((char *)strings + name, parts[i].symbol);
        name += (uint32_t)strlen(parts[i].symbol) + 1;
        at += (parts[i].size + 7) & ~(size_t)7;
    }
}

uint8_t *elf_make(const fk_abi *abi, const elf_part *parts, size_t n, uint64_t text_size,
                  size_t *size) {
    plan p = make_plan(abi, parts, n);
    uint8_t *out = calloc(1, p.total);
    if (!out)
        return NULL;
    *size = p.total;
    size_t symbols = p.header + p.data, strings = symbols + p.symbols, shoff = strings + p.strings;
    pen w = {.p = out, .word = abi->word, .swap = abi->big_endian != fk_host_big_endian()};
    header(&w, abi, shoff);
    w.p = out + symbols;
    put_parts(&p, out, &w, parts, n);
    w.p = out + shoff + p.shsize;
    const section all[] = {
        {NAME_TEXT, SHT_NOBITS, 0, 0, SHF_ALLOC | SHF_EXECINSTR, ELF_TEXT, 64, text_size, 0},
        {NAME_DATA, SHT_PROGBITS, 0, 0, SHF_ALLOC | SHF_WRITE, ELF_DATA, p.header, p.data, 0},
        {NAME_SYMTAB, SHT_SYMTAB, 4, 1, 0, 0, symbols, p.symbols, p.symsize},
        {NAME_STRTAB, SHT_STRTAB, 0, 0, 0, 0, strings, p.strings, 0},
    };
    for (size_t i = 0; i < 4; i++)
        put_section(&w, &all[i]);
    return out;
}
