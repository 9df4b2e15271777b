/* arm64.c - AAPCS64 with OCaml's convention. docs/abi.md, "arm64". */
#include "abi/table.h"

#define XREG(n, arg, roles) INT("x" #n, n, n, n, n, arg, (n) < 8 ? arg : -1, A | D | (roles))
#define SREG(n, roles) INT("x" #n, n, n, (n) - 3, (n) - 3, -1, -1, A | K | (roles))
#define LOW(n) FLT("d" #n, n, 64 + n, 100 + n, 24 + n, n, n, A | D)
#define MID(n) FLT("d" #n, n, 64 + n, 100 + n, -1, n, -1, A | K)
#define HIGH(n) FLT("d" #n, n, 64 + n, 100 + n, 16 + n, -1, -1, A | D)

static const fk_reg regs[] = {
    XREG(0, 0, 0), XREG(1, 1, 0), XREG(2, 2, 0), XREG(3, 3, 0),
    XREG(4, 4, 0), XREG(5, 5, 0), XREG(6, 6, 0), XREG(7, 7, 0),
    XREG(8, 8, X | FK_REG_C_FUNCTION),
    XREG(9, 9, 0), XREG(10, 10, 0), XREG(11, 11, 0), XREG(12, 12, 0),
    XREG(13, 13, 0), XREG(14, 14, 0), XREG(15, 15, 0),
    SREG(19, 0), SREG(20, FK_REG_STACKARGS_BEGIN), SREG(21, FK_REG_STACKARGS_END),
    SREG(22, 0), SREG(23, 0), SREG(24, 0), SREG(25, 0),
    INT("x26", 26, 26, 23, -1, -1, -1, K | FK_REG_TRAP),
    INT("x27", 27, 27, 24, -1, -1, -1, K | FK_REG_YOUNG),
    INT("x28", 28, 28, 25, -1, -1, -1, K | FK_REG_DOMAIN),
    INT("x16", 16, 16, 26, -1, -1, -1, D | T | V),
    INT("x17", 17, 17, 27, -1, -1, -1, D | T | V),
    INT("x18", 18, 18, -1, -1, -1, -1, FK_REG_RESERVED),
    INT("x29", 29, 29, -1, -1, -1, -1, K | FK_REG_NOALLOC_SP),
    INT("x30", 30, 30, -1, -1, -1, -1, D | FK_REG_LINK),
    INT("sp", 31, 31, -1, -1, -1, -1, K | FK_REG_SP),
    LOW(0), LOW(1), LOW(2), LOW(3), LOW(4), LOW(5), LOW(6), LOW(7),
    MID(8), MID(9), MID(10), MID(11), MID(12), MID(13), MID(14), MID(15),
    HIGH(16), HIGH(17), HIGH(18), HIGH(19), HIGH(20), HIGH(21), HIGH(22), HIGH(23),
    HIGH(24), HIGH(25), HIGH(26), HIGH(27), HIGH(28), HIGH(29), HIGH(30), HIGH(31),
};

static const fk_reg_delta deltas[] = {
    {"x8", FK_OCAML_4_11, FK_OCAML_4_11, A | D, 8},
    {"x15", FK_OCAML_4_11, FK_OCAML_4_11, A | X | D | FK_REG_C_FUNCTION, 15},
    /* x25 was the domain, x28 a copy of young_limit. */
    {"x25", FK_OCAML_4_11, FK_OCAML_4_12, K | FK_REG_DOMAIN, -1},
    {"x28", FK_OCAML_4_11, FK_OCAML_4_12, K | FK_REG_LIMIT, -1},
    {"x29", FK_OCAML_4_11, FK_OCAML_4_14, K, -1},
    /* From 5.4 on x29 may be a frame pointer; x19 keeps the stack pointer. */
    {"x29", FK_OCAML_5_4, FK_OCAML_5_4, K, -1},
    {"x19", FK_OCAML_5_4, FK_OCAML_5_4, A | D | K | FK_REG_NOALLOC_SP, 16},
};

static const fk_call_form calls[] = {
    {4, 4, {0, 0, 0, 0xfc}, {0, 0, 0, 0x94}, "bl", FK_TARGET_IMM26},
    {4, 4, {0x1f, 0xfc, 0xff, 0xff}, {0x00, 0x00, 0x3f, 0xd6}, "blr", FK_TARGET_NONE},
};

static const fk_call_form jumps[] = {
    {4, 4, {0, 0, 0, 0xfc}, {0, 0, 0, 0x14}, "b", FK_TARGET_IMM26},
};

