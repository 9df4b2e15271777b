/* framekit/frametable.h - read, look up and write OCaml frametables.
 *
 * A frametable tells an OCaml runtime, for each return address in compiled
 * code, how large the frame is, where its roots are, how large the failed
 * allocations were and where in the source it lies. This library reads the
 * frametables of any native OCaml ELF file.
 *
 *   fk_image *im; fk_error err;
 *   if (fk_image_open("ocamlopt.opt", NULL, &im, &err) != FK_OK) ...
 *   const fk_table *t;
 *   for (size_t i = 0; (t = fk_image_table(im, i)); i++) {
 *       fk_cursor c; fk_descr d;
 *       fk_cursor_start(t, &c);
 *       while (fk_cursor_next(&c, &d, &err) == FK_OK) ...
 *   }
 *   fk_image_close(im);
 *
 * Glossary
 *   descriptor   the record of one return address
 *   table        the descriptors of one compilation unit, and their debuginfo
 *   live entry   a root: a stack slot (byte offset from S) or a register
 *   S            stack pointer of the frame after the call returned
 *   wosize       fields of a block without the header, words
 *   chain        the debuginfo of one point: frames, innermost (inlined) first
 *   generation   a binary layout: A 4.05-4.10, B 4.11-5.1, C 5.2-5.4, and
 *                OxCaml's O1, O2, O3 (docs/frametable-format.md)
 *
 * The library never prints, never exits, keeps no global state. Objects are
 * immutable after they are made: any number of threads may read one. Every
 * reader is bounded by the file. Sizes are in bytes unless said otherwise.
 */
#ifndef FRAMEKIT_FRAMETABLE_H
#define FRAMEKIT_FRAMETABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fk_abi; /* abi/abi.h */

/* Three results, not two. Numbers are an interface. */
typedef enum {
    FK_OK = 0,
    FK_ABSENT = 1, /* nothing (more) of that kind; not an error */
    FK_BROKEN = 2, /* the input contradicts its format: see fk_error */
    FK_SYSTEM = 3, /* open, read or memory failed: see fk_error */
} fk_result;

#define FK_NO_ENTRY ((uint64_t)-1)

/* Where and why. All text is inside the struct: nothing to free. */
typedef struct {
    fk_result code;
    char file[256];    /* with (member) for archives */
    char section[64];  /* "" when none */
    uint64_t offset;   /* in the section (or file) */
    uint64_t entry;    /* index of the descriptor or module; FK_NO_ENTRY */
    char message[256]; /* one sentence, no newline */
} fk_error;

/* Writes "FILE: SECTION+0xOFFSET: entry N: MESSAGE" (parts that do not apply
 * are left out); returns the length as snprintf does. */
int fk_error_format(const fk_error *, char *buf, size_t size);

/* --- generations ---------------------------------------------------------- */

typedef enum {
    FK_GEN_AUTO,
    FK_GEN_A,
    FK_GEN_B,
    FK_GEN_C,
    FK_GEN_O1,
    FK_GEN_O2,
    FK_GEN_O3
} fk_generation;

/* "auto" "A" ... "O3"; false: unknown name. */
bool fk_generation_parse(const char *name, fk_generation *out);
const char *fk_generation_name(fk_generation);
/* "OCaml 5.2-5.4"; "" for FK_GEN_AUTO. */
const char *fk_generation_span(fk_generation);

/* --- images --------------------------------------------------------------- */

typedef struct fk_image fk_image;
typedef struct fk_table fk_table;

typedef enum {
    FK_KIND_EXEC,
    FK_KIND_PIE,
    FK_KIND_SHARED,
    FK_KIND_OBJECT,
    FK_KIND_ARCHIVE_MEMBER
} fk_kind;
const char *fk_kind_name(fk_kind);

typedef struct {
    fk_generation generation; /* FK_GEN_AUTO: detect */
    bool scan;                /* ignore symbols: find tables by structure */
} fk_open_options;

/* Opens one ELF file (not an archive; FK_ABSENT when it is one). `options`
 * may be NULL. FK_OK also when the file holds no table, or when some table
 * is broken: see fk_table_status. */
fk_result fk_image_open(const char *path, const fk_open_options *options, fk_image **out,
                        fk_error *err);
/* The same from memory, which is copied. `name` for errors. */
fk_result fk_image_open_memory(const char *name, const void *data, size_t size,
                               const fk_open_options *options, fk_image **out, fk_error *err);
void fk_image_close(fk_image *);

/* Calls `each` for the file itself, or for every ELF member of an archive.
 * Members that are not ELF are skipped. A broken member is reported through
 * `each` with im == NULL and err set; the walk goes on. A nonzero return of
 * `each` stops the walk. The image is closed after `each` returns. */
