/* flow.c - the fixed point over a function: states of leaders grow less certain until nothing
 * changes; jump tables and handlers are discovered on the way. */
#include "frametable/verify/flow.h"

#include <stdlib.h>
#include <string.h>

#include "frametable/verify/graph.h"

static bool same(const fk_value *a, const fk_value *b)
{
    return a->kind == b->kind && a->k == b->k && a->flags == b->flags;
}

/* Less certain than both. What differs becomes a value of its own, `number`. */
static fk_value join(fk_value a, fk_value b, int64_t number)
{
    fk_value r = a;
    if (a.kind == FK_V_NONE || b.kind == FK_V_NONE)
        return (fk_value){0, 0, FK_V_NONE, 0};
    if (a.kind != b.kind || a.k != b.k) {
        r.kind = FK_V_ANY;
        r.k = number;
    }
    r.flags = (uint8_t)(a.flags | b.flags);
    r.stale = a.flags & FK_F_STALE ? a.stale : b.stale;
    return r;
}

/* --- leaders ------------------------------------------------------------------------------ */

static fk_value *state_of(const fk_function *f, int32_t n)
{
    return f->states + (size_t)f->nodes[n].state * f->stride;
}

static bool new_state(fk_function *f, int32_t n, const fk_value *v)
{
    if ((f->num_states + 1) * f->stride * sizeof *v > FK_STATE_BYTES) {
        f->problem = "the function has too many paths and too large a frame";
        return false;
    }
    if (!fk_room(&f->states, &f->cap_states, (f->num_states + 1) * f->stride, sizeof *v))
        return false;
    f->nodes[n].state = (int32_t)f->num_states++;
    memcpy(state_of(f, n), v, f->stride * sizeof *v);
    return true;
}

static bool merge(fk_function *f, int32_t n, const fk_value *v)
{
    fk_value *into = state_of(f, n);
    bool changed = false;
    for (size_t k = 0; k < f->stride; k++) {
        if (same(&into[k], &v[k]))
            continue;
        fk_value j =
            join(into[k], v[k], FK_JOINED + (int64_t)((size_t)f->nodes[n].state * f->stride + k));
        changed |= !same(&into[k], &j);
        into[k] = j;
    }
    return changed;
}

static bool enqueue(fk_function *f, int32_t n)
{
    if (f->nodes[n].queued)
        return true;
    if (f->nodes[n].rounds++ == FK_ROUNDS) {
        f->problem = "the function does not come to rest";
        return false;
    }
    if (!fk_room(&f->queue, &f->cap_queue, f->num_queue + 1, sizeof *f->queue))
        return false;
    f->nodes[n].queued = true;
    f->queue[f->num_queue++] = n;
    return true;
}

/* A new leader within a block: the block runs again, so that what falls into it is counted. */
static bool make_leader(fk_function *f, int32_t n)
{
    int32_t b = n;
    if (f->nodes[n].leader)
        return true;
    f->nodes[n].leader = true;
    while (f->nodes[b].prev != FK_NO_INSN && (b == n || f->nodes[b].state < 0))
        b = f->nodes[b].prev;
    return b == n || f->nodes[b].state < 0 || enqueue(f, b);
}

static bool flow_to(fk_function *f, int32_t n, const fk_value *v)
{
    if (!make_leader(f, n))
        return false;
    if (f->nodes[n].state < 0)
        return new_state(f, n, v) && enqueue(f, n);
    return !merge(f, n, v) || enqueue(f, n);
}

/* --- edges ------------------------------------------------------------------------------------ */

