/* section.c - regions, symbol tables and relocation arrays from the section headers; from the
 * program headers when a file has no sections. Everything is checked against the file's size before
 * it is believed. */
#include <gelf.h>
#include <stdlib.h>

#include "frametable/image.h"
#include "frametable/search.h"

/* Addresses of an object's sections start here: above any count that a scan could mistake. */
#define OBJECT_BASE 0x10000000u
/* A return address may be the end of its section; the next one must not start there. */
#define OBJECT_GAP 16

typedef struct {
    fk_image *im;
    Elf *elf;
    fk_error *err;
    const uint8_t *names; /* section name strings */
    uint64_t names_size;
    uint64_t next; /* object address */
} loader;

static const char *string_in(const uint8_t *strings, uint64_t size, uint64_t at)
{
    if (at >= size || !memchr(strings + at, 0, size - at))
        return "";
    return (const char *)strings + at;
}

static const char *section_name(const loader *l, const GElf_Shdr *sh)
{
    return l->names ? string_in(l->names, l->names_size, sh->sh_name) : "";
}

/* The bytes of a section that must be inside of the file. */
static fk_result section_bytes(const loader *l, const GElf_Shdr *sh, uint8_t **out)
{
    *out = fk_image_slice(l->im, sh->sh_offset, sh->sh_size);
    if (*out)
        return FK_OK;
    return fk_image_fail(
        l->im, l->err, section_name(l, sh), 0,
        "section of %llu bytes at file offset 0x%llx runs past the end of the file",
        (unsigned long long)sh->sh_size, (unsigned long long)sh->sh_offset);
}

static void load_names(loader *l)
{
    size_t ndx;
    GElf_Shdr sh;
    if (elf_getshdrstrndx(l->elf, &ndx) || !gelf_getshdr(elf_getscn(l->elf, ndx), &sh))
        return;
    l->names = fk_image_slice(l->im, sh.sh_offset, sh.sh_size);
    l->names_size = l->names ? sh.sh_size : 0;
}

static bool is_loaded(const fk_image *im, const GElf_Shdr *sh)
{
    if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_size == 0)
        return false;
    /* .tbss has an address but takes no room there. */
    return im->relocatable || !(sh->sh_type == SHT_NOBITS && sh->sh_flags & SHF_TLS);
}

static fk_result place(loader *l, const GElf_Shdr *sh, size_t index, fk_region *g)
{
    uint64_t align = sh->sh_addralign;
    if (!l->im->relocatable) {
        g->addr = sh->sh_addr;
    } else {
        if (align < 16)
            align = 16;
        if (align & (align - 1) || align > 1u << 24)
            return fk_image_fail(l->im, l->err, g->name, 0, "alignment 0x%llx is not believable",
                                 (unsigned long long)align);
        g->addr = (l->next + align - 1) & ~(align - 1);
        l->im->section_addr[index] = g->addr;
    }
    if (g->size > UINT64_MAX - OBJECT_GAP - g->addr)
        return fk_image_fail(l->im, l->err, g->name, 0, "section of %llu bytes wraps around",
                             (unsigned long long)g->size);
    l->next = g->addr + g->size + OBJECT_GAP;
    return FK_OK;
}

/* Debug sections keep their own addresses for the relocations of an object, far from all others;
 * a reference to one is an offset in it, so they get no section_addr. */
#define DEBUG_BASE 0xD000000000000000u
#define DEBUG_STEP 0x0100000000000000u

static void add_debug_section(loader *l, const GElf_Shdr *sh, size_t index)
{
    static const char *const names[FK_DEBUG_SECTIONS] = {".debug_line", ".debug_line_str",
                                                         ".debug_str", ".debug_frame"};
    fk_image *im = l->im;
    const char *name = section_name(l, sh);
    uint8_t *bytes = fk_image_slice(im, sh->sh_offset, sh->sh_size);
    if (im->num_debug == FK_DEBUG_SECTIONS || !bytes || sh->sh_type == SHT_NOBITS ||
        sh->sh_flags & SHF_COMPRESSED)
        return;
    for (size_t i = 0; i < FK_DEBUG_SECTIONS; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        im->debug[im->num_debug] = (fk_region){.name = names[i],
                                               .addr = DEBUG_BASE + im->num_debug * DEBUG_STEP,
                                               .size = sh->sh_size,
                                               .file_size = sh->sh_size,
                                               .bytes = bytes,
                                               .index = (uint32_t)index};
        im->num_debug++;
    }
}

