/* cfg.c - which instructions a function has: recursive descent from its entry over direct
 * branches; jump tables and handlers are added by flow.c when it meets their addresses.
 *
 * A branch out of the window is a tail call. The window reaches from the end of the function
 * before (some architectures put the growth of the stack before the entry) to the function's
 * end. */
#include <stdlib.h>
#include <string.h>

#include "frametable/verify/graph.h"
#include "frametable/search.h"

bool fk_room(void *array, size_t *cap, size_t need, size_t item)
{
    void *p;
    size_t n = *cap * 2 > need ? *cap * 2 : need + 64;
    if (need <= *cap)
        return true;
    memcpy(&p, array, sizeof p);
    p = realloc(p, n * item);
    if (p == NULL)
        return false;
    memcpy(array, &p, sizeof p);
    *cap = n;
    return true;
}

static unsigned unit(const fk_function *f)
{
    return f->program->abi->code_align;
}

bool fk_in_window(const fk_function *f, uint64_t addr)
{
    return addr >= f->lo && addr < f->hi && (addr - f->lo) % unit(f) == 0;
}

int32_t fk_node_at(const fk_function *f, uint64_t addr)
{
    return fk_in_window(f, addr) ? (int32_t)f->map[(addr - f->lo) / unit(f)] - 1 : FK_NO_INSN;
}

/* --- instructions of objects: relocations complete them -------------------------------- */

const fk_fixup *fk_fixup_of(const fk_program *p, const fk_insn *i)
{
    size_t lo = FK_COUNT_BELOW(fk_fixup, p->fixups, p->num_fixups, at, i->addr);
    return lo < p->num_fixups && p->fixups[lo].at < i->addr + i->length ? &p->fixups[lo] : NULL;
}

/* What the distance in an instruction counts from. Assemblers may have filled it in or not. */
static uint64_t origin(const fk_program *p, const fk_insn *i)
{
    return p->abi->code_align == 1 ? i->addr + i->length : i->addr;
}

void fk_complete(const fk_program *p, fk_insn *i)
{
    const fk_fixup *x = fk_fixup_of(p, i);
    if (x == NULL)
        return;
    bool relative = i->op == FK_OP_BRANCH || i->op == FK_OP_JUMP || i->op == FK_OP_CALL ||
                    (i->flags & FK_I_ABSOLUTE);
    if (x->low && i->op != FK_OP_IMM) { /* the high half has it all; gas 2.44 fills the field in */
        i->imm = i->op == FK_OP_ADD ? 0 : i->imm;
        i->disp = 0;
    } else if (x->got && i->op == FK_OP_IMM) {
        i->flags |= FK_I_GOT;
        i->imm = (int64_t)x->value;
    } else if (x->got && i->op == FK_OP_LOAD && relative) {
        i->op = FK_OP_IMM; /* an address, 0 if it is elsewhere */
        i->imm = x->value == 0 ? 0 : (int64_t)(origin(p, i) + x->value - x->at);
    } else if (x->value == 0 && i->op == FK_OP_IMM)
        i->op = FK_OP_OTHER;
    else if (x->got || x->value == 0)
        i->target = 0;
    else if (relative && i->op == FK_OP_IMM)
        i->imm = (int64_t)(origin(p, i) + x->value - x->at);
    else if (relative)
        i->target = origin(p, i) + x->value - x->at;
    else if (i->op == FK_OP_IMM || (i->op == FK_OP_ADD && i->imm == 0 && x->high)) {
        i->op = FK_OP_IMM;
        i->imm = (int64_t)x->value;
    }
}

/* --- discovery ----------------------------------------------------------------------------- */

/* A linker moves an instruction that a faulty processor would get wrong out of the function and
 * puts a branch there:  b V ... V: instruction; b back. The node is that instruction. */
static void look_through_veneer(fk_function *f, fk_insn *i)
{
    uint64_t avail;
    fk_insn moved, back;
    const uint8_t *b = i->op == FK_OP_JUMP && !fk_in_window(f, i->target) ?
                           fk_image_bytes(f->program->image, i->target, &avail) : NULL;
    if (b == NULL || avail < 8 || f->program->object)
        return;
    f->program->decode(b, avail, i->target, &moved);
    if (moved.op != FK_OP_LOAD && moved.op != FK_OP_STORE)
        return;
    f->program->decode(b + moved.length, avail - moved.length, i->target + moved.length, &back);
    if (back.op != FK_OP_JUMP || back.target != i->addr + i->length)
        return;
    moved.addr = i->addr;
    *i = moved;
}

