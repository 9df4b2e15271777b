/* armhf.c - for reading only: OCaml has no native back end here since 5.0. */
#include "abi/table.h"

static const fk_reg regs[] = {
    INT("r0", 0, 0, 0, -1, 0, 0, A | D), INT("r1", 1, 1, 1, -1, 1, 1, A | D),
    INT("r2", 2, 2, 2, -1, 2, 2, A | D), INT("r3", 3, 3, 3, -1, 3, 3, A | D),
    INT("r4", 4, 4, 4, -1, 4, -1, A | K), INT("r5", 5, 5, 5, -1, 5, -1, A | K),
    INT("r6", 6, 6, 6, -1, 6, -1, A | K), INT("r7", 7, 7, 7, -1, 7, -1, A | K),
    INT("r12", 12, 12, 8, -1, -1, -1, A | D | V),
    INT("sp", 13, 13, -1, -1, -1, -1, K | FK_REG_SP),
    INT("lr", 14, 14, -1, -1, -1, -1, D | FK_REG_LINK),
};

/* Thumb-2 (as Debian builds) and ARM. */
static const fk_call_form calls[] = {
    {4, 4, {0, 0xf8, 0, 0xd0}, {0, 0xf0, 0, 0xd0}, "bl (thumb)", FK_TARGET_NONE},
    {4, 4, {0, 0xf8, 0x01, 0xd0}, {0, 0xf0, 0, 0xc0}, "blx (thumb)", FK_TARGET_NONE},
    {2, 2, {0x87, 0xff}, {0x80, 0x47}, "blx reg (thumb)", FK_TARGET_NONE},
    {4, 4, {0, 0, 0, 0x0f}, {0, 0, 0, 0x0b}, "bl", FK_TARGET_NONE},
    {4, 4, {0xf0, 0xff, 0xff, 0x0f}, {0x30, 0xff, 0x2f, 0x01}, "blx reg", FK_TARGET_NONE},
};

static const fk_reloc_form relocs[] = {
    {R_ARM_ABS32, FK_RELOC_ABS, 4, "R_ARM_ABS32"},
    {R_ARM_GLOB_DAT, FK_RELOC_ABS, 4, "R_ARM_GLOB_DAT"},
    {R_ARM_JUMP_SLOT, FK_RELOC_ABS, 4, "R_ARM_JUMP_SLOT"},
    {R_ARM_RELATIVE, FK_RELOC_RELATIVE, 4, "R_ARM_RELATIVE"},
    {R_ARM_REL32, FK_RELOC_PCREL32, 4, "R_ARM_REL32"},
    {R_ARM_CALL, FK_RELOC_CALL, 0, "R_ARM_CALL"},
    {R_ARM_JUMP24, FK_RELOC_CALL, 0, "R_ARM_JUMP24"},
    {R_ARM_THM_PC22, FK_RELOC_CALL, 0, "R_ARM_THM_CALL"},
    {R_ARM_THM_JUMP24, FK_RELOC_CALL, 0, "R_ARM_THM_JUMP24"},
    {R_ARM_GOT32, FK_RELOC_GOT, 4, "R_ARM_GOT_BREL"},
    {R_ARM_GOT_PREL, FK_RELOC_GOT, 4, "R_ARM_GOT_PREL"},
    {R_ARM_THM_MOVW_ABS_NC, FK_RELOC_LOW, 0, "R_ARM_THM_MOVW_ABS_NC"},
    {R_ARM_THM_MOVT_ABS, FK_RELOC_HIGH, 0, "R_ARM_THM_MOVT_ABS"},
};

static const fk_stub_form stubs[] = {
    {"plt", 12, FK_STUB_ARM, 0, true,
     {0xfffff000, 0xfffff000, 0xfffff000}, {0xe28fc000, 0xe28cc000, 0xe5bcf000}},
    {"plt thumb", 16, FK_STUB_ARM, 4, true,
     {~0u, 0xfffff000, 0xfffff000, 0xfffff000}, {0x46c04778, 0xe28fc000, 0xe28cc000, 0xe5bcf000}},
};

const fk_abi fk_abi_armhf = {
    .name = "armhf",
    .elf_machine = EM_ARM,
    .word = 4,
    .code_align = 1, /* bit 0 of a return address says "Thumb" */
    .function_align = 4,
    .regs = regs,
    .num_regs = COUNT(regs),
    .ra_offset = -4,
    .size_includes_ra = true,
    .frame_align = 8,
    .frame_align_old = 8,
    .poll_inclusive = true,
    .has_alloc_n = true,
    .calls = calls,
    .num_calls = COUNT(calls),
    .relocs = relocs,
    .num_relocs = COUNT(relocs),
    .stubs = stubs,
    .num_stubs = COUNT(stubs),
};
