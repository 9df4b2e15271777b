/* abi.h - one description per architecture; emitter, dumper, checker and
 * runtime read it and nothing else.
 *
 * Glossary
 *   word         8 bytes (4 on the read-only i386 and armhf)
 *   S            stack pointer of an OCaml frame after the call returned
 *   F            frame size of the descriptor, bytes
 *   index        frametable number of a register: live_ofs = 2*index + 1
 *   slot         word of the save area (gc_regs[slot]) that keeps a register
 *   bucket       the save area itself; gc_regs = bucket + bucket_base
 *   trap frame   16 bytes: [0] previous trap pointer, [8] handler address
 *   dom          the domain state block (Caml_state)
 *
 * Sources: docs/abi.md (every number below is in its tables).
 */
#ifndef FK_ABI_H
#define FK_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* OCaml ABI versions that the tables know. Ordered: comparisons are meant. */
typedef enum {
    FK_OCAML_4_11, FK_OCAML_4_12, FK_OCAML_4_13, FK_OCAML_4_14,
    FK_OCAML_5_0, FK_OCAML_5_1, FK_OCAML_5_2, FK_OCAML_5_3, FK_OCAML_5_4,
    FK_OCAML_VERSIONS
} fk_ocaml_version;

/* What a register is for (bit set). */
enum {
    FK_REG_ALLOCATABLE = 1 << 0,     /* the register allocator may use it */
    FK_REG_ALLOC_DESTROYED = 1 << 1, /* dead after an allocation or poll */
    /* Two views of a C call, and both may hold of a register (amd64 rbx, s390x r6): OCaml's code
     * keeps nothing there over a noalloc C call; by the psABI the C function keeps it. */
    FK_REG_NOALLOC_DESTROYED = 1 << 2,
    FK_REG_C_CALLEE_SAVED = 1 << 3,
    FK_REG_SCRATCH = 1 << 4,         /* code generator's own, never live over anything */
    FK_REG_DOMAIN = 1 << 5,          /* dom */
    FK_REG_YOUNG = 1 << 6,           /* young_ptr */
    FK_REG_TRAP = 1 << 7,            /* trap pointer (absent on amd64: dom.exn_handler) */
    FK_REG_SP = 1 << 8,
    FK_REG_LINK = 1 << 9,            /* return address (absent on amd64) */
    FK_REG_C_FUNCTION = 1 << 10,     /* function of caml_c_call */
    FK_REG_STACKARGS_BEGIN = 1 << 11,
    FK_REG_STACKARGS_END = 1 << 12,  /* power: byte count */
    FK_REG_NOALLOC_SP = 1 << 13,     /* keeps OCaml's SP over an inline noalloc call */
    FK_REG_VENEER = 1 << 14,         /* a PLT stub, veneer or lazy resolver may destroy it */
    FK_REG_LIMIT = 1 << 15,          /* cached young_limit (4.11, 4.12 only) */
    FK_REG_TOC = 1 << 16,            /* power r2 */
    FK_REG_RESERVED = 1 << 17,       /* the platform's: no OCaml code or stub writes it */
};

typedef struct {
    const char *name;
    uint8_t hw;        /* number in instruction encodings */
    int16_t dwarf;     /* DWARF register number, -1: none */
    int16_t index;     /* frametable number, -1: none (floats: 100 + n) */
    int16_t slot;      /* save-area word from gc_regs (5.x), -1: not saved */
    uint32_t roles;    /* FK_REG_* of OCaml 5.3 */
    int8_t ocaml_arg;  /* nth (from 0) argument of its class in OCaml calls, -1: none */
    int8_t c_arg;      /* nth (from 0) argument of its class in C calls, -1: none */
    bool is_float;
} fk_reg;

/* Roles and index that differ from 5.3 in a version range (inclusive). */
typedef struct {
    const char *reg;
    fk_ocaml_version from, to;
    uint32_t roles;
    int16_t index;
} fk_reg_delta;

/* A call instruction that may precede a return address: the last `length`
 * bytes before it, of which the first `nmatch` match value under mask. */
