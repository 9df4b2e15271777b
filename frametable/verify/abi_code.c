/* abi_code.c - what 5.2 and later ask of a function as a whole: a stack check that covers its
 * frame, a poll in each loop.
 *
 *   check   sp - K < dom.current_stack ?        K = deepest frame + 56 + 256
 *
 *           |  frame           |  the function and what it pushes
 *           |  256 bytes       |  leaves without a check, stubs, the linker
 *           |  56 bytes        |  the stack's own record
 *           current_stack ->
 */
#include <string.h>

#include "frametable/verify/graph.h"
#include "frametable/verify/rules.h"

enum { RECORD = 56, RED_ZONE = 256 };

/* --- the stack check -------------------------------------------------------------------------- */

static bool is_limit(const fk_program *p, const fk_insn *i)
{
    int field = fk_domain_offset(p->version, "current_stack");
    return (i->flags & FK_I_MEM) && i->base < 32 && (p->domains >> i->base & 1) && field >= 0 &&
           i->disp == field;
}

/* K of a comparison that checks the stack, 0: it is none. */
static int64_t checked(const fk_program *p, const fk_state *s, const fk_insn *i)
{
    if ((i->op != FK_OP_CMP && i->op != FK_OP_BRANCH) || i->rs >= 32 ||
        s->place[i->rs].kind != FK_V_SP)
        return 0;
    if (is_limit(p, i))
        return -s->place[i->rs].k;
    if (i->rt < 32 && s->place[i->rs].k == 0 && s->place[i->rt].kind == FK_V_OFFSET)
        return s->place[i->rt].k;
    return 0;
}

/* Calls of OCaml code: what the callee takes of the stack is not known. */
static bool calls_ocaml(const fk_program *p, const fk_node *n)
{
    bool closure = n->callee == FK_CALLEE_OTHER || n->callee == FK_CALLEE_UNKNOWN;
    return n->descr != UINT32_MAX && fk_is_call(&n->insn) && closure &&
           n->insn.op != FK_OP_BRANCH && !(p->descrs[n->descr].flags & FK_DESCR_ALLOC);
}

/* How deep the function stands at a call, or where it takes a frame. What it pushes to grow the
 * stack, at most two words, lies in the red zone. */
static int64_t depth_at(const fk_program *p, const fk_node *n, int64_t sp)
{
    const fk_insn *i = &n->insn;
    if (fk_is_call(i))
        return n->callee == FK_CALLEE_REALLOC ? 0 : -sp;
    return i->op == FK_OP_ADD && i->rd == p->sp && i->rs == p->sp && i->imm < -2 * p->abi->word
               ? -sp - i->imm
               : 0;
}

void fk_stack_insn(fk_code *c, const fk_state *s, int32_t n)
{
    const fk_program *p = c->f.program;
    const fk_node *node = &c->f.nodes[n];
    fk_value sp = s->place[p->sp];
    int64_t k = checked(p, s, &node->insn);
    if (k > c->stack.checked)
        c->stack.checked = k;
    int64_t depth = sp.kind == FK_V_SP ? depth_at(p, node, sp.k) : 0;
    if (depth > c->stack.deepest)
        c->stack.deepest = depth;
    c->stack.calls |= calls_ocaml(p, node);
}

static void stack_done(fk_code *c)
{
    const fk_program *p = c->f.program;
    const fk_descr *d = &p->descrs[c->f.first];
    int64_t frame = c->stack.deepest + (p->link == FK_NO_REG ? p->abi->word : 0);
    int64_t need = frame + RECORD + RED_ZONE;
    if (c->stack.checked == 0 && !c->stack.calls && frame < RED_ZONE)
        fk_check_ok(c->check, FK_RULE_ABI_STACK);
    else if (c->stack.checked == 0)
        fk_check_say(
            c->check, FK_RULE_ABI_STACK, FK_VERDICT_WRONG, d,
            "the function takes %lld bytes of the stack%s and does not check that they are there",
            (long long)frame, c->stack.calls ? ", calls OCaml code" : "");
    else if (c->stack.checked < need)
        fk_check_say(c->check, FK_RULE_ABI_STACK, FK_VERDICT_WRONG, d,
                     "the function takes %lld bytes of the stack: the check must ask for %lld, it "
                     "asks for %lld",
                     (long long)frame, (long long)need, (long long)c->stack.checked);
    else
        fk_check_ok(c->check, FK_RULE_ABI_STACK);
}

/* --- polls in loops --------------------------------------------------------------------------- */

/* Jumps, the first half of a far call, then the call of the collector itself. */
static bool collects(const fk_function *f, int32_t n)
{
    for (int hops = 0; n != FK_NO_INSN && hops < 4; hops++) {
        const fk_node *node = &f->nodes[n];
        if (fk_is_call(&node->insn))
            return node->callee >= FK_CALLEE_GC && node->callee <= FK_CALLEE_ALLOCN;
        bool half =
            node->insn.op == FK_OP_IMM || node->insn.op == FK_OP_OTHER; /* OTHER: in an object */
        if (node->insn.op != FK_OP_JUMP && !half)
            return false;
        n = node->insn.op == FK_OP_JUMP ? node->to : node->next;
    }
    return false;
}

