/* power.c - ppc64le, ELFv2, with OCaml's convention. docs/abi.md, "power". */
#include "abi/table.h"

#define LOW(n, roles) INT("r" #n, n, n, (n) - 3, (n) - 3, (n) - 3, (n) - 3, A | D | (roles))
#define MID(n) INT("r" #n, n, n, (n) - 6, (n) - 6, (n) - 6, -1, A | K)
#define HIGH(n, roles) INT("r" #n, n, n, (n) - 6, (n) - 6, -1, -1, A | K | (roles))
#define FVOL(n) FLT("f" #n, n, 32 + n, 100 + n, 23 + n, (n) - 1, (n) - 1, A | D)
#define FSAVED(n) FLT("f" #n, n, 32 + n, 100 + n, -1, -1, -1, A | K)

static const fk_reg regs[] = {
    LOW(3, 0), LOW(4, 0), LOW(5, 0), LOW(6, 0), LOW(7, 0), LOW(8, 0), LOW(9, 0), LOW(10, 0),
    MID(14), MID(15), MID(16), MID(17), MID(18), MID(19), MID(20), MID(21),
    HIGH(22, 0), HIGH(23, 0), HIGH(24, FK_REG_STACKARGS_END), HIGH(25, FK_REG_C_FUNCTION),
    HIGH(26, 0), HIGH(27, 0), HIGH(28, D | FK_REG_NOALLOC_SP),
    INT("r0", 0, 0, -1, -1, -1, -1, D | T | V),
    INT("r1", 1, 1, -1, -1, -1, -1, K | FK_REG_SP),
    INT("r2", 2, 2, -1, -1, -1, -1, FK_REG_TOC),
    INT("r11", 11, 11, -1, -1, -1, -1, D | T | V),
    INT("r12", 12, 12, -1, -1, -1, -1, D | T | V),
    INT("r13", 13, 13, -1, -1, -1, -1, FK_REG_RESERVED),
    INT("r29", 29, 29, -1, -1, -1, -1, K | FK_REG_TRAP),
    INT("r30", 30, 30, -1, -1, -1, -1, K | FK_REG_DOMAIN),
    INT("r31", 31, 31, -1, -1, -1, -1, K | FK_REG_YOUNG),
    INT("lr", 8, 65, -1, -1, -1, -1, D | FK_REG_LINK),
    INT("ctr", 9, 66, -1, -1, -1, -1, D | T | V),
    FLT("f0", 0, 32, 100, 23, -1, -1, A | D),
    FVOL(1), FVOL(2), FVOL(3), FVOL(4), FVOL(5), FVOL(6), FVOL(7),
    FVOL(8), FVOL(9), FVOL(10), FVOL(11), FVOL(12), FVOL(13),
    FSAVED(14), FSAVED(15), FSAVED(16), FSAVED(17), FSAVED(18), FSAVED(19),
    FSAVED(20), FSAVED(21), FSAVED(22), FSAVED(23), FSAVED(24), FSAVED(25),
    FSAVED(26), FSAVED(27), FSAVED(28), FSAVED(29), FSAVED(30), FSAVED(31),
};

/* Up to 4.14 f0 was the generator's scratch and the float numbers began at f1.
 * There was no native back end in 5.0 and 5.1. */
#define OLD(n, roles) {"f" #n, FK_OCAML_4_11, FK_OCAML_5_1, A | (roles), 99 + (n)}