static int by_source(const void *a, const void *b)
{
    const fk_edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Blocks run more than once and leave their edges each time. */
static void unique_edges(fk_function *f)
{
    size_t n = 0;
    if (f->num_edges > 0)
        qsort(f->edges, f->num_edges, sizeof *f->edges, by_source);
    for (size_t k = 0; k < f->num_edges; k++)
        if (n == 0 || by_source(&f->edges[n - 1], &f->edges[k]) != 0)
            f->edges[n++] = f->edges[k];
    f->num_edges = n;
}

static bool add_edge(fk_function *f, int32_t to)
{
    const fk_edge *last = f->num_edges > 0 ? &f->edges[f->num_edges - 1] : NULL;
    if (last != NULL && last->from == f->source && last->to == to)
        return true;
    if (f->num_edges == f->cap_edges)
        unique_edges(f);
    /* room for as many again: each sorting is paid for */
    if (f->num_edges > f->cap_edges / 2 &&
        !fk_room(&f->edges, &f->cap_edges, f->cap_edges + 1, sizeof *f->edges))
        return false;
    if (f->cap_edges == 0 && !fk_room(&f->edges, &f->cap_edges, 64, sizeof *f->edges))
        return false;
    f->edges[f->num_edges++] = (fk_edge){f->source, to};
    return true;
}

const fk_edge *fk_edges_from(const fk_function *f, int32_t node, size_t *count)
{
    size_t lo = 0, hi = f->num_edges;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (f->edges[mid].from < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    *count = 0;
    while (lo + *count < f->num_edges && f->edges[lo + *count].from == node)
        ++*count;
    return f->edges + lo;
}

/* Control goes to addr, which may be new. */
static bool reach(fk_function *f, uint64_t addr, const fk_value *v)
{
    if (!fk_in_window(f, addr))
        return true;
    if (fk_node_at(f, addr) == FK_NO_INSN && !fk_discover(f, addr))
        return false;
    int32_t to = fk_node_at(f, addr);
    if (to == FK_NO_INSN)
        return false;
    return add_edge(f, to) && flow_to(f, to, v);
}

/* --- jump tables ------------------------------------------------------------------------------ */

/* A row of branches: `br` to place + n * length. */
static bool branch_table(fk_function *f, uint64_t at, const fk_value *v)
{
    fk_insn i;
    for (; fk_in_window(f, at); at += i.length) {
        f->program->decode(f->code + (at - f->lo), f->hi - at, at, &i);
        if (i.op != FK_OP_JUMP)
            break;
        if (!reach(f, at, v))
            return false;
    }
    return true;
}

static bool read32(const fk_function *f, uint64_t at, int64_t *out)
{
    uint64_t avail;
    const uint8_t *b = fk_image_bytes(f->program->image, at, &avail);
    if (b == NULL || avail < 4)
        return false;
    uint32_t v = f->program->abi->big_endian
                     ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                     : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
    *out = (int32_t)v;
    return true;
}

/* Words that are distances from the table; a part of it begins `start` bytes behind. It ends where
 * a word leads out of the function, where code begins that is known, or another table may. */
static bool offset_table(fk_function *f, uint64_t table, uint32_t start, const fk_value *v)
{
    int64_t d;
    for (uint64_t at = table + start; read32(f, at, &d) && fk_in_window(f, table + (uint64_t)d);
         at += 4) {
        if (at != table + start &&
            (fk_node_at(f, at) != FK_NO_INSN || fk_table_begins(f->program, at)))
            break;
        if (!reach(f, table + (uint64_t)d, v))
            return false;
    }
    return true;
}

static bool jump_register(fk_function *f, int32_t n, const fk_state *s)
{
    const fk_insn *i = &f->nodes[n].insn;
    fk_value v = i->rs < FK_STATE_REGS ? s->place[i->rs] : fk_memory_address(f, s, i);
    if (i->rs == FK_NO_REG)
        return true;
    if (v.kind == FK_V_CONST)
        return reach(f, (uint64_t)fk_sum(v.k, i->imm), s->place);
    if (v.kind == FK_V_NEAR)
        return branch_table(f, (uint64_t)fk_sum(v.k, i->imm), s->place);
    if (v.kind == FK_V_TARGET)
        return offset_table(f, (uint64_t)v.k, v.stale, s->place);
    return true;
}

/* --- exceptions ------------------------------------------------------------------------------- */

static fk_value current_trap(const fk_function *f, const fk_state *s)
{
    return s->place[f->program->trap == FK_NO_REG ? FK_EXN : f->program->trap];
}

/* The trap frame: where the handler's address and the previous trap pointer are, and how far
 * above the trap pointer the stack pointer was before it was pushed. Up to 4.14 s390x had the
 * words in the other order and power a block of its own (docs/abi.md). */
typedef struct {
    int8_t handler, previous, above;
} trap_form;

static trap_form trap_of(const fk_program *p)
{
    bool old = p->version < FK_OCAML_5_0;
    if (old && p->abi->frame_reserved)
        return (trap_form){40, 48, 32};
    if (old && p->abi->big_endian)
        return (trap_form){0, 8, FK_TRAP_SIZE};
    return (trap_form){FK_TRAP_HANDLER, FK_TRAP_PREVIOUS,
                       (int8_t)(FK_TRAP_SIZE - p->abi->frame_reserved)};
}

/* At the handler the frame is as it was before the trap was pushed; of the registers only
 * the exception is left. */
static void unwind(const fk_function *f, fk_state *s, int64_t above, fk_value previous)
{
    const fk_program *p = f->program;
    fk_value sp = {0, 0, FK_V_SP, 0};
    uint32_t kept =
        FK_REG_BIT(p->sp) | FK_REG_BIT(p->young) | FK_REG_BIT(p->domain) | p->domains | p->reserved;
    const fk_reg *toc = fk_abi_role(p->abi, FK_REG_TOC);
    kept |= toc == NULL ? 0 : FK_REG_BIT(toc->hw);
    sp.k = above;
    for (uint8_t r = 0; r < FK_STATE_REGS; r++)
        if (r != FK_CALLER && (r >= 32 || !(kept >> r & 1)))
            s->place[r] = (fk_value){0, 0, FK_V_NONE, 0};
    s->place[p->result] = s->place[p->young] = (fk_value){0, 0, FK_V_ANY, 0};
    for (unsigned n = 0; n < f->num_slots; n++)
        if (-(int64_t)(n + 1) * 8 < sp.k)
            s->place[FK_STATE_REGS + n] = (fk_value){0, 0, FK_V_NONE, 0};
    s->place[p->sp] = sp;
    s->place[p->trap == FK_NO_REG ? FK_EXN : p->trap] = previous;
}

/* From a call that may raise; `only_find`: the trap has just been pushed, nothing can raise yet. The
 * handler of code that cannot raise is found and never entered: it has descriptors, but its reads
 * are of words that nobody needed to store. */
static bool raise_from(fk_function *f, const fk_state *s, bool only_find)
{
    fk_value trap = current_trap(f, s);
    if (trap.kind != FK_V_SP)
        return true;
    trap_form form = trap_of(f->program);
    const fk_value *h = fk_slot_at(f, s, fk_sum(trap.k, form.handler)),
                   *previous = fk_slot_at(f, s, fk_sum(trap.k, form.previous));
    if (h == NULL || h->kind != FK_V_CONST || !fk_in_window(f, (uint64_t)h->k))
        return true;
    if (only_find)
        return fk_node_at(f, (uint64_t)h->k) != FK_NO_INSN || fk_discover(f, (uint64_t)h->k);
    fk_state out = {f->scratch};
    uint64_t handler = (uint64_t)h->k;
    fk_value before = previous == NULL ? (fk_value){0, 0, FK_V_ANY, 0} : *previous;
    memcpy(out.place, s->place, f->stride * sizeof *out.place);
    unwind(f, &out, fk_sum(trap.k, form.above), before);
    return reach(f, handler, out.place);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool sets_trap(const fk_function *f, const fk_insn *i)
{
    uint8_t trap = f->program->trap;
    return trap == FK_NO_REG ? i->op == FK_OP_STORE && i->base == f->program->domain
                             : (i->writes >> trap & 1) != 0;
}

/* The value of a register branch's target may name a call through a register. */
static bool at_return(fk_function *f, const fk_state *s)
{
    const fk_value *slot = f->program->link == FK_NO_REG ? fk_slot(f, s, 0) : NULL;
    return slot == NULL || slot->kind != FK_V_CONST || reach(f, (uint64_t)slot->k, s->place);
}

static void name_callee(fk_function *f, fk_node *node, const fk_state *s)
{
    const fk_insn *i = &node->insn;
    if (i->op != FK_OP_CALLREG || node->callee != FK_CALLEE_UNKNOWN || f->program->object ||
        i->rs >= FK_STATE_REGS)
        return;
    fk_value v = s->place[i->rs];
    if (v.kind == FK_V_CONST)
        node->callee = (uint8_t)fk_program_callee(f->program, i->addr, i->addr + i->length,
                                                  (uint64_t)fk_sum(v.k, i->imm));
}

/* A far call takes two instructions: auipc, jalr. */
bool fk_is_shared_raise(const fk_function *f, const fk_node *n)
{
    const fk_node *high = n->prev == FK_NO_INSN ? n : &f->nodes[n->prev];
    return n->callee == FK_CALLEE_NORETURN && high->prev == FK_NO_INSN &&
           (high == n || (n->insn.rs < 32 && high->insn.writes == FK_REG_BIT(n->insn.rs)));
}

static bool leads_to_shared_raise(const fk_function *f, const fk_node *n)
{
    return fk_is_shared_raise(f, n) ||
           (n->next != FK_NO_INSN && fk_is_shared_raise(f, &f->nodes[n->next]));
}

static bool branch(fk_function *f, int32_t to, const fk_state *s)
{
    return flow_to(f, to, s->place) &&
           (!leads_to_shared_raise(f, &f->nodes[to]) || raise_from(f, s, false));
}

/* Everything that leaves node n but falling through. */
static bool leave(fk_function *f, int32_t n, fk_state *s)
{
    fk_node *node = &f->nodes[n];
    f->source = n;
    fk_test_value(f, s, &node->insn); /* arm64: by the branch itself */
    if (node->to != FK_NO_INSN && !branch(f, node->to, s))
        return false;
    switch (f->nodes[n].insn.op) {
    case FK_OP_JUMPREG: return jump_register(f, n, s);
    case FK_OP_RET: return at_return(f, s);
    case FK_OP_CALL:
    case FK_OP_CALLREG: /* to the compiler those of C may raise too */
        return fk_is_shared_raise(f, &f->nodes[n]) || raise_from(f, s, false);
    case FK_OP_BRANCH: return !(f->nodes[n].insn.flags & FK_I_LINKS) || raise_from(f, s, false);
    default: return true;
    }
}

static bool run_block(fk_function *f, int32_t n, fk_state *s)
{
    memcpy(s->place, state_of(f, n), f->stride * sizeof *s->place);
    for (;;) {
        if (f->nodes[n].insn.op == FK_OP_CALLREG)
            name_callee(f, &f->nodes[n], s);
        if (!leave(f, n, s))
            return false;
        fk_insn i = f->nodes[n].insn;
        if (fk_is_call(&i))
            fk_call(f, s, &f->nodes[n]);
        else
            fk_step(f, s, &i);
        if (sets_trap(f, &i) && !raise_from(f, s, true))
            return false;
        if (f->nodes[n].callee == FK_CALLEE_NORETURN && i.op == FK_OP_CALLREG)
            return true;
        n = f->nodes[n].next;
        if (n == FK_NO_INSN)
            return true;
        if (f->nodes[n].leader)
            return flow_to(f, n, s->place);
    }
}

/* --- the whole function ----------------------------------------------------------------------- */

static void entry_state(const fk_function *f, fk_value *v)
{
    const fk_program *p = f->program;
    uint32_t init = p->arguments | p->domains | p->limits | p->reserved | FK_REG_BIT(p->young);
    const fk_reg *toc = fk_abi_role(p->abi, FK_REG_TOC), *entry = fk_abi_reg_by_name(p->abi, "r12");
    memset(v, 0, f->stride * sizeof *v);
    init |= p->trap == FK_NO_REG ? 0 : FK_REG_BIT(p->trap);
    for (uint8_t r = 0; r < 32; r++)
        if (init >> r & 1)
            v[r] = (fk_value){r + 1, 0, FK_V_ANY, 0};
    v[p->sp] = (fk_value){0, 0, FK_V_SP, 0};
    v[FK_EXN].kind = FK_V_ANY;
    v[p->link == FK_NO_REG ? FK_CALLER : p->link] = (fk_value){FK_RETURN_NUMBER, 0, FK_V_ANY, 0};
    if (toc != NULL && entry != NULL) {
        v[toc->hw].kind = FK_V_ANY;
        v[entry->hw] = (fk_value){(int64_t)f->symbol.addr, 0, FK_V_CONST, 0};
    }
}

static unsigned slots_of(const fk_program *p, size_t first, size_t last)
{
    uint32_t most = 0;
    for (size_t d = first; d < last; d++)
        if (!(p->descrs[d].flags & FK_DESCR_RETURN_TO_C) && p->descrs[d].frame_size > most)
            most = p->descrs[d].frame_size;
    most = most > 65536 ? 65536 : most;
    return most / 8 + 8;
}

static void reset(fk_function *f)
{
    f->num_nodes = f->num_states = f->num_queue = f->num_edges = f->unknown = 0;
    f->problem = NULL;
}

static bool prepare(fk_function *f)
{
    size_t units = (f->hi - f->lo) / f->program->abi->code_align + 1;
    uint64_t avail;
    f->code = fk_image_bytes(f->program->image, f->lo, &avail);
    if (f->code == NULL || f->hi - f->lo > FK_FUNCTION_BYTES)
        f->problem = "the function is too large";
    else if (f->hi - f->lo > avail)
        f->hi = f->lo + avail;
    f->num_slots = slots_of(f->program, f->first, f->last);
    f->stride = FK_STATE_REGS + f->num_slots;
    if (!fk_room(&f->map, &f->cap_map, units, sizeof *f->map))
        return false;
    memset(f->map, 0, units * sizeof *f->map);
    free(f->scratch);
    f->scratch = malloc(2 * f->stride * sizeof *f->scratch);
    return f->scratch != NULL;
}

static bool settle(fk_function *f)
{
    fk_state s = {f->scratch + f->stride};
    fk_value *entry = malloc(f->stride * sizeof *entry);
    if (entry == NULL || !fk_discover(f, f->symbol.addr)) {
        free(entry);
        return false;
    }
    int32_t start = fk_node_at(f, f->symbol.addr);
    entry_state(f, entry);
    bool ok = start != FK_NO_INSN && flow_to(f, start, entry);
    free(entry);
    while (ok && f->num_queue > 0) {
        int32_t n = f->queue[--f->num_queue];
        f->nodes[n].queued = false;
        ok = run_block(f, n, &s);
    }
    unique_edges(f);
    return ok;
}

fk_result fk_function_read(fk_function *f, const fk_program *p, const fk_symbol *symbol,
                           uint64_t lo, uint64_t hi, size_t first, size_t last)
{
    reset(f);
    f->program = p;
    f->symbol = *symbol;
    f->lo = lo;
    f->hi = hi;
    f->first = first;
    f->last = last;
    if (!prepare(f))
        return FK_SYSTEM;
    if (f->problem == NULL && !settle(f) && f->problem == NULL)
        return FK_SYSTEM;
    return FK_OK;
}

void fk_function_visit(fk_function *f, fk_visit_fn each, void *arg)
{
    fk_state s = {f->scratch + f->stride};
    for (size_t k = 0; k < f->num_nodes; k++) {
        int32_t n = (int32_t)k;
        if (f->nodes[n].state < 0)
            continue;
        memcpy(s.place, state_of(f, n), f->stride * sizeof *s.place);
        do {
            each(f, &s, n, arg);
            fk_insn i = f->nodes[n].insn;
            if (fk_is_call(&i))
                fk_call(f, &s, &f->nodes[n]);
            else
                fk_step(f, &s, &i);
            n = f->nodes[n].callee == FK_CALLEE_NORETURN ? FK_NO_INSN : f->nodes[n].next;
        } while (n != FK_NO_INSN && !f->nodes[n].leader);
    }
}

void fk_function_close(fk_function *f)
{
    free(f->nodes);
    free(f->map);
    free(f->states);
    free(f->queue);
    free(f->edges);
    free(f->scratch);
}
