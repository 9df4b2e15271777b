/* webs.c - liveness backwards over the graph, then the webs that it joins. */
#include "frametable/verify/webs.h"

#include <stdlib.h>
#include <string.h>

#include "frametable/verify/graph.h"

/* --- what an instruction reads and writes ----------------------------------------------------- */

/* Place of the word at `at` bytes from the stack pointer at entry, 0: none. */
static uint16_t place_of(const fk_function *f, int64_t at)
{
    int64_t n = (-at + 7) / 8; /* the word that holds the byte */
    return at >= 0 || n > f->num_slots ? 0 : (uint16_t)(FK_STATE_REGS + n - 1);
}

static uint32_t registers_read(const fk_insn *i)
{
    uint32_t set = FK_REG_BIT(i->base) | FK_REG_BIT(i->index);
    if (i->op == FK_OP_IMM)
        return 0;
    set |= FK_REG_BIT(i->rs) | FK_REG_BIT(i->rt);
    return i->op == FK_OP_STORE ? set | FK_REG_BIT(i->rd2) : set;
}

/* Of a word as a whole; what changes it or writes a part also reads it. */
static bool writes_word(const fk_insn *i)
{
    bool plain = i->rs != FK_NO_REG || (i->flags & (FK_I_IMM | FK_I_ZERO | FK_I_FLOAT));
    return i->op == FK_OP_STORE && i->size >= 8 && plain;
}

/* Traits of what a load from a place that never changes gives, 0: it may change, or is not
 * known. */
static uint16_t constant_load(const fk_function *f, const fk_value *at)
{
    uint64_t word;
    bool constant;
    fk_section s;
    if (at->kind == FK_V_GOT)
        return FK_T_ADDRESS;
    if (at->kind != FK_V_CONST)
        return 0;
    if (!fk_word(f->program, (uint64_t)at->k, &word, &constant))
        return FK_T_COMPUTED;
    if (!constant)
        return 0;
    return fk_image_section_at(f->program->image, word, &s) == FK_OK ? FK_T_ADDRESS : FK_T_COMPUTED;
}

/* An address in two steps, or the next block of a request. */
static uint16_t constant_sum(const fk_function *f, const fk_state *s, const fk_insn *i)
{
    fk_section section;
    if (i->op != FK_OP_ADD || i->rs >= 32 || i->imm == 0)
        return 0;
    if (s->place[i->rs].kind == FK_V_OFFSET && (s->place[i->rs].flags & FK_F_BLOCK))
        return FK_T_BLOCK;
    if (s->place[i->rs].kind != FK_V_CONST)
        return 0;
    uint64_t sum = (uint64_t)fk_sum(s->place[i->rs].k, i->imm);
    return fk_image_section_at(f->program->image, sum, &section) == FK_OK ? FK_T_ADDRESS
                                                                          : FK_T_CONSTANT;
}

static void memory_effect(const fk_function *f, const fk_state *s, const fk_insn *i, fk_effect *e)
{
    fk_value a = fk_memory_address(f, s, i);
    e->constant = i->op == FK_OP_LOAD ? constant_load(f, &a) : 0;
    if (a.kind != FK_V_SP)
        return;
    bool pair = i->rd2 != FK_NO_REG || i->size == 16;
    uint16_t first = place_of(f, a.k), second = pair ? place_of(f, a.k + 8) : 0;
    uint16_t *to = writes_word(i) ? e->slot_def : e->slot_use;
    to[0] = first;
    to[1] = second;
}

/* amd64's push and pop of a memory operand */
static void stack_effect(const fk_function *f, const fk_state *s, const fk_insn *i, fk_effect *e)
{
    fk_value sp = s->place[f->program->sp];
    if (sp.kind != FK_V_SP)
        return;
    if (i->op == FK_OP_PUSHMEM)
        e->slot_def[0] = place_of(f, sp.k - 8);
    if (i->op == FK_OP_POPMEM)
        e->slot_use[1] = place_of(f, sp.k);
}