static const fk_reg_delta deltas[] = {
    {"r28", FK_OCAML_4_11, FK_OCAML_4_12, K | FK_REG_DOMAIN, -1},
    {"r30", FK_OCAML_4_11, FK_OCAML_4_12, K | FK_REG_LIMIT, -1},
    {"r28", FK_OCAML_4_13, FK_OCAML_4_14, A | K, 22},
    {"f0", FK_OCAML_4_11, FK_OCAML_5_1, D | T, -1},
    OLD(1, D), OLD(2, D), OLD(3, D), OLD(4, D), OLD(5, D), OLD(6, D), OLD(7, D),
    OLD(8, D), OLD(9, D), OLD(10, D), OLD(11, D), OLD(12, D), OLD(13, D),
    OLD(14, K), OLD(15, K), OLD(16, K), OLD(17, K), OLD(18, K), OLD(19, K),
    OLD(20, K), OLD(21, K), OLD(22, K), OLD(23, K), OLD(24, K), OLD(25, K),
    OLD(26, K), OLD(27, K), OLD(28, K), OLD(29, K), OLD(30, K), OLD(31, K),
};

/* Every branch with LK = 1 and AA = 0; bytes in little-endian order. */
static const fk_call_form calls[] = {
    {4, 4, {0x03, 0, 0, 0xfc}, {0x01, 0, 0, 0x48}, "bl", FK_TARGET_LI},
    {4, 4, {0x03, 0, 0, 0xfc}, {0x01, 0, 0, 0x40}, "bcl", FK_TARGET_BD},
    {4, 4, {0xff, 0x07, 0, 0xfc}, {0x21, 0x04, 0, 0x4c}, "bctrl", FK_TARGET_NONE},
    {4, 4, {0xff, 0x07, 0, 0xfc}, {0x21, 0x00, 0, 0x4c}, "blrl", FK_TARGET_NONE},
};

/* td and tdi: a failed bound check of 4.x. */
static const fk_call_form traps[] = {
    {4, 4, {0xfe, 0x07, 0, 0xfc}, {0x88, 0x00, 0, 0x7c}, "td", FK_TARGET_NONE},
    {4, 4, {0, 0, 0, 0xfc}, {0, 0, 0, 0x08}, "tdi", FK_TARGET_NONE},
};

static const fk_call_form jumps[] = {
    {4, 4, {0x03, 0, 0, 0xfc}, {0, 0, 0, 0x48}, "b", FK_TARGET_LI},
};

static const fk_reloc_form relocs[] = {
    {R_PPC64_ADDR64, FK_RELOC_ABS, 8, "R_PPC64_ADDR64"},
    {R_PPC64_GLOB_DAT, FK_RELOC_ABS, 8, "R_PPC64_GLOB_DAT"},
    {R_PPC64_JMP_SLOT, FK_RELOC_ABS, 8, "R_PPC64_JMP_SLOT"},
    {R_PPC64_RELATIVE, FK_RELOC_RELATIVE, 8, "R_PPC64_RELATIVE"},
    {R_PPC64_ADDR32, FK_RELOC_ABS32, 4, "R_PPC64_ADDR32"},
    {R_PPC64_REL32, FK_RELOC_PCREL32, 4, "R_PPC64_REL32"},
    {R_PPC64_REL24, FK_RELOC_CALL, 0, "R_PPC64_REL24"},
    {R_PPC64_REL14, FK_RELOC_DISTANCE, 0, "R_PPC64_REL14"},
    {R_PPC64_TOC16_HA, FK_RELOC_HIGH, 0, "R_PPC64_TOC16_HA"},
    {R_PPC64_TOC16_LO, FK_RELOC_LOW, 0, "R_PPC64_TOC16_LO"},
    {R_PPC64_TOC16_LO_DS, FK_RELOC_LOW, 0, "R_PPC64_TOC16_LO_DS"},
    {R_PPC64_TOC16_DS, FK_RELOC_FIELD, 0, "R_PPC64_TOC16_DS"},
    {R_PPC64_TOC16, FK_RELOC_FIELD, 0, "R_PPC64_TOC16"},
    {R_PPC64_REL16_HA, FK_RELOC_HIGH, 0, "R_PPC64_REL16_HA"},
    {R_PPC64_REL16_LO, FK_RELOC_LOW, 0, "R_PPC64_REL16_LO"},
    {R_PPC64_GOT16_HA, FK_RELOC_GOT, 0, "R_PPC64_GOT16_HA"},
    {R_PPC64_GOT16_LO_DS, FK_RELOC_GOT_LOW, 0, "R_PPC64_GOT16_LO_DS"},
};

