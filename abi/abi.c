/* abi.c - look-ups in the tables of this folder. */
#include <string.h>

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

size_t fk_abi_call_length(const fk_abi *abi, const uint8_t *code, size_t avail)
{
    for (size_t i = 0; i < abi->num_calls; i++) {
        const fk_call_form *form = &abi->calls[i];
        if (form->length <= avail && form_matches(form, code + avail - form->length))
            return form->length;
    }
    return 0;
}

const fk_reloc_form *fk_abi_reloc(const fk_abi *abi, uint32_t type)
{
    for (size_t i = 0; i < abi->num_relocs; i++)
        if (abi->relocs[i].type == type)
            return &abi->relocs[i];
    return NULL;
}
