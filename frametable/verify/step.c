/* step.c - what one instruction does to a state. */
#include "frametable/verify/graph.h"

static const fk_value none = {0, 0, FK_V_NONE, 0}, any = {0, 0, FK_V_ANY, 0};

static fk_value number(uint8_t kind, int64_t k)
{
    return (fk_value){k, 0, kind, 0};
}

static fk_value get(const fk_state *s, uint8_t r)
{
    return r < FK_STATE_REGS ? s->place[r] : any;
}

fk_value *fk_slot(const fk_function *f, const fk_state *s, int64_t offset)
{
    fk_value sp = s->place[f->program->sp];
    return sp.kind == FK_V_SP ? fk_slot_at(f, s, fk_sum(sp.k, offset)) : NULL;
}

int64_t fk_return_at(const fk_program *p)
{
    return p->link == FK_NO_REG ? p->abi->word + p->abi->ra_offset : p->abi->ra_offset;
}

fk_value *fk_slot_at(const fk_function *f, const fk_state *s, int64_t at)
{
    if (at >= 0 && at == fk_return_at(f->program))
        return &s->place[FK_CALLER];
    if (at >= 0 || at % 8 != 0 || at < -8 * (int64_t)f->num_slots)
        return NULL;
    return &s->place[FK_STATE_REGS + (size_t)(-at / 8) - 1];
}

/* --- arithmetic ------------------------------------------------------------------------- */

static fk_value add_constant(fk_value v, int64_t k)
{
    bool fresh = v.kind == FK_V_OFFSET;
    bool next = fresh && (v.flags & FK_F_BLOCK); /* the next block of one request */
    if (fresh) { /* only the last step counts */
        v.kind = FK_V_ANY;
        v.k = 0;
    }
    if (v.kind == FK_V_NONE || k == 0)
        return v;
    if (v.kind == FK_V_CONST || v.kind == FK_V_SP || v.kind == FK_V_YOUNG || v.kind == FK_V_NEAR) {
        v.k = fk_sum(v.k, k);
        return v;
    }
    fk_value r = number(FK_V_OFFSET, k);
    r.stale = v.stale;
    r.flags = (uint8_t)((v.flags & FK_F_STALE) | (next ? FK_F_BLOCK : FK_F_NUMBER));
    if (v.flags & (FK_F_ROOT | FK_F_DERIVED))
        r.flags |= FK_F_DERIVED;
    return r;
}

static fk_value add_values(fk_value a, fk_value b)
{
    if (b.kind == FK_V_CONST && a.kind != FK_V_CONST) {
        fk_value t = a;
        a = b;
        b = t;
    }
    if (a.kind != FK_V_CONST)
        return a.kind == FK_V_NONE || b.kind == FK_V_NONE ? none : any;
    if (b.kind == FK_V_ENTRY)
        return (fk_value){a.k, (uint32_t)fk_difference(b.k, a.k), FK_V_TARGET, 0};
    if (b.kind == FK_V_ANY || b.kind == FK_V_OFFSET)
        return number(FK_V_NEAR, a.k);
    return add_constant(b, a.k);
}

/* --- memory --------------------------------------------------------------------------------- */

fk_value fk_memory_address(const fk_function *f, const fk_state *s, const fk_insn *i)
{
    (void)f;
    if (i->flags & FK_I_ABSOLUTE)
        return i->target ? number(FK_V_CONST, (int64_t)i->target) : any;
    fk_value v = i->base == FK_NO_REG ? number(FK_V_CONST, 0) : get(s, i->base);
    if (i->index != FK_NO_REG)
        v = add_values(v, any);
    return add_constant(v, i->disp);
}

static bool is_domain(const fk_program *p, const fk_insn *i, int field)
{
    return field >= 0 && i->base < 32 && (p->domains >> i->base & 1) && i->index == FK_NO_REG &&
           i->disp == field;
}