typedef struct {
    uint8_t length, nmatch;
    uint8_t mask[8], value[8];
    const char *name;
    uint8_t target;    /* FK_TARGET_*: how the instruction names its callee */
} fk_call_form;

/* Where a direct call keeps the distance to its callee. */
enum {
    FK_TARGET_NONE,    /* indirect */
    FK_TARGET_REL8,    /* amd64, i386: last byte, from the next instruction */
    FK_TARGET_REL32,   /* amd64, i386: last 4 bytes, from the return address */
    FK_TARGET_IMM26,   /* arm64: 26 bits, words, from the instruction */
    FK_TARGET_LI,      /* power: bits 2..25, from the instruction */
    FK_TARGET_BD,      /* power: bits 2..15, from the instruction */
    FK_TARGET_RI32,    /* s390x: last 4 bytes, halfwords, from the instruction */
    FK_TARGET_RI16,    /* s390x: last 2 bytes, halfwords, from the instruction */
    FK_TARGET_J,       /* riscv: J-type immediate, from the instruction */
    FK_TARGET_AUIPC,   /* riscv: jalr whose register the auipc before it sets */
};

/* A stub that a linker puts between a call and its callee: the words that must be at its start. */
typedef struct {
    const char *name;
    uint8_t length;    /* bytes that are compared */
    uint8_t how;       /* FK_STUB_* */
    uint8_t at;        /* bytes to the (first) field of the address */
    bool slot;         /* the address is of a word that holds the callee's, else the callee's */
    uint32_t mask[5], value[5];
} fk_stub_form;

/* What makes the address. */
enum {
    FK_STUB_REL32,     /* 4 bytes, from their end */
    FK_STUB_ABS32,     /* 4 bytes */
    FK_STUB_GOT32,     /* 4 bytes, from the global offset table (i386) */
    FK_STUB_RI32,      /* 4 bytes, halfwords, from the stub (s390x) */
    FK_STUB_PAGE,      /* adrp, then ldr or add (arm64) */
    FK_STUB_LITERAL,   /* the 8 bytes at `at` are the slot (arm64) */
    FK_STUB_LITERAL_PIC, /* ... a distance from the second instruction (arm64) */
    FK_STUB_TOC_HA,    /* addis, then ld or addi, from the TOC pointer (power) */
    FK_STUB_TOC_LO,    /* ld, from the TOC pointer (power) */
    FK_STUB_PCREL34,   /* pld or paddi (power) */
    FK_STUB_LI26,      /* b (power) */
    FK_STUB_AUIPC_LD,  /* auipc, then ld (riscv) */
    FK_STUB_ARM,       /* add, add, ldr (armhf) */
};

/* What a relocation type means to a reader of data and code addresses. */
typedef enum {
    FK_RELOC_ABS,      /* word   := S + A */
    FK_RELOC_RELATIVE, /* word   := base + A */
    FK_RELOC_ABS32,    /* 4 bytes := S + A */
    FK_RELOC_PCREL32,  /* 4 bytes := S + A - P */
    FK_RELOC_ADD,      /* size bytes += S + A   (RISC-V pairs) */
    FK_RELOC_SUB,      /* size bytes -= S + A */
    FK_RELOC_CALL,     /* branch to S + A: names the callee */
    FK_RELOC_GOT,      /* field := (high part of) where a GOT slot of S is: names the symbol */
    FK_RELOC_GOT_LOW,  /* ... the low part, which completes a FK_RELOC_GOT */
    FK_RELOC_FIELD,    /* instruction field := S + A, or what it is from a base (TOC, GOT) */
    FK_RELOC_HIGH,     /* ... the high part of it, or of the distance */
    FK_RELOC_LOW,      /* ... the low part, which completes a FK_RELOC_HIGH */
    FK_RELOC_DISTANCE, /* ... the whole of S + A - P */
    FK_RELOC_SET,      /* size bytes := S + A, little end (RISC-V) */
    FK_RELOC_SET6,     /* low 6 bits of a byte := S + A (RISC-V, DW_CFA_advance_loc) */
    FK_RELOC_SUB6,     /* low 6 bits of a byte -= S + A */
} fk_reloc_kind;

