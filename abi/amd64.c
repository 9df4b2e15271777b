/* amd64.c - System V x86-64 with OCaml's convention. docs/abi.md, "amd64". */
#include "abi/table.h"
#include "abi/x86_calls.h"

#define FLOAT(n, oarg, carg) \
    FLT("xmm" #n, n, 17 + n, 100 + n, 13 + n, oarg, carg, A | D)

static const fk_reg regs[] = {
    INT("rax", 0, 0, 0, 0, 0, -1, A | D | FK_REG_C_FUNCTION),
    INT("rbx", 3, 3, 1, 1, 1, -1, A | D | K | FK_REG_NOALLOC_SP),
    INT("rdi", 7, 5, 2, 2, 2, 0, A | D),
    INT("rsi", 6, 4, 3, 3, 3, 1, A | D),
    INT("rdx", 2, 1, 4, 4, 4, 2, A | D),
    INT("rcx", 1, 2, 5, 5, 5, 3, A | D),
    INT("r8", 8, 8, 6, 6, 6, 4, A | D),
    INT("r9", 9, 9, 7, 7, 7, 5, A | D),
    INT("r12", 12, 12, 8, 8, 8, -1, A | K | FK_REG_STACKARGS_END),
    INT("r13", 13, 13, 9, 9, 9, -1, A | K | FK_REG_STACKARGS_BEGIN),
    INT("r10", 10, 10, 10, 10, -1, -1, A | X | D | V),
    INT("r11", 11, 11, 11, 11, -1, -1, A | X | D | V),
    INT("rbp", 5, 6, 12, 12, -1, -1, A | K),
    INT("r14", 14, 14, -1, -1, -1, -1, K | FK_REG_DOMAIN),
    INT("r15", 15, 15, -1, -1, -1, -1, K | FK_REG_YOUNG),
    INT("rsp", 4, 7, -1, -1, -1, -1, K | FK_REG_SP),
    FLOAT(0, 0, 0), FLOAT(1, 1, 1), FLOAT(2, 2, 2), FLOAT(3, 3, 3),
    FLOAT(4, 4, 4), FLOAT(5, 5, 5), FLOAT(6, 6, 6), FLOAT(7, 7, 7),
    FLOAT(8, 8, -1), FLOAT(9, 9, -1), FLOAT(10, -1, -1), FLOAT(11, -1, -1),
    FLOAT(12, -1, -1), FLOAT(13, -1, -1), FLOAT(14, -1, -1), FLOAT(15, -1, -1),
};

static const fk_reg_delta deltas[] = {
    /* One stack for OCaml and C: nothing has to keep the stack pointer. */
    {"rbx", FK_OCAML_4_11, FK_OCAML_4_14, A | K, 1},
};

static const fk_call_form calls[] = {
    E8_FORM, FF2_FORMS(REX_FF2, REX_FF2_SIB), FF2_FORMS(FF2, FF2_SIB),
};

static const fk_call_form jumps[] = {
    {2, 1, {0xff}, {0xeb}, "jmp rel8", FK_TARGET_REL8},
    {5, 1, {0xff}, {0xe9}, "jmp rel32", FK_TARGET_REL32},
};

static const fk_reloc_form relocs[] = {
    {R_X86_64_64, FK_RELOC_ABS, 8, "R_X86_64_64"},
    {R_X86_64_GLOB_DAT, FK_RELOC_ABS, 8, "R_X86_64_GLOB_DAT"},
    {R_X86_64_JUMP_SLOT, FK_RELOC_ABS, 8, "R_X86_64_JUMP_SLOT"},
    {R_X86_64_RELATIVE, FK_RELOC_RELATIVE, 8, "R_X86_64_RELATIVE"},
    {R_X86_64_32, FK_RELOC_ABS32, 4, "R_X86_64_32"},
    {R_X86_64_32S, FK_RELOC_ABS32, 4, "R_X86_64_32S"},
    {R_X86_64_PC32, FK_RELOC_PCREL32, 4, "R_X86_64_PC32"},
    {R_X86_64_PLT32, FK_RELOC_CALL, 4, "R_X86_64_PLT32"},
    {R_X86_64_GOTPCREL, FK_RELOC_GOT, 4, "R_X86_64_GOTPCREL"},
    {R_X86_64_GOTPCRELX, FK_RELOC_GOT, 4, "R_X86_64_GOTPCRELX"},
    {R_X86_64_REX_GOTPCRELX, FK_RELOC_GOT, 4, "R_X86_64_REX_GOTPCRELX"},
};

/* Bytes: ff 25 is jmp *disp32(%rip), f2 a prefix, f3 0f 1e fa endbr64, 41 bb mov $imm32, %r11d. */
static const fk_stub_form stubs[] = {
    {"plt", 6, FK_STUB_REL32, 2, true, {0xffff0000}, {0xff250000}},
    {"plt bnd", 7, FK_STUB_REL32, 3, true, {0xffffff00}, {0xf2ff2500}},
    {"plt endbr", 10, FK_STUB_REL32, 6, true, {~0u, 0xffff0000}, {0xf30f1efa, 0xff250000}},
    {"plt endbr bnd", 11, FK_STUB_REL32, 7, true, {~0u, 0xffffff00}, {0xf30f1efa, 0xf2ff2500}},
    {"plt endbr index", 16, FK_STUB_REL32, 12, true,
     {~0u, 0xffff0000, 0x0000ffff}, {0xf30f1efa, 0x41bb0000, 0x0000ff25}},
};

const fk_abi fk_abi_amd64 = {
    .name = "amd64",
    .elf_machine = EM_X86_64,
    .word = 8,
    .can_emit = true,
    .code_align = 1,
    .function_align = 16,
    .regs = regs,
    .num_regs = COUNT(regs),
    .deltas = deltas,
    .num_deltas = COUNT(deltas),
    .ra_offset = -8,
    .size_includes_ra = true,
    .frame_align = 8,
    .frame_align_old = 16,
    .bucket_size = (13 + 16) * 8,
    .first_frame = 8,
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
    .pc_addend = 4,
};