/* A word of the file: an address of this function (a handler, a table), a constant, or nothing is
 * known. */
static fk_value constant_word(const fk_function *f, uint64_t addr)
{
    uint64_t v;
    bool constant;
    if (!fk_word(f->program, addr, &v, &constant) || !(constant || fk_in_window(f, v)))
        return any;
    return number(FK_V_CONST, (int64_t)v);
}

static fk_value load(const fk_function *f, const fk_state *s, const fk_insn *i, int64_t more)
{
    const fk_program *p = f->program;
    const fk_part *part = fk_table_part(p, i);
    if (part != NULL)
        return number(FK_V_ENTRY, (int64_t)part->begin);
    if (is_domain(p, i, p->c_stack))
        return number(FK_V_CSTACK, 0);
    if (is_domain(p, i, p->exn_handler) && p->trap == FK_NO_REG)
        return s->place[FK_EXN];
    fk_value a = add_constant(fk_memory_address(f, s, i), more);
    if (a.kind == FK_V_SP) {
        const fk_value *slot = fk_slot_at(f, s, a.k);
        return slot == NULL ? any : i->size == 8 ? *slot : any;
    }
    if (a.kind == FK_V_GOT && i->size == 8)
        return number(FK_V_CONST, a.k);
    if (a.kind == FK_V_NEAR && i->size == 4)
        return number(FK_V_ENTRY, a.k);
    if (a.kind == FK_V_CONST && i->size == 8)
        return constant_word(f, (uint64_t)a.k);
    return any;
}

static void store(const fk_function *f, fk_state *s, const fk_insn *i, int64_t more, fk_value v)
{
    const fk_program *p = f->program;
    if (is_domain(p, i, p->exn_handler) && p->trap == FK_NO_REG)
        s->place[FK_EXN] = v;
    fk_value a = add_constant(fk_memory_address(f, s, i), more);
    if (a.kind != FK_V_SP)
        return;
    fk_value *slot = fk_slot_at(f, s, a.k % 8 == 0 ? a.k : a.k - (a.k % 8 + 8) % 8);
    if (slot != NULL)
        *slot = i->size == 8 && a.k % 8 == 0 ? v : any;
    if (i->size == 16 && (slot = fk_slot_at(f, s, fk_sum(a.k, 8))) != NULL)
        *slot = any;
}

/* --- registers -------------------------------------------------------------------------------- */

/* Words that the stack pointer leaves behind are gone. */
static void stack_moves(const fk_function *f, fk_state *s, fk_value before, fk_value after)
{
    if (after.kind != FK_V_SP)
        return;
    int64_t from = before.kind == FK_V_SP ? before.k : -(int64_t)f->num_slots * 8;
    for (int64_t at = from; at < after.k; at += 8) {
        fk_value *slot = fk_slot_at(f, s, at);
        if (slot != NULL)
            *slot = none;
    }
}

static void set(const fk_function *f, fk_state *s, uint8_t r, fk_value v)
{
    if (r >= FK_STATE_REGS)
        return;
    if (r == f->program->sp)
        stack_moves(f, s, s->place[r], v);
    s->place[r] = v;
}

/* The table of contents stays the same all over a function. */
static bool is_toc_reload(const fk_function *f, const fk_state *s, const fk_insn *i)
{
    const fk_reg *toc = fk_abi_role(f->program->abi, FK_REG_TOC);
    return toc != NULL && i->rd == toc->hw && s->place[toc->hw].kind == FK_V_CONST;
}

static fk_value store_source(const fk_state *s, const fk_insn *i)
{
    if (i->flags & (FK_I_IMM | FK_I_ZERO))
        return number(FK_V_CONST, i->imm);
    return i->rs == FK_NO_REG ? any : get(s, i->rs);
}

static void writeback(const fk_function *f, fk_state *s, const fk_insn *i)
{
    if (i->writeback != 0)
        set(f, s, i->base, add_constant(get(s, i->base), i->writeback));
}

