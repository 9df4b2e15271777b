/* cfi.c - unwinding rows as text that the harness evaluates (trace.c). */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stubs/check/stubcheck.h"

static int fd = -1;
static Elf *elf;
static Dwarf_CFI *cfi;

void sc_cfi_open(const char *program)
{
    fd = open(program, O_RDONLY | O_CLOEXEC);
    elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
}

void sc_cfi_close(void)
{
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    fd = -1;
    elf = NULL;
    cfi = NULL;
}

static bool put_op(const Dwarf_Op *op, char **at, char *end)
{
    int n = -1;
    size_t left = (size_t)(end - *at);
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        n = snprintf(*at, left, "r%d+%lld", op->atom - DW_OP_breg0, (long long)op->number);
    else if (op->atom == DW_OP_bregx)
        n = snprintf(*at, left, "r%lld+%lld", (long long)op->number, (long long)op->number2);
    else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        n = snprintf(*at, left, "r%d", op->atom - DW_OP_reg0);
    else if (op->atom == DW_OP_regx)
        n = snprintf(*at, left, "r%lld", (long long)op->number);
    else if (op->atom == DW_OP_plus_uconst)
        n = snprintf(*at, left, "+%lld", (long long)op->number);
    else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        n = snprintf(*at, left, "c%d", op->atom - DW_OP_lit0);
    else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
        n = snprintf(*at, left, "c%lld", (long long)op->number);
    else if (op->atom == DW_OP_plus)
        n = snprintf(*at, left, "a");
    else if (op->atom == DW_OP_deref)
        n = snprintf(*at, left, "*");
    else if (op->atom == DW_OP_call_frame_cfa)
        n = snprintf(*at, left, "C");
    else if (op->atom == DW_OP_stack_value)
        n = 0;
    if (n < 0 || (size_t)n >= left)
        return false;
    *at += n;
    return true;
}

static bool put_ops(const Dwarf_Op *ops, size_t n, char **at, char *end)
{
    for (size_t i = 0; i < n; i++)
        if (!put_op(&ops[i], at, end))
            return false;
    return true;
}

static bool put_register(Dwarf_Frame *frame, int number, char **at, char *end)
{
    Dwarf_Op memory[3], *ops = NULL;
    size_t n = 0;
    if (dwarf_frame_register(frame, number, memory, &ops, &n) != 0)
        return false;
    if (n == 0) {
        /* Unspecified is reported like undefined; both leave the register alone. */
        *at += snprintf(*at, (size_t)(end - *at), "r%d", number);
        return true;
    }
    bool is_value = ops[n - 1].atom == DW_OP_stack_value ||
                    (ops[n - 1].atom >= DW_OP_reg0 && ops[n - 1].atom <= DW_OP_reg31) ||
                    ops[n - 1].atom == DW_OP_regx;
    if (!put_ops(ops, n, at, end))
        return false;
    if (!is_value && *at < end - 1)
        *(*at)++ = '*';
    **at = 0;
    return true;
}

static bool put_row(Dwarf_Frame *frame, const fk_abi *abi, char *at, char *end)
{
    Dwarf_Op *ops;
    size_t n;
    int ra = dwarf_frame_info(frame, NULL, NULL, NULL);
    if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0 || !put_ops(ops, n, &at, end))
        return false;
    at += snprintf(at, (size_t)(end - at), " ");
    if (!put_register(frame, ra, &at, end))
        return false;
    for (size_t i = 0; i < abi->num_regs; i++) {
        const fk_reg *r = &abi->regs[i];
        char *back = at;
        if (!(r->roles & FK_REG_C_CALLEE_SAVED) || (r->roles & FK_REG_SP) || r->is_float ||
            r->dwarf < 0)
            continue;
        at += snprintf(at, (size_t)(end - at), " %d=", r->dwarf);
        if (at >= end - 64 || !put_register(frame, r->dwarf, &at, end))
            *(at = back) = 0;
    }
    return true;
}

void sc_cfi_row(uint64_t address, const fk_abi *abi, char *text, size_t size)
{
    Dwarf_Frame *frame = NULL;
    bool good = cfi && dwarf_cfi_addrframe(cfi, address, &frame) == 0 &&
                put_row(frame, abi, text, text + size);
    free(frame);
    if (!good)
        snprintf(text, size, "? ?");
}
