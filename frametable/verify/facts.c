/* facts.c - collected in a first round over all functions, used in the second by live-missing. */
#include "frametable/verify/facts.h"

#include <stdlib.h>
#include <string.h>

#include "frametable/search.h"
#include "frametable/verify/graph.h"

/* --- one function ----------------------------------------------------------------------------- */

static void add_fact(fk_facts *x, fk_fact fact)
{
    if (!fk_room(&x->list, &x->cap, x->num + 1, sizeof *x->list)) {
        x->lost = true;
        return;
    }
    x->list[x->num++] = fact;
}

static void add_passing(fk_facts *x, fk_passing p)
{
    if (!fk_room(&x->passings, &x->cap_passings, x->num_passings + 1, sizeof *x->passings)) {
        x->lost = true;
        return;
    }
    x->passings[x->num_passings++] = p;
}

uint64_t fk_callee_entry(const fk_function *f, const fk_state *s, const fk_node *n)
{
    const fk_insn *i = &n->insn;
    bool by_register = i->op == FK_OP_CALLREG || i->op == FK_OP_JUMPREG;
    const fk_value *v = by_register && i->rs < FK_STATE_REGS ? &s->place[i->rs] : NULL;
    bool known = v != NULL && v->kind == FK_V_CONST;
    uint64_t target = v == NULL ? i->target : known ? (uint64_t)fk_sum(v->k, i->imm) : 0;
    fk_symbol symbol;
    bool tail = (i->op == FK_OP_JUMP || i->op == FK_OP_JUMPREG) && !fk_in_window(f, target);
    bool call = (i->op == FK_OP_CALL || i->op == FK_OP_CALLREG) && n->descr != UINT32_MAX &&
                (n->callee == FK_CALLEE_OTHER || n->callee == FK_CALLEE_UNKNOWN);
    if (!(tail || call))
        return 0;
    bool named = fk_program_function(f->program, target, &symbol) == FK_OK;
    return named && target - symbol.addr == f->program->abi->local_entry ? symbol.addr : target;
}

/* A block for sure. The address of a constant is not one: `match Q ("a", 1) with P n -> f n` hands
 * "a" to f, which takes integers, on a path that is not taken. */
static bool is_block(const fk_value *v)
{
    return (v->flags & (FK_F_BLOCK | FK_F_ASKED | FK_F_BOXED_FLOAT)) == FK_F_BLOCK;
}

/* The register that the value came in as an argument, FK_NO_REG: none. */
static uint8_t argument(const fk_value *v)
{
    bool is = v->kind == FK_V_ANY && v->k >= 1 && v->k <= 32 && !(v->flags & FK_F_ASKED);
    return is ? (uint8_t)(v->k - 1) : FK_NO_REG;
}

/* The place of the call whose result v is, 0: none. */
static uint64_t call_of(const fk_function *f, const fk_value *v)
{
    bool result =
        v->kind == FK_V_ANY && v->k >= 64 && v->k < FK_JOINED && v->k % 64 == f->program->result &&
        !(v->flags & FK_F_ASKED);
    int32_t n = result ? fk_node_at(f, f->lo + (uint64_t)(v->k / 64 - 1)) : FK_NO_INSN;
    return n == FK_NO_INSN || !fk_is_call(&f->nodes[n].insn) ? 0 : f->nodes[n].insn.addr;
}

static void passes(fk_facts *x, const fk_function *f, const fk_state *s, uint64_t to)
{
    for (uint8_t r = 0; r < 32; r++) {
        const fk_value *v = &s->place[r];
        if (!(f->program->arguments >> r & 1))
            continue;
        uint64_t call = call_of(f, v);
        if (v->flags & FK_F_NUMBER)
            add_fact(x, (fk_fact){.entry = to, .numbers = FK_REG_BIT(r)});
        if (is_block(v))
            add_fact(x, (fk_fact){.entry = to, .given = FK_REG_BIT(r)});
        else if (argument(v) != FK_NO_REG)
            add_passing(x, (fk_passing){f->symbol.addr, to, argument(v), r});
        else if (call != 0)
            add_passing(x, (fk_passing){call, to, FK_NO_REG, r});
    }
}

static void returns(fk_facts *x, const fk_function *f, const fk_state *s)
{
    const fk_value *v = &s->place[f->program->result];
    uint64_t call = call_of(f, v);
    if (v->flags & FK_F_NUMBER)
        add_fact(x, (fk_fact){.entry = f->symbol.addr, .returns_number = true});
    if (is_block(v))
        add_fact(x, (fk_fact){.entry = f->symbol.addr, .returns = true});
    else if (call != 0) /* a call stands for what it returns */
        add_passing(x, (fk_passing){f->symbol.addr, call, FK_NO_REG, FK_NO_REG});
}