static void do_load(const fk_function *f, fk_state *s, const fk_insn *i)
{
    fk_value a = load(f, s, i, 0), b = i->rd2 < 32 ? load(f, s, i, 8) : any;
    if (is_toc_reload(f, s, i))
        return;
    writeback(f, s, i);
    set(f, s, i->rd, a);
    set(f, s, i->rd2 < 32 ? i->rd2 : FK_NO_REG, b);
}

static void do_store(const fk_function *f, fk_state *s, const fk_insn *i)
{
    fk_value v = store_source(s, i);
    if (i->base == f->program->sp && i->writeback < 0) { /* push: first the room */
        fk_insn moved = *i;
        writeback(f, s, i);
        moved.disp -= i->writeback;
        store(f, s, &moved, 0, v);
        if (i->rd2 != FK_NO_REG)
            store(f, s, &moved, i->size, i->rd2 < 32 ? get(s, i->rd2) : any);
        return;
    }
    store(f, s, i, 0, v);
    if (i->rd2 != FK_NO_REG)
        store(f, s, i, i->size, i->rd2 < 32 ? get(s, i->rd2) : any);
    writeback(f, s, i);
}

static void push_memory(const fk_function *f, fk_state *s, const fk_insn *i)
{
    fk_value v = load(f, s, i, 0);
    set(f, s, f->program->sp, add_constant(get(s, f->program->sp), -8));
    fk_value *slot = fk_slot(f, s, 0);
    if (slot != NULL)
        *slot = v;
}

static void pop_memory(const fk_function *f, fk_state *s, const fk_insn *i)
{
    const fk_value *slot = fk_slot(f, s, 0);
    fk_value v = slot == NULL ? any : *slot;
    set(f, s, f->program->sp, add_constant(get(s, f->program->sp), 8));
    store(f, s, i, 0, v);
}

static void do_add(const fk_function *f, fk_state *s, const fk_insn *i)
{
    fk_value v = get(s, i->rs);
    if ((i->flags & FK_I_BITS) && v.kind != FK_V_CONST)
        set(f, s, i->rd, v.kind == FK_V_NONE ? none : any);
    else
        set(f, s, i->rd, i->rd == FK_NO_REG ? any : add_constant(v, i->imm));
    if (i->rs == f->program->young && i->imm == f->program->abi->word && i->rd < 32)
        s->place[i->rd].flags = FK_F_BLOCK;
}

/* a - b: only a constant b is followed */
static void do_sub(const fk_function *f, fk_state *s, const fk_insn *i)
{
    fk_value a = get(s, i->rs), b = get(s, i->rt);
    bool known = b.kind == FK_V_CONST;
    set(f, s, i->rd,
        known                                        ? add_constant(a, fk_difference(0, b.k))
        : a.kind == FK_V_NONE || b.kind == FK_V_NONE ? none
                                                     : any);
}

static bool computes(const fk_insn *i)
{
    return i->op == FK_OP_OTHER || i->op == FK_OP_ADDREG || i->op == FK_OP_SUBREG ||
           i->op == FK_OP_SHIFT;
}

/* Values that nothing is known of get a number of their own. */
static void number_values(const fk_function *f, fk_state *s, const fk_insn *i)
{
    for (uint32_t left = i->writes; left != 0; left &= left - 1) {
        uint8_t r = (uint8_t)__builtin_ctz(left);
        if (s->place[r].kind != FK_V_ANY || s->place[r].k != 0)
            continue;
        s->place[r].k = (int64_t)((i->addr - f->lo + 1) * 64 + r);
        s->place[r].flags |= computes(i) ? FK_F_NUMBER : 0;
    }
}