static void effect(fk_function *f, const fk_state *s, int32_t n, void *arg)
{
    const fk_insn *i = &f->nodes[n].insn;
    fk_effect *e = &((fk_webs *)arg)->effects[n];
    memset(e, 0, sizeof *e);
    fk_value sp = s->place[f->program->sp];
    e->sp = sp.kind == FK_V_SP ? (int32_t)sp.k : FK_SP_UNKNOWN;
    e->constant = constant_sum(f, s, i);
    e->reg_uses = registers_read(i);
    e->reg_defs = i->writes;
    if (i->base != FK_NO_REG || i->index != FK_NO_REG)
        memory_effect(f, s, i, e);
    stack_effect(f, s, i, e);
    e->boxes_float = fk_boxes_float(f, s, i);
    e->callee = fk_callee_entry(f, s, &f->nodes[n]);
}

/* --- a forest --------------------------------------------------------------------------------- */

static uint32_t web_of(fk_webs *w, uint32_t part)
{
    while (w->parent[part] != part)
        part = w->parent[part] = w->parent[w->parent[part]];
    return part;
}

static uint32_t new_part(fk_webs *w)
{
    if (!fk_room(&w->parent, &w->cap_parent, (size_t)w->num + 1, sizeof *w->parent)) {
        w->failed = true;
        return FK_WEB_NONE;
    }
    if (!fk_room(&w->traits, &w->cap_traits, (size_t)w->num + 1, sizeof *w->traits)) {
        w->failed = true;
        return FK_WEB_NONE;
    }
    w->traits[w->num] = 0;
    w->parent[w->num] = w->num;
    return w->num++;
}

static uint32_t unite(fk_webs *w, uint32_t a, uint32_t b)
{
    if (a == FK_WEB_NONE || b == FK_WEB_NONE)
        return a == FK_WEB_NONE ? b : a;
    a = web_of(w, a);
    b = web_of(w, b);
    w->parent[b] = a;
    w->traits[a] |= w->traits[b];
    return a;
}

/* --- a block backwards ------------------------------------------------------------------------ */

/* The part of a web that is live where a block begins: block b, place p is part 1 + b * stride +
 * p. */
static void enter(fk_webs *w, const fk_function *f, int32_t node, bool registers)
{
    if (node == FK_NO_INSN || f->nodes[node].state < 0)
        return;
    size_t b = (size_t)f->nodes[node].state;
    for (size_t k = 0; k < w->row; k++)
        for (uint64_t left = w->live[b * w->row + k]; left != 0; left &= left - 1) {
            size_t p = k * 64 + (size_t)__builtin_ctzll(left);
            if (p >= FK_STATE_REGS || registers)
                w->now[p] = w->last ? unite(w, w->now[p], (uint32_t)(1 + b * f->stride + p)) : 1;
        }
}

/* What a handler gets in the register of results is an exception, always a block. */
static void catch(fk_webs *w, const fk_function *f, int32_t handler)
{
    size_t result = f->program->result, b = (size_t)f->nodes[handler].state;
    if (w->last && f->nodes[handler].state >= 0)
        w->traits[1 + b * f->stride + result] |= FK_T_RESULT | FK_T_POINTER;
}

/* Handlers and tables that node n may go to. */
static void leave(fk_webs *w, const fk_function *f, int32_t n, bool registers)
{
    size_t count;
    const fk_edge *e = fk_edges_from(f, n, &count);
    for (size_t k = 0; k < count; k++) {
        enter(w, f, e[k].to, registers);
        if (!registers)
            catch(w, f, e[k].to);
    }
}

static void read_place(fk_webs *w, size_t p)
{
    if (w->now[p] == FK_WEB_NONE)
        w->now[p] = w->last ? new_part(w) : 1;
}

/* --- traits ----------------------------------------------------------------------------------- */

static void mark(fk_webs *w, uint8_t reg, unsigned traits)
{
    if (reg < 32 && w->now[reg] != FK_WEB_NONE)
        w->traits[w->now[reg]] |= traits;
}