static void dereferences(fk_facts *x, const fk_function *f, const fk_state *s, const fk_insn *i)
{
    bool block = i->base < 32 && i->index == FK_NO_REG && i->disp % 8 == 0 && i->disp >= -8;
    uint8_t r = block && (i->op == FK_OP_LOAD || i->op == FK_OP_STORE) && !fk_unboxes_float(i)
                    ? argument(&s->place[i->base])
                    : FK_NO_REG;
    if (r != FK_NO_REG && (f->program->arguments >> r & 1))
        add_fact(x, (fk_fact){.entry = f->symbol.addr, .pointers = FK_REG_BIT(r)});
}

void fk_facts_visit(fk_function *f, const fk_state *s, int32_t n, void *facts)
{
    const fk_node *node = &f->nodes[n];
    uint64_t callee = fk_callee_entry(f, s, node);
    dereferences(facts, f, s, &node->insn);
    if (node->insn.op == FK_OP_RET)
        returns(facts, f, s);
    if (callee == 0)
        return;
    passes(facts, f, s, callee);
    bool tail = !fk_is_call(&node->insn);
    add_passing(
        facts, (fk_passing){tail ? f->symbol.addr : node->insn.addr, callee, FK_NO_REG, FK_NO_REG});
}

/* --- all of them ------------------------------------------------------------------------------ */

static void join(void *to, const void *more)
{
    fk_fact *sum = to;
    const fk_fact *f = more;
    sum->pointers |= f->pointers;
    sum->given |= f->given;
    sum->numbers |= f->numbers;
    sum->returns_number |= f->returns_number;
    sum->returns |= f->returns;
}

void fk_facts_add(fk_facts *x, const fk_facts *more)
{
    for (size_t k = 0; k < more->num; k++)
        add_fact(x, more->list[k]);
    for (size_t k = 0; k < more->num_passings; k++)
        add_passing(x, more->passings[k]);
    x->lost |= more->lost;
}

static fk_fact *find(const fk_facts *x, uint64_t entry)
{
    fk_fact key = {.entry = entry};
    return x->num == 0 ? NULL : bsearch(&key, x->list, x->num, sizeof key, fk_by_key);
}

const fk_fact *fk_fact_of(const fk_facts *x, uint64_t entry)
{
    return x == NULL ? NULL : find(x, entry);
}

static bool add_bits(uint32_t *to, uint32_t bits)
{
    bool more = (*to | bits) != *to;
    *to |= bits;
    return more;
}

/* Numbers first: what may be one shows nothing. */
static bool hand_numbers(fk_fact *from, fk_fact *to, const fk_passing *p)
{
    bool result = p->from_reg == FK_NO_REG;
    bool number = result ? from->returns_number : from->numbers >> p->from_reg & 1;
    if (p->to_reg != FK_NO_REG)
        return number && add_bits(&to->numbers, FK_REG_BIT(p->to_reg));
    bool more = to->returns_number && !from->returns_number;
    from->returns_number |= to->returns_number;
    return more;
}

static bool hand_blocks(fk_fact *from, fk_fact *to, const fk_passing *p)
{
    bool more = false;
    if (p->to_reg == FK_NO_REG) {
        more = to->returns && !from->returns && !from->returns_number;
        from->returns |= more;
        return more;
    }
    bool given = p->from_reg == FK_NO_REG ? from->returns : from->given >> p->from_reg & 1;
    if (given)
        more |= add_bits(&to->given, FK_REG_BIT(p->to_reg) & ~to->numbers);
    if (p->from_reg != FK_NO_REG && (to->pointers >> p->to_reg & 1))
        more |= add_bits(&from->pointers, FK_REG_BIT(p->from_reg) & ~from->numbers);
    return more;
}

static void until_rest(fk_facts *x, bool (*hand)(fk_fact *, fk_fact *, const fk_passing *))
{
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k < x->num_passings; k++)
            more |= hand(find(x, x->passings[k].from), find(x, x->passings[k].to), &x->passings[k]);
    }
}

void fk_facts_conclude(fk_facts *x)
{
    for (size_t k = 0; k < x->num_passings; k++) {
        add_fact(x, (fk_fact){.entry = x->passings[k].from});
        add_fact(x, (fk_fact){.entry = x->passings[k].to});
    }
    x->num = fk_combine_keys(x->list, sizeof *x->list, x->num, join);
    if (x->lost)
        return;
    until_rest(x, hand_numbers);
    for (size_t k = 0; k < x->num; k++) {
        x->list[k].pointers &= ~x->list[k].numbers;
        x->list[k].given &= ~x->list[k].numbers;
        x->list[k].returns &= !x->list[k].returns_number;
    }
    until_rest(x, hand_blocks);
}

void fk_facts_close(fk_facts *x)
{
    free(x->list);
    free(x->passings);
    *x = (fk_facts){0};
}