typedef struct {
    uint32_t type;
    fk_reloc_kind kind;
    uint8_t size;      /* bytes changed; 0: instruction field */
    const char *name;
} fk_reloc_form;

/* Structures that stubs, runtime and C share in 5.x (byte offsets, 64-bit).
 *
 *   stack_info (a fiber)            its stack, growing down from the handler:
 *    0 sp             24 cache          [ stack_info | ... free ... | frames | handler ]
 *    8 exception_ptr  32 size                                      ^sp       ^16-aligned
 *   16 handler        40 magic      A fiber as an OCaml value is its address + 1.
 *                     48 id                                                        */
enum {
    FK_STACK_SP = 0,
    FK_STACK_EXCEPTION = 8,
    FK_STACK_HANDLER = 16,
    FK_STACK_CACHE = 24,
    FK_STACK_SIZE = 32,
    FK_STACK_MAGIC = 40,
    FK_STACK_ID = 48,
    FK_STACK_CTX_WORDS = 7, /* sizeof (stack_info) / 8 */
    FK_STACK_THRESHOLD = 256, /* bytes below the checked point that need no check */

    FK_HANDLER_VALUE = 0,
    FK_HANDLER_EXN = 8,
    FK_HANDLER_EFFECT = 16,
    FK_HANDLER_PARENT = 24,

    /* struct c_stack_link, at dom.c_stack; fields from fk_abi.c_link_base on */
    FK_C_LINK_STACK = 0,
    FK_C_LINK_SP = 8,
    FK_C_LINK_PREV = 16,
    FK_C_LINK_SIZE = 24,

    FK_TRAP_PREVIOUS = 0, /* trap frame */
    FK_TRAP_HANDLER = 8,
    FK_TRAP_SIZE = 16,

    FK_EXTRA_PARAMS = 64, /* words in dom.extra_params */
};

typedef struct fk_abi {
    const char *name;          /* "amd64" "arm64" "power" "s390x" "riscv64" "i386" "armhf" */
    uint16_t elf_machine;      /* EM_* */
    uint8_t word;              /* bytes */
    bool big_endian;
    bool can_emit;             /* false: reading only */
    uint8_t code_align;        /* return addresses are multiples of it */
    uint8_t function_align;    /* of the compiler's functions */

    const fk_reg *regs;        /* integer then float, in index order where there is one */
    size_t num_regs;
    const fk_reg_delta *deltas;
    size_t num_deltas;

    /* frame: return address of the caller at S + F + ra_offset
     *
     *      amd64 arm64 riscv64 s390x          power
     *      S+F   +-----------+                S+F+16 | LR |  (caller's frame)
     *      S+F-8 | ret addr  |                S+F+8  | r2 |
     *            | slots     |                S+F    +-----------+
     *      S     +-----------+                       | slots     |
     *                                         S+32   +-----------+
     *                                         S      | reserved  |            */
    int8_t ra_offset;          /* -8 or +16 */
    bool size_includes_ra;
    uint8_t cfa_bias;          /* CFA of the psABI's unwinding = S + F + cfa_bias (s390x 160) */
    uint8_t frame_align;       /* F is a multiple (5.2 and later) */
    uint8_t frame_align_old;   /* ... up to 5.1 */
    uint8_t frame_reserved;    /* bytes at S that belong to the callee (power 32) */

    uint16_t bucket_size;      /* bytes */
    uint8_t bucket_base;       /* gc_regs = bucket + bucket_base */
    uint8_t first_frame;       /* S of the first OCaml frame = stack->sp + first_frame */
    uint8_t header_size;       /* caml_start_program's prefix on the OCaml stack */
    uint8_t header_gc_regs;    /* saved gc_regs inside it */
    uint8_t c_link_base;       /* fields of struct c_stack_link start here */
    uint8_t c_stack_reserved;  /* bytes a C callee owns above its SP (s390x 160, power 32) */

    bool poll_inclusive;       /* poll calls the GC when young_ptr <= limit (else <) */
    bool has_alloc_n;          /* caml_alloc1/2/3/N exist */

    uint8_t local_entry;       /* bytes from a function's symbol to its local entry (power 8) */
    const fk_call_form *calls;
    size_t num_calls;
    const fk_call_form *traps; /* instructions whose own address is looked up (power up to 4.14) */
    size_t num_traps;
    const fk_call_form *jumps; /* unconditional, direct */
    size_t num_jumps;
    const fk_reloc_form *relocs;
    size_t num_relocs;
    int8_t pc_addend;          /* added to a PC-relative relocation's addend: the callee */
    const fk_stub_form *stubs;
    size_t num_stubs;
    bool stubs_anywhere;       /* in all code; else in sections .plt* only */
    const char *got_symbol;    /* what stubs count from; without it .got + got_bias */
    uint16_t got_bias;
} fk_abi;