/* plt_call:     [std r2, 24(r1);] addis r12, r2, ha; ld r12, lo(r12); mtctr r12; bctr
 * plt_branch:   the same without std; its slot lies in .branch_lt
 * long_branch:  [std r2, 24(r1); addis r2, r2, ha; addi r2, r2, lo;] b
 * The prefixed ones are for callers without a TOC. */
#define STD_R2 0xf8410018u
#define ADDIS_R12_R2 0x3d820000u
#define LD_R12_R12 0xe98c0000u
#define LD_R12_R2 0xe9820000u
#define MTCTR_R12 0x7d8903a6u
#define BCTR 0x4e800420u
#define TOP16 0xffff0000u
#define DS 0xffff0003u
#define TOP6 0xfc000003u
static const fk_stub_form stubs[] = {
    {"plt_call", 20, FK_STUB_TOC_HA, 4, true,
     {~0u, TOP16, DS, ~0u, ~0u}, {STD_R2, ADDIS_R12_R2, LD_R12_R12, MTCTR_R12, BCTR}},
    {"plt_call near", 16, FK_STUB_TOC_LO, 4, true,
     {~0u, DS, ~0u, ~0u}, {STD_R2, LD_R12_R2, MTCTR_R12, BCTR}},
    {"plt_branch", 16, FK_STUB_TOC_HA, 0, true,
     {TOP16, DS, ~0u, ~0u}, {ADDIS_R12_R2, LD_R12_R12, MTCTR_R12, BCTR}},
    {"plt_branch near", 12, FK_STUB_TOC_LO, 0, true,
     {DS, ~0u, ~0u}, {LD_R12_R2, MTCTR_R12, BCTR}},
    {"plt_branch direct", 16, FK_STUB_TOC_HA, 0, false,
     {TOP16, TOP16, ~0u, ~0u}, {ADDIS_R12_R2, 0x398c0000, MTCTR_R12, BCTR}},
    {"plt_call prefixed", 16, FK_STUB_PCREL34, 0, true,
     {0xfffc0000, TOP16, ~0u, ~0u}, {0x04100000, 0xe5800000, MTCTR_R12, BCTR}},
    {"long_branch prefixed", 16, FK_STUB_PCREL34, 0, false,
     {0xfffc0000, TOP16, ~0u, ~0u}, {0x06100000, 0x39800000, MTCTR_R12, BCTR}},
    {"long_branch r2off", 16, FK_STUB_LI26, 12, false,
     {~0u, TOP16, TOP16, TOP6}, {STD_R2, 0x3c420000, 0x38420000, 0x48000000}},
    {"long_branch", 4, FK_STUB_LI26, 0, false, {TOP6}, {0x48000000}},
};

const fk_abi fk_abi_power = {
    .name = "power",
    .elf_machine = EM_PPC64,
    .word = 8,
    .can_emit = true,
    .code_align = 4,
    .function_align = 4,
    .regs = regs,
    .num_regs = COUNT(regs),
    .deltas = deltas,
    .num_deltas = COUNT(deltas),
    .ra_offset = 16,
    .frame_align = 16,
    .frame_align_old = 16,
    .frame_reserved = 32,
    .bucket_size = (23 + 14) * 8,
    .header_size = 64,
    .header_gc_regs = 56,
    .c_link_base = 32,
    .c_stack_reserved = 32,
    .local_entry = 8,
    .calls = calls,
    .num_calls = COUNT(calls),
    .traps = traps,
    .num_traps = COUNT(traps),
    .jumps = jumps,
    .num_jumps = COUNT(jumps),
    .relocs = relocs,
    .num_relocs = COUNT(relocs),
    .stubs = stubs,
    .num_stubs = COUNT(stubs),
    .got_symbol = ".TOC.",
    .stubs_anywhere = true,
    .got_bias = 0x8000,
};
