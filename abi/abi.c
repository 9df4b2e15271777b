/* abi.c - look-ups in the tables of this folder. */
#include <string.h>

#include "abi/bits.h"
#include "abi/table.h"

const fk_abi *const fk_abis[] = {
    &fk_abi_amd64, &fk_abi_arm64, &fk_abi_power, &fk_abi_s390x,
    &fk_abi_riscv64, &fk_abi_i386, &fk_abi_armhf,
};
const size_t fk_num_abis = COUNT(fk_abis);

const fk_abi *fk_abi_by_name(const char *name)
{
    for (size_t i = 0; i < fk_num_abis; i++)
        if (strcmp(fk_abis[i]->name, name) == 0)
            return fk_abis[i];
    return NULL;
}

const fk_abi *fk_abi_by_elf(uint16_t machine, bool big_endian, uint8_t word)
{
    for (size_t i = 0; i < fk_num_abis; i++) {
        const fk_abi *a = fk_abis[i];
        if (a->elf_machine == machine && a->big_endian == big_endian && a->word == word)
            return a;
    }
    return NULL;
}

static const fk_reg_delta *find_delta(const fk_abi *abi, const fk_reg *reg, fk_ocaml_version v)
{
    for (size_t i = 0; i < abi->num_deltas; i++) {
        const fk_reg_delta *d = &abi->deltas[i];
        if (v >= d->from && v <= d->to && strcmp(d->reg, reg->name) == 0)
            return d;
    }
    return NULL;
}

uint32_t fk_abi_roles(const fk_abi *abi, const fk_reg *reg, fk_ocaml_version version)
{
    const fk_reg_delta *d = find_delta(abi, reg, version);
    return d ? d->roles : reg->roles;
}

int fk_abi_index(const fk_abi *abi, const fk_reg *reg, fk_ocaml_version version)
{
    const fk_reg_delta *d = find_delta(abi, reg, version);
    return d ? d->index : reg->index;
}

const fk_reg *fk_abi_reg(const fk_abi *abi, int index, fk_ocaml_version version)
{
    if (index < 0)
        return NULL;
    for (size_t i = 0; i < abi->num_regs; i++)
        if (fk_abi_index(abi, &abi->regs[i], version) == index)
            return &abi->regs[i];
    return NULL;
}

const fk_reg *fk_abi_reg_by_name(const fk_abi *abi, const char *name)
{
    for (size_t i = 0; i < abi->num_regs; i++)
        if (strcmp(abi->regs[i].name, name) == 0)
            return &abi->regs[i];
    return NULL;
}

const fk_reg *fk_abi_role(const fk_abi *abi, uint32_t roles)
{
    for (size_t i = 0; i < abi->num_regs; i++)
        if ((abi->regs[i].roles & roles) == roles)
            return &abi->regs[i];
    return NULL;
}

static bool form_matches(const fk_call_form *form, const uint8_t *start)
{
    for (size_t i = 0; i < form->nmatch; i++)
        if ((start[i] & form->mask[i]) != form->value[i])
            return false;
    return true;
}

static const fk_call_form *call_form(const fk_abi *abi, const uint8_t *code, size_t avail)
{
    for (size_t i = 0; i < abi->num_calls; i++) {
        const fk_call_form *form = &abi->calls[i];
        if (form->length <= avail && form_matches(form, code + avail - form->length))
            return form;
    }
    return NULL;
}

size_t fk_abi_call_length(const fk_abi *abi, const uint8_t *code, size_t avail)
{
    const fk_call_form *form = call_form(abi, code, avail);
    return form ? form->length : 0;
}

bool fk_abi_is_trap(const fk_abi *abi, const uint8_t *code, size_t avail)
{
    for (size_t i = 0; i < abi->num_traps; i++)
        if (abi->traps[i].length <= avail && form_matches(&abi->traps[i], code))
            return true;
    return false;
}

/* imm[20|10:1|11|19:12] in bits 31..12 */
static int64_t j_immediate(uint32_t i)
{
    uint32_t n =
        (i >> 31 & 1) << 20 | (i >> 12 & 0xff) << 12 | (i >> 20 & 1) << 11 | (i >> 21 & 0x3ff) << 1;
    return fk_sign_extend(n, 21);
}

/* auipc rd, hi; jalr ra, lo(rd): `end` is behind the jalr. */
static bool auipc_distance(const fk_abi *abi, const uint8_t *end, size_t avail, int64_t *distance)
{
    if (avail < 8)
        return false;
    uint32_t hi = fk_abi_read32(abi, end - 8), lo = fk_abi_read32(abi, end - 4);
    if ((hi & 0x7f) != 0x17 || (hi >> 7 & 31) != (lo >> 15 & 31))
        return false;
    *distance = (int32_t)(hi & 0xfffff000u) + fk_sign_extend(lo >> 20, 12) - 8;
    return true;
}

/* From the end of the instruction of `form` to its target. */
static bool distance_of(const fk_abi *abi, const fk_call_form *form, const uint8_t *end,
                        size_t avail, int64_t *n)
{
    int64_t start = -(int64_t)form->length;
    switch (form->target) {
    case FK_TARGET_REL8: *n = (int8_t)end[-1]; return true;
    case FK_TARGET_REL32: *n = (int32_t)fk_abi_read32(abi, end - 4); return true;
    case FK_TARGET_IMM26: *n = start + fk_sign_extend(fk_abi_read32(abi, end - 4), 26) * 4; return true;
    case FK_TARGET_LI: *n = start + fk_sign_extend(fk_abi_read32(abi, end - 4) & 0x3fffffc, 26); return true;
    case FK_TARGET_BD: *n = start + fk_sign_extend(fk_abi_read32(abi, end - 4) & 0xfffc, 16); return true;
    case FK_TARGET_RI32: *n = start + (int64_t)(int32_t)fk_abi_read32(abi, end - 4) * 2; return true;
    case FK_TARGET_RI16: *n = start + fk_sign_extend(fk_abi_read32(abi, end - 4), 16) * 2; return true;
    case FK_TARGET_J: *n = start + j_immediate(fk_abi_read32(abi, end - 4)); return true;
    case FK_TARGET_AUIPC: return auipc_distance(abi, end, avail, n);
    default: return false;
    }
}

bool fk_abi_call_target(const fk_abi *abi, const uint8_t *code, size_t avail, uint64_t retaddr,
                        uint64_t *target)
{
    const fk_call_form *form = call_form(abi, code, avail);
    int64_t n;
    if (!form || !distance_of(abi, form, code + avail, avail, &n))
        return false;
    *target = retaddr + (uint64_t)n;
    return true;
}

bool fk_abi_jump_target(const fk_abi *abi, const uint8_t *code, size_t avail, uint64_t pc,
                        uint64_t *target)
{
    for (size_t i = 0; i < abi->num_jumps; i++) {
        const fk_call_form *form = &abi->jumps[i];
        int64_t n;
        if (form->length > avail || !form_matches(form, code))
            continue;
        if (!distance_of(abi, form, code + form->length, form->length, &n))
            return false;
        *target = pc + form->length + (uint64_t)n;
        return true;
    }
    return false;
}

const fk_reloc_form *fk_abi_reloc(const fk_abi *abi, uint32_t type)
{
    for (size_t i = 0; i < abi->num_relocs; i++)
        if (abi->relocs[i].type == type)
            return &abi->relocs[i];
    return NULL;
}