static bool is_address(const fk_function *f, const fk_insn *i)
{
    fk_section s;
    return (i->flags & FK_I_GOT) ||
           fk_image_section_at(f->program->image, (uint64_t)i->imm, &s) == FK_OK;
}

/* Of what a load from a block gives: of a list of fields, only words as such. */
static unsigned loaded(const fk_function *f, const fk_insn *i)
{
    const fk_program *p = f->program;
    bool word = i->size == 8 && !(i->flags & FK_I_FLOAT) && i->base < 32 && i->index == FK_NO_REG &&
                i->disp % 8 == 0;
    if (!word || i->disp < 0 || i->base == p->sp || (p->domains >> i->base & 1))
        return FK_T_COMPUTED;
    return i->disp == 8 ? FK_T_SECOND : FK_T_FIELD;
}

/* Where what an instruction writes comes from; 0: from another place. */
static unsigned origin(const fk_function *f, const fk_insn *i, const fk_effect *e)
{
    const fk_program *p = f->program;
    if (i->op == FK_OP_IMM)
        return is_address(f, i) ? FK_T_ADDRESS : FK_T_CONSTANT;
    if (e->constant)
        return e->constant;
    if (i->op == FK_OP_LOAD)
        return e->slot_use[0] && i->size == 8 ? 0 : loaded(f, i);
    if (i->op == FK_OP_ADD && i->rs == p->young && i->imm == p->abi->word)
        return FK_T_BLOCK;
    return i->op == FK_OP_ADD && i->imm == 0 && i->rs < 32 && !(i->flags & FK_I_BITS)
               ? 0
               : FK_T_COMPUTED;
}

static void mark_origin(fk_webs *w, const fk_function *f, const fk_insn *i, const fk_effect *e)
{
    unsigned traits = origin(f, i, e);
    for (uint32_t left = e->reg_defs; left != 0; left &= left - 1)
        mark(w, (uint8_t)__builtin_ctz(left), traits);
    for (unsigned k = 0; k < 2; k++)
        if (e->slot_def[k] != 0 && i->rs >= 32 && w->now[e->slot_def[k]] != FK_WEB_NONE)
            w->traits[w->now[e->slot_def[k]]] |=
                i->flags & (FK_I_IMM | FK_I_ZERO) ? FK_T_CONSTANT : FK_T_COMPUTED;
}

static void mark_uses(fk_webs *w, const fk_function *f, const fk_insn *i, const fk_effect *e)
{
    bool memory = i->op != FK_OP_ADD && i->op != FK_OP_IMM && i->base != f->program->sp;
    bool block = i->index == FK_NO_REG && i->disp % 8 == 0 && i->disp >= -8;
    if (e->boxes_float)
        mark(w, i->base, FK_T_BOXED_FLOAT);
    if (memory && !fk_unboxes_float(i))
        mark(w, i->base, block ? FK_T_DEREFERENCED : FK_T_INDEXED);
    if (memory && block && i->disp == -8 && i->size == 8 && i->op != FK_OP_STORE)
        mark(w, i->base, FK_T_MEASURED);
    if (i->op == FK_OP_STORE && e->slot_use[0] != 0) /* changed where it is */
        w->traits[w->now[e->slot_use[0]]] |= FK_T_COMPUTED;
    if (i->op == FK_OP_LOAD || i->op == FK_OP_STORE || (i->op == FK_OP_ADD && i->imm == 0))
        return;
    bool compares = i->op == FK_OP_CMP || i->op == FK_OP_BRANCH;
    unsigned use = i->flags & FK_I_TEST ? FK_T_TESTED : compares ? FK_T_COMPARED : FK_T_ARITHMETIC;
    mark(w, i->rs, use);
    mark(w, i->rt, use);
}

/* --- instructions ----------------------------------------------------------------------------- */

static void add_pair(fk_webs *w, fk_move **list, size_t *num, size_t *cap, uint32_t from,
                     uint32_t to)
{
    if (from == FK_WEB_NONE || to == FK_WEB_NONE)
        return;
    if (!fk_room(list, cap, *num + 1, sizeof **list)) {
        w->failed = true;
        return;
    }
    (*list)[(*num)++] = (fk_move){from, to};
}

