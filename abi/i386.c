/* i386.c - for reading only: OCaml has no native back end here since 5.0. */
#include "abi/table.h"
#include "abi/x86_calls.h"

static const fk_reg regs[] = {
    INT("eax", 0, 0, 0, -1, 0, -1, A | D),
    INT("ebx", 3, 3, 1, -1, 1, -1, A | K),
    INT("ecx", 1, 1, 2, -1, 2, -1, A | D),
    INT("edx", 2, 2, 3, -1, 3, -1, A | D),
    INT("esi", 6, 6, 4, -1, 4, -1, A | K),
    INT("edi", 7, 7, 5, -1, 5, -1, A | K),
    INT("ebp", 5, 5, 6, -1, -1, -1, A | K),
    INT("esp", 4, 4, -1, -1, -1, -1, K | FK_REG_SP),
};

static const fk_call_form calls[] = {
    E8_FORM,
    FF2_FORMS(FF2, FF2_SIB),
};

static const fk_reloc_form relocs[] = {
    {R_386_32, FK_RELOC_ABS, 4, "R_386_32"},
    {R_386_GLOB_DAT, FK_RELOC_ABS, 4, "R_386_GLOB_DAT"},
    {R_386_JMP_SLOT, FK_RELOC_ABS, 4, "R_386_JMP_SLOT"},
    {R_386_RELATIVE, FK_RELOC_RELATIVE, 4, "R_386_RELATIVE"},
    {R_386_PC32, FK_RELOC_PCREL32, 4, "R_386_PC32"},
    {R_386_PLT32, FK_RELOC_CALL, 4, "R_386_PLT32"},
    {R_386_GOT32, FK_RELOC_GOT, 4, "R_386_GOT32"},
    {R_386_GOT32X, FK_RELOC_GOT, 4, "R_386_GOT32X"},
    {R_386_GOTOFF, FK_RELOC_FIELD, 4, "R_386_GOTOFF"},
};

/* Bytes: ff 25 is jmp *abs32, ff a3 jmp *disp32(%ebx), f3 0f 1e fb endbr32. */
static const fk_stub_form stubs[] = {
    {"plt", 6, FK_STUB_ABS32, 2, true, {0xffff0000}, {0xff250000}},
    {"plt pic", 6, FK_STUB_GOT32, 2, true, {0xffff0000}, {0xffa30000}},
    {"plt endbr", 10, FK_STUB_ABS32, 6, true, {~0u, 0xffff0000}, {0xf30f1efb, 0xff250000}},
    {"plt endbr pic", 10, FK_STUB_GOT32, 6, true, {~0u, 0xffff0000}, {0xf30f1efb, 0xffa30000}},
};

const fk_abi fk_abi_i386 = {
    .name = "i386",
    .elf_machine = EM_386,
    .word = 4,
    .code_align = 1,
    .function_align = 16,
    .regs = regs,
    .num_regs = COUNT(regs),
    .ra_offset = -4,
    .size_includes_ra = true,
    .frame_align = 16,
    .frame_align_old = 16,
    .poll_inclusive = true,
    .has_alloc_n = true,
    .calls = calls,
    .num_calls = COUNT(calls),
    .relocs = relocs,
    .num_relocs = COUNT(relocs),
    .stubs = stubs,
    .num_stubs = COUNT(stubs),
    .got_symbol = "_GLOBAL_OFFSET_TABLE_",
};
