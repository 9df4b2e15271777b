/* encode.h - the encode floor: a model of a table (builder.c), what writes it (encode*.c), and the
 * sink that the writers write to (sink.c).
 *
 * One writer per generation serves three purposes, by the sink's mode: adding up sizes (which also
 * finds the address of every item), making bytes, making assembler text.
 *
 *     model                                   written as
 *     descr[]  -> record of each slot         descriptors
 *     record[] -> name, next                  debuginfo records, in this order
 *     tail[]: name[] -> file, file[]          names and file names, in the order of tail
 */
#ifndef FK_FRAMETABLE_ENCODE_H
#define FK_FRAMETABLE_ENCODE_H

#include "frametable/internal.h"

#define FK_NONE UINT32_MAX

/* A descriptor of the model; its arrays follow it in the arena. */
typedef struct {
    uint64_t retaddr;
    uint32_t frame_size, flags; /* FK_DESCR_*; LONG and SHORT: this form and no other */
    uint32_t num_live, num_debug;
    uint8_t num_allocs;
    uint8_t delta_size;    /* O3: bytes of a padded delta, 0: the shortest */
    const uint32_t *live;  /* raw: byte offset, or 2 * register + 1 */
    const uint8_t *allocs; /* wosize - 1 */
    const uint32_t *debug; /* record numbers, FK_NONE: no location */
} fk_bdescr;

typedef struct {
    int32_t line, end_line, start_char, end_char, end_offset;
    uint32_t name; /* name[] in B and C, file[] in A */
    uint32_t next; /* A: record number or FK_NONE */
    uint8_t kind;  /* A: bits 1..0 of info1; B, C: bit 1 raise, bit 0 another follows */
    bool wide;
} fk_brecord;

/* A string with what stands behind its NUL (trap T1): `size` bytes in all. */
typedef struct {
    const char *text;
    uint32_t size;
} fk_bstring;

typedef struct {
    fk_bstring defname;
    uint32_t file;
    bool wide;
    int32_t start_char, end_char, end_offset; /* wide */
} fk_bname;

/* Names and files in the order in which they are written. */
typedef struct {
    uint32_t number;
    bool is_file;
} fk_btail;

typedef struct fk_chunk fk_chunk;

/* Open addressing: numbers + 1. */
typedef struct {
    uint32_t *slot;
    uint32_t mask, used;
} fk_set;

struct fk_builder {
    const fk_gen *gen;
    fk_debug_form debug;
    const fk_abi *abi;
    uint8_t word;
    bool swap;

    fk_chunk *arena;
    fk_bdescr **descr;
    size_t num_descr, cap_descr;
    fk_brecord *record;
    size_t num_record, cap_record;
    fk_bname *name;
    size_t num_name, cap_name;
    fk_bstring *file;
    size_t num_file, cap_file;
    fk_btail *tail;
    size_t num_tail, cap_tail;
    bool keep_order; /* write the tail as it is; else all files, then all names */
    /* O3 debuginfo of unknown layout, kept as it is; slots are offsets into it. */
    const uint8_t *blob;
    size_t blob_size;
    const uint64_t *blob_at; /* where in it each record is */

    fk_set chains, names, files;
    fk_built_sizes sizes;
    bool measured;
    uint64_t *item; /* addresses of records, names, files, after a measuring pass */
    uint64_t measured_at;
};

/* --- builder.c: the model ----------------------------------------------------------- */
void *fk_arena(fk_builder *, size_t size); /* NULL: no memory */
bool fk_grow(void *array, size_t *cap, size_t count, size_t element);
fk_bdescr *fk_model_descr(fk_builder *); /* a new one, zero */
fk_brecord *fk_model_record(fk_builder *);
uint32_t fk_model_name(fk_builder *, const fk_bname *); /* FK_NONE: no memory */
uint32_t fk_model_file(fk_builder *, fk_bstring);
fk_result fk_chain_intern(fk_builder *, const fk_loc *, uint32_t n,
                          uint32_t *record); /* intern.c */

/* --- sink.c -------------------------------------------------------------------------- */
typedef enum { FK_SIZES, FK_BYTES, FK_TEXT } fk_sink_mode;

typedef struct fk_writer {
    fk_builder *b;
    fk_sink_mode mode;
    uint64_t address, at; /* of the table; of the next byte */
    uint8_t *out;
    fk_put_fn put;
    fk_label_fn label;
    void *arg;
    const char *symbol;
    const char *problem; /* first thing that does not fit */
    size_t entry;        /* descriptor being written */
} fk_writer;

void fk_put8(fk_writer *, uint32_t);
void fk_put16(fk_writer *, uint32_t);
void fk_put32(fk_writer *, uint32_t);
void fk_put_count(fk_writer *, uint64_t); /* a word */
void fk_put_bytes(fk_writer *, const void *, size_t);
void fk_put_align(fk_writer *, unsigned);
void fk_put_retaddr(fk_writer *, uint64_t retaddr);                   /* absolute word */
void fk_put_retaddr_rel(fk_writer *, uint64_t retaddr);               /* int32 from here */
void fk_put_delta(fk_writer *, uint64_t from, uint64_t to, unsigned size); /* ULEB128 */
void fk_put_item(fk_writer *, size_t item);                           /* defines it here */
void fk_put_offset(fk_writer *, size_t item, uint32_t add);           /* item - here + add */
void fk_put_offset26(fk_writer *, size_t item, uint32_t add);         /* the same, 26 bits */
void fk_put_pointer(fk_writer *, size_t item);                        /* word; FK_NONE: 0 */

static inline size_t fk_item_name(const fk_builder *b, size_t n)
{
    return b->num_record + n;
}

static inline size_t fk_item_file(const fk_builder *b, size_t n)
{
    return b->num_record + b->num_name + n;
}

/* --- encode.c, encode_o3.c, encode_debug.c ---------------------------------------------- */
void fk_write_a(fk_writer *, size_t descr);
void fk_write_b(fk_writer *, size_t descr);
void fk_write_o1(fk_writer *, size_t descr);
void fk_write_o2(fk_writer *, size_t descr);
void fk_write_o3(fk_writer *, size_t descr);
void fk_write_debug(fk_writer *);
void fk_write_names(fk_writer *);
/* The parts that several layouts share. */
void fk_write_tail(fk_writer *, const fk_bdescr *, unsigned align_debug, unsigned align_end);
bool fk_needs_long(const fk_bdescr *);

/* --- output.c ------------------------------------------------------------------------------- */
fk_result fk_builder_measure(fk_builder *, uint64_t address, fk_error *);

/* --- model.c: a model that has all that a table has, in its order ---------------------- */
fk_result fk_model_from_table(const fk_table *, fk_builder **out, fk_error *);

#endif