static void do_step(const fk_function *f, fk_state *s, const fk_insn *i)
{
    switch (i->op) {
    case FK_OP_IMM:
        set(f, s, i->rd, number(i->flags & FK_I_GOT ? FK_V_GOT : FK_V_CONST, i->imm));
        return;
    case FK_OP_ADD: do_add(f, s, i); return;
    case FK_OP_ADDREG:
        if (i->size == 1) /* scaled */
            set(f, s, i->rd, add_values(get(s, i->rs), any));
        else
            set(f, s, i->rd, add_values(get(s, i->rs), get(s, i->rt)));
        return;
    case FK_OP_SUBREG: do_sub(f, s, i); return;
    case FK_OP_LOAD: do_load(f, s, i); return;
    case FK_OP_STORE: do_store(f, s, i); break;
    case FK_OP_PUSHMEM: push_memory(f, s, i); return;
    case FK_OP_POPMEM: pop_memory(f, s, i); return;
    case FK_OP_ADDMEM: store(f, s, i, 0, add_constant(load(f, s, i, 0), i->imm)); return;
    default: break;
    }
    for (uint32_t left = i->op == FK_OP_STORE ? i->writes & ~FK_REG_BIT(i->base) : i->writes;
         left != 0; left &= left - 1)
        set(f, s, (uint8_t)__builtin_ctz(left), any);
}

/* --- what a value may be ---------------------------------------------------------------------- */

bool fk_asks_tag(const fk_function *f, const fk_node *n)
{
    if (n->descr != UINT32_MAX || !fk_is_call(&n->insn))
        return false;
    return n->callee == FK_CALLEE_TAG || /* without symbols any C function may be it */
           (f->program->nameless && n->callee == FK_CALLEE_UNKNOWN);
}

/* Of all places that hold v. */
static void flag(const fk_function *f, fk_state *s, fk_value v, unsigned flags)
{
    bool known = (v.kind == FK_V_ANY && v.k != 0) || v.kind == FK_V_OFFSET;
    for (size_t k = 0; known && k < f->stride; k++)
        if (s->place[k].kind == v.kind && s->place[k].k == v.k)
            s->place[k].flags |= flags;
}

/* Size 1 and the tag of floats; the collector's two bits do not count. */
static bool is_float_header(fk_value v)
{
    return v.kind == FK_V_CONST && (v.k & ~0x300) == (1 << 10 | 253);
}

bool fk_boxes_float(const fk_function *f, const fk_state *s, const fk_insn *i)
{
    bool header = i->op == FK_OP_STORE && i->size == 8 && i->disp == -f->program->abi->word &&
                  i->index == FK_NO_REG;
    return header && (get(s, i->base).flags & FK_F_BLOCK) && is_float_header(store_source(s, i));
}

bool fk_unboxes_float(const fk_insn *i)
{
    return i->op == FK_OP_LOAD && (i->flags & FK_I_FLOAT) && i->disp == 0 && i->index == FK_NO_REG;
}

void fk_test_value(const fk_function *f, fk_state *s, const fk_insn *i)
{
    fk_value v = get(s, i->op == FK_OP_BRANCH ? i->rt : i->rs);
    if ((i->flags & FK_I_TEST) && v.kind == FK_V_OFFSET && (v.flags & FK_F_BLOCK))
        flag(f, s, v, FK_F_ASKED);
}