/* By its descriptor: call-entry says whether the callee agrees. */
static bool calls_collector(const fk_function *f, const fk_node *n)
{
    return n->descr != UINT32_MAX && (f->program->descrs[n->descr].flags & FK_DESCR_ALLOC) != 0;
}

/* Signals and other domains are served here. What is called may return without: a call is no
 * poll. */
static bool serves(const fk_function *f, int32_t n)
{
    const fk_node *node = &f->nodes[n];
    if (fk_is_call(&node->insn))
        return node->callee == FK_CALLEE_REALLOC /* goes on once */ || calls_collector(f, node);
    return node->insn.op == FK_OP_BRANCH && (collects(f, node->to) || collects(f, node->next));
}

enum { NEW, OPEN, DONE };

/* Successor number k of node n, FK_NO_INSN behind the last. */
static int32_t successor(const fk_function *f, int32_t n, size_t k)
{
    size_t count;
    const fk_edge *e = fk_edges_from(f, n, &count);
    const fk_node *node = &f->nodes[n];
    int32_t next = node->callee == FK_CALLEE_NORETURN ? FK_NO_INSN : node->next;
    int32_t straight[2] = {next, node->to};
    size_t num = 0;
    for (unsigned i = 0; i < 2; i++)
        if (straight[i] != FK_NO_INSN && num++ == k)
            return straight[i];
    return k - num < count ? e[k - num].to : FK_NO_INSN;
}

/* Depth first from `root` without what serves; a node of a cycle, FK_NO_INSN: there is none. */
static int32_t cycle_from(fk_code *c, int32_t root)
{
    fk_function *f = &c->f;
    size_t depth = 0;
    c->walk[depth++] = (fk_walk){root, 0};
    c->color[root] = OPEN;
    while (depth > 0) {
        fk_walk *top = &c->walk[depth - 1];
        int32_t to = successor(f, top->node, top->next++);
        if (to == FK_NO_INSN) {
            c->color[top->node] = DONE;
            depth--;
        } else if (c->color[to] == OPEN)
            return to;
        else if (c->color[to] == NEW && !serves(f, to)) {
            c->color[to] = OPEN;
            c->walk[depth++] = (fk_walk){to, 0};
        }
    }
    return FK_NO_INSN;
}

static bool polls_done(fk_code *c)
{
    size_t n = c->f.num_nodes;
    const fk_descr *near;
    int32_t at = FK_NO_INSN;
    if (!fk_room(&c->color, &c->cap_color, n, 1) ||
        !fk_room(&c->walk, &c->cap_walk, n + 1, sizeof *c->walk))
        return false;
    memset(c->color, NEW, n);
    for (size_t k = 0; k < n && at == FK_NO_INSN; k++)
        if (c->color[k] == NEW && !serves(&c->f, (int32_t)k))
            at = cycle_from(c, (int32_t)k);
    if (at == FK_NO_INSN)
        fk_check_ok(c->check, FK_RULE_ABI_POLL);
    else if (c->f.program->nameless)
        fk_check_pass(c->check, FK_RULE_ABI_POLL,
                      "a loop without a poll, and no name tells that it may be one");
    else if ((near = fk_code_near(c, c->f.nodes[at].insn.addr)) != NULL)
        fk_check_say(c->check, FK_RULE_ABI_POLL, FK_VERDICT_WRONG, near,
                     "the loop at 0x%llx can go round without an allocation or a poll",
                     (unsigned long long)c->f.nodes[at].insn.addr);
    return true;
}

/* --- both ------------------------------------------------------------------------------------- */

void fk_stack_begin(fk_code *c)
{
    memset(&c->stack, 0, sizeof c->stack);
}

/* Searches of a method and applications of closures are short, and never poll. */
static bool is_exempt(const char *name)
{
    return strncmp(name, "caml_send", 9) == 0 || strncmp(name, "caml_apply", 10) == 0;
}

/* false: no memory. */
bool fk_abi_function(fk_code *c)
{
    const fk_program *p = c->f.program;
    bool bare = c->f.first == c->f.last;
    if (p->version < FK_OCAML_5_2 || bare || (p->descrs[c->f.first].flags & FK_DESCR_RETURN_TO_C))
        return true;
    if (c->f.unknown != 0) {
        fk_check_pass(c->check, FK_RULE_ABI_STACK, "an instruction of the function is not known");
        fk_check_pass(c->check, FK_RULE_ABI_POLL, "an instruction of the function is not known");
        return true;
    }
    stack_done(c);
    return is_exempt(c->f.symbol.name) || polls_done(c);
}