typedef int (*fk_image_fn)(fk_image *im, const fk_error *err, void *arg);
fk_result fk_image_each(const char *path, const fk_open_options *options, fk_image_fn each,
                        void *arg, fk_error *err);

const char *fk_image_name(const fk_image *); /* path, or path(member) */
fk_kind fk_image_kind(const fk_image *);
const struct fk_abi *fk_image_abi(const fk_image *);
bool fk_image_big_endian(const fk_image *);
unsigned fk_image_word(const fk_image *); /* 4 or 8 */
uint64_t fk_image_file_size(const fk_image *);
fk_generation fk_image_generation(const fk_image *);
/* One sentence: why this generation ("bit 63 set in 6652 records"). */
const char *fk_image_generation_reason(const fk_image *);
/* "symbols", "caml_frametable", "scan" or "nothing": how tables were found. */
const char *fk_image_located_by(const fk_image *);

/* Address space of an image: in an executable or shared object the ELF virtual
 * addresses; in a relocatable object sections are laid out one after another
 * by the library at artificial addresses (fk_image_section_at gives them back).
 * Relocations are applied in both. */

/* Code or data at `addr`: *avail = bytes that follow in the same section; NULL
 * when nothing is there. Valid until close. */
const uint8_t *fk_image_bytes(const fk_image *, uint64_t addr, uint64_t *avail);

typedef struct {
    const char *name; /* section name, "" in a file without sections */
    uint64_t addr, size;
    bool code, writable;
} fk_section;
/* Section (or segment) that holds addr; FK_ABSENT. */
fk_result fk_image_section_at(const fk_image *, uint64_t addr, fk_section *out);
/* The nth section that is loaded; FK_ABSENT past the last. */
fk_result fk_image_section(const fk_image *, size_t n, fk_section *out);

/* A section that is not loaded: ".debug_line", ".debug_line_str", ".debug_str" or ".debug_frame",
 * with the relocations of an object applied (addresses are those of this image). FK_ABSENT: not
 * there, or compressed. Valid until close. */
fk_result fk_image_debug_section(const fk_image *, const char *name, const uint8_t **bytes,
                                 uint64_t *size);

typedef struct {
    const char *name; /* as in the symbol table */
    uint64_t addr, size;
    bool function, global;
} fk_symbol;
/* The function symbol that covers addr. A return address may equal the end of
 * its function: ask for addr - 1. FK_ABSENT: none. */
fk_result fk_image_symbol_at(const fk_image *, uint64_t addr, fk_symbol *out);
/* By name; FK_ABSENT. */
fk_result fk_image_symbol(const fk_image *, const char *name, fk_symbol *out);
/* The nth symbol in address order; FK_ABSENT past the last. */
fk_result fk_image_symbol_nth(const fk_image *, size_t n, fk_symbol *out);
/* The symbol that the place at `addr` refers to. In an object: by the relocation of
 * an instruction field or data word. In a linked file: by the dynamic relocation
 * of a GOT slot or data word; or addr is a stub of the linker (an entry of .plt, .plt.got
 * or .plt.sec, power's call stubs, a veneer for a far callee): the callee. Takes the logarithm
 * of the number of relocations. FK_ABSENT: none. Stubs of power and i386 need section headers. */
fk_result fk_image_target(const fk_image *, uint64_t addr, fk_symbol *out);

/* --- tables --------------------------------------------------------------- */

/* The nth table in address order; NULL past the last. Owned by the image. */
const fk_table *fk_image_table(const fk_image *, size_t n);
size_t fk_image_num_tables(const fk_image *);

typedef struct {
    const char *module;   /* "Stdlib__List"; "" when found by --scan without a name */
    const char *symbol;   /* "camlStdlib__List.frametable"; "" */
    const char *section;
    uint64_t address;
    uint64_t num_descr;   /* as the file says */
    uint64_t descr_bytes; /* count word and descriptors, with their pads */
    uint64_t debuginfo_bytes; /* debuginfo records */
    uint64_t name_bytes;  /* name records, file names, pads to the table's end */
    uint64_t relocation_bytes; /* relocations that the table needs, in this file's form */
    uint64_t extra_bytes; /* bytes after what was decoded, up to the symbol's size (trap T1) */
    uint64_t num_chains, num_records; /* different ones; 0 in O3, whose records cannot be read */
    uint64_t num_wide;    /* descriptors with a wide record (fk_frame) */
    uint64_t code_begin, code_end; /* of the module, 0 when unknown */
} fk_table_info;
void fk_table_info_get(const fk_table *, fk_table_info *out);
/* FK_OK, or FK_BROKEN with the first fault. Descriptors before it are readable. */
fk_result fk_table_status(const fk_table *, fk_error *err);
const fk_image *fk_table_image(const fk_table *);
fk_generation fk_table_generation(const fk_table *);

