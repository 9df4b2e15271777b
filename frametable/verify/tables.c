/* tables.c - where jump tables may begin.
 *
 * Nothing says how long a jump table is, and tables lie one behind the other, with distances that
 * would lead into the function when read against the wrong start. So every address of constant
 * data that any function forms ends the table before it. One pass over the code, in order, that
 * follows constants only.
 *
 * Power's compiler joins the tables of a function: a part begins at table + 4 * (index + K), and
 * the code adds K to the index first.
 *
 *     ld r11, table     addi r12, index, K     sldi r12, r12, 2     lwax r0, r11, r12
 *
 * The index may be a constant, and out of range, where a comparison of constants was left in the
 * code: only the instructions tell K. */
#include <stdlib.h>
#include <string.h>

#include "frametable/image.h"
#include "frametable/search.h"
#include "frametable/verify/graph.h"

typedef struct {
    fk_program *program;
    size_t cap, cap_parts;
    uint64_t value[32];
    int64_t offset[32];
    uint32_t known;   /* registers that hold value[] */
    uint32_t shifted; /* ... something unknown + offset[] */
    uint8_t toc;
    uint64_t lo, hi; /* the last section that an address was found in */
    bool is_data;
} sweep;

static bool in_constant_data(sweep *s, uint64_t addr)
{
    fk_section section;
    if (addr >= s->lo && addr < s->hi)
        return s->is_data;
    if (fk_image_section_at(s->program->image, addr, &section) != FK_OK)
        return false;
    s->lo = section.addr;
    s->hi = section.addr + section.size;
    s->is_data = !section.code && !section.writable;
    return s->is_data;
}

static bool found(sweep *s, uint64_t addr)
{
    fk_program *p = s->program;
    if (addr % 4 != 0 || !in_constant_data(s, addr))
        return true;
    if (!fk_room(&p->tables, &s->cap, p->num_tables + 1, sizeof *p->tables))
        return false;
    p->tables[p->num_tables++] = addr;
    return true;
}

static bool found_part(sweep *s, const fk_insn *i, uint64_t begin)
{
    fk_program *p = s->program;
    if (!fk_room(&p->parts, &s->cap_parts, p->num_parts + 1, sizeof *p->parts))
        return false;
    p->parts[p->num_parts++] = (fk_part){i->addr, begin};
    return found(s, begin);
}

/* The sum index + K, then four times as much. */
static void follow_index(sweep *s, const fk_insn *i)
{
    bool add = i->op == FK_OP_ADD && i->rs < 32;
    bool shift = i->op == FK_OP_SHIFT && (s->shifted >> i->rs & 1);
    int64_t k = add ? i->imm : shift ? (int64_t)((uint64_t)s->offset[i->rs] << i->imm) : 0;
    s->shifted &= ~i->writes;
    if ((add || shift) && i->rd < 32) {
        s->shifted |= 1u << i->rd;
        s->offset[i->rd] = k;
    }
}

/* An address out of the table of contents. */
static bool loads_word(const sweep *s, const fk_insn *i, uint64_t *out)
{
    bool constant;
    return i->op == FK_OP_LOAD && i->size == 8 && i->base < 32 && i->index == FK_NO_REG &&
           (s->known >> i->base & 1) &&
           fk_word(s->program, s->value[i->base] + (uint64_t)i->disp, out, &constant) && constant;
}

/* What follows is reached with other registers. */
static bool ends_block(const fk_insn *i)
{
    return i->op == FK_OP_CALL || i->op == FK_OP_CALLREG || i->op == FK_OP_JUMP ||
           i->op == FK_OP_JUMPREG || i->op == FK_OP_RET;
}

static bool follow(sweep *s, const fk_insn *i)
{
    if (ends_block(i)) {
        s->known &= FK_REG_BIT(s->toc);
        s->shifted = 0;
    }
    if (i->op == FK_OP_LOAD && i->size == 4 && (i->flags & FK_I_UNSCALED) && i->base < 32 &&
        i->index < 32 && (s->known >> i->base & 1) && (s->shifted >> i->index & 1) &&
        !found_part(s, i, s->value[i->base] + (uint64_t)s->offset[i->index]))
        return false;
    follow_index(s, i);
    if (i->op == FK_OP_LOAD && i->rd == s->toc)
        return true; /* back after a call */
    bool from = i->op == FK_OP_ADD && i->rs < 32 && (s->known >> i->rs & 1);
    uint64_t v = from ? s->value[i->rs] + (uint64_t)i->imm : (uint64_t)i->imm;
    bool word = loads_word(s, i, &v);
    s->known &= ~i->writes;
    if (i->rd >= 32 || (i->op != FK_OP_IMM && !from && !word))
        return true;
    s->known |= 1u << i->rd;
    s->value[i->rd] = v;
    return (from && i->imm % 65536 == 0) || found(s, v); /* the high half alone is no address */
}

/* Power's functions find their data from their own address. */
static void enter(sweep *s, uint64_t addr)
{
    const fk_abi *abi = s->program->abi;
    const fk_reg *entry =
        fk_abi_role(abi, FK_REG_TOC) != NULL ? fk_abi_reg_by_name(abi, "r12") : NULL;
    s->known = s->shifted = 0;
    if (entry != NULL) {
        s->known = 1u << entry->hw;
        s->value[entry->hw] = addr;
    }
}

static bool one_function(sweep *s, uint64_t addr, uint64_t end)
{
    uint64_t avail;
    const uint8_t *code = fk_image_bytes(s->program->image, addr, &avail);
    fk_insn i;
    if (code == NULL)
        return true;
    enter(s, addr);
    end = end - addr < avail ? end - addr : avail;
    for (uint64_t o = 0; o < end; o += i.length) {
        s->program->decode(code + o, end - o, addr + o, &i);
        if (s->program->object)
            fk_complete(s->program, &i);
        if (!follow(s, &i))
            return false;
    }
    return true;
}

static uint64_t entry_of(const fk_program *p, size_t k)
{
    return p->nameless ? p->functions[k].from : p->image->syms[p->image->functions[k]].addr;
}

bool fk_tables_find(fk_program *p)
{
    const fk_reg *toc = fk_abi_role(p->abi, FK_REG_TOC);
    sweep s = {.program = p, .toc = toc != NULL ? toc->hw : FK_NO_REG - 1};
    if (p->num_descrs == 0 || p->decode == NULL)
        return true;
    uint64_t first = p->descrs[0].retaddr, last = p->descrs[p->num_descrs - 1].retaddr;
    size_t n = p->nameless ? p->num_functions : p->image->num_functions;
    for (size_t k = 0; k < n; k++) {
        uint64_t addr = entry_of(p, k), end = k + 1 < n ? entry_of(p, k + 1) : UINT64_MAX;
        if (end > first && addr < last && end > addr && !one_function(&s, addr, end))
            return false;
    }
    if (p->num_tables > 0)
        qsort(p->tables, p->num_tables, sizeof *p->tables, fk_by_key);
    if (p->num_parts > 0)
        qsort(p->parts, p->num_parts, sizeof *p->parts, fk_by_key);
    return true;
}

const fk_part *fk_table_part(const fk_program *p, const fk_insn *i)
{
    size_t k = FK_COUNT_BELOW(fk_part, p->parts, p->num_parts, load, i->addr);
    return k < p->num_parts && p->parts[k].load == i->addr ? &p->parts[k] : NULL;
}

bool fk_table_begins(const fk_program *p, uint64_t addr)
{
    return p->num_tables > 0 &&
           bsearch(&addr, p->tables, p->num_tables, sizeof addr, fk_by_key) != NULL;
}
