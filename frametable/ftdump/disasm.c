/* disasm.c - the only file that knows Capstone, see disasm.h.
 *
 * FT_CAPSTONE is set by the build when Capstone >= 5 compiles, links and opens
 * RISC-V (configure-capstone): Debian 12's own version 4 lacks RISC-V and half
 * of s390x, and its disassembly would be silently wrong there. */
#include "frametable/ftdump/disasm.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FT_CAPSTONE

#include <capstone/capstone.h>

struct ft_disasm {
    csh handle;
    cs_insn *insn;
    size_t machine;
    char bytes[64];
};

#define RISCV64 (CS_MODE_RISCV64 | CS_MODE_RISCVC)

/* unit: bytes to step over when nothing decodes. branches: how the mnemonics
 * of direct branches begin. relative: Capstone prints their distance. */
static const struct {
    uint16_t machine;
    uint8_t word;
    cs_arch arch;
    unsigned mode, unit;
    bool relative;
    const char *branches[6];
} machines[] = {
    {EM_X86_64, 8, CS_ARCH_X86, CS_MODE_64, 1, false, {"call", "j"}},
    {EM_AARCH64, 8, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4, false, {"b", "cb", "tb"}},
    {EM_PPC64, 8, CS_ARCH_PPC, CS_MODE_64 | CS_MODE_LITTLE_ENDIAN, 4, false, {"b"}},
    {EM_S390, 8, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, 2, false, {"br", "j", "cg", "cl", "cr", "ci"}},
    {EM_RISCV, 8, CS_ARCH_RISCV, RISCV64, 2, true, {"b", "j", "c.b", "c.j"}},
    {EM_386, 4, CS_ARCH_X86, CS_MODE_32, 1, false, {"call", "j"}},
    {EM_ARM, 4, CS_ARCH_ARM, CS_MODE_ARM, 4, false, {"b"}},
};

bool ft_disasm_available(void)
{
    return true;
}

const char *ft_disasm_version(void)
{
    static char text[40];
    int major, minor;
    cs_version(&major, &minor);
    snprintf(text, sizeof text, "Capstone %d.%d", major, minor);
    return text;
}

static ft_disasm *open_machine(size_t i)
{
    ft_disasm *d = calloc(1, sizeof *d);
    if (d == NULL)
        return NULL;
    if (cs_open(machines[i].arch, (cs_mode)machines[i].mode, &d->handle) != CS_ERR_OK) {
        free(d);
        return NULL;
    }
    if (machines[i].arch == CS_ARCH_X86) /* the syntax of ocamlopt -S */
        cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    d->insn = cs_malloc(d->handle);
    d->machine = i;
    return d;
}

ft_disasm *ft_disasm_open(const fk_abi *abi)
{
    for (size_t i = 0; abi != NULL && i < sizeof machines / sizeof *machines; i++)
        if (machines[i].machine == abi->elf_machine && machines[i].word == abi->word)
            return open_machine(i);
    return NULL;
}

static void unknown(ft_disasm *d, const uint8_t *code, size_t size, ft_insn *out)
{
    size_t n = size < machines[d->machine].unit ? size : machines[d->machine].unit;
    char *p = d->bytes;
    out->known = false;
    out->length = (uint8_t)n;
    out->mnemonic = ".byte";
    out->operands = d->bytes;
    for (size_t i = 0; i < n; i++)
        p += sprintf(p, i == 0 ? "0x%02x" : ", 0x%02x", code[i]);
}

static bool is_branch(const ft_disasm *d)
{
    const char *const *b = machines[d->machine].branches;
    for (size_t i = 0; i < 6 && b[i] != NULL; i++)
        if (strncmp(d->insn->mnemonic, b[i], strlen(b[i])) == 0)
            return true;
    return false;
}

/* The last operand when it is a number: 0x12, #0x12, -0x12; never $0x12 (a
 * constant), never 0x12(%rax). */
static uint64_t branch_target(const ft_disasm *d)
{
    const char *s = d->insn->op_str, *comma = strrchr(s, ',');
    char *end;
    if (!is_branch(d))
        return 0;
    if (comma != NULL)
        s = comma + 1;
    s += strspn(s, " #");
    bool negative = *s == '-';
    uint64_t v = strtoull(s + negative, &end, 0);
    if (end == s + negative || *end != 0)
        return 0;
    v = negative ? -v : v;
    return machines[d->machine].relative ? d->insn->address + v : v;
}

bool ft_disasm_next(ft_disasm *d, const uint8_t *code, size_t size, uint64_t address, ft_insn *out)
{
    const uint8_t *p = code;
    size_t left = size;
    uint64_t at = address;
    if (size == 0)
        return false;
    out->address = address;
    out->target = 0;
    if (!cs_disasm_iter(d->handle, &p, &left, &at, d->insn)) {
        unknown(d, code, size, out);
        return true;
    }
    out->known = true;
    out->length = (uint8_t)d->insn->size;
    out->mnemonic = d->insn->mnemonic;
    out->operands = d->insn->op_str;
    out->target = branch_target(d);
    return true;
}

void ft_disasm_close(ft_disasm *d)
{
    if (d == NULL)
        return;
    cs_free(d->insn, 1);
    cs_close(&d->handle);
    free(d);
}

#else /* no Capstone */

bool ft_disasm_available(void)
{
    return false;
}

const char *ft_disasm_version(void)
{
    return "built without Capstone 5 (run 'qemu-ci/capstone', then 'make clean all')";
}

ft_disasm *ft_disasm_open(const fk_abi *abi)
{
    (void)abi;
    return NULL;
}

bool ft_disasm_next(ft_disasm *d, const uint8_t *code, size_t size, uint64_t address, ft_insn *out)
{
    (void)d, (void)code, (void)size, (void)address, (void)out;
    return false;
}

void ft_disasm_close(ft_disasm *d)
{
    (void)d;
}

#endif
