/* internal.h - what the files of libframetable share.
 *
 * Two floors. The *core* (error, generation, decode, debuginfo, index, native) needs nothing but
 * the C library: a runtime links it on its target. The *image* floor above it (image, section,
 * symbol, reloc, locate, detect, measure) brings ELF files in through libelf.
 *
 *     ftdump, verify        emitter          runtime
 *          |                   |                |
 *     image floor  ------> encode floor         |
 *          +------------- core -----------------+
 */
#ifndef FK_FRAMETABLE_INTERNAL_H
#define FK_FRAMETABLE_INTERNAL_H

#include <stdarg.h>

#include "abi/abi.h"
#include "framekit/frametable.h"
#include "frametable/bytes.h"

/* No inlining is this deep; a longer chain is damage (and would make a dump quadratic). */
#define FK_MAX_CHAIN 4096
/* Bytes ahead of a reader: where a descriptor ends is known only once it has been read, so the
 * processor cannot run ahead by itself. */
#define FK_PREFETCH 768
/* num_descr of a table that a scan believes. */
#define FK_SCAN_MAX_DESCR (1u << 20)

/* --- errors (error.c) ------------------------------------------------------ */

/* Fills *err (may be NULL) and returns `code`. `file` and `section` may be NULL. */
__attribute__((format(printf, 7, 8))) fk_result fk_fail(fk_error *err, fk_result code,
                                                        const char *file, const char *section,
                                                        uint64_t offset, uint64_t entry,
                                                        const char *format, ...);
fk_result fk_fail_memory(fk_error *err, const char *file);

/* --- generations (generation.c) -------------------------------------------- */

/* Why a descriptor could not be read. */
typedef enum {
    FK_FAULT_NONE,
    FK_FAULT_HEADER, /* fixed part past the end */
    FK_FAULT_LIVE,   /* live entries past the end */
    FK_FAULT_ALLOCS,
    FK_FAULT_DEBUG,
    FK_FAULT_DELTA, /* ULEB128 of O3 does not end, or overflows */
    FK_FAULT_SIZE,  /* frame size impossible in this generation */
    FK_FAULT_RETADDR,
    FK_FAULT_COUNT,    /* num_descr cannot fit */
    FK_FAULT_NO_BYTES, /* the file does not hold the table's section */
    FK_FAULT_CHAIN,    /* debuginfo of an entry */
    FK_FAULT_END,      /* the table ends past its symbol */
    FK_FAULT_SYMBOL,   /* the symbol ends past its section, or in the next table */
} fk_fault;

/* How debuginfo is written; the descriptors of O1 and O2 occur with either B's or C's. */
typedef enum { FK_DEBUG_A, FK_DEBUG_B, FK_DEBUG_C, FK_DEBUG_RAW } fk_debug_form;

/* Reads the descriptor at p (virtual address d->address); fills all of *d but table, index and
 * address. `prev` is the previous return address (O3 needs it). Never reads at or past `end`. */
typedef fk_fault (*fk_read_fn)(const fk_table *, const uint8_t *p, const uint8_t *end,
                               uint64_t prev, fk_descr *d);

struct fk_writer; /* encode.h */

/* One row of the table of generations. */
typedef struct fk_gen {
    fk_generation id;
    const char *name;
    const char *span;         /* which compilers, for people */
    fk_read_fn read;
    void (*write)(struct fk_writer *, size_t descr); /* one descriptor */
    fk_debug_form debug;      /* what the encoder writes; a reader may find another */
    uint8_t min_size;         /* bytes of the smallest descriptor, 0: word + 4 */
    uint8_t retaddr_size;     /* bytes of an absolute return address (0: word), 4: relative int32 */
    bool has_alloc;           /* ALLOC flag and allocation lengths */
    bool has_long;            /* 0x7FFF marker */
    bool aligned;             /* descriptors start at word boundaries */
    bool has_defname;
    uint32_t max_frame_size;  /* bytes */
    uint32_t max_live;
    uint32_t max_live_offset; /* raw live_ofs value */
} fk_gen;

extern const fk_gen fk_gens[]; /* A..O3, in the order of fk_generation, without AUTO */
#define FK_NUM_GENS 6
const fk_gen *fk_gen_get(fk_generation); /* NULL for AUTO and unknown values */

/* --- tables ---------------------------------------------------------------- */

struct fk_table {
    const uint8_t *bytes; /* the count word */
    uint64_t address;     /* of the count word */
    uint64_t avail;       /* bytes from there to the next table or the section's end */
    uint64_t num_descr;   /* as the file says */
    uint64_t num_good;    /* descriptors that can be read */
    const fk_gen *gen;
    fk_debug_form debug;
    uint8_t word;
    bool swap;
    bool big_endian;
    const fk_abi *abi;
    const fk_image *image; /* NULL: native */
    const char *file, *section, *module, *symbol; /* "" when unknown */
    uint64_t section_address;
    uint64_t symbol_size; /* 0: unknown */
    uint8_t foreign_pad; /* bytes of the last pad that hold other data (a return to C at the end) */
    uint64_t code_begin, code_end;
    uint64_t descr_bytes, debuginfo_bytes, name_bytes, relocation_bytes, extra_bytes;
    uint64_t num_chains, num_records, num_wide;
    /* The first fault; its text is made when it is asked for. */
    fk_fault fault;
    uint64_t fault_entry, fault_address;
    uint64_t fault_value; /* CHAIN: none; RETADDR: the address; END: bytes; else previous retaddr */
};

/* FK_BROKEN with the place of `address` in the table's section. */
__attribute__((format(printf, 5, 6))) fk_result fk_fail_table(const fk_table *, fk_error *err,
                                                              uint64_t address, uint64_t entry,
                                                              const char *format, ...);
/* The table's first fault in words; FK_OK when it has none. */
fk_result fk_fail_status(const fk_table *, fk_error *err);
/* Turns a reader's fault into words. */
fk_result fk_fail_descr(const fk_table *, fk_error *err, fk_fault fault, const fk_descr *d);

/* Reads one descriptor: bounds, no status. */
static inline fk_fault fk_descr_read(const fk_table *t, const uint8_t *p, uint64_t index,
                                     uint64_t prev, fk_descr *d)
{
    d->table = t;
    d->index = index;
    d->address = t->address + (uint64_t)(p - t->bytes);
    return t->gen->read(t, p, t->bytes + t->avail, prev, d);
}

/* Bytes of the table at `addr`; NULL when outside of the table. */
static inline const uint8_t *fk_table_bytes(const fk_table *t, uint64_t addr, uint64_t *avail)
{
    uint64_t off = addr - t->address;
    if (addr < t->address || off >= t->avail)
        return NULL;
    *avail = t->avail - off;
    return t->bytes + off;
}

/* --- debuginfo (debuginfo.c) ------------------------------------------------ */

/* Where the parts of one record lie; the measure pass and the round trip need the places, not only
 * the values. */
typedef struct {
    uint64_t name_info; /* B, C: name_info or name_and_loc_info; 0 otherwise */
    uint64_t file;      /* file name */
    uint64_t defname;   /* 0: none */
    uint64_t next;      /* next record, 0: last */
} fk_record_parts;

/* Decodes one record without touching the strings. */
fk_result fk_record_read(const fk_table *, uint64_t address, fk_frame *, fk_record_parts *,
                         fk_error *);
unsigned fk_record_size(const fk_table *);

#endif
