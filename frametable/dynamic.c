/* dynamic.c - symbols and relocations of a file whose section headers were removed: through its
 * dynamic segment. */
#include <gelf.h>
#include <stdlib.h>

#include "frametable/image.h"

/* Values of the tags that are used; 0 when absent. */
typedef struct {
    uint64_t symtab, strtab, strsz, rela, relasz, rel, relsz, relr, relrsz, jmprel, pltrelsz,
        pltrel;
} dynamic;

static uint64_t *slot(dynamic *d, uint64_t tag)
{
    switch (tag) {
    case DT_SYMTAB:
        return &d->symtab;
    case DT_STRTAB:
        return &d->strtab;
    case DT_STRSZ:
        return &d->strsz;
    case DT_RELA:
        return &d->rela;
    case DT_RELASZ:
        return &d->relasz;
    case DT_REL:
        return &d->rel;
    case DT_RELSZ:
        return &d->relsz;
    case 36: /* DT_RELR, not in older headers */
        return &d->relr;
    case 35: /* DT_RELRSZ */
        return &d->relrsz;
    case DT_JMPREL:
        return &d->jmprel;
    case DT_PLTRELSZ:
        return &d->pltrelsz;
    case DT_PLTREL:
        return &d->pltrel;
    default:
        return NULL;
    }
}

static void read_tags(const fk_image *im, const GElf_Phdr *ph, dynamic *d)
{
    unsigned w = im->word;
    const uint8_t *p = fk_image_slice(im, ph->p_offset, ph->p_filesz);
    for (uint64_t i = 0; p && i + 2 * w <= ph->p_filesz; i += 2 * w) {
        uint64_t tag = fk_ldword(p + i, w, im->swap);
        uint64_t *to = slot(d, tag);
        if (tag == DT_NULL)
            break;
        if (to)
            *to = fk_ldword(p + i + w, w, im->swap);
    }
}

/* The bytes at a virtual address; NULL when fewer than `size`. */
static const uint8_t *at(const fk_image *im, uint64_t addr, uint64_t size)
{
    uint64_t avail;
    const uint8_t *p = addr ? fk_image_bytes(im, addr, &avail) : NULL;
    return p && size <= avail ? p : NULL;
}

/* The number of symbols is written nowhere; every linker puts the strings behind them. */
static void add_symbols(fk_image *im, const dynamic *d)
{
    unsigned entry = im->word == 8 ? 24 : 16;
    uint64_t size = d->strtab > d->symtab ? d->strtab - d->symtab : 0;
    const uint8_t *p = at(im, d->symtab, size), *s = at(im, d->strtab, d->strsz);
    if (p && s)
        im->symtabs[1] = (fk_symtab){.p = p, .count = size / entry, .strings = (const char *)s,
                                     .strings_size = d->strsz};
}

static void add_relocs(fk_image *im, uint64_t addr, uint64_t size, unsigned words)
{
    const uint8_t *p = at(im, addr, size);
    uint32_t entsize = im->word * words;
    if (p && size >= entsize)
        im->relocs[im->num_relocs++] =
            (fk_relocs){.p = p, .count = size / entsize, .entsize = entsize, .rela = words == 3,
                        .relr = words == 1, .limit = UINT64_MAX, .symtab = 1};
}

fk_result fk_dynamic_load(fk_image *im, void *elf, fk_error *err)
{
    size_t n = 0;
    GElf_Phdr ph;
    dynamic d = {0};
    im->relocs = calloc(4, sizeof *im->relocs);
    if (!im->relocs)
        return fk_fail_memory(err, im->name);
    if (elf_getphdrnum(elf, &n))
        n = 0;
    for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
        if (ph.p_type == PT_DYNAMIC)
            read_tags(im, &ph, &d);
    }
    add_symbols(im, &d);
    add_relocs(im, d.rela, d.relasz, 3);
    add_relocs(im, d.rel, d.relsz, 2);
    add_relocs(im, d.relr, d.relrsz, 1);
    add_relocs(im, d.jmprel, d.pltrelsz, d.pltrel == DT_RELA ? 3 : 2);
    return FK_OK;
}