static void add_move(fk_webs *w, size_t from, uint32_t to)
{
    add_pair(w, &w->moves, &w->num_moves, &w->cap_moves, w->now[from], to);
}

static size_t integer(uint8_t reg)
{
    return reg < 32 ? reg : FK_NO_REG;
}

/* The places that it copies to. */
static void targets(const fk_insn *i, const fk_effect *e, size_t to[2])
{
    bool move = i->op == FK_OP_ADD && i->imm == 0 && i->rs < 32;
    bool load = i->op == FK_OP_LOAD && i->size == 8;
    to[0] = move || load ? integer(i->rd) : FK_NO_REG;
    to[1] = load ? integer(i->rd2) : FK_NO_REG;
    if (i->op == FK_OP_STORE && i->size == 8 && e->slot_def[0] != 0) {
        to[0] = i->rs < 32 ? e->slot_def[0] : FK_NO_REG;
        to[1] = i->rd2 < 32 && e->slot_def[1] != 0 ? e->slot_def[1] : FK_NO_REG;
    }
}

static void add_moves(fk_webs *w, const fk_insn *i, const fk_effect *e, const uint32_t to[2])
{
    if (i->op == FK_OP_LOAD && e->slot_use[0] != 0) {
        add_move(w, e->slot_use[0], to[0]);
        if (e->slot_use[1] != 0)
            add_move(w, e->slot_use[1], to[1]);
    } else if (i->op == FK_OP_LOAD && i->base < 32) {
        add_pair(w, &w->fields, &w->num_fields, &w->cap_fields, w->now[i->base], to[0]);
        add_pair(w, &w->fields, &w->num_fields, &w->cap_fields, w->now[i->base], to[1]);
    } else if (i->op == FK_OP_STORE || i->op == FK_OP_ADD) {
        if (i->rs < 32)
            add_move(w, i->rs, to[0]);
        if (i->rd2 < 32)
            add_move(w, i->rd2, to[1]);
    }
}

static void plain_instruction(fk_webs *w, const fk_function *f, const fk_insn *i,
                              const fk_effect *e)
{
    size_t place[2];
    uint32_t to[2] = {FK_WEB_NONE, FK_WEB_NONE};
    targets(i, e, place);
    for (unsigned k = 0; k < 2; k++)
        if (place[k] != FK_NO_REG)
            to[k] = w->now[place[k]];
    if (w->last)
        mark_origin(w, f, i, e);
    for (uint32_t left = e->reg_defs; left != 0; left &= left - 1)
        w->now[__builtin_ctz(left)] = FK_WEB_NONE;
    for (unsigned k = 0; k < 2; k++)
        if (e->slot_def[k] != 0)
            w->now[e->slot_def[k]] = FK_WEB_NONE;
    for (uint32_t left = e->reg_uses; left != 0; left &= left - 1)
        read_place(w, (size_t)__builtin_ctz(left));
    for (unsigned k = 0; k < 2; k++)
        if (e->slot_use[k] != 0)
            read_place(w, e->slot_use[k]);
    if (!w->last)
        return;
    add_moves(w, i, e, to);
    mark_uses(w, f, i, e);
}

/* --- safepoints ------------------------------------------------------------------------------- */

static void add_crossing(fk_webs *w, uint32_t descr, size_t p, bool listed)
{
    if (!fk_room(&w->crossings, &w->cap_crossings, w->num_crossings + 1, sizeof *w->crossings)) {
        w->failed = true;
        return;
    }
    w->crossings[w->num_crossings++] = (fk_crossing){w->now[p], descr, (uint16_t)p, listed};
}

/* Place of a root; 0 also where it is outside of what is followed. */
static size_t place_of_root(const fk_function *f, fk_live l, int64_t sp)
{
    const fk_reg *r = l.reg < 0 ? NULL : fk_abi_reg(f->program->abi, l.reg, f->program->version);
    if (l.reg < 0)
        return place_of(f, sp + l.offset);
    return r == NULL || r->is_float ? 0 : r->hw;
}

