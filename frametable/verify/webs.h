/* webs.h - which safepoints one variable crosses in one place.
 *
 *   place   an integer register or a word of the frame, numbered as in fk_state
 *   web     a place, all stores that may reach a common read, and everything in between: what a
 *           compiler calls the live range of one variable
 *
 *       st  [16], a        b:  st  [16], x          two webs of the place [16]: one from each
 *       call f   <- 1          call h   <- 2        store to its last read. 1 is crossed by two
 *       call g   <- 1          ld  [16]             safepoints; where no read follows any more,
 *       ld  [16]               call i               nothing crosses
 *
 * A variable has one type: it is a root at all the safepoints that it crosses or at none. */
#ifndef FK_VERIFY_WEBS_H
#define FK_VERIFY_WEBS_H

#include "frametable/verify/facts.h"

enum { FK_WEB_NONE = 0 };

typedef struct {
    uint32_t web;   /* FK_WEB_NONE: a root in the frame that no variable crosses */
    uint32_t descr; /* of the program */
    uint16_t place;
    bool listed;
} fk_crossing;

typedef struct {
    uint32_t from, to; /* webs */
} fk_move;

/* Where the values of a web come from and what is done with them. Moves hand them on: the first
 * kind to the web that is written, the second to the web that is read. */
enum {
    FK_T_ARGUMENT = 1 << 0,
    FK_T_RESULT = 1 << 1,   /* of OCaml code */
    FK_T_C_RESULT = 1 << 2, /* of a C function that may collect */
    FK_T_BLOCK = 1 << 3,    /* just allocated */
    FK_T_FIELD =
        1 << 4, /* a word of a block, but not the second: boxed integers have theirs there */
    FK_T_SECOND = 1 << 5,
    FK_T_CONSTANT = 1 << 6,
    FK_T_ADDRESS = 1 << 7,  /* of the file */
    FK_T_COMPUTED = 1 << 8, /* anything else */
    FK_T_ORIGINS = (1 << 9) - 1,
    FK_T_POINTER = 1 << 9, /* other functions show that its type has blocks */

    FK_T_DEREFERENCED = 1 << 10, /* as a block: a field at a constant offset, or the header */
    FK_T_INDEXED = 1 << 11,      /* an address of any other form */
    FK_T_TESTED = 1 << 12,       /* is it an immediate? */
    FK_T_COMPARED = 1 << 13,
    FK_T_ARITHMETIC = 1 << 14,
    FK_T_MEASURED = 1 << 15, /* its length is asked for: an array, whose elements may be integers */
    FK_T_ASKED = 1 << 16, /* may be of any type: fk_asks_tag */
    FK_T_BOXED_FLOAT = 1 << 17, /* a new block with a float: fk_boxes_float */
    FK_T_USES = 0x1fc00,
    FK_T_FORWARD = FK_T_ORIGINS | FK_T_POINTER | FK_T_MEASURED | FK_T_BOXED_FLOAT,
};

/* What one instruction reads and writes. */
typedef struct {
    uint32_t reg_uses, reg_defs;
    uint16_t slot_use[2], slot_def[2]; /* 0: none */
    int32_t sp;                        /* from the stack pointer at entry */
    uint64_t callee;                   /* entry of a known one */
    bool boxes_float;
    uint16_t constant; /* what a load from a place that never changes, or a sum, gives; else 0 */
} fk_effect;
enum { FK_SP_UNKNOWN = INT32_MIN };

typedef struct {
    fk_effect *effects; /* of each node */
    uint64_t *live;     /* of each block: places that are read before they are written */
    uint32_t *parent;   /* a forest over all parts of webs */
    uint32_t num;
    fk_crossing *crossings;
    size_t num_crossings;
    uint32_t *traits;   /* of each part, then of each web */
    fk_move *moves; /* one place is written from another */
    size_t num_moves;
    fk_move *fields; /* a place is written from a block that the other has the address of */
    size_t num_fields;
    /* private */
    uint32_t *now; /* the web that is live in each place */
    int32_t *block;
    size_t cap_effects, cap_live, cap_parent, cap_traits, cap_crossings, cap_moves, cap_fields,
        cap_now, cap_block;
    size_t row; /* words of a block in `live` */
    const fk_facts *facts; /* NULL: none */
    bool last, failed;
} fk_webs;

/* Of a function that has been read and has no problem; `last` says whether liveness came to rest.
 * false: no memory. */
bool fk_webs_find(fk_webs *, fk_function *, const fk_facts *);
void fk_webs_close(fk_webs *);

#endif