/* All tables, the five ports first. */
extern const fk_abi *const fk_abis[];
extern const size_t fk_num_abis;

/* NULL when unknown. */
const fk_abi *fk_abi_by_name(const char *name);
const fk_abi *fk_abi_by_elf(uint16_t machine, bool big_endian, uint8_t word);

/* The register called `name`, NULL: none. */
const fk_reg *fk_abi_reg_by_name(const fk_abi *, const char *name);
/* The register with frametable number `index` in `version`, NULL: none. */
const fk_reg *fk_abi_reg(const fk_abi *, int index, fk_ocaml_version version);
/* The first register that has all of `roles`, NULL: none. */
const fk_reg *fk_abi_role(const fk_abi *, uint32_t roles);
/* Roles of a register in `version` (5.3's with the deltas applied). */
uint32_t fk_abi_roles(const fk_abi *, const fk_reg *, fk_ocaml_version version);
/* Frametable number of a register in `version`, -1: none. */
int fk_abi_index(const fk_abi *, const fk_reg *, fk_ocaml_version version);

/* Length in bytes of the call instruction that ends at code + avail (the byte
 * after it is the return address); 0: no call there. Never reads outside. On
 * amd64 and i386 bytes before a call may look like a longer one: the answer says
 * that a call ends there, and how long the first matching form is. */
size_t fk_abi_call_length(const fk_abi *, const uint8_t *code, size_t avail);

/* A trap instruction that a descriptor may have as its "return address" starts at
 * code. Never reads outside. */
bool fk_abi_is_trap(const fk_abi *, const uint8_t *code, size_t avail);

/* Callee of the call instruction that ends at code + avail, the return address
 * `retaddr`; false: no call, an indirect one, or one that only a relocation
 * completes. Never reads outside. */
bool fk_abi_call_target(const fk_abi *, const uint8_t *code, size_t avail, uint64_t retaddr,
                        uint64_t *target);

/* Where the linker's call stub at `code` (address `addr`) leads: *target is the callee, or, when
 * *slot is set, the word (a GOT or PLT slot) that holds the callee's address. `got` is what the
 * stubs of power and i386 count from, 0: unknown. false: no stub. Never reads outside. */
bool fk_abi_stub(const fk_abi *, const uint8_t *code, size_t avail, uint64_t addr, uint64_t got,
                 uint64_t *target, bool *slot);

/* Where the unconditional direct jump that starts at code, address pc, leads; false: none there,
 * or one that only a relocation completes. Never reads outside. */
bool fk_abi_jump_target(const fk_abi *, const uint8_t *code, size_t avail, uint64_t pc,
                        uint64_t *target);

const fk_reloc_form *fk_abi_reloc(const fk_abi *, uint32_t type);

/* Domain state: byte offset of field `name` ("young_ptr") in `version`; -1: none. */
int fk_domain_offset(fk_ocaml_version version, const char *name);
/* Number of fields, extra_params counted as one (61 in 5.3). */
size_t fk_domain_fields(fk_ocaml_version version);
/* Name of the field with index `i` (offset 8 * i) in `version`, NULL past the last. */
const char *fk_domain_field(fk_ocaml_version version, size_t i);
/* The nth field name of all that any version has, NULL past the last. */
const char *fk_domain_field_nth(size_t n);

/* "5.3" -> FK_OCAML_5_3; false: unknown. */
bool fk_ocaml_version_parse(const char *text, fk_ocaml_version *out);
const char *fk_ocaml_version_name(fk_ocaml_version);

#endif