static bool is_listed(const fk_function *f, const fk_descr *d, size_t p, int64_t sp)
{
    for (uint32_t n = 0; n < d->num_live; n++)
        if (place_of_root(f, fk_descr_live(d, n), sp) == p)
            return true;
    return false;
}

/* Roots in the frame that nothing reads any more. */
static void add_dead(fk_webs *w, const fk_function *f, uint32_t descr, int64_t sp)
{
    const fk_descr *d = &f->program->descrs[descr];
    for (uint32_t n = 0; n < d->num_live; n++) {
        size_t p = place_of_root(f, fk_descr_live(d, n), sp);
        if (p >= FK_STATE_REGS && w->now[p] == FK_WEB_NONE)
            add_crossing(w, descr, p, true);
    }
}

/* Raises never collect: their descriptors are for backtraces and need not list anything. */
static void cross(fk_webs *w, const fk_function *f, const fk_node *n, int64_t sp)
{
    const fk_descr *d = &f->program->descrs[n->descr];
    if (!fk_is_shared_raise(f, n))
        add_dead(w, f, n->descr, sp);
    if (n->callee == FK_CALLEE_NORETURN)
        return;
    for (size_t p = 0; p < f->stride; p++) {
        bool root_place = p < 32 ? f->program->allocatable >> p & 1 : p >= FK_STATE_REGS;
        if (root_place && w->now[p] != FK_WEB_NONE)
            add_crossing(w, n->descr, p, is_listed(f, d, p, sp));
    }
}

/* Calls of the collector keep all registers. */
static bool keeps_registers(const fk_function *f, const fk_node *n)
{
    const fk_program *p = f->program;
    if (n->callee == FK_CALLEE_REALLOC || n->insn.target == n->insn.addr + n->insn.length)
        return true;
    if (n->descr == UINT32_MAX)
        return false;
    return (n->callee >= FK_CALLEE_GC && n->callee <= FK_CALLEE_ALLOCN) ||
           n->insn.op == FK_OP_BRANCH ||
           (n->callee == FK_CALLEE_UNKNOWN && (p->descrs[n->descr].flags & FK_DESCR_ALLOC));
}

static unsigned result_of(const fk_webs *w, const fk_node *n, uint64_t callee)
{
    const fk_fact *x = fk_fact_of(w->facts, callee);
    if (x != NULL && x->returns)
        return FK_T_RESULT | FK_T_POINTER;
    return n->descr == UINT32_MAX     ? FK_T_COMPUTED
           : n->callee == FK_CALLEE_C ? FK_T_C_RESULT
                                      : FK_T_RESULT;
}

static void call(fk_webs *w, const fk_function *f, int32_t n)
{
    const fk_node *node = &f->nodes[n];
    uint32_t kept = node->descr == UINT32_MAX ? f->program->kept_by_c : 0;
    if (w->last && !keeps_registers(f, node))
        mark(w, f->program->result, result_of(w, node, w->effects[n].callee));
    if (!keeps_registers(f, node))
        for (unsigned r = 0; r < FK_STATE_REGS; r++)
            if (r >= 32 || !(kept >> r & 1))
                w->now[r] = FK_WEB_NONE;
    leave(w, f, n, false);
    bool here = node->descr >= f->first && node->descr < f->last;
    if (w->last && here && w->effects[n].sp != FK_SP_UNKNOWN)
        cross(w, f, node, w->effects[n].sp);
}

/* Arguments that the callee, or the function that it goes on to, takes for blocks. */
static void give(fk_webs *w, uint64_t callee)
{
    const fk_fact *x = fk_fact_of(w->facts, callee);
    for (uint32_t left = x == NULL ? 0 : x->pointers; left != 0; left &= left - 1) {
        read_place(w, (size_t)__builtin_ctz(left));
        if (w->last)
            mark(w, (uint8_t)__builtin_ctz(left), FK_T_DEREFERENCED);
    }
}

