/* riscv64.c - RV64GC, lp64d, with OCaml's convention. docs/abi.md, "riscv64". */
#include "abi/table.h"

#define AREG(n) INT("a" #n, 10 + n, 10 + n, n, n, n, n, A | D)
/* s2..s9 */
#define SREG(n, roles) INT("s" #n, 16 + n, 16 + n, 6 + n, 6 + n, 6 + n, -1, A | K | (roles))
/* t3..t6 */
#define TREG(n) INT("t" #n, 25 + n, 25 + n, 14 + n, 14 + n, -1, -1, A | X | D | V)
#define F(name, hw, idx, slot, oarg, carg, roles) \
    FLT(name, hw, 32 + (hw), idx, slot, oarg, carg, A | (roles))
#define FT(n) F("ft" #n, n, 100 + n, 22 + n, -1, -1, D)
#define FA(n) F("fa" #n, 10 + n, 110 + n, 30 + n, n, n, D)
#define FS(n, oarg) F("fs" #n, 16 + n, 116 + n, -1, oarg, -1, K)

static const fk_reg regs[] = {
    AREG(0), AREG(1), AREG(2), AREG(3), AREG(4), AREG(5), AREG(6), AREG(7),
    SREG(2, 0), SREG(3, FK_REG_STACKARGS_BEGIN), SREG(4, FK_REG_STACKARGS_END), SREG(5, 0),
    SREG(6, 0), SREG(7, 0), SREG(8, 0), SREG(9, 0),
    INT("t2", 7, 7, 16, 16, -1, -1, A | X | D | V | FK_REG_C_FUNCTION),
    TREG(3), TREG(4), TREG(5), TREG(6),
    INT("s0", 8, 8, 21, 21, -1, -1, A | D | K | FK_REG_NOALLOC_SP),
    INT("t0", 5, 5, 22, -1, -1, -1, D | T | V),
    INT("t1", 6, 6, 23, -1, -1, -1, D | T | V),
    INT("s1", 9, 9, 24, -1, -1, -1, K | FK_REG_TRAP),
    INT("s10", 26, 26, 25, -1, -1, -1, K | FK_REG_YOUNG),
    INT("s11", 27, 27, 26, -1, -1, -1, K | FK_REG_DOMAIN),
    INT("ra", 1, 1, -1, -1, -1, -1, D | FK_REG_LINK),
    INT("sp", 2, 2, -1, -1, -1, -1, K | FK_REG_SP),
    INT("gp", 3, 3, -1, -1, -1, -1, FK_REG_RESERVED),
    INT("tp", 4, 4, -1, -1, -1, -1, FK_REG_RESERVED),
    FT(0), FT(1), FT(2), FT(3), FT(4), FT(5), FT(6), FT(7),
    F("fs0", 8, 108, -1, -1, -1, K), F("fs1", 9, 109, -1, -1, -1, K),
    FA(0), FA(1), FA(2), FA(3), FA(4), FA(5), FA(6), FA(7),
    FS(2, 8), FS(3, 9), FS(4, 10), FS(5, 11), FS(6, 12), FS(7, 13), FS(8, 14), FS(9, 15),
    FS(10, -1), FS(11, -1),
    F("ft8", 28, 128, 38, -1, -1, D), F("ft9", 29, 129, 39, -1, -1, D),
    F("ft10", 30, 130, 40, -1, -1, D), F("ft11", 31, 131, 41, -1, -1, D),
};

static const fk_reg_delta deltas[] = {
    /* s0 was the domain, s11 a copy of young_limit; t0 was allocatable. */
    {"s0", FK_OCAML_4_11, FK_OCAML_4_12, K | FK_REG_DOMAIN, -1},
    {"s11", FK_OCAML_4_11, FK_OCAML_4_12, K | FK_REG_LIMIT, -1},
    {"t0", FK_OCAML_4_11, FK_OCAML_4_12, A | D | V, 21},
    {"t1", FK_OCAML_4_11, FK_OCAML_4_12, D | T | V, 22},
    {"s0", FK_OCAML_4_13, FK_OCAML_4_14, A | K, 21},
    {"t0", FK_OCAML_4_13, FK_OCAML_4_14, A | D | V, 22},
};

/* rd = ra in all of them. c.jalr with register 0 is c.ebreak: rows without it. */
#define C_JALR(m0, v0, m1, v1) {2, 2, {m0, m1}, {v0, v1}, "c.jalr", FK_TARGET_NONE}

static const fk_call_form calls[] = {
    {4, 2, {0xff, 0x0f}, {0xef, 0x00}, "jal", FK_TARGET_J},
    {4, 2, {0xff, 0x7f}, {0xe7, 0x00}, "jalr", FK_TARGET_AUIPC},
    C_JALR(0xff, 0x82, 0xf0, 0x90), /* odd registers */
    C_JALR(0xff, 0x02, 0xff, 0x91), C_JALR(0xff, 0x02, 0xfe, 0x92),
    C_JALR(0xff, 0x02, 0xfc, 0x94), C_JALR(0xff, 0x02, 0xf8, 0x98),
};

