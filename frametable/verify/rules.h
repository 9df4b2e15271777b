/* rules.h - the rules that follow code, for code.c. */
#ifndef FK_VERIFY_RULES_H
#define FK_VERIFY_RULES_H

#include "frametable/verify/flow.h"
#include "frametable/verify/internal.h"
#include "frametable/verify/webs.h"

/* The function that a worker looks at. */
typedef struct fk_code {
    fk_check *check;
    fk_function f;
    bool misused; /* abi.c */
    uint8_t *seen; /* of each descriptor of the function: FK_SEEN_* */
    size_t cap_seen;
    struct {
        int64_t number; /* of a value, 0: free */
        uint8_t kind;
    } *evidence;        /* live.c: a hash table */
    size_t cap_evidence;
    uint32_t evidence_mask, num_evidence;
    fk_webs webs;
    struct fk_opinion *opinions; /* agree.c: of each web */
    size_t cap_opinions;
    struct {
        int64_t checked, deepest;
        bool calls;
    } stack; /* abi_code.c */
    struct fk_walk {
        int32_t node;
        uint32_t next;
    } *walk; /* abi_code.c: a path */
    uint8_t *color;
    size_t cap_walk, cap_color;
    fk_value *paths; /* alloc.c: a state for each level of a walk */
    size_t cap_paths;
    /* 1 + descent of the stack pointer at each descriptor's call; 0: not known */
    int64_t *descents;
    size_t cap_descents;
} fk_code;
typedef struct fk_walk fk_walk;
enum {
    FK_ALLOC_PATHS = 24,
    FK_SEEN_CALL = 1,   /* the code reaches its call */
    FK_SEEN_BLAMED = 2, /* live.c */
    FK_SEEN_DIFFERS = 4, FK_SEEN_DEAD = 8 /* agree.c */
};

/* Every call of a function that is interpreted. */
void fk_calls_node(fk_code *, const fk_node *);
/* The symbol of compiled OCaml code. */
bool fk_is_ocaml_name(const char *);
/* The call of a descriptor. */
void fk_calls_entry(fk_code *, const fk_node *, const fk_descr *);

void fk_frame_call(fk_code *, const fk_state *, int32_t n, const fk_descr *);

void fk_alloc_call(fk_code *, const fk_state *, int32_t n, const fk_descr *);
void fk_alloc_skip(fk_code *, const fk_descr *, const char *reason);

/* Before the rules look: false: no memory. Then every instruction is shown to fk_live_evidence. */
bool fk_live_begin(fk_code *);
void fk_live_evidence(fk_function *, const fk_state *, int32_t n, void *code);
void fk_live_insn(fk_code *, const fk_state *, int32_t n);
void fk_live_call(fk_code *, const fk_state *, const fk_descr *);
void fk_live_done(fk_code *, size_t descr);
bool fk_agree(fk_code *); /* false: no memory */
void fk_live_skip(fk_code *, const char *reason);

/* Findings about an instruction go to the descriptor before it. NULL: the function has none. */
const fk_descr *fk_code_near(const fk_code *, uint64_t addr);
void fk_frame_insn(fk_code *, const fk_state *, int32_t n);
void fk_frame_unseen(fk_code *, const fk_descr *, const char *reason);
void fk_abi_done(fk_code *); /* the function has been looked at */
void fk_abi_insn(fk_code *, const fk_state *, int32_t n);
void fk_stack_begin(fk_code *);
void fk_stack_insn(fk_code *, const fk_state *, int32_t n);
bool fk_abi_function(fk_code *); /* false: no memory */

#endif