static void ask(fk_webs *w, const fk_function *f, const fk_node *n)
{
    if (!fk_asks_tag(f, n))
        return;
    read_place(w, f->program->c_argument);
    if (w->last)
        mark(w, f->program->c_argument, FK_T_ASKED);
}

/* Where arguments come from. */
static void enter_function(fk_webs *w, const fk_function *f)
{
    const fk_fact *x = fk_fact_of(w->facts, f->symbol.addr);
    uint32_t pointers = x == NULL ? 0 : x->pointers | x->given;
    for (uint8_t r = 0; r < 32; r++)
        mark(w, r, !(f->program->arguments >> r & 1) ? FK_T_COMPUTED :
                   pointers >> r & 1 ? FK_T_ARGUMENT | FK_T_POINTER : FK_T_ARGUMENT);
}

static void instruction(fk_webs *w, const fk_function *f, int32_t n)
{
    const fk_node *node = &f->nodes[n];
    if (fk_is_call(&node->insn))
        call(w, f, n);
    else /* a branch to a failed bound check leads to a handler, without registers */
        leave(w, f, n, node->insn.op == FK_OP_JUMPREG || node->insn.op == FK_OP_RET);
    if (node->to != FK_NO_INSN)
        enter(w, f, node->to, true);
    plain_instruction(w, f, &node->insn, &w->effects[n]);
    give(w, w->effects[n].callee);
    ask(w, f, node);
    if (w->last && node->insn.addr == f->symbol.addr)
        enter_function(w, f);
}

/* Results of a comparison that take a branch: less 1, equal 2, greater 4; signed or not. */
static unsigned outcomes(const fk_insn *i, bool *is_signed)
{
    *is_signed = i->cond == FK_COND_LT || i->cond == FK_COND_GE || i->cond == FK_COND_GT ||
                 i->cond == FK_COND_LE;
    switch (i->cond) {
    case FK_COND_LO: case FK_COND_LT: return 1;
    case FK_COND_EQ: return 2;
    case FK_COND_LS: case FK_COND_LE: return 3;
    case FK_COND_HI: case FK_COND_GT: return 4;
    case FK_COND_NE: return 5;
    case FK_COND_HS: case FK_COND_GE: return 6;
    default: return 0;
    }
}

/* Branches in a row that leave no result over (a switch with three arms): nothing falls through. */
static bool never_falls(const fk_function *f, int32_t n)
{
    unsigned taken = 0, with_sign = 0, without = 0;
    for (; n != FK_NO_INSN && f->nodes[n].insn.op == FK_OP_BRANCH; n = f->nodes[n].prev) {
        const fk_insn *i = &f->nodes[n].insn;
        bool is_signed, compares = i->rs != FK_NO_REG || (i->flags & FK_I_LINKS);
        unsigned o = compares ? 0 : outcomes(i, &is_signed);
        if (o == 0)
            break;
        taken |= o;
        if (o != 2 && o != 5)
            ++*(is_signed ? &with_sign : &without);
        if (f->nodes[n].leader)
            break;
    }
    return taken == 7 && (with_sign == 0 || without == 0);
}

/* true: more is live at its beginning than was known. */
static bool block(fk_webs *w, const fk_function *f, int32_t first)
{
    size_t n = 0, b = (size_t)f->nodes[first].state;
    int32_t at = first;
    bool more = false;
    do {
        w->block[n++] = at;
        at = f->nodes[at].callee == FK_CALLEE_NORETURN ? FK_NO_INSN : f->nodes[at].next;
    } while (at != FK_NO_INSN && !f->nodes[at].leader);
    memset(w->now, 0, f->stride * sizeof *w->now);
    if (!never_falls(f, w->block[n - 1]))
        enter(w, f, at, true);
    while (n > 0)
        instruction(w, f, w->block[--n]);
    for (size_t p = 0; p < f->stride; p++) {
        uint64_t bit = (uint64_t)1 << (p % 64), *row = &w->live[b * w->row + p / 64];
        if (w->now[p] == FK_WEB_NONE)
            continue;
        if (w->last)
            unite(w, (uint32_t)(1 + b * f->stride + p), w->now[p]);
        more |= !(*row & bit);
        *row |= bit;
    }
    return more;
}