static fk_result add_section(loader *l, const GElf_Shdr *sh, size_t index)
{
    fk_image *im = l->im;
    if (!(sh->sh_flags & SHF_ALLOC))
        add_debug_section(l, sh, index);
    if (!is_loaded(im, sh))
        return FK_OK;
    fk_region *g = &im->regions[im->num_regions];
    *g = (fk_region){.name = section_name(l, sh), .size = sh->sh_size, .index = (uint32_t)index,
                     .code = sh->sh_flags & SHF_EXECINSTR, .writable = sh->sh_flags & SHF_WRITE};
    if (sh->sh_type != SHT_NOBITS) {
        if (section_bytes(l, sh, &g->bytes))
            return FK_BROKEN;
        g->file_size = g->size;
    }
    if (place(l, sh, index, g))
        return FK_BROKEN;
    im->num_regions++;
    return FK_OK;
}

/* --- symbol tables and relocations ------------------------------------------------- */

static fk_result add_symtab(loader *l, const GElf_Shdr *sh, fk_symtab *out)
{
    GElf_Shdr str;
    uint8_t *p, *s;
    unsigned entry = l->im->word == 8 ? 24 : 16;
    if (section_bytes(l, sh, &p))
        return FK_BROKEN;
    if (!gelf_getshdr(elf_getscn(l->elf, sh->sh_link), &str) || str.sh_type != SHT_STRTAB)
        return fk_image_fail(l->im, l->err, section_name(l, sh), 0,
                             "symbol table has no string table (section %u)", sh->sh_link);
    if (section_bytes(l, &str, &s))
        return FK_BROKEN;
    *out = (fk_symtab){.p = p, .count = sh->sh_size / entry, .strings = (char *)s,
                       .strings_size = str.sh_size};
    return FK_OK;
}

/* Index in im->symtabs of the symbol table that relocations link to. */
static uint32_t which_symtab(const fk_image *im, loader *l, const GElf_Shdr *rel)
{
    GElf_Shdr sh;
    if (im->relocatable || !gelf_getshdr(elf_getscn(l->elf, rel->sh_link), &sh))
        return im->relocatable ? 0 : 1;
    return sh.sh_type == SHT_DYNSYM ? 1 : 0;
}

/* Address of a section of an object for its relocations; 0: they change nothing that is read. */
static uint64_t reloc_base(const fk_image *im, uint32_t section)
{
    for (size_t i = 0; i < im->num_debug; i++) {
        if (im->debug[i].index == section)
            return im->debug[i].addr;
    }
    return im->section_addr[section];
}

/* The section that an object's relocations change: false when it is not read. */
static bool reloc_target(loader *l, const GElf_Shdr *sh, fk_relocs *r)
{
    fk_image *im = l->im;
    if (!im->relocatable) {
        r->limit = UINT64_MAX;
        return sh->sh_flags & SHF_ALLOC;
    }
    if (sh->sh_info >= im->num_sections || !reloc_base(im, sh->sh_info))
        return false;
    GElf_Shdr to;
    if (!gelf_getshdr(elf_getscn(l->elf, sh->sh_info), &to))
        return false;
    r->base = reloc_base(im, sh->sh_info);
    r->limit = to.sh_size;
    r->code_target = to.sh_flags & SHF_EXECINSTR;
    return true;
}

static fk_result add_relocs(loader *l, const GElf_Shdr *sh)
{
    fk_image *im = l->im;
    fk_relocs r = {.rela = sh->sh_type == SHT_RELA, .relr = sh->sh_type == SHT_RELR};
    if (!reloc_target(l, sh, &r))
        return FK_OK;
    uint8_t *p;
    if (section_bytes(l, sh, &p))
        return FK_BROKEN;
    r.p = p;
    r.entsize = im->word * (r.relr ? 1u : r.rela ? 3u : 2u);
    r.count = sh->sh_size / r.entsize;
    r.symtab = which_symtab(im, l, sh);
    im->relocs[im->num_relocs++] = r;
    return FK_OK;
}

static fk_result add_tables(loader *l, const GElf_Shdr *sh)
{
    fk_image *im = l->im;
    switch (sh->sh_type) {
    case SHT_SYMTAB:
        return add_symtab(l, sh, &im->symtabs[0]);
    case SHT_DYNSYM:
        return add_symtab(l, sh, &im->symtabs[1]);
    case SHT_SYMTAB_SHNDX:
        im->symtabs[0].xindex = NULL; /* set in load_xindex */
        return FK_OK;
    case SHT_RELA:
    case SHT_REL:
    case SHT_RELR:
        return add_relocs(l, sh);
    default:
        return FK_OK;
    }
}