void fk_step(const fk_function *f, fk_state *s, const fk_insn *i)
{
    fk_test_value(f, s, i);
    if (fk_boxes_float(f, s, i))
        flag(f, s, get(s, i->base), FK_F_BOXED_FLOAT);
    do_step(f, s, i);
    number_values(f, s, i);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void clobber(const fk_function *f, fk_state *s, uint32_t kept)
{
    const fk_program *p = f->program;
    const fk_reg *toc = fk_abi_role(p->abi, FK_REG_TOC);
    kept |=
        FK_REG_BIT(p->sp) | FK_REG_BIT(p->young) | FK_REG_BIT(p->domain) | p->reserved | p->domains;
    kept |= p->trap == FK_NO_REG ? 0 : FK_REG_BIT(p->trap);
    kept |= toc == NULL ? 0 : FK_REG_BIT(toc->hw);
    for (uint8_t r = 0; r < 32; r++)
        if (!(kept >> r & 1))
            s->place[r] = none;
    s->place[FK_LR] = s->place[FK_CTR] = none;
    s->place[p->result] = any;
}

static void mark(fk_value *v, bool listed, uint32_t descr)
{
    if (v->kind == FK_V_NONE || v->kind == FK_V_SP || v->kind == FK_V_CONST ||
        v->kind == FK_V_CSTACK)
        return;
    if (listed)
        v->flags = (uint8_t)((v->flags & ~(FK_F_STALE | FK_F_DERIVED)) | FK_F_ROOT);
    else if (!(v->flags & FK_F_STALE)) {
        v->flags |= FK_F_STALE;
        v->stale = descr;
    }
}

int64_t fk_result_number(const fk_function *f, const fk_insn *i)
{
    return (int64_t)((i->addr - f->lo + 1) * 64 + f->program->result);
}

/* What crosses the safepoint without being listed is stale behind it. */
static void safepoint(const fk_function *f, fk_state *s, uint32_t descr)
{
    const fk_descr *d = &f->program->descrs[descr];
    const fk_program *p = f->program;
    uint32_t listed = 0;
    for (uint32_t n = 0; n < d->num_live; n++) {
        fk_live l = fk_descr_live(d, n);
        const fk_reg *r = l.reg >= 0 ? fk_abi_reg(p->abi, l.reg, p->version) : NULL;
        if (r == NULL || r->is_float)
            continue;
        mark(&s->place[r->hw], true, descr);
        listed |= FK_REG_BIT(r->hw);
    }
    for (uint8_t r = 0; r < 32; r++)
        if (!(listed >> r & 1) && (p->allocatable >> r & 1))
            mark(&s->place[r], false, descr);
    for (unsigned n = 0; n < f->num_slots; n++)
        mark(&s->place[FK_STATE_REGS + n], false, descr);
    for (uint32_t n = 0; n < d->num_live; n++) {
        fk_live l = fk_descr_live(d, n);
        fk_value *v = l.reg < 0 ? fk_slot(f, s, l.offset) : NULL;
        if (v != NULL)
            mark(v, true, descr);
    }
}

void fk_call(const fk_function *f, fk_state *s, const fk_node *n)
{
    const fk_program *p = f->program;
    bool on_stack = s->place[p->sp].kind == FK_V_SP;
    if (n->insn.op == FK_OP_CALL && n->insn.target == n->insn.addr + n->insn.length) {
        fk_step(f, s, &n->insn); /* where am I? */
        if (n->insn.op == FK_OP_CALL && p->link != FK_NO_REG)
            s->place[p->link] = number(FK_V_CONST, (int64_t)n->insn.target);
        return;
    }
    if (p->link != FK_NO_REG)
        s->place[p->link] = none;
    if (n->callee == FK_CALLEE_REALLOC)
        return;
    if (fk_asks_tag(f, n))
        flag(f, s, s->place[p->c_argument], FK_F_ASKED);
    if (!on_stack || n->descr == UINT32_MAX) {
        clobber(f, s, p->kept_by_c);
        return;
    }
    bool alloc = (n->callee >= FK_CALLEE_GC && n->callee <= FK_CALLEE_ALLOCN) ||
                 (n->callee == FK_CALLEE_UNKNOWN && (p->descrs[n->descr].flags & FK_DESCR_ALLOC)) ||
                 (n->insn.op == FK_OP_BRANCH);
    safepoint(f, s, n->descr);
    if (!alloc)
        clobber(f, s, 0);
    if (!alloc)
        s->place[p->result].k = fk_result_number(f, &n->insn);
    s->place[p->young] = any;
}