static bool sweep(fk_webs *w, const fk_function *f)
{
    bool more = false;
    for (size_t n = f->num_nodes; n-- > 0;)
        if (f->nodes[n].state >= 0)
            more |= block(w, f, (int32_t)n);
    return more;
}

/* --- the whole function ----------------------------------------------------------------------- */

static bool prepare(fk_webs *w, const fk_function *f)
{
    size_t parts = 1 + f->num_states * f->stride;
    w->row = (f->stride + 63) / 64;
    w->num = (uint32_t)parts;
    w->num_crossings = w->num_moves = w->num_fields = 0;
    w->last = w->failed = false;
    if (!fk_room(&w->effects, &w->cap_effects, f->num_nodes, sizeof *w->effects) ||
        !fk_room(&w->live, &w->cap_live, f->num_states * w->row, sizeof *w->live) ||
        !fk_room(&w->parent, &w->cap_parent, parts, sizeof *w->parent) ||
        !fk_room(&w->traits, &w->cap_traits, parts, sizeof *w->traits) ||
        !fk_room(&w->now, &w->cap_now, f->stride, sizeof *w->now) ||
        !fk_room(&w->block, &w->cap_block, f->num_nodes, sizeof *w->block))
        return false;
    memset(w->live, 0, f->num_states * w->row * sizeof *w->live);
    memset(w->traits, 0, parts * sizeof *w->traits);
    for (size_t k = 0; k < parts; k++)
        w->parent[k] = (uint32_t)k;
    return true;
}

static void resolve(fk_webs *w, fk_move *list, size_t num)
{
    for (size_t k = 0; k < num; k++) {
        list[k].from = web_of(w, list[k].from);
        list[k].to = web_of(w, list[k].to);
    }
}

static bool add_traits(fk_webs *w, uint32_t web, unsigned traits)
{
    bool more = (w->traits[web] | traits) != w->traits[web];
    w->traits[web] |= traits;
    return more;
}

/* What a web is a copy of, or is copied to, is the same. A word behind an address that was computed
 * may be anything, and so may a copy of what may be of any type. */
static bool hand_on(fk_webs *w)
{
    bool more = false;
    for (size_t k = 0; k < w->num_moves; k++) {
        unsigned from = w->traits[w->moves[k].from];
        more |= add_traits(w, w->moves[k].to, (from & FK_T_FORWARD) |
                                                  (from & FK_T_ASKED ? FK_T_COMPUTED : 0));
        more |= add_traits(w, w->moves[k].from, w->traits[w->moves[k].to] & FK_T_USES);
    }
    for (size_t k = 0; k < w->num_fields; k++)
        if (w->traits[w->fields[k].from] & (FK_T_COMPUTED | FK_T_MEASURED))
            more |= add_traits(w, w->fields[k].to, FK_T_COMPUTED);
    return more;
}

/* Traits of parts become those of their webs. */
static void settle(fk_webs *w)
{
    for (size_t k = 0; k < w->num; k++)
        w->traits[web_of(w, (uint32_t)k)] |= w->traits[k];
    for (size_t k = 0; k < w->num_crossings; k++)
        w->crossings[k].web = web_of(w, w->crossings[k].web);
    resolve(w, w->moves, w->num_moves);
    resolve(w, w->fields, w->num_fields);
    while (hand_on(w))
        continue;
}

bool fk_webs_find(fk_webs *w, fk_function *f, const fk_facts *facts)
{
    w->facts = facts;
    if (!prepare(w, f))
        return false;
    fk_function_visit(f, effect, w);
    for (unsigned round = 0; sweep(w, f); round++)
        if (round == FK_ROUNDS)
            return true;
    w->last = true;
    sweep(w, f);
    settle(w);
    return !w->failed;
}

void fk_webs_close(fk_webs *w)
{
    free(w->effects);
    free(w->live);
    free(w->parent);
    free(w->crossings);
    free(w->traits);
    free(w->moves);
    free(w->fields);
    free(w->now);
    free(w->block);
}
