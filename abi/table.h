/* table.h - short forms for the table files of this folder only. */
#ifndef FK_ABI_TABLE_H
#define FK_ABI_TABLE_H

#include <elf.h>

#include "abi/abi.h"

/* Roles, as letters that let a register fit one line. */
#define A FK_REG_ALLOCATABLE
#define X FK_REG_ALLOC_DESTROYED
#define D FK_REG_NOALLOC_DESTROYED
#define K FK_REG_C_CALLEE_SAVED
#define T FK_REG_SCRATCH
#define V FK_REG_VENEER

/* name, hw, dwarf, index, slot, ocaml_arg, c_arg, roles */
#define INT(n, hw, dw, idx, slot, oarg, carg, roles) \
    {n, hw, dw, idx, slot, roles, oarg, carg, false}
#define FLT(n, hw, dw, idx, slot, oarg, carg, roles) \
    {n, hw, dw, idx, slot, roles, oarg, carg, true}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

extern const fk_abi fk_abi_amd64, fk_abi_arm64, fk_abi_power, fk_abi_s390x, fk_abi_riscv64,
    fk_abi_i386, fk_abi_armhf;

#endif