/* Section numbers of symbols in objects with more than 65,279 sections. */
static void load_xindex(loader *l, const GElf_Shdr *sh)
{
    fk_symtab *t = &l->im->symtabs[0];
    if (sh->sh_type == SHT_SYMTAB_SHNDX && sh->sh_size / 4 >= t->count)
        t->xindex = fk_image_slice(l->im, sh->sh_offset, sh->sh_size);
}

/* --- order and overlap ---------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const fk_region *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_bytes(const void *a, const void *b)
{
    const fk_region *x = a, *y = b;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static fk_result overlap(const fk_image *im, const fk_region *a, const fk_region *b,
                         const char *where, fk_error *err)
{
    return fk_image_fail(im, err, b->name, 0, "sections %.60s and %.60s overlap in %s", a->name,
                         b->name, where);
}

/* Sorted by address at the end. */
static fk_result check_overlap(fk_image *im, fk_error *err)
{
    fk_region *g = im->regions;
    qsort(g, im->num_regions, sizeof *g, by_bytes);
    for (size_t i = 1; i < im->num_regions; i++) {
        if (g[i - 1].bytes && g[i - 1].bytes + g[i - 1].file_size > g[i].bytes)
            return overlap(im, &g[i - 1], &g[i], "the file", err);
    }
    qsort(g, im->num_regions, sizeof *g, by_address);
    for (size_t i = 1; i < im->num_regions; i++) {
        if (g[i].addr - g[i - 1].addr < g[i - 1].size)
            return overlap(im, &g[i - 1], &g[i], "memory", err);
    }
    return FK_OK;
}

/* --- segments -------------------------------------------------------------------------- */

static fk_result add_segment(loader *l, const GElf_Phdr *ph)
{
    fk_image *im = l->im;
    if (ph->p_type != PT_LOAD || ph->p_memsz == 0)
        return FK_OK;
    uint8_t *p = fk_image_slice(im, ph->p_offset, ph->p_filesz);
    if (!p || ph->p_filesz > ph->p_memsz || ph->p_memsz > UINT64_MAX - ph->p_vaddr)
        return fk_image_fail(im, l->err, NULL, ph->p_offset,
                             "segment of %llu bytes runs past the end of the file",
                             (unsigned long long)ph->p_filesz);
    im->regions[im->num_regions++] =
        (fk_region){.name = "", .addr = ph->p_vaddr, .size = ph->p_memsz, .file_size = ph->p_filesz,
                    .bytes = p, .code = ph->p_flags & PF_X, .writable = ph->p_flags & PF_W};
    return FK_OK;
}

/* Only memory can be checked: neighbouring segments share pages of the file. */
static fk_result load_segments(loader *l)
{
    fk_image *im = l->im;
    size_t n = 0;
    GElf_Phdr ph;
    if (elf_getphdrnum(l->elf, &n) || n == 0)
        return FK_OK;
    if (n > im->size / 32 || !(im->regions = calloc(n, sizeof *im->regions)))
        return fk_fail_memory(l->err, im->name);
    for (size_t i = 0; i < n && gelf_getphdr(l->elf, (int)i, &ph); i++) {
        if (add_segment(l, &ph))
            return FK_BROKEN;
    }
    fk_region *g = im->regions;
    qsort(g, im->num_regions, sizeof *g, by_address);
    for (size_t i = 1; i < im->num_regions; i++) {
        if (g[i].addr - g[i - 1].addr < g[i - 1].size)
            return overlap(im, &g[i - 1], &g[i], "memory", l->err);
    }
    return fk_dynamic_load(im, l->elf, l->err);
}

/* --- all sections ------------------------------------------------------------------------ */

typedef fk_result (*section_fn)(loader *, const GElf_Shdr *, size_t);

static fk_result second_pass(loader *l, const GElf_Shdr *sh, size_t index)
{
    (void)index;
    return add_tables(l, sh);
}

static fk_result third_pass(loader *l, const GElf_Shdr *sh, size_t index)
{
    (void)index;
    load_xindex(l, sh);
    return FK_OK;
}

static fk_result each_section(loader *l, section_fn fn)
{
    GElf_Shdr sh;
    for (size_t i = 1; i < l->im->num_sections; i++) {
        if (!gelf_getshdr(elf_getscn(l->elf, i), &sh))
            return fk_image_fail(l->im, l->err, NULL, 0, "section header %zu cannot be read", i);
        if (fn(l, &sh, i))
            return FK_BROKEN;
    }
    return FK_OK;
}