static int32_t add_node(fk_function *f, uint64_t addr)
{
    if (!fk_room(&f->nodes, &f->cap_nodes, f->num_nodes + 1, sizeof *f->nodes))
        return FK_NO_INSN;
    int32_t n = (int32_t)f->num_nodes++;
    fk_node *node = &f->nodes[n];
    memset(node, 0, sizeof *node);
    node->next = node->to = node->prev = node->from = node->sibling = FK_NO_INSN;
    node->state = -1;
    node->descr = UINT32_MAX;
    f->program->decode(f->code + (addr - f->lo), f->hi - addr, addr, &node->insn);
    if (f->program->object)
        fk_complete(f->program, &node->insn);
    look_through_veneer(f, &node->insn);
    f->unknown += node->insn.op == FK_OP_UNKNOWN;
    f->map[(addr - f->lo) / unit(f)] = (uint32_t)n + 1;
    return n;
}

static uint32_t descr_at(const fk_function *f, uint64_t addr)
{
    size_t d = fk_program_find(f->program, addr);
    return d < f->program->num_descrs ? (uint32_t)d : UINT32_MAX;
}

static void describe_call(fk_function *f, fk_node *node)
{
    const fk_program *p = f->program;
    uint64_t retaddr = node->insn.addr + node->insn.length;
    node->descr = descr_at(f, retaddr);
    node->callee = node->insn.op == FK_OP_CALL || p->object ?
                       (uint8_t)fk_program_callee(p, node->insn.addr, retaddr, node->insn.target) :
                       FK_CALLEE_UNKNOWN;
    bool direct = p->nameless && node->insn.op == FK_OP_CALL;
    const fk_entry *e = direct ? fk_program_entry(p, node->insn.target) : NULL;
    if (e != NULL && e->kind == FK_CALLEE_UNKNOWN)
        f->problem = "calls a function of the runtime that only a symbol could tell";
}

bool fk_is_call(const fk_insn *i)
{
    return i->op == FK_OP_CALL || i->op == FK_OP_CALLREG ||
           (i->op == FK_OP_BRANCH && (i->flags & FK_I_LINKS));
}

static bool goes_on(const fk_node *n)
{
    switch (n->insn.op) {
    case FK_OP_JUMP: case FK_OP_JUMPREG: case FK_OP_RET: case FK_OP_STOP:
    case FK_OP_UNKNOWN: return false;
    case FK_OP_CALL: case FK_OP_CALLREG: return n->callee != FK_CALLEE_NORETURN;
    default: return true;
    }
}

static bool push(fk_function *f, uint64_t addr)
{
    if (!fk_in_window(f, addr))
        return true;
    if (!fk_room(&f->queue, &f->cap_queue, f->num_queue + 1, sizeof *f->queue))
        return false;
    f->queue[f->num_queue++] = (int32_t)(addr - f->lo);
    return true;
}

/* Straight on from addr until something known or an end. */
static bool run(fk_function *f, uint64_t addr)
{
    int32_t before = FK_NO_INSN;
    for (;;) {
        int32_t n = fk_node_at(f, addr);
        bool known = n != FK_NO_INSN;
        if (!known && (!fk_in_window(f, addr) || (n = add_node(f, addr)) == FK_NO_INSN))
            return !fk_in_window(f, addr);
        fk_node *node = &f->nodes[n];
        if (before != FK_NO_INSN) {
            f->nodes[before].next = n;
            node->leader |= node->prev != FK_NO_INSN;
            node->prev = before;
        }
        if (known)
            return true;
        if (fk_is_call(&node->insn))
            describe_call(f, node);
        else if (node->insn.op == FK_OP_TRAP) /* its own address is looked up */
            node->descr = descr_at(f, addr);
        bool jumps = node->insn.op == FK_OP_JUMP || node->insn.op == FK_OP_BRANCH ||
                     (node->insn.op == FK_OP_CALL &&
                      node->insn.target == node->insn.addr + node->insn.length);
        if (jumps && !push(f, node->insn.target))
            return false;
        if (!goes_on(node))
            return true;
        before = n;
        addr = node->insn.addr + node->insn.length;
    }
}

bool fk_discover(fk_function *f, uint64_t addr)
{
    size_t first = f->num_nodes, base = f->num_queue;
    if (!push(f, addr))
        return false;
    while (f->num_queue > base) {
        uint64_t at = f->lo + (uint64_t)f->queue[--f->num_queue];
        if (fk_node_at(f, at) == FK_NO_INSN && !run(f, at))
            return false;
    }
    for (size_t n = first; n < f->num_nodes; n++) {
        fk_node *node = &f->nodes[n];
        if (node->insn.op != FK_OP_JUMP && node->insn.op != FK_OP_BRANCH)
            continue;
        node->to = fk_node_at(f, node->insn.target);
        if (node->to == FK_NO_INSN)
            continue;
        fk_node *target = &f->nodes[node->to];
        target->leader = true;
        node->sibling = target->from;
        target->from = (int32_t)n;
    }
    return true;
}
