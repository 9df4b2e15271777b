/* image.h - an ELF file as the image floor sees it.
 *
 *   file bytes (private mapping)        regions, sorted by address      tables, sorted by address
 *   +--------+------+-------+----+      +-------+--------+-------+      +----+----+-----+
 *   | ELF    |.text |.data  |... |  <-- | .text | .rodata| .data |  <-- | t0 | t1 | ... |
 *   +--------+------+-------+----+      +-------+--------+-------+      +----+----+-----+
 *
 * The mapping is private and writable: relocations are applied in place, and only to words that do
 * not already hold their value, so that a PIE whose linker wrote the addends costs no memory. */
#ifndef FK_FRAMETABLE_IMAGE_H
#define FK_FRAMETABLE_IMAGE_H

#include "frametable/internal.h"

typedef struct {
    const char *name; /* "" for segments */
    uint64_t addr;
    uint64_t size;      /* in memory */
    uint64_t file_size; /* readable bytes: 0 for NOBITS */
    uint8_t *bytes;     /* NULL: nothing in the file */
    uint32_t index;     /* section header index, 0: a segment */
    bool code, writable;
} fk_region;

typedef struct {
    uint64_t addr, size;
    uint32_t name; /* offset in strings */
    bool function, global;
    uint8_t rank; /* of aliases at one address, the highest speaks */
} fk_sym;

/* A raw symbol table of the file. */
typedef struct {
    const uint8_t *p;
    uint64_t count;
    const char *strings;
    uint64_t strings_size;
    const uint8_t *xindex; /* SHT_SYMTAB_SHNDX words, or NULL */
} fk_symtab;

/* One array of relocations. */
typedef struct {
    const uint8_t *p;
    uint64_t count;
    uint32_t entsize;
    bool rela, relr;
    bool sorted;         /* by offset: can be searched */
    uint64_t rising;     /* so many at the front are; a linker puts RELATIVE ones there */
    uint64_t base;       /* added to r_offset: the target section of an object */
    uint64_t limit;      /* size of the target section of an object */
    bool code_target;    /* the target section holds code: nothing is applied */
    uint32_t symtab;     /* which of symtabs[] */
} fk_relocs;

typedef struct {
    uint64_t offset, addend;
    uint32_t type, symbol;
} fk_reloc;

/* A relocation that names a symbol. */
typedef struct {
    uint64_t offset;
    uint32_t array, entry; /* relocs[array], its entry */
} fk_target;

enum { FK_DEBUG_SECTIONS = 4 };

struct fk_image {
    char *name;
    uint8_t *data;
    uint64_t size;
    enum { FK_BORROWED, FK_MALLOCED, FK_MAPPED } owner;
    fk_kind kind;
    const fk_abi *abi;
    bool swap, big_endian;
    uint8_t word;
    bool relocatable; /* ET_REL */

    fk_region *regions;
    size_t num_regions;
    fk_region debug[FK_DEBUG_SECTIONS]; /* sections that are not loaded: fk_image_debug_section */
    size_t num_debug;
    uint64_t *section_addr; /* of an object: address per section index, 0: not loaded */
    size_t num_sections;

    fk_symtab symtabs[2]; /* 0: of names; 1: of dynamic relocations */
    fk_sym *syms;
    size_t num_syms;
    uint32_t *functions; /* indices of function symbols in syms, by address */
    size_t num_functions;
    uint32_t *names; /* hash of names: index + 1 */
    uint32_t names_mask;

    fk_relocs *relocs;
    size_t num_relocs;
    fk_target *targets; /* by offset: of a linked file, and of arrays that are not sorted */
    size_t num_targets;
    fk_target *arrays; /* of an object: its sorted arrays, by where they begin */
    size_t num_arrays;
    uint64_t got; /* what call stubs count from, 0: unknown */

    fk_table *tables;
    size_t num_tables;
    char *module_names;
    fk_generation generation;
    char reason[256];
    const char *located_by;
};

/* --- image.c ---------------------------------------------------------------- */
fk_result fk_image_fail(const fk_image *, fk_error *, const char *section, uint64_t offset,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
/* File bytes [offset, offset + size); NULL when not all inside. */
static inline uint8_t *fk_image_slice(const fk_image *im, uint64_t offset, uint64_t size)
{
    return offset <= im->size && size <= im->size - offset ? im->data + offset : NULL;
}

void fk_image_close_data(fk_image *);

/* --- section.c --------------------------------------------------------------- */
fk_result fk_sections_load(fk_image *, void *elf, fk_error *);
/* Symbols and relocations of a file without sections, from its dynamic segment (dynamic.c). */
fk_result fk_dynamic_load(fk_image *, void *elf, fk_error *);
const fk_region *fk_region_at(const fk_image *, uint64_t addr);
/* How many of im->functions start at or before addr. */
size_t fk_functions_upto(const fk_image *, uint64_t addr);
/* The debug section whose relocations are at addr: apart from every loaded address. */
const fk_region *fk_debug_region_at(const fk_image *, uint64_t addr);
/* The region of addr, or the one that addr is the end of. */
const fk_region *fk_region_before(const fk_image *, uint64_t addr);
bool fk_is_code(const fk_image *, uint64_t addr);

/* --- symbol.c ----------------------------------------------------------------- */
fk_result fk_symbols_load(fk_image *, fk_error *);
/* One raw entry: false when i is outside. *section is the section index. */
bool fk_symtab_get(const fk_image *, const fk_symtab *, uint64_t i, fk_symbol *out,
                   uint32_t *section, uint8_t *info);

/* --- reloc.c ------------------------------------------------------------------- */
bool fk_reloc_get(const fk_image *, const fk_relocs *, uint64_t i, fk_reloc *out);
fk_result fk_relocs_apply(fk_image *, fk_error *);
void fk_relocs_count(fk_image *); /* relocation_bytes of every table */
/* The first of the `rising` entries at or behind addr. */
uint64_t fk_reloc_search(const fk_image *, const fk_relocs *, uint64_t addr);

/* --- target.c --------------------------------------------------------------------- */
fk_result fk_targets_load(fk_image *, fk_error *);

/* --- locate.c, detect.c, measure.c ---------------------------------------------- */
fk_result fk_tables_locate(fk_image *, bool scan, fk_error *);
void fk_tables_detect(fk_image *, fk_generation wanted);
fk_result fk_tables_measure(fk_image *, fk_error *);

/* A table at `addr` with `avail` bytes, generation not set yet. */
void fk_table_init(const fk_image *, const fk_region *, uint64_t addr, fk_table *out);

#endif