/* --- descriptors ---------------------------------------------------------- */

enum {
    FK_DESCR_DEBUG = 1 << 0,
    FK_DESCR_ALLOC = 1 << 1,
    FK_DESCR_RETURN_TO_C = 1 << 2, /* frame_data 0xFFFF: frame_size is 0, nothing follows */
    FK_DESCR_LONG = 1 << 3,        /* long form (OxCaml) */
    FK_DESCR_SHORT = 1 << 4,       /* 2026 short form (OxCaml) */
};

/* A view into the image: valid until close, nothing to free. Use the
 * accessors: the arrays are in the file's byte order and form. */
typedef struct {
    const fk_table *table;
    uint64_t index;      /* in the table, file order */
    uint64_t address;    /* of the descriptor itself */
    uint64_t retaddr;
    uint32_t frame_size; /* bytes */
    uint32_t flags;      /* FK_DESCR_* */
    uint32_t num_live;
    uint32_t num_allocs; /* 0 with ALLOC: a poll */
    uint32_t num_debug;  /* 0, 1, or num_allocs */
    uint32_t size;       /* bytes of the descriptor with its pads */
    const uint8_t *live, *allocs, *debug; /* raw; see the accessors */
    uint64_t debug_address; /* of debug[0] */
} fk_descr;

/* A live entry. reg < 0: stack slot `offset` bytes from S. */
typedef struct {
    int32_t offset;
    int16_t reg; /* frametable register number */
} fk_live;

fk_live fk_descr_live(const fk_descr *, uint32_t i);
/* wosize of block i in the order stored: 0 is the last allocated, lowest address. */
uint32_t fk_descr_wosize(const fk_descr *, uint32_t i);
/* Address of the debuginfo record of slot i (of num_debug); 0: none. */
uint64_t fk_descr_debuginfo(const fk_descr *, uint32_t i);

/* Walk without allocation. */
typedef struct {
    const fk_table *table;
    const uint8_t *p, *end;
    uint64_t address, index, prev_retaddr;
} fk_cursor;
void fk_cursor_start(const fk_table *, fk_cursor *);
/* FK_OK and *out, FK_ABSENT after the last, FK_BROKEN (then always FK_BROKEN). */
fk_result fk_cursor_next(fk_cursor *, fk_descr *out, fk_error *err);

/* --- debuginfo ------------------------------------------------------------ */

/* One frame of a chain. Columns are characters from the start of the line;
 * a field that the generation does not have is -1. */
typedef struct {
    uint64_t address;    /* of the record */
    const char *file;    /* NUL-terminated, in the image */
    const char *defname; /* NULL: the generation has none */
    int32_t line, end_line;
    int32_t start_char;
    int32_t end_char;    /* A, B: from the start line's beginning; C: from the end line's */
    int32_t end_offset;  /* C: from the start line's beginning; else -1 */
    bool raise;
    bool wide;           /* C: the partially packed form */
    bool opaque;         /* O3: layout not established; raw only */
    uint32_t raw[2];
} fk_frame;

typedef struct {
    const fk_table *table;
    uint64_t next; /* 0: end */
    uint32_t left; /* cycle guard */
} fk_chain;
/* Chain at record address `debuginfo` (from fk_descr_debuginfo). */
void fk_chain_start(const fk_table *, uint64_t debuginfo, fk_chain *);
/* FK_OK, FK_ABSENT at the end, FK_BROKEN. */
fk_result fk_chain_next(fk_chain *, fk_frame *out, fk_error *err);

/* --- index: return address -> descriptor ----------------------------------- */

typedef struct fk_index fk_index;
/* Builds over all tables of an image. Immutable: concurrent readers are safe.
 * A duplicate return address keeps the first; *duplicates counts them (may be NULL). */
fk_result fk_index_build(const fk_image *, fk_index **out, uint64_t *duplicates, fk_error *err);
/* FK_OK or FK_ABSENT. out->index is FK_NO_ENTRY: see fk_descr_index. */
fk_result fk_index_lookup(const fk_index *, uint64_t retaddr, fk_descr *out);
/* The same for n return addresses, such as those of a stack: out[i].table is NULL where there is
 * none. Their waits for memory overlap. Returns how many were found. */