static const fk_reloc_form relocs[] = {
    {R_AARCH64_ABS64, FK_RELOC_ABS, 8, "R_AARCH64_ABS64"},
    {R_AARCH64_GLOB_DAT, FK_RELOC_ABS, 8, "R_AARCH64_GLOB_DAT"},
    {R_AARCH64_JUMP_SLOT, FK_RELOC_ABS, 8, "R_AARCH64_JUMP_SLOT"},
    {R_AARCH64_RELATIVE, FK_RELOC_RELATIVE, 8, "R_AARCH64_RELATIVE"},
    {R_AARCH64_ABS32, FK_RELOC_ABS32, 4, "R_AARCH64_ABS32"},
    {R_AARCH64_PREL32, FK_RELOC_PCREL32, 4, "R_AARCH64_PREL32"},
    {R_AARCH64_CALL26, FK_RELOC_CALL, 0, "R_AARCH64_CALL26"},
    {R_AARCH64_JUMP26, FK_RELOC_CALL, 0, "R_AARCH64_JUMP26"},
    {R_AARCH64_ADR_GOT_PAGE, FK_RELOC_GOT, 0, "R_AARCH64_ADR_GOT_PAGE"},
    {R_AARCH64_LD64_GOT_LO12_NC, FK_RELOC_GOT_LOW, 0, "R_AARCH64_LD64_GOT_LO12_NC"},
    {R_AARCH64_ADR_PREL_PG_HI21, FK_RELOC_HIGH, 0, "R_AARCH64_ADR_PREL_PG_HI21"},
    {R_AARCH64_ADR_PREL_LO21, FK_RELOC_DISTANCE, 0, "R_AARCH64_ADR_PREL_LO21"},
    {R_AARCH64_ADD_ABS_LO12_NC, FK_RELOC_LOW, 0, "R_AARCH64_ADD_ABS_LO12_NC"},
    {R_AARCH64_LDST64_ABS_LO12_NC, FK_RELOC_LOW, 0, "R_AARCH64_LDST64_ABS_LO12_NC"},
    {R_AARCH64_LDST32_ABS_LO12_NC, FK_RELOC_LOW, 0, "R_AARCH64_LDST32_ABS_LO12_NC"},
    {R_AARCH64_CONDBR19, FK_RELOC_DISTANCE, 0, "R_AARCH64_CONDBR19"},
};

/* adrp x16; ldr x17, [x16]; add x16; br x17, in front perhaps bti c; veneers use x16 and x17. */
#define ADRP_X16 0x90000010u
#define ADRP_MASK 0x9f00001fu
static const fk_stub_form stubs[] = {
    {"plt", 8, FK_STUB_PAGE, 0, true, {ADRP_MASK, 0xffc003ff}, {ADRP_X16, 0xf9400211}},
    {"plt bti", 12, FK_STUB_PAGE, 4, true,
     {~0u, ADRP_MASK, 0xffc003ff}, {0xd503245f, ADRP_X16, 0xf9400211}},
    {"veneer", 12, FK_STUB_PAGE, 0, false,
     {ADRP_MASK, 0xffc003ff, ~0u}, {ADRP_X16, 0x91000210, 0xd61f0200}},
    {"veneer bti", 16, FK_STUB_PAGE, 4, false,
     {~0u, ADRP_MASK, 0xffc003ff, ~0u}, {0xd503245f, ADRP_X16, 0x91000210, 0xd61f0200}},
    {"veneer literal", 8, FK_STUB_LITERAL, 8, true, {~0u, ~0u}, {0x58000050, 0xd61f0200}},
    {"veneer distance", 16, FK_STUB_LITERAL_PIC, 16, false,
     {~0u, ~0u, ~0u, ~0u}, {0x58000090, 0x10000011, 0x8b110210, 0xd61f0200}},
};

const fk_abi fk_abi_arm64 = {
    .name = "arm64",
    .elf_machine = EM_AARCH64,
    .word = 8,
    .can_emit = true,
    .code_align = 4,
    .function_align = 8,
    .regs = regs,
    .num_regs = COUNT(regs),
    .deltas = deltas,
    .num_deltas = COUNT(deltas),
    .ra_offset = -8,
    .size_includes_ra = true,
    .frame_align = 16,
    .frame_align_old = 16,
    .bucket_size = (2 + 24 + 24) * 8,
    .bucket_base = 16,
    .first_frame = 16,
    .header_size = 32,
    .header_gc_regs = 24,
    .poll_inclusive = true,
    .has_alloc_n = true,
    .calls = calls,
    .num_calls = COUNT(calls),
    .jumps = jumps,
    .num_jumps = COUNT(jumps),
    .relocs = relocs,
    .num_relocs = COUNT(relocs),
    .stubs = stubs,
    .num_stubs = COUNT(stubs),
    .stubs_anywhere = true,
};