static fk_result alloc_arrays(loader *l, size_t n)
{
    fk_image *im = l->im;
    im->num_sections = n;
    im->regions = calloc(n, sizeof *im->regions);
    im->section_addr = calloc(n, sizeof *im->section_addr);
    im->relocs = calloc(n, sizeof *im->relocs);
    if (!im->regions || !im->section_addr || !im->relocs)
        return fk_fail_memory(l->err, im->name);
    return FK_OK;
}

/* libelf takes headers that are past the end for none at all. */
static fk_result check_headers(const loader *l, size_t n)
{
    GElf_Ehdr eh;
    uint64_t size = l->im->size;
    if (!gelf_getehdr(l->elf, &eh))
        return fk_image_fail(l->im, l->err, NULL, 0, "the ELF header cannot be read");
    if (eh.e_shoff == 0 && n <= 1)
        return FK_OK;
    if (eh.e_shoff > size || n == 0 || n > (size - eh.e_shoff) / (l->im->word == 8 ? 64 : 40))
        return fk_image_fail(l->im, l->err, NULL, eh.e_shoff,
                             "%zu section headers at 0x%llx run past the end of the file",
                             n ? n : (size_t)eh.e_shnum, (unsigned long long)eh.e_shoff);
    return FK_OK;
}

fk_result fk_sections_load(fk_image *im, void *elf, fk_error *err)
{
    loader l = {.im = im, .elf = elf, .err = err, .next = OBJECT_BASE};
    size_t n = 0;
    if (elf_getshdrnum(elf, &n))
        return fk_image_fail(im, err, NULL, 0, "section headers cannot be read: %s",
                             elf_errmsg(-1));
    if (check_headers(&l, n))
        return FK_BROKEN;
    if (n <= 1)
        return load_segments(&l);
    load_names(&l);
    fk_result r = alloc_arrays(&l, n);
    if (!r)
        r = each_section(&l, add_section);
    if (!r)
        r = check_overlap(im, err);
    if (!r)
        r = each_section(&l, second_pass);
    if (!r)
        r = each_section(&l, third_pass);
    return r;
}

/* --- queries ---------------------------------------------------------------------------- */

/* The last region that starts at or before addr. */
static const fk_region *last_before(const fk_image *im, uint64_t addr)
{
    size_t n = FK_COUNT_UPTO(fk_region, im->regions, im->num_regions, addr, addr);
    return n ? &im->regions[n - 1] : NULL;
}

const fk_region *fk_region_at(const fk_image *im, uint64_t addr)
{
    const fk_region *g = last_before(im, addr);
    return g && addr - g->addr < g->size ? g : NULL;
}

const fk_region *fk_debug_region_at(const fk_image *im, uint64_t addr)
{
    for (size_t i = 0; i < im->num_debug; i++) {
        if (addr - im->debug[i].addr < im->debug[i].size)
            return &im->debug[i];
    }
    return NULL;
}

fk_result fk_image_debug_section(const fk_image *im, const char *name, const uint8_t **bytes,
                                 uint64_t *size)
{
    for (size_t i = 0; i < im->num_debug; i++) {
        if (strcmp(im->debug[i].name, name) != 0)
            continue;
        *bytes = im->debug[i].bytes;
        *size = im->debug[i].size;
        return FK_OK;
    }
    return FK_ABSENT;
}

const fk_region *fk_region_before(const fk_image *im, uint64_t addr)
{
    return addr ? fk_region_at(im, addr - 1) : NULL;
}

bool fk_is_code(const fk_image *im, uint64_t addr)
{
    const fk_region *g = fk_region_at(im, addr);
    return g && g->code;
}

static void region_out(const fk_region *g, fk_section *out)
{
    *out = (fk_section){.name = g->name, .addr = g->addr, .size = g->size, .code = g->code,
                        .writable = g->writable};
}

fk_result fk_image_section_at(const fk_image *im, uint64_t addr, fk_section *out)
{
    const fk_region *g = fk_region_at(im, addr);
    if (!g)
        return FK_ABSENT;
    region_out(g, out);
    return FK_OK;
}

fk_result fk_image_section(const fk_image *im, size_t n, fk_section *out)
{
    if (n >= im->num_regions)
        return FK_ABSENT;
    region_out(&im->regions[n], out);
    return FK_OK;
}