size_t fk_index_find_many(const fk_index *, const uint64_t *retaddrs, size_t n, fk_descr *out);
/* Number of the descriptor in its table, by walking it when a look-up left it open. */
uint64_t fk_descr_index(const fk_descr *);
uint64_t fk_index_count(const fk_index *);
/* A new index with a module added or removed (dynlink; FK_ABSENT: not in it): the
 * old one stays valid for its readers until freed. They share what did not change: adding costs
 * the module's own descriptors (and those of earlier small ones, so that the parts stay few),
 * removing a mark. An index refers to its tables: their image must stay open. */
fk_result fk_index_add(const fk_index *, const fk_table *, fk_index **out, fk_error *err);
fk_result fk_index_remove(const fk_index *, const fk_table *, fk_index **out, fk_error *err);
void fk_index_free(fk_index *);

/* What a process knows about its own tables: none reaches beyond data_end, and return addresses
 * lie in [code, code_end]. */
typedef struct {
    const void *data_end, *code, *code_end;
} fk_native_limits;
/* A table that is mapped in this process (a runtime's own): no ELF needed. The
 * index over `n` such tables, each the address of a count word. With limits every descriptor is
 * held against them (FK_BROKEN); with NULL the tables are trusted. */
fk_result fk_index_build_native(const void *const *tables, size_t n, fk_generation,
                                const struct fk_abi *, const fk_native_limits *, fk_index **out,
                                fk_error *err);
/* The same index with n native tables more, or without them (FK_ABSENT: one is not in it). */
fk_result fk_index_add_native(const fk_index *, const void *const *tables, size_t n, fk_index **out,
                              fk_error *err);
fk_result fk_index_remove_native(const fk_index *, const void *const *tables, size_t n,
                                 fk_index **out, fk_error *err);

/* --- encoding -------------------------------------------------------------- */

typedef struct fk_builder fk_builder;

/* One location for the encoder, innermost first in a chain. */
typedef struct {
    const char *file, *defname;
    int32_t line, end_line, start_char, end_char, end_offset;
    bool raise;
} fk_loc;

typedef struct {
    uint64_t retaddr;    /* value, or index of the label for assembler output */
    uint32_t frame_size, flags;
    uint32_t num_live;
    const fk_live *live;
    uint32_t num_allocs;
    const uint16_t *wosize;     /* stored order */
    uint32_t num_debug;         /* 0, 1 or num_allocs */
    const fk_loc *const *chain; /* num_debug chains; NULL entry: no location */
    const uint32_t *chain_length;
} fk_descr_in;

fk_result fk_builder_new(fk_generation, const struct fk_abi *, fk_builder **out, fk_error *err);
/* Copies everything. FK_BROKEN when it does not fit the generation (frame size,
 * counts, offsets out of range): err says which limit. */
fk_result fk_builder_add(fk_builder *, const fk_descr_in *, fk_error *err);
/* Adds every descriptor of a table, of whatever generation, to see or to write it
 * in the builder's: what that does not have is left out (A: lengths, and locations
 * of allocations; A, B: end lines), values are cut to what fits. O3's locations
 * cannot be read. FK_BROKEN: the table is broken, or does not fit. */
fk_result fk_builder_add_table(fk_builder *, const fk_table *, fk_error *err);
/* Table bytes for load address `address`; *data is freed with free(). */
fk_result fk_builder_bytes(fk_builder *, uint64_t address, uint8_t **data, size_t *size,
                           fk_error *err);
typedef struct {
    uint64_t descr_bytes, debuginfo_bytes, name_bytes;
} fk_built_sizes;
void fk_builder_sizes(fk_builder *, fk_built_sizes *out);
/* The table as GNU assembler text for the current section (all targets): alignment,
 * the global symbol with type and size, the contents. `label` writes the assembler
 * name of the place whose `retaddr` was given to fk_builder_add, as snprintf does;
 * `put` receives the text. Local labels start with ".L" and the symbol. */
typedef void (*fk_put_fn)(const char *text, size_t length, void *arg);
typedef int (*fk_label_fn)(uint64_t retaddr, char *buf, size_t size, void *arg);
fk_result fk_builder_assembly(fk_builder *, const char *symbol, fk_label_fn label, fk_put_fn put,
                              void *arg, fk_error *err);
void fk_builder_free(fk_builder *);

/* Decodes a table and encodes it again in its own generation, with the same
 * sharing and order; *same when the bytes are equal, else *first_difference. */
fk_result fk_table_roundtrip(const fk_table *, bool *same, uint64_t *first_difference,
                             fk_error *err);

const char *fk_version(void);

#ifdef __cplusplus
}
#endif
#endif