static const fk_call_form jumps[] = {
    {4, 2, {0xff, 0x0f}, {0x6f, 0x00}, "j", FK_TARGET_J},
};

static const fk_reloc_form relocs[] = {
    {R_RISCV_64, FK_RELOC_ABS, 8, "R_RISCV_64"},
    {R_RISCV_JUMP_SLOT, FK_RELOC_ABS, 8, "R_RISCV_JUMP_SLOT"},
    {R_RISCV_RELATIVE, FK_RELOC_RELATIVE, 8, "R_RISCV_RELATIVE"},
    {R_RISCV_32, FK_RELOC_ABS32, 4, "R_RISCV_32"},
    {R_RISCV_32_PCREL, FK_RELOC_PCREL32, 4, "R_RISCV_32_PCREL"},
    {R_RISCV_ADD8, FK_RELOC_ADD, 1, "R_RISCV_ADD8"},
    {R_RISCV_ADD16, FK_RELOC_ADD, 2, "R_RISCV_ADD16"},
    {R_RISCV_ADD32, FK_RELOC_ADD, 4, "R_RISCV_ADD32"},
    {R_RISCV_ADD64, FK_RELOC_ADD, 8, "R_RISCV_ADD64"},
    {R_RISCV_SUB8, FK_RELOC_SUB, 1, "R_RISCV_SUB8"},
    {R_RISCV_SUB16, FK_RELOC_SUB, 2, "R_RISCV_SUB16"},
    {R_RISCV_SUB32, FK_RELOC_SUB, 4, "R_RISCV_SUB32"},
    {R_RISCV_SUB64, FK_RELOC_SUB, 8, "R_RISCV_SUB64"},
    {R_RISCV_SET6, FK_RELOC_SET6, 1, "R_RISCV_SET6"},
    {R_RISCV_SUB6, FK_RELOC_SUB6, 1, "R_RISCV_SUB6"},
    {R_RISCV_SET8, FK_RELOC_SET, 1, "R_RISCV_SET8"},
    {R_RISCV_SET16, FK_RELOC_SET, 2, "R_RISCV_SET16"},
    {R_RISCV_SET32, FK_RELOC_SET, 4, "R_RISCV_SET32"},
    {R_RISCV_CALL, FK_RELOC_CALL, 0, "R_RISCV_CALL"},
    {R_RISCV_CALL_PLT, FK_RELOC_CALL, 0, "R_RISCV_CALL_PLT"},
    {R_RISCV_JAL, FK_RELOC_CALL, 0, "R_RISCV_JAL"},
    {R_RISCV_RVC_JUMP, FK_RELOC_CALL, 0, "R_RISCV_RVC_JUMP"},
    {R_RISCV_GOT_HI20, FK_RELOC_GOT, 0, "R_RISCV_GOT_HI20"},
    {R_RISCV_PCREL_HI20, FK_RELOC_HIGH, 0, "R_RISCV_PCREL_HI20"},
    {R_RISCV_PCREL_LO12_I, FK_RELOC_LOW, 0, "R_RISCV_PCREL_LO12_I"},
    {R_RISCV_PCREL_LO12_S, FK_RELOC_LOW, 0, "R_RISCV_PCREL_LO12_S"},
    {R_RISCV_HI20, FK_RELOC_HIGH, 0, "R_RISCV_HI20"},
    {R_RISCV_LO12_I, FK_RELOC_LOW, 0, "R_RISCV_LO12_I"},
    {R_RISCV_LO12_S, FK_RELOC_LOW, 0, "R_RISCV_LO12_S"},
    {R_RISCV_BRANCH, FK_RELOC_DISTANCE, 0, "R_RISCV_BRANCH"},
    {R_RISCV_RVC_BRANCH, FK_RELOC_DISTANCE, 0, "R_RISCV_RVC_BRANCH"},
};

/* auipc t3, hi; ld t3, lo(t3); jalr t1, t3 (binutils and lld), or jr t3 */
static const fk_stub_form stubs[] = {
    {"plt", 12, FK_STUB_AUIPC_LD, 0, true,
     {0x00000fff, 0x000fffff, 0xfffff07f}, {0x00000e17, 0x000e3e03, 0x000e0067}},
};

const fk_abi fk_abi_riscv64 = {
    .name = "riscv64",
    .elf_machine = EM_RISCV,
    .word = 8,
    .can_emit = true,
    .code_align = 2,
    .function_align = 4,
    .regs = regs,
    .num_regs = COUNT(regs),
    .deltas = deltas,
    .num_deltas = COUNT(deltas),
    .ra_offset = -8,
    .size_includes_ra = true,
    .frame_align = 8,
    .frame_align_old = 16,
    .bucket_size = (2 + 22 + 20) * 8,
    .bucket_base = 16,
    .first_frame = 16,
    .header_size = 32,
    .header_gc_regs = 24,
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
