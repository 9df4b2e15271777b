/* s390x.c - s390x ELF ABI with OCaml's convention. docs/abi.md, "s390x". */
#include "abi/table.h"

/* n, DWARF number, frametable number, argument, roles; saved in numeric order. */
#define FLOAT(n, dw, idx, arg, roles) FLT("f" #n, n, dw, idx, 9 + n, arg, arg, roles)

static const fk_reg regs[] = {
    INT("r2", 2, 2, 0, 0, 0, 0, A | D),
    INT("r3", 3, 3, 1, 1, 1, 1, A | D),
    INT("r4", 4, 4, 2, 2, 2, 2, A | D),
    INT("r5", 5, 5, 3, 3, 3, 3, A | D),
    /* The psABI keeps it, yet no OCaml code relies on that: it is a C argument. */
    INT("r6", 6, 6, 4, 4, 4, 4, A | D | K),
    INT("r7", 7, 7, 5, 5, 5, -1, A | K | FK_REG_C_FUNCTION),
    INT("r8", 8, 8, 6, 6, 6, -1, A | K | FK_REG_STACKARGS_END),
    INT("r9", 9, 9, 7, 7, 7, -1, A | K | FK_REG_STACKARGS_BEGIN),
    INT("r12", 12, 12, 8, 8, -1, -1, A | D | K | FK_REG_NOALLOC_SP),
    INT("r0", 0, 0, -1, -1, -1, -1, D | T | V),
    INT("r1", 1, 1, -1, -1, -1, -1, D | T | V),
    INT("r10", 10, 10, -1, -1, -1, -1, K | FK_REG_DOMAIN),
    INT("r11", 11, 11, -1, -1, -1, -1, K | FK_REG_YOUNG),
    INT("r13", 13, 13, -1, -1, -1, -1, K | FK_REG_TRAP),
    INT("r14", 14, 14, -1, -1, -1, -1, D | FK_REG_LINK),
    INT("r15", 15, 15, -1, -1, -1, -1, K | FK_REG_SP),
    FLOAT(0, 16, 100, 0, A | D), FLOAT(2, 17, 101, 1, A | D),
    FLOAT(4, 18, 102, 2, A | D), FLOAT(6, 19, 103, 3, A | D),
    FLOAT(1, 20, 104, -1, A | D), FLOAT(3, 21, 105, -1, A | D),
    FLOAT(5, 22, 106, -1, A | D), FLOAT(7, 23, 107, -1, A | D),
    FLOAT(8, 24, 108, -1, A | K), FLOAT(9, 28, 109, -1, A | K),
    FLOAT(10, 25, 110, -1, A | K), FLOAT(11, 29, 111, -1, A | K),
    FLOAT(12, 26, 112, -1, A | K), FLOAT(13, 30, 113, -1, A | K),
    FLOAT(14, 27, 114, -1, A | K), FLOAT(15, 31, 115, -1, K | T),
};

static const fk_reg_delta deltas[] = {
    {"r12", FK_OCAML_4_11, FK_OCAML_4_14, A | K, 8},
};

/* basr %r14,%r0 does not branch: its register field must not be 0. */
#define BASR(mask, value) {2, 2, {0xff, mask}, {0x0d, value}, "basr", FK_TARGET_NONE}

static const fk_call_form calls[] = {
    {6, 2, {0xff, 0xff}, {0xc0, 0xe5}, "brasl", FK_TARGET_RI32},
    {4, 2, {0xff, 0xff}, {0xa7, 0xe5}, "bras", FK_TARGET_RI16},
    BASR(0xff, 0xe1), BASR(0xfe, 0xe2), BASR(0xfc, 0xe4), BASR(0xf8, 0xe8),
};

static const fk_call_form jumps[] = {
    {6, 2, {0xff, 0xff}, {0xc0, 0xf4}, "brcl 15", FK_TARGET_RI32},
    {4, 2, {0xff, 0xff}, {0xa7, 0xf4}, "brc 15", FK_TARGET_RI16},
};

static const fk_reloc_form relocs[] = {
    {R_390_64, FK_RELOC_ABS, 8, "R_390_64"},
    {R_390_GLOB_DAT, FK_RELOC_ABS, 8, "R_390_GLOB_DAT"},
    {R_390_JMP_SLOT, FK_RELOC_ABS, 8, "R_390_JMP_SLOT"},
    {R_390_RELATIVE, FK_RELOC_RELATIVE, 8, "R_390_RELATIVE"},
    {R_390_32, FK_RELOC_ABS32, 4, "R_390_32"},
    {R_390_PC32, FK_RELOC_PCREL32, 4, "R_390_PC32"},
    {R_390_PLT32DBL, FK_RELOC_CALL, 0, "R_390_PLT32DBL"},
    {R_390_PC32DBL, FK_RELOC_DISTANCE, 0, "R_390_PC32DBL"},
    {R_390_PC16DBL, FK_RELOC_DISTANCE, 0, "R_390_PC16DBL"},
    {R_390_GOTENT, FK_RELOC_GOT, 0, "R_390_GOTENT"},
};

/* Bytes: larl %r1, slot; lg %r1, 0(%r1); br %r1 */
static const fk_stub_form stubs[] = {
    {"plt", 14, FK_STUB_RI32, 2, true,
     {0xffff0000, 0x0000ffff, ~0u, 0xffff0000}, {0xc0100000, 0x0000e310, 0x10000004, 0x07f10000}},
};

const fk_abi fk_abi_s390x = {
    .name = "s390x",
    .elf_machine = EM_S390,
    .word = 8,
    .big_endian = true,
    .can_emit = true,
    .code_align = 2,
    .function_align = 8,
    .regs = regs,
    .num_regs = COUNT(regs),
    .deltas = deltas,
    .num_deltas = COUNT(deltas),
    .ra_offset = -8,
    .size_includes_ra = true,
    .cfa_bias = 160,
    .frame_align = 8,
    .frame_align_old = 8,
    .bucket_size = (2 + 9 + 16) * 8,
    .bucket_base = 16,
    .first_frame = 8,
    .header_size = 32,
    .header_gc_regs = 24,
    .c_link_base = 160,
    .c_stack_reserved = 160,
    .has_alloc_n = true,
    .calls = calls,
    .num_calls = COUNT(calls),
    .jumps = jumps,
    .num_jumps = COUNT(jumps),
    .relocs = relocs,
    .num_relocs = COUNT(relocs),
    .stubs = stubs,
    .num_stubs = COUNT(stubs),
    .pc_addend = -2,
};
